package sens

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// Meeting is what happened at one time of a run.
type Meeting struct {
	T          float64
	Y, D, M    []float64        // left limits
	Yp, Dp, Mp []float64        // right limits
	Fired      []solvers.Firing // of all events before it
	Number     int              // of the meeting; -1 at the start of the run
	Start      bool             // Y, D and M are the initial ones
}

// Crosser moves motions through meetings of causes, which may come one after the other on the way.
type Crosser interface {
	// Meets reports whether there are several causes, so that Cross is to be called.
	Meets(at *Meeting) bool
	// Show shows the motion of states and discretes at the start of a run of which nothing is crossed at the start.
	Show(direction int, td float64, pd, y, d []float64)
	// Cross moves the motion of states y[N], discretes d[D] and functionals f[F], all at a fixed time, through the
	// meeting, where params move by pd[P]. direction numbers the motion. td is how far times of steps before have moved
	// at most: what is small beside that may be rounding. At the start of the run it is how far that moves, and motions
	// are those of initial values at the time that moves.
	Cross(at *Meeting, direction int, td float64, pd, y, d, f []float64) error
	// Jump returns by how much functionals are others along a direction than in the run; nil where they are the same.
	Jump(direction int) []float64
}

// Sides are derivatives of a run along directions, and the values near which it begins there.
type Sides struct {
	Slopes, Values [][]float64 // [directions][objectives]
	Peaks          []Peak      // largest values of the run
	// Times is, by marks of events and changes of mode outside of meetings, how their times move, [directions]; nil
	// unless Sided.Times asks for it.
	Times map[int][]float64
}

// Sided differentiates a run along directions, with each followed on its own through meetings: there, causes come in
// the order that the direction gives them. In between derivatives are moved along by the field, as in Forward.
type Sided struct {
	// New makes the worker. It is called once per gradient.
	New     func() TangentWorker
	Crosser Crosser
	Times   bool // of events are wanted
}

// sidedWalk is a walk that crosses meetings.
type sidedWalk struct {
	*walk
	crosser  Crosser
	tol      float64 // times that differ by no more are one
	meetings map[int]*meeting
	begins   *meeting // at the start of the run, if anything is crossed there
	mk       int      // the next mark
	coming   ahead    // the readings to come
	y, d, f  []float64
	p        []float64
	moved    map[int][]float64 // Sides.Times
	n        int               // directions
	far      []float64         // [lanes] how far times have moved
}

// meeting is a Meeting, with where it lies in the run: behind step first, up to step last and mark end.
type meeting struct {
	Meeting
	last, end int
	crosses   bool
}

// Along returns the derivatives of the objectives along n directions. move returns the motion of params and of initial
// values (nil for none) of a direction. tol is within which times are one.
func (a *Sided) Along(
	ctx context.Context, run *record.Trajectory, n int, move func(k int) (pd, dy0 []float64), tol float64,
) (out *Sides, err error) {
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
	out = &Sides{Peaks: res.Peaks}
	if w.n = n; a.Times {
		w.moved = map[int][]float64{}
		out.Times = w.moved
	}
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
			values := res.Psi
			if jump := a.Crosser.Jump(first + j); jump != nil {
				values = w.beyond(jump, j, row)
			}
			out.Slopes, out.Values = append(out.Slopes, row), append(out.Values, values)
		}
	}
	return out, nil
}

// beyond returns values where functionals have jumped, and writes derivatives there along the direction of lane j.
func (w *sidedWalk) beyond(jump []float64, j int, slopes []float64) (values []float64) {
	f := slices.Clone(w.res.Functionals)
	for i, x := range jump {
		f[i] += x
	}
	values = make([]float64, len(slopes))
	w.obj.Values(f, values)
	w.obj.ValuesPush(f, w.fd, w.psid)
	for o := range slopes {
		slopes[o] = w.psid[o*w.l+j]
	}
	w.obj.ValuesPush(w.res.Functionals, w.fd, w.psid)
	return values
}

// find finds the meetings of the run: behind each step of some length whose end has marks, with the steps and marks
// that follow within the tolerance.
func (w *sidedWalk) find() (err error) {
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
				if mk, err = w.start(mk, &fired); err != nil {
					return err
				}
				continue
			}
			mk++
			continue
		}
		at := &meeting{Meeting: Meeting{Fired: slices.Clone(fired), Number: number}}
		first := after
		for first > 0 && run.Length(first) == 0 {
			first--
		}
		var st solvers.Step
		if _, err := w.read.Load(first, &st); err != nil {
			return err
		}
		d, md := run.Held(first)
		at.T, at.Y, at.D, at.M = st.T1, slices.Clone(st.Y1), slices.Clone(d), slices.Clone(md)
		if mk, err = w.gather(at, mk, &fired); err != nil {
			return err
		}
		if at.crosses = w.crosser.Meets(&at.Meeting); at.crosses {
			w.meetings[first] = at
		}
		number++
	}
	return nil
}

// gather adds the marks from one on that belong to a meeting, and the right limits there. It returns the mark behind.
func (w *sidedWalk) gather(at *meeting, mk int, fired *[]solvers.Firing) (end int, err error) {
	var m solvers.Mark
	for ; mk < w.run.Marks(); mk++ {
		after, _ := w.run.PeekMark(mk, &m)
		if m.T > at.T+w.tol || m.Inside && at.Start {
			break
		}
		if m.Kind == solvers.MarkFire {
			*fired = append(*fired, m.Firing)
		}
		at.last = after
	}
	at.end = mk
	if _, _, err := w.read.LoadMark(mk-1, &m); err != nil {
		return 0, err
	}
	at.Yp, at.Dp, at.Mp = slices.Clone(m.Yp), slices.Clone(m.Dp), slices.Clone(m.Mp)
	return mk, nil
}

// start shows the crosser what comes at the start of the run, from mark mk on. It returns the mark behind that.
func (w *sidedWalk) start(mk int, fired *[]solvers.Firing) (end int, err error) {
	var m solvers.Mark
	if _, _, err := w.read.LoadMark(mk, &m); err != nil {
		return 0, err
	}
	at := &meeting{Meeting: Meeting{
		T: m.T, Y: slices.Clone(m.Yp), D: slices.Clone(m.Dp), M: slices.Clone(m.Mp), Number: -1, Start: true,
	}, last: -1}
	all := slices.Clone(*fired)
	if _, err := w.gather(at, mk+1, &all); err != nil {
		return 0, err
	}
	if mk > 0 || !w.crosser.Meets(&at.Meeting) {
		return mk + 1, nil
	}
	*fired, w.begins = all, at
	return at.end, nil
}

// cover walks the run in the directions that w.pd and w.dy0 have.
func (w *sidedWalk) cover(ctx context.Context, first, lanes int) (err error) {
	w.sys.SetTangent(w.pd)
	clear(w.fd)
	w.far = make([]float64, w.l)
	run := w.run
	w.mk, w.coming = 0, w.res.readings
	past := run.Size().P + run.Size().N // directions beyond those of params and of initial values alone
	for i := -1; i < run.Steps(); i++ {
		if i >= 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.cross(i); err != nil {
				return err
			}
		}
		if at := w.meetings[i]; at != nil {
			if err := w.readTo(i); err != nil {
				return err
			}
			w.through(at, first, lanes)
			i = w.skip(at)
			continue
		}
		for ; w.mk < run.Marks() && run.After(w.mk) == i; w.mk++ {
			if run.Inside(w.mk) {
				if err := w.readInside(w.mk); err != nil {
					return err
				}
				continue
			}
			_, left, err := w.read.LoadMark(w.mk, &w.mark)
			if err != nil {
				return err
			}
			if w.mark.Kind == solvers.MarkFinal {
				if err := w.pushReading(&w.coming, place{run.Steps(), 0}); err != nil {
					return err
				}
			}
			w.pushMark(w.mk, left, past)
			w.noteTime(first, lanes)
			if w.mark.Kind != solvers.MarkStart {
				continue
			}
			if w.through(w.begins, first, lanes); w.begins != nil {
				i = w.skip(w.begins)
				break
			}
		}
	}
	w.obj.ValuesPush(w.res.Functionals, w.fd, w.psid)
	return nil
}

// noteTime notes how the time of the present mark moves, if it is one of those that are wanted.
func (w *sidedWalk) noteTime(first, lanes int) {
	if w.moved == nil || !w.mark.Happens() {
		return
	}
	row := w.moved[w.mk]
	if row == nil {
		row = make([]float64, w.n)
		w.moved[w.mk] = row
	}
	copy(row[first:first+lanes], w.td)
}

// skip goes on behind what belongs to a meeting. It returns the last step of that; of largest values that lie there the
// caller knows.
func (w *sidedWalk) skip(at *meeting) (last int) {
	w.mk = at.end
	w.coming.skip(at.last)
	return at.last
}

// readTo reads the marks within step i.
func (w *sidedWalk) readTo(i int) error {
	for ; w.mk < w.run.Marks() && w.run.After(w.mk) == i && w.run.Inside(w.mk); w.mk++ {
		if err := w.readInside(w.mk); err != nil {
			return err
		}
	}
	return nil
}

// cross moves the derivatives through step i, and reads largest values there. What comes together at its end does not
// move that.
func (w *sidedWalk) cross(i int) (err error) {
	run, at := w.run, w.meetings[i]
	if err := w.pushReading(&w.coming, place{i, 0}); err != nil {
		return err
	}
	st, err := w.load(i, w.coming.within(i) || w.mk < run.Marks() && run.After(w.mk) == i && run.Inside(w.mk))
	if err != nil {
		return err
	}
	w.within(limitsOf(run, i, st))
	e := run.End(i)
	if at != nil {
		e = solvers.End{}
	}
	w.flow(-1, st, e, w.rates.at(i), w.ahead[i], i == 0 || !run.Free(i-1))
	for j, x := range w.td {
		w.far[j] = max(w.far[j], math.Abs(x))
	}
	if err := w.pushReadings(&w.coming, i); err != nil {
		return err
	}
	if at == nil {
		if err := w.pushReading(&w.coming, place{i, 1}); err != nil {
			return err
		}
	}
	if run.Length(i) > 0 {
		w.predictTimes(i)
	}
	return nil
}

// settle writes lane j behind what was crossed, or that there is nothing to write.
func (w *sidedWalk) settle(err error, j int) {
	if err != nil {
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
	r, read := w.atInside(&w.mark, w.obj)
	if !read {
		return nil
	}
	return w.inside(&r)
}

// through moves all lanes through a meeting. Where nothing is crossed at the start of a run, nil, it shows them there.
func (w *sidedWalk) through(at *meeting, first, lanes int) {
	for j := range lanes {
		w.take(w.p, w.pd, j)
		w.take(w.y, w.yd, j)
		w.take(w.d, w.dd, j)
		w.take(w.f, w.fd, j)
		if at == nil {
			w.crosser.Show(first+j, w.td[j], w.p, w.y, w.d)
			continue
		}
		td := w.far[j]
		if at.Start {
			td = w.td[j]
		}
		w.settle(w.crosser.Cross(&at.Meeting, first+j, td, w.p, w.y, w.d, w.f), j)
	}
	if at != nil { // the walk goes on behind it
		clear(w.td)
		w.group.open = false
		w.sys.Enter(at.Dp, at.Mp)
		w.sys.EnterPush(w.dd)
	}
}
