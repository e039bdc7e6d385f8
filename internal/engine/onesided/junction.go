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

// Where several conditions change at one time, the run is repeated in miniature about that time, with what derivatives
// are taken by moved to one side and to the other. In between the conditions may then hold in another combination. If
// what that changes is not the opposite on the other side, derivatives are those of one side.
//
// The miniature has the modes as they are chosen, the rates of the point itself, and the times at which conditions of
// events become true. It has no bodies.

// A junction of the same atoms comes again and again in a run with periods. It is looked at the first often times, and
// then each time that their number has doubled.
const often = 8

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
	if count < 2 {
		return which, false
	}
	if w.met == nil {
		w.met = map[uint64]int{}
	}
	if w.met[key]++; w.met[key] > often && bits.OnesCount(uint(w.met[key])) > 1 {
		return which, false
	}
	m := newMiniature(w, j, near)
	if m.someFolds() {
		return [2]string{a.Name(w.model, first), a.Name(w.model, second)}, true
	}
	return which, false
}

// mostAlone is how many params are moved alone to see whether derivatives are one-sided. More move together only.
const mostAlone = 32

// someFolds reports whether some motion makes derivatives one-sided. What moves alone is not lost beside what moves
// the conditions much further.
func (m *miniature) someFolds() bool {
	for way := range ways {
		if m.folds(&direction{way: way, params: true, states: true, param: -1, state: -1}) || m.moves(way) {
			return true
		}
	}
	n := 0
	for _, at := range m.activeParams() {
		if !m.readsParam(at.name) {
			continue
		}
		for i := at.Offset; i < at.Offset+at.Len && n < mostAlone; i++ {
			if n++; m.alone(i) {
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
func (m *miniature) activeParams() (list []named) {
	for _, s := range m.model.Checked.Params {
		if _, active := m.task.Plan.Columns[s.Name]; active && !m.task.Point.FollowsOthers(s) {
			list = append(list, named{s.Name, m.model.Param(s.Name)})
		}
	}
	return list
}

// moves reports whether a motion of states, or of discretes, makes derivatives one-sided.
func (m *miniature) moves(way int) bool {
	return m.folds(&direction{way: way, states: true, param: -1, state: -1})
}

// alone reports whether a motion of a param does.
func (m *miniature) alone(param int) bool { return m.folds(&direction{param: param, state: -1}) }

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

// miniature is the run about a junction.
type miniature struct {
	neighbour
	at             *solvers.Junction
	changing       []bool // [atoms]
	choose, guards *tape.Evaluator[float64]
	clocks         *tape.Evaluator[float64]
	kept           []float64
	reach          float64      // how long before and behind the junction it goes
	field          [2][]float64 // rates in the modes before and behind
	base, slopes   [2][]float64 // of the atoms in these modes
	begun, begunD  []float64    // states and discretes at the start without a motion
	wander         []int        // discretes that move
	instants       []float64    // their times
	known          []moded
}

// moded are the rates in some modes.
type moded struct{ modes, rates []float64 }

func newMiniature(w *Separator, j *solvers.Junction, changing []bool) *miniature {
	c := w.model.Compiled
	m := &miniature{
		neighbour: neighbour{Separator: w, t: j.T, y: j.Y, d: j.D}, at: j, changing: changing,
		reach: float64(0x1p-18 * j.Span), kept: make([]float64, w.model.Layout.NM), wander: w.wandering(),
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
func (m *miniature) ratesIn(modes []float64) []float64 {
	for _, k := range m.known {
		if slices.Equal(k.modes, modes) {
			return k.rates
		}
	}
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
	m.known = append(m.known, moded{slices.Clone(modes), k})
	return k
}

// along returns the states dt behind the present ones.
func (m *miniature) along(y, rates []float64, dt float64) []float64 {
	to := make([]float64, len(y))
	for i, x := range y {
		if to[i] = x; !m.model.IsUnknown(i) {
			to[i] = math.FMA(dt, rates[i], x)
		}
	}
	return to
}

// margins returns those of all atoms in the modes before (0) or behind (1) the junction, dt behind it.
func (m *miniature) margins(side int, dt float64) (list []float64) {
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

// move moves the point, and returns the times at which the miniature begins and ends. Each number moves by another part
// of its size. That of a state is how far its rates take it in the run.
func (m *miniature) move(dir *direction, size float64) (from, to float64) {
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
	from, to = -m.reach, m.reach
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

// holding is what the miniature knows at a time: the modes, and whether each event's condition holds.
type holding struct {
	modes []float64
	truth []bool
	way   []bool // of crossings: whether they count
}

func (h *holding) equal(o *holding) bool {
	return slices.Equal(h.modes, o.modes) && slices.Equal(h.truth, o.truth)
}

// holds returns what holds at a time and states.
func (m *miniature) holds(dt float64, y []float64) *holding {
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

// passage is what a miniature does.
type passage struct {
	sums  []float64   // integrals of the rates
	fires [][]float64 // of each condition of an event
}

// mostChanges is how many changes a miniature may have. It has more where the solution slides.
const mostChanges = 64

// run runs the miniature for a motion. roots are the times at which atoms are expected to change. It returns nil where
// there is no telling.
func (m *miniature) run(dir *direction, size float64, roots []float64) *passage {
	from, to := m.move(dir, size)
	times := []float64{from, to}
	for _, x := range roots {
		if x > from && x < to {
			times = append(times, x)
		}
	}
	const evenly = 8
	for i := 1; i < evenly; i++ {
		times = append(times, from+float64((to-from)*float64(i)/evenly))
	}
	slices.Sort(times)
	z := m.task.Size()
	c := &passage{sums: make([]float64, z.N+z.Q)}
	y := m.near
	if !m.at.Start {
		y = m.along(y, m.field[0], from)
	}
	now, h := from, m.holds(from, y)
	c.fires = make([][]float64, len(h.truth))
	changes := 0
	// advance goes on to a time in the present modes.
	advance := func(t float64) {
		k := m.ratesIn(h.modes)
		y = m.along(y, k, t-now)
		for i, x := range k {
			c.sums[i] = math.FMA(t-now, x, c.sums[i])
		}
		now = t
	}
	for n, next := range times {
		if n+1 < len(times) { // between two roots, not at them
			next = float64(0.5 * (next + times[n+1]))
		}
		if !(next > now) {
			continue
		}
		for {
			k := m.ratesIn(h.modes)
			lo, hi, then := now, next, m.holds(next, m.along(y, k, next-now))
			if then.equal(h) {
				break
			}
			if changes++; changes > mostChanges {
				return nil
			}
			for hi-lo > float64(0x1p-34*m.reach) {
				mid := float64(0.5 * (lo + hi))
				if !(mid > lo && mid < hi) {
					break
				}
				if x := m.holds(mid, m.along(y, k, mid-now)); x.equal(h) {
					lo = mid
				} else {
					hi, then = mid, x
				}
			}
			advance(hi)
			m.note(c, h, then, hi)
			h = then
		}
		advance(next)
	}
	return c
}

// note adds the events that happen between two times, at the later one.
func (m *miniature) note(c *passage, before, behind *holding, t float64) {
	n := 0
	for _, g := range m.model.Compiled.GuardList {
		if g.Event < 0 {
			continue
		}
		rises := behind.truth[n] && !before.truth[n]
		falls := !behind.truth[n] && before.truth[n]
		if g.Crossing {
			rises = before.way[n] && (rises && g.Way >= 0 || falls && g.Way <= 0)
		}
		if rises {
			c.fires[n] = append(c.fires[n], t)
		}
		n++
	}
}

// folds reports whether what the miniature does is not the opposite on the other side of a motion.
func (m *miniature) folds(dir *direction) bool {
	const first = 1e-7
	// How far atoms move in time.
	from, to := m.move(dir, first)
	shift := 0.0
	if m.at.Start {
		shift = math.Abs(from)
	}
	if m.at.End {
		shift = max(shift, math.Abs(to))
	}
	var moved []float64
	rests := false
	for side := range 2 {
		for i, x := range m.margins(side, 0) {
			slope := m.slopes[side][i]
			if !m.changing[i] {
				continue
			}
			by := x - m.base[side][i]
			if slope == 0 {
				rests = rests || by != 0
				continue
			}
			if by = -by / slope; math.Abs(by) < math.MaxFloat64 {
				moved = append(moved, by)
				shift = max(shift, math.Abs(by))
			}
		}
	}
	if m.at.Bounds > 0 {
		times := m.times()
		for i, in := range m.model.Compiled.InstantList {
			if in.Bound != tapec.NoBound && math.Abs(m.instants[i]-m.at.T) <= m.at.Soon {
				by := times[i] - m.instants[i]
				moved, shift = append(moved, by), max(shift, math.Abs(by))
			}
		}
	}
	if !(shift > 0) && !rests {
		return false
	}
	size := 1e-4
	if shift > 0 {
		size = min(first*float64(0.25*m.reach)/shift, size)
	}
	shift = shift / first * size
	if rests {
		shift = m.reach
	}
	// What moves atoms by rounding alone does not move them.
	now := max(math.Abs(m.at.T), m.at.Span)
	if shift <= float64(0x1p-28*m.reach)+float64(64*(math.Nextafter(now, math.Inf(1))-now)) {
		return false
	}
	roots := func(sign float64) []float64 {
		list := []float64{0}
		for _, x := range moved {
			list = append(list, float64(sign*x)/first*size)
		}
		return list
	}
	up, down, rest := m.run(dir, size, roots(1)), m.run(dir, -size, roots(-1)), m.run(dir, 0, roots(0))
	if up == nil || down == nil || rest == nil {
		return false
	}
	return m.fold(up, down, rest, shift)
}

// little is the part of how far atoms move that rounding, and what they are apart already, may make of a passage.
const little = 4e-3

// fold reports whether two passages, on both sides of a third, are not opposite.
func (m *miniature) fold(up, down, rest *passage, shift float64) bool {
	for i, x := range up.fires {
		z := down.fires[i]
		if len(x) != len(z) {
			return true
		}
		for k := range x {
			if math.Abs(x[k]+z[k]) > float64(little*shift) {
				return true
			}
		}
	}
	for i, x := range up.sums {
		low, high := math.Inf(1), math.Inf(-1)
		for _, k := range m.known {
			low, high = min(low, k.rates[i]), max(high, k.rates[i])
		}
		jump, size := high-low, max(math.Abs(low), math.Abs(high))
		if i < len(m.at.Y) {
			size = max(size, math.Abs(m.at.Y[i])/m.at.Span)
		}
		bend := math.Abs(x + down.sums[i] - float64(2*rest.sums[i]))
		if jump > float64(1e-9*size) && bend > float64(little*shift)*jump {
			return true
		}
	}
	return false
}

// movedBy reports whether element k of a variable, moved alone, makes derivatives one-sided. What a motion of the
// states does is not its business, but at the start.
func (m *miniature) movedBy(v compiled.Variable, k int) bool {
	if v.Initial {
		return m.at.Start && m.folds(&direction{param: -1, state: m.model.State(v.Name).Offset + k})
	}
	if !m.readsParam(v.Name) {
		return false
	}
	return m.alone(m.model.Param(v.Name).Offset + k)
}

// beginning is whether the condition of an event holds at the start, and very soon behind it.
type beginning struct {
	m          *miniature
	n          int // the number of the condition, of those of events
	rates      *tape.Evaluator[float64]
	here, soon bool
}

func (m *miniature) beginning(guard int) *beginning {
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
func (m *miniature) readsParam(name string) bool {
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
