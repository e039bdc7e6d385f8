package onesided

import (
	"math"
	"slices"
	"strings"

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
// through has: where two pieces of a smooth table meet, each has a kink and their sum has none.
func (k *Kinks) through(o outlet, at *vec.Values, still bool) []Kink {
	found, elems := k.bending(o, at, still)
	return reaching(found, o.name, elems)
}

// bending lists the kinks of the tape of o at some values, or those of params and discretes alone, and the elements of
// what o lets through that have one.
func (k *Kinks) bending(o outlet, at *vec.Values, still bool) (found []Kink, elems []int) {
	found = k.at(o.tape, at)
	if still {
		found = slices.DeleteFunc(found, func(k Kink) bool { return !k.Still && !k.Held })
	}
	if len(found) == 0 {
		return nil, nil
	}
	for turn := range turns {
		for _, i := range k.bentOn(turn, o, at, still) {
			if !slices.Contains(elems, i) {
				elems = append(elems, i)
			}
		}
	}
	return found, elems
}

// bentOn lists the elements of what o lets through that have a kink where inputs move in one of several directions; or
// those that have none, and of which the kinks inside make another derivative, as of max(min(p, 1), 1) with p = 1.
func (k *Kinks) bentOn(turn int, o outlet, at *vec.Values, still bool) (elems []int) {
	kt := k.tapes[o.tape]
	kt.beside(o.tape)
	here := kt.eval.Output(o.name)
	var bend [2][]float64    // f(x+d) - f(x) + f(x-d) - f(x), for d and half of it
	var step [2][2][]float64 // f(x+d) - f(x), for either sign of d
	var slope []float64      // what derivatives make of it, for half of d
	for j := range bend {
		bend[j] = make([]float64, len(here))
		for side, way := range []float64{beside, -beside} {
			k.model.Load(o.tape, kt.near, at)
			k.nudge(turn, kt.near, way/float64(1+j), still)
			if side == 0 && j == 1 {
				slope = kt.slope(o, 0)
			}
			kt.near.Run()
			step[side][j] = make([]float64, len(here))
			for i, x := range kt.near.Output(o.name) {
				step[side][j][i] = x - here[i]
				bend[j][i] += x - here[i]
			}
		}
	}
	for i, x := range here {
		// stays reports whether a difference does not vanish as d does: not like d to the power of -log2(ratio).
		stays := func(d *[2][]float64, ratio float64) bool {
			far, near := math.Abs(d[0][i]), math.Abs(d[1][i])
			return far > float64(0x1p-45*math.Abs(x)) && near > float64(ratio*far)
		}
		odd := func(j int) float64 { return 0.5 * (step[0][j][i] - step[1][j][i]) }
		far, near := odd(0), odd(1)
		off := math.Abs(near - slope[i])
		wrong := math.Abs(far-2*near) <= float64(0x1p-7*math.Abs(far)) && // in proportion to d
			off > float64(0x1p-45*math.Abs(x)) && off > float64(0x1p-4*max(math.Abs(near), math.Abs(slope[i])))
		if o.in(i) && (wrong || stays(&bend, 0.375) || stays(&step[0], 0.875) || stays(&step[1], 0.875)) {
			elems = append(elems, i)
		}
	}
	return elems
}

// curved is through and, where there are second derivatives, adds the kinks that these alone show, as those of p·abs(p)
// at 0, in elements that do not bend.
func (k *Kinks) curved(o outlet, at *vec.Values, still bool) []Kink {
	kinks, bent := k.bending(o, at, still)
	found := reaching(slices.Clone(kinks), o.name, bent)
	if !k.second || len(kinks) == 0 {
		return found
	}
	var elems []int
	kt := k.tapes[o.tape]
	kt.beside(o.tape)
	for turn := range turns {
		k.model.Load(o.tape, kt.near, at)
		k.nudge(turn, kt.near, beside, still)
		elems = append(elems, kt.curved(o)...)
	}
	elems = slices.DeleteFunc(elems, func(i int) bool { return slices.Contains(bent, i) })
	for _, x := range reaching(kinks, o.name, elems) {
		if !slices.ContainsFunc(found, func(f Kink) bool { return f.value == x.value }) {
			x.curves = true
			found = append(found, x)
		}
	}
	return found
}

// curved lists the elements of what o lets through whose slopes, along the line from the inputs of eval to those of
// near, change on some side otherwise than second derivatives have it; also where these are no numbers.
func (kt *kinkTape) curved(o outlet) (elems []int) {
	slope, curve := kt.slopes(o, 0)
	var on [2][2][]float64 // by sides, far and near
	for side, way := range []float64{1, -1} {
		for j := range on[side] {
			on[side][j], _ = kt.slopes(o, way/float64(1+j))
		}
	}
	for i, x := range slope {
		turned := curve == nil || x-x != 0 || curve[i]-curve[i] != 0
		for side, way := range []float64{1, -1} {
			var off [2]float64
			for j := range off {
				if !turned {
					off[j] = on[side][j][i] - x - float64(way*curve[i]/float64(1+j))
				}
			}
			far, near := math.Abs(off[0]), math.Abs(off[1])
			turned = turned || far > float64(0x1p-40*math.Abs(x)) && near > float64(0.375*far)
		}
		if turned && o.in(i) {
			elems = append(elems, i)
		}
	}
	return elems
}

// slopes returns the derivative of an output along the difference of the inputs of near from those of eval, at the
// latter and that part of the difference, and the second derivative along it; nil where ops make none.
func (kt *kinkTape) slopes(o outlet, part float64) (slope, curve []float64) {
	e := kt.tangent(o)
	if e == nil {
		return kt.slope(o, part), nil
	}
	for _, in := range e.Tape().Inputs {
		name, is := strings.CutPrefix(in.Name, tapec.Tangent.Of(""))
		z, here, near := e.Input(in.Name), kt.eval.Input(name), kt.near.Input(name)
		for i, x := range here {
			by := near[i] - x
			if z[i] = complex(by, 0); !is {
				z[i] = complex(x, 0)
				if by != 0 {
					z[i] = complex(math.FMA(part, by, x), float64(tangentStep*by))
				}
			}
		}
	}
	e.Run()
	slope = make([]float64, len(kt.eval.Output(o.name)))
	curve = make([]float64, len(slope))
	for i, z := range e.Output(tapec.Tangent.Of(o.name)) {
		slope[i], curve[i] = real(z), imag(z)/tangentStep
	}
	return slope, curve
}

// tangent returns an evaluator of the derivatives of an output along a direction; nil where ops make none.
func (kt *kinkTape) tangent(o outlet) *tape.Evaluator[complex128] {
	e, known := kt.tangents[o.name]
	if known {
		return e
	}
	var moving []string
	for _, in := range o.tape.Inputs {
		moving = append(moving, in.Name)
	}
	if t, err := tapec.JVP(o.tape, []string{o.name}, moving); err == nil {
		e = tape.NewEvaluator[complex128](t)
	}
	if kt.tangents == nil {
		kt.tangents = map[string]*tape.Evaluator[complex128]{}
	}
	kt.tangents[o.name] = e
	return e
}

// slope returns the derivative of an output along the difference of the inputs of near from those of eval, at the
// latter and that part of the difference.
func (kt *kinkTape) slope(o outlet, part float64) (to []float64) {
	if kt.along == nil {
		kt.along = tape.NewEvaluator[complex128](o.tape)
	}
	for _, in := range o.tape.Inputs {
		z, here, near := kt.along.Input(in.Name), kt.eval.Input(in.Name), kt.near.Input(in.Name)
		for i, x := range here {
			if z[i] = complex(x, 0); near[i] != x {
				z[i] = complex(math.FMA(part, near[i]-x, x), float64(tangentStep*(near[i]-x)))
			}
		}
	}
	kt.along.Run()
	for _, z := range kt.along.Output(o.name) {
		to = append(to, imag(z)/tangentStep)
	}
	return to
}

// reaching leaves those of some kinks of a tape that some elements of an output depend on.
func reaching(found []Kink, output string, elems []int) []Kink {
	return slices.DeleteFunc(found, func(k Kink) bool {
		reaches := false
		k.of.Reached(k.value, func(out tape.Output, i int) {
			reaches = reaches || out.Name == output && slices.Contains(elems, i)
		})
		return !reaches
	})
}

// bent reports whether an element of v lies at a kink, or so near, where t was evaluated at the given values. It must
// leave the kink beside these: operands that stay equal, such as two values cut off at 0, have no part in a derivative.
// A root must do so on both sides, in proportion to how far the inputs moved, as √(x²) does: the derivative of √x is
// infinite, and no number hides it, and x¹ is smooth. Where there are second derivatives, curves tells that a root of
// params and discretes alone is at 0, and may have no second one there: as (x²)^0.75, and xⁿ from one side if n moves.
func (k *Kinks) bent(t *tape.Tape, v tape.Value, at *vec.Values, near float64) (bent, curves bool) {
	kt := k.tapes[t]
	kt.here = tape.Bends(kt.eval, v, near, kt.here[:0])
	if !slices.Contains(kt.here, 0) {
		return false, false
	}
	k.besides(t, at)
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
	return bent, k.second && root && (kt.still[v] || kt.held[v])
}

// besides has the sides of t lie beside the values at which it was evaluated.
func (k *Kinks) besides(t *tape.Tape, at *vec.Values) {
	kt := k.tapes[t]
	if kt.known {
		return
	}
	kt.at, kt.known = *at, true
	if kt.count == nil {
		n := 0
		for _, in := range t.Inputs {
			kt.count = append(kt.count, n)
			if k.nudges(tapec.MustName(in.Name), false) == itself {
				n += in.Shape.Size()
			}
		}
	}
	for way, sign := range []float64{1, -1} {
		for j, part := range []float64{beside, beside / 2} {
			side := &kt.sides[way][j]
			if *side == nil {
				input := func(i int, to []float64) {
					in := &t.Inputs[i]
					k.model.LoadInput(in, to, &kt.at)
					n := portionsOf(0)
					n.count = k.before() + kt.count[i]
					k.nudgeInput(0, in.Name, to, float64(sign*part), false, &n)
				}
				if first := kt.sides[0][0]; first != nil {
					*side = first.Other(input)
				} else {
					*side = tape.NewPartly(t, stays, input)
				}
			}
			(*side).Begin(!kt.same)
		}
	}
	kt.same = true
}

// beside is how far inputs are moved to see whether they leave a kink, as a part of their size.
const beside = 0x1p-14

// nudge moves what a tape reads in one of several directions: params and discretes or, unless they alone are to move,
// all but modes, data and what has fired.
func (k *Kinks) nudge(turn int, e *tape.Evaluator[float64], d float64, held bool) {
	n := portionsOf(turn)
	n.count = k.before()
	for i, in := range e.Tape().Inputs {
		k.nudgeInput(turn, in.Name, e.Value(tape.Value(i)), d, held, &n)
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

// nudges returns how an input is nudged, where params and discretes alone are to be, or all.
func (k *Kinks) nudges(name tapec.Name, held bool) nudging {
	switch role := name.Role; {
	case k.held && (role == tapec.Param || role == tapec.Discrete || role == tapec.LeftDiscrete):
		return along
	case role == tapec.DataRow || role == tapec.KeptMode:
		return not
	case role == tapec.Param || !held && role != tapec.HeldMode && role != tapec.Fired:
		return itself
	}
	return not
}

// nudgeInput is nudge for one input x.
func (k *Kinks) nudgeInput(turn int, input string, x []float64, d float64, held bool, n *portions) {
	name, side := tapec.MustName(input), 0
	if d < 0 {
		side = 1
	}
	switch k.nudges(name, held) {
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
