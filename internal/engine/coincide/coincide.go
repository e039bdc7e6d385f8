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
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/contact"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/vec"
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

// Model shows the groups of runs of a problem. It belongs to one goroutine.
type Model struct {
	problem  *system.Problem
	compiled *tapec.Compiled
	checked  *model.Model
	instants []solvers.Instant
	nY, nD   int
	first    []int // [events] the number of the first element among all
	of       []int // [elements of events] the number of their event
	atoms    []int // guards, and behind them clocks from the number of guards on
	guards   []solvers.Guard
	span     float64
	events   []contact.Event
	conds    []contact.Condition
	moments  []contact.Instant
	moved    compiled.Beside[complex128]
	looked   compiled.Beside[float64]
	each     bool
	mayBegin bool    // a condition that holds at the start may make an event happen there
	seed     *uint64 // that draws the order of events of equal priority; nil where none is drawn
}

// New returns the Model of the runs of a problem, or says why it has none. w is a worker of it; each and seed (nil
// for none) are options of the solver.
func New(p *system.Problem, w *system.Worker, span float64, each bool, seed *uint64) (m *Model, why string) {
	c := p.Model.Compiled
	m = &Model{
		problem: p, compiled: c, checked: p.Model.Checked, instants: w.Instants(), guards: w.Guards(), span: span,
		nY: p.Model.States(), nD: p.Model.Discretes(), each: each, seed: seed,
		moved: compiled.NewBeside[complex128](p.Model), looked: compiled.NewBeside[float64](p.Model),
	}
	if p.Model.Algebraic() {
		return nil, "algebraic equations"
	}
	if len(m.checked.Lags) > 0 {
		return nil, "delays" // a motion comes back later, too
	}
	if why := m.listEvents(w.Events()); why != "" {
		return nil, why
	}
	m.listCauses()
	return m, ""
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
	rates  []float64
	margin []float64
	slope  []float64
	after  []float64
	moves  []float64
}

// z is laid out as states, discretes, functionals.
func (m *Model) width() int { return m.nY + m.nD + m.problem.Model.Layout.NF }

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

// at returns what tapes read at z, which moves by dz, with time moving by dt and params by way times their motion.
func (l *local) at(z, m, dz []float64, dt, way float64) *vec.Of[complex128] {
	var dy, dd []float64
	if dz != nil {
		dy, dd = dz[:l.nY], dz[l.nY:l.nY+l.nD]
	}
	return &vec.Of[complex128]{
		vec.T: {complex(l.t, float64(tiny*dt))}, vec.Y: moving(z[:l.nY], dy, 1),
		vec.D: moving(z[l.nY:l.nY+l.nD], dd, 1), vec.P: moving(l.p, l.pd, way), vec.M: moving(m, nil, 0),
	}
}

// Rates implements contact.Local.
func (l *local) Rates(z, m, k []float64) {
	clear(k)
	states := l.nY + l.nD
	l.looked.Rates(&vec.Values{vec.T: {l.t}, vec.Y: z[:l.nY], vec.D: z[l.nY:states], vec.P: l.p, vec.M: m}, l.rates)
	copy(k, l.rates[:l.nY])
	copy(k[states:], l.rates[l.nY:])
}

// Margins implements contact.Local.
func (l *local) Margins(z, m, dz []float64, dt, params float64) (margin, slope []float64) {
	in := l.at(z, m, dz, dt, params)
	guards := l.moved.Output(l.compiled.Guards, tapec.Margins.Name(), in)
	clocks := l.moved.Output(l.compiled.Clocks, tapec.ClockMargins.Name(), in)
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
	times := l.moved.Output(l.compiled.Instants, tapec.Times.Name(), l.at(z, nil, dz, 0, 1))
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
	times := l.moved.Output(l.compiled.Instants, tapec.Times.Name(), l.at(g.Z, nil, nil, 0, 1))
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
	in := vec.Values{
		vec.T: {l.t + float64(e*dt)}, vec.Y: move(z[:l.nY], x[:l.nY]), vec.D: moved, vec.P: move(l.p, l.pd),
		vec.M: before,
	}
	s.Holds, s.Passes = compiled.Look(&l.looked, &in)
	s.M = in[vec.M]
	return s
}

// put writes outputs of a tape to z, and their motions to x.
func (l *local) put(t *tape.Tape, e *tape.Evaluator[complex128], z, x []float64) {
	for _, out := range t.Outputs {
		at := l.problem.Model.Layout.Part(tapec.MustName(out.Name))
		to := at.Offset
		if at.Vec == vec.D {
			to += l.nY
		}
		for i, v := range e.Output(out.Name) {
			z[to+i], x[to+i] = real(v), imag(v)/tiny
		}
	}
}

// add adds what a tape reads to the functionals in z, and their motions to those in x, for the functionals that count.
func (l *local) add(t *tape.Tape, in *vec.Of[complex128], z, x []float64, counts func(f *tapec.Functional) bool) {
	if t == nil {
		return
	}
	e := l.moved.Run(t, in)
	for _, out := range t.Outputs {
		f := l.functional(tapec.MustName(out.Name))
		if !counts(f) {
			continue
		}
		to := l.nY + l.nD + f.Offset
		list := e.Output(out.Name)
		if f.ByRow && in[vec.Row] != nil { // a row has one slot
			row := in[vec.Row]
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
	in[vec.Fired] = fired
	if t := l.compiled.Affects[e]; t != nil {
		l.put(t, l.moved.Run(t, in), z, x)
	}
	if t := l.compiled.AtEvents[e]; t != nil {
		out := l.at(z, nil, x, dt, 1)
		out[vec.Ym], out[vec.Dm] = in[vec.Y], in[vec.D]
		out[vec.Fired] = make([]complex128, elem+1)
		out[vec.Fired][elem] = 1
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
	in[vec.Ym], in[vec.Dm] = left[vec.Y], left[vec.D]
	all := func(*tapec.Functional) bool { return true }
	if l.instants[instant].Kind == solvers.InstantEnd {
		l.add(l.compiled.Final, in, z, x, all)
		return
	}
	if row := l.problem.Model.Rows[instant]; row != nil {
		in[vec.Row] = moving(row, nil, 0)
	}
	l.add(l.compiled.AtTimes[l.compiled.InstantList[instant].Group], in, z, x, all)
}

var _ contact.Local = (*local)(nil)

// group returns the group of a meeting of a run.
func (m *Model) group(at *sens.Meeting) (*local, *contact.Group) {
	l := &local{Model: m, t: at.T, p: m.problem.Point.Values(nil)}
	l.p = l.p[:len(l.p)-m.nY]
	l.pd, l.rates = make([]float64, len(l.p)), make([]float64, m.nY+m.problem.Model.Layout.NQ)
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
