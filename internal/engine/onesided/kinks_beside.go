package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// follow moves params and discretes at the start, and discretes through bodies: one that a body has set to a number
// does not move any more. States move anyhow.
func (k *Kinks) follow(m *solvers.Mark) {
	for turn := range k.beside {
		k.beside[turn].left = k.beside[turn].d
	}
	fires := m.Kind == solvers.MarkFire && k.model.Compiled.Affects[m.Firing.Event] != nil
	if !k.held || !fires && m.Kind != solvers.MarkStart {
		return
	}
	switch {
	case m.Kind == solvers.MarkStart:
		k.counted = 0
	case m.T != k.first.T: // states move by other parts than params, and than they did before
		k.counted += len(m.Ym) + 1
	}
	for turn := range turns {
		b := &k.beside[turn]
		for side, way := range [2]float64{beside, -beside} {
			n := portionsOf(turn)
			if fires {
				n.count = k.before() + k.counted
			}
			if m.Kind == solvers.MarkStart {
				b.p[side] = k.params(way, &n)
			}
			t := []float64{m.T}
			if !k.Fixed(m) {
				t = move(t, way, &n)
			}
			if p, d := b.p[side], &b.d[side]; fires {
				_, *d = k.fire(m, t, move(m.Ym, way, &n), *d, p)
			} else {
				*d = k.begin(t, p)
				b.left[side] = *d
			}
		}
	}
}

// params returns the params with those moved that derivatives are by.
func (k *Kinks) params(way float64, n *portions) []float64 {
	p := k.point.P
	q := move(p, way, n)
	for _, s := range k.model.Checked.Params {
		if at := k.model.Param(s.Name); !k.active[s.Name] {
			copy(q[at.Offset:at.Offset+at.Len], p[at.Offset:])
		}
	}
	compiled.Follow(k.point, q, func(i int, x float64) { q[i] = x })
	return q
}

// begin returns the discretes at the start of a run.
func (k *Kinks) begin(t, p []float64) []float64 {
	start := k.model.Compiled.Start
	to := vec.Values{vec.Y: make([]float64, k.model.Layout.NY), vec.D: make([]float64, k.model.Layout.ND)}
	k.around.Run(start, &vec.Values{vec.T: t, vec.P: p})
	k.around.Put(start, &to)
	return to[vec.D]
}

// fire returns what the body of the event at a mark makes of states and discretes.
func (k *Kinks) fire(m *solvers.Mark, t, y, d, p []float64) (yp, dp []float64) {
	of := k.model.Compiled.Affects[m.Firing.Event]
	k.around.Run(of, &vec.Values{vec.T: t, vec.Y: y, vec.D: d, vec.P: p, vec.Fired: firedAt(m)})
	to := vec.Values{vec.Y: slices.Clone(y), vec.D: slices.Clone(d)}
	k.around.Put(of, &to)
	return to[vec.Y], to[vec.D]
}

// through lists the kinks of the tape of o at some values, or those of params and discretes alone, that what o lets
// through depends on.
func (k *Kinks) through(o outlet, at *vec.Values, still bool) []Kink {
	return slices.DeleteFunc(k.at(o.tape, at), func(x Kink) bool {
		reaches := false
		o.tape.Reached(x.value, func(out tape.Output, i int) {
			reaches = reaches || out.Name == o.name && o.in(i)
		})
		return !reaches || still && !x.Still && !x.Held
	})
}

// bent reports whether an element of v lies at a kink, or so near, where t is looked at. It must leave the kink beside
// that: operands that stay equal, such as two values cut off at 0, have no part in a derivative.
// A root must do so on both sides, in proportion to how far the inputs moved, as √(x²) does: the derivative of √x is
// infinite, and no number hides it, and x¹ is smooth. Where there are second derivatives, curves tells that a root of
// params and discretes alone is at 0, and may have no second one there: as (x²)^0.75, and xⁿ from one side if n moves.
func (k *Kinks) bent(t *tape.Tape, v tape.Value, near float64) (bent, curves bool) {
	kt := k.tapes[t]
	kt.here = kt.now.Bends(v, near, kt.here[:0])
	if !slices.Contains(kt.here, 0) {
		return false, false
	}
	k.besides(t)
	op := t.Instr(v).Op
	root, sides := op == tape.Sqrt || op == tape.Pow, 1
	if root {
		sides = 2
	}
	left := make([]int, len(kt.here)) // on how many sides an element leaves its kink
	for way := range kt.sides {
		side := &kt.there
		for j, beside := range kt.sides[way] {
			side[j] = beside.Bends(v, min(near, tape.Rounding), side[j][:0])
		}
		for i, d := range kt.here {
			far, near := side[0][i], side[1][i]
			if d == 0 && (near > float64(0.4*far) && near < float64(0.6*far) || !root && (far != 0 || near != 0)) {
				left[i]++
			}
		}
	}
	bent = slices.ContainsFunc(left, func(n int) bool { return n >= sides })
	return bent, k.second && root && (kt.of[v].Still || kt.of[v].Held)
}

// besides has the sides of t lie beside the values at which it is looked at.
func (k *Kinks) besides(t *tape.Tape) {
	kt := k.tapes[t]
	if kt.known {
		return
	}
	kt.known = true
	if kt.count == nil {
		n := 0
		for _, in := range t.Inputs {
			kt.count = append(kt.count, n)
			if k.nudges(tapec.MustName(in.Name)) == itself {
				n += in.Shape.Size()
			}
		}
	}
	for way, sign := range []float64{1, -1} {
		for j, part := range []float64{beside, beside / 2} {
			side := &kt.sides[way][j]
			if *side == nil {
				load := k.load(t, kt)
				*side = kt.now.Other(func(i int, to []float64) {
					load(i, to)
					n := portionsOf(0)
					n.count = k.before() + kt.count[i]
					k.nudgeInput(0, t.Inputs[i].Name, to, float64(sign*part), &n)
				})
			}
			(*side).Begin(!kt.same)
		}
	}
	kt.same = true
}

// beside is how far inputs are moved to see whether they leave a kink, as a part of their size.
const beside = 0x1p-14

// nudge moves what a tape reads in one of several directions: all but modes, data and what has fired.
func (k *Kinks) nudge(turn int, e *tape.Evaluator[float64], d float64) {
	n := portionsOf(turn)
	n.count = k.before()
	for i, in := range e.Tape().Inputs {
		k.nudgeInput(turn, in.Name, e.Value(tape.Value(i)), d, &n)
	}
}

// before returns how many numbers have moved before those of a tape: what is equal to a param that has moved by the
// first parts must not move along with it.
func (k *Kinks) before() int {
	if k.held {
		return len(k.point.P)
	}
	return 0
}

// nudging is how an input is nudged.
type nudging byte

const (
	not    nudging = iota
	along          // with what it follows from
	itself         // by a part of its own, and n counts its numbers
)

// nudges returns how an input is nudged.
func (k *Kinks) nudges(name tapec.Name) nudging {
	switch role := name.Role; {
	case k.held && (role == tapec.Param || role == tapec.Discrete || role == tapec.LeftDiscrete):
		return along
	case role == tapec.DataRow || role == tapec.KeptMode || role == tapec.HeldMode || role == tapec.Fired:
		return not
	}
	return itself
}

// nudgeInput is nudge for one input x.
func (k *Kinks) nudgeInput(turn int, input string, x []float64, d float64, n *portions) {
	name, side := tapec.MustName(input), 0
	if d < 0 {
		side = 1
	}
	switch k.nudges(name) {
	case along:
		b := &k.beside[turn]
		moved := b.d[side]
		switch {
		case name.Role == tapec.Param:
			moved = b.p[side]
		case k.left || name.Role == tapec.LeftDiscrete:
			moved = b.left[side]
		}
		for i, b := range moved[k.model.Layout.Part(name).Offset:][:len(x)] {
			x[i] += float64(math.Abs(d) / beside * (b - x[i]))
		}
	case itself:
		copy(x, move(x, d, n))
	}
}

// turns is in how many directions inputs are moved where one of them may miss what others find: max(a, 1) > p at
// a = p = 1 holds on neither side of a line along which a moves faster than p. What kinks hide from each other shows in
// few of them.
const turns = 5

// portions count the numbers that have moved in a direction.
type portions struct {
	count int
	turns float64 // of the sign, in a number
}

// portionsOf returns the beginning of a motion in one of several directions.
func portionsOf(turn int) portions {
	return portions{turns: [turns]float64{0, math.Sqrt2 - 1, math.SqrtE - 1, math.Pi - 3, math.SqrtPi - 1}[turn]}
}

// move returns x with each number moved by a part of its size near d that differs from the others. n goes on from one
// array to the next.
func move(x []float64, d float64, n *portions) []float64 {
	to := make([]float64, len(x))
	for i, x := range x {
		n.count++
		size := math.Abs(x)
		switch {
		case size == 0:
			size = 1
		case math.IsInf(x, 0): // the time of what does not happen
			size = 0
		}
		part := float64(math.Phi * float64(n.count)) // of its multiples, no two are equally far above whole numbers
		by := float64(d * (0.5 + part - math.Floor(part)))
		if turned := float64(n.turns * float64(n.count)); turned-math.Floor(turned) > 0.5 {
			by = -by
		}
		to[i] = math.FMA(by, size, x)
	}
	return to
}
