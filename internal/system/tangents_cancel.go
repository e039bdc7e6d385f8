package system

import (
	"math"
	"slices"

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
	if x.exact && slices.ContainsFunc(x.rest, func(k *Kink) bool { return x.fromStart(k) || x.waitsFromStart(k) }) {
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
	left := make([]set, len(x.rest))
	for column := range x.columns {
		var some []int // of the kinks
		for i, k := range x.rest {
			if left[i] == nil {
				left[i] = newSet(x.columns)
			}
			switch {
			case !x.fromStart(k) || !k.Moves.has(column):
			case x.time.has(column):
				left[i].add(column)
			default:
				some = append(some, i)
			}
		}
		if len(some) > 0 {
			x.pass(column, some, left, left)
		}
	}
	for i, k := range x.rest {
		if x.fromStart(k) && x.exact {
			k.Moves = left[i]
		}
	}
}

// stray adds those of some columns, by kinks, that leave the conditions of events at their thresholds at the start, and
// take them off later, as p does where x begins at x0 and falls back to p, of x > x0.
func (x *Tangents) stray(by []set) {
	first, later := newSets(len(x.rest), x.columns), newSets(len(x.rest), x.columns)
	for column := range x.columns {
		var some []int // of the kinks
		for i, k := range x.rest {
			if x.waitsFromStart(k) && by[i].has(column) && !x.time.has(column) {
				some = append(some, i)
			}
		}
		if len(some) > 0 {
			x.pass(column, some, first, later)
		}
	}
	for i, k := range x.rest {
		if later[i].drop(first[i]); x.exact {
			k.Moves.join(later[i])
		}
	}
}

// pass goes along the run with the tangent by a column, and notes which of some kinks leave their thresholds: at the
// start, and later.
func (x *Tangents) pass(column int, some []int, first, later []set) {
	c, l, pt := x.kinks.model.Compiled, x.kinks.model.layout, x.kinks.point
	dir, ok := x.atStart(column)
	if !ok {
		return
	}
	for n, p := range x.passed {
		at := values{vecT: {p.t}, vecY: p.y, vecD: x.dNow, vecM: x.mNow, vecP: pt.p}
		left := later
		if n == 0 {
			left = first
		}
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
		x.leaves(&at, &dir, column, some, later)
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
func (x *Tangents) leaves(at, dir *values, column int, some []int, left []set) {
	margins := x.kinks.model.Compiled.Guards
	var sum, size []float64
	for _, vec := range []vector{vecY, vecP, vecD} {
		var part values
		part[vec] = dir[vec]
		e := x.along(margins, at, &part)
		if e == nil {
			return
		}
		for i, z := range e.Output(tapec.Margins.Name().String()) {
			if i == len(sum) {
				sum, size = append(sum, 0), append(size, 0)
			}
			by := imag(z) / tangentStep
			sum[i], size[i] = sum[i]+by, size[i]+math.Abs(by)
		}
	}
	for _, i := range some {
		for _, m := range x.rest[i].margins {
			if math.Abs(sum[m]) > float64(1e-10*size[m]) {
				left[i].add(column)
			}
		}
	}
}

// along runs t at some values with a tangent in a direction; nil if there is no room for more work.
func (x *Tangents) along(t *tape.Tape, at, dir *values) *tape.Evaluator[complex128] {
	if !x.spend(t) {
		return nil
	}
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
