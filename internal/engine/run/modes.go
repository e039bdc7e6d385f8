package run

import (
	"fmt"
	"strconv"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/lag"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/steps"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// modeMethods make the sensitivity method of each of sens.Modes, with work space for that many lanes.
var modeMethods = map[string]func(r *Run, lanes int) (sens.Method, error){
	sens.ModeAdjoint: (*Run).adjointMethod,
	sens.ModeTangent: func(r *Run, lanes int) (sens.Method, error) {
		return r.tangentMethod(lanes, compiled.PushElements)
	},
	sens.ModeForward: (*Run).forwardMethod,
	sens.ModeContinuous: func(r *Run, _ int) (sens.Method, error) {
		return r.continuousMethod(false)
	},
	sens.ModeBacksolve: func(r *Run, _ int) (sens.Method, error) {
		return r.continuousMethod(true)
	},
	sens.ModeComplex: func(r *Run, _ int) (sens.Method, error) { return r.complexStep() },
	sens.ModeDifferences: func(r *Run, _ int) (sens.Method, error) {
		workers, err := r.complexWorkers()
		return &sens.Differences{New: workers, Bump: r.settings.Bump}, err
	},
}

// modeOf returns the row of a mode in sens.Modes.
func modeOf(name string) sens.Mode {
	m, _ := sens.LookupMode(name)
	return m
}

// sensitivityMethod makes the sensitivity method of the run's mode.
func (r *Run) sensitivityMethod(lanes int) (sens.Method, error) {
	return modeMethods[r.settings.Mode](r, lanes)
}

// adjointMethod makes the discrete adjoint.
func (r *Run) adjointMethod(lanes int) (sens.Method, error) {
	many := r.sweepsFollow(lanes)
	k, err := r.problem.Kit(lanes, compiled.Pull, many)
	if err != nil {
		return nil, err
	}
	first := k
	r.kept = steps.NewStageValues(k, r.keepLimit)
	workers := func(k *compiled.Kit) func() sens.CotangentWorker {
		return func() sens.CotangentWorker {
			w := r.spread(r.problem.Worker(k), lanes, r.sweepers(lanes))
			if r.reading.past != nil {
				x := lag.Of(w, r.reading.past, r.method(lanes))
				return sens.CotangentWorker{System: x, Objectives: x, Method: x.Method(r.method(lanes))}
			}
			if k == first {
				w.ReadStages(r.kept)
			}
			return sens.CotangentWorker{System: w, Objectives: w, Method: alike(r.method(lanes), w)}
		}
	}
	bounded := func(bound float64) (func() sens.CotangentWorker, error) {
		k, err := r.problem.Bounded(lanes, many, bound)
		return workers(k), err
	}
	return &sens.Adjoint{
		Threads: r.settings.Threads, New: workers(k), Bounded: bounded, TimesForwards: r.timesForwards(),
		Trace: r.trace,
	}, nil
}

// sweepsFollow reports whether several sweeps back over a run follow each other.
func (r *Run) sweepsFollow(lanes int) bool { return len(r.objectives) > lanes }

// beginAdjoint has the programs of transposes made while the run is, where there is a thread for it. A run that may
// still turn stiff would want others.
func (r *Run) beginAdjoint(lanes int) {
	settled := r.problem.Jacobian || r.explicit || len(r.settings.Stiff) == 0
	if settled && r.settings.Threads > 1 && r.settings.Mode == sens.ModeAdjoint {
		r.problem.Begin(lanes, compiled.Pull, r.sweepsFollow(lanes))
	}
}

// timesForwards makes what differentiates the times of many events.
func (r *Run) timesForwards() sens.TimesForwards {
	return sens.TimesForwards{Times: func() (func() sens.TangentWorker, error) {
		t, err := r.tangentMethod(chooseLanes(r.problem.Width()), compiled.PushElements)
		if err != nil {
			return nil, err
		}
		return t.New, nil
	}}
}

// tangentMethod makes the discrete tangent, along single elements or along any directions.
func (r *Run) tangentMethod(lanes int, dir compiled.Direction) (*sens.Tangent, error) {
	k, err := r.problem.Kit(lanes, dir, false)
	if err != nil {
		return nil, err
	}
	return &sens.Tangent{New: func() sens.TangentWorker {
		w := r.over(r.problem.Worker(k), lanes)
		return sens.TangentWorker{System: w, Objectives: w, Method: along(w, r.method(lanes))}
	}}, nil
}

// complexStep makes the complex step.
func (r *Run) complexStep() (*sens.ComplexStep, error) {
	workers, err := r.complexWorkers()
	return &sens.ComplexStep{New: workers}, err
}

// complexWorkers returns what makes workers that repeat the run in complex arithmetic.
func (r *Run) complexWorkers() (func() sens.ComplexWorker, error) {
	if err := Repeatable(r, "a run in complex arithmetic"); err != nil {
		return nil, err
	}
	k, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return nil, err
	}
	return func() sens.ComplexWorker {
		real := r.problem.Worker(k)
		c := r.problem.ComplexWorker()
		if r.reading.past != nil {
			m := r.method(0)
			x := lag.Of(real, r.reading.past, m)
			z := lag.InComplex(c, x, m.(solvers.ComplexMethod))
			return sens.ComplexWorker{
				System: z, Objectives: z, Method: m, Params: r.problem.ActiveValues(), RealSystem: x, RealObjectives: x,
			}
		}
		return sens.ComplexWorker{
			System: c, Objectives: c, Method: r.method(0), Params: r.problem.ActiveValues(),
			RealSystem: real, RealObjectives: real,
		}
	}, nil
}

// forwardMethod makes the continuous forward method.
func (r *Run) forwardMethod(lanes int) (sens.Method, error) {
	k, err := r.problem.Kit(lanes, compiled.PushElements, false)
	if err != nil {
		return nil, err
	}
	return &sens.Forward{New: func() sens.TangentWorker {
		w := r.over(r.problem.Worker(k), lanes)
		return sens.TangentWorker{System: w, Objectives: w, Method: along(w, r.method(lanes))}
	}}, nil
}

// continuousMethod makes the continuous adjoint. It sweeps one objective at a time, each with steps of
// its own, so that results do not depend on the number of lanes. Where the run has steps of fixed length, so has the
// way back, unless it is stiff: there the adjoint has fast parts that such a step leaves out.
func (r *Run) continuousMethod(backsolve bool) (sens.Method, error) {
	if err := r.PresentOnly("a continuous adjoint", "write mode = adjoint"); err != nil {
		return nil, err
	}
	counted, err := r.problem.Kit(1, compiled.Pull, false)
	if err != nil {
		return nil, err
	}
	free, err := r.problem.Kit(1, compiled.PullStates, false)
	if err != nil {
		return nil, err
	}
	s, back := r.settings, settings.Backwards(r.spec, r.model.System.Algebraic())
	rtol := s.Backward.RTol
	if rtol == 0 {
		rtol = s.Solver.RTol
	}
	return &sens.Continuous{Backsolve: backsolve, TimesForwards: r.timesForwards(), New: func() sens.ContinuousWorker {
		w := r.problem.Worker(counted)
		return sens.ContinuousWorker{
			CotangentWorker: sens.CotangentWorker{System: w, Objectives: w, Method: r.method(1)},
			Field:           r.problem.Worker(free),
			Back: func(size solvers.Size) (solvers.Method, hybrid.Controller) {
				m := back.New(size, 0)
				if s.Solver.Fixed > 0 && !back.Can.Has(solvers.NeedsJacobian) {
					return m, nil
				}
				return m, s.Rule().Controller(m.Info())
			},
			RTol: rtol, ATol: s.Backward.ATol, StateATol: s.Absolute(r.tolerances), Norm: s.Rule().Norm,
		}
	}}, nil
}

// clearly is the ratio of sweeps that decides between the two directions without a look at programs.
const clearly = 16

// autoMode chooses between the discrete adjoint and tangent by their costs: the number of sweeps,
// times the work of the transpose's or tangent's programs at one stage. The work is counted in the
// programs and not timed, so that the choice is the same on every machine.
func (r *Run) autoMode(objectives, columns int) error {
	back, forth := chooseLanes(objectives), chooseLanes(columns)
	sweeps, pushes := (objectives+back-1)/back, (columns+forth-1)/forth
	mode, why := sens.ModeAdjoint, ""
	switch {
	case pushes > clearly*sweeps:
		why = fmt.Sprintf("%s backwards, %d forwards", diag.Count(sweeps, "sweep"), pushes)
	case sweeps > clearly*pushes:
		mode, why = sens.ModeTangent, fmt.Sprintf("%s forwards, %d backwards", diag.Count(pushes, "sweep"), sweeps)
	default:
		pull, err := r.problem.Kit(back, compiled.Pull, sweeps > 1)
		if err != nil {
			return err
		}
		push, err := r.problem.Kit(forth, compiled.PushElements, false)
		if err != nil {
			return err
		}
		adjoint, tangent := r.problem.AdjointCost(pull, sweeps), r.problem.TangentCost(push, pushes)
		if tangent < adjoint {
			mode = sens.ModeTangent
		}
		why = fmt.Sprintf("%s backwards at about %s ns a stage, %d forwards at %s", diag.Count(sweeps, "sweep"),
			round(adjoint), pushes, round(tangent))
	}
	r.settings.Mode = mode
	r.warnings.Notef(CodeAuto, r.model.Checked.Time.Span, "mode = %s, for %s by %s: %s", mode,
		diag.Count(objectives, "objective"), diag.Count(columns, "variable"), why)
	return nil
}

func round(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }
