package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A condition that rests at its threshold from the start on does not leave it where what it compares moves alike, as in
// z > x0 where z begins at x0 and stays there. Patterns do not tell.

// point is a state of a run.
type point struct {
	t float64
	y []float64
}

// fromStart reports whether a kink is a condition that rests at its threshold from the start on.
func (x *Tangents) fromStart(k *Kink) bool {
	return k.Rests && !k.stuck && x.first
}

// waitsFromStart reports whether a kink is the condition of an event that does not come, at its threshold from the
// start on. What takes it over the threshold there is no event.
func (x *Tangents) waitsFromStart(k *Kink) bool { return k.Rests && k.waits && x.first }

// note keeps a state for cancel and stray.
func (x *Tangents) note(t float64, y []float64) {
	if x.exact && slices.ContainsFunc(x.rest, func(k *Kink) bool { return x.fromStart(k) || k.Rests && k.waits }) {
		x.passed = append(x.passed, point{t, slices.Clone(y)})
	}
}

// cancel takes the columns back by which conditions that rest from the start on do not leave their thresholds. It goes
// along the states of the run that were passed, by steps of Euler of its tangents. They are no tangents of the run, but
// what keeps a comparison equal at every state does so in such steps as well.
func (x *Tangents) cancel() {
	if !slices.ContainsFunc(x.rest, x.fromStart) {
		return
	}
	left := make([]sets.Set, len(x.rest))
	for column := range x.columns {
		var some []int // of the kinks
		for i, k := range x.rest {
			if left[i] == nil {
				left[i] = sets.New(x.columns)
			}
			switch {
			case !x.fromStart(k) || !k.Moves.Has(column):
			case x.time.Has(column):
				left[i].Add(column)
			default:
				some = append(some, i)
			}
		}
		if len(some) > 0 {
			x.pass(column, some, left)
		}
	}
	for i, k := range x.rest {
		if x.fromStart(k) && x.exact {
			k.Moves = left[i]
		}
	}
}

// waiting is how the run moves by a column, and on which side that takes conditions of events at the start, by guards.
// The sign is 0 where it does not.
type waiting struct {
	dir  values
	side map[int]int8
}

// mostStrayWork is how many elements of values are computed to follow such motions.
const mostStrayWork = 500_000

// stray adds those columns that take the conditions of events, at their thresholds since the start, to another side
// than at the start: as p does where x begins at x0 and falls back to p, of x > x0. What holds at the start is no
// event, but what holds later is.
func (x *Tangents) stray() {
	var some []*Kink
	for _, k := range x.rest {
		if k.Rests && k.waits {
			some = append(some, k)
		}
	}
	if len(some) == 0 || !x.exact {
		return
	}
	if x.first && x.waiting == nil {
		x.waiting = map[int]*waiting{}
		for column := range x.columns {
			if x.time.Has(column) {
				continue
			}
			if dir, ok := x.atStart(column); ok {
				x.waiting[column] = &waiting{dir, map[int]int8{}}
			}
		}
	}
	for column := range x.columns { // in their order, for the sake of the limit
		w := x.waiting[column]
		if w == nil {
			continue
		}
		at := values{vecT: {x.mark.T}, vecY: x.yStart, vecD: x.dNow, vecM: x.mNow, vecP: x.kinks.point.p}
		sides := x.sides(&at, &w.dir, x.aimed)
		for _, k := range some {
			for _, i := range k.margins {
				if _, known := w.side[i]; !known && x.first && sides != nil {
					w.side[i] = sides[i]
				}
			}
		}
		x.followed(column, w, some)
	}
}

// followed goes along the piece behind the last mark with the motion by a column, in steps of the midpoint rule, and
// notes which of some kinks change sides.
func (x *Tangents) followed(column int, w *waiting, some []*Kink) {
	const parts = 4 // between two points
	for n, p := range x.passed {
		at := values{vecT: {p.t}, vecY: p.y, vecD: x.dNow, vecM: x.mNow, vecP: x.kinks.point.p}
		if n > 0 {
			was := x.passed[n-1]
			h := (p.t - was.t) / parts
			between := func(part float64) *values {
				to := at
				to[vecT], to[vecY] = []float64{was.t + float64(part*(p.t-was.t))}, make([]float64, len(p.y))
				for i, y := range was.y {
					to[vecY][i] = y + float64(part*(p.y[i]-y))
				}
				return &to
			}
			for k := range parts {
				mid := x.moveOn(between(float64(k)/parts), &w.dir, &w.dir, 0.5*h)
				mid = x.moveOn(between((float64(k)+0.5)/parts), &mid, &w.dir, h)
				w.dir = mid
			}
		}
		sides := x.sides(&at, &w.dir, x.aimed)
		if sides == nil {
			clear(x.waiting)
			return
		}
		for _, k := range some {
			for _, i := range k.margins {
				if first, known := w.side[i]; known && sides[i] != 0 && sides[i] != first {
					k.Moves.Add(column)
				}
			}
		}
	}
}

// moveOn returns the motion from on by h, by the slopes of the rates along dir.
func (x *Tangents) moveOn(at, dir, from *values, h float64) values {
	c, l := x.kinks.model.Compiled, x.kinks.model.layout
	to := *from
	to[vecY] = slices.Clone(from[vecY])
	rates := x.aimed(c.Rates, at, dir)
	for _, out := range c.Rates.Outputs {
		part := l.part(tapec.MustName(out.Name))
		if rates == nil || part.vec != vecK {
			continue
		}
		for i, z := range rates.Value(out.Value) {
			if n := part.offset + i; n < l.nY {
				to[vecY][n] = math.FMA(h, imag(z)/tangentStep, to[vecY][n])
			}
		}
	}
	return to
}

// jump has the motions of waiting conditions go through the body of a mark's event. Those end at which the time moves.
func (x *Tangents) jump(m *solvers.Mark) {
	c, l := x.kinks.model.Compiled, x.kinks.model.layout
	for column := range x.columns {
		w := x.waiting[column]
		if w == nil {
			continue
		}
		if x.time.Has(column) {
			delete(x.waiting, column)
			continue
		}
		if m.Kind != solvers.MarkFire || c.Affects[m.Firing.Event] == nil {
			continue
		}
		body := c.Affects[m.Firing.Event]
		fired := make([]float64, m.Firing.Elem+1)
		fired[m.Firing.Elem] = 1
		at := values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecP: x.kinks.point.p, vecFired: fired}
		e := x.aimed(body, &at, &w.dir)
		if e == nil || x.kinks.model.settles(m.Firing.Event) {
			delete(x.waiting, column)
			continue
		}
		to := w.dir
		to[vecY], to[vecD] = slices.Clone(w.dir[vecY]), slices.Clone(w.dir[vecD])
		for _, out := range body.Outputs {
			if part := l.part(tapec.MustName(out.Name)); part.vec == vecY || part.vec == vecD {
				copyImag(to[part.vec][part.offset:], e.Value(out.Value))
			}
		}
		w.dir = to
	}
}

// aimed is along within the limit of stray.
func (x *Tangents) aimed(t *tape.Tape, at, dir *values) *tape.Evaluator[complex128] {
	if x.strayed += costOf(t); x.strayed > mostStrayWork {
		return nil
	}
	return x.directed(t, at, dir)
}

// pass goes along the run with the tangent by a column, and notes which of some kinks leave their thresholds.
func (x *Tangents) pass(column int, some []int, left []sets.Set) {
	c, l, pt := x.kinks.model.Compiled, x.kinks.model.layout, x.kinks.point
	dir, ok := x.atStart(column)
	if !ok {
		return
	}
	for n, p := range x.passed {
		at := values{vecT: {p.t}, vecY: p.y, vecD: x.dNow, vecM: x.mNow, vecP: pt.p}
		x.leaves(&at, &dir, column, some, left)
		rates := x.along(c.Rates, &at, &dir)
		if rates == nil {
			return
		}
		far := float64(tape.Portion(n) * 0x1p-10 * (x.passed[len(x.passed)-1].t - x.mark.T))
		for _, out := range c.Rates.Outputs {
			part := l.part(tapec.MustName(out.Name))
			for i, z := range rates.Value(out.Value) {
				if part.vec == vecK && part.offset+i < l.nY {
					y := &dir[vecY][part.offset+i]
					*y = math.FMA(far, imag(z)/tangentStep, *y)
				}
			}
		}
		x.leaves(&at, &dir, column, some, left)
	}
}

// atStart returns the tangent of params, states and discretes by a column at the start of the run.
func (x *Tangents) atStart(column int) (dir values, ok bool) {
	c, l, pt := x.kinks.model.Compiled, x.kinks.model.layout, x.kinks.point
	dir[vecY], dir[vecP], dir[vecD] = make([]float64, l.nY), make([]float64, l.nP), make([]float64, l.nD)
	for _, p := range x.motion().p[column] {
		dir[vecP][p.elem] = p.by
	}
	at := values{vecT: {x.began}, vecP: pt.p}
	start := x.along(c.Start, &at, &dir)
	if start == nil {
		return dir, false
	}
	for _, out := range c.Start.Outputs {
		part := l.part(tapec.MustName(out.Name))
		if part.vec == vecY || part.vec == vecD {
			copyImag(dir[part.vec][part.offset:], start.Value(out.Value))
		}
	}
	for i, cut := range pt.cut {
		if cut {
			dir[vecY][i] = 0
		}
	}
	for _, v := range x.variables {
		if v.Initial && column >= v.Offset && column < v.Offset+v.Len {
			dir[vecY][x.kinks.model.State(v.Name).Offset+column-v.Offset] = 1
		}
	}
	return dir, true
}

// leaves notes which kinks leave their thresholds in a direction at some values.
func (x *Tangents) leaves(at, dir *values, column int, some []int, left []sets.Set) {
	sides := x.sides(at, dir, x.along)
	if sides == nil {
		return
	}
	for _, i := range some {
		for _, m := range x.rest[i].margins {
			if sides[m] != 0 {
				left[i].Add(column)
			}
		}
	}
}

// sides tells to which side the margins of all guards move in a direction at some values; 0 for neither. It returns nil
// if there is no room for more work.
func (x *Tangents) sides(at, dir *values,
	along func(t *tape.Tape, at, dir *values) *tape.Evaluator[complex128],
) []int8 {
	margins := x.kinks.model.Compiled.Guards
	var sum, size []float64
	for _, vec := range []vector{vecY, vecP, vecD} {
		var part values
		part[vec] = dir[vec]
		e := along(margins, at, &part)
		if e == nil {
			return nil
		}
		for i, z := range e.Output(tapec.Margins.Name().String()) {
			if i == len(sum) {
				sum, size = append(sum, 0), append(size, 0)
			}
			by := imag(z) / tangentStep
			sum[i], size[i] = sum[i]+by, size[i]+math.Abs(by)
		}
	}
	to := make([]int8, len(sum))
	for i, by := range sum {
		switch {
		case by > float64(1e-10*size[i]):
			to[i] = 1
		case by < float64(-1e-10*size[i]):
			to[i] = -1
		}
	}
	return to
}

// along runs t at some values with a tangent in a direction; nil if there is no room for more work.
func (x *Tangents) along(t *tape.Tape, at, dir *values) *tape.Evaluator[complex128] {
	if !x.spend(t) {
		return nil
	}
	return x.directed(t, at, dir)
}

func (x *Tangents) directed(t *tape.Tape, at, dir *values) *tape.Evaluator[complex128] {
	e, bent := x.load(t, at)
	if e == nil {
		return nil
	}
	x.aim(e, dir)
	tape.Sides(e, bent, func(tape.Value, int, float64) float64 { return 0 })
	return e
}

// aim moves the inputs of e in a direction.
func (x *Tangents) aim(e *tape.Evaluator[complex128], dir *values) {
	for _, in := range e.Tape().Inputs {
		part := x.kinks.model.layout.part(tapec.MustName(in.Name))
		if len(dir[part.vec]) == 0 {
			continue
		}
		to := e.Input(in.Name)
		for i, z := range to {
			to[i] = complex(real(z), float64(tangentStep*dir[part.vec][part.offset+i]))
		}
	}
}

// copyImag copies what z moves by.
func copyImag(to []float64, z []complex128) {
	for i, z := range z {
		to[i] = imag(z) / tangentStep
	}
}
