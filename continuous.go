package odes

import (
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// forwardMethod makes the continuous forward method.
func (r *run) forwardMethod(lanes int, active []string) (sens.Method, error) {
	k, err := r.model.programs.kit(lanes, active, pushingElements, false)
	if err != nil {
		return nil, err
	}
	return &sens.Forward{New: func() sens.TangentWorker {
		w := r.worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}}, nil
}

// continuousMethod makes the continuous adjoint. It sweeps one objective at a
// time, each with steps of its own: results depend on no number of lanes.
func (r *run) continuousMethod(active []string, backsolve bool) (sens.Method, error) {
	counted, err := r.model.programs.kit(1, active, pulling, false)
	if err != nil {
		return nil, err
	}
	free, err := r.model.programs.kit(1, nil, pulling, false)
	if err != nil {
		return nil, err
	}
	s := r.settings
	rtol := s.backward.RTol
	if rtol == 0 {
		rtol = s.solver.RTol
	}
	atols := s.solver.ATols
	if atols == nil {
		atols = []float64{s.solver.ATol}
	}
	return &sens.Continuous{Backsolve: backsolve, New: func() sens.ContinuousWorker {
		w := r.worker(counted)
		return sens.ContinuousWorker{
			CotangentWorker: sens.CotangentWorker{System: w, Objectives: w, Method: r.method(1)},
			Field:           r.worker(free),
			Back: func(size solvers.Size) (solvers.Staged, solvers.Controller) {
				m := solvers.NewRungeKutta(r.tableau, size, 0)
				if s.solver.Fixed > 0 {
					return m, nil
				}
				return m, s.rule().Controller(m.Info())
			},
			RTol: rtol, ATol: s.backward.ATol, StateATol: atols,
		}
	}}, nil
}
