package sens

import (
	"context"
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// TangentWorker is what a tangent sweep needs. The method has work space for the system's lanes.
type TangentWorker struct {
	System     solvers.TangentSystem
	Objectives TangentObjectives
	Method     solvers.Method
}

// Tangent is the discrete tangent: the run differentiated forwards, for all objectives at once, in as many parameter
// directions as there are lanes. With ṫ and ẏ at the start of a step, its length moves by ḣ = 0 for an ordinary
// step, by Ṫ - ṫ for one that ends at a time T, and by -ġ/D for one that ends at a root, with ġ the tangent of
// the guard at ḣ = 0 and D its rate in h.
type Tangent struct {
	// New makes the worker. It is called once per gradient.
	New func() TangentWorker

	telling
}

// Name implements Method.
func (a *Tangent) Name() string { return ModeTangent }

// Gradient implements Method.
func (a *Tangent) Gradient(ctx context.Context, run *record.Trajectory, opts Options, res *Result) error {
	w := newWalk(a.New(), run)
	w.tells = &a.telling
	return w.gradient(ctx, opts, res)
}

func (w *walk) gradient(ctx context.Context, opts Options, res *Result) error {
	run := w.run
	_, m := w.obj.Counts()
	res.prepare(run, m, opts)
	if err := res.observe(ctx, run, w.sys, w.method, w.obj, &opts); err != nil {
		return err
	}
	w.res, w.stride, w.tellTime = res, opts.stride(run.Size()), opts.Time
	w.read.Open(ctx, run)
	if err := w.slopes(opts.grazingLimit()); err != nil {
		return err
	}
	z := run.Size()
	directions := z.P
	if opts.Initial {
		directions += z.N
	}
	w.tells.begin((directions + w.l - 1) / w.l)
	for first := 0; first < directions; first += w.l {
		if err := w.block(ctx, first, directions); err != nil {
			return err
		}
		w.tells.done()
		res.Stats.Sweeps++
	}
	res.Stats.Steps = w.steps
	return nil
}

// walk pushes a block of directions along a trajectory.
type walk struct {
	sys    solvers.TangentSystem
	obj    TangentObjectives
	method solvers.Method
	survey
	heading
	columns
	ahead   map[int][]float64 // tangents of the times of steps of length zero
	rates   slopes
	rated   bool                  // rates are those of the run
	algebra *matrices.Consistency // nil without algebraic equations
	l       int
	steps   int

	d solvers.StepTangent
	tangents
	yp, dp   []float64      // right limits of a jump
	group    group[float64] // tangents of its left limits
	fd, psid []float64
	r, w     []float64
	stepField
	k     []float64 // [N+Q], where the field carries the derivatives instead of the steps; otherwise nil
	tells *telling  // nil to tell nobody
	path  *path     // keeps the tangents met; nil to keep none
}

// tangents are those at the point that a walk has come to.
type tangents struct {
	td, yd, dd []float64 // time, state and discretes
}

// heading is the directions that a walk goes in.
type heading struct {
	pd  []float64 // [P·L]
	dy0 []float64 // [N·L] added to the tangents of the initial values; nil for nothing
}

// aim makes them the p parameters from first on, one in each of l lanes.
func (h *heading) aim(first, p, l int) {
	clear(h.pd)
	for j := 0; j < l && first+j < p; j++ {
		h.pd[(first+j)*l+j] = 1
	}
}

// columns are where a walk writes the derivatives in its directions.
type columns struct {
	res      *Result
	stride   int
	event    int // the first of res.Events that the walk has not passed
	tellTime func(e EventTime, first int, td []float64)
}

// write writes the derivatives psid of the objectives in the directions from first on.
func (c *columns) write(first, directions int, z solvers.Size, psid []float64) {
	l := len(psid) / max(len(c.res.Psi), 1)
	for j := 0; j < l && first+j < directions; j++ {
		for o := range c.res.Psi {
			if x := psid[o*l+j]; first+j < z.P {
				c.res.DP[o*c.stride+first+j] = x
			} else {
				c.res.DY0[o*z.N+first+j-z.P] = x
			}
		}
	}
}

// time writes the derivatives td of the time of mark k, m, by those of p parameters from first on.
func (c *columns) time(k int, m *solvers.Mark, first, p int, td []float64) {
	if c.tellTime != nil {
		if m.Happens() && first < p {
			c.tellTime(eventTime(k, m), first, td)
		}
		return
	}
	list := c.res.Events
	for ; c.event < len(list) && list[c.event].Mark < k; c.event++ {
	}
	if c.event == len(list) || list[c.event].Mark != k || list[c.event].DP == nil {
		return
	}
	for j := 0; j < len(td) && first+j < p; j++ {
		list[c.event].DP[first+j] = td[j]
	}
}

// stepField is the system that tangents are pushed through, within the limits of the present step.
type stepField struct {
	field   solvers.TangentField
	limited limitedTangent
	// No time moves, so that steps, as those of the adjoint then, are differentiated without limits.
	timeless bool
}

func newWalk(wk TangentWorker, run *record.Trajectory) *walk {
	z, l := run.Size(), wk.System.Lanes()
	f, m := wk.Objectives.Counts()
	v := func(n int) []float64 { return make([]float64, n*l) }
	w := &walk{
		sys: wk.System, obj: wk.Objectives, method: wk.Method, survey: newSurvey(run, wk.System.Instants()), l: l,
		heading: heading{pd: v(z.P)}, tangents: tangents{v(1), v(z.N), v(z.D)}, yp: v(z.N), dp: v(z.D),
		group: group[float64]{y: v(z.N), d: v(z.D)}, fd: v(f), psid: v(m), r: v(1), w: v(1),
	}
	w.algebra = consistencyOf(wk.System, l)
	_, reads := wk.System.(past)
	w.timeless = timeless(wk.System) && !reads
	w.d = solvers.StepTangent{H: v(1), T1: v(1), Y1: v(z.N), DQ: v(z.Q)}
	return w
}

// slopes finds the rates of all roots of the run: the tangents in the direction of h alone.
func (w *walk) slopes(limit float64) error {
	w.rated = true
	w.sys.SetTangent(w.pd)
	return roots(w.sys, w.run, &w.rates, func(i, guard int) error {
		st := &w.step
		if _, err := w.read.Load(i, st); err != nil {
			return err
		}
		w.within(limitsOf(w.run, i, st))
		over(w.sys, st)
		w.sys.Enter(w.run.Held(i))
		w.rates.add(i, w.rate(guard, st, limit))
		return nil
	})
}

// rate returns the rate of the guard that ended st, and judges it. Nothing moves yet, and the discretes are current.
func (w *walk) rate(guard int, st *solvers.Step, limit float64) (rate float64) {
	z, l := w.run.Size(), w.l
	w.sys.EnterPush(w.dd)
	if w.k != nil {
		rate = w.fieldSlope(st, guard)
	} else {
		for j := range w.d.H {
			w.d.H[j] = 1
		}
		w.push(st)
		w.sys.GuardPush(guard, st.T1, st.Y1, w.d.T1, w.d.Y1, w.r)
		rate = w.r[0]
	}
	// The guard's gradient, a few states at a time.
	grad := make([]float64, z.N)
	clear(w.w)
	for n := 0; n < z.N; n += l {
		for j := 0; j < l && n+j < z.N; j++ {
			w.yd[(n+j)*l+j] = 1
		}
		w.sys.GuardPush(guard, st.T1, st.Y1, w.w, w.yd, w.r)
		copy(grad[n:], w.r)
		clear(w.yd)
	}
	w.res.judge(w.sys, guard, st, rate, grad, limit)
	return rate
}

// push moves w.d through a step, from the present tangents and w.d.H.
func (w *walk) push(st *solvers.Step) {
	w.d.T0, w.d.Y0 = w.td, w.yd
	w.method.Push(w.field, st, &w.d)
}

// within prepares for pushes through a step, within its limits if there are any.
func (w *walk) within(b limits, any bool) {
	w.limited = limitedTangent{w.sys, b}
	if w.field = w.sys; any && (!w.timeless || w.k != nil) {
		w.field = &w.limited
	}
}

// block walks in directions first … first+L-1: parameters and, after these, initial values.
func (w *walk) block(ctx context.Context, first, directions int) error {
	w.aim(first, w.run.Size().P, w.l)
	if err := w.along(ctx, first); err != nil {
		return err
	}
	w.write(first, directions, w.run.Size(), w.psid)
	return nil
}

// along walks the run with the tangents of parameters in w.pd and, from direction first on, those of initial values.
// It leaves the tangents of the objectives in w.psid.
func (w *walk) along(ctx context.Context, first int) error {
	w.sys.SetTangent(w.pd)
	clear(w.fd)
	w.event = 0
	mk, coming := 0, ahead(w.res.readings)
	for i := -1; i < w.run.Steps(); i++ {
		if i >= 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.pushReading(&coming, place{i, 0}); err != nil {
				return err
			}
			inside := mk < w.run.Marks() && w.run.After(mk) == i && w.run.Inside(mk) || coming.within(i)
			st, err := w.load(i, inside)
			if err != nil {
				return err
			}
			if w.k != nil {
				w.flowStep(i, st)
			} else {
				w.pushStep(i, st)
			}
			w.steps++
			w.tells.step(i, w.run.Steps(), st.T)
			if err := w.pushReadings(&coming, i); err != nil {
				return err
			}
			if err := w.pushReading(&coming, place{i, 1}); err != nil {
				return err
			}
			if w.run.Length(i) > 0 {
				w.predictTimes(i)
			}
		}
		for ; mk < w.run.Marks() && w.run.After(mk) == i; mk++ {
			_, left, err := w.read.LoadMark(mk, &w.mark)
			if err != nil {
				return err
			}
			if w.mark.Inside {
				r, read := w.atInside(&w.mark, w.obj)
				if !read {
					continue
				}
				if err := w.inside(&r); err != nil {
					return err
				}
				w.path.mark(mk, w.w, w.yp, w.dd, w.yp, w.dd)
				continue
			}
			if w.mark.Kind == solvers.MarkFinal { // before what happens after the end
				if err := w.pushReading(&coming, place{w.run.Steps(), 0}); err != nil {
					return err
				}
			}
			w.pushMark(mk, left, first)
		}
	}
	w.obj.ValuesPush(w.res.Functionals, w.fd, w.psid)
	return nil
}

// inside pushes what is read at r within the last step, where the point is w.pt.
func (w *walk) inside(r *innerReading) error {
	method, err := interpolant(w.method)
	if err != nil {
		return err
	}
	clear(w.w)
	if w.k != nil {
		w.flowInside(method, r)
	} else {
		w.pushInside(method, r)
	}
	w.obj.ObservePush(&w.pt, w.w, w.yp, w.dd, w.yp, w.dd, w.fd)
	return nil
}

// pushInside moves the tangents of the last step on to a time within it, w.w; the state there is w.yp.
func (w *walk) pushInside(method solvers.Interpolant, r *innerReading) {
	if r.instant >= 0 {
		w.sys.InstantPush(r.instant, w.w)
	}
	if r.held {
		for j, h := range w.d.H {
			w.w[j] = math.FMA(r.theta, h, w.d.T0[j])
		}
	}
	method.InterpolatePush(w.field, &w.dense, &w.d, r.theta, w.w, w.yp)
}

// load returns step i; inside tells that something is read within it.
func (w *walk) load(i int, inside bool) (*solvers.Step, error) {
	if _, reads := w.sys.(PastPusher); inside || reads {
		_, err := w.read.LoadDense(i, &w.dense)
		return &w.dense, err
	}
	_, err := w.read.Load(i, &w.step)
	return &w.step, err
}

// pushStep moves the tangents through step i.
func (w *walk) pushStep(i int, st *solvers.Step) {
	w.within(limitsOf(w.run, i, st))
	past, ok := w.sys.(PastPusher)
	if ok {
		if over(past, st); st.H > 0 {
			past.LeapPush(st.T, st.Y0, w.td, w.yd, w.fd)
		}
	}
	w.through(i, st, endOf(w.sys, w.run, i), w.rates.at(i), w.ahead[i])
	if ok {
		past.Keep(i, w.field, w.method, st, &solvers.StepTangent{T0: w.d.T1, H: w.d.H, Y0: w.d.Y1, Y1: w.yd})
	}
}

// through moves the tangents through st, step i, -1 for one that no run keeps. rate is that of the guard that ended it.
// ahead is the tangent of its time if its length is zero.
func (w *walk) through(i int, st *solvers.Step, e solvers.End, rate float64, ahead []float64) {
	d := &w.d
	clear(d.H)
	switch e.Kind {
	case solvers.EndFree:
		if past, ok := w.sys.(PastPusher); ok && past.EndPush(i, d.H) {
			for j, x := range w.td {
				d.H[j] -= x
			}
		}
	case solvers.EndClip:
		in := &w.instants[e.Index]
		switch {
		case in.Fixed:
		case setBefore(e, st.H):
			copy(d.H, ahead)
		default:
			w.instant(e, d.H)
		}
		for j, x := range w.td {
			d.H[j] -= x
		}
	case solvers.EndRoot:
		w.push(st)
		w.sys.GuardPush(e.Index, st.T1, st.Y1, d.T1, d.Y1, w.r)
		for j, x := range w.r {
			d.H[j] = share(x, rate)
		}
	}
	w.path.step(i, w.td, w.yd, d.H)
	w.push(st)
	w.td, d.T1 = d.T1, w.td
	w.yd, d.Y1 = d.Y1, w.yd
	addTo(w.fd[:len(d.DQ)], d.DQ)
	if st.H > 0 {
		w.group.open = false
	}
}

// instant writes the tangent of the time that e ends a step at, by the present discretes.
func (w *walk) instant(e solvers.End, td []float64) {
	w.sys.InstantPush(e.Index, td)
	if e.Nth > 0 {
		w.sys.InstantPush(w.instants[e.Index].Period, w.r)
		for j, x := range w.r {
			td[j] += float64(float64(e.Nth) * x)
		}
	}
}

// predictTimes finds the tangents of the times of the group of events after step i. They were set by the discretes
// before the group, which its first bodies may change.
func (w *walk) predictTimes(i int) {
	for i++; i < w.run.Steps() && w.run.Length(i) == 0; i++ {
		if e := w.run.End(i); e.Kind == solvers.EndClip && !w.instants[e.Index].Fixed {
			if w.ahead == nil {
				w.ahead = map[int][]float64{}
			}
			if w.ahead[i] == nil {
				w.ahead[i] = make([]float64, w.l)
			}
			w.instant(e, w.ahead[i])
		}
	}
}

// pushMark moves the tangents through mark k, w.mark; left is the mark whose left limits it reads.
func (w *walk) pushMark(k, left, first int) {
	m := &w.mark
	read := w.at(m, w.obj)
	switch m.Kind {
	case solvers.MarkStart:
		w.begin(m, first)
	case solvers.MarkFire:
		w.group.enter(w.yd, w.dd)
		w.sys.AffectPush(m.Firing, m.T, m.Ym, m.Dm, w.td, w.yd, w.dd, w.yp, w.dp)
		if w.algebra != nil {
			w.sys.Enter(m.Dp, m.Mp)
			w.sys.EnterPush(w.dp)
			w.pushConsistent(m, w.yp)
		}
		w.path.mark(k, w.td, w.yd, w.dd, w.yp, w.dp)
		if read {
			w.obj.ObservePush(&w.pt, w.td, w.yd, w.dd, w.yp, w.dp, w.fd)
		}
		w.yd, w.yp = w.yp, w.yd
		w.dd, w.dp = w.dp, w.dd
		w.enter(m)
		if past, ok := w.sys.(PastPusher); ok {
			past.Jumped(w.run.After(k), w.td)
		}
		w.time(k, m, first, w.run.Size().P, w.td)
		return
	case solvers.MarkMode, solvers.MarkRemode:
		w.enter(m)
		w.pushConsistent(m, w.yd)
		w.time(k, m, first, w.run.Size().P, w.td)
	}
	yg, dg := w.yd, w.dd
	if left >= 0 {
		yg, dg = w.group.y, w.group.d
	}
	w.path.mark(k, w.td, yg, dg, w.yd, w.dd)
	if !read {
		return
	}
	w.obj.ObservePush(&w.pt, w.td, yg, dg, w.yd, w.dd, w.fd)
}

func (w *walk) enter(m *solvers.Mark) {
	w.sys.Enter(m.Dp, m.Mp)
	w.sys.EnterPush(w.dd)
}

// begin sets the tangents of the initial time and values.
func (w *walk) begin(m *solvers.Mark, first int) {
	z, l := w.run.Size(), w.l
	w.group.open = false
	clear(w.dd)
	w.enter(m)
	w.sys.InstantPush(0, w.td)
	w.sys.StartPush(m.T, w.td, w.yd, w.dd)
	for j := range l {
		if i := first + j - z.P; i >= 0 && i < z.N {
			w.yd[i*l+j]++
		}
	}
	for i, x := range w.dy0 {
		w.yd[i] += x
	}
	w.sys.EnterPush(w.dd)
	w.pushConsistent(m, w.yd)
	if past, ok := w.sys.(PastPusher); ok {
		past.Begins(w.yd)
	}
	w.predictTimes(-1)
}

// times writes the derivatives of the times of res.Events. rates are those of the roots of the run.
func (w *walk) times(ctx context.Context, res *Result, rates slopes) error {
	w.res, w.stride, w.rates = res, w.run.Size().P, rates
	w.read.Open(ctx, w.run)
	z := w.run.Size()
	w.tells.behind((z.P + w.l - 1) / w.l)
	along := w.along
	if w.planned() {
		along = w.alongPlan
	}
	for first := 0; first < z.P; first += w.l {
		w.aim(first, w.run.Size().P, w.l)
		if err := along(ctx, first); err != nil {
			return err
		}
		w.tells.done()
		res.Stats.Sweeps++
	}
	res.Stats.Steps += w.steps
	return nil
}

// planned reports whether all that ended steps of the run came at times that follow from parameters alone, as the ends
// of the pieces of a control.
func (w *walk) planned() bool {
	if w.k != nil || w.run.Size().D > 0 {
		return false
	}
	guards := w.sys.Guards()
	for i := range w.run.Steps() {
		if e := w.run.End(i); e.Kind == solvers.EndRoot && !guards[e.Index].Clock {
			return false
		}
	}
	return true
}

// alongPlan walks the run with the tangents of its times alone, which do not move with states. They are those that
// along has, to the same bits.
func (w *walk) alongPlan(ctx context.Context, first int) error {
	w.sys.SetTangent(w.pd)
	w.event = 0
	w.sys.InstantPush(0, w.td)
	y := make([]float64, w.run.Size().N) // no time depends on it
	clear(w.yd)
	mk := 0
	for i := -1; i < w.run.Steps(); i++ {
		if i >= 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			w.timeThrough(i, y)
			w.tells.step(i, w.run.Steps(), w.run.Until(i))
		}
		for ; mk < w.run.Marks() && w.run.After(mk) == i; mk++ {
			if w.run.Inside(mk) {
				continue
			}
			w.run.PeekMark(mk, &w.mark)
			switch w.mark.Kind {
			case solvers.MarkStart, solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
				w.enter(&w.mark)
				w.time(mk, &w.mark, first, w.run.Size().P, w.td)
			}
		}
	}
	return nil
}

// timeThrough moves the tangent of the time through step i, as through does.
func (w *walk) timeThrough(i int, y []float64) {
	d, e := &w.d, w.run.End(i)
	switch e.Kind {
	case solvers.EndClip:
		w.timeOfClip(e, d.H)
		for j, x := range w.td {
			d.H[j] -= x
		}
	case solvers.EndRoot:
		w.sys.GuardPush(e.Index, w.run.Until(i), y, w.td, w.yd, w.r)
		for j, x := range w.r {
			d.H[j] = share(x, w.rates.at(i))
		}
	default:
		return
	}
	for j, h := range d.H {
		w.td[j] += h
	}
}

// timeOfClip writes the tangent of the time that e ends a step at, by the present discretes.
func (w *walk) timeOfClip(e solvers.End, td []float64) {
	if clear(td); !w.instants[e.Index].Fixed {
		w.instant(e, td)
	}
}
