package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Kinks finds operations that a run evaluates exactly where they have no derivative: abs, hypot and roots at 0, ties of
// min and max, and jumps in what is computed of params alone. It belongs to one goroutine.
type Kinks struct {
	problem *compiled.Task
	model   *compiled.Model
	point   *compiled.Point
	active  map[string]bool // the params that derivatives are by; others do not move
	tapes   map[*tape.Tape]*kinkTape
	once    []outlet // what is computed from params before the run
	thresholds
	around compiled.Beside[float64] // what is looked at beside marks
	// beside holds params and discretes perturbed to either side along the variables of the derivatives, at the present
	// mark and before it. Discretes that do not depend on these keep their values. It is empty where no operation
	// depends on params and discretes alone.
	beside  [turns]struct{ p, d, left [2][]float64 }
	counted int  // how many times and states have moved before those of the present mark
	left    bool // what is looked at lies before the mark
	held    bool // some operation does
	second  bool // there are second derivatives
	none    bool // the model has no kinks: there are ties of largest values at most
	// near is how near, as parts of their size, operands count as equal: 0 where they are exact but for what rounding
	// makes of jumps, more where a time was located or where steps made states.
	near, slack float64
	began       float64      // the time of the start
	end         float64      // and of the end
	first       solvers.Mark // the first mark at the time of the present one
	last        float64      // the time of the last mark but those of observations
}

// thresholds are those of conditions on states, and what is known of the run at them.
type thresholds struct {
	guards  *tape.Evaluator[float64] // nil without conditions on states
	size    []float64                // of the margins of guards at the start, as sizes tells them
	small   []bool                   // guards
	most    []float64                // how large states have been at marks
	states  []stateInput             // of guards
	sets    bool                     // a body may set a condition to its threshold
	stuck   map[int]bool             // guards that have met their thresholds and have stayed there since
	calm    float64                  // the time at which none rests
	decided bool                     // modes has found some at the last mark
	rests   map[int]bool             // guards of modes that rest at their thresholds behind the last mark
	// kinked are the guards of modes that may come to rest at a kink; nil before they are asked for.
	kinked map[int]bool
	memo   memo
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
	Fold                // Suspects.Weigh finds it

	spot
	last    bool    // Kept: it is kept no longer
	rests   bool    // the run rests at it, or follows it
	passes  bool    // a body has taken the run there, and it leaves at once
	timed   bool    // Set: it is a time, margins those of an instant
	margins []int   // of conditions at rest, or one that is set or has a kink: their guards
	near    float64 // within it
	decides bool    // about modes, or events
	settled bool    // a steady state lies at it
}

// spot is where a kink was found.
type spot struct {
	of    *tape.Tape // nil for a condition that is set
	peak  int        // the element of the functionals that is largest there, where of is the tape of these
	value tape.Value
	at    vec.Values
	// curves tells that only second derivatives need not be finite: as those of pⁿ at p = 0 and n = 1, which has one
	// side.
	curves bool
}

// alone tells that the kink is moved by what it is made of, and not by the time at which it was looked at.
func (k *Kink) alone() bool {
	return k.Still || k.Set || k.Held && (k.decides || k.Op.HasKink())
}

// kinkTape is a tape with operations that have kinks.
type kinkTape struct {
	at    vec.Values         // where it is looked at; a copy, since callers keep theirs on the stack
	lacks bool               // something that it reads is not there
	now   *tape.Partly       // at these values, as far as is asked for
	sides [2][2]*tape.Partly // beside these, as far as kinks are made of them: by sign, and far or near
	ready bool               // now has what follows from params alone
	known bool               // sides lie beside the present values
	same  bool               // sides have what follows from params alone
	count []int              // how many numbers nudge moves before each input
	here  []float64          // distances from kinks
	there [2][]float64       // and, as bent looks, those of two of the sides
	ops   []tape.Value
	of    map[tape.Value]Kink // what their kinks are, wherever they are met
}

// load has inputs of a tape read what is there.
func (k *Kinks) load(t *tape.Tape, kt *kinkTape) func(i int, to []float64) {
	return func(i int, to []float64) {
		if !k.model.LoadInput(&t.Inputs[i], to, &kt.at) {
			kt.lacks = true
		}
	}
}

// stays reports whether an input of a tape is the same all through a run.
func stays(input string) bool { return tapec.MustName(input).Role == tapec.Param }

// NewKinks returns what finds the kinks of the model, and what moves ties of largest values apart; nil if it has no
// operation with kinks and no largest values.
func NewKinks(p *compiled.Task) *Kinks {
	c := p.Model.Compiled
	k := &Kinks{
		thresholds: thresholds{memo: memo{reached: map[int]bool{}, reads: map[int][]string{}}},
		problem:    p, model: p.Model, point: p.Point, active: map[string]bool{}, tapes: map[*tape.Tape]*kinkTape{},
		around: compiled.NewBeside[float64](p.Model),
	}
	for _, name := range p.Active {
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
				k.states = append(k.states, stateInput{k.guards.Input(in.Name), k.model.Layout.Part(n).Offset})
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
		return !in.Seamless && (in.Op.HasKink() || in.Op.HasJump())
	}) {
		return
	}
	kt := &kinkTape{of: map[tape.Value]Kink{}}
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
	for i, in := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		if moves[v] && !in.Seamless && (in.Op.HasKink() || in.Op.HasJump() && (jumps || !changes[v])) {
			kt.ops = append(kt.ops, v)
			kink := Kink{
				Op: in.Op, Span: in.Span, Clock: !steers[v], Still: !flows[v], Held: flows[v] && !changes[v],
				spot: spot{of: t, value: v},
			}
			kt.of[v], k.held = kink, k.held || kink.Held
		}
	}
	if len(kt.ops) > 0 {
		kt.now = tape.NewPartly(t, stays, k.load(t, kt))
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
			at := k.model.Layout.Part(tapec.MustName(out.Name))
			k.once = append(k.once, outlet{t, out.Name, func(i int) bool {
				return at.Vec != vec.Y || !pt.Cut[at.Offset+i]
			}})
		}
	}
	for i := range c.Defaults {
		d := &c.Defaults[i]
		if !pt.FollowsOthers(d.Param) {
			continue
		}
		if k.add(d.Tape, false); k.tapes[d.Tape] != nil {
			name := tapec.Param.Called(d.Param.Name).String()
			k.once = append(k.once, outlet{d.Tape, name, func(i int) bool { return pt.Follows(d.Param, i) }})
		}
	}
}

// Begin tells that another run is looked at, whose steps were made with a relative tolerance, whether it has second
// derivatives, and when it ends.
func (k *Kinks) Begin(rtol float64, second bool, end float64) {
	k.end = end
	k.second = second
	for _, kt := range k.tapes {
		kt.ready, kt.same = false, false
	}
	k.slack = max(tape.Rounding, float64(min(overTolerance*rtol, mostSlack)))
}

// overTolerance is how much larger than the relative tolerance of steps errors of states may be where ties are told.
const overTolerance = 4

// mostSlack is how large they may be at most: much less than what values beside those of the run are moved by, and so
// little that hardly anything comes so near by chance.
const mostSlack = 0x1p-20

// within has operands count as equal that are so near. It returns what takes that back.
func (k *Kinks) within(near float64) func() {
	was := k.near
	k.near = near
	return func() { k.near = was }
}

// AtMark lists the kinks at which the model is at a mark of a run of length span: in what objectives read
// there, and in the rates if they do not leave them. A kink at one moment has no weight in an integral.
func (k *Kinks) AtMark(m *solvers.Mark, span float64) []Kink {
	return slices.Concat(k.came(m, span), k.stayed(m, span), k.atMark(m, span))
}

func (k *Kinks) atMark(m *solvers.Mark, span float64) []Kink {
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
	if m.Kind == solvers.MarkStart || m.T != k.first.T || k.first.Inside {
		k.first = *m
		k.first.Ym, k.first.Dm, k.first.Mm = slices.Clone(m.Ym), slices.Clone(m.Dm), slices.Clone(m.Mm)
	}
	switch m.Kind {
	case solvers.MarkStart:
		k.began = m.T
		found := slices.Concat(
			k.stay(m, span), k.resting(m, span), k.look(c.Initial, m, nil), k.modes(m), k.corners(m),
		)
		at := vec.Values{vec.T: {m.T}, vec.P: k.point.P, vec.D: m.Dp}
		for _, o := range k.once {
			found = append(found, k.through(o, &at, false)...)
		}
		return found
	case solvers.MarkFire:
		if k.model.SettlesAt(m.Firing.Event) {
			read := k.look(c.AtEvents[m.Firing.Event], m, nil)
			return slices.Concat(k.atSteady(m), read, k.body(m, span), k.modes(m))
		}
		found := append(k.stay(m, span), k.look(c.AtEvents[m.Firing.Event], m, nil)...)
		found = slices.Concat(found, k.resting(m, span), k.body(m, span), k.condition(m))
		return slices.Concat(found, k.set(m), k.due(m), k.reset(m), k.modes(m))
	case solvers.MarkMode:
		return slices.Concat(k.stay(m, span), k.resting(m, span), k.condition(m), k.modes(m))
	case solvers.MarkRemode:
		return slices.Concat(k.stay(m, span), k.resting(m, span), k.modes(m))
	case solvers.MarkSite:
		found := k.look(c.AtTimes[c.InstantList[m.Instant].Group], m, nil)
		if m.T == k.last { // the piece begins here
			return slices.Concat(found, k.stay(m, span), k.resting(m, span), k.modes(m))
		}
		if k.decided { // what they decide in the rest of the piece counts as well
			found = append(found, k.modes(m)...)
		}
		return found
	case solvers.MarkFinal:
		return append(k.look(c.Final, m, nil), k.modes(m)...)
	}
	return nil
}

// First is the first mark at the time of the present one.
func (k *Kinks) First() *solvers.Mark { return &k.first }

// timeOf lists what the time of a mark depends on.
func (k *Kinks) timeOf(m *solvers.Mark) []tapec.Name {
	switch {
	case k.Fixed(m):
		return nil
	case m.Guard >= 0:
		return k.model.GuardInputs(m.Guard)
	case m.Instant >= 0:
		return k.model.InstantInputs(m.Instant)
	}
	return nil
}

// Fixed reports whether the time of a mark depends on nothing.
func (k *Kinks) Fixed(m *solvers.Mark) bool {
	c := k.model.Checked
	if m.Kind == solvers.MarkStart {
		return model.Static(c.From)
	}
	if m.Kind != solvers.MarkFire || m.Firing.Event >= len(c.Events) {
		return false
	}
	e := c.Events[m.Firing.Event]
	for _, t := range append([]model.Expr{e.Every, e.From, e.When, e.Crossing}, e.Times...) {
		if t != nil && !model.Static(t) {
			return false
		}
	}
	return !e.Guarded()
}

// InValues lists the kinks at which the objectives are, as functions of functionals. m is the last
// mark.
func (k *Kinks) InValues(m *solvers.Mark, functionals []float64) []Kink {
	c := k.model.Compiled
	if c.Objective == nil {
		return nil
	}
	return k.look(c.Objective, m, functionals)
}

// stay lists the kinks at which the rates are at a mark, and a little later along the field; where there are second
// derivatives, also those to which the body of an event has taken them, and that they leave.
func (k *Kinks) stay(m *solvers.Mark, span float64) []Kink {
	here, found := k.rested(k.behind(m), float64(0x1p-20*span))
	if k.second && m.Kind == solvers.MarkFire {
		for _, kink := range here {
			if kink.Op.HasKink() && !slices.ContainsFunc(found, func(x Kink) bool { return x.value == kink.value }) {
				kink.passes = true
				found = append(found, kink)
			}
		}
	}
	return found
}

// stayed lists the kinks at which the rates are just before a mark, and a little earlier: a run may come to them where
// nothing happens, as max(min(x, a), b) does for a = b as x passes a.
func (k *Kinks) stayed(m *solvers.Mark, span float64) []Kink {
	if m.Kind == solvers.MarkStart || m.Inside {
		return nil
	}
	_, found := k.rested(k.ahead(m), float64(-0x1p-20*span))
	return found
}

// ahead returns what tapes read just before a mark.
func (k *Kinks) ahead(m *solvers.Mark) vec.Values {
	return vec.Values{vec.T: {m.T}, vec.Y: m.Ym, vec.D: m.Dm, vec.M: m.Mm, vec.P: k.point.P}
}

// behind returns what they read just behind it.
func (k *Kinks) behind(m *solvers.Mark) vec.Values {
	return vec.Values{vec.T: {m.T}, vec.Y: m.Yp, vec.D: m.Dp, vec.M: m.Mp, vec.P: k.point.P}
}

// rested lists the kinks at which the rates are at some values, and those at which they are a time eps later as well.
func (k *Kinks) rested(at vec.Values, eps float64) (here, found []Kink) {
	t := k.model.Compiled.Rates
	if k.tapes[t] == nil {
		return nil, nil
	}
	if here = k.at(t, &at); len(here) == 0 {
		return nil, nil
	}
	at = k.later(at, eps)
	found = k.at(t, &at)
	for i := range found {
		found[i].rests = true
	}
	return here, found
}

// later returns some values a time eps later, where states have moved by their rates.
func (k *Kinks) later(at vec.Values, eps float64) vec.Values {
	l := k.model.Layout
	rates, to := make([]float64, l.NY+l.NQ), slices.Clone(at[vec.Y])
	k.around.Rates(&at, rates)
	for i, f := range rates[:l.NY] {
		to[i] = math.FMA(eps, f, to[i])
	}
	at[vec.Y], at[vec.T] = to, []float64{at[vec.T][0] + eps}
	return at
}

// look evaluates t at a mark.
func (k *Kinks) look(t *tape.Tape, m *solvers.Mark, functionals []float64) []Kink {
	if t == nil || k.tapes[t] == nil {
		return nil
	}
	at := vec.Values{
		vec.T: {m.T}, vec.Y: m.Yp, vec.Ym: m.Ym, vec.D: m.Dp, vec.Dm: m.Dm, vec.P: k.point.P,
		vec.F:     functionals,
		vec.Fired: firedAt(m),
	}
	if m.Kind == solvers.MarkSite {
		at[vec.Row] = k.model.Rows[m.Instant]
	}
	if m.Kind != solvers.MarkStart && t != k.model.Compiled.Rates {
		at[vec.Y], at[vec.Ym] = k.snap(at[vec.Y]), k.snap(at[vec.Ym])
		defer k.within(k.slack)()
	}
	found := k.at(t, &at)
	if len(found) > 0 && t != k.model.Compiled.Rates { // a jump in a branch that is not taken is none
		e, ops := k.around.Run(t, &at), k.tapes[t].ops
		nudge := func(e *tape.Evaluator[float64], way int, part float64) {
			k.model.Load(t, e, &at)
			k.nudge(way/2, e, float64(part*beside)*float64(1-way%2*2))
		}
		found = slices.DeleteFunc(found, func(x Kink) bool {
			return x.Op.HasJump() && !tape.Matters(e, x.value, ops, x.near, k.second, 2*turns, nudge)
		})
	}
	jumps := func(x Kink) bool { return x.Op.HasJump() && !x.Clock && !x.Still && !x.Held }
	for i := range found { // on which side a state is, rounding decides, in runs on both sides of a param as well
		found[i].Rounded = found[i].Rounded || (found[i].Still || found[i].Held) && slices.ContainsFunc(found, jumps)
	}
	return found
}

// at evaluates t.
func (k *Kinks) at(t *tape.Tape, at *vec.Values) []Kink {
	kt := k.tapes[t]
	kt.at, kt.known, kt.lacks = *at, false, false
	kt.now.Begin(!kt.ready)
	kt.ready = true
	var found []Kink
	for _, v := range kt.ops {
		kink, near := kt.of[v], k.near
		if kink.Held && at[vec.T] != nil && at[vec.T][0] > k.began { // bodies may have set discretes to states
			near = max(near, k.slack)
		}
		if bent, curves := k.bent(t, v, near); bent || curves {
			kink.From, kink.at, kink.near, kink.curves = compiled.InputsOfValue(t, v), *at, near, !bent
			found = append(found, kink)
		}
	}
	if kt.lacks {
		return nil
	}
	return found
}

// snap returns y with those entries set to 0 that are smaller than the rounding errors of their largest past values.
func (k *Kinks) snap(y []float64) []float64 {
	cloned := false
	for i, x := range y {
		if x == 0 || i >= len(k.most) || !(math.Abs(x) <= float64(0x1p-46*k.most[i])) {
			continue
		}
		if !cloned {
			y, cloned = slices.Clone(y), true
		}
		y[i] = 0
	}
	return y
}

// firedAt returns what tapes read of which element of an event fires at a mark.
func firedAt(m *solvers.Mark) []float64 {
	fired := make([]float64, m.Firing.Elem+1)
	fired[m.Firing.Elem] = 1
	return fired
}

// body lists the kinks at which the body of an event is.
func (k *Kinks) body(m *solvers.Mark, span float64) (found []Kink) {
	t := k.model.Compiled.Affects[m.Firing.Event]
	if k.tapes[t] == nil {
		return nil
	}
	k.left = true
	defer func() { k.left = false }()
	now := m.T
	if m.T-k.began <= float64(0x1p-40*span) { // roots may lie a little behind the start
		now = k.began
	}
	if m.T > k.began {
		defer k.within(k.slack)()
	}
	at := vec.Values{vec.T: {now}, vec.Y: k.snap(m.Ym), vec.D: m.Dm, vec.P: k.point.P, vec.Fired: firedAt(m)}
	found = k.at(t, &at)
	if g := rootOf(m); g >= 0 { // what is made of the one number that is where the condition holds stays there
		if in := k.model.GuardInputs(g); len(in) == 1 && k.model.Layout.Part(in[0]).Len == 1 {
			found = slices.DeleteFunc(found, func(k Kink) bool { return slices.Equal(k.From, in) })
		}
	}
	return found
}

// rootOf returns the guard that is at its root at a mark, or -1.
func rootOf(m *solvers.Mark) int {
	if m.Caused {
		return -1
	}
	return m.Guard
}

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
	Falls   bool // at the start, from which on it falls
}

// BeforeMark lists the kinks at which an element of the functionals is largest just before a mark.
func (k *Kinks) BeforeMark(r Reading, m *solvers.Mark) []Kink {
	k.left = true
	defer func() { k.left = false }()
	return k.AtPeak(r, m.T, m.Ym, m.Dm, m.Mm)
}

// BehindMark lists the kinks at which it is largest just behind a mark.
func (k *Kinks) BehindMark(r Reading, m *solvers.Mark) []Kink {
	return k.AtPeak(r, m.T, m.Yp, m.Dp, m.Mp)
}

// AtPeak lists the kinks at which an element of the functionals is where it is largest: at (t, y), with discretes d and
// modes m. If there is a tie, it is one of them. Time moves none of them off its place, since a largest value does not
// change with its time.
func (k *Kinks) AtPeak(r Reading, t float64, y, d, m []float64) (found []Kink) {
	peaks := k.model.Compiled.Peaks
	at := vec.Values{vec.T: {t}, vec.Y: y, vec.D: d, vec.M: m, vec.P: k.point.P}
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
			of.kink.From, of.kink.of = compiled.InputsOf(peaks, tapec.Functionals.Number(n), -1), peaks
			of.kink.at = at
			found = append(found, of.kink)
		}
	}
	for i := range found {
		found[i].peak = r.Element
	}
	return found
}
