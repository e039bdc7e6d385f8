package sens

import (
	"context"
	"math"

	"odes.dev/odes/solvers"
)

// Meeting is what happened at one time of a run.
type Meeting struct {
	T          float64
	Y, D, M    []float64        // left limits
	Yp, Dp, Mp []float64        // right limits
	Fired      []solvers.Firing // of all events before it
	Number     int              // of the meeting
	Start      bool             // of the run: what comes there is not crossed
}

// Crosser moves motions through meetings of causes, which may come one after the other on the way.
type Crosser interface {
	// Meets reports whether there are several causes, so that Cross is to be called.
	Meets(at *Meeting) bool
	// Start shows the motion of states and discretes at the start of the run, whose time moves by td.
	Start(direction int, td float64, pd, y, d []float64)
	// Cross moves the motion of states y[N], discretes d[D] and functionals f[F], all at a fixed time, through the
	// meeting, where params move by pd[P]. direction numbers the motion.
	Cross(at *Meeting, direction int, pd, y, d, f []float64) error
}

// Sided differentiates a run along directions, with each followed on its own through meetings: there, causes come in
// the order that the direction gives them. In between derivatives are moved along by the field, as in Forward.
type Sided struct {
	// New makes the worker. It is called once per gradient.
	New     func() TangentWorker
	Crosser Crosser
}

// sidedWalk is a walk that crosses meetings.
type sidedWalk struct {
	*walk
	crosser  Crosser
	tol      float64 // times that differ by no more are one
	meetings map[int]*meeting
	y, d, f  []float64
	p        []float64
}

// meeting is a Meeting, with where it lies in the run: behind step first, up to step last and mark end.
type meeting struct {
	Meeting
	last, end int
	crosses   bool
}

// Along returns the derivatives of the objectives along n directions: out[direction][objective]. move returns the
// motion of params and of initial values (nil for none) of a direction. tol is within which times are one.
func (a *Sided) Along(
	ctx context.Context, run *solvers.Trajectory, n int, move func(k int) (pd, dy0 []float64), tol float64,
) (out [][]float64, err error) {
	w := &sidedWalk{walk: newWalk(a.New(), run), crosser: a.Crosser, tol: tol}
	z, l := run.Size(), w.l
	w.k = make([]float64, z.N+z.Q)
	w.y, w.d, w.p = make([]float64, z.N), make([]float64, z.D), make([]float64, z.P)
	var res Result
	if err := res.observe(ctx, run, w.sys, w.method, w.obj, &Options{}); err != nil {
		return nil, err
	}
	w.f = make([]float64, len(res.Functionals))
	w.res = &res
	w.read.Open(ctx, run)
	if err := w.slopes((&Options{}).grazingLimit()); err != nil {
		return nil, err
	}
	if err := w.find(); err != nil {
		return nil, err
	}
	w.dy0 = make([]float64, z.N*l)
	for first := 0; first < n; first += l {
		clear(w.pd)
		clear(w.dy0)
		for j := 0; j < l && first+j < n; j++ {
			pd, dy0 := move(first + j)
			for i, x := range pd {
				w.pd[i*l+j] = x
			}
			for i, x := range dy0 {
				w.dy0[i*l+j] = x
			}
		}
		if err := w.cover(ctx, first, min(l, n-first)); err != nil {
			return nil, err
		}
		for j := 0; j < l && first+j < n; j++ {
			row := make([]float64, len(res.Psi))
			for o := range row {
				row[o] = w.psid[o*l+j]
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// find finds the meetings of the run: behind each step of some length whose end has marks, with the steps and marks
// that follow within the tolerance.
func (w *sidedWalk) find() error {
	run := w.run
	w.meetings = map[int]*meeting{}
	var fired []solvers.Firing
	var m solvers.Mark
	number := 0
	for mk := 0; mk < run.Marks(); {
		after, _ := run.PeekMark(mk, &m)
		if after < 0 || m.Inside {
			switch m.Kind {
			case solvers.MarkFire:
				fired = append(fired, m.Firing)
			case solvers.MarkStart:
				if err := w.start(mk); err != nil {
					return err
				}
			}
			mk++
			continue
		}
		at := &meeting{Meeting: Meeting{Fired: append([]solvers.Firing(nil), fired...), Number: number}}
		first := after
		for first > 0 && run.Length(first) == 0 {
			first--
		}
		var st solvers.Step
		if _, err := w.read.Load(first, &st); err != nil {
			return err
		}
		at.T, at.Y = st.T1, append([]float64(nil), st.Y1...)
		d, md := run.Held(first)
		at.D, at.M = append([]float64(nil), d...), append([]float64(nil), md...)
		at.last = after
		for ; mk < run.Marks(); mk++ {
			after, _ := run.PeekMark(mk, &m)
			if m.T > at.T+w.tol {
				break
			}
			if m.Kind == solvers.MarkFire {
				fired = append(fired, m.Firing)
			}
			at.last, at.end = after, mk+1
		}
		if _, _, err := w.read.LoadMark(at.end-1, &m); err != nil {
			return err
		}
		at.Yp, at.Dp = append([]float64(nil), m.Yp...), append([]float64(nil), m.Dp...)
		at.Mp = append([]float64(nil), m.Mp...)
		if at.crosses = w.crosser.Meets(&at.Meeting); at.crosses {
			w.meetings[first] = at
		}
		number++
	}
	return nil
}

// start shows the crosser what comes at the start of the run.
func (w *sidedWalk) start(mk int) error {
	var m solvers.Mark
	if _, _, err := w.read.LoadMark(mk, &m); err != nil {
		return err
	}
	w.crosser.Meets(&Meeting{T: m.T, Y: m.Yp, D: m.Dp, M: m.Mp, Number: -1, Start: true})
	return nil
}

// cover walks the run in the directions that w.pd and w.dy0 have.
func (w *sidedWalk) cover(ctx context.Context, first, lanes int) error {
	w.sys.SetTangent(w.pd)
	clear(w.fd)
	run, mk := w.run, 0
	skipTo := -1
	past := run.Size().P + run.Size().N // directions beyond those of params and of initial values alone
	for i := -1; i < run.Steps(); i++ {
		if i >= 0 && i > skipTo {
			if err := ctx.Err(); err != nil {
				return err
			}
			inside := mk < run.Marks() && run.After(mk) == i && run.Inside(mk)
			st, err := w.load(i, inside)
			if err != nil {
				return err
			}
			at := w.meetings[i]
			w.within(limitsOf(run, i, st))
			e := run.End(i)
			if at != nil {
				e = solvers.End{}
			}
			w.flow(st, e, w.rates.at(i), w.ahead[i], i == 0 || !run.Free(i-1))
			if run.Length(i) > 0 {
				w.predictTimes(i)
			}
			if at != nil {
				for mk < run.Marks() && run.After(mk) == i && run.Inside(mk) {
					if err := w.readInside(mk); err != nil {
						return err
					}
					mk++
				}
				if err := w.cross(at, first, lanes); err != nil {
					return err
				}
				skipTo, mk = at.last, at.end
				continue
			}
		}
		for ; mk < run.Marks() && run.After(mk) == i; mk++ {
			if run.Inside(mk) {
				if err := w.readInside(mk); err != nil {
					return err
				}
				continue
			}
			_, left, err := w.read.LoadMark(mk, &w.mark)
			if err != nil {
				return err
			}
			w.pushMark(mk, left, past)
			if w.mark.Kind == solvers.MarkStart {
				w.showStart(first, lanes)
			}
		}
	}
	w.obj.ValuesPush(w.res.Functionals, w.fd, w.psid)
	return nil
}

// showStart shows the crosser how all lanes move at the start.
func (w *sidedWalk) showStart(first, lanes int) {
	for j := range lanes {
		w.take(w.p, w.pd, j)
		w.take(w.y, w.yd, j)
		w.take(w.d, w.dd, j)
		w.crosser.Start(first+j, w.td[j], w.p, w.y, w.d)
	}
}

// take copies lane j.
func (w *sidedWalk) take(to, from []float64, j int) {
	for i := range to {
		to[i] = from[i*w.l+j]
	}
}

// give writes lane j.
func (w *sidedWalk) give(to, from []float64, j int) {
	for i, x := range from {
		to[i*w.l+j] = x
	}
}

// readInside reads mark k, which lies within the last step.
func (w *sidedWalk) readInside(k int) error {
	if _, _, err := w.read.LoadMark(k, &w.mark); err != nil {
		return err
	}
	r, read := innerReadingAt(&w.pt, &w.mark, w.instants, w.obj)
	if !read {
		return nil
	}
	return w.inside(&r)
}

// cross moves all lanes through a meeting.
func (w *sidedWalk) cross(at *meeting, first, lanes int) error {
	for j := range lanes {
		w.take(w.p, w.pd, j)
		w.take(w.y, w.yd, j)
		w.take(w.d, w.dd, j)
		w.take(w.f, w.fd, j)
		if err := w.crosser.Cross(&at.Meeting, first+j, w.p, w.y, w.d, w.f); err != nil {
			for _, of := range [][]float64{w.y, w.d, w.f} {
				for i := range of {
					of[i] = math.NaN()
				}
			}
		}
		w.give(w.yd, w.y, j)
		w.give(w.dd, w.d, j)
		w.give(w.fd, w.f, j)
	}
	clear(w.td)
	w.open = false
	w.sys.Enter(at.Dp, at.Mp)
	w.sys.EnterPush(w.dd)
	return nil
}
