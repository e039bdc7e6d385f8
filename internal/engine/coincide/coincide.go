// Package coincide shows package contact the groups of causes that a run of a model met: it is the Local of a compiled
// model.
//
// All numbers come from the tapes as the compiler made them, evaluated in complex arithmetic: an imaginary part is a
// motion. All decisions come from the same tapes in real arithmetic, at a point a little way along the motion. So there
// is no second meaning of any construct of the language here. It is slow, and used where causes meet only.
package coincide

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/contact"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// tiny is the step of derivatives by complex numbers.
const tiny = 0x1p-100

// Near is the part of the span of the run within which causes count as coincident, where roots are as exact as the
// arithmetic; reach is how far is looked about them.
const (
	Near  = 1e-9
	reach = 1e-5
)

// vector is one of the vectors that tapes read.
type vector uint8

const (
	vecT vector = iota
	vecY
	vecYm
	vecP
	vecD
	vecDm
	vecM
	vecKept
	vecFired
	vecRow
	numVectors
)

// place is where something lies in a vector.
type place struct {
	vec vector
	at  int
}

// Model shows the groups of runs of a problem. It belongs to one goroutine.
type Model struct {
	problem   *system.Problem
	compiled  *tapec.Compiled
	checked   *model.Model
	instants  []solvers.Instant
	places    map[tapec.Name]place
	nY, nD    int
	nM        int
	first     []int // [events] the number of the first element among all
	of        []int // [elements of events] the number of their event
	atoms     []int // guards, and behind them clocks from the number of guards on
	guards    []solvers.Guard
	span      float64
	events    []contact.Event
	conds     []contact.Condition
	condAt    []int // the guards of the conditions
	moments   []contact.Instant
	evaluated map[*tape.Tape]*tape.Evaluator[complex128]
	looked    map[*tape.Tape]*tape.Evaluator[float64]
	rows      [][]float64 // per instant: the row of data that is read there
	each      bool
	mayBegin  bool    // a condition that holds at the start may make an event happen there
	seed      *uint64 // that draws the order of events of equal priority; nil where none is drawn
}

// New returns the Model of the runs of a problem, or says why it has none. w is a worker of it; each and seed (nil
// for none) are options of the solver.
func New(p *system.Problem, w *system.Worker, span float64, each bool, seed *uint64) (m *Model, why string) {
	c := p.Model.Compiled
	m = &Model{
		problem: p, compiled: c, checked: p.Model.Checked, instants: w.Instants(), guards: w.Guards(), span: span,
		nY: p.Model.States(), nD: p.Model.Discretes(), each: each, seed: seed,
		evaluated: map[*tape.Tape]*tape.Evaluator[complex128]{}, looked: map[*tape.Tape]*tape.Evaluator[float64]{},
	}
	if p.Model.Algebraic() {
		return nil, "algebraic equations"
	}
	if len(m.checked.Lags) > 0 {
		return nil, "delays" // a motion comes back later, too
	}
	m.lay()
	if why := m.listEvents(w.Events()); why != "" {
		return nil, why
	}
	m.listCauses()
	return m, ""
}

// lay finds where all lies that tapes read.
func (m *Model) lay() {
	m.places = map[tapec.Name]place{
		tapec.Time.Name(): {vecT, 0}, tapec.Fired.Name(): {vecFired, 0}, tapec.DataRow.Name(): {vecRow, 0},
	}
	for _, s := range slices.Concat(m.checked.Params, m.checked.Totals) {
		m.places[tapec.Param.Called(s.Name)] = place{vecP, m.problem.Model.Param(s.Name).Offset}
	}
	for _, s := range m.checked.States {
		at := m.problem.Model.State(s.Name).Offset
		m.places[tapec.State.Called(s.Name)] = place{vecY, at}
		m.places[tapec.LeftState.Called(s.Name)] = place{vecYm, at}
		m.places[tapec.Rate.Called(s.Name)] = place{vecY, at}
	}
	at := 0
	for _, s := range m.checked.Discretes {
		m.places[tapec.Discrete.Called(s.Name)] = place{vecD, at}
		m.places[tapec.LeftDiscrete.Called(s.Name)] = place{vecDm, at}
		at += s.Type.Shape.Size()
	}
	for i, x := range m.compiled.Modes {
		m.places[tapec.HeldMode.Number(i)] = place{vecM, x.Offset}
		m.places[tapec.KeptMode.Number(i)] = place{vecKept, x.Offset}
		m.nM = max(m.nM, x.Offset+x.Shape.Size())
	}
	m.rows = make([][]float64, len(m.compiled.InstantList))
	for i, in := range m.compiled.InstantList {
		if in.Kind != tapec.Site || in.Row < 0 || m.compiled.AtTimes[in.Group] == nil {
			continue
		}
		for _, out := range m.compiled.AtTimes[in.Group].Outputs {
			if t := m.functional(tapec.MustName(out.Name)).Table; t != nil {
				m.rows[i] = rowOf(t, in.Row)
			}
		}
	}
}

// rowOf returns a row of a table.
func rowOf(t *model.Table, row int) (list []float64) {
	for _, column := range t.Data {
		list = append(list, column[row])
	}
	return list
}

// functional returns the functional of a name.
func (m *Model) functional(n tapec.Name) *tapec.Functional {
	return &m.compiled.Functionals[n.Number()]
}

// listEvents lists the elements of events, or says what is not followed.
func (m *Model) listEvents(list []solvers.Event) (why string) {
	for i, e := range list {
		x := m.checked.Events[i]
		switch {
		case e.Settles || e.After:
			return "states after a long time"
		case e.Transient:
			return "events that are given up"
		case e.Varies:
			return "priorities that vary"
		}
		m.mayBegin = m.mayBegin || x.Start
		m.first = append(m.first, len(m.events))
		for k := range e.Elems {
			m.of = append(m.of, i)
			m.events = append(m.events, contact.Event{Name: e.ElemName(k), Priority: x.Priority, Once: x.Once})
		}
	}
	return ""
}

// listCauses lists conditions, atoms and instants.
func (m *Model) listCauses() {
	for i, g := range m.compiled.GuardList {
		if g.Event >= 0 {
			m.conds = append(m.conds, contact.Condition{
				Event: m.first[g.Event] + g.Elem, Crossing: g.Crossing, Way: g.Way,
			})
			m.condAt = append(m.condAt, i)
		}
		if !g.Kink && !g.Compound {
			m.atoms = append(m.atoms, i)
		}
	}
	for i, x := range m.compiled.ClockList {
		if !x.Kink {
			m.atoms = append(m.atoms, len(m.compiled.GuardList)+i)
		}
	}
	kinds := map[solvers.InstantKind]contact.Kind{
		solvers.InstantEnd: contact.Ends, solvers.InstantFire: contact.Fires, solvers.InstantEvery: contact.Fires,
		solvers.InstantSite: contact.Reads, solvers.InstantRemode: contact.Rechoose,
	}
	for _, in := range m.instants {
		x := contact.Instant{Kind: kinds[in.Kind], Event: -1}
		if x.Kind == contact.Fires && in.Event >= 0 && in.Kind != solvers.InstantStart &&
			in.Kind != solvers.InstantValue {
			x.Event = m.first[in.Event] + in.Elem
			x.Name = m.events[x.Event].Name
		}
		m.moments = append(m.moments, x)
	}
}

// local is a Model about one point, and one motion of its params.
type local struct {
	*Model
	t      float64
	p, pd  []float64
	margin []float64
	slope  []float64
	after  []float64
	moves  []float64
}

// z is laid out as states, discretes, functionals.
func (m *Model) width() int {
	f := 0
	for i := range m.compiled.Functionals {
		f = max(f, m.compiled.Functionals[i].Offset+m.compiled.Functionals[i].Shape.Size())
	}
	return m.nY + m.nD + f
}

// moving is x with a motion d by way.
func moving(x, d []float64, way float64) []complex128 {
	out := make([]complex128, len(x))
	for i, v := range x {
		if out[i] = complex(v, 0); d != nil && way != 0 {
			out[i] = complex(v, float64(tiny*float64(way*d[i])))
		}
	}
	return out
}

// load binds the inputs of a tape.
func load[T tape.Number](m *Model, t *tape.Tape, known map[*tape.Tape]*tape.Evaluator[T], in *[numVectors][]T,
) *tape.Evaluator[T] {
	e := known[t]
	if e == nil {
		e = tape.NewEvaluator[T](t)
		known[t] = e
	}
	for i := range t.Inputs {
		to := e.Value(tape.Value(i))
		clear(to)
		if at, ok := m.places[tapec.MustName(t.Inputs[i].Name)]; ok && at.at <= len(in[at.vec]) {
			copy(to, in[at.vec][at.at:])
		}
	}
	e.Run()
	return e
}

// at returns what tapes read at z, which moves by dz, with time moving by dt and params by way times their motion.
func (l *local) at(z, m, dz []float64, dt, way float64) *[numVectors][]complex128 {
	var dy, dd []float64
	if dz != nil {
		dy, dd = dz[:l.nY], dz[l.nY:l.nY+l.nD]
	}
	return &[numVectors][]complex128{
		vecT: {complex(l.t, float64(tiny*dt))}, vecY: moving(z[:l.nY], dy, 1),
		vecD: moving(z[l.nY:l.nY+l.nD], dd, 1), vecP: moving(l.p, l.pd, way), vecM: moving(m, nil, 0),
	}
}

// Rates implements contact.Local.
func (l *local) Rates(z, m, k []float64) {
	clear(k)
	in := [numVectors][]float64{vecT: {l.t}, vecY: z[:l.nY], vecD: z[l.nY : l.nY+l.nD], vecP: l.p, vecM: m}
	t := l.compiled.Rates
	e := load(l.Model, t, l.looked, &in)
	for _, out := range t.Outputs {
		n, x := tapec.MustName(out.Name), e.Output(out.Name)
		if n.Role != tapec.Integrand {
			copy(k[l.places[n].at:], x)
			continue
		}
		f := l.functional(n)
		to := k[l.nY+l.nD+f.Offset:]
		copy(to, x)
		for i, window := range f.Window {
			to[i] *= m[window]
		}
	}
}

// Margins implements contact.Local.
func (l *local) Margins(z, m, dz []float64, dt, params float64) (margin, slope []float64) {
	in := l.at(z, m, dz, dt, params)
	var guards, clocks []complex128
	if t := l.compiled.Guards; t != nil {
		guards = load(l.Model, t, l.evaluated, in).Output(tapec.Margins.Name().String())
	}
	if t := l.compiled.Clocks; t != nil {
		clocks = load(l.Model, t, l.evaluated, in).Output(tapec.ClockMargins.Name().String())
	}
	l.margin, l.slope = l.margin[:0], l.slope[:0]
	for _, i := range l.atoms {
		x := complex128(0)
		if n := len(l.compiled.GuardList); i < n {
			x = guards[i]
		} else {
			x = clocks[i-n]
		}
		l.margin, l.slope = append(l.margin, real(x)), append(l.slope, imag(x)/tiny)
	}
	return l.margin, l.slope
}

// Times implements contact.Local.
func (l *local) Times(z, dz []float64) (after, slope []float64) {
	times := load(l.Model, l.compiled.Instants, l.evaluated, l.at(z, nil, dz, 0, 1)).
		Output(tapec.Times.Name().String())
	l.after, l.moves = l.after[:0], l.moves[:0]
	for i := range l.instants {
		in := &l.instants[i]
		x := times[i]
		switch in.Kind {
		case solvers.InstantStart, solvers.InstantValue:
			x = complex(math.Inf(1), 0)
		case solvers.InstantEvery:
			x = l.occurrence(in, x, times)
		}
		a := real(x) - l.t
		if !(math.Abs(a) < 1e300) {
			a = math.NaN()
		}
		l.after, l.moves = append(l.after, a), append(l.moves, imag(x)/tiny)
	}
	return l.after, l.moves
}

// occurrence returns the time of the occurrence of a periodic event that comes about the point, +Inf if there is none.
func (l *local) occurrence(in *solvers.Instant, first complex128, times []complex128) complex128 {
	none := complex(math.Inf(1), 0)
	if in.Period < 0 {
		return first
	}
	period := times[in.Period]
	k := math.Round((l.t - real(first)) / real(period))
	x := first + complex(k, 0)*period
	if !(k >= 0) || in.To >= 0 && l.past(x, times[in.To]) || in.Count >= 0 && k >= real(times[in.Count]) {
		return none
	}
	return x
}

// past reports whether a time lies behind the last one that it may be: where they are one, whether it moves there.
func (l *local) past(x, last complex128) bool {
	d := x - last
	if math.Abs(real(d)) > float64(Near*l.span) {
		return real(d) > 0
	}
	return imag(d) > float64(1e-9*math.Abs(imag(x)))
}

// last counts periodic events that come at their last time here: moved, they may come no more.
func (l *local) last(g *contact.Group) (n int) {
	after, _ := l.Times(g.Z, nil)
	times := load(l.Model, l.compiled.Instants, l.evaluated, l.at(g.Z, nil, nil, 0, 1)).
		Output(tapec.Times.Name().String())
	for i := range l.instants {
		in := &l.instants[i]
		if in.Kind == solvers.InstantEvery && in.To >= 0 && math.Abs(after[i]) <= g.Near &&
			math.Abs(real(times[in.To])-l.t) <= 2*g.Near {
			n++
		}
	}
	return n
}

// Look implements contact.Local.
func (l *local) Look(z, before, x []float64, dt, e float64) (s contact.Sight) {
	move := func(a, d []float64) []float64 {
		out := make([]float64, len(a))
		for i, v := range a {
			out[i] = v + float64(e*d[i])
		}
		return out
	}
	d := z[l.nY : l.nY+l.nD]
	moved := make([]float64, len(d))
	for i, v := range d {
		if moved[i] = v; math.Abs(v) < 1e300 {
			moved[i] += float64(e * x[l.nY+i])
		}
	}
	in := [numVectors][]float64{
		vecT: {l.t + float64(e*dt)}, vecY: move(z[:l.nY], x[:l.nY]), vecD: moved, vecP: move(l.p, l.pd),
		vecM: slices.Clone(before), vecKept: make([]float64, l.nM),
	}
	for i := range in[vecKept] {
		in[vecKept][i] = math.Inf(1)
	}
	if t := l.compiled.Choose; t != nil {
		eval := load(l.Model, t, l.looked, &in)
		for _, out := range t.Outputs {
			copy(in[vecM][l.places[tapec.MustName(out.Name)].at:], eval.Output(out.Name))
		}
	}
	s.M = in[vecM]
	if t := l.compiled.Guards; t != nil && len(l.conds) > 0 {
		eval := load(l.Model, t, l.looked, &in)
		rho, truth := eval.Output(tapec.Margins.Name().String()), eval.Output(tapec.Truths.Name().String())
		for k, i := range l.condAt {
			holds, passes := truth[i] != 0, true
			if l.conds[k].Crossing {
				holds, passes = rho[i] > 0, truth[i] != 0
			}
			s.Holds, s.Passes = append(s.Holds, holds), append(s.Passes, passes)
		}
	}
	return s
}

// put writes outputs of a tape to z, and their motions to x.
func (l *local) put(t *tape.Tape, e *tape.Evaluator[complex128], z, x []float64) {
	for _, out := range t.Outputs {
		at := l.places[tapec.MustName(out.Name)]
		to := at.at
		if at.vec == vecD {
			to += l.nY
		}
		for i, v := range e.Output(out.Name) {
			z[to+i], x[to+i] = real(v), imag(v)/tiny
		}
	}
}

// add adds what a tape reads to the functionals in z, and their motions to those in x, for the functionals that count.
func (l *local) add(t *tape.Tape, in *[numVectors][]complex128, z, x []float64, counts func(f *tapec.Functional) bool) {
	if t == nil {
		return
	}
	e := load(l.Model, t, l.evaluated, in)
	for _, out := range t.Outputs {
		f := l.functional(tapec.MustName(out.Name))
		if !counts(f) {
			continue
		}
		to := l.nY + l.nD + f.Offset
		list := e.Output(out.Name)
		if f.ByRow && in[vecRow] != nil { // a row has one slot
			row := in[vecRow]
			to += int(real(row[len(row)-1])) - 1
			if len(list) > 1 {
				list = list[int(real(row[len(row)-1]))-1:][:1]
			}
		}
		for i, v := range list {
			z[to+i] += real(v)
			x[to+i] += imag(v) / tiny
		}
	}
}

// Fire implements contact.Local.
func (l *local) Fire(event, nth, instant int, z, x []float64, dt float64) (stop bool) {
	e := l.of[event]
	elem := event - l.first[e]
	ev := l.checked.Events[e]
	in := l.at(z, nil, x, dt, 1)
	at, n := elem, 1
	if ev.Slot != nil {
		n = ev.Slot.Count
		at = elem*n + l.slot(e, elem, instant, z, x)
	}
	fired := make([]complex128, at+1)
	fired[at] = 1
	in[vecFired] = fired
	if t := l.compiled.Affects[e]; t != nil {
		l.put(t, load(l.Model, t, l.evaluated, in), z, x)
	}
	if t := l.compiled.AtEvents[e]; t != nil {
		out := l.at(z, nil, x, dt, 1)
		out[vecYm], out[vecDm] = in[vecY], in[vecD]
		out[vecFired] = make([]complex128, elem+1)
		out[vecFired][elem] = 1
		l.add(t, out, z, x, func(f *tapec.Functional) bool { return f.Nth == 0 || f.Nth == nth+1 })
	}
	return ev.Stop
}

// slot returns which slot of pending executions an event is of: that of the instant, or the first one that is free.
func (l *local) slot(e, elem, instant int, z, x []float64) int {
	if instant >= 0 && l.instants[instant].Pending {
		return l.instants[instant].Slot
	}
	ev := l.checked.Events[e]
	then := slices.Index(l.checked.Events, ev.Execution)
	l.Times(z, x)
	for i := range l.instants {
		in := &l.instants[i]
		if in.Pending && in.Event == then && in.Elem == elem && l.after[i] != l.after[i] {
			return in.Slot
		}
	}
	return 0
}

// Read implements contact.Local.
func (l *local) Read(instant int, zm, xm, z, x []float64, dt float64) {
	in := l.at(z, nil, x, dt, 1)
	left := l.at(zm, nil, xm, dt, 1)
	in[vecYm], in[vecDm] = left[vecY], left[vecD]
	all := func(*tapec.Functional) bool { return true }
	if l.instants[instant].Kind == solvers.InstantEnd {
		l.add(l.compiled.Final, in, z, x, all)
		return
	}
	if l.rows[instant] != nil {
		in[vecRow] = moving(l.rows[instant], nil, 0)
	}
	l.add(l.compiled.AtTimes[l.compiled.InstantList[instant].Group], in, z, x, all)
}

var _ contact.Local = (*local)(nil)

// group returns the group of a meeting of a run.
func (m *Model) group(at *sens.Meeting) (*local, *contact.Group) {
	l := &local{Model: m, t: at.T, p: m.problem.Point.Values(nil)}
	l.p = l.p[:len(l.p)-m.nY]
	l.pd = make([]float64, len(l.p))
	z := make([]float64, m.width())
	copy(z, at.Y)
	copy(z[m.nY:], at.D)
	happened := make([]int, len(m.events))
	for _, f := range at.Fired {
		happened[m.first[f.Event]+f.Elem]++
	}
	g := &contact.Group{
		Local: l, Events: m.events, Conditions: m.conds, Instants: m.moments, Z: z, M: at.M, Happened: happened,
		Near: float64(Near * m.span), Reach: float64(reach * m.span), Each: m.each,
	}
	if m.seed != nil {
		g.Lot = func(event, nth, instant, already int) uint64 {
			slot := 0
			if instant >= 0 {
				slot = m.instants[instant].Slot
			}
			return elem.Lot(*m.seed, event, nth, slot, already)
		}
	}
	return l, g
}
