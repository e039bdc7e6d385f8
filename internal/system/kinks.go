package system

import (
	"math"
	"slices"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// Kinks finds operations that a run evaluates exactly where they have no derivative: abs, hypot and roots at 0, ties of
// min and max, and jumps in what is computed of params alone. It belongs to one goroutine.
type Kinks struct {
	problem *Problem
	model   *Model
	point   *Point
	active  map[string]bool // the params that derivatives are by; others do not move
	tapes   map[*tape.Tape]*kinkTape
	once    []outlet // what is computed from params before the run
	// guards and bodies, by events, evaluate thresholds and what sets states to them; guards is nil without conditions
	// on states.
	guards   *tape.Evaluator[float64]
	bodies   map[int]*tape.Evaluator[float64]
	rates    *tape.Evaluator[float64]
	size     []float64       // of the margins of guards at the start, as sizes tells them
	small    []bool          // guards
	most     []float64       // how large states have been at marks
	states   []stateInput    // of guards
	sets     bool            // a body may set a condition to its threshold
	happened map[[2]int]bool // events, by elements, that happen in the run
	known    bool            // happened is complete
	idle     map[int]bool    // guards that stand at their thresholds since the start, as stand tells
	// stuck are the guards whose margin has come to 0 by itself, or was set to 0, and has rested there since; true for
	// those of events that have done so since the start.
	stuck map[int]bool
	// beside are params and discretes a little to one side and the other of those at the present mark, and before it,
	// as they move with what derivatives are taken by; those of other discretes are theirs. It is empty where no
	// operation depends on params and discretes alone.
	beside [turns]struct{ p, d, left [2][]float64 }
	left   bool // what is looked at lies before the mark
	held   bool // some operation does
	none   bool // the model has no kinks: there are ties of largest values at most
	// rounded tells that ties count that hold but for rounding, as at a time that was located.
	rounded bool
	reached map[int]bool     // what reachesAny has found, by events
	reads   map[int][]string // the inputs of the margins of guards, where reaches has asked for them
	last    float64          // the time of the last mark but those of observations
}

// stateInput is the input of an evaluator that holds the states from an offset on.
type stateInput struct {
	to     []float64
	offset int
}

// outlet is what some elements of an output are kinks of.
type outlet struct {
	tape *tape.Tape
	name string
	in   func(i int) bool // tells which elements count
}

// Kink is an operation that was evaluated where it has no derivative.
type Kink struct {
	Op   tape.Op // Less for a condition that is set to its threshold
	Span source.Span
	// Clock tells that the operation depends on nothing but the time. At a fixed time it does not
	// move.
	Clock bool
	// Still tells that the operation depends on params alone: it is at its kink at any time.
	Still bool
	// Held tells that it depends on discretes and params alone: it is at its kink until an event.
	Held bool
	// Set tells that it is a condition that a body has set to its threshold.
	Set bool
	// Rests tells that it is a condition at whose threshold the run rests.
	Rests bool
	// Tie tells that it is one of several maxima, of which any may be the largest.
	Tie bool
	// Kept tells that it is a largest value that is kept for a while.
	Kept bool
	// Dosed tells that it is a largest value where an event changes nothing.
	Dosed bool
	// Corner tells that a condition has a kink where it is at its threshold, so that it is met faster, or not at all,
	// on one side.
	Corner bool
	From   []tapec.Name // what the operation depends on
	Fold                // Tangents.Weigh finds it

	of     *tape.Tape // where it was found; nil for a condition that is set
	peak   int        // the element of the functionals that is largest there, where of is the tape of these
	last   bool       // Kept: it is kept no longer
	value  tape.Value
	at     values
	rests  bool // the run rests at it, or follows it
	before bool // it lies before the mark: in the body of an event, or where something is largest
	behind bool // it lies behind the mark
	// stuck tells that it came there by itself, was set, or is that of an event and has rested there since the start:
	// what has moved it before does not do so any more. carried tells that this was so before the mark.
	stuck, carried bool
	waits          bool    // it is that of an event, which did not hold at the start
	left           bool    // Set: it was there before, and the body has left it there
	margins        []int   // of conditions at rest, or one that is set or has a kink: their guards
	unknown        bool    // that reads algebraic unknowns, whose rates are not known
	forks          bool    // rates are others where it holds than where it does not, or all of that is not known
	parts          []int   // seeds by which they change otherwise there
	soon           float64 // and is to be looked at so much later at least
	seen           bool    // and has been looked at later,
	stays          bool    // where it was still at rest
	guard          int     // the margin that is 0 where it was found, in these modes; or -1
	modes          []float64
	decides        bool    // about modes, or events
	settled        bool    // a steady state lies at it
	elems          []int   // and at these elements of it
	rounding       float64 // what moves it by so much, or less, is rounding of the search for the state
}

// alone tells that the kink is moved by what it is made of, and not by the time at which it was looked at.
func (k *Kink) alone() bool {
	return k.Still || k.Set || k.Held && (k.decides || k.Op.HasKink())
}

// kinkTape is a tape with operations that have kinks.
type kinkTape struct {
	eval   *tape.Evaluator[float64]
	near   *tape.Evaluator[float64] // at values beside those of eval; nil until they are asked for
	toward map[tape.Value]func()    // run near, as far as one value needs it
	here   []float64                // distances from kinks
	ops    []tape.Value
	clock  map[tape.Value]bool
	still  map[tape.Value]bool
	held   map[tape.Value]bool
}

// beside makes what evaluates the tape at values beside those of a run.
func (kt *kinkTape) beside(t *tape.Tape) {
	if kt.near == nil {
		kt.near = tape.NewEvaluator[float64](t)
		kt.near.Run()
		kt.toward = map[tape.Value]func(){}
	}
}

// runBeside evaluates at values beside those of eval what v is made of, and nothing else.
func (kt *kinkTape) runBeside(v tape.Value) {
	if kt.toward[v] == nil {
		var all []string
		for _, in := range kt.near.Tape().Inputs {
			all = append(all, in.Name)
		}
		kt.toward[v] = kt.near.Toward([]tape.Value{v}, all...)
	}
	kt.toward[v]()
}

// Kinks returns what finds the kinks of the model, and what moves ties of largest values apart; nil if it has no
// operation with kinks and no largest values.
func (p *Problem) Kinks() *Kinks {
	c := p.Model.Compiled
	k := &Kinks{
		reached: map[int]bool{}, reads: map[int][]string{},
		problem: p, model: p.Model, point: p.Point, active: map[string]bool{}, tapes: map[*tape.Tape]*kinkTape{},
		bodies: map[int]*tape.Evaluator[float64]{},
	}
	for _, name := range p.active {
		k.active[name] = true
	}
	for _, t := range []*tape.Tape{c.Rates, c.Guards, c.Choose} { // modes are held in these, so that nothing else jumps
		k.add(t, false)
	}
	for _, list := range [][]*tape.Tape{{c.Initial, c.Final, c.Objective, c.Peaks}, c.AtTimes, c.AtEvents, c.Affects} {
		for _, t := range list {
			k.add(t, true)
		}
	}
	k.addOnce()
	k.sets = slices.ContainsFunc(c.GuardList, settable) && slices.ContainsFunc(c.Affects, func(t *tape.Tape) bool {
		return t != nil
	})
	if k.sets || slices.ContainsFunc(c.GuardList, mayRest) {
		k.guards = tape.NewEvaluator[float64](c.Guards)
		for _, in := range c.Guards.Inputs {
			if n := tapec.MustName(in.Name); n.Role == tapec.State {
				k.states = append(k.states, stateInput{k.guards.Input(in.Name), k.model.layout.part(n).offset})
			}
		}
	}
	if k.none = len(k.tapes) == 0 && k.guards == nil; k.none && len(p.Peaks) == 0 {
		return nil
	}
	return k
}

// add notes the operations of t that have kinks, and those that jump, by params and discretes alone or by anything.
func (k *Kinks) add(t *tape.Tape, jumps bool) {
	if t == nil || !slices.ContainsFunc(t.Instrs, func(in tape.Instr) bool {
		return in.Op.HasKink() || in.Op.HasJump()
	}) {
		return
	}
	kt := &kinkTape{clock: map[tape.Value]bool{}, still: map[tape.Value]bool{}, held: map[tape.Value]bool{}}
	conditions := t == k.model.Compiled.Guards // the modes inside are held
	moves := tape.DependsOnFunc(t, func(name string) bool {
		n := tapec.MustName(name)
		return k.free(n) && !(conditions && n.Role == tapec.HeldMode)
	})
	steers := tape.DependsOnFunc(t, func(name string) bool {
		return tapec.MustName(name).Role != tapec.Time
	})
	flows := tape.DependsOnFunc(t, func(name string) bool {
		role := tapec.MustName(name).Role // all modes are chosen where that matters
		return role != tapec.Param && role != tapec.KeptMode
	})
	changes := tape.DependsOnFunc(t, func(name string) bool {
		role := tapec.MustName(name).Role
		return role != tapec.KeptMode && role != tapec.Param && role != tapec.Discrete && role != tapec.LeftDiscrete &&
			!(conditions && role == tapec.HeldMode)
	})
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		if op := t.Instrs[i].Op; moves[v] && (op.HasKink() || op.HasJump() && (jumps || !changes[v])) {
			kt.ops = append(kt.ops, v)
			kt.clock[v], kt.still[v], kt.held[v] = !steers[v], !flows[v], flows[v] && !changes[v]
			k.held = k.held || kt.held[v]
		}
	}
	if len(kt.ops) > 0 {
		kt.eval = tape.NewEvaluator[float64](t)
		k.tapes[t] = kt
	}
}

// free reports whether what a tape reads may move: all but data, modes that stay, and params that nothing is
// differentiated by.
func (k *Kinks) free(name tapec.Name) bool {
	return name.Role != tapec.DataRow && name.Role != tapec.KeptMode && (name.Role != tapec.Param || k.active[name.Of])
}

// addOnce notes what is computed from params before the run, but for what was set instead: defaults of params and
// initial values; and the times of what happens.
func (k *Kinks) addOnce() {
	c, pt := k.model.Compiled, k.point
	for _, t := range []*tape.Tape{c.Start, c.Instants} {
		k.add(t, false)
		if k.tapes[t] == nil {
			continue
		}
		for _, out := range t.Outputs {
			at := k.model.layout.part(tapec.MustName(out.Name))
			k.once = append(k.once, outlet{t, out.Name, func(i int) bool {
				return at.vec != vecY || !pt.cut[at.offset+i]
			}})
		}
	}
	for i := range c.Defaults {
		d := &c.Defaults[i]
		if !pt.followsOthers(d.Param) {
			continue
		}
		if k.add(d.Tape, false); k.tapes[d.Tape] != nil {
			name := tapec.Param.Called(d.Param.Name).String()
			k.once = append(k.once, outlet{d.Tape, name, func(i int) bool { return pt.follows(d.Param, i) }})
		}
	}
}

// Begin tells that another run is looked at.
func (k *Kinks) Begin() { k.happened, k.known = map[[2]int]bool{}, false }

// Meet notes what happens at a mark. It is called for all marks of a run before kinks are weighed.
func (k *Kinks) Meet(m *solvers.Mark) {
	if m.Kind == solvers.MarkFire {
		k.happened[[2]int{m.Firing.Event, m.Firing.Elem}] = true
	}
}

// AtMark lists the kinks at which the model is at a mark of a run of length span: in what objectives read
// there, and in the rates if they do not leave them. A kink at one moment has no weight in an integral.
// What happens in the run must be known: see Meet.
func (k *Kinks) AtMark(m *solvers.Mark, span float64) []Kink {
	c := k.model.Compiled
	k.follow(m)
	if m.Kind == solvers.MarkStart || k.most == nil {
		k.most = make([]float64, len(m.Yp))
	}
	for i, x := range m.Yp {
		k.most[i] = max(k.most[i], math.Abs(x))
	}
	if m.Kind != solvers.MarkSite {
		k.last = m.T
	}
	switch m.Kind {
	case solvers.MarkStart:
		found := slices.Concat(
			k.stay(m, span), k.resting(m, span), k.look(c.Initial, m, nil, nil), k.modes(m), k.corners(m),
		)
		at := values{vecT: {m.T}, vecP: k.point.p, vecD: m.Dp}
		for _, o := range k.once {
			found = append(found, k.through(o, &at, false)...)
		}
		return found
	case solvers.MarkFire:
		if k.model.settles(m.Firing.Event) {
			return slices.Concat(k.atSteady(m), k.look(c.AtEvents[m.Firing.Event], m, nil, nil), k.body(m), k.modes(m))
		}
		found := append(k.stay(m, span), k.look(c.AtEvents[m.Firing.Event], m, nil, nil)...)
		return slices.Concat(found, k.resting(m, span), k.body(m), k.condition(m), k.set(m), k.modes(m))
	case solvers.MarkMode:
		return slices.Concat(k.stay(m, span), k.resting(m, span), k.condition(m), k.modes(m))
	case solvers.MarkRemode:
		return slices.Concat(k.stay(m, span), k.resting(m, span), k.modes(m))
	case solvers.MarkSite:
		found := k.look(c.AtTimes[c.InstantList[m.Instant].Group], m, nil, nil)
		if m.T == k.last { // the piece begins here
			found = append(found, append(k.stay(m, span), k.resting(m, span)...)...)
		}
		return found
	case solvers.MarkFinal:
		return append(k.look(c.Final, m, nil, nil), k.modes(m)...)
	}
	return nil
}

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
	for turn := range turns {
		b := &k.beside[turn]
		for side, way := range [2]float64{beside, -beside} {
			n := portionsOf(turn)
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

// timeOf lists what the time of a mark depends on.
func (k *Kinks) timeOf(m *solvers.Mark) []tapec.Name {
	switch {
	case k.Fixed(m):
		return nil
	case m.Guard >= 0:
		return k.model.guardInputs(m.Guard)
	case m.Instant >= 0:
		return k.model.instantInputs(m.Instant)
	}
	return nil
}

// Fixed reports whether the time of a mark depends on nothing.
func (k *Kinks) Fixed(m *solvers.Mark) bool {
	c := k.model.Checked
	if m.Kind == solvers.MarkStart {
		return typecheck.Static(c.From)
	}
	if m.Kind != solvers.MarkFire || m.Firing.Event >= len(c.Events) {
		return false
	}
	e := c.Events[m.Firing.Event]
	for _, t := range append([]typecheck.Expr{e.Every, e.From, e.When, e.Crossing}, e.Times...) {
		if t != nil && !typecheck.Static(t) {
			return false
		}
	}
	return e.When == nil && e.Crossing == nil
}

// params returns the params with those moved that derivatives are by.
func (k *Kinks) params(way float64, n *portions) []float64 {
	p := k.point.p
	q := move(p, way, n)
	for _, s := range k.model.Checked.Params {
		if at := k.model.Param(s.Name); !k.active[s.Name] {
			copy(q[at.Offset:at.Offset+at.Len], p[at.Offset:])
		}
	}
	follow(k.point, q, func(i int, x float64) { q[i] = x })
	return q
}

// begin returns the discretes at the start of a run.
func (k *Kinks) begin(t, p []float64) []float64 {
	start := k.model.Compiled.Start
	d := make([]float64, k.model.layout.nD)
	e := tape.NewEvaluator[float64](start)
	k.model.load(start, e, &values{vecT: t, vecP: p})
	e.Run()
	for _, out := range start.Outputs {
		if at := k.model.layout.part(tapec.MustName(out.Name)); at.vec == vecD {
			copy(d[at.offset:], e.Output(out.Name))
		}
	}
	return d
}

// modes lists the kinks of params and discretes alone that decide about the modes at a mark, and about whether
// conditions are met in these modes.
func (k *Kinks) modes(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	at := values{
		vecT: {m.T}, vecY: m.Yp, vecD: m.Dp, vecM: m.Mp, vecP: k.point.p,
		vecKept: slices.Repeat([]float64{math.Inf(1)}, k.model.layout.nM),
	}
	all := func(int) bool { return true }
	if k.anyStill(c.Choose) {
		for _, out := range c.Choose.Outputs {
			found = append(found, k.through(outlet{c.Choose, out.Name, all}, &at, true)...)
		}
	}
	if k.anyStill(c.Guards) {
		truths := tapec.Truths.Name().String()
		list, jump := k.bending(outlet{c.Guards, truths, func(i int) bool {
			return c.GuardList[i].Event >= 0 || c.GuardList[i].Mode >= 0
		}}, &at, true)
		k.stand(m, jump)
		if k.known {
			jump = slices.DeleteFunc(jump, func(i int) bool { return k.idle[i] })
		}
		found = append(found, reaching(list, truths, jump)...)
	}
	return decide(found)
}

// stand notes which conditions of events have been at their thresholds since the start, where they did not hold, and
// do not come: they are the same on the other side, since what holds at the start is no event. jump are the guards of
// those that are there at a mark.
func (k *Kinks) stand(m *solvers.Mark, jump []int) {
	if m.Kind != solvers.MarkStart {
		for i := range k.idle {
			if !slices.Contains(jump, i) {
				delete(k.idle, i)
			}
		}
		return
	}
	k.idle = map[int]bool{}
	holds := k.tapes[k.model.Compiled.Guards].eval.Output(tapec.Truths.Name().String())
	for _, i := range jump {
		if k.never(i, holds[i] != 0) {
			k.idle[i] = true
		}
	}
}

// never reports whether guard i is the condition of an event that does not hold at the start and does not come.
func (k *Kinks) never(i int, holds bool) bool {
	g := k.model.Compiled.GuardList[i]
	return g.Event >= 0 && !g.Crossing && !holds && !k.happened[[2]int{g.Event, g.Elem}] &&
		!k.model.Checked.Events[g.Event].Start
}

// decide notes that kinks decide about modes or events.
func decide(found []Kink) []Kink {
	for i := range found {
		found[i].decides = true
	}
	return found
}

// anyStill reports whether t has operations with kinks of params and discretes alone.
func (k *Kinks) anyStill(t *tape.Tape) bool {
	kt := k.tapes[t]
	return kt != nil && slices.ContainsFunc(kt.ops, func(v tape.Value) bool { return kt.still[v] || kt.held[v] })
}

// InValues lists the kinks at which the objectives are, as functions of functionals. m is the last
// mark.
func (k *Kinks) InValues(m *solvers.Mark, functionals []float64) []Kink {
	c := k.model.Compiled
	if c.Objective == nil {
		return nil
	}
	return k.look(c.Objective, m, nil, functionals)
}

// stay lists the kinks at which the rates are at a mark, and a little later along the field.
func (k *Kinks) stay(m *solvers.Mark, span float64) []Kink {
	t := k.model.Compiled.Rates
	if len(k.look(t, m, m.Mp, nil)) == 0 {
		return nil
	}
	later, eps := *m, float64(0x1p-20*span)
	later.T, later.Yp = m.T+eps, k.along(m.Yp, k.tapes[t].eval, eps)
	// Pieces of a smooth table have kinks where they meet, and rates have none.
	found := k.look(t, &later, m.Mp, nil)
	for i := range found {
		found[i].rests = true
	}
	alone := func(x Kink) bool { return x.Still || x.Held }
	if slices.ContainsFunc(found, alone) {
		// Their weight may be zero at the mark itself.
		bends := func(t0 float64, y []float64) bool {
			at := values{vecT: {t0}, vecY: y, vecD: m.Dp, vecM: m.Mp, vecP: k.point.p}
			return slices.ContainsFunc(t.Outputs, func(out tape.Output) bool {
				return len(k.through(outlet{t, out.Name, func(int) bool { return true }}, &at, true)) > 0
			})
		}
		if !bends(m.T, m.Yp) && !bends(later.T, later.Yp) {
			found = slices.DeleteFunc(found, alone)
		}
	}
	return found
}

// along returns the states a time eps behind y, with the rates that were evaluated there.
func (k *Kinks) along(y []float64, rates *tape.Evaluator[float64], eps float64) []float64 {
	to := slices.Clone(y)
	for _, out := range rates.Tape().Outputs {
		if at := k.model.layout.part(tapec.MustName(out.Name)); at.vec == vecK {
			for i, f := range rates.Output(out.Name) {
				if n := at.offset + i; n < len(to) { // a state, and no integral
					to[n] = math.FMA(eps, f, to[n])
				}
			}
		}
	}
	return to
}

// look evaluates t at a mark.
func (k *Kinks) look(t *tape.Tape, m *solvers.Mark, modes, functionals []float64) []Kink {
	if t == nil || k.tapes[t] == nil {
		return nil
	}
	at := values{
		vecT: {m.T}, vecY: m.Yp, vecYm: m.Ym, vecD: m.Dp, vecDm: m.Dm, vecM: modes, vecP: k.point.p, vecF: functionals,
		vecFired: firedAt(m),
	}
	if m.Kind == solvers.MarkSite {
		at[vecRow] = k.model.rows[m.Instant]
	}
	return k.at(t, &at)
}

// at evaluates t.
func (k *Kinks) at(t *tape.Tape, at *values) []Kink {
	kt := k.tapes[t]
	if !k.model.load(t, kt.eval, at) {
		return nil
	}
	kt.eval.Run()
	var found []Kink
	for _, v := range kt.ops {
		if in := t.Instr(v); k.bent(t, v, at) {
			kink := Kink{Op: in.Op, Span: in.Span, Clock: kt.clock[v], Still: kt.still[v], Held: kt.held[v]}
			kink.From, kink.of, kink.value, kink.at = inputsOfValue(t, v), t, v, *at
			kink.guard = -1
			found = append(found, kink)
		}
	}
	return found
}

// firedAt returns what tapes read of which element of an event fires at a mark.
func firedAt(m *solvers.Mark) []float64 {
	fired := make([]float64, m.Firing.Elem+1)
	fired[m.Firing.Elem] = 1
	return fired
}

// body lists the kinks at which the body of an event is.
func (k *Kinks) body(m *solvers.Mark) (found []Kink) {
	t := k.model.Compiled.Affects[m.Firing.Event]
	if k.tapes[t] == nil {
		return nil
	}
	k.left = true
	defer func() { k.left = false }()
	at := values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecP: k.point.p, vecFired: firedAt(m)}
	if len(k.at(t, &at)) == 0 {
		return nil
	}
	for _, out := range t.Outputs {
		o := outlet{t, out.Name, func(int) bool { return true }}
		found = append(found, k.through(o, &at, false)...)
	}
	for i := range found {
		found[i].precede(m)
	}
	return found
}

// precede notes that a kink lies before a mark.
func (k *Kink) precede(m *solvers.Mark) { k.before, k.guard, k.modes = true, m.Guard, m.Mm }

// Any reports whether the model has operations with kinks.
func (k *Kinks) Any() bool { return !k.none }

// OfPeaks reports whether there may be kinks in what is to be largest.
func (k *Kinks) OfPeaks() bool { return k.tapes[k.model.Compiled.Peaks] != nil }

// Reading is what is read of largest values at a point of a run.
type Reading struct {
	Element int  // of the functionals
	Tie     bool // it is one of several maxima
	Kept    bool // it is kept
	Last    bool // and this is where it is so last
	Dosed   bool // an event changes nothing here
}

// BeforeMark lists the kinks at which an element of the functionals is largest just before a mark.
func (k *Kinks) BeforeMark(r Reading, m *solvers.Mark) []Kink {
	k.left = true
	defer func() { k.left = false }()
	found := k.AtPeak(r, m.T, m.Ym, m.Dm, m.Mm)
	for i := range found {
		found[i].precede(m)
	}
	return found
}

// BehindMark lists the kinks at which it is largest just behind a mark.
func (k *Kinks) BehindMark(r Reading, m *solvers.Mark) []Kink {
	found := k.AtPeak(r, m.T, m.Yp, m.Dp, m.Mp)
	for i := range found {
		found[i].behind = true
	}
	return found
}

// AtPeak lists the kinks at which an element of the functionals is where it is largest: at (t, y), with discretes d and
// modes m. If there is a tie, it is one of them. Time moves none of them off its place, since a largest value does not
// change with its time.
func (k *Kinks) AtPeak(r Reading, t float64, y, d, m []float64) (found []Kink) {
	peaks := k.model.Compiled.Peaks
	at := values{vecT: {t}, vecY: y, vecD: d, vecM: m, vecP: k.point.p}
	if k.OfPeaks() {
		found = slices.DeleteFunc(k.at(peaks, &at), func(k Kink) bool { return k.Clock })
	}
	n := k.model.FunctionalAt(r.Element)
	span := k.model.Compiled.Functionals[n].Span
	for _, of := range []struct {
		is   bool
		kink Kink
	}{
		{r.Tie, Kink{Tie: true}},
		{r.Kept, Kink{Kept: true, last: r.Last, Span: span}},
		{r.Dosed, Kink{Dosed: true, Span: span}},
	} {
		if of.is {
			of.kink.From, of.kink.of = inputsOf(peaks, tapec.Functionals.Number(n), -1), peaks
			of.kink.at, of.kink.guard = at, -1
			found = append(found, of.kink)
		}
	}
	for i := range found {
		found[i].peak = r.Element
	}
	return found
}

// settable reports whether a guard is that of a condition, which a body may set to its threshold.
func settable(g tapec.Guard) bool { return !g.Watch && !g.Kink }

// reachesAny reports whether the body of an event at a root may set any condition to its threshold.
func (k *Kinks) reachesAny(event int) bool {
	does, known := k.reached[event]
	if !known {
		for i, g := range k.model.Compiled.GuardList {
			does = does || settable(g) && (g.Clock || k.reaches(event, i))
		}
		k.reached[event] = does
	}
	return does
}

// reaches reports whether the body of an event assigns to what the margin of a guard reads.
func (k *Kinks) reaches(event, guard int) bool {
	c := k.model.Compiled
	reads, known := k.reads[guard] // each body asks for each guard
	if !known {
		for _, in := range k.model.guardInputs(guard) {
			reads = append(reads, in.String())
		}
		k.reads[guard] = reads
	}
	return slices.ContainsFunc(reads, func(in string) bool {
		_, assigned := c.Affects[event].Output(in)
		return assigned
	})
}

// set lists the conditions that the body of an event sets exactly to their thresholds, and that would not stay there if
// everything before the event moved a little; at an event with a time of its own, also those that it leaves there.
func (k *Kinks) set(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	if !k.sets || c.Affects[m.Firing.Event] == nil || m.Guard >= 0 && !k.reachesAny(m.Firing.Event) {
		return nil
	}
	p := k.point.p
	after, size := k.sizes(&values{vecT: {m.T}, vecY: m.Yp, vecD: m.Dp, vecM: m.Mp, vecP: p})
	zero := func(margins []float64, i int) bool { return math.Abs(margins[i]) <= float64(noise*size[i]) }
	var set []int
	for i, g := range c.GuardList {
		if settable(g) && zero(after, i) {
			set = append(set, i)
		}
	}
	if len(set) == 0 {
		return nil
	}
	before := k.margins(&values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecM: m.Mm, vecP: p})
	set = slices.DeleteFunc(set, func(i int) bool {
		return zero(before, i) && (m.Guard >= 0 || !k.reaches(m.Firing.Event, i))
	})
	if len(set) == 0 {
		return nil
	}
	seen := map[int]bool{}
	for _, way := range []float64{beside, -beside} {
		n := portionsOf(0)
		t, q := move([]float64{m.T}, way, &n), k.params(way, &n)
		y, d := k.fire(m, t, move(m.Ym, way, &n), move(m.Dm, way, &n), q)
		moved := k.margins(&values{vecT: t, vecY: y, vecD: d, vecM: m.Mp, vecP: q})
		for _, i := range set {
			if !seen[i] && !zero(moved, i) {
				seen[i] = true
				g := &c.GuardList[i]
				from := append(k.model.guardInputs(i), k.timeOf(m)...)
				kink := Kink{Op: tape.Less, Span: g.Span, Set: true, From: from, margins: []int{i}, guard: -1}
				kink.left = zero(before, i)
				if !g.Clock {
					kink.guard, kink.modes = m.Guard, slices.Clone(m.Mm)
				}
				kink.at = values{
					vecT: {m.T}, vecY: slices.Clone(m.Ym), vecD: slices.Clone(m.Dm), vecM: slices.Clone(m.Mp), vecP: p,
				}
				kink.Into.guard(k.model, i)
				found = append(found, kink)
			}
		}
	}
	return found
}

// margins returns those of all guards at some values.
func (k *Kinks) margins(at *values) []float64 { return slices.Clone(k.peek(at)) }

// peek is margins, valid until the next call.
func (k *Kinks) peek(at *values) []float64 {
	k.model.load(k.model.Compiled.Guards, k.guards, at)
	k.guards.Run()
	return k.guards.Output(tapec.Margins.Name().String())
}

// fire returns what the body of the event at a mark makes of states and discretes.
func (k *Kinks) fire(m *solvers.Mark, t, y, d, p []float64) (yp, dp []float64) {
	of := k.model.Compiled.Affects[m.Firing.Event]
	e := k.bodies[m.Firing.Event]
	if e == nil {
		e = tape.NewEvaluator[float64](of)
		k.bodies[m.Firing.Event] = e
	}
	k.model.load(of, e, &values{vecT: t, vecY: y, vecD: d, vecP: p, vecFired: firedAt(m)})
	e.Run()
	to := values{vecY: slices.Clone(y), vecD: slices.Clone(d)}
	for _, out := range of.Outputs {
		at := k.model.layout.part(tapec.MustName(out.Name))
		copy(to[at.vec][at.offset:], e.Output(out.Name))
	}
	return to[vecY], to[vecD]
}

// condition lists the kinks of params alone at which the condition is that caused a mark.
func (k *Kinks) condition(m *solvers.Mark) []Kink {
	t := k.model.Compiled.Guards
	if m.Guard < 0 || k.tapes[t] == nil {
		return nil
	}
	k.left = true
	defer func() { k.left = false }()
	at := values{vecT: {m.T}, vecY: m.Ym, vecD: m.Dm, vecM: m.Mm, vecP: k.point.p}
	o := outlet{t, tapec.Margins.Name().String(), func(i int) bool { return i == m.Guard }}
	return append(decide(k.through(o, &at, true)), k.corner(m.Guard, &at)...)
}

// corner lists the kinks of states in the condition of guard i, whose margin is 0 at some values.
func (k *Kinks) corner(i int, at *values) []Kink {
	margins := tapec.Margins.Name()
	if k.model.Compiled.GuardList[i].Compound { // its parts change together, of which the run itself has warned
		return nil
	}
	k.rounded = true
	defer func() { k.rounded = false }()
	found := k.through(outlet{k.model.Compiled.Guards, margins.String(), func(j int) bool { return i == j }}, at, false)
	found = slices.DeleteFunc(found, func(k Kink) bool { return k.Still || k.Held || k.Clock || !k.Op.HasKink() })
	for j := range found {
		found[j].Corner, found[j].margins, found[j].guard, found[j].modes = true, []int{i}, i, at[vecM]
	}
	return found
}

// corners does so for all guards whose margins are 0 at the start.
func (k *Kinks) corners(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	kt := k.tapes[c.Guards]
	if k.guards == nil || kt == nil || !slices.ContainsFunc(kt.ops, func(v tape.Value) bool {
		return c.Guards.Instr(v).Op.HasKink()
	}) {
		return nil
	}
	at := values{vecT: {m.T}, vecY: m.Yp, vecD: m.Dp, vecM: m.Mp, vecP: k.point.p}
	here, size := k.sizes(&at)
	for i, g := range c.GuardList {
		if settable(g) && math.Abs(here[i]) <= float64(noise*size[i]) {
			found = append(found, k.corner(i, &at)...)
		}
	}
	return found
}

// through lists the kinks of the tape of o at some values, or those of params and discretes alone, that what o lets
// through has: where two pieces of a smooth table meet, each has a kink and their sum has none.
func (k *Kinks) through(o outlet, at *values, still bool) []Kink {
	found, elems := k.bending(o, at, still)
	return reaching(found, o.name, elems)
}

// bending lists the kinks of the tape of o at some values, or those of params and discretes alone, and the elements of
// what o lets through that have one.
func (k *Kinks) bending(o outlet, at *values, still bool) (found []Kink, elems []int) {
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

// bentOn lists the elements of what o lets through that have a kink where inputs move in one of several directions.
func (k *Kinks) bentOn(turn int, o outlet, at *values, still bool) (elems []int) {
	kt := k.tapes[o.tape]
	here := kt.eval.Output(o.name)
	var bend [2][]float64    // f(x+d) - f(x) + f(x-d) - f(x), for d and half of it
	var step [2][2][]float64 // f(x+d) - f(x), for either sign of d
	for j := range bend {
		bend[j] = make([]float64, len(here))
		for side, way := range []float64{beside, -beside} {
			k.model.load(o.tape, kt.near, at)
			k.turned(turn, kt.near, way/float64(1+j), still)
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
		if o.in(i) && (stays(&bend, 0.375) || stays(&step[0], 0.875) || stays(&step[1], 0.875)) {
			elems = append(elems, i)
		}
	}
	return elems
}

// reaching leaves those of some kinks of a tape that some elements of an output depend on.
func reaching(found []Kink, output string, elems []int) []Kink {
	return slices.DeleteFunc(found, func(k Kink) bool {
		reaches := false
		k.reached(func(out tape.Output, i int) {
			reaches = reaches || out.Name == output && slices.Contains(elems, i)
		})
		return !reaches
	})
}

// bent reports whether an element of v lies at a kink, where t was evaluated at the given values. It must leave the
// kink beside these: operands that stay equal, such as two values cut off at 0, have no part in a derivative. A root
// must do so on both sides, in proportion to how far the inputs moved, as √(x²) does: the derivative of √x is infinite,
// and no number hides it, and x¹ is smooth.
func (k *Kinks) bent(t *tape.Tape, v tape.Value, at *values) bool {
	kt := k.tapes[t]
	kt.here = tape.Bends(kt.eval, v, k.rounded, kt.here[:0])
	if !slices.Contains(kt.here, 0) {
		return false
	}
	kt.beside(t)
	op := t.Instr(v).Op
	root, sides := op == tape.Sqrt || op == tape.Pow, 1
	if root {
		sides = 2
	}
	left := make([]int, len(kt.here)) // on how many sides an element leaves its kink
	for _, way := range []float64{beside, -beside} {
		var side [2][]float64
		for j, d := range []float64{way, way / 2} {
			k.model.load(t, kt.near, at)
			k.nudge(kt.near, d, false)
			kt.runBeside(v)
			side[j] = tape.Bends(kt.near, v, k.rounded, nil)
		}
		for i, d := range kt.here {
			far, near := side[0][i], side[1][i]
			if d == 0 && (near > float64(0.4*far) && near < float64(0.6*far) || !root && (far != 0 || near != 0)) {
				left[i]++
			}
		}
	}
	return slices.ContainsFunc(left, func(n int) bool { return n >= sides })
}

// beside is how far inputs are moved to see whether they leave a kink, as a part of their size.
const beside = 0x1p-14

// nudge moves what a tape reads: params and discretes or, unless they alone are to move, all but modes, data and what
// has fired.
func (k *Kinks) nudge(e *tape.Evaluator[float64], d float64, held bool) { k.turned(0, e, d, held) }

// turned is nudge in one of several directions.
func (k *Kinks) turned(turn int, e *tape.Evaluator[float64], d float64, held bool) {
	n, side := portionsOf(turn), 0
	if d < 0 {
		side = 1
	}
	if k.held { // params have moved by the first parts: what is equal to one must not move along with it
		n.count = len(k.point.p)
	}
	for _, in := range e.Tape().Inputs {
		name := tapec.MustName(in.Name)
		x, at := e.Input(in.Name), k.model.layout.part(name).offset
		// to moves x towards values beside those of the run.
		to := func(moved []float64) {
			for i, b := range moved[at : at+len(x)] {
				x[i] += float64(math.Abs(d) / beside * (b - x[i]))
			}
		}
		switch role := name.Role; {
		case role == tapec.Param && k.held:
			to(k.beside[turn].p[side])
		case (role == tapec.Discrete || role == tapec.LeftDiscrete) && k.held:
			b := &k.beside[turn]
			if k.left || role == tapec.LeftDiscrete {
				to(b.left[side])
			} else {
				to(b.d[side])
			}
		case role == tapec.DataRow || role == tapec.KeptMode:
		case role == tapec.Param || !held && role != tapec.HeldMode && role != tapec.Fired:
			copy(x, move(x, d, &n))
		}
	}
}

// turns is in how many directions inputs are moved where one of them may miss what others find: max(a, 1) > p at
// a = p = 1 holds on neither side of a line along which a moves faster than p.
const turns = 3

// portions count the numbers that have moved in a direction.
type portions struct {
	count int
	turns float64 // of the sign, in a number
}

// portionsOf returns the beginning of a motion in one of several directions.
func portionsOf(turn int) portions {
	return portions{turns: [turns]float64{0, math.Sqrt2 - 1, math.SqrtE - 1}[turn]}
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
