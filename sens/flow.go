package sens

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/matrices"
)

// flow carries the cotangents of a sweep through steps as the solution of the adjoint differential equation
//
//	λ' = -f_yᵀ λ - r_yᵀ q̄,   p̄' = -f_pᵀ λ - r_pᵀ q̄
//
// backwards, one recorded step after the other, each in as many steps of its own as its tolerance asks for. It is the
// transport of the continuous methods, which sweep one objective at a time.
type flow struct {
	*sweep
	field     solvers.CotangentSystem // pulls that are not counted
	backsolve bool                    // the state is integrated back along with λ
	stepper
	accuracy
	mu
	derive *differentiator // for implicit methods; otherwise nil
	limits                 // of the step that is being crossed

	n, q    int
	current int       // the recorded step that is being crossed, -1 for none
	y, k    []float64 // [N], [N+Q]
	kb      []float64 // [N+Q]
	yb, tb  []float64 // [N], [1]: not used further
	counted int
	limit   int // of rejected steps, and of steps within one of the run
	ctx     context.Context
}

// stepper makes the steps of a flow.
type stepper struct {
	by      solvers.Staged
	members []solvers.Method  // of by
	info    solvers.Info      // of the present one, which is that of the recorded step that is being crossed
	solves  solvers.Implicit  // the present one, if it solves equations; otherwise nil
	ctl     hybrid.Controller // nil: one step for each recorded one
	st      *solvers.Step
	fresh   bool    // its first stage is known
	h       float64 // length to try next, negative; 0: not known
}

// use makes a member of the method make the steps to come.
func (s *stepper) use(member int) {
	s.st.Member = member
	m := s.members[member]
	s.info = m.Info()
	s.solves, _ = m.(solvers.Implicit)
}

// restart forgets the steps so far.
func (s *stepper) restart() {
	s.h, s.fresh = 0, false
	if s.ctl != nil {
		s.ctl.Reset(s.info)
	}
}

// jumped forgets the slope of λ. Where it is stiff, the part of a jump that decays fast is gone after a step of any
// length, and no estimate shows that its integral is wrong: a short step is next.
func (s *stepper) jumped() {
	if s.fresh = false; s.solves != nil {
		s.restart()
	}
}

// accuracy is what errors of λ are measured by.
type accuracy struct {
	rtol, atol float64
	tol        solvers.Tolerance
	size       float64 // the largest |λ| met in this sweep
	least      float64 // the smallest absolute tolerance
	err        []float64
	work       []float64
	rejected   int
}

// scale makes the absolute tolerance of λ, lam, a fraction of the largest one so far. The elements of μ are none of it:
// their errors follow from those of λ.
func (a *accuracy) scale(lam []float64, mu *mu) {
	for i, x := range lam {
		if !mu.has(i) {
			a.size = max(a.size, math.Abs(x))
		}
	}
	abs := a.atol
	if abs == 0 {
		abs = max(float64(float64(1e-3*a.rtol)*a.size), a.least)
	}
	for i, from := 0, len(a.tol.Abs)-len(lam); i < len(lam); i++ {
		if !mu.has(from + i) {
			a.tol.Abs[from+i] = abs
		}
	}
}

// mu is the part of what goes backwards that algebraic equations give.
type mu struct {
	own     *matrices.Consistency // finds μ; nil without algebraic equations
	unknown []bool                // [N] its elements; nil without
	between []float64             // [N] a stage
}

// has reports whether element i is one of μ.
func (m *mu) has(i int) bool { return m.unknown != nil && m.unknown[i] }

// bare makes the elements of μ in z zero: they are no cotangents.
func (m *mu) bare(z []float64) {
	for i, u := range m.unknown {
		if u {
			z[i] = 0
		}
	}
}

// BackwardError tells that the adjoint equation could not be integrated to its tolerance.
type BackwardError struct {
	T         float64 // how far back it came
	Backsolve bool    // the state was integrated back with it
}

func (e *BackwardError) Error() string {
	what := "the adjoint equation"
	if e.Backsolve {
		what = "the state, whose way back may be unstable,"
	}
	return fmt.Sprintf("%s cannot be integrated backwards past %v to its tolerance; "+
		"use the adjoint mode, which transposes the steps taken", what, e.T)
}

// twin is a system whose segments another instance enters as well.
type twin struct {
	solvers.CotangentSystem
	field solvers.CotangentSystem
}

// Enter implements solvers.System.
func (t *twin) Enter(d, m []float64) {
	t.CotangentSystem.Enter(d, m)
	t.field.Enter(d, m)
}

// negligible is the tolerance of what has no part in the error.
const negligible = 0x1p+960

// solvingTwin is a twin that has algebraic equations.
type solvingTwin struct {
	*twin
	matrices.CotangentJacobianField // the system of the twin
}

// Mass returns the mass matrix.
func (t *solvingTwin) Mass() *matrices.Mass { return t.Jacobian().Mass }

func twinOf(sys, field solvers.CotangentSystem) solvers.CotangentSystem {
	t := &twin{sys, field}
	if m, ok := sys.(interface{ Mass() *matrices.Mass }); ok && m.Mass() != nil {
		return &solvingTwin{t, sys.(matrices.CotangentJacobianField)}
	}
	return t
}

// Size returns the size of what goes backwards: (y, λ), or λ alone.
func (f *flow) Size() solvers.Size {
	if f.backsolve {
		return solvers.Size{N: 2 * f.n}
	}
	return solvers.Size{N: f.n}
}

// theta returns where t is in the recorded step.
func (f *flow) theta(t float64) float64 {
	st := &f.dense
	if t < st.T1 {
		return min(max((t-st.T)/st.H, 0), 1)
	}
	return 1
}

// Eval implements solvers.Field for what goes backwards.
func (f *flow) Eval(t float64, z, k []float64) {
	y, lam, kl := f.y, z, k
	if f.backsolve {
		y, lam, kl = z[:f.n], z[f.n:], k[f.n:]
		f.field.Eval(t, y, f.k)
		copy(k, f.k[:f.n])
	} else {
		f.recorded(t)
	}
	copy(f.kb, lam)
	f.field.Pull(f.within(t), y, f.kb, kl, f.tb)
	for i, x := range kl {
		kl[i] = -x
	}
}

// recorded makes f.y the recorded solution at t, within the current step.
func (f *flow) recorded(t float64) {
	f.sweep.method.Interpolate(f.sys, &f.dense, f.theta(t), f.y)
}

// begin prepares for another sweep.
func (f *flow) begin() (err error) {
	f.current, f.size = -1, 0
	f.use(f.st.Member)
	f.restart()
	f.least, err = f.rounding()
	return err
}

// rounding returns a size of λ that is negligible for the objective. An absolute tolerance below it would be one of
// rounding errors, as where the adjoint of an integral begins with zeros.
func (f *flow) rounding() (float64, error) {
	value := 1.0
	if o := f.sweep.first; o < f.objectives && !notFinite(f.res.Psi[o]) {
		value = math.Abs(f.res.Psi[o])
	}
	if n := f.run.Steps(); n > 0 {
		if _, err := f.read.Load(n-1, &f.sweep.step); err != nil {
			return 0, err
		}
	}
	size := 1.0
	for _, y := range f.sweep.step.Y1 {
		size = max(size, math.Abs(y))
	}
	return float64(0x1p-52*value) / size, nil
}

// enter starts to cross step i backwards. Where the end of the step moves, λ takes its part of that.
func (f *flow) enter(i int) error {
	f.current = i
	e, err := f.read.LoadDense(i, &f.dense)
	if err != nil {
		return err
	}
	st := &f.dense
	if st.Member != f.st.Member {
		order, implicit := f.info.Order, f.solves != nil
		f.use(st.Member)
		if f.info.Order != order || implicit || f.solves != nil { // else the length and the controller suit both
			f.restart()
		}
	}
	f.limits, _ = limitsOf(f.run, i, st)
	copy(f.kb[f.n:], f.fb[:f.q])
	if st.H > 0 {
		f.settle()
	}
	f.project(st.T1, st.Y1, f.sweep.yb, f.sweep.tb)
	if e.Kind != solvers.EndFree {
		f.move(st.T1, st.Y1, 1)
		switch e.Kind {
		case solvers.EndClip:
			switch {
			case f.instants[e.Index].Fixed:
			case setBefore(e, st.H):
				f.owed = append(f.owed, owed{e, append([]float64(nil), f.sweep.tb...)})
			default:
				f.pullClip(e, f.sweep.tb)
			}
		case solvers.EndRoot:
			f.w[0] = share(f.sweep.tb[0], f.rates.at(i))
			f.pullGuard(e.Index, st)
			f.project(st.T1, st.Y1, f.gy, f.tb)
			addTo(f.sweep.yb, f.gy)
		}
		f.restart()
	}
	clear(f.sweep.tb)
	if f.backsolve && (e.Kind != solvers.EndFree || i == f.run.Steps()-1) {
		copy(f.st.Y0, st.Y1)
	}
	z := f.lambda(f.st.Y0)
	copy(z, f.sweep.yb)
	f.st.T = st.T1
	if st.H > 0 {
		return f.complete(f.st.T, z)
	}
	return nil
}

// Mass returns that of the run: μ stands where its unknowns do.
func (f *flow) Mass() *matrices.Mass { return f.derive.places.Mass }

// project makes yb, a cotangent of the state y at t, one of the states that are no unknowns: the transpose of their
// being functions of t, the others and the parameters.
func (f *flow) project(t float64, y, yb, tb []float64) {
	if f.algebra != nil {
		f.algebra.Pull(f.sys.(matrices.CotangentJacobianField), f.within(t), y, yb, tb)
	}
}

// complete finds μ for the λ of z at t.
func (f *flow) complete(t float64, z []float64) error {
	if f.own == nil {
		return nil
	}
	return f.own.Solve(f, t, z)
}

// move adds way·(f·λ + r·q̄) at (t, y) to the cotangent of time.
func (f *flow) move(t float64, y []float64, way float64) {
	f.sys.Eval(f.within(t), y, f.k)
	for i, v := range f.k {
		from, at := f.sweep.yb, i
		if i >= f.n {
			from, at = f.fb, i-f.n
		}
		f.sweep.tb[0] = math.FMA(float64(way*v), from[at], f.sweep.tb[0])
	}
}

// inside reads r within step i.
func (f *flow) inside(i int, r *innerReading) error {
	if f.current != i {
		if err := f.enter(i); err != nil {
			return err
		}
	}
	if err := f.back(r.t); err != nil {
		return err
	}
	clear(f.jump.seen.y)
	clear(f.w)
	f.obj.ObservePull(&f.pt, f.fb, f.jump.seen.y, f.db, f.jump.seen.y, f.db, f.w)
	f.project(r.t, f.pt.Yp, f.jump.seen.y, f.w)
	if r.instant >= 0 {
		f.sys.Eval(r.t, f.pt.Yp, f.k)
		for n, v := range f.k[:f.n] {
			f.w[0] = math.FMA(v, f.jump.seen.y[n], f.w[0])
		}
		f.sys.InstantPull(r.instant, f.w)
	}
	z := f.lambda(f.st.Y0)
	f.bare(z)
	addTo(z, f.jump.seen.y)
	f.jumped()
	return f.complete(f.st.T, z)
}

// jumped implements transport.
func (f *flow) jumped() { f.stepper.jumped() }

// lambda returns λ in z, which goes backwards.
func (f *flow) lambda(z []float64) []float64 { return z[len(z)-f.n:] }

// cross moves λ to the start of step i.
func (f *flow) cross(i int) error {
	if f.current != i {
		if err := f.enter(i); err != nil {
			return err
		}
	}
	if f.dense.H > 0 {
		if err := f.back(f.dense.T); err != nil {
			return err
		}
	}
	copy(f.sweep.yb, f.lambda(f.st.Y0))
	f.bare(f.sweep.yb)
	if i == 0 || !f.run.Free(i-1) {
		f.move(f.dense.T, f.dense.Y0, -1)
	}
	return nil
}

// back integrates from the present time to an earlier one.
func (f *flow) back(to float64) error {
	st := f.st
	st.Again = false
	for n := 0; st.T > to; n++ {
		if n > f.limit {
			return &BackwardError{T: st.T, Backsolve: f.backsolve}
		}
		if n%1024 == 1023 { // within one step of the run, over which nobody else looks
			if err := f.ctx.Err(); err != nil {
				return err
			}
		}
		left := to - st.T
		if f.ctl != nil && f.h == 0 {
			f.first(left)
		}
		st.H, st.T1 = left, to
		if f.ctl != nil && f.h > left {
			st.H = f.h
			if st.H < float64(0.5*left) {
				st.H = float64(0.5 * left)
			}
			st.T1 = st.T + st.H
		}
		f.by.Step(f, st, f.fresh)
		f.fresh = true
		if f.ctl != nil {
			if ok, err := f.judge(); err != nil {
				return err
			} else if !ok {
				st.Again = true
				continue
			}
		}
		st.Again = false
		f.gather()
		f.counted++
		st.T = st.T1
		st.Y0, st.Y1 = st.Y1, st.Y0
		f.fresh = false
		if f.info.FSAL {
			w := len(st.Y0)
			copy(st.K, st.K[f.info.End*w:(f.info.End+1)*w])
			f.fresh = true
		}
	}
	return nil
}

// first chooses the first step towards left.
func (f *flow) first(left float64) {
	w := len(f.st.Y0)
	f.Eval(f.st.T, f.st.Y0, f.st.K[:w])
	f.fresh = true
	f.scale(f.lambda(f.st.Y0), &f.mu)
	f.h = hybrid.InitialStep(f, f.info, &f.tol, f.st, left, f.work)
	if f.h == 0 || f.h != f.h || f.size == 0 {
		f.h = left
	}
	if f.solves != nil {
		if rate := f.solves.Rate(f, f.st); float64(-f.h*rate) > 1 && rate <= math.MaxFloat64 {
			f.h = -1 / rate
		}
		f.st.Again = true
	}
}

// judge decides whether the step is accepted.
func (f *flow) judge() (bool, error) {
	st := f.st
	f.by.Error(st, f.err)
	f.scale(f.lambda(st.Y1), &f.mu)
	ok, next := f.ctl.Judge(st.H, f.tol.Norm(st, f.err))
	if ok {
		if next > st.H || st.H <= f.h { // shorter, or it was not cut
			f.h = next
		} else {
			f.h = min(next, f.h)
		}
		return true, nil
	}
	f.rejected++
	f.h = next
	if f.rejected > f.limit || !(math.Abs(next) > float64(0x1p-50*math.Abs(st.T))) {
		return false, &BackwardError{T: st.T, Backsolve: f.backsolve}
	}
	return false, nil
}

// gather adds the cotangents of parameters and discretes over the step st.
func (f *flow) gather() {
	f.by.EachStage(f.st, func(t, weight float64, z []float64) {
		y := f.y
		if f.backsolve {
			y, z = z[:f.n], z[f.n:]
		} else {
			if f.own != nil {
				z = f.between[:copy(f.between, z)]
				if f.complete(t, z) != nil {
					z[0] = math.NaN()
				}
			}
			f.recorded(t)
		}
		for i, x := range z {
			f.kb[i] = float64(-weight * x)
		}
		tail := f.kb[f.n:]
		for i, x := range f.fb[:f.q] {
			tail[i] = float64(-weight * x)
		}
		f.sys.Pull(f.within(t), y, f.kb, f.yb, f.tb)
		copy(tail, f.fb[:f.q])
	})
}
