package system

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Weigh finds what moves kinks that were found at the last mark, and what they make bend. Of those at which the run
// rests it finds that until the next mark, for which Point and then End must be called.
func (x *Tangents) Weigh(found []Kink) {
	for i := range found {
		x.weigh(&found[i])
	}
	x.moved, x.slopes, x.passed = nil, nil, x.passed[:0]
	if x.exact {
		l := x.kinks.model.layout
		n := l.nY + l.nP + l.nD
		x.moved, x.slopes = sets.Several(len(x.rest), n), sets.Several(l.nY, n)
		x.movedBeside, x.slopesBeside = sets.Several(len(x.rest), n), sets.Several(l.nY, n)
	}
}

// WeighInside does so for kinks within the piece behind the last mark, after End. The run rests at none of them.
func (x *Tangents) WeighInside(found []Kink) {
	x.yWas, x.dWas, x.time = x.y, x.d, nil
	for i := range found {
		x.weigh(&found[i])
	}
}

func (x *Tangents) weigh(k *Kink) {
	k.Moves, k.Smooth = sets.New(x.columns), false
	x.kinks.near = k.near
	defer func() { x.kinks.near = 0 }()
	switch {
	case k.settled:
		x.weighSettled(k)
	case k.Tie:
		x.weighTie(k)
	case k.Kept:
		x.weighKept(k)
	case k.Dosed:
		x.weighDosed(k)
	case k.Corner:
		x.weighCorner(k)
	case k.taken:
		x.weighTaken(k)
	case k.leaves:
		x.weighLeaving(k)
	case k.Rests:
		for _, i := range k.margins {
			k.Into.condition(x.kinks.model, i)
		}
		k.forks = !x.exact || !x.kinks.onlyFlows(&k.Into)
		x.rest = append(x.rest, k)
	case k.Set && (x.exact || k.guard >= 0 || k.left):
		if x.exact {
			x.setBy(k)
		}
	case k.of == nil || k.Still && !k.Op.HasKink() || k.decides:
		if k.decides && !x.departs(k, x.ofParams) {
			clear(k.Moves)
		}
		if !k.decides || !x.exact {
			x.structural(k)
		}
		k.spread(x.kinks.model)
		k.forks = !k.decides || !x.exact || !x.kinks.onlyFlows(&k.Into)
		if !k.forks {
			x.choose = append(x.choose, k)
			if k.met { // the next mark may come at once
				x.where(k, func() { x.forkOf([]*Kink{k}, &k.at) })
			}
		}
	case k.passes: // on one side it is met a little later, or not at all
		if x.exact {
			x.where(k, func() { x.leave(k) })
		}
		x.close(k)
		k.spread(x.kinks.model)
		k.Smooth, k.Meets = true, true
	case k.rests:
		k.Smooth = true
		x.rest = append(x.rest, k)
	default:
		if k.Smooth = k.Op.HasKink(); k.Smooth {
			x.tilt(k, &k.at)
		} else {
			k.spread(x.kinks.model)
		}
		if !k.alone() && x.exact {
			x.where(k, func() { x.leave(k) })
		}
		x.close(k)
	}
	if k.of != nil && k.of == x.kinks.model.Compiled.Peaks && len(k.Into.names) == 0 { // of something else
		clear(k.Moves)
	}
}

// where calls f with what has moved states and discretes by where k lies.
func (x *Tangents) where(k *Kink, f func()) {
	was, dWas := x.yWas, x.dWas
	switch {
	case k.firstly:
		x.yWas, x.dWas = x.yFirst, x.dFirst
	case k.before:
		x.yWas, x.dWas = x.yHad, x.dHad
	case k.behind:
		x.yWas, x.dWas = x.yGot, x.d
	}
	f()
	x.yWas, x.dWas = was, dWas
}

// weighTie finds what moves one of several maxima that are equally large.
func (x *Tangents) weighTie(k *Kink) {
	m := x.kinks.model
	number := m.FunctionalAt(k.peak)
	out := tapec.Functionals.Number(number)
	k.Into.add(m, out, k.peak-m.Compiled.Functionals[number].Offset)
	x.movers(k, out, k.peak-m.layout.part(out).offset)
}

// keeping is what moves a largest value while it is kept.
type keeping struct {
	some, all sets.Set          // what moves it at one of the times that were looked at, and at all
	fast      map[int][]float64 // how fast what moves params alone does, by columns, at each time
}

// weighKept finds what moves a largest value at some times at which it is kept and not at others: on one side it is
// largest at the former. So does what moves nothing but params that it reads, where it does so at unlike rates. The
// columns are those of its last time.
func (x *Tangents) weighKept(k *Kink) {
	m := x.kinks.model
	number := m.FunctionalAt(k.peak)
	out := tapec.Functionals.Number(number)
	if !x.exact {
		return
	}
	x.kinks.near = max(x.kinks.near, tape.Rounding)
	now, params := sets.New(x.columns), sets.New(x.columns)
	fast := make([]float64, x.columns)
	i := k.peak - m.layout.part(out).offset
	x.where(k, func() {
		x.push(k.of, &k.at, func(seed int, by sets.Set, e *tape.Evaluator[complex128]) {
			slope := imag(e.Output(out.String())[i]) / tangentStep
			if slope == 0 {
				return
			}
			now.Join(by)
			if l := m.layout; seed < l.nY || seed >= l.nY+l.nP {
				params.Join(by)
				return
			}
			for column, p := range x.motion().p {
				for _, p := range p {
					if p.elem == seed-m.layout.nY {
						fast[column] += float64(slope * p.by)
					}
				}
			}
		}, nil)
	})
	if x.kept == nil {
		x.kept = map[int]*keeping{}
	}
	was := x.kept[k.peak]
	if was == nil {
		was = &keeping{some: sets.New(x.columns), all: slices.Clone(x.all), fast: map[int][]float64{}}
		x.kept[k.peak] = was
	}
	if _, bent := x.load(k.of, &k.at); len(bent) == 0 { // where it has kinks, their sides count
		was.some.Join(now)
		for i := range was.all {
			was.all[i] &= now[i]
		}
		for column, f := range fast {
			if !params.Has(column) {
				was.fast[column] = append(was.fast[column], f)
			}
		}
	}
	if !k.last || !x.exact {
		return
	}
	k.Into.add(m, out, k.peak-m.Compiled.Functionals[number].Offset)
	k.Moves.Join(was.some)
	k.Moves.Drop(was.all)
	for column, list := range was.fast {
		low, high := slices.Min(list), slices.Max(list)
		if high-low > float64(1e-9*max(math.Abs(low), math.Abs(high))) {
			k.Moves.Add(column)
		}
	}
}

// weighDosed finds by what the body of the last mark, which changes nothing, would make a largest value larger or less.
func (x *Tangents) weighDosed(k *Kink) {
	if !x.exact || x.changed == nil {
		return
	}
	m := x.kinks.model
	number := m.FunctionalAt(k.peak)
	out := tapec.Functionals.Number(number)
	k.Into.add(m, out, k.peak-m.Compiled.Functionals[number].Offset)
	if k.falls { // what moves the event does not move the largest value away from the start
		k.Moves.Join(x.time)
	}
	was, dWas := x.yWas, x.dWas
	x.yWas, x.dWas = slices.Repeat([]sets.Set{x.all}, m.layout.nY), slices.Repeat([]sets.Set{x.all}, m.layout.nD)
	x.push(k.of, &k.at, func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
		at := k.peak - m.layout.part(out).offset
		if seed >= 0 && seed < len(x.changed) && imag(e.Output(out.String())[at]) != 0 {
			k.Moves.Join(x.changed[seed])
		}
	}, nil)
	x.yWas, x.dWas = was, dWas
}

// weighCorner finds what moves a kink that a condition has at its threshold off that threshold. What moves the two in
// proportion leaves the condition as it is.
func (x *Tangents) weighCorner(k *Kink) {
	i := k.margins[0]
	k.Into.condition(x.kinks.model, i)
	x.kinks.near = max(x.kinks.near, tape.Rounding)
	if x.exact {
		x.where(k, func() { x.leave(k) })
	}
	if !x.exact || !k.Moves.Empty() {
		x.movers(k, tapec.Margins.Name(), i)
	}
	// Nor does one bend anything that chooses between rates that are the same, from the start until it leaves.
	if k.guard < 0 && x.exact && x.kinks.onlyFlows(&k.Into) {
		k.decides = true
		x.choose = append(x.choose, k)
		x.where(k, func() { x.forkOf([]*Kink{k}, &k.at) })
	}
}

// weighTaken finds what moves a condition off the threshold where the body of the last mark found it. Where rounding
// has decided whether the event comes, the run may be another one altogether.
func (x *Tangents) weighTaken(k *Kink) {
	if k.rounded {
		k.Moves.Join(x.all)
		return
	}
	if !x.exact {
		x.structural(k)
		return
	}
	slopes := map[int]float64{}
	x.where(k, func() {
		x.push(x.kinks.model.Compiled.Guards, &k.at, func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
			slopes[seed] = imag(e.Output(tapec.Margins.Name().String())[k.margins[0]]) / tangentStep
		}, nil)
		x.columnsOf(slopes, k.Moves)
	})
	if !x.exact {
		x.structural(k)
	}
}

// movers adds what moves element i of an output of the tape of k.
func (x *Tangents) movers(k *Kink, out tapec.Name, i int) {
	if x.exact {
		x.where(k, func() {
			x.push(k.of, &k.at, func(_ int, by sets.Set, e *tape.Evaluator[complex128]) {
				if imag(e.Output(out.String())[i]) != 0 {
					k.Moves.Join(by)
				}
			}, nil)
		})
	}
	if !x.exact { // or no more: there was no room for work
		x.structural(k)
	}
}

// close ends the search for what moves a kink and for what that makes bend.
func (x *Tangents) close(k *Kink) {
	if !x.exact && !k.alone() && (k.guard >= 0 || k.stuck && !k.waits) {
		clear(k.Moves) // where a condition is met, what it is made of does not leave its place
		return
	}
	if k.alone() || !x.exact {
		x.structural(k)
	}
	if k.Smooth {
		k.spread(x.kinks.model)
	}
}

// leave finds what moves a kink off its place. Where a condition is met, its margin stays 0: a kink of what moves in
// proportion to it stays where it is, as that of max(x, 0) when x < 0.
func (x *Tangents) leave(k *Kink) {
	fast := map[int]map[int]float64{} // by elements and seeds
	x.push(k.of, &k.at, nil, func(v tape.Value, i, seed int, by sets.Set, f float64) {
		if v != k.value {
			return
		}
		if seed < 0 { // a functional
			k.Moves.Join(by)
			return
		}
		if fast[i] == nil {
			fast[i] = map[int]float64{}
		}
		fast[i][seed] = f
	})
	if k.guard < 0 {
		for _, f := range fast {
			x.columnsOf(f, k.Moves)
		}
		if k.Op.HasJump() {
			x.departs(k, func(seed int) bool { // what does so by its square, or a higher power: it jumps all the same
				for _, f := range fast {
					if _, known := f[seed]; known {
						return false
					}
				}
				return true
			})
		}
		return
	}
	margin := map[int]float64{}
	guards := x.kinks.model.Compiled.Guards
	margins := values{vecT: k.at[vecT], vecY: k.at[vecY], vecD: k.at[vecD], vecM: k.modes, vecP: k.at[vecP]}
	x.push(guards, &margins, func(seed int, _ sets.Set, e *tape.Evaluator[complex128]) {
		margin[seed] = imag(e.Output(tapec.Margins.Name().String())[k.guard])
	}, nil)
	for _, f := range fast {
		if !linalg.Proportional(f, margin) {
			x.columnsOf(f, k.Moves)
		}
	}
}

// departs finds which elements of what a condition reads, of those that count, take it off its threshold, on either
// side, as they move alone. It reports whether there was room for that work.
func (x *Tangents) departs(k *Kink, counts func(seed int) bool) bool {
	t, kt := k.of, x.kinks.tapes[k.of]
	if !x.exact {
		return false
	}
	x.kinks.model.load(t, kt.eval, &k.at)
	kt.eval.Run()
	exact := min(x.kinks.near, tape.Rounding)
	here, was := tape.Bends(kt.eval, k.value, x.kinks.near, nil), tape.Bends(kt.eval, k.value, exact, nil)
	kt.beside(t)
	x.kinks.model.load(t, kt.near, &k.at)
	for _, in := range t.Inputs {
		name := tapec.MustName(in.Name)
		part := x.kinks.model.layout.part(name)
		to := kt.near.Input(in.Name)
		for i, value := range to {
			seed := x.seed(part.vec, part.offset+i)
			if seed < 0 || !counts(seed) {
				continue
			}
			by := x.element(name, part.vec, part.offset+i)
			if by.Empty() {
				continue
			}
			if !x.spend(t) {
				return false
			}
			size := math.Abs(value)
			if size == 0 {
				size = 1
			}
			for _, d := range []float64{beside, -beside} {
				to[i] = value + float64(d*size)
				kt.near.Run()
				for j, off := range tape.Bends(kt.near, k.value, exact, nil) {
					if here[j] == 0 && off != was[j] {
						k.Moves.Join(by)
					}
				}
			}
			to[i] = value
		}
	}
	return true
}

// ofParams reports whether a seed is a param or a discrete.
func (x *Tangents) ofParams(seed int) bool {
	l := x.kinks.model.layout
	return seed >= l.nY && seed < l.nY+l.nP+l.nD
}

// structural follows names.
func (x *Tangents) structural(k *Kink) {
	for _, n := range k.From {
		k.Moves.Join(x.byName(n))
	}
	if !k.alone() {
		k.Moves.Join(x.time)
	}
}

// spread finds what depends on the value of a kink at all.
func (k *Kink) spread(m *Model) {
	if k.of == nil {
		return
	}
	k.of.Reached(k.value, func(out tape.Output, i int) {
		if k.counts(m, out, i) {
			k.Into.add(m, tapec.MustName(out.Name), i)
		}
	})
}

// counts reports whether it matters that a kink bends element i of an output: all that is largest is read by one tape,
// but at other times.
func (k *Kink) counts(m *Model, out tape.Output, i int) bool {
	return k.of != m.Compiled.Peaks || m.layout.part(tapec.MustName(out.Name)).offset+i == k.peak
}

// tilt finds what moves if the value of a kink does.
func (x *Tangents) tilt(k *Kink, at *values) {
	e, bent := x.load(k.of, at)
	if e == nil {
		return
	}
	tape.Sides(e, bent, func(v tape.Value, i int, _ float64) float64 {
		if v == k.value {
			return float64(tangentStep * tape.Portion(i))
		}
		return 0
	})
	for _, out := range k.of.Outputs {
		for i, z := range e.Value(out.Value) {
			if imag(z) != 0 && k.counts(x.kinks.model, out, i) {
				k.Smooth = false
				k.Into.add(x.kinks.model, tapec.MustName(out.Name), i)
			}
		}
	}
}
