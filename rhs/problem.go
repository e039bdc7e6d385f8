// Package rhs solves and differentiates initial value problems whose right-hand side is Go code instead of a model in a
// file: simulators that exist already, equations that the language cannot say, and others' derivatives.
//
// A Problem holds functions. Rates alone suffices to solve; each kind of derivative asks for further ones. Check tests
// all of them against each other and against differences. Events and conditions are not part of a Problem; who needs
// them implements solvers.System.
//
// It must not know of the language, nor of how any method makes its steps.
package rhs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// Problem is y' = f(t, y, p), q' = r(t, y, p), y(t0) = y0(p), q(t0) = 0 with N states y, Q integrals q and P params p,
// and M objectives ψ(y, q, p) of the end.
//
// Functions whose names end in Push write the directional derivative of their result where the arguments move by those
// that end in d. Functions whose names end in Pull are the transposes: they add to the arguments that end in b, and
// return what is to be added for time, the products of the derivatives with the weights of the results. No function may
// change its other arguments or keep any. Several goroutines call them at once if Options.Threads says so.
type Problem struct {
	N, Q, P, M int

	// Rates writes k[N+Q] = (f, r)(t, y, p). It is the only function that every run needs.
	Rates func(t float64, y, p, k []float64)
	// RatesPush is needed by Tangent.
	RatesPush func(t float64, y, p []float64, td float64, yd, pd, kd []float64)
	// RatesPull is needed by Gradient.
	RatesPull func(t float64, y, p, kb, yb, pb []float64) (tb float64)

	// Places and Jacobian are needed by implicit methods: where ∂(f, r)/∂(y, t) has entries, and their values j[E].
	// Column N is that of time. See matrices.Jacobian.
	Places   Places
	Jacobian func(t float64, y, p, j []float64)
	// JacobianPush and JacobianPull are needed for derivatives by methods whose steps contain the Jacobian itself,
	// those of Rosenbrock.
	JacobianPush func(t float64, y, p []float64, td float64, yd, pd, jd []float64)
	JacobianPull func(t float64, y, p, jb, yb, pb []float64) (tb float64)

	// Start writes y(t0). Without Start, the first N params are the initial values.
	Start     func(p, y []float64)
	StartPush func(p, pd, yd []float64)
	StartPull func(p, yb, pb []float64)

	// Values writes ψ[M]. Without Values, the objectives are the states at the end, and then the integrals.
	Values     func(y, q, p, psi []float64)
	ValuesPush func(y, q, p, yd, qd, pd, psid []float64)
	ValuesPull func(y, q, p, psib, yb, qb, pb []float64)

	once   sync.Once
	shared *matrices.Jacobian // of all systems, so that what follows from its places is found once
}

// Places are rows and columns of the entries of a Jacobian, [E] each.
type Places struct{ Rows, Cols []int32 }

// Options say how a Problem is solved. The zero value of all but the times is a default.
type Options struct {
	From, To float64
	Method   string // "" is dopri5
	// Solver has the tolerances and all else that solvers know.
	Solver solvers.Options
	// Keep says what is kept of the run for derivatives.
	Keep record.Checkpoint
	// Threads is how many goroutines compute Gradient; 0 and 1 mean that of the caller.
	Threads int
}

// Run is a solved Problem.
type Run struct {
	Y, Q, Values []float64 // states and integrals at the end; the objectives
	Stats        solvers.Stats

	problem *Problem
	opts    Options
	p       []float64
	spec    *solvers.Spec
	tr      *record.Trajectory
}

// Solve integrates the problem at params[P].
func (b *Problem) Solve(ctx context.Context, params []float64, opts Options) (*Run, error) {
	if err := b.complete(params); err != nil {
		return nil, err
	}
	name := opts.Method
	if name == "" {
		name = "dopri5"
	}
	spec, ok := methods.Lookup(name)
	if !ok {
		return nil, fmt.Errorf("there is no method %s", name)
	}
	if spec.Can.Has(solvers.SplitRates) {
		return nil, fmt.Errorf("%s asks for rates in two parts, which a problem does not have", name)
	}
	if spec.Can.Has(solvers.NeedsJacobian) && b.Jacobian == nil {
		return nil, fmt.Errorf("%s asks for a Jacobian: Problem.Jacobian is nil", name)
	}
	r := &Run{problem: b, opts: opts, p: append([]float64(nil), params...), spec: spec}
	sys, m := b.system(r.p, opts.From, opts.To), spec.New(b.size(), 0)
	var ctl hybrid.Controller
	if opts.Solver.Fixed == 0 {
		ctl, _ = hybrid.NewController("", m.Info())
	}
	r.tr = &record.Trajectory{
		Limit: opts.Solver.Memory, Keep: opts.Keep, Fixed: opts.Solver.Fixed,
		Replayer: func() (solvers.System, solvers.Method) {
			return b.system(r.p, opts.From, opts.To), spec.New(b.size(), 0)
		},
	}
	o := &objectives{b, sys}
	record := sens.NewRecorder(r.tr, o)
	stats, err := hybrid.Solve(ctx, sys, m, ctl, opts.Solver, record)
	if err != nil {
		return nil, err
	}
	stats.Warnings = append([]solvers.Warning(nil), stats.Warnings...)
	f := record.Functionals()
	r.Stats, r.Q, r.Y = stats, f[:b.Q:b.Q], f[b.Q:]
	r.Values = make([]float64, b.objectives())
	o.Values(f, r.Values)
	return r, nil
}

// Gradient returns the derivatives of the objectives by the params, [M][P], by the discrete adjoint: they are exact for
// the computed solution, and cost as much for a thousand params as for one.
func (r *Run) Gradient(ctx context.Context) ([][]float64, error) {
	b := r.problem
	for _, f := range []struct {
		missing bool
		name    string
	}{
		{b.RatesPull == nil, "RatesPull"},
		{b.Start != nil && b.StartPull == nil, "StartPull"},
		{b.Values != nil && b.ValuesPull == nil, "ValuesPull"},
	} {
		if f.missing {
			return nil, fmt.Errorf("Gradient needs Problem.%s, which is nil", f.name)
		}
	}
	var missing atomic.Pointer[string]
	return r.derivatives(ctx, &sens.Adjoint{Threads: r.opts.Threads, New: func() sens.CotangentWorker {
		sys := b.system(r.p, r.opts.From, r.opts.To)
		sys.missing = &missing
		return sens.CotangentWorker{System: sys, Objectives: &objectives{b, sys}, Method: r.spec.New(b.size(), 1)}
	}}, &missing)
}

// Tangent returns the same derivatives by the discrete tangent, whose cost grows with the number of params.
func (r *Run) Tangent(ctx context.Context) ([][]float64, error) {
	b := r.problem
	for _, f := range []struct {
		missing bool
		name    string
	}{
		{b.RatesPush == nil, "RatesPush"},
		{b.Start != nil && b.StartPush == nil, "StartPush"},
		{b.Values != nil && b.ValuesPush == nil, "ValuesPush"},
	} {
		if f.missing {
			return nil, fmt.Errorf("Tangent needs Problem.%s, which is nil", f.name)
		}
	}
	var missing atomic.Pointer[string]
	return r.derivatives(ctx, &sens.Tangent{New: func() sens.TangentWorker {
		sys := b.system(r.p, r.opts.From, r.opts.To)
		sys.missing = &missing
		return sens.TangentWorker{System: sys, Objectives: &objectives{b, sys}, Method: r.spec.New(b.size(), 1)}
	}}, &missing)
}

func (r *Run) derivatives(ctx context.Context, m sens.Method, missing *atomic.Pointer[string]) ([][]float64, error) {
	var res sens.Result
	if err := m.Gradient(ctx, r.tr, sens.Options{}, &res); err != nil {
		return nil, err
	}
	if name := missing.Load(); name != nil {
		return nil, fmt.Errorf("derivatives of %s need Problem.%s, which is nil", r.spec.Name, *name)
	}
	rows := make([][]float64, r.problem.objectives())
	for i := range rows {
		rows[i] = res.DP[i*r.problem.P : (i+1)*r.problem.P]
	}
	return rows, nil
}

func (b *Problem) size() solvers.Size { return solvers.Size{N: b.N, Q: b.Q, P: b.P} }

// objectives returns how many there are.
func (b *Problem) objectives() int {
	if b.Values == nil {
		return b.N + b.Q
	}
	return b.M
}

// complete returns an error where the problem cannot be solved at such params.
func (b *Problem) complete(params []float64) error {
	switch {
	case b.Rates == nil:
		return errors.New("a problem needs Rates")
	case len(params) != b.P:
		return fmt.Errorf("the problem has %d params, and %d values were given", b.P, len(params))
	case b.Start == nil && b.P < b.N:
		return fmt.Errorf("a problem of %d states and %d params needs Start", b.N, b.P)
	case len(b.Places.Rows) != len(b.Places.Cols):
		return errors.New("Places has rows and columns of different numbers")
	}
	for i, row := range b.Places.Rows {
		if col := b.Places.Cols[i]; row < 0 || int(row) >= b.N+b.Q || col < 0 || int(col) > b.N {
			return fmt.Errorf("entry %d of the Jacobian is at row %d and column %d, outside of it", i, row, col)
		}
	}
	return nil
}
