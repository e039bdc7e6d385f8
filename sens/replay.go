package sens

import (
	"context"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// ComplexWorker is what a replay in complex arithmetic needs.
type ComplexWorker struct {
	System     solvers.ComplexSystem
	Objectives ComplexObjectives
	Method     solvers.Method // with solvers.ComplexSteps
	Params     []float64      // [P] of the recorded run
	// The system and the objectives as they were when the run was recorded. They give the values.
	RealSystem     solvers.System
	RealObjectives Objectives
}

// replay repeats a recorded run with other parameters or initial values, and with the same sequence of steps and
// events. Ordinary steps have their recorded length. Steps to a time end at that time, and steps to an event end at
// the root of its guard, found by Newton's method. Nothing is decided, so the result is an analytic function of what
// was changed.
type replay struct {
	*ComplexWorker
	method solvers.ComplexMethod
	passage
	again *solvers.ComplexStep // the step of the passage, repeated
	start bool                 // it begins where it was chosen to
	plan  plan

	p, y, d  []complex128
	yp, dp   []complex128
	group    group[complex128]
	f, psi   []complex128
	dy0      []complex128 // added to the initial values; nil for nothing
	readings []reading
	times    []complex128 // of each mark that fires or changes modes
	span     float64
	steps    int
	field    limitedComplex
	algebra  *matrices.Consistency // nil without algebraic equations
	past     ComplexPast           // nil for a system that reads none
	tells    *telling              // nil to tell nobody
	// pinned tells that imaginary parts alone were moved. Real parts are then those of the recorded run: rounding
	// cannot lead the replay away from it where that is unstable, nor to the other side of a kink.
	pinned bool
}

// plan is what was known of the times of instants at the recorded step.
type plan struct {
	d, modes []float64
	before   []float64 // the discretes before the present group of events
	times    []float64 // of the instants
}

// of returns the time of the instant that ended the step, e, before anything changed.
func (p *plan) of(e solvers.End, grouped bool, sys solvers.System, instants []solvers.Instant) float64 {
	d := p.d
	if grouped {
		d = p.before
	}
	sys.Enter(d, p.modes)
	sys.InstantTimes(d, p.times)
	in := &instants[e.Index]
	if in.Kind == solvers.InstantEvery {
		return math.FMA(float64(e.Nth), p.times[in.Period], p.times[e.Index])
	}
	return p.times[e.Index]
}

func newReplay(w *ComplexWorker, run *record.Trajectory) (*replay, error) {
	method, err := solvers.As[solvers.ComplexMethod](w.Method, solvers.ComplexSteps)
	if err != nil {
		return nil, err
	}
	z := run.Size()
	v := func(n int) []complex128 { return make([]complex128, n) }
	f, m := w.RealObjectives.Counts()
	r := &replay{
		ComplexWorker: w, method: method, passage: passage{run: run, instants: w.RealSystem.Instants()},
		p: v(z.P), y: v(z.N), d: v(z.D), yp: v(z.N), dp: v(z.D), group: group[complex128]{y: v(z.N), d: v(z.D)},
		f: v(f), psi: v(m), again: solvers.NewComplexStep(w.Method.Info(), z),
	}
	r.algebra, r.plan.times = consistencyOf(w.System, 0), make([]float64, len(r.instants))
	r.past, _ = w.System.(ComplexPast)
	for i, x := range w.Params {
		r.p[i] = complex(x, 0)
	}
	if run.Steps() > 0 {
		r.span = run.Ends() - run.Begins()
	}
	return r, nil
}

// repeat repeats the run with the parameters r.p and dy added to element at of the initial state (at < 0: none).
func (r *replay) repeat(ctx context.Context, at int, dy complex128) error {
	r.read.Open(ctx, r.run)
	clear(r.f)
	if len(r.times) < r.run.Marks() {
		r.times = make([]complex128, r.run.Marks())
	}
	r.System.SetParameters(r.p)
	var t complex128
	mk, coming := 0, ahead(r.readings)
	r.group.open = false
	for i := -1; i < r.run.Steps(); i++ {
		if i >= 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, err := r.read.Load(i, &r.step)
			if err != nil {
				return err
			}
			if r.step.H > 0 {
				r.group.open = false
			}
			r.plan.d, r.plan.modes = r.run.Held(i)
			r.start = i == 0 || !r.run.Free(i-1)
			r.observeReading(&coming, place{i, 0}, t)
			t = r.forward(i, t, e)
			r.steps++
			r.tells.step(i, r.run.Steps(), r.step.T)
			r.observeReadings(&coming, i)
			r.observeReading(&coming, place{i, 1}, t)
		}
		for ; mk < r.run.Marks() && r.run.After(mk) == i; mk++ {
			_, left, err := r.read.LoadMark(mk, &r.mark)
			if err != nil {
				return err
			}
			m := &r.mark
			if m.Inside {
				at := complex(m.T, 0)
				if !r.instants[m.Instant].Fixed {
					at = r.System.Instant(m.Instant)
				}
				site := Site{Kind: SiteTime, Index: r.instants[m.Instant].Site}
				r.within(site, at, elem.CDiv(at-r.again.T, r.again.H))
				continue
			}
			switch m.Kind {
			case solvers.MarkStart:
				t = r.System.Instant(0)
				r.System.Start(t, r.y, r.d)
				if at >= 0 {
					r.y[at] += dy
				}
				for i, dy := range r.dy0 {
					r.y[i] += dy
				}
				r.land(m, t)
				if r.past != nil {
					r.past.Begins(t, r.y, r.d)
				}
				r.observe(Site{Kind: SiteInitial}, -1, t, r.y, r.d)
			case solvers.MarkFinal: // before what happens after the end
				r.observeReading(&coming, place{r.run.Steps(), 0}, t)
				r.observe(Site{Kind: SiteFinal}, -1, t, r.y, r.d)
			case solvers.MarkSite:
				ym, dm := r.y, r.d
				if left >= 0 {
					ym, dm = r.group.y, r.group.d
				}
				r.observe(Site{Kind: SiteTime, Index: r.instants[m.Instant].Site}, -1, t, ym, dm)
			case solvers.MarkFire:
				if r.group.enter(r.y, r.d) {
					r.plan.before = append(r.plan.before[:0], m.Dm...)
				}
				for i, y := range m.Yp { // where an event that settles begins its search
					r.yp[i] = complex(y, 0)
				}
				at := t + complex(r.run.Ahead(m.T, i), 0)
				r.System.Affect(m.Firing, at, r.y, r.d, r.yp, r.dp)
				r.y, r.yp = r.yp, r.y
				r.d, r.dp = r.dp, r.d
				r.land(m, t)
				if r.past != nil {
					r.past.Sets(i, t, r.d)
				}
				r.observe(Site{Kind: SiteEvent, Firing: m.Firing}, m.Firing.Event, at, r.yp, r.dp)
				r.times[mk] = t
			case solvers.MarkMode:
				r.land(m, t)
				r.times[mk] = t
			case solvers.MarkRemode:
				r.land(m, t)
			}
		}
	}
	r.Objectives.Values(r.f, r.psi)
	return nil
}

// land goes on from what a mark leaves.
func (r *replay) land(m *solvers.Mark, t complex128) {
	r.pin(r.d, m.Dp)
	r.System.Enter(r.d, m.Mp)
	r.consistent(m, t)
	r.pin(r.y, m.Yp)
}

// pin gives v the real parts of the recorded run, if they are to be those.
func (r *replay) pin(v []complex128, to []float64) {
	for i, x := range to {
		v[i] = r.as(v[i], x)
	}
}

// as returns v with the real part x of the recorded run, if it is to be that.
func (r *replay) as(v complex128, x float64) complex128 {
	if !r.pinned {
		return v
	}
	return complex(x, imag(v))
}

// within lets the objectives observe a site within the last step, at theta of its length.
func (r *replay) within(site Site, at, theta complex128) {
	r.method.InterpolateComplex(&r.field, r.again, theta, r.yp)
	r.Objectives.Observe(site, at, r.yp, r.d, r.yp, r.d, r.f)
}

// observe lets the objectives observe the present point as right limits, with ym and dm as left limits.
func (r *replay) observe(s Site, event int, t complex128, ym, dm []complex128) {
	if r.RealObjectives.Observes(s.Kind, event) {
		r.Objectives.Observe(s, t, ym, dm, r.y, r.d, r.f)
	}
}

// forward repeats step i, which is r.step, from t. It returns the time at which the run goes on.
func (r *replay) forward(i int, t complex128, e solvers.End) complex128 {
	s := r.again
	t = r.as(t, r.step.T)
	s.T, s.Member = t, r.step.Member
	copy(s.Y0, r.y)
	if r.past != nil {
		r.past.Repeats(&r.step, r.plan.d, r.plan.modes, s)
		r.past.Leap(t, s.Y0, r.f)
		defer r.past.Repeated(s)
	}
	switch e.Kind {
	case solvers.EndFree:
		h := complex(r.step.H, 0)
		if r.past != nil {
			if end, follows := r.past.EndOf(i); follows {
				h = r.as(end-t, r.step.H)
			}
		}
		r.take(h, false)
	case solvers.EndClip:
		grouped := r.group.open && setBefore(e, r.step.H)
		if grouped {
			r.System.Enter(r.group.d, r.mark.Mp)
		}
		end := r.System.Instant(e.Index)
		if in := &r.instants[e.Index]; in.Kind == solvers.InstantEvery {
			end = elem.CFMA(complex(float64(e.Nth), 0), r.System.Instant(in.Period), end)
		}
		if grouped {
			r.System.Enter(r.d, r.mark.Mp)
		}
		// Events that count as one happen at the time of the last, and a step may miss its time by rounding. So the end
		// of the recorded step changes as its time does. The length of a step of zero length is only its change,
		// however much later than its start it ends.
		s.T1 = complex(r.step.T1, 0) + (end - complex(r.plan.of(e, grouped, r.RealSystem, r.instants), 0))
		if s.H = s.T1 - t; r.step.H == 0 {
			s.H -= complex(r.step.T1-r.step.T, 0)
		}
		s.H, s.T1 = r.as(s.H, r.step.H), r.as(s.T1, r.step.T1)
		r.retake(true)
	case solvers.EndRoot:
		s.H = r.root(e.Index)
		s.T1 = r.as(t+s.H, r.step.T1)
		r.retake(true)
	}
	copy(r.y, s.Y1)
	r.pin(r.y, r.step.Y1)
	for i, dq := range s.DQ {
		r.f[i] += dq
	}
	return s.T1 + complex(r.run.Late(i), 0)
}

// take makes a step of length h, whose end was chosen or not.
func (r *replay) take(h complex128, end bool) {
	r.again.H, r.again.T1 = h, r.again.T+h
	r.retake(end)
}

func (r *replay) retake(end bool) {
	b, _ := limitsBetween(r.start, end, real(r.again.T), real(r.again.T1))
	r.field = limitedComplex{r.System, b}
	r.method.StepComplex(&r.field, r.again)
}

// rest returns what was left of guard i at the end of the recorded step, where its event has a tolerance, or where a
// condition of time changes within the tolerance behind that.
func (r *replay) rest(i int) complex128 {
	guards := r.RealSystem.Guards()
	if e := guards[i].Event; !guards[i].Clock && (e < 0 || r.RealSystem.Events()[e].Tol == 0) {
		return 0
	}
	rho, truth := make([]float64, len(guards)), make([]bool, len(guards))
	r.RealSystem.Enter(r.plan.d, r.plan.modes)
	r.RealSystem.GuardValues(r.step.T1, r.step.Y1, rho, truth)
	return complex(rho[i], 0)
}

// root returns the length at which guard i is zero at the end of the step: a few Newton iterations from the recorded
// length, with the slope by a difference. Of imaginary parts alone the guard is a linear function, so two values give
// its slope to rounding, also where the guard bends within the difference.
func (r *replay) root(i int) complex128 {
	guard := func(h complex128) complex128 {
		r.take(h, true)
		return r.System.Guard(i, r.again.T1, r.again.Y1)
	}
	rest := r.rest(i)
	h := complex(r.step.H, 0)
	d := complex(float64(1e-7*max(r.step.H, float64(1e-4*r.span))), 0)
	var slope, first, from complex128
	for n := range 6 {
		g := r.as(guard(h)-rest, 0)
		switch {
		case n == 0 || !r.pinned:
			slope = elem.CDiv(guard(h+d)-guard(h-d), d+d)
			first, from = g, h
		case n == 1 && h != from:
			slope = elem.CDiv(g-first, h-from)
		}
		if g == 0 || slope == 0 {
			break
		}
		h = r.as(h-elem.CDiv(g, slope), r.step.H)
	}
	return h
}
