package odes

import (
	"odes.dev/odes/internal/system"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// forwardMethod makes the continuous forward method.
func (r *run) forwardMethod(lanes int) (sens.Method, error) {
	k, err := r.problem.Kit(lanes, system.PushElements, false)
	if err != nil {
		return nil, err
	}
	return &sens.Forward{New: func() sens.TangentWorker {
		w := r.problem.Worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}}, nil
}

// continuousMethod makes the continuous adjoint. It sweeps one objective at a
// time, each with steps of its own: results depend on no number of lanes.
func (r *run) continuousMethod(backsolve bool) (sens.Method, error) {
	counted, err := r.problem.Kit(1, system.Pull, false)
	if err != nil {
		return nil, err
	}
	free, err := r.problem.Kit(1, system.PullStates, false)
	if err != nil {
		return nil, err
	}
	s := r.settings
	rtol := s.Backward.RTol
	if rtol == 0 {
		rtol = s.Solver.RTol
	}
	atols := s.Solver.ATols
	if atols == nil {
		atols = []float64{s.Solver.ATol}
	}
	return &sens.Continuous{Backsolve: backsolve, New: func() sens.ContinuousWorker {
		w := r.problem.Worker(counted)
		return sens.ContinuousWorker{
			CotangentWorker: sens.CotangentWorker{System: w, Objectives: w, Method: r.method(1)},
			Field:           r.problem.Worker(free),
			Back: func(size solvers.Size) (solvers.Method, solvers.Controller) {
				m := r.spec.New(size, 0)
				if s.Solver.Fixed > 0 {
					return m, nil
				}
				return m, s.Rule().Controller(m.Info())
			},
			RTol: rtol, ATol: s.Backward.ATol, StateATol: atols,
		}
	}}, nil
}
