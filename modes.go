package odes

import (
	"odes.dev/odes/internal/system"
	"odes.dev/odes/sens"
)

// modeMethods make the method of each mode of sens.Modes for a run, which sweeps over lanes objectives or columns.
var modeMethods = map[string]func(r *run, lanes int) (sens.Method, error){
	"adjoint": (*run).adjointMethod,
	"tangent": func(r *run, lanes int) (sens.Method, error) {
		return r.tangentMethod(lanes, system.PushElements)
	},
	"forward": (*run).forwardMethod,
	"continuous": func(r *run, _ int) (sens.Method, error) {
		return r.continuousMethod(false)
	},
	"backsolve": func(r *run, _ int) (sens.Method, error) {
		return r.continuousMethod(true)
	},
	"complex": func(r *run, _ int) (sens.Method, error) { return r.complexStep() },
	"differences": func(r *run, _ int) (sens.Method, error) {
		workers, err := r.complexWorkers()
		return &sens.Differences{New: workers}, err
	},
}

// modeOf returns what is known of a mode.
func modeOf(name string) sens.Mode {
	m, _ := sens.LookupMode(name)
	return m
}

// sensitivityMethod makes the sensitivity method of the run's mode.
func (r *run) sensitivityMethod(lanes int) (sens.Method, error) {
	return modeMethods[r.settings.Mode](r, lanes)
}

// adjointMethod makes the discrete adjoint.
func (r *run) adjointMethod(lanes int) (sens.Method, error) {
	k, err := r.problem.Kit(lanes, system.Pull, len(r.objectives) > lanes)
	if err != nil {
		return nil, err
	}
	return &sens.Adjoint{Threads: r.settings.Threads, New: func() sens.CotangentWorker {
		w := r.problem.Worker(k)
		return sens.CotangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}}, nil
}

// tangentMethod makes the discrete tangent, along single elements or along any directions.
func (r *run) tangentMethod(lanes int, dir system.Direction) (*sens.Tangent, error) {
	k, err := r.problem.Kit(lanes, dir, false)
	if err != nil {
		return nil, err
	}
	return &sens.Tangent{New: func() sens.TangentWorker {
		w := r.problem.Worker(k)
		return sens.TangentWorker{System: w, Objectives: w, Method: r.method(lanes)}
	}}, nil
}

// complexStep makes the complex step.
func (r *run) complexStep() (*sens.ComplexStep, error) {
	workers, err := r.complexWorkers()
	return &sens.ComplexStep{New: workers}, err
}

// complexWorkers returns what makes workers that repeat the run in complex arithmetic.
func (r *run) complexWorkers() (func() sens.ComplexWorker, error) {
	k, err := r.problem.Kit(1, system.Values, false)
	if err != nil {
		return nil, err
	}
	return func() sens.ComplexWorker {
		real := r.problem.Worker(k)
		c := r.problem.ComplexWorker()
		return sens.ComplexWorker{
			System: c, Objectives: c, Method: r.method(0), Params: r.problem.ActiveValues(),
			RealSystem: real, RealObjectives: real,
		}
	}, nil
}
