package sens

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// ContinuousWorker is what a continuous adjoint needs.
type ContinuousWorker struct {
	CotangentWorker // of one lane; its method is that of the run
	// Field is the same system in another instance. It evaluates the adjoint equation, also in steps that are not
	// accepted, so the cotangents that gather in it are not used. It needs no parameters. Where Back is an implicit
	// method, it is a matrices.CotangentJacobianField.
	Field solvers.CotangentSystem
	// Back returns the method that goes backwards, with solvers.StageSums, for systems of the given size, and its
	// controller; a nil controller means one step for each step of the run. It has as many members as the method of the
	// run has: the way back over a step is made by the member that has the place of the one which made the step.
	Back func(size solvers.Size) (solvers.Method, hybrid.Controller)
	// RTol and ATol are the tolerances of the adjoint variables. ATol 0 means RTol/1000 of the largest variable so
	// far.
	RTol, ATol float64
	// StateATol are the absolute tolerances of the states, one for all or one for each, where the states are
	// integrated back.
	StateATol []float64
	Norm      solvers.NormKind // of the errors of both
}

// Continuous is the continuous adjoint. It differentiates the objectives of the exact solution: the adjoint equation
// is integrated backwards, by steps of its own, along the dense output of the run. Where an event ends a step, with
// f⁻ and f⁺ the fields at its left and right limits and D = g_y f⁻ + g_t,
//
//	τ̄ = λ·f⁻ + r⁻·q̄ + t̄,   λ += -(τ̄/D) g_y,   p̄ += -(τ̄/D) g_p,
//
// where t̄ is what the right limit leaves, -(λ⁺·f⁺ + r⁺·q̄), after the transpose of the body. At a time
// T(p), T̄ = τ̄ instead. The result is not the derivative of the computed numbers. It approximates that of the
// exact ones, and converges to what the other methods give as both tolerances go to zero.
// With algebraic unknowns z, 0 = g(t, x, z), the adjoint equation has as many, μ: λ' = -f_xᵀ λ - g_xᵀ μ and
// 0 = f_zᵀ λ + g_zᵀ μ, which is -Jᵀ (λ, μ) with the Jacobian J of (f, g). What reads z has the transpose of
// z(t, x, p) as its cotangent of x, p and t, so λ never has a part along z.
//
// Source: Sandu, Daescu, Carmichael, Atmospheric Environment 37 (2003) 5083–5096; Cao, Li, Petzold, Serban, SIAM
// Journal on Scientific Computing 24 (2003) 1076–1089, for systems of index 1; Alexe, Sandu, ACM Transactions on
// Mathematical Software 37 (2010) (DENSERKS).
type Continuous struct {
	// New makes the worker. All gradients are of runs of one system.
	New func() ContinuousWorker
	// Backsolve integrates the state back along with the adjoint instead of reading the run (Chen, Rubanova,
	// Bettencourt, Duvenaud, NeurIPS 2018). It is here for comparison. A stable equation is unstable backwards in
	// time, so the result is silently wrong for dissipative systems over long times.
	Backsolve bool

	places *transposed // kept from one gradient to the next

	TimesForwards
	telling
}

// Name implements Method.
func (c *Continuous) Name() string {
	if c.Backsolve {
		return ModeBacksolve
	}
	return ModeContinuous
}

// Gradient implements Method. Lanes are swept one after the other, each with steps of its own.
func (c *Continuous) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	wk := c.New()
	if got, want := wk.Method.Info().Name, run.Method().Name; got != want {
		return fmt.Errorf("the run was made by method %s and cannot be interpolated by %s", want, got)
	}
	if l := wk.System.Lanes(); l != 1 {
		return fmt.Errorf("a continuous adjoint sweeps one objective at a time, not %d", l)
	}
	f, err := c.newFlow(&wk, run)
	if err != nil {
		return err
	}
	s := f.sweep
	_, m := s.obj.Counts()
	forwards := c.plan(run, m, &opts, res)
	res.Suspect = append(res.Suspect, make([]bool, m)...)
	res.Sound = append(res.Sound, make([]bool, m)...)
	if err := res.observe(ctx, run, s.sys, s.method, s.obj, &opts); err != nil {
		return err
	}
	s.read.Open(ctx, run)
	if s.rates, err = s.fieldSlopes(res, opts.grazingLimit()); err != nil {
		return err
	}
	s.res, s.objectives, s.stride = res, m, opts.stride(run.Size())
	rows := m
	if opts.EventTimes {
		rows += len(res.Events)
	}
	run.Share(1, rows)
	s.read.Open(ctx, run)
	f.ctx = ctx
	f.field.Begin(make([][]float64, 1))
	if c.begin(rows); forwards {
		c.passes *= 2
	}
	if c.tell != nil {
		s.tell = func(i int) { c.step(run.Steps()-i, run.Steps(), s.step.T) }
	}
	for b := range rows {
		if err := s.block(ctx, b); err != nil {
			return err
		}
		c.done()
	}
	res.Stats = Stats{Sweeps: rows, Steps: f.counted}
	if !forwards {
		return nil
	}
	return c.differentiate(ctx, run, s.rates, true, &c.telling, &opts, res)
}

func (c *Continuous) newFlow(wk *ContinuousWorker, run *record.Trajectory) (*flow, error) {
	cw := wk.CotangentWorker
	cw.System = twinOf(wk.System, wk.Field)
	s := newSweep(cw, run)
	z := run.Size()
	f := &flow{
		sweep: s, field: wk.Field, accuracy: accuracy{rtol: wk.RTol, atol: wk.ATol}, backsolve: c.Backsolve,
		n: z.N, q: z.Q, limit: 100_000,
		y: make([]float64, z.N), k: make([]float64, z.N+z.Q), kb: make([]float64, z.N+z.Q),
		yb: make([]float64, z.N), tb: make([]float64, 1),
	}
	s.via = f
	size := f.Size()
	method, ctl := wk.Back(size)
	staged, err := solvers.As[solvers.Staged](method, solvers.StageSums)
	if err != nil {
		return nil, err
	}
	f.by, f.ctl = staged, ctl
	if f.members = solvers.Members(method); len(f.members) != len(solvers.Members(wk.Method)) {
		return nil, fmt.Errorf("method %s cannot go back over the steps of %s", method.Info().Name, run.Method().Name)
	}
	f.st = solvers.NewStep(f.by.Info(), size)
	f.between = make([]float64, size.N)
	f.err, f.work = make([]float64, size.N), make([]float64, 2*size.N)
	f.tol = solvers.Tolerance{Rel: wk.RTol, Abs: make([]float64, size.N), Kind: wk.Norm}
	f.tol.TakeMost(method)
	for i := range size.N - z.N {
		f.tol.Abs[i] = wk.StateATol[min(i, len(wk.StateATol)-1)]
	}
	if err := c.prepare(f); err != nil || s.algebra == nil {
		return f, err
	}
	for _, m := range solvers.Members(s.method) { // whose dense output makes unknowns consistent
		if m, ok := m.(solvers.Implicit); ok {
			if err := m.Prepare(s.sys); err != nil {
				return f, err
			}
		}
	}
	f.unknown = make([]bool, size.N)
	for _, i := range f.Mass().Unknowns {
		f.unknown[i], f.tol.Abs[i] = true, negligible
	}
	f.own, err = matrices.NewConsistency(f, 0)
	return f, err
}

// prepare makes the implicit members of a flow's method ready.
func (c *Continuous) prepare(f *flow) error {
	used := make([]bool, len(f.members))
	for i := range f.run.Steps() {
		by, _ := f.run.Member(i)
		used[by] = true
	}
	for i, m := range f.members {
		m, ok := m.(solvers.Implicit)
		if !ok || !used[i] {
			continue
		}
		if f.derive == nil {
			field, ok := f.field.(matrices.CotangentJacobianField)
			if !ok {
				return &solvers.NoJacobianError{Method: m.Info().Name}
			}
			inner, err := solvers.As[solvers.Interpolant](f.sweep.method, solvers.DenseDerivatives)
			if err != nil {
				return err
			}
			of := field.Jacobian()
			if c.places == nil || c.places.of != of {
				c.places = transpose(of, f.n, f.backsolve)
			}
			f.derive = &differentiator{
				transposed: c.places, field: field, inner: inner, entries: make([]float64, len(of.Rows)),
				jb: make([]float64, len(of.Rows)), along: make([]float64, f.n+1), hv: make([]float64, f.n),
				tb: make([]float64, 1),
			}
		}
		if err := m.Prepare(f); err != nil {
			return err
		}
	}
	return nil
}

// fieldSlopes is slopes with the field at the end of the step instead of the step's own derivative by its length.
func (s *sweep) fieldSlopes(res *Result, limit float64) (slopes, error) {
	var rates slopes
	z := s.run.Size()
	k := make([]float64, z.N+z.Q)
	err := roots(s.sys, s.run, &rates, func(i, guard int) error {
		st := &s.step
		if _, err := s.read.Load(i, st); err != nil {
			return err
		}
		s.sys.Enter(s.run.Held(i))
		b, _ := limitsOf(s.run, i, st)
		s.sys.Eval(b.within(st.T1), st.Y1, k)
		if s.algebra != nil {
			s.algebra.Rates(s.sys.(matrices.JacobianField), b.within(st.T1), st.Y1, k)
		}
		s.w[0] = 1
		s.pullGuard(guard, st)
		rate := s.gt[0]
		for j, x := range s.gy {
			rate = math.FMA(x, k[j], rate)
		}
		rates.add(i, rate)
		res.judge(s.sys, guard, st, rate, s.gy, limit)
		return nil
	})
	return rates, err
}
