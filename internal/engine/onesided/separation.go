package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// separation is what can move the two causes of a tie apart.
type separation struct {
	neighbour
	dependence // atStart where the second cause is the start of the run
	tie        *solvers.Meeting
	// apart returns a number that changes where params move the causes apart, and how much of it may be rounding; it is
	// nil if that is not known.
	apart func() (x, noise float64)
}

// separation returns what nothing has been asked of yet. happens tells of each event whether it happens; nil: all may.
func (w *Separator) separation(happens []bool) *separation {
	return &separation{neighbour: neighbour{Separator: w}, dependence: newDependence(w.model, happens)}
}

// separates marks the variables that move apart what meets, where conditions about it are looked at: at a junction, and
// at the start. It reports whether that is all that does.
func (x *separation) separates(variables []compiled.Variable, out []bool) bool {
	j := x.tie.Many
	if j == nil {
		a, b := x.tie.Causes[0], x.tie.Causes[1]
		if a.Guard < 0 || b.Guard >= 0 || b.Instant != int(solvers.InstantStart) {
			return false
		}
		x.p, x.near = x.task.Point.P, x.y
		times := x.times()
		j = &solvers.Junction{
			T: x.t, Y: x.y, D: x.d, M: [2][]float64{x.tie.M, x.tie.M}, Start: true, Span: times[1] - times[0],
		}
		j.Soon = float64(1e-9 * j.Span)
		x.p, x.near = nil, nil
	}
	m := newVicinity(x.Separator, j, x.nearAtoms(j))
	var begins *beginning // of an event, which does not happen where its condition holds at the start
	const most = 256      // columns
	if i := x.tie.Causes[0].Guard; x.tie.Many == nil && x.model.Compiled.GuardList[i].Event >= 0 && len(out) <= most &&
		!x.model.Checked.Algebraic() { // unknowns do not follow what moves here
		begins = m.beginning(i)
	}
	some := false
	for _, v := range variables {
		to := out[v.Offset : v.Offset+v.Len]
		for k := range to {
			if m.movedBy(v, k) || begins != nil && begins.otherwise(v, k) {
				to[k], some = true, true
			}
		}
	}
	a := &x.model.Atoms
	for k, changes := range m.changing {
		if changes && k < len(a.Guards) && x.model.ReadsUnknowns(a.Guards[k]) { // which do not follow what moves here
			return false
		}
	}
	if j.Start { // states are what they begin with, so that is all but for what is largest there
		waits := begins != nil && !begins.soon
		return x.tie.Many != nil || (some || waits) && !x.task.PeaksSee(x.tie.Causes[0].Guard)
	}
	motion := false
	for way := range ways {
		motion = motion || m.partsBy(way)
	}
	if !motion {
		return true
	}
	x.dependence = newDependence(x.model, x.happens)
	c := x.model.Compiled
	for k, changes := range m.changing {
		switch {
		case !changes:
		case k < len(a.Guards):
			x.followAll(x.model.GuardInputs(a.Guards[k]))
		default:
			x.followAll(compiled.InputsOf(c.Clocks, tapec.ClockMargins.Name(), a.Clocks[k-len(a.Guards)]))
		}
	}
	return false
}

func (x *separation) find() {
	x.dependence = newDependence(x.model, x.happens)
	causes := x.tie.Causes
	var direct [2][]tapec.Name
	for k, c := range causes {
		direct[k] = x.model.CauseInputs(c)
	}
	x.atStart = causes[1].Guard < 0 && causes[1].Instant == int(solvers.InstantStart)
	moving := func(n tapec.Name) bool { return n.Role == tapec.State || n.Role == tapec.Discrete }
	bound := slices.ContainsFunc(direct[0], moving) || slices.ContainsFunc(direct[1], moving)
	switch a, b := causes[0], causes[1]; {
	case a.Guard < 0 && b.Guard < 0 && !bound && x.single(a) && x.single(b):
		x.apart = func() (float64, float64) {
			times := x.times()
			x, z := times[a.Instant], times[b.Instant]
			return x - z, float64(1e-12 * max(math.Abs(x), math.Abs(z)))
		}
	case a.Guard >= 0 && b.Guard >= 0:
		if ratio, ok := x.parallel(a.Guard, b.Guard); ok && x.settled(direct[0]) && x.settled(direct[1]) {
			x.apart = func() (float64, float64) {
				u, v := x.guard(a.Guard, x.t), float64(ratio*x.guard(b.Guard, x.t))
				return u - v, float64(1e-6 * (math.Abs(u) + math.Abs(v)))
			}
		}
	}
	for _, list := range direct {
		for _, n := range list { // what moves the state moves both alike
			if x.apart == nil || n.Role == tapec.Param || n.Role == tapec.Discrete {
				x.follow(n)
			}
		}
	}
}

// settled reports whether no body sets the discretes among some names.
func (x *separation) settled(names []tapec.Name) bool {
	return !slices.ContainsFunc(names, func(n tapec.Name) bool {
		return n.Role == tapec.Discrete && x.model.Assigns(n.Of)
	})
}

func (x *separation) single(c solvers.Cause) bool { return x.worker.Instants()[c.Instant].Period < 0 }

// guard is that of neighbour with the modes of the tie.
func (x *separation) guard(i int, at float64) float64 {
	return x.evaluate(x.model.Compiled.Guards, tapec.Margins.Name(), at, x.tie.M)[i]
}

// parallel returns the ratio of the slopes of guards i and j by time and states, if it is the same by all of these.
// Whatever moves the state then moves both roots alike.
func (x *separation) parallel(i, j int) (ratio float64, ok bool) {
	const many = 256
	if len(x.y) > many {
		return 0, false
	}
	x.p, x.near = append(x.p[:0], x.task.Point.P...), append(x.near[:0], x.y...)
	u, v := make([]float64, len(x.y)+1), make([]float64, len(x.y)+1)
	slope := func(k int, up, down func()) {
		up()
		u[k], v[k] = x.guard(i, x.t), x.guard(j, x.t)
		down()
		u[k], v[k] = u[k]-x.guard(i, x.t), v[k]-x.guard(j, x.t)
	}
	const part = 1e-6
	now := x.t
	h := float64(part * max(math.Abs(now), 1))
	slope(len(x.y), func() { x.t = now + h }, func() { x.t = now - h })
	x.t = now
	for k, y := range x.y {
		h := float64(part * max(math.Abs(y), 1e-3))
		slope(k, func() { x.near[k] = y + h }, func() { x.near[k] = y - h })
		x.near[k] = y
	}
	largest := 0
	for k := range u {
		if math.Abs(v[k]) > math.Abs(v[largest]) {
			largest = k
		}
	}
	if v[largest] == 0 {
		return 0, false
	}
	ratio = u[largest] / v[largest]
	noise := float64(1e-9 * math.Abs(u[largest]))
	for k := range u {
		if x, z := u[k], float64(ratio*v[k]); !(math.Abs(x-z) <= float64(1e-5*(math.Abs(x)+math.Abs(z)))+noise) {
			return 0, false
		}
	}
	return ratio, true
}

// mark marks the elements of v that move the causes apart.
func (x *separation) mark(v compiled.Variable, to []bool) {
	if v.Initial {
		if x.initial[v.Name] {
			for k := range to {
				to[k] = true
			}
		}
		return
	}
	if x.apart == nil && x.params[v.Name] {
		for k := range to {
			to[k] = true
		}
		return
	}
	for k := range to {
		if to[k] {
			continue
		}
		x.shiftParam(v, k, -1)
		below := x.reads()
		x.shiftParam(v, k, 1)
		if !x.reads() && !below { // defaults may have kinks, too
			continue
		}
		if x.apart == nil {
			to[k] = true
			continue
		}
		a, noise := x.apart()
		x.shiftParam(v, k, -1)
		b, _ := x.apart()
		to[k] = !(math.Abs(a-b) <= noise)
	}
}

// shiftParam moves element k of a param one way, alone.
func (x *separation) shiftParam(v compiled.Variable, k int, way float64) {
	pt, at := x.task.Point, x.model.Param(v.Name)
	x.near = append(x.near[:0], x.y...)
	x.p = append(x.p[:0], pt.P...)
	x.p[at.Offset+k] += float64(way * 1e-4 * max(math.Abs(pt.P[at.Offset+k]), 1e-2))
	compiled.Follow(pt, x.p, func(i int, z float64) { x.p[i] = z })
	x.settle()
}

// reads reports whether a param that was found has moved.
func (x *separation) reads() bool {
	for name := range x.params {
		if !x.isParam(name) { // a total, which may depend on anything
			return true
		}
		at := x.model.Param(name)
		if !slices.Equal(x.p[at.Offset:at.Offset+at.Len], x.task.Point.P[at.Offset:at.Offset+at.Len]) {
			return true
		}
	}
	return false
}

func (x *separation) isParam(name string) bool {
	return slices.ContainsFunc(x.model.Checked.Params, func(s *model.Symbol) bool { return s.Name == name })
}
