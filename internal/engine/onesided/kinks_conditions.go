package onesided

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// modes lists the kinks of params and discretes alone that decide about the modes at a mark, and about whether
// conditions are met in these modes.
func (k *Kinks) modes(m *solvers.Mark) (found []Kink) {
	c := k.model.Compiled
	at := k.behind(m)
	at[vec.Kept] = slices.Repeat([]float64{math.Inf(1)}, k.model.Layout.NM)
	if k.anyStill(c.Choose) {
		found = slices.DeleteFunc(k.at(c.Choose, &at), func(x Kink) bool { return !x.Still && !x.Held })
	}
	if k.anyStill(c.Guards) {
		found = append(found, k.through(outlet{c.Guards, tapec.Truths.Name().String(), func(i int) bool {
			return c.GuardList[i].Event >= 0 || c.GuardList[i].Mode >= 0
		}}, &at, true)...)
	}
	k.decided = len(found) > 0
	return decide(found)
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
	return kt != nil && slices.ContainsFunc(kt.ops, func(v tape.Value) bool { return kt.of[v].Still || kt.of[v].Held })
}

// settable reports whether a guard is that of a condition, which a body may set to its threshold.
func settable(g tapec.Guard) bool { return !g.Watch && !g.Kink }

// reachesAny reports whether the body of an event at a root may set any condition to its threshold.
func (k *Kinks) reachesAny(event int) bool {
	does, known := k.memo.reached[event]
	if !known {
		sets := compiled.SetsGuards(k.model, event)
		for i, g := range k.model.Compiled.GuardList {
			does = does || settable(g) && (g.Clock || sets && k.reaches(event, i))
		}
		k.memo.reached[event] = does
	}
	return does
}

// reaches reports whether the body of an event assigns to what the margin of a guard reads.
func (k *Kinks) reaches(event, guard int) bool {
	c := k.model.Compiled
	reads, known := k.memo.reads[guard] // each body asks for each guard
	if !known {
		for _, in := range k.model.GuardInputs(guard) {
			reads = append(reads, in.String())
		}
		k.memo.reads[guard] = reads
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
	at := k.behind(m)
	after, size := k.sizes(&at)
	zero := func(margins []float64, i int) bool { return near0(margins[i], size[i]) }
	var set []int
	for i, g := range c.GuardList {
		if settable(g) && zero(after, i) {
			set = append(set, i)
		}
	}
	if len(set) == 0 {
		return nil
	}
	at = k.ahead(m)
	before := k.margins(&at)
	set = slices.DeleteFunc(set, func(i int) bool {
		return zero(before, i) && !k.reaches(m.Firing.Event, i)
	})
	if len(set) == 0 {
		return nil
	}
	seen := map[int]bool{}
	for _, way := range []float64{beside, -beside} {
		n := portionsOf(0)
		t, q := move([]float64{m.T}, way, &n), k.params(way, &n)
		y, d := k.fire(m, t, move(m.Ym, way, &n), move(m.Dm, way, &n), q)
		moved := k.margins(&vec.Values{vec.T: t, vec.Y: y, vec.D: d, vec.M: m.Mp, vec.P: q})
		for _, i := range set {
			if !seen[i] && !zero(moved, i) {
				kink := k.threshold(i)
				kink.Set, kink.From = true, append(kink.From, k.timeOf(m)...)
				found, seen[i] = append(found, kink), true
			}
		}
	}
	return found
}

// put is an instant whose time the body of an event assigns, and what that follows from.
type put struct {
	instant int
	from    []tapec.Name
}

// puts lists the instants of events that the body of an event puts somewhere.
func (k *Kinks) puts(event int) []put {
	if list, known := k.memo.puts[event]; known {
		return list
	}
	c := k.model.Compiled
	body, list := c.Affects[event], []put(nil)
	for i, in := range c.InstantList {
		if body == nil || in.Kind != tapec.Fire && in.Kind != tapec.Every || in.Pending {
			continue
		}
		names := k.model.InstantInputs(i)
		if slices.ContainsFunc(names, func(n tapec.Name) bool {
			_, assigned := body.Output(n.String())
			return assigned
		}) {
			list = append(list, put{i, names})
		}
	}
	if k.memo.puts == nil {
		k.memo.puts = make(map[int][]put)
	}
	k.memo.puts[event] = list
	return list
}

// due lists the events that the body of an event puts exactly at the present: put earlier, they do not happen.
func (k *Kinks) due(m *solvers.Mark) (found []Kink) {
	list := k.puts(m.Firing.Event)
	if len(list) == 0 {
		return nil
	}
	c := k.model.Compiled
	times := k.around.Output(c.Instants, tapec.Times.Name(), &vec.Values{vec.T: {m.T}, vec.D: m.Dp, vec.P: k.point.P})
	for _, p := range list {
		in, at := c.InstantList[p.instant], times[p.instant]
		if in.Period >= 0 {
			nth := max(math.RoundToEven((m.T-at)/times[in.Period]), 0)
			if at = math.FMA(nth, times[in.Period], at); in.Count >= 0 && nth >= times[in.Count] {
				continue
			}
		}
		if math.Abs(at-m.T) <= float64(k.slack*math.Abs(m.T)) {
			kink := Kink{Op: tape.Less, Span: in.Span, Set: true, timed: true, From: p.from, margins: []int{p.instant}}
			kink.Into.events = []int{in.Event}
			found = append(found, kink)
		}
	}
	return found
}

// reset lists the kinks of discretes that times read and the body of an event has set.
func (k *Kinks) reset(m *solvers.Mark) []Kink {
	times, body := k.model.Compiled.Instants, k.model.Compiled.Affects[m.Firing.Event]
	if k.tapes[times] == nil || body == nil {
		return nil
	}
	at := vec.Values{vec.T: {m.T}, vec.P: k.point.P, vec.D: m.Dp}
	found := k.through(outlet{times, tapec.Times.Name().String(), func(int) bool { return true }}, &at, false)
	return slices.DeleteFunc(found, func(x Kink) bool {
		return !slices.ContainsFunc(x.From, func(n tapec.Name) bool {
			_, sets := body.Output(n.String())
			return sets
		})
	})
}

// margins returns those of all guards at some values.
func (k *Kinks) margins(at *vec.Values) []float64 { return slices.Clone(k.peek(at)) }

// peek is margins, valid until the next call.
func (k *Kinks) peek(at *vec.Values) []float64 {
	k.model.Load(k.model.Compiled.Guards, k.guards, at)
	k.guards.Run()
	return k.guards.Output(tapec.Margins.Name().String())
}

// condition lists the kinks of params alone at which the condition is that caused a mark.
func (k *Kinks) condition(m *solvers.Mark) []Kink {
	t := k.model.Compiled.Guards
	if m.Guard < 0 || k.tapes[t] == nil {
		return nil
	}
	k.left = true
	defer func() { k.left = false }()
	at := k.ahead(m)
	o := outlet{t, tapec.Margins.Name().String(), func(i int) bool { return i == m.Guard }}
	found := decide(k.through(o, &at, true))
	if m.Caused {
		return found
	}
	return append(found, k.corner(m.Guard, &at)...)
}

// corner lists the kinks of states in the condition of guard i, whose margin is 0 at some values.
func (k *Kinks) corner(i int, at *vec.Values) []Kink {
	margins := tapec.Margins.Name()
	if k.model.Compiled.GuardList[i].Compound { // its parts change together, of which the run itself has warned
		return nil
	}
	defer k.within(tape.Rounding)()
	found := k.through(outlet{k.model.Compiled.Guards, margins.String(), func(j int) bool { return i == j }}, at, false)
	found = slices.DeleteFunc(found, func(k Kink) bool { return k.Still || k.Held || !k.Op.HasKink() })
	for j := range found {
		found[j].Corner, found[j].margins = true, []int{i}
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
	at := k.behind(m)
	here, size := k.sizes(&at)
	for i, g := range c.GuardList {
		if settable(g) && near0(here[i], size[i]) {
			found = append(found, k.corner(i, &at)...)
		}
	}
	return found
}
