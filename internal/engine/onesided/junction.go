package onesided

import (
	"math"
	"math/bits"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Where several conditions change at one time, what derivatives are taken by may move one of them further than another.
// In between, the conditions then hold in another combination. Whether that makes derivatives those of one side is for
// package contact, or for runs on both sides, to say.

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

// OneSided implements solvers.Separator.
func (w *Separator) OneSided(j *solvers.Junction) (which [2]string, some bool) {
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
	if count < 2 || w.often(key) || !newVicinity(w, j, near).someParts() {
		return which, false
	}
	return [2]string{a.Name(w.model, first), a.Name(w.model, second)}, true
}

// mostAlone is how many params are moved alone to see whether conditions come apart. More move together only.
const mostAlone = 32

// someParts reports whether some motion takes conditions apart. What moves alone is not lost beside what moves the
// conditions much further.
func (m *vicinity) someParts() bool {
	for way := range ways {
		if m.parts(&direction{way: way, params: true, states: true, param: -1, state: -1}) || m.partsBy(way) {
			return true
		}
	}
	n := 0
	for _, at := range m.activeParams() {
		if !m.readsParam(at.name) {
			continue
		}
		for i := at.Offset; i < at.Offset+at.Len && n < mostAlone; i++ {
			if n++; m.parts(&direction{param: i, state: -1}) {
				return true
			}
		}
	}
	return false
}

// named is where a param lies.
type named struct {
	name string
	vec.Place
}

// activeParams lists the params that derivatives are taken by, but for those that follow others.
func (m *vicinity) activeParams() (list []named) {
	for _, s := range m.model.Checked.Params {
		if _, active := m.task.Plan.Columns[s.Name]; active && !m.task.Point.FollowsOthers(s) {
			list = append(list, named{s.Name, m.model.Param(s.Name)})
		}
	}
	return list
}

// partsBy reports whether a motion of states, or of discretes, takes conditions apart.
func (m *vicinity) partsBy(way int) bool {
	return m.parts(&direction{way: way, states: true, param: -1, state: -1})
}

// nearAtoms tells which atoms change at a junction, in the modes before it or in those behind it.
func (w *Separator) nearAtoms(j *solvers.Junction) []bool {
	a := &w.model.Atoms
	near := make([]bool, len(a.Of))
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

// direction is how what derivatives are taken by moves.
type direction struct {
	way    int
	params bool // all
	states bool // all, and discretes that move
	param  int  // the only one, or -1
	state  int  // whose initial value alone moves, or -1
}

// vicinity is what lies about a junction.
type vicinity struct {
	neighbour
	at             *solvers.Junction
	changing       []bool // [atoms]
	choose, guards *tape.Evaluator[float64]
	clocks         *tape.Evaluator[float64]
	kept           []float64
	field          [2][]float64 // rates in the modes before and behind
	base, slopes   [2][]float64 // of the atoms in these modes
	begun, begunD  []float64    // states and discretes at the start without a motion
	wander         []int        // discretes that move
	instants       []float64    // their times
}

func newVicinity(w *Separator, j *solvers.Junction, changing []bool) *vicinity {
	c := w.model.Compiled
	m := &vicinity{
		neighbour: neighbour{Separator: w, t: j.T, y: j.Y, d: j.D}, at: j, changing: changing,
		kept: make([]float64, w.model.Layout.NM), wander: w.wandering(),
	}
	for to, t := range map[**tape.Evaluator[float64]]*tape.Tape{
		&m.choose: c.Choose, &m.guards: c.Guards, &m.clocks: c.Clocks,
	} {
		if t != nil {
			*to = tape.NewEvaluator[float64](t)
		}
	}
	for i := range m.kept {
		m.kept[i] = math.Inf(1)
	}
	m.p, m.near = slices.Clone(w.task.Point.P), slices.Clone(j.Y)
	m.instants = m.times()
	if j.Start {
		m.start(j.T)
		m.begun, m.begunD = slices.Clone(m.near), m.d
		m.near, m.d = slices.Clone(j.Y), j.D
	}
	for k, modes := range j.M {
		m.field[k] = m.ratesIn(modes)
		m.base[k], m.slopes[k] = m.margins(k, 0), m.margins(k, j.Soon)
		for i, x := range m.base[k] {
			m.slopes[k][i] = (m.slopes[k][i] - x) / j.Soon
		}
	}
	return m
}

// wandering lists the discretes that move with what derivatives are taken by.
func (w *Separator) wandering() (list []int) {
	for _, s := range w.model.Checked.Discretes {
		moves := w.setMoving(s, nil) || w.beginsMoving(s)
		at := w.model.Layout.Part(tapec.Discrete.Called(s.Name))
		for i := at.Offset; moves && i < at.Offset+at.Len; i++ {
			list = append(list, i)
		}
	}
	return list
}

// ratesIn returns the rates of the point in some modes. An integral has none outside of its bounds.
func (m *vicinity) ratesIn(modes []float64) []float64 {
	z := m.task.Size()
	k := make([]float64, z.N+z.Q)
	m.worker.Enter(m.at.D, modes)
	m.worker.Eval(m.at.T, m.at.Y, k)
	for i := range m.model.Compiled.Functionals {
		f := &m.model.Compiled.Functionals[i]
		for e, window := range f.Window {
			k[z.N+f.Offset+e] *= modes[window]
		}
	}
	return k
}

// along returns the states dt behind the present ones.
func (m *vicinity) along(y, rates []float64, dt float64) []float64 {
	to := make([]float64, len(y))
	for i, x := range y {
		if to[i] = x; !m.model.IsUnknown(i) {
			to[i] = math.FMA(dt, rates[i], x)
		}
	}
	return to
}

// margins returns those of all atoms in the modes before (0) or behind (1) the junction, dt behind it.
func (m *vicinity) margins(side int, dt float64) (list []float64) {
	at := vec.Values{
		vec.T: {m.at.T + dt}, vec.Y: m.along(m.near, m.field[side], dt), vec.P: m.p, vec.D: m.d, vec.M: m.at.M[side],
	}
	a, c := &m.model.Atoms, m.model.Compiled
	read := func(t *tape.Tape, e *tape.Evaluator[float64], out tapec.Name, of []int) {
		if len(of) == 0 {
			return
		}
		m.model.Load(t, e, &at)
		e.Run()
		x := e.Output(out.String())
		for _, i := range of {
			list = append(list, x[i])
		}
	}
	read(c.Guards, m.guards, tapec.Margins.Name(), a.Guards)
	read(c.Clocks, m.clocks, tapec.ClockMargins.Name(), a.Clocks)
	return list
}

// move moves the point, and returns by how much the times of the start and the end of the run move. Each number
// moves by another part of its size. That of a state is how far its rates take it in the run.
func (m *vicinity) move(dir *direction, size float64) (from, to float64) {
	pt, j, n := m.task.Point, m.at, 0
	part := func(size float64) float64 {
		n++
		return float64(size * fraction(n, dir.way))
	}
	m.p = append(m.p[:0], pt.P...)
	if dir.params {
		for _, at := range m.activeParams() {
			for i := at.Offset; i < at.Offset+at.Len; i++ {
				m.p[i] += float64(part(size) * max(math.Abs(m.p[i]), 1e-2))
			}
		}
	} else if dir.param >= 0 {
		m.p[dir.param] += float64(size * max(math.Abs(m.p[dir.param]), 1e-2))
	}
	compiled.Follow(pt, m.p, func(i int, x float64) { m.p[i] = x })
	moved := slices.Clone(j.Y)
	for i, x := range moved {
		far := float64(max(math.Abs(m.field[0][i]), math.Abs(m.field[1][i])) * j.Span)
		if !(far > 0) || m.model.IsUnknown(i) {
			far = max(math.Abs(x), 1e-3)
		}
		moved[i] = x + float64(part(size)*far)
	}
	if copy(m.near, j.Y); dir.states {
		copy(m.near, moved)
	}
	m.d = j.D
	switch {
	case j.Start:
		from = m.times()[0] - j.T
		m.start(j.T + from)
		for i, x := range m.near {
			m.near[i] = j.Y[i] + (x - m.begun[i])
		}
		for i, x := range m.d {
			m.d[i] = j.D[i] + (x - m.begunD[i])
		}
		for _, o := range m.task.Free {
			for i := o.Offset; i < o.Offset+o.Len; i++ {
				if dir.states || i == dir.state {
					m.near[i] = moved[i]
				}
			}
		}
	case dir.states:
		m.d = slices.Clone(m.d)
		for n, i := range m.wander {
			if x := math.Abs(m.d[i]); x < 1e300 {
				m.d[i] += float64(size*fraction(n+3, (dir.way+1)%len(ways))) * max(x, 1e-3)
			}
		}
	}
	if j.End {
		to = m.times()[1] - j.T
	}
	return from, to
}

// holding is what the vicinity knows at a time: the modes, and whether each event's condition holds.
type holding struct {
	modes []float64
	truth []bool
	way   []bool // of crossings: whether they count
}

// holds returns what holds at a time and states.
func (m *vicinity) holds(dt float64, y []float64) *holding {
	c := m.model.Compiled
	at := vec.Values{
		vec.T: {m.at.T + dt}, vec.Y: y, vec.P: m.p, vec.D: m.d, vec.M: slices.Clone(m.at.M[0]), vec.Kept: m.kept,
	}
	h := &holding{}
	if m.choose != nil {
		m.model.Load(c.Choose, m.choose, &at)
		m.choose.Run()
		for _, o := range c.Choose.Outputs {
			copy(at[vec.M][m.model.Layout.Part(tapec.MustName(o.Name)).Offset:], m.choose.Output(o.Name))
		}
	}
	h.modes = at[vec.M]
	if m.guards == nil {
		return h
	}
	m.model.Load(c.Guards, m.guards, &at)
	m.guards.Run()
	rho, truth := m.guards.Output(tapec.Margins.Name().String()), m.guards.Output(tapec.Truths.Name().String())
	for i, g := range c.GuardList {
		switch {
		case g.Event < 0:
		case g.Crossing:
			h.truth, h.way = append(h.truth, rho[i] > 0), append(h.way, truth[i] != 0)
		default:
			h.truth, h.way = append(h.truth, truth[i] != 0), append(h.way, true)
		}
	}
	return h
}

// little is the part of how far conditions move that rounding may make of where they are.
const little = 1e-6

// parts reports whether a motion takes conditions that change apart, or off a threshold at which one rests: whether it
// shifts the times at which they change, those of bounds, of the start and of the end, by different amounts.
func (m *vicinity) parts(dir *direction) bool {
	const size = 1e-7
	from, to := m.move(dir, size)
	low, high := math.Inf(1), math.Inf(-1)
	shift := func(by float64) {
		if math.Abs(by) < math.MaxFloat64 {
			low, high = min(low, by), max(high, by)
		}
	}
	if m.at.Start {
		shift(from)
	}
	if m.at.End {
		shift(to)
	}
	for side := range 2 {
		for i, x := range m.margins(side, 0) {
			by, slope := x-m.base[side][i], m.slopes[side][i]
			switch {
			case !m.changing[i]:
			case slope != 0:
				shift(-by / slope)
			case by != 0:
				return true
			}
		}
	}
	if m.at.Bounds > 0 {
		times := m.times()
		for i, in := range m.model.Compiled.InstantList {
			if in.Bound != tapec.NoBound && math.Abs(m.instants[i]-m.at.T) <= m.at.Soon {
				shift(times[i] - m.instants[i])
			}
		}
	}
	// What moves conditions by rounding alone does not move them.
	now := max(math.Abs(m.at.T), m.at.Span)
	far := max(math.Abs(low), math.Abs(high))
	return high-low > float64(little*far)+float64(64*(math.Nextafter(now, math.Inf(1))-now))
}

// movedBy reports whether element k of a variable, moved alone, takes conditions apart. What a motion of the states
// does is not its business, but at the start.
func (m *vicinity) movedBy(v compiled.Variable, k int) bool {
	if v.Initial {
		return m.at.Start && m.parts(&direction{param: -1, state: m.model.State(v.Name).Offset + k})
	}
	if !m.readsParam(v.Name) {
		return false
	}
	return m.parts(&direction{param: m.model.Param(v.Name).Offset + k, state: -1})
}

// beginning is whether the condition of an event holds at the start, and very soon behind it.
type beginning struct {
	m          *vicinity
	n          int // the number of the condition, of those of events
	rates      *tape.Evaluator[float64]
	here, soon bool
}

func (m *vicinity) beginning(guard int) *beginning {
	b := &beginning{m: m, rates: tape.NewEvaluator[float64](m.model.Compiled.Rates)}
	for _, g := range m.model.Compiled.GuardList[:guard] {
		if g.Event >= 0 {
			b.n++
		}
	}
	b.here, b.soon = b.holds(&direction{param: -1, state: -1}, 0)
	return b
}

func (b *beginning) holds(dir *direction, size float64) (here, soon bool) {
	m := b.m
	eps := float64(1e-7 * m.at.Span)
	from, _ := m.move(dir, size)
	h := m.holds(from, m.near)
	at := vec.Values{vec.T: {m.at.T + from}, vec.Y: m.near, vec.P: m.p, vec.D: m.d, vec.M: h.modes}
	m.model.Load(m.model.Compiled.Rates, b.rates, &at)
	b.rates.Run()
	rates := make([]float64, m.task.Size().N)
	for _, out := range b.rates.Tape().Outputs {
		if i := m.model.Layout.Part(tapec.MustName(out.Name)).Offset; i < len(rates) {
			copy(rates[i:], b.rates.Output(out.Name))
		}
	}
	return h.truth[b.n], m.holds(from+eps, m.along(m.near, rates, eps)).truth[b.n]
}

// otherwise reports whether that is another where element k of a variable is moved a little. What moves the condition
// by its square does so as well as any. Where it leaves its threshold for the side on which it waits, it must come to
// hold soon: later, it is an event that has a time.
func (b *beginning) otherwise(v compiled.Variable, k int) bool {
	dir := direction{param: -1, state: -1}
	if v.Initial {
		dir.state = b.m.model.State(v.Name).Offset + k
	} else {
		dir.param = b.m.model.Param(v.Name).Offset + k
	}
	const far = 1e-3
	for _, size := range []float64{far, -far} {
		if here, soon := b.holds(&dir, size); here != b.here || soon && !b.soon {
			return true
		}
	}
	return false
}

// readsParam reports whether a param, or what follows it, is read by conditions, times or initial values.
func (m *vicinity) readsParam(name string) bool {
	c := m.model.Compiled
	reads := func(t *tape.Tape) bool {
		return t != nil && slices.ContainsFunc(t.Inputs, func(in tape.Input) bool {
			n := tapec.MustName(in.Name)
			return n.Role == tapec.Param && n.Of == name
		})
	}
	return slices.ContainsFunc([]*tape.Tape{c.Choose, c.Guards, c.Clocks, c.Start, c.Instants}, reads) ||
		slices.ContainsFunc(c.Defaults, func(d tapec.Default) bool { return reads(d.Tape) })
}
