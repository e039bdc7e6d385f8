package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// motion is how params, and the time of a mark if that is made of them alone, move by columns of the gradient.
type motion struct {
	p     map[int][]slope // by columns
	time  map[int]float64 // by columns
	timed bool            // time tells how the mark moves
}

// slope is how fast an element moves.
type slope struct {
	elem int
	by   float64
}

// motion returns that of the last mark.
func (x *Tangents) motion() *motion {
	if x.slopesOf != nil {
		return x.slopesOf
	}
	k, pt := x.kinks, x.kinks.point
	to := &motion{p: map[int][]slope{}, time: map[int]float64{}}
	x.slopesOf = to
	in := x.instant()
	to.timed = k.Fixed(&x.mark) || in != nil
	for _, v := range x.variables {
		if v.Initial {
			continue
		}
		from := k.model.Param(v.Name).Offset
		for e := range v.Len {
			z := make([]complex128, len(pt.p))
			for i, p := range pt.p {
				z[i] = complex(p, 0)
			}
			z[from+e] += complex(0, tangentStep)
			follow(pt, z, func(i int, p complex128) { z[i] = p })
			column := v.Offset + e
			for i, p := range z {
				if imag(p) != 0 {
					to.p[column] = append(to.p[column], slope{i, imag(p) / tangentStep})
				}
			}
			if in != nil {
				to.time[column] = in(z)
			}
		}
	}
	return to
}

// instant returns the slope of the time of the last mark by the imaginary parts of params; nil unless it is made of
// params alone.
func (x *Tangents) instant() func(p []complex128) float64 {
	c, l, m := x.kinks.model.Compiled, x.kinks.model.layout, &x.mark
	i := m.Instant
	if m.Kind == solvers.MarkStart {
		i = int(solvers.InstantStart)
	}
	if i < 0 || m.Guard >= 0 || c.Instants == nil {
		return nil
	}
	if slices.ContainsFunc(x.kinks.model.instantInputs(i), func(n tapec.Name) bool { return n.Role != tapec.Param }) {
		return nil
	}
	e := tape.NewEvaluator[complex128](c.Instants)
	return func(p []complex128) float64 {
		for _, in := range c.Instants.Inputs {
			to := e.Input(in.Name)
			clear(to)
			if part, ok := l.find(tapec.MustName(in.Name)); ok && part.vec == vecP {
				copy(to, p[part.offset:])
			}
		}
		e.Run()
		times := e.Output(tapec.Times.Name().String())
		t := imag(times[i])
		if every := c.InstantList[i].Period; every >= 0 {
			if n := math.RoundToEven((m.T - real(times[i])) / real(times[every])); math.Abs(n) < 1e15 {
				t += float64(n * imag(times[every]))
			}
		}
		return t / tangentStep
	}
}

// sharpen leaves in what moves the time of the last mark those columns that do so in this run: the first of several
// times does not move with their period.
func (x *Tangents) sharpen() {
	const most = 64 // columns
	if !x.exact || x.time.Empty() || x.columns > most || x.instant() == nil {
		return
	}
	moves := sets.New(x.columns)
	for column, by := range x.motion().time {
		if by != 0 {
			moves.Add(column)
		}
	}
	for i := range x.time {
		moves[i] &= x.time[i]
	}
	x.time = moves
}

// columnsOf adds to to the columns that move something whose slopes by the seeds are given. Params and a time that is
// made of them may cancel.
func (x *Tangents) columnsOf(slopes map[int]float64, to sets.Set) {
	l := x.kinks.model.layout
	timeAt := x.seed(vecT, 0)
	by := sets.New(x.columns)
	timed := x.motion().timed
	for seed, slope := range slopes {
		switch {
		case slope == 0:
		case seed < 0:
			to.Join(x.all)
		case seed == timeAt && !timed:
			to.Join(x.time)
		case seed == timeAt:
			by.Join(x.time)
		case seed < l.nY:
			to.Join(x.yWas[seed])
		case seed < l.nY+l.nP:
			by.Join(x.p[seed-l.nY])
		default:
			to.Join(x.dWas[seed-l.nY-l.nP])
		}
	}
	for column := range x.columns {
		if !by.Has(column) {
			continue
		}
		sum, size := 0.0, 0.0
		add := func(slope, by float64) {
			sum, size = sum+float64(slope*by), size+math.Abs(float64(slope*by))
		}
		for _, p := range x.slopesOf.p[column] {
			add(slopes[l.nY+p.elem], p.by)
		}
		if timed {
			add(slopes[timeAt], x.slopesOf.time[column])
		}
		if size == 0 || math.Abs(sum) > float64(1e-12*size) {
			to.Add(column)
		}
	}
}

// setBy finds what moves a condition off the threshold that the body of the last mark's event set it to.
func (x *Tangents) setBy(k *Kink) {
	c, l := x.kinks.model.Compiled, x.kinks.model.layout
	body, guards, margin := c.Affects[x.mark.Firing.Event], c.Guards, tapec.Margins.Name().String()
	if k.timed {
		guards, margin = c.Instants, tapec.Times.Name().String()
	}
	at := k.at
	at[vecFired] = firedAt(&x.mark)
	b, _ := x.load(body, &at)
	g, _ := x.load(guards, &at)
	if b == nil || g == nil {
		x.structural(k)
		return
	}
	var alone *tape.Evaluator[complex128] // of what was at its threshold before: what the body adds takes it off
	if k.left {
		alone = tape.NewEvaluator[complex128](guards)
		for _, in := range guards.Inputs {
			copy(alone.Input(in.Name), g.Input(in.Name))
		}
	}
	slopes := map[int]float64{}
	visit := func(vec vector, i int) {
		z := func(e *tape.Evaluator[complex128], by float64) {
			for _, in := range e.Tape().Inputs {
				part := l.part(tapec.MustName(in.Name))
				if to := e.Input(in.Name); part.vec == vec && i >= part.offset && i < part.offset+len(to) {
					to[i-part.offset] = complex(real(to[i-part.offset]), by)
				}
			}
		}
		z(b, tangentStep)
		z(g, tangentStep)
		b.Run()
		for _, out := range body.Outputs {
			if n := tapec.MustName(out.Name); slices.ContainsFunc(guards.Inputs, func(in tape.Input) bool {
				return in.Name == out.Name
			}) {
				copy(g.Input(n.String()), b.Value(out.Value))
			}
		}
		g.Run()
		at := imag(g.Output(margin)[k.margins[0]])
		if k.timed && k.nth > 0 {
			at += float64(k.nth * imag(g.Output(margin)[c.InstantList[k.margins[0]].Period]))
		}
		slopes[x.seed(vec, i)] = at / tangentStep
		if alone != nil {
			z(alone, tangentStep)
			alone.Run()
			slopes[x.seed(vec, i)] -= imag(alone.Output(margin)[k.margins[0]]) / tangentStep
			z(alone, 0)
		}
		z(b, 0)
		z(g, 0)
	}
	each := func(visit func(vec vector, i int)) {
		for _, of := range []struct {
			vec vector
			by  []sets.Set
		}{{vecY, x.yWas}, {vecD, x.dWas}, {vecP, x.p}, {vecT, []sets.Set{x.time}}} {
			for i, by := range of.by {
				along := k.guard >= 0 && (of.vec == vecY || of.vec == vecT)
				if (along || !by.Empty()) && x.spend(body) {
					visit(of.vec, i)
				}
			}
		}
	}
	each(visit)
	none := !k.timed && !k.left
	if none {
		guard := &c.GuardList[k.margins[0]]
		none = !guard.Clock && !guard.Compound
	}
	for _, slope := range slopes {
		none = none && slope == 0
	}
	if none { // a level is at its threshold on either side of it
		each(func(vec vector, i int) { slopes[x.seed(vec, i)] = x.farther(k, vec, i) })
	}
	if k.timed { // beside the present
		slopes[x.seed(vecT, 0)]--
	}
	if k.again { // earlier, it would happen twice
		for _, n := range k.From {
			if part := l.part(n); part.vec == vecD {
				for _, by := range x.dHad[part.offset : part.offset+part.len] {
					k.Moves.Join(by)
				}
			}
		}
	}
	if x.mark.T == x.kinks.end { // or the end comes to lie behind it
		for _, n := range x.kinks.model.instantInputs(int(solvers.InstantEnd)) {
			k.Moves.Join(x.of(n))
		}
	}
	if k.guard >= 0 && !x.hold(k, slopes) {
		clear(k.Moves)
		return
	}
	x.columnsOf(slopes, k.Moves)
}

// farther returns by how much the margin of a condition that the body of the last mark's event has set to its threshold
// changes where one number is a little larger, as a part of that.
func (x *Tangents) farther(k *Kink, vec vector, i int) float64 {
	at := k.at
	if at[vec] = slices.Clone(at[vec]); i >= len(at[vec]) {
		return 0
	}
	step := float64(beside * math.Abs(at[vec][i]))
	if step == 0 {
		step = beside
	}
	at[vec][i] += step
	y, d := x.kinks.fire(&x.mark, at[vecT], at[vecY], at[vecD], at[vecP])
	was, set := k.at, at
	was[vecY], was[vecD] = x.kinks.fire(&x.mark, was[vecT], was[vecY], was[vecD], was[vecP])
	set[vecY], set[vecD] = y, d
	before := x.kinks.margins(&was)[k.margins[0]]
	return (x.kinks.peek(&set)[k.margins[0]] - before) / step
}

// hold makes of slopes, by seeds, at the last mark those at the time at which the condition holds that caused it. It
// reports whether they are known.
func (x *Tangents) hold(k *Kink, slopes map[int]float64) bool {
	at := k.at
	at[vecM] = k.modes
	g, _ := x.load(x.kinks.model.Compiled.Guards, &at)
	if g == nil || !x.exact {
		return false
	}
	l, timeAt := x.kinks.model.layout, x.seed(vecT, 0)
	by := map[int]float64{}
	for _, in := range g.Tape().Inputs {
		part := l.part(tapec.MustName(in.Name))
		to := g.Input(in.Name)
		for i, z := range to {
			if seed := x.seed(part.vec, part.offset+i); seed >= 0 && x.spend(g.Tape()) {
				to[i] = complex(real(z), tangentStep)
				g.Run()
				by[seed], to[i] = imag(g.Output(tapec.Margins.Name().String())[k.guard])/tangentStep, z
			}
		}
	}
	rate, of := slopes[timeAt], by[timeAt]
	for i, f := range x.rates(at[vecT][0], at[vecY], at[vecD], at[vecM]) {
		rate, of = rate+float64(slopes[i]*f), of+float64(by[i]*f)
	}
	if !x.exact || of == 0 {
		return false
	}
	delete(slopes, timeAt)
	delete(by, timeAt)
	for seed, slope := range by {
		less := float64(rate / of * slope)
		if left := slopes[seed] - less; math.Abs(left) > float64(1e-12*(math.Abs(less)+math.Abs(slopes[seed]))) {
			slopes[seed] = left
		} else {
			delete(slopes, seed)
		}
	}
	return true
}
