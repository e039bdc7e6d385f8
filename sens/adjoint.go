package sens

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// CotangentWorker is what one goroutine needs to sweep backwards. The method has work space for the system's lanes.
type CotangentWorker struct {
	System     solvers.CotangentSystem
	Objectives CotangentObjectives
	Method     solvers.Method
}

// Adjoint is the discrete adjoint: the transpose of the run, step by step and
// jump by jump from the end, for as many objectives at once as there are lanes.
// With λ̄ and t̄ the cotangents of state and time at the end of a step, and h̄
// what Method.Pull returns for its length:
//
//   - an ordinary step drops h̄: error control is not differentiated;
//   - a step that ends at a time T(p, d) has h = T - t, so T̄ = h̄ and t̄ -= h̄;
//   - a step that ends at a root of g(t+h, y₁, p) adds μ∇g to the cotangents of
//     its end, μ = -h̄(λ̄, t̄)/h̄(∇g), and so p̄ += μ g_p;
//   - a body is transposed before the step that led to it.
//
// The right-limit field never enters: t̄, gathered from later steps, stands for
// it. Exact for the computed solution, to rounding.
type Adjoint struct {
	// New makes a worker. All workers must be alike. It is called once per goroutine; all gradients are of runs of
	// one system.
	New func() CotangentWorker
	// Threads is the number of goroutines; 0 and 1 mean the caller's. Results do not depend on it.
	Threads int
	// Trace, if not nil, is told the adjoint states of the objectives from first on, lam[n][lanes], at the end and
	// then at the start of every step, from the last step to the first. They are what the objective changes by when
	// the state is moved there and later events move with it. Goroutines call it concurrently. lam is overwritten
	// after the call.
	Trace func(t float64, first int, lam []float64)

	// Bounded, if not nil, returns a New whose workers take bound for each derivative that is not finite where the
	// value is. It is called where derivatives come out that are not finite, with two bounds, once each.
	Bounded func(bound float64) (func() CotangentWorker, error)

	bounded [2]*bounded

	sweeps []*sweep // of the goroutines, kept from one gradient to the next
	common common

	TimesForwards
	telling
}

// sweep returns the sweep of goroutine i, ready for run.
func (a *Adjoint) sweep(i int, run *record.Trajectory) *sweep {
	if i == len(a.sweeps) {
		a.sweeps = append(a.sweeps, newSweep(a.New(), run))
	}
	s := a.sweeps[i]
	s.run, s.steps, s.jump.of = run, 0, -1
	if s.revisits != nil {
		s.revisits.Forget()
	}
	return s
}

// Name implements Method.
func (a *Adjoint) Name() string { return ModeAdjoint }

// Gradient implements Method.
func (a *Adjoint) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	w := a.sweep(0, run)
	_, m := w.obj.Counts()
	forwards := a.plan(run, m, &opts, res)
	rows := m
	if opts.EventTimes {
		rows += len(res.Events)
	}
	blocks := (rows + w.l - 1) / w.l
	threads := max(min(a.Threads, blocks), 1)
	run.Share(threads, blocks)
	w.read.Open(ctx, run)
	res.Suspect = append(res.Suspect, make([]bool, m)...)
	res.Sound = append(res.Sound, make([]bool, m)...)
	if err := res.observe(ctx, run, w.sys, w.method, w.obj, &opts); err != nil {
		return err
	}
	common := &a.common
	common.res, common.objectives, common.stride = res, m, opts.stride(run.Size())
	var err error
	if common.rates, err = w.slopes(res, opts.grazingLimit()); err != nil {
		return err
	}
	common.blocks = blocks
	w.read.Open(ctx, run)
	common.next.Store(0)
	common.steps.Store(0)
	if w.tell = nil; a.tell != nil {
		all := float64(blocks)
		if forwards {
			all *= 2
		}
		w.tell = func(i int) {
			if w.steps%64 != 0 {
				return
			}
			whole := float64(common.next.Load()-1) + float64(run.Steps()-i)/float64(run.Steps())
			a.tell(w.step.T, min(whole/all, 1), w.steps)
		}
	}
	if threads > 1 {
		if err := a.parallel(ctx, run, w, threads); err != nil {
			return err
		}
	} else if err := a.work(ctx, w); err != nil {
		return err
	}
	res.Stats = Stats{Sweeps: blocks, Steps: int(common.steps.Load())}
	defer func() { common.rates = slopes{} }() // there may be millions
	if err := a.resolve(ctx, run, opts, res); err != nil || !forwards {
		return err
	}
	a.telling.steps = w.steps
	return a.differentiate(ctx, run, common.rates, false, &a.telling, &opts, res)
}

// common is shared by the goroutines of one gradient.
type common struct {
	rates              slopes
	res                *Result
	objectives, stride int
	blocks             int
	next, steps        atomic.Int64
}

// work sweeps for one block of rows after the other until none is left.
func (a *Adjoint) work(ctx context.Context, w *sweep) error {
	p := &a.common
	w.rates, w.res, w.objectives, w.stride, w.trace = p.rates, p.res, p.objectives, p.stride, a.Trace
	for {
		b := int(p.next.Add(1)) - 1
		if b >= p.blocks {
			p.steps.Add(int64(w.steps))
			return nil
		}
		if err := w.block(ctx, b*w.l); err != nil {
			return err
		}
	}
}

// parallel runs work on several goroutines; first belongs to that of the caller.
func (a *Adjoint) parallel(ctx context.Context, run *record.Trajectory, first *sweep, threads int) error {
	var group sync.WaitGroup
	errs := make([]error, threads)
	for i := 1; i < threads; i++ {
		w := a.sweep(i, run)
		w.read.Open(ctx, run)
		group.Go(func() { errs[i] = a.work(ctx, w) })
	}
	errs[0] = a.work(ctx, first)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// transport carries the cotangents of a sweep from the end of a step to its start, by the transpose of the step or by
// a differential equation.
type transport interface {
	// begin starts a sweep.
	begin() error
	// inside transposes what is read within step i.
	inside(i int, r *innerReading) error
	// jumped tells that something was read at the end of the step that is crossed next.
	jumped()
	// cross moves to the start of step i.
	cross(i int) error
}

// sweep walks a trajectory backwards for one block of lanes at a time.
type sweep struct {
	sys    solvers.CotangentSystem
	obj    CotangentObjectives
	method solvers.Method
	survey
	target
	rates slopes

	l         int
	timeless  bool // no time depends on anything: cotangents of time lead nowhere
	steps     int
	owed      []owed                // by steps of length zero
	revisits  solvers.Revisitor     // the system, if it is one
	selective Selective             // the objectives, if they are
	algebra   *matrices.Consistency // nil without algebraic equations
	via       transport
	trace     func(t float64, first int, lam []float64)
	tell      func(i int) // that step i is crossed
	readings  int         // how many are to come
	limited   limitedCotangent

	fb []float64 // [F·L] functionals
	cotangents[[]float64]
	jump jump[[]float64]
	root[[]float64, solvers.StepCotangent]
	moved moved // with the step dense
	w     []float64
	c     solvers.StepCotangent
}

func newSweep(wk CotangentWorker, run *record.Trajectory) *sweep {
	z, l := run.Size(), wk.System.Lanes()
	f, _ := wk.Objectives.Counts()
	v := func(n int) []float64 { return make([]float64, n*l) }
	s := &sweep{
		sys: wk.System, obj: wk.Objectives, method: wk.Method, survey: newSurvey(run, wk.System.Instants()),
		target: target{rows: make([][]float64, l)}, l: l,
		fb: v(f), cotangents: cotangents[[]float64]{v(z.N), v(1), v(z.D)}, jump: newJump(z.N, z.D, v),
		moved: moved{v(1), v(1)}, w: v(1),
	}
	s.gy, s.gt, s.gq = v(z.N), v(1), v(z.Q)
	s.revisits, _ = wk.System.(solvers.Revisitor)
	s.selective, _ = wk.Objectives.(Selective)
	s.algebra = consistencyOf(wk.System, l)
	s.via = s
	s.timeless = timeless(wk.System)
	s.c = solvers.StepCotangent{T0: v(1), H: v(1), Y0: v(z.N), Rows: make([]int, 0, z.Q)}
	s.g = solvers.StepCotangent{T0: v(1), H: v(1), Y0: v(z.N), Rows: []int{}} // guards read no quadratures
	return s
}

// slopes finds the rates of all roots of the run. Cotangents that gather in the system meanwhile are discarded when a
// block begins.
func (s *sweep) slopes(res *Result, limit float64) (slopes, error) {
	if s.timeless {
		return slopes{}, nil
	}
	var rates slopes
	err := roots(s.sys, s.run, &rates, func(i, guard int) error {
		st := &s.step
		if _, err := s.read.Load(i, st); err != nil {
			return err
		}
		s.sys.Enter(s.run.Held(i))
		rates.add(i, s.slope(res, guard, st, s.field(i, st), limit))
		return nil
	})
	return rates, err
}

// slope returns the rate of the guard that ended st, and judges it.
func (s *sweep) slope(
	res *Result, guard int, st *solvers.Step, field solvers.CotangentField, limit float64,
) float64 {
	s.slant(guard, st)
	s.g.WantH = true
	s.method.Pull(field, st, &s.g)
	rate := s.g.H[0]
	for j := range s.jump.body.y {
		if j%s.l == 0 {
			s.jump.body.y[j/s.l] = s.gy[j]
		}
	}
	res.judge(s.sys, guard, st, rate, s.jump.body.y[:len(s.jump.body.y)/s.l], limit)
	return rate
}

// field returns the system, within the limits of step i.
func (s *sweep) field(i int, st *solvers.Step) solvers.CotangentField {
	over(s.sys, st)
	if s.timeless {
		return s.sys
	}
	b, any := limitsOf(s.run, i, st)
	return s.limit(b, any)
}

// limit returns the system, within b if there are any limits.
func (s *sweep) limit(b limits, any bool) solvers.CotangentField {
	if any && !s.timeless {
		s.limited = limitedCotangent{s.sys, b}
		return &s.limited
	}
	return s.sys
}

// slant makes s.g the slopes of a guard at the end of st.
func (s *sweep) slant(guard int, st *solvers.Step) {
	for j := range s.w {
		s.w[j] = 1
	}
	s.pullGuard(guard, st)
}

// pullGuard makes s.g the cotangents of the end of st from a guard there, weighted by s.w.
func (s *sweep) pullGuard(guard int, st *solvers.Step) {
	clear(s.gy)
	clear(s.gt)
	s.sys.GuardPull(guard, st.T1, st.Y1, s.w, s.gy, s.gt)
	s.g.Y1, s.g.T1, s.g.DQ = s.gy, s.gt, s.gq
}

// block sweeps for rows first … first+L-1: objectives, and beyond them the times of events.
func (s *sweep) block(ctx context.Context, first int) error {
	s.aim(first, s.run.Size().P)
	s.begins()
	s.loaded = -1
	s.read.Back()
	if err := s.via.begin(); err != nil {
		return err
	}
	mk := s.last(s.run.Marks()) // nothing after it matters
	after, _, err := s.read.LoadMark(mk, &s.mark)
	if err != nil {
		return err
	}
	s.sys.Enter(s.mark.Dp, s.mark.Mp)
	s.seek(after)
	at := after // the step that mark mk belongs to
	for i := after; ; i-- {
		if at == i && !s.run.Inside(mk) {
			if err := s.behind(i); err != nil {
				return err
			}
		}
		for at == i && !s.run.Inside(mk) {
			_, left, err := s.read.LoadMark(mk, &s.mark)
			if err != nil {
				return err
			}
			s.pullMark(&s.mark, mk, left)
			if s.settled(mk) {
				if _, _, err := s.read.LoadMark(0, &s.mark); err != nil {
					return err
				}
				s.sys.Enter(s.mark.Dp, s.mark.Mp)
				s.finish(&s.mark)
				return nil
			}
			mk--
			at = s.markedStep(mk)
		}
		if i < 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if at == i || s.readings > 0 {
			if err := s.pullWithin(i, &mk); err != nil {
				return err
			}
			at = s.markedStep(mk)
		}
		if err := s.via.cross(i); err != nil {
			return err
		}
		if s.readings > 0 { // at the start of the step, after what happened there
			if _, err := s.read.Load(i, &s.step); err != nil {
				return err
			}
			d, _ := s.run.Held(i)
			s.pullReading(place{i, 0}, s.step.Y0, d)
		}
		s.steps++
		if s.tell != nil {
			s.tell(i)
		}
	}
	return nil
}

// settled reports whether a block of times of events depends on nothing before mark k, s.mark, which was just pulled:
// such times do not move with states, as the ends of the pieces of a control.
func (s *sweep) settled(k int) bool {
	_, reads := s.sys.(PastPuller) // which holds what earlier steps are to take in
	if reads || s.via != transport(s) || !s.times() || k >= s.res.Events[s.first-s.objectives].Mark {
		return false
	}
	return s.mark.Happens() && len(s.owed) == 0 && s.jump.of < 0 && allZero(s.yb) && allZero(s.tb) && allZero(s.db)
}

func allZero(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != 0 })
}

// begins makes the cotangents those of the rows, behind everything that happens.
func (s *sweep) begins() {
	s.sys.Begin(s.rows)
	s.obj.ValuesPull(s.res.Functionals, s.first, s.fb)
	s.c.Rows = s.c.Rows[:0]
	for i := range len(s.gq) / s.l {
		if !allZero(s.fb[i*s.l : (i+1)*s.l]) {
			s.c.Rows = append(s.c.Rows, i)
		}
	}
	clear(s.yb)
	clear(s.tb)
	clear(s.db)
}

// markedStep returns the step at whose end or within which mark mk is, -1 before the first step; -2 if there is none.
func (s *sweep) markedStep(mk int) int {
	if mk < 0 {
		return -2
	}
	return s.run.After(mk)
}

// visit tells the system which step's stages are pulled next.
func (s *sweep) visit(i int) {
	if s.revisits != nil {
		s.revisits.Visit(i)
	}
}

func (s *sweep) begin() error { return nil }
func (s *sweep) jumped()      {}

// inside hands the cotangents of what is read to the dense output, which keeps them for the step's transpose.
func (s *sweep) inside(i int, r *innerReading) error {
	method, err := s.interpolant(i)
	if err != nil {
		return err
	}
	s.keepInside(method, s.field(i, &s.dense), r)
	return nil
}

// keepInside has method keep the cotangents of what is read within s.dense.
func (s *sweep) keepInside(method solvers.Interpolant, field solvers.CotangentField, r *innerReading) {
	clear(s.jump.seen.y)
	clear(s.w)
	if s.pulls(&s.pt.Site) {
		s.obj.ObservePull(&s.pt, s.fb, s.jump.seen.y, s.db, s.jump.seen.y, s.db, s.w)
	}
	method.InterpolatePull(field, &s.dense, r.theta, s.jump.seen.y, s.w)
	if r.instant >= 0 {
		s.sys.InstantPull(r.instant, s.w)
	}
	if r.held {
		s.moved.add(r.theta, s.w)
	}
}

// interpolant makes s.dense step i.
func (s *sweep) interpolant(i int) (solvers.Interpolant, error) {
	fresh, err := s.loadDense(i)
	if err != nil {
		return nil, err
	}
	if fresh {
		s.moved.clear()
	}
	return interpolant(s.method)
}

// interpolant returns m as a method whose dense output can be differentiated.
func interpolant(m solvers.Method) (solvers.Interpolant, error) {
	i, err := solvers.As[solvers.Interpolant](m, solvers.DenseDerivatives)
	if err != nil {
		return nil, fmt.Errorf("%w; observe at ends of steps (observe = clip)", err)
	}
	return i, nil
}

// cross transposes step i.
func (s *sweep) cross(i int) error {
	st := &s.step
	e, err := s.read.Load(i, st)
	if err != nil {
		return err
	}
	if _, err := s.sow(i); err != nil {
		return err
	}
	past, reads := s.sys.(PastPuller)
	if reads {
		past.Ended(i, s.tb)
	}
	if s.loaded == i { // what is read within it needs the stages of the dense output
		st = &s.dense
		s.loaded = -1
	}
	seeded := st == &s.dense
	s.transpose(i, st, e, s.field(i, st), s.rates.at(i), seeded)
	if reads && st.H > 0 {
		past.LeapPull(st.T, st.Y0, s.yb, s.fb, s.tb)
	}
	return nil
}

// transpose transposes st, step i, -1 for one that no system keeps anything of. rate is that of the guard that ended
// it. If seeded, something was read within it.
func (s *sweep) transpose(
	i int, st *solvers.Step, e solvers.End, field solvers.CotangentField, rate float64, seeded bool,
) {
	c := &s.c
	if st.H > 0 && len(s.owed) > 0 {
		s.settle()
	}
	s.visit(i)
	c.Y1, c.T1, c.DQ = s.yb, s.tb, s.fb[:len(s.gq)]
	past, reads := s.sys.(PastPuller)
	follows := reads && e.Kind == solvers.EndFree && past.Follows(i)
	c.WantH = (follows || e.Kind != solvers.EndFree) && !s.timeless
	s.method.Pull(field, st, c)
	if seeded {
		addTo(c.T0, s.moved.t)
		if c.WantH {
			addTo(c.H, s.moved.h)
		}
	}
	switch e.Kind {
	case solvers.EndFree:
		if follows {
			for j, h := range c.H {
				c.T0[j] -= h
			}
			past.EndPull(i, c.H)
		}
	case solvers.EndClip:
		if s.timeless {
			break
		}
		for j, h := range c.H {
			c.T0[j] -= h
		}
		s.owe(e, st.H, c.H)
	case solvers.EndRoot:
		for j, h := range c.H {
			s.w[j] = share(h, rate)
		}
		s.pullGuard(e.Index, st)
		s.g.WantH = false
		if seeded {
			s.visit(-1) // the first Pull was another one
		} else {
			s.visit(i)
		}
		s.method.Pull(field, st, &s.g)
		addTo(c.T0, s.g.T0)
		addTo(c.Y0, s.g.Y0)
	}
	if s.trace != nil && st.H > 0 {
		if e.Kind == solvers.EndRoot { // a state moved there meets the guard at another time
			addTo(s.yb, s.gy)
		}
		s.trace(st.T1, s.first, s.yb)
		s.trace(st.T, s.first, c.Y0)
	}
	s.yb, c.Y0 = c.Y0, s.yb
	s.tb, c.T0 = c.T0, s.tb
}

// owe transposes the time that e ends a step of length h at, when the discretes that set it are reached.
func (s *sweep) owe(e solvers.End, h float64, hb []float64) {
	if setBefore(e, h) {
		n := len(s.owed)
		if n == cap(s.owed) {
			s.owed = append(s.owed, owed{})
		}
		s.owed = s.owed[:n+1]
		o := &s.owed[n]
		o.end, o.h = e, append(o.h[:0], hb...)
	} else {
		s.pullClip(e, hb)
	}
}

// pullClip transposes the time that e ends a step at, at the present discretes.
func (s *sweep) pullClip(e solvers.End, h []float64) {
	in := &s.instants[e.Index]
	if in.Fixed {
		return
	}
	s.sys.InstantPull(e.Index, h)
	if e.Nth > 0 {
		for j, x := range h {
			s.w[j] = float64(float64(e.Nth) * x)
		}
		s.sys.InstantPull(in.Period, s.w)
	}
}

// owed is the cotangent of a time that is pulled when the discretes before its group of events are reached.
type owed struct {
	end solvers.End
	h   []float64
}

// settle pulls what is owed, at the discretes now reached.
func (s *sweep) settle() {
	for _, o := range s.owed {
		s.pullClip(o.end, o.h)
	}
	s.owed = s.owed[:0]
}

// pullMark transposes mark k, m; left is the mark whose left limits it reads.
func (s *sweep) pullMark(m *solvers.Mark, k, left int) {
	read := s.at(m, s.obj)
	switch m.Kind {
	case solvers.MarkFinal:
		if s.pullReading(place{s.run.Steps(), 0}, m.Yp, m.Dp) {
			s.at(m, s.obj)
		}
		if read {
			s.observe(s.yb, s.db, s.yb, s.db)
		}
	case solvers.MarkSite:
		switch {
		case !read:
		case left < 0:
			s.observe(s.yb, s.db, s.yb, s.db)
		default:
			if s.jump.of != left {
				s.jump.of = left
				clear(s.jump.group.y)
				clear(s.jump.group.d)
			}
			s.observe(s.jump.group.y, s.jump.group.d, s.yb, s.db)
		}
	case solvers.MarkFire:
		if read {
			clear(s.jump.seen.y)
			clear(s.jump.seen.d)
			s.observe(s.jump.seen.y, s.jump.seen.d, s.yb, s.db)
		}
		s.suspect(s.yb, s.tb)
		s.pullConsistent(m)
		if past, ok := s.sys.(PastPuller); ok {
			past.Jump(s.run.After(k), s.tb)
		}
		s.sys.Leave(s.db)
		s.sys.Enter(m.Dm, m.Mm)
		s.sys.AffectPull(m.Firing, m.T, m.Ym, m.Dm, s.yb, s.db, s.jump.body.y, s.jump.body.d, s.tb)
		copy(s.yb, s.jump.body.y) // what calls are bound to stays in its place
		copy(s.db, s.jump.body.d)
		if read {
			addTo(s.yb, s.jump.seen.y)
			addTo(s.db, s.jump.seen.d)
		}
		if s.jump.of == k {
			addTo(s.yb, s.jump.group.y)
			addTo(s.db, s.jump.group.d)
			s.jump.of = -1
		}
		s.seed(k, s.tb)
	case solvers.MarkMode, solvers.MarkRemode:
		s.pullConsistent(m)
		s.sys.Leave(s.db)
		s.sys.Enter(m.Dm, m.Mm)
		s.seed(k, s.tb)
	case solvers.MarkStart:
		if read {
			s.observe(s.yb, s.db, s.yb, s.db)
		}
		s.finish(m)
	}
}

// observe transposes what is read at s.pt, for the objectives of the block, where they read anything.
func (s *sweep) observe(ymb, dmb, ypb, dpb []float64) {
	if s.pulls(&s.pt.Site) {
		s.obj.ObservePull(&s.pt, s.fb, ymb, dmb, ypb, dpb, s.tb)
	}
}

// pulls reports whether the objectives of the block may read anything at site.
func (s *sweep) pulls(site *Site) bool { return s.selective == nil || s.selective.Pulls(site) }

// finish pulls the initial values into the parameters and writes the rows of the block.
func (s *sweep) finish(m *solvers.Mark) {
	s.settle()
	s.suspect(s.yb, s.tb)
	s.pullConsistent(m)
	if past, ok := s.sys.(PastPuller); ok {
		past.Initial(s.yb)
		past.Ended(-1, s.tb)
	}
	s.sys.Leave(s.db)
	s.sys.StartPull(m.T, s.yb, s.db, s.tb)
	s.sys.InstantPull(0, s.tb)
	s.sys.Finish()
	sounder, ok := s.sys.(Sounder)
	s.write(ok && sounder.Sound(), s.yb, s.run.Size().N)
}

// Sounder is a CotangentSystem that can tell whether the rows that it completed last hold finite numbers only, at less
// cost than reading them.
type Sounder interface {
	// Sound may be false where they do.
	Sound() bool
}

// row returns the derivatives by parameters of row i, which is an objective or, beyond these, the time of an event.
// It is nil past the last row.
func (res *Result) row(i, p, stride int) []float64 {
	if m := len(res.Psi); i < m {
		return res.DP[i*stride : i*stride+p]
	} else if i -= m; i < len(res.Events) {
		return res.Events[i].DP
	}
	return nil
}

func addTo(x, y []float64) {
	for i, v := range y {
		x[i] += v
	}
}
