package export

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/model"
)

type (
	reaction = model.Reaction
	specie   = model.Specie
)

// sbmlEvent is an event as SBML has it.
type sbmlEvent struct {
	name     string
	trigger  string // MathML
	initial  bool
	priority *node
	e        *event
	body     []string // further assignments
	filter   *node    // nil for none: assignments change nothing where it does not hold
}

func (w *sbmlWriter) writeEvents() {
	var list []*sbmlEvent
	for _, e := range w.exporter.events {
		list = append(list, w.sbmlEvents(e)...)
	}
	if len(list) == 0 {
		return
	}
	body, random := w.order()
	switch {
	case len(list) > 1 && !random:
		w.rank(list)
	default:
		for _, s := range list {
			if s.priority = s.e.rank; s.priority == nil && s.e.of.Priority != 0 {
				s.priority = w.num(s.e.of.Priority)
			}
		}
	}
	if len(list) > 1 && !body {
		w.note(w.source.Events[0].Span, "where events come at one time, SBML looks at their conditions after each of "+
			"them, and this model after all of them: `solver { recheck = body }` makes it the same here")
	}
	for _, s := range list {
		w.writeEvent(s)
	}
}

// order says how the model orders events at one time: whether conditions are evaluated after every body, and whether
// equal priorities are drawn.
func (w *sbmlWriter) order() (body, random bool) {
	for _, b := range w.source.Settings.Blocks {
		for _, k := range b.Keys {
			if b.Kind == "solver" {
				body = body || k.Key == "recheck" && k.Value.Word == "body"
				random = random || k.Key == "ties" && k.Value.Word == "random"
			}
		}
	}
	return body, random
}

// rank gives events priorities that say in which order they come, which SBML leaves open where they are equal.
func (w *sbmlWriter) rank(list []*sbmlEvent) {
	if i := slices.IndexFunc(list, func(s *sbmlEvent) bool { return s.e.rank != nil }); i >= 0 {
		for _, s := range list {
			if s.priority = s.e.rank; s.priority == nil {
				s.priority = w.num(s.e.of.Priority)
			}
		}
		w.note(list[i].e.of.Span, "events whose priorities are equal come in the order of the file here, and in any "+
			"order in SBML")
		return
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *sbmlEvent) int {
		switch {
		case a.e.of.Priority > b.e.of.Priority:
			return -1
		case a.e.of.Priority < b.e.of.Priority:
			return 1
		}
		return 0
	})
	for i, s := range sorted {
		s.priority = w.num(float64(len(sorted) - i))
	}
}

// sbmlEvents returns what an event is in SBML: one event, or several.
func (w *sbmlWriter) sbmlEvents(e *event) (list []*sbmlEvent) {
	if e.of.Stop {
		w.note(e.of.Span, "%s ends the run here; SBML cannot say so, and goes on", e.name)
		if len(e.body) == 0 {
			return nil
		}
	}
	one := func(trigger string, initial bool) *sbmlEvent {
		s := &sbmlEvent{name: e.name, trigger: trigger, initial: initial, e: e}
		list = append(list, s)
		return s
	}
	switch {
	case e.crossing != nil:
		w.crossings(e, one)
	case e.when != nil:
		one(w.inner(e.when), !e.on.Start)
	case e.every != nil:
		w.periodic(e, one)
	default:
		w.atTimes(e, one)
	}
	if e.on.Once {
		w.once(e, list)
	}
	return list
}

// crossings writes an event at a change of sign. That in either direction is two. What begins at 0, or is set to it,
// has no sign that could change, so 0 belongs to both sides.
func (w *sbmlWriter) crossings(e *event, one func(string, bool) *sbmlEvent) {
	zero := w.num(0)
	if e.on.Way >= 0 {
		one(w.inner(w.call("<=", zero, e.crossing)), true).filter = e.when
	}
	if e.on.Way <= 0 {
		one(w.inner(w.call("<=", e.crossing, zero)), true).filter = e.when
	}
	if e.on.Way == 0 {
		set := map[*quantity]bool{}
		for _, a := range e.body {
			set[a.to] = true
		}
		if reach(e.crossing, set) {
			w.cannot(e.of.Span, "the body of %s changes what it waits for, which may set off the opposite crossing in "+
				"SBML: write two events, `crosses … up` and `crosses … down`", e.name)
		}
	}
	if e.when != nil && e.delay != nil {
		w.cannot(e.of.Span, "%s has a condition beside its crossing and a delay: ask for the condition in the body, "+
			"with if", e.name)
	}
}

// reach reports whether a value depends on one of the quantities.
func reach(n *node, set map[*quantity]bool) bool {
	if n.op == name {
		return set[n.of] || n.of.symbol == nil && reach(n.of.value, set)
	}
	return slices.ContainsFunc(n.args, func(a *node) bool { return reach(a, set) })
}

// fixed reports an error where the time of an event can change along a run, and returns whether there is none.
func (w *sbmlWriter) fixed(e *event, list ...*node) bool {
	for _, n := range list {
		if n != nil && n.uses&moving != 0 {
			w.cannot(e.of.Span, "the times of %s depend on discretes, and SBML has no events at such times: wait for "+
				"a condition, `when %s >= …`", e.name, w.time.name)
			return false
		}
	}
	return true
}

// atTimes writes an event at known times: one for each. Times before the start never come.
func (w *sbmlWriter) atTimes(e *event, one func(string, bool) *sbmlEvent) {
	now := w.named(w.time)
	if !w.fixed(e, e.times...) {
		return
	}
	for k, t := range e.times {
		cond := w.call("<=", t, now)
		if known := w.call("<=", w.from, t); known.op == "false" {
			continue
		} else {
			cond = w.call("and", cond, known)
		}
		s := one(w.inner(cond), false)
		if len(e.times) > 1 {
			s.name += "_" + itoa(k+1)
		}
	}
}

// periodic writes an event at a, a + P, a + 2P …: a parameter counts how many have been.
func (w *sbmlWriter) periodic(e *event, one func(string, bool) *sbmlEvent) {
	if !w.fixed(e, e.every, e.from, e.to, e.count) {
		return
	}
	from := e.from
	if from == nil {
		from = w.from
	}
	id := w.helper(e.name+"_count", "how many times of "+e.name+" have been", 0, false)
	count := &quantity{name: id, base: id, uses: ofDiscretes}
	w.ids.of[count] = id
	n := w.named(count)
	due := w.call("+", from, w.call("*", n, e.every))
	cond := w.call("<=", due, w.named(w.time))
	if e.to != nil {
		cond = w.call("and", cond, w.call("<=", due, e.to))
	}
	if e.count != nil {
		cond = w.call("and", cond, w.call("<", n, e.count))
	}
	if early := w.call("<", from, w.from); early.op != "false" { // those before the start never come
		missed := w.call("ceil", w.call("/", w.call("-", w.from, from), e.every))
		w.initial(id, w.choose(early, missed, w.num(0)))
	}
	s := one(w.inner(cond), false)
	s.body = append(s.body, w.assigned(id, w.call("+", n, w.num(1))))
	if e.delay != nil {
		w.cannot(e.of.Span, "%s is periodic and has a delay: add the delay to `from`", e.name)
	}
}

// once has an event fire once: a parameter tells that it has.
func (w *sbmlWriter) once(e *event, list []*sbmlEvent) {
	if e.delay != nil {
		w.cannot(e.of.Span, "`once` is about triggers, and %s has a delay: let the body of another event, without a "+
			"delay, set a discrete that the condition asks for", e.name)
		return
	}
	id := w.helper(e.name+"_done", "1 after "+e.name, 0, false)
	done := &quantity{name: id, base: id, uses: ofDiscretes}
	w.ids.of[done] = id
	for _, s := range list {
		s.trigger = "<apply><and/>" + s.trigger + w.inner(w.call("<", w.named(done), w.num(0.5))) + "</apply>"
		value := w.num(1)
		if s.filter != nil {
			value = w.choose(s.filter, value, w.named(done))
		}
		s.body = append(s.body, w.assigned(id, value))
	}
}

func (w *sbmlWriter) assigned(id string, v *node) string {
	return fmt.Sprintf(`<eventAssignment variable="%s">%s</eventAssignment>`+"\n", id, w.math(v))
}

func (w *sbmlWriter) writeEvent(s *sbmlEvent) {
	e := s.e
	switch {
	case e.mixed != nil:
		w.cannot(e.mixed.Span, "this joins what %s keeps of its trigger to a value of the execution, and SBML has "+
			"both of the same time: write `values = execution`, or let an event without a delay keep what is "+
			"joined in a "+
			"discrete", e.name)
		return
	case e.atTrigger && e.atExecution:
		w.cannot(e.of.Span, "some assignments of %s read the trigger and others the execution, and SBML has all of "+
			"the same time: write two events", e.name)
		return
	}
	id := w.ids.fresh(strings.ReplaceAll(joinedEvent(s.name), "@", "_at_line_"))
	label := ""
	if id != s.name {
		label = fmt.Sprintf(` name="%s"`, escaped(s.name))
	}
	fmt.Fprintf(&w.events, `<event id="%s"%s useValuesFromTriggerTime="%t">`+"\n", id, label, e.atTrigger)
	if e.of.Doc != "" {
		fmt.Fprintf(&w.events, `<notes><p xmlns="http://www.w3.org/1999/xhtml">%s</p></notes>`+"\n", escaped(e.of.Doc))
	}
	fmt.Fprintf(&w.events, `<trigger initialValue="%t" persistent="%t">%s%s</math></trigger>`+"\n", s.initial,
		e.persistent, openMath, s.trigger)
	if s.priority != nil {
		fmt.Fprintf(&w.events, "<priority>%s</priority>\n", w.math(s.priority))
	}
	if e.delay != nil {
		fmt.Fprintf(&w.events, "<delay>%s</delay>\n", w.math(e.delay))
	}
	if len(e.body)+len(s.body) > 0 {
		w.events.WriteString("<listOfEventAssignments>\n")
		for _, a := range e.body {
			if w.coupled(a.to) {
				w.cannot(e.of.Span, "%s changes %s, which a mass matrix couples with others: write the equations of "+
					"this matrix out, with alg", e.name, a.to.name)
				continue
			}
			v := a.value
			if s.filter != nil {
				v = w.choose(s.filter, v, w.named(a.to))
			}
			w.events.WriteString(w.assigned(w.ids.of[a.to], v))
		}
		w.events.WriteString(strings.Join(s.body, "") + "</listOfEventAssignments>\n")
	}
	w.events.WriteString("</event>\n")
}

// joinedEvent writes the subscripts of an event with _.
func joinedEvent(name string) string {
	return strings.NewReplacer("[", "_", ",", "_", "]", "").Replace(name)
}
