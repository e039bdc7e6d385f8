package sens

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// PointTangent is how a Point moves, in L lanes.
type PointTangent struct {
	T      []float64 // [L]
	Ym, Dm []float64 // [N·L], [D·L]
	Yp, Dp []float64
}

// SecondObjectives pushes tangents through the transpose of Objectives, into the same accumulators as the
// SecondSystem that it is part of.
type SecondObjectives interface {
	TangentObjectives
	// ValuesPullPush overwrites fb[F] with the gradient by the functionals f of the sum of the objectives with weights,
	// and its tangent. It adds those by the parameters to the accumulators.
	ValuesPullPush(f solvers.Dual, weights []float64, fb solvers.Dual)
	// ObservePullPush adds the transpose of Observe applied to fb[F], and its tangent; see CotangentObjectives.
	ObservePullPush(pt *Point, dot *PointTangent, fb, ymb, dmb, ypb, dpb, tb solvers.Dual)
}

// SecondWorker is what one goroutine needs for second derivatives. The method has work space for the system's lanes.
type SecondWorker struct {
	System     solvers.SecondSystem
	Objectives SecondObjectives
	Method     solvers.Method // with solvers.SecondOrder
}

// Second computes products of Hessians with vectors: the tangent, in one direction in each lane, of the discrete
// adjoint of each objective. A tangent sweep along the run notes how times, states and discretes move. A sweep
// backwards then carries λ of one objective, and λ̇ in all lanes, through the derivative of every map that Adjoint
// transposes: steps (solvers.SecondMethod), bodies, guards, times and observations. It holds fixed what Adjoint holds
// fixed. So the result is the Hessian of the very function whose gradient Adjoint computes, exact to rounding. For a
// step that ends at a root, with D = h̄(∇g) and μ = -h̄(λ)/D,
//
//	μ̇ = -(h̄̇(λ) + μ Ḋ)/D.
//
// Source: A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed. (SIAM 2008), 5.1; for differential equations D.
// B. Özyurt and P. I. Barton, SIAM J. Sci. Comput. 26 (2005) 1725–1743.
type Second struct {
	// New makes a worker. All workers must be alike. It is called once per goroutine.
	New func() SecondWorker
	// Threads is the number of goroutines; 0 and 1 mean the caller's. Results do not depend on it.
	Threads int
	// Memory is the number of bytes that the tangents of one sweep may take; 0 for no limit.
	Memory int64
	// Tell, if not nil, is told now and then how much is done, by the goroutine of the caller.
	Tell func(done float64, steps int)
	// Functionals are those of the run, if they were observed while it was made. Without them the run is read for
	// them.
	Functionals []float64

	workers []SecondWorker // of each goroutine, kept from one call to the next
	sweeps  []*secondSweep // likewise, where no time moves and their tangents take little
}

// keptBytes is how much the tangents of a sweep may take that is kept for the next one.
const keptBytes = 1 << 20

// sweep returns the sweep of goroutine i for a run.
func (a *Second) sweep(i int, run *record.Trajectory) (*secondSweep, error) {
	w := a.worker(i)
	if i < len(a.sweeps) && a.sweeps[i].run == run && a.sweeps[i].path.size == run.Size() {
		a.sweeps[i].again()
		return a.sweeps[i], nil
	}
	s, err := newSecondSweep(w, run)
	if a.sweeps = a.sweeps[:min(i, len(a.sweeps))]; err == nil && i == len(a.sweeps) {
		a.sweeps = append(a.sweeps, s)
	}
	return s, err
}

// lets closes the files of sweeps, and forgets those that hold much.
func (a *Second) lets() {
	for i, s := range a.sweeps {
		if s.path.close(); !s.walk.timeless || PathBytes(s.run, s.l) > keptBytes || s.run.Keep.InFile() {
			a.sweeps = a.sweeps[:i]
			return
		}
	}
}

// worker returns the worker of goroutine i.
func (a *Second) worker(i int) SecondWorker {
	for len(a.workers) <= i {
		a.workers = append(a.workers, a.New())
	}
	w := a.workers[i]
	if kept, ok := w.System.(solvers.Revisitor); ok {
		kept.Forget()
	}
	return w
}

// Directions are the vectors that Hessians are multiplied with. Write fills dp[P] and dy0[N], which are zero, with
// direction k.
type Directions struct {
	Count int
	Write func(k int, dp, dy0 []float64)
}

// Products holds, for m objectives or sums of them and K directions v, what Second computes.
type Products struct {
	Psi []float64 // the objectives, also where there are sums of them
	DP  []float64 // [m][P] the gradients, which come along
	DY0 []float64 // [m][N]
	HP  []float64 // [m][K][P] ∂²ψ/∂p∂(p, y0) · v
	HY0 []float64 // [m][K][N] ∂²ψ/∂y0∂(p, y0) · v
	// Parts [m][K] are times at which a direction moves apart what comes back of the past at one time, so that second
	// derivatives by it have two sides; NaN for none.
	Parts []float64
	Stats Stats
}

// Products computes the products of the Hessian of every objective with every direction.
func (a *Second) Products(ctx context.Context, run *record.Trajectory, dirs Directions, out *Products) error {
	return a.OfSums(ctx, run, nil, dirs, out)
}

// OfSums computes the products of the Hessians of sums of the objectives, whose weights are sums, with every direction.
// Each takes a sweep backwards, as an objective does. nil stands for every objective alone.
func (a *Second) OfSums(
	ctx context.Context, run *record.Trajectory, sums [][]float64, dirs Directions, out *Products,
) error {
	first, err := a.sweep(0, run)
	if err != nil {
		return err
	}
	defer a.lets()
	_, m := first.obj.Counts()
	if sums != nil {
		m = len(sums)
	}
	z := run.Size()
	if need := PathBytes(run, first.l); a.Memory > 0 && need > a.Memory {
		return &record.MemoryError{Limit: a.Memory, Bytes: need}
	}
	out.DP, out.DY0 = need(out.DP, m*z.P), need(out.DY0, m*z.N)
	out.HP, out.HY0 = need(out.HP, m*dirs.Count*z.P), need(out.HY0, m*dirs.Count*z.N)
	if _, reads := first.sys.(PastPullPusher); reads {
		out.Parts = slices.Repeat([]float64{math.NaN()}, m*dirs.Count)
	}
	var res Result
	opts := Options{Functionals: a.Functionals}
	if err := res.observe(ctx, run, first.sys, first.method, first.obj, &opts); err != nil {
		return err
	}
	out.Psi = append(out.Psi[:0], res.Psi...)
	blocks := (dirs.Count + first.l - 1) / first.l
	threads := max(1, min(a.Threads, blocks))
	run.Share(threads, blocks*m)
	var next, done, steps atomic.Int64
	if a.Tell != nil { // a block walks forwards once, and back for each objective
		its := &telling{}
		its.begin(1 + m)
		its.tell = func(_, part float64, n int) {
			whole := min(float64(done.Load())+part, float64(blocks))
			a.Tell(whole/float64(blocks), int(steps.Load())+n)
		}
		first.tells, first.walk.tells = its, its
	}
	work := func(w *secondSweep) error {
		w.read.Open(ctx, run)
		w.walk.read.Open(ctx, run)
		w.functionals = solvers.Dual{X: res.Functionals, D: w.walk.fd}
		for {
			b := int(next.Add(1)) - 1
			if b >= blocks {
				return nil
			}
			if err := w.block(ctx, b*w.l, sums, dirs, &res, out); err != nil {
				return err
			}
			steps.Add(int64(w.steps + w.walk.steps))
			w.steps, w.walk.steps = 0, 0
			done.Add(1)
			if w.tells != nil {
				w.tells.begin(w.tells.passes)
				w.tells.tell(0, 0, 0)
			}
		}
	}
	var group sync.WaitGroup
	errs := make([]error, threads)
	var workers []*secondSweep
	for i := range threads - 1 {
		w, err := a.sweep(1+i, run)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	for i, w := range workers {
		group.Go(func() { errs[1+i] = work(w) })
	}
	errs[0] = work(first)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	out.Stats = Stats{Sweeps: blocks * m, Steps: int(steps.Load())}
	return nil
}

// secondSweep walks a trajectory forwards with tangents, and backwards with cotangents and their tangents. Its sweep
// backwards follows that of sweep line by line.
type secondSweep struct {
	sys     solvers.SecondSystem
	obj     SecondObjectives
	method  solvers.SecondMethod
	survey        // backwards
	walk    *walk // forwards
	path    *path
	algebra *matrices.Consistency // nil without algebraic equations
	rates   []solvers.Dual        // per step: D and Ḋ of the guard at its end
	tells   *telling              // nil to tell nobody

	l           int
	steps       int
	functionals solvers.Dual
	owed        []owedSecond
	limited     limitedSecond
	present

	fb solvers.Dual
	cotangents[solvers.Dual]
	jump jump[solvers.Dual]
	root[solvers.Dual, solvers.StepSecond]
	w, one  solvers.Dual
	pb      solvers.Dual
	dp, dy0 []float64
	c       solvers.StepSecond
}

// present is how the present step and the present mark move.
type present struct {
	d   solvers.StepTangent
	dot PointTangent
}

// owedSecond is an owed with its tangent.
type owedSecond struct {
	end solvers.End
	h   solvers.Dual
}

// limitedSecond is a field that is differentiated within limits.
type limitedSecond struct {
	solvers.SecondField
	limits
}

// Push implements solvers.TangentField.
func (f *limitedSecond) Push(t float64, y, td, yd, kd []float64) {
	f.SecondField.Push(f.within(t), y, td, yd, kd)
}

// PullPush implements solvers.SecondField.
func (f *limitedSecond) PullPush(t, y, kb, yb, tb solvers.Dual) {
	x := [1]float64{f.within(t.X[0])}
	f.SecondField.PullPush(solvers.Dual{X: x[:], D: t.D}, y, kb, yb, tb)
}

func newSecondSweep(wk SecondWorker, run *record.Trajectory) (*secondSweep, error) {
	method, err := solvers.As[solvers.SecondMethod](wk.Method, solvers.SecondOrder)
	if err != nil {
		return nil, err
	}
	z, l := run.Size(), wk.System.Lanes()
	f, _ := wk.Objectives.Counts()
	v := func(n int) solvers.Dual { return solvers.NewDual(n, l) }
	s := &secondSweep{
		sys: wk.System, obj: wk.Objectives, method: method, survey: newSurvey(run, wk.System.Instants()), l: l,
		walk: newWalk(TangentWorker{System: wk.System, Objectives: wk.Objectives, Method: wk.Method}, run),
		path: newPath(run, l),
		fb:   v(f), cotangents: cotangents[solvers.Dual]{v(z.N), v(1), v(z.D)}, jump: newJump(z.N, z.D, v),
		w: v(1), one: v(1), pb: v(z.P), dp: make([]float64, z.P), dy0: make([]float64, z.N),
		rates: make([]solvers.Dual, run.Steps()),
	}
	s.gy, s.gt, s.gq = v(z.N), v(1), v(z.Q)
	s.one.X[0], s.algebra = 1, consistencyOf(wk.System, l)
	s.walk.path, s.walk.dy0 = s.path, make([]float64, z.N*l)
	s.d = solvers.StepTangent{T1: make([]float64, l), Y1: make([]float64, z.N*l), DQ: make([]float64, z.Q*l)}
	s.c = solvers.StepSecond{T0: v(1), H: v(1), Y0: v(z.N)}
	s.g = solvers.StepSecond{T0: v(1), H: v(1), Y0: v(z.N)}
	return s, nil
}

// again makes s ready for another run of the same system.
func (s *secondSweep) again() {
	w := s.walk
	s.instants = s.sys.Instants()
	w.instants, w.rated, w.tells, s.tells = s.instants, false, nil, nil
	clear(w.ahead)
	for _, x := range [][]float64{w.pd, w.td, w.yd, w.dd} {
		clear(x)
	}
	s.loaded, w.loaded, s.steps, w.steps = -1, -1, 0, 0
	s.path.renew()
	s.rates = slices.Grow(s.rates[:0], s.run.Steps())[:s.run.Steps()]
}

// block takes directions first … first+L-1 through all sums of objectives.
func (s *secondSweep) block(
	ctx context.Context, first int, sums [][]float64, dirs Directions, res *Result, out *Products,
) error {
	z, l, w := s.run.Size(), s.l, s.walk
	if !w.rated { // nothing moves yet but the ends of steps; warnings are left to the gradient
		w.res = &Result{}
		if err := w.slopes((&Options{}).grazingLimit()); err != nil {
			return err
		}
	}
	clear(w.pd)
	clear(w.dy0)
	for j := 0; j < l && first+j < dirs.Count; j++ {
		clear(s.dp)
		clear(s.dy0)
		dirs.Write(first+j, s.dp, s.dy0)
		for i, x := range s.dp {
			w.pd[i*l+j] = x
		}
		for i, x := range s.dy0 {
			w.dy0[i*l+j] = x
		}
	}
	w.res = res
	if err := w.along(ctx, z.P+z.N); err != nil {
		return err
	}
	if err := s.path.err; err != nil {
		return err
	}
	s.tells.done()
	if err := s.slopes(); err != nil {
		return err
	}
	_, m := s.obj.Counts()
	alone := make([]float64, m)
	if sums != nil {
		m = len(sums)
	}
	for o := range m {
		weights := alone
		if sums != nil {
			weights = sums[o]
		} else {
			clear(alone)
			alone[o] = 1
		}
		if err := s.sweep(ctx, weights); err != nil {
			return err
		}
		s.tells.done()
		if first == 0 { // all blocks have the same
			copy(out.DP[o*z.P:(o+1)*z.P], s.pb.X)
			copy(out.DY0[o*z.N:(o+1)*z.N], s.yb.X)
		}
		for j := 0; j < l && first+j < dirs.Count; j++ {
			at := o*dirs.Count + first + j
			for i := range z.P {
				out.HP[at*z.P+i] = s.pb.D[i*l+j]
			}
			for i := range z.N {
				out.HY0[at*z.N+i] = s.yb.D[i*l+j]
			}
			if past, ok := s.sys.(PastPullPusher); ok {
				if t, is := past.TwoSided(j); is {
					out.Parts[at] = t
				}
			}
		}
	}
	return nil
}

// enter makes a segment current, with its tangents.
func (s *secondSweep) enter(d, m, dd []float64) {
	s.sys.Enter(d, m)
	s.sys.EnterPush(dd)
}

// tangentAt makes s.d the tangent of step i.
func (s *secondSweep) tangentAt(i int) *solvers.StepTangent {
	s.d.T0, s.d.Y0, s.d.H = s.path.stepAt(i)
	return &s.d
}

// field returns the system, within the limits of step i.
func (s *secondSweep) field(i int, st *solvers.Step) solvers.SecondField {
	if s.walk.timeless {
		return s.sys
	}
	if b, any := limitsOf(s.run, i, st); any {
		s.limited = limitedSecond{s.sys, b}
		return &s.limited
	}
	return s.sys
}

// pullGuard makes s.g the cotangents of the end of st from a guard there, weighted by w; the step moves by d.
func (s *secondSweep) pullGuard(guard int, st *solvers.Step, d *solvers.StepTangent, w solvers.Dual) {
	s.gy.Clear()
	s.gt.Clear()
	t := [1]float64{st.T1}
	s.sys.GuardPullPush(guard, solvers.Dual{X: t[:], D: d.T1}, solvers.Dual{X: st.Y1, D: d.Y1}, w, s.gy, s.gt)
	s.g.Y1, s.g.T1, s.g.DQ = s.gy, s.gt, s.gq
}

// slopes finds the rates of all roots of the run, and how they move. Cotangents that gather in the system meanwhile
// are discarded when a sweep begins.
func (s *secondSweep) slopes() error {
	held := 0 // the discretes of a step are those after the last mark before it
	for i := range s.rates {
		for held+1 < s.run.Marks() && s.run.After(held+1) < i {
			held++
		}
		e := endOf(s.sys, s.run, i)
		if e.Kind != solvers.EndRoot {
			continue
		}
		if s.rates[i].X == nil {
			s.rates[i] = solvers.NewDual(1, s.l)
		}
		st := &s.step
		if _, err := s.walk.read.Load(i, st); err != nil {
			return err
		}
		d, m := s.run.Held(i)
		over(s.sys, st)
		s.enter(d, m, s.path.markAt(held).Dp)
		field, dot := s.field(i, st), s.tangentAt(i)
		s.method.Push(field, st, dot)
		s.pullGuard(e.Index, st, dot, s.one)
		s.g.WantH = true
		s.method.PullPush(field, st, dot, &s.g)
		s.rates[i].Copy(s.g.H)
	}
	return s.path.err
}

// shareSecond makes w the share -h/D of a root and its tangent.
func shareSecond(w, h, rate solvers.Dual) {
	mu := share(h.X[0], rate.X[0])
	w.X[0] = mu
	for j := range w.D {
		w.D[j] = share(h.D[j]+float64(mu*rate.D[j]), rate.X[0])
	}
}

// sweep goes backwards for a sum of objectives; s.pb and s.yb hold the results.
func (s *secondSweep) sweep(ctx context.Context, weights []float64) error {
	s.sys.Begin()
	s.obj.ValuesPullPush(s.functionals, weights, s.fb)
	s.yb.Clear()
	s.tb.Clear()
	s.db.Clear()
	s.loaded, s.jump.of, s.owed = -1, -1, s.owed[:0]
	mk := s.run.Marks() - 1
	s.read.Back()
	after, _ := s.run.PeekMark(mk, &s.mark)
	s.enter(s.mark.Dp, s.mark.Mp, s.path.markAt(mk).Dp)
	past, reads := s.sys.(PastPullPusher)
	for i := after; ; i-- {
		if err := behind(s.sys, &s.read, &s.step, i); err != nil {
			return err
		}
		for ; mk >= 0 && s.run.After(mk) == i; mk-- {
			_, left, err := s.read.LoadMark(mk, &s.mark)
			if err != nil {
				return err
			}
			if s.mark.Inside {
				if err := s.inside(i, mk); err != nil {
					return err
				}
				continue
			}
			s.pullMark(mk, left)
		}
		if i < 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if reads {
			past.EndedSecond(i, s.yb, s.fb, s.tb)
		}
		if err := s.cross(i); err != nil {
			return err
		}
		if err := s.path.err; err != nil {
			return err
		}
		s.steps++
		s.tells.step(s.run.Steps()-i, s.run.Steps(), s.step.T)
	}
}

// inside transposes what is read at mark k within step i.
func (s *secondSweep) inside(i, k int) error {
	if !s.at(&s.mark, s.obj) {
		return nil
	}
	if _, err := s.loadDense(i); err != nil {
		return err
	}
	s.dot = s.path.markAt(k)
	dot := &s.dot
	yb := s.jump.seen.y
	yb.Clear()
	s.w.Clear()
	s.obj.ObservePullPush(&s.pt, dot, s.fb, yb, s.db, yb, s.db, s.w)
	s.method.InterpolatePullPush(s.field(i, &s.dense), &s.dense, s.tangentAt(i), s.mark.Theta, dot.T, yb, s.w)
	if !s.instants[s.mark.Instant].Fixed {
		s.sys.InstantPullPush(s.mark.Instant, s.w)
	}
	return nil
}

// cross transposes step i.
func (s *secondSweep) cross(i int) error {
	st, c := &s.step, &s.c
	if _, err := s.read.Load(i, st); err != nil {
		return err
	}
	e := endOf(s.sys, s.run, i)
	past, reads := s.sys.(PastPullPusher)
	if reads {
		if _, err := s.loadDense(i); err != nil {
			return err
		}
		over(s.sys, st)
		past.SowSecond(i, &s.dense, s.method)
	}
	if s.loaded == i {
		st, s.loaded = &s.dense, -1
	}
	if st.H > 0 && len(s.owed) > 0 {
		s.settle()
	}
	c.Y1, c.T1 = s.yb, s.tb
	q := len(s.gq.X)
	c.DQ = solvers.Dual{X: s.fb.X[:q], D: s.fb.D[:q*s.l]}
	follows := reads && e.Kind == solvers.EndFree && past.Follows(i)
	c.WantH = follows || e.Kind != solvers.EndFree && !s.walk.timeless
	field, dot := s.field(i, st), s.tangentAt(i)
	s.method.PullPush(field, st, dot, c)
	switch e.Kind {
	case solvers.EndFree:
		if follows {
			takeAway(c.T0, c.H)
			past.EndPullPush(i, c.H)
		}
	case solvers.EndClip:
		if s.walk.timeless {
			break
		}
		takeAway(c.T0, c.H)
		if setBefore(e, st.H) {
			h := solvers.NewDual(1, s.l)
			h.Copy(c.H)
			s.owed = append(s.owed, owedSecond{e, h})
		} else {
			s.pullClip(e, c.H)
		}
	case solvers.EndRoot:
		shareSecond(s.w, c.H, s.rates[i])
		s.method.Push(field, st, dot)
		s.pullGuard(e.Index, st, dot, s.w)
		s.g.WantH = false
		s.method.PullPush(field, st, dot, &s.g)
		c.T0.Add(s.g.T0)
		c.Y0.Add(s.g.Y0)
	}
	s.yb, c.Y0 = c.Y0, s.yb
	s.tb, c.T0 = c.T0, s.tb
	return nil
}

// takeAway subtracts h from t.
func takeAway(t, h solvers.Dual) {
	t.X[0] -= h.X[0]
	for j, v := range h.D {
		t.D[j] -= v
	}
}

// pullClip transposes the time that e ends a step at, at the present discretes.
func (s *secondSweep) pullClip(e solvers.End, h solvers.Dual) {
	in := &s.instants[e.Index]
	if in.Fixed {
		return
	}
	s.sys.InstantPullPush(e.Index, h)
	if e.Nth > 0 {
		n := float64(e.Nth)
		s.w.X[0] = float64(n * h.X[0])
		for j, x := range h.D {
			s.w.D[j] = float64(n * x)
		}
		s.sys.InstantPullPush(in.Period, s.w)
	}
}

// settle pulls what is owed, at the discretes now reached.
func (s *secondSweep) settle() {
	for _, o := range s.owed {
		s.pullClip(o.end, o.h)
	}
	s.owed = s.owed[:0]
}

// pullMark transposes mark k, s.mark; left is the mark whose left limits it reads.
func (s *secondSweep) pullMark(k, left int) {
	m := &s.mark
	read := s.at(m, s.obj)
	s.dot = s.path.markAt(k)
	dot := &s.dot
	observe := func(ymb, dmb solvers.Dual) {
		s.obj.ObservePullPush(&s.pt, dot, s.fb, ymb, dmb, s.yb, s.db, s.tb)
	}
	switch m.Kind {
	case solvers.MarkFinal:
		if read {
			observe(s.yb, s.db)
		}
	case solvers.MarkSite:
		switch {
		case !read:
		case left < 0:
			observe(s.yb, s.db)
		default:
			if s.jump.of != left {
				s.jump.of = left
				s.jump.group.y.Clear()
				s.jump.group.d.Clear()
			}
			observe(s.jump.group.y, s.jump.group.d)
		}
	case solvers.MarkFire:
		if read {
			s.jump.seen.y.Clear()
			s.jump.seen.d.Clear()
			observe(s.jump.seen.y, s.jump.seen.d)
		}
		s.pullConsistent(dot)
		if past, ok := s.sys.(PastPullPusher); ok {
			past.JumpSecond(s.run.After(k))
		}
		s.sys.Leave(s.db)
		s.enter(m.Dm, m.Mm, dot.Dm)
		t := [1]float64{m.T}
		s.sys.AffectPullPush(
			m.Firing, solvers.Dual{X: t[:], D: dot.T},
			solvers.Dual{X: m.Ym, D: dot.Ym}, solvers.Dual{X: m.Dm, D: dot.Dm},
			s.yb, s.db, s.jump.body.y, s.jump.body.d, s.tb,
		)
		s.yb, s.jump.body.y = s.jump.body.y, s.yb
		s.db, s.jump.body.d = s.jump.body.d, s.db
		if read {
			s.yb.Add(s.jump.seen.y)
			s.db.Add(s.jump.seen.d)
		}
		if s.jump.of == k {
			s.yb.Add(s.jump.group.y)
			s.db.Add(s.jump.group.d)
			s.jump.of = -1
		}
	case solvers.MarkMode, solvers.MarkRemode:
		s.pullConsistent(dot)
		s.sys.Leave(s.db)
		s.enter(m.Dm, m.Mm, dot.Dm)
	case solvers.MarkStart:
		if read {
			observe(s.yb, s.db)
		}
		s.settle()
		s.pullConsistent(dot)
		if past, ok := s.sys.(PastPullPusher); ok {
			past.InitialSecond(s.yb)
			past.EndedSecond(-1, s.yb, s.fb, s.tb)
		}
		s.sys.Leave(s.db)
		t := [1]float64{m.T}
		s.sys.StartPullPush(solvers.Dual{X: t[:], D: dot.T}, s.yb, s.db, s.tb)
		s.sys.InstantPullPush(0, s.tb)
		s.sys.Finish(s.pb)
	}
}
