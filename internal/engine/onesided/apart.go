package onesided

import (
	"math"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Causes that come at one time may come apart as what derivatives are taken by moves. Each has a margin that is zero as
// it comes: that of a guard, that of a condition of time alone (a clock), or the present time less that of an instant.
// Two causes stay together if their margins change in proportion as time passes and whatever moves.

// cause is one of a guard, a clock and an instant; the others are -1.
type cause struct{ guard, clock, instant, nth int }

func causeOf(c solvers.Cause) cause {
	if c.Guard >= 0 {
		return cause{c.Guard, -1, -1, 0}
	}
	return cause{-1, -1, c.Instant, c.Nth}
}

// inputs lists what the time of a cause is made of.
func (w *Separator) inputs(c cause) []tapec.Name {
	if c.clock >= 0 {
		return compiled.InputsOf(w.model.Compiled.Clocks, tapec.ClockMargins.Name(), c.clock)
	}
	return w.model.CauseInputs(solvers.Cause{Guard: c.guard, Instant: c.instant})
}

// motion is how what derivatives are taken by moves, with all states and the discretes that bodies set to what moves,
// or at the start those that are variables; or how nothing but time does.
type motion struct {
	time bool
	way  int // numbers that move by different parts of themselves
}

// around is where causes come at one time.
type around struct {
	*Separator
	t       float64
	y, d, m []float64
	start   bool // of the run, with which states and discretes move
	causes  []cause
	most    [][2]float64 // [causes] how much the margins of the first one and of each change, where that is most
}

// ways are irrational, so that their multiples spread over the fractions.
var ways = [2]float64{0.6180339887498949, 0.4142135623730951}

// fraction returns a number between 1/2 and 1, another one for each n: the part by which the n-th number moves one way.
func fraction(n, way int) float64 {
	f := float64(float64(n) * ways[way])
	return 0.5 + float64(0.5*(f-math.Floor(f)))
}

// tangentStep is the size of an imaginary part, so small that its square is zero.
const tangentStep = 0x1p-560

// still returns numbers that do not move.
func still(x []float64) []complex128 {
	to := make([]complex128, len(x))
	for i, v := range x {
		to[i] = complex(v, 0)
	}
	return to
}

// moved returns what tapes read where something moves, and how times of instants do.
func (a *around) moved(by *motion) (at *vec.Of[complex128], times []float64) {
	pt, n := a.task.Point, 0
	at = &vec.Of[complex128]{
		vec.T: {complex(a.t, 0)}, vec.Y: still(a.y), vec.P: still(pt.P), vec.D: still(a.d), vec.M: still(a.m),
	}
	if by.time {
		at[vec.T][0] = complex(a.t, tangentStep)
		return at, make([]float64, max(2, len(a.worker.Instants())))
	}
	push := func(x *complex128, least float64) {
		n++
		*x += complex(0, float64(tangentStep*fraction(n, by.way))*max(math.Abs(real(*x)), least))
	}
	for _, p := range a.activeParams() {
		for i := p.Offset; i < p.Offset+p.Len; i++ {
			x := &at[vec.P][i]
			if *x == 0 { // its square moves as well
				*x = 1e-3
			}
			push(x, 1e-2)
		}
	}
	compiled.Follow(pt, at[vec.P], func(i int, x complex128) { at[vec.P][i] = x })
	times, from := a.times(at)
	if a.start {
		at[vec.T][0] = complex(a.t, float64(tangentStep*times[solvers.InstantStart]))
	}
	if a.start || len(a.d) > 0 {
		a.begin(at, from)
	}
	for i := range at[vec.Y] {
		free := !a.start || slices.ContainsFunc(a.task.Free, func(o vec.Place) bool {
			return i >= o.Offset && i < o.Offset+o.Len
		})
		if x := &at[vec.Y][i]; free {
			*x = complex(real(*x), 0)
			push(x, 1e-3)
		}
	}
	if !a.start {
		for _, i := range a.wandering() {
			if x := &at[vec.D][i]; math.Abs(real(*x)) < 1e300 {
				push(x, 1e-3)
			}
		}
	}
	if len(a.d) > 0 {
		times, _ = a.times(at)
	}
	return at, times
}

// times returns how the times of instants move, and the start of the run.
func (a *around) times(at *vec.Of[complex128]) (list []float64, from complex128) {
	t := a.model.Compiled.Instants
	if t == nil {
		return make([]float64, 2), at[vec.T][0]
	}
	for _, z := range a.beside.Output(t, tapec.Times.Name(), at) {
		list = append(list, imag(z)/tangentStep)
	}
	a.worker.Repeat(list)
	return list, a.beside.Output(t, tapec.Times.Name(), at)[solvers.InstantStart]
}

// begin has discretes that no body sets, and at the start all discretes and states, move as they do where a run begins.
func (a *around) begin(at *vec.Of[complex128], from complex128) {
	start := a.model.Compiled.Start
	e := a.beside.Run(start, &vec.Of[complex128]{vec.T: {from}, vec.P: at[vec.P]})
	for _, out := range start.Outputs {
		n := tapec.MustName(out.Name)
		if !a.start && (n.Role != tapec.Discrete || a.model.Assigns(n.Of)) {
			continue
		}
		part := a.model.Layout.Part(n)
		for i, z := range e.Output(out.Name) {
			if k := part.Offset + i; part.Vec != vec.Y || !a.task.Point.Cut[k] {
				at[part.Vec][k] += complex(0, imag(z))
			}
		}
	}
}

// activeParams lists where params lie that derivatives are taken by, but for those that follow others.
func (w *Separator) activeParams() (list []vec.Place) {
	for _, s := range w.model.Checked.Params {
		if _, active := w.task.Plan.Columns[s.Name]; active && !w.task.Point.FollowsOthers(s) {
			list = append(list, w.model.Param(s.Name))
		}
	}
	return list
}

// slopes returns how much the margins of the causes change along a motion.
func (a *around) slopes(by *motion) (list []float64) {
	at, times := a.moved(by)
	c := a.model.Compiled
	var guards, clocks []complex128
	for _, x := range a.causes {
		var z complex128
		switch {
		case x.guard >= 0:
			if guards == nil {
				guards = a.beside.Output(c.Guards, tapec.Margins.Name(), at)
			}
			z = guards[x.guard]
		case x.clock >= 0:
			if clocks == nil {
				clocks = a.beside.Output(c.Clocks, tapec.ClockMargins.Name(), at)
			}
			z = clocks[x.clock]
		default:
			z = at[vec.T][0]
			if list = append(list, imag(z)/tangentStep-times[x.instant]); x.nth > 0 {
				if k := a.worker.Instants()[x.instant].Period; k >= 0 {
					list[len(list)-1] -= float64(float64(x.nth) * times[k])
				}
			}
			continue
		}
		list = append(list, imag(z)/tangentStep)
	}
	return list
}

// parts reports whether a motion takes any of the causes apart from the first one.
func (a *around) parts(by *motion) (some bool) {
	if a.most == nil {
		a.most = make([][2]float64, len(a.causes))
		a.parts(&motion{time: true})
	}
	now := a.slopes(by)
	for k := range now {
		u, v, x, z := now[0], now[k], a.most[k][0], a.most[k][1]
		off := math.Abs(float64(x*v) - float64(z*u))
		rounding := float64(1e-9*(math.Abs(float64(x*v))+math.Abs(float64(z*u)))) +
			float64(1e-12*(math.Abs(x)+math.Abs(u))*(math.Abs(z)+math.Abs(v)))
		some = some || off > rounding
		if math.Abs(u)+math.Abs(v) > math.Abs(x)+math.Abs(z) {
			a.most[k] = [2]float64{u, v}
		}
	}
	return some
}

// comeApart reports whether any motion takes the causes apart.
func (a *around) comeApart() bool {
	for way := range ways {
		if a.parts(&motion{way: way}) {
			return true
		}
	}
	return false
}

// Apart implements solvers.Separator.
func (w *Separator) Apart(t float64, y, d []float64, a, b solvers.Cause) bool {
	if w.task.Width() == 0 && len(w.task.Free) == 0 ||
		a.Guard >= 0 && b.Guard >= 0 && compiled.SameMargin(w.model, a.Guard, b.Guard) {
		return false
	}
	x := around{
		Separator: w, t: t, y: y, d: d, m: w.worker.Modes(), start: begins(a) || begins(b),
		causes: []cause{causeOf(a), causeOf(b)},
	}
	return x.comeApart()
}

// begins reports whether a cause is the start of the run.
func begins(c solvers.Cause) bool { return c.Guard < 0 && c.Instant == int(solvers.InstantStart) }

// ApartAt implements solvers.Separator. Whether what comes apart makes derivatives those of one side is for package
// contact, or for runs on both sides, to say.
func (w *Separator) ApartAt(j *solvers.Junction) (which [2]string, some bool) {
	a := &w.model.Atoms
	if a.Most+j.Bounds < 2 || w.task.Width() == 0 && len(w.task.Free) == 0 {
		return which, false
	}
	near := w.nearAtoms(j)
	first := slices.Index(near, true)
	if first < 0 {
		return which, false
	}
	count, second, key := j.Bounds, first, uint64(0)
	counted := map[int]bool{}
	for k, x := range near {
		if x && !counted[a.Of[k]] {
			counted[a.Of[k]] = true
			if count++; second == first {
				second = k
			}
			key = bits.RotateLeft64(key*0x9e3779b97f4a7c15+uint64(a.Of[k])+1, 23)
		}
	}
	if count < 2 || w.often(key) {
		return which, false
	}
	x := around{Separator: w, t: j.T, y: j.Y, d: j.D, start: j.Start, causes: w.causesAt(j)}
	for _, x.m = range j.M {
		x.most, some = nil, some || x.comeApart()
	}
	return [2]string{a.Name(w.model, first), a.Name(w.model, second)}, some
}

// often counts how often the same atoms have met in this run. Those of a run with periods meet again and again: they
// are looked at the first few times, and then each time that their number has doubled.
func (w *Separator) often(key uint64) bool {
	const few = 8
	if w.met == nil {
		w.met = map[uint64]int{}
	}
	w.met[key]++
	return w.met[key] > few && bits.OnesCount(uint(w.met[key])) > 1
}

// causesAt lists the causes that come at a junction: conditions, bounds, the start and the end.
func (w *Separator) causesAt(j *solvers.Junction) (list []cause) {
	a := &w.model.Atoms
	for k, near := range w.nearAtoms(j) {
		switch {
		case near && k < len(a.Guards):
			list = append(list, cause{a.Guards[k], -1, -1, 0})
		case near:
			list = append(list, cause{-1, a.Clocks[k-len(a.Guards)], -1, 0})
		}
	}
	for i, is := range [2]bool{j.Start, j.End} {
		if is {
			list = append(list, cause{-1, -1, i, 0})
		}
	}
	if j.Bounds > 0 {
		times := w.beside.Output(w.model.Compiled.Instants, tapec.Times.Name(), &vec.Of[complex128]{
			vec.T: {complex(j.T, 0)}, vec.P: still(w.task.Point.P), vec.D: still(j.D),
		})
		for i, in := range w.model.Compiled.InstantList {
			if in.Bound != tapec.NoBound && math.Abs(real(times[i])-j.T) <= j.Soon {
				list = append(list, cause{-1, -1, i, 0})
			}
		}
	}
	return list
}

// nearAtoms tells which atoms change at a junction, in the modes before it or in those behind it.
func (w *Separator) nearAtoms(j *solvers.Junction) []bool {
	near := make([]bool, len(w.model.Atoms.Of))
	k := make([]float64, w.task.Size().N+w.task.Size().Q)
	y := make([]float64, len(j.Y))
	var here, there []float64
	for _, modes := range j.M {
		w.worker.Enter(j.D, modes)
		w.worker.Eval(j.T, j.Y, k)
		for i, x := range j.Y {
			y[i] = x
			if !w.model.IsUnknown(i) {
				y[i] = math.FMA(j.Soon, k[i], x)
			}
		}
		here, there = w.marginsAt(j.T, j.Y, here[:0]), w.marginsAt(j.T+j.Soon, y, there[:0])
		for i := range near {
			x, d := here[i], math.Abs(there[i]-here[i])
			near[i] = near[i] || math.Abs(x) <= d && (d > 0 || j.Start)
		}
	}
	return near
}

// marginsAt appends the margins of the atoms, with the present discretes and modes.
func (w *Separator) marginsAt(t float64, y, to []float64) []float64 {
	a := &w.model.Atoms
	if len(a.Guards) > 0 {
		n := len(w.model.Compiled.GuardList)
		rho, truth := make([]float64, n), make([]bool, n)
		w.worker.GuardValues(t, y, rho, truth)
		for _, i := range a.Guards {
			to = append(to, rho[i])
		}
	}
	if len(a.Clocks) > 0 {
		margins := w.worker.ClockMargins(t)
		for _, i := range a.Clocks {
			to = append(to, margins[i])
		}
	}
	return to
}
