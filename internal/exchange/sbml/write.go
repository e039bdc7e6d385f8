package sbml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/source"
)

// writer writes the items, and keeps the first error.
type writer struct {
	Items
	err error
}

// doc writes the doc comment of what follows.
func (w *writer) doc(text string) {
	if text != "" {
		w.Line("## %s", text)
	}
}

// of takes a translation, and keeps its error, which says what was being written.
func (w *writer) of(e expr, err error) expr {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s: %w", w.from.What, err)
	}
	return e
}

func (m *Model) write(o Options) (*Items, error) {
	from, to := o.From, o.To
	if from == "" {
		from = "0"
	}
	if to == "" {
		to = "100"
	}
	m.nameRates()
	m.from = from
	name := clean(m.root.attr("id"))
	if name == "_" {
		name = "translated"
	}
	title := docOf(m.root)
	if title != "" {
		title = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(title) + `"`
	}
	w := &writer{}
	w.Item("model %s%s\n", quoted(name), title)
	w.Item("time %s from %s to %s\n", m.time, from, to)
	if o.Head != nil {
		w.Add(o.Head)
		w.Line("")
	}
	for _, f := range m.kept {
		w.From(m.origin(f.of, "function %s", f.of.attr("id")))
		w.Item("%s", f.text)
	}
	w.Line("")
	m.writeValues(w)
	m.writeRules(w)
	m.writeEquations(w)
	w.Line("")
	events := m.root.list("listOfEvents")
	several := len(events) > 1 || o.Several
	for i, e := range events {
		m.writeEvent(w, e, i, several)
	}
	w.Line("")
	w.From(source.Origin{})
	m.writeResults(w, o.Bare)
	if o.Tail != nil {
		w.Add(o.Tail)
	}
	if several {
		ties := "" // SBML draws the order of events of equal priority; of events without, any order is right
		if o.Ordered || slices.ContainsFunc(events, func(e *element) bool { return e.child("priority") != nil }) {
			ties = "  ties = random(seed = 1)"
		}
		w.Item("\nsolver { recheck = body%s }", ties)
	}
	return &w.Items, w.err
}

// nameRates gives names to the rates that expressions ask for by rateOf.
func (m *Model) nameRates() {
	m.root.each(func(e *element) {
		if e.name.Local != "apply" || len(e.children) != 2 || e.children[0].name.Local != "csymbol" {
			return
		}
		s := m.symbols[e.children[1].text]
		if s != nil && strings.HasSuffix(e.children[0].attr("definitionURL"), "/rateOf") && s.rateName == "" {
			s.rateName = m.named(s.id + "_rate")
		}
	})
}

// writeValues declares params, discretes, states and unknowns.
func (m *Model) writeValues(w *writer) {
	for _, s := range m.order {
		if name := s.startName; name != "" {
			w.From(m.started(s))
			w.Item("param %s = %s", name, w.of(m.given(s)).number().text)
		}
	}
	words := map[kind]string{param: "param", discrete: "discrete", state: "state", alg: "alg"}
	for _, k := range []kind{param, discrete, state, alg} {
		n := len(w.items)
		for _, s := range m.order {
			if s.kind != k {
				continue
			}
			name := s.name
			if s.stored != "" {
				name = s.stored
			}
			w.From(m.started(s))
			w.doc(s.doc)
			word := words[k]
			if k == param && (s.set != nil || s.start == nil) && s.fixed {
				word = "const"
			}
			if s.set != nil && k == param && !s.species {
				w.From(s.set.from)
				w.Item("%s %s = %s", word, name, s.set.text)
				continue
			}
			w.Item("%s %s = %s", word, name, w.of(m.startOf(s)).number().text)
			if v, moves, err := (latePart{m}).past(s); moves {
				w.Item("past %s = %s", name, w.of(v, err).text)
			}
		}
		if len(w.items) > n {
			w.Line("")
		}
	}
	m.fast.writeAmounts(w)
	if len(m.fast.pools)+len(m.fast.kept) == 0 &&
		!slices.ContainsFunc(m.order, func(s *symbol) bool { return s.kind == state }) {
		m.resting = m.named("rest")
		w.From(source.Origin{})
		w.Item("state %s = 0\n", m.resting)
	}
}

// isRead reports whether a formula of a model reads an id.
func isRead(model *element, id string) (found bool) {
	model.each(func(e *element) {
		found = found || e.name.Local == "ci" && strings.TrimSpace(e.text) == id
	})
	return found
}

// given is the value at the start of a symbol itself.
func (m *Model) given(s *symbol) (expr, error) { return m.startAs(s, s.isAmount, "") }

// startOf is the value at the start of what stores a symbol: of a species its amount or its concentration.
func (m *Model) startOf(s *symbol) (expr, error) {
	return m.startAs(s, s.isAmount || s.stored != "", s.startName)
}

// startAs is the value at the start of a symbol, of a species as an amount or as a concentration. If from is not "",
// it is a param that has the value of the symbol itself.
func (m *Model) startAs(s *symbol, asAmount bool, from string) (v expr, err error) {
	byAmount := s.byAmount
	switch {
	case from != "":
		v, byAmount = atom(from, false), s.isAmount
	case s.set != nil: // Define
		v, byAmount = atom("("+s.set.text+")", false), s.isAmount
	case s.start != nil:
		v, err = latePart{m}.start(s.start.math(), nil)
		byAmount = s.isAmount
	case s.value != "":
		v, err = literal(s.value, s.of)
	case s.kind == alg:
		return atom("0", false), nil
	case s.of.name.Local == "compartment":
		m.note(s.of.place, "the compartment %s has no size: it is taken as 1", s.id)
		return atom("1", false), nil
	case s.of.name.Local == "speciesReference":
		return v, fail(s.of.place, "it has no value: write one")
	case m.alone && !isRead(m.root, s.id):
		m.note(s.of.place, "%s has no value at the start, and no formula reads it: it is taken as 0", s.id)
		return atom("0", false), nil
	default:
		return v, fail(s.of.place, "it has no value at the start: write one, or an initial assignment")
	}
	if err != nil || !s.species {
		return v, err
	}
	size := atom(s.in.name, false)
	switch {
	case asAmount == byAmount || v.text == "0":
		return v, nil
	case asAmount:
		return mul(v.number(), size), nil
	}
	return div(v.number(), size), nil
}

// ruleOf is what the rule of a symbol says, or the kinetic law of a reaction.
func (m *Model) ruleOf(s *symbol) (expr, error) {
	if s.set != nil { // Define
		return atom("("+s.set.text+")", false), nil
	}
	if s.solved != nil {
		return s.solved()
	}
	of := s.rule.math()
	if of == nil {
		return expr{}, fail(s.of.place, "it has no expression")
	}
	v, err := m.expression(of, s.locals)
	return v.number(), err
}

// rate is what the rate of the state is that a symbol is, or that stores it.
func (m *Model) rate(s *symbol) (expr, error) {
	if s.rule != nil {
		return m.ruleOf(s)
	}
	var order []*symbol
	net, others := map[*symbol]float64{}, map[*symbol][]expr{}
	for _, t := range s.reactions {
		if _, known := net[t.rate]; !known {
			order = append(order, t.rate)
		}
		if v, err := strconv.ParseFloat(t.factor.text, 64); err == nil {
			net[t.rate] += v
		} else {
			net[t.rate] += 0
			others[t.rate] = append(others[t.rate], t.factor)
		}
	}
	var sum sum
	for _, rate := range order {
		factors := others[rate]
		if v := net[rate]; v != 0 {
			text := strconv.FormatFloat(v, 'g', -1, 64)
			factors = append(factors, atom(strings.ToLower(strings.TrimPrefix(text, "+")), false)) // +Inf is inf
		}
		for _, f := range factors {
			sum.add(f, rate.name)
		}
	}
	return sum.expr(), nil
}

// sum is a sum of reactions that is being written.
type sum struct {
	text  strings.Builder
	terms int
	bind  int // how tightly its only term binds
}

func (s *sum) add(factor expr, reaction string) {
	text, minus := strings.CutPrefix(factor.in(bindSign), "-")
	sign, bind := " + ", bindProduct
	switch {
	case s.terms == 0 && minus:
		sign, bind = "-", bindSign
	case s.terms == 0:
		sign = ""
	case minus:
		sign = " - "
	}
	if text != "1" {
		reaction = text + "*" + reaction
	}
	s.text.WriteString(sign + reaction)
	s.terms++
	s.bind = bind
}

func (s *sum) expr() expr {
	switch s.terms {
	case 0:
		return atom("0", false)
	case 1:
		return expr{s.text.String(), s.bind, false}
	}
	return expr{s.text.String(), bindSum, false}
}

// derivative is that of a symbol by time, for rateOf.
func (m *Model) derivative(s *symbol) (expr, error) {
	zero := atom("0", false)
	changes := len(s.reactions) > 0
	switch {
	case s.stored != "":
		amount, err := zero, error(nil)
		if changes {
			amount, err = m.rate(s)
		}
		if err != nil || s.in.kind != state {
			return div(amount, atom(s.in.name, false)), err
		}
		size, err := m.rate(s.in)
		return div(sub(amount, mul(atom(s.name, false), size)), atom(s.in.name, false)), err
	case s.kind == state && changes && !s.isAmount:
		v, err := m.rate(s)
		return div(v, atom(s.in.name, false)), err
	case s.kind == state:
		return m.rate(s)
	case s.kind == let || s.kind == alg:
		return zero, fail(s.of.place, "rateOf(%s): a rule gives %[1]s, not a rate", s.id)
	}
	return zero, nil
}

// rateOf is what the function rateOf of an id is.
func (m *Model) rateOf(of *element, in scope) (expr, error) {
	s := m.symbols[of.text]
	if v, local := in[of.text]; local {
		i := slices.IndexFunc(m.order, func(s *symbol) bool { return s.name == v.text })
		if i < 0 {
			return expr{}, fail(of.place, "rateOf is for an id of the model, and %s is none", v.text)
		}
		s = m.order[i]
	}
	if s == nil {
		return expr{}, fail(of.place, "nothing has the id %q", of.text)
	}
	if s.rateName == "" { // of a local parameter
		return atom("0", false), nil
	}
	return atom(s.rateName, false), nil
}

// writeRules writes what assignment rules and reactions give, and the rates that expressions ask for.
func (m *Model) writeRules(w *writer) {
	for _, s := range m.order {
		switch {
		case s.stored != "":
			w.From(m.declared(s))
			w.Item("let %s = %s/%s", s.name, s.stored, s.in.name)
		case s.kind == let:
			w.From(m.ruled(s))
			w.doc(s.doc)
			w.Item("let %s = %s", s.name, w.of(m.ruleOf(s)).text)
		}
	}
	for _, s := range m.order {
		if name := s.rateName; name != "" {
			w.From(m.ruled(s))
			w.Item("let %s = %s", name, w.of(m.derivative(s)).text)
		}
	}
	w.Line("")
}

// writeEquations writes the rates of states, and algebraic rules.
func (m *Model) writeEquations(w *writer) {
	for _, s := range m.order {
		if s.kind != state {
			continue
		}
		w.From(m.ruled(s))
		v := w.of(m.rate(s))
		switch {
		case s.stored != "":
			w.Item("%s' = %s", s.stored, v.text)
			continue
		case s.rateName != "":
			v = atom(s.rateName, false)
		case len(s.reactions) > 0 && !s.isAmount && v.text != "0":
			v = div(v, atom(s.in.name, false))
		}
		w.Item("%s' = %s", s.name, v.text)
	}
	if m.resting != "" {
		w.From(source.Origin{})
		w.Item("%s' = 0", m.resting)
	}
	m.fast.writeFast(w)
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" && r.math() != nil {
			w.From(m.origin(r, "algebraic rule"))
			w.Item("0 = %s", w.of(m.expression(r.math(), nil)).number().text)
		}
	}
}

// writeEvent writes an event. Several is whether there are others, which could come at the same time.
func (m *Model) writeEvent(w *writer, e *element, i int, several bool) {
	id := e.attr("id")
	if id == "" {
		id = "event" + strconv.Itoa(i+1)
	}
	trigger := e.child("trigger")
	if trigger.math() == nil {
		m.note(e.place, "the event %s has no trigger, and is left out", id)
		return
	}
	w.From(m.origin(e, "event %s", id))
	head := "event " + m.named(id) + " when " + w.of(m.expression(trigger.math(), nil)).condition().text
	if p := e.child("priority").math(); p != nil {
		head += " priority " + w.of(m.expression(p, nil)).number().text
	}
	if trigger.isNot("initialValue") {
		head += " at start"
	}
	late, waits := e.isNot("useValuesFromTriggerTime"), true
	if d := e.child("delay").math(); d != nil {
		head += ", delay = " + w.of(m.expression(d, nil)).number().text
	} else if waits = !late && several; waits {
		head += ", delay = 0" // values are those of the trigger, before others at the same time
	}
	body, mixed := m.eventBody(w, e, waits && !late)
	if waits && (late || mixed) {
		head += ", values = execution"
	}
	if trigger.isNot("persistent") {
		head += ", persistent = false"
	}
	w.doc(docOf(e))
	w.Item("%s { %s }", head, strings.Join(body, "; "))
}

// eventBody is what an event sets. If kept, its values are those of the trigger. What turns a concentration into an
// amount, and keeps the amounts in a compartment that jumps, is of the execution all the same: then the body is
// mixed, and says of each value that it is of the trigger.
func (m *Model) eventBody(w *writer, e *element, kept bool) (body []string, mixed bool) {
	given, news := map[string]expr{}, map[string]expr{}
	var order []*symbol
	for _, a := range e.list("listOfEventAssignments") {
		if a.math() == nil {
			continue
		}
		s := m.symbols[a.attr("variable")]
		given[s.id] = w.of(m.expression(a.math(), nil)).number()
		order = append(order, s)
		mixed = mixed || kept && s.stored != ""
	}
	amounts := m.fast.keepAmounts(given)
	mixed = mixed || kept && len(amounts) > 0
	jumps := func(s *symbol) bool {
		_, found := given[s.in.id]
		return found && s.species && s.kind == state && s.stored == "" && !s.isAmount
	}
	mixed = mixed || kept && slices.ContainsFunc(m.order, func(s *symbol) bool { return s.species && jumps(s) })
	for id, v := range given {
		if _, err := strconv.ParseFloat(v.text, 64); mixed && err != nil {
			v = atom("at_trigger("+v.text+")", false)
		}
		news[id] = v
	}
	for _, s := range m.order {
		if !s.species || !jumps(s) {
			continue
		}
		// A compartment that jumps keeps the amounts in it, also those that the event sets.
		v, set := news[s.id]
		if !set {
			order, v = append(order, s), atom(s.name, false)
		}
		news[s.id] = div(mul(v, atom(s.in.name, false)), news[s.in.id])
	}
	for _, s := range order {
		name, v := s.name, news[s.id]
		if s.stored != "" {
			name, v = s.stored, mul(v, atom(s.in.name, false))
		}
		body = append(body, name+" = "+v.text)
	}
	return append(body, amounts...), mixed
}

// writeResults reports what changes, and has an objective for the last value of each species that does, and of all that
// has a rate rule; without these, of whatever changes.
func (m *Model) writeResults(w *writer, bare bool) {
	var report []string
	var moved, others []*symbol
	plain := true // the states are what is to be reported
	for _, s := range m.order {
		if s.kind == param && s.stored == "" || s.locals != nil || m.constant(s) {
			continue
		}
		plain = plain && s.kind == state && s.stored == ""
		report = append(report, s.name)
		if s.kind == state || s.quick {
			moved = append(moved, s)
		} else {
			others = append(others, s)
		}
	}
	if !plain {
		w.Item("output %s\n", strings.Join(report, ", "))
	}
	if len(moved) == 0 {
		moved = others
	}
	for _, s := range moved {
		if !bare {
			w.Item("objective %s = final(%s)", m.named(s.id+"_end"), s.name)
		}
	}
}
