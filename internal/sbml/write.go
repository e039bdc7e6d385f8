package sbml

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/lazy"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Options are what a file in SBML does not say.
type Options struct {
	From, To string // the span of time; 0 and 100 where they are empty
	Name     string // of the translation; that of the file where it is empty
	Bare     bool   // without objectives
	Tail     *Items // further items, or nil
}

// Is reports whether a text is in SBML, by its first element.
func Is(text string) bool {
	if isUTF16(text) {
		text = strings.ReplaceAll(text[2:min(len(text), 4096)], "\x00", "")
	}
	text = strings.TrimPrefix(text, "\ufeff")
	for { // what stands before the first element may be long
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(text, "<?"):
			_, text, _ = strings.Cut(text, "?>")
			continue
		case strings.HasPrefix(text, "<!--"):
			_, text, _ = strings.Cut(text, "-->")
			continue
		}
		break
	}
	text = text[:min(len(text), 4096)]
	return strings.HasPrefix(text, "<") && firstTag().MatchString(text)
}

var firstTag = lazy.Regexp(`<(\w+:)?sbml\b`)

// Translate writes a model in SBML in the language of odes, in its normal layout. It reports to list what is wrong
// with the file or cannot be translated, and returns nil then, and notes of what was left out or assumed.
func Translate(file *source.File, o Options, list *diag.List) *source.File {
	m := Read(file, list)
	if m == nil {
		return nil
	}
	return m.Text(o, list)
}

// Read reads a model. It reports to list what is wrong with the file or cannot be translated, and returns nil then.
func Read(file *source.File, list *diag.List) *Model {
	m := &Model{
		file:    file,
		symbols: map[string]*symbol{}, functions: map[string]*function{}, names: map[string]bool{},
		assigned: map[string]bool{}, static: map[*symbol]bool{}, rates: map[*symbol]string{},
		set: map[*symbol]setting{}, fixed: map[*symbol]bool{}, starts: map[*symbol]string{},
	}
	document, err := parse(file.Text())
	if err == nil {
		err = m.open(document)
	}
	if err == nil {
		err = m.read()
	}
	if !m.report(err, list) {
		return nil
	}
	return m
}

// report adds an error, and all notes so far, to list. It returns whether there was none.
func (m *Model) report(err error, list *diag.List) bool {
	for _, n := range m.notes {
		list.Notef(parser.CodeForeignFile, m.span(n.at), "%s", n.text)
	}
	m.notes = nil
	var wrong *finding
	if errors.As(err, &wrong) {
		list.Errorf(parser.CodeForeignFile, m.span(wrong.at), "%s", err)
	}
	return err == nil
}

// Name returns what an id is called in the translation, and whether it is a param there.
func (m *Model) Name(id string) (name string, isParam, ok bool) {
	s := m.symbols[id]
	if s == nil {
		return "", false, false
	}
	return s.name, s.kind == param && s.stored == "", true
}

// Given returns the value at the start that the file gives a symbol, if it does.
func (m *Model) Given(id string) (value string, ok bool) {
	v, err := m.given(m.symbols[id])
	return v.number().text, err == nil
}

// Assume gives a symbol a value at the start.
func (m *Model) Assume(id, number string) {
	s := m.symbols[id]
	s.value, s.byAmount = number, s.isAmount
}

// IsSet reports whether others have set a symbol.
func (m *Model) IsSet(id string) bool {
	_, set := m.set[m.symbols[id]]
	return set
}

// IsRule reports whether a rule or a reaction gives a symbol, which then has no value at the start of its own.
func (m *Model) IsRule(id string) bool {
	s := m.symbols[id]
	return s != nil && (s.kind == let || s.kind == alg)
}

// Time returns the name of the time.
func (m *Model) Time() string { return m.time }

// Free returns a name for something new, which is like the proposal.
func (m *Model) Free(proposal string) string { return m.named(proposal) }

// Set declares a param with this behind its `=`, whatever the file says of its value, since from says so. It returns
// false if something changes the symbol.
func (m *Model) Set(id, declaration string, from source.Origin) bool {
	s := m.symbols[id]
	if s.kind == discrete && !s.species && !m.assigned[s.id] { // only its initial assignment made it one
		s.kind = param
	}
	if s.kind != param || s.stored != "" {
		return false
	}
	m.set[s] = setting{declaration, from}
	return true
}

// Fix declares all params as constants whose values are numbers, but for those that others set or keep.
func (m *Model) Fix(keep func(id string) bool) {
	for _, s := range m.order {
		m.fixed[s] = !keep(s.id) && !s.species
	}
}

// Start returns the name of a param that the value of a symbol at the start is.
func (m *Model) Start(id string) string {
	s := m.symbols[id]
	if m.starts[s] == "" {
		m.starts[s] = m.named(s.id + "_start")
	}
	return m.starts[s]
}

// Jump writes that a symbol gets a value during a run.
func (m *Model) Jump(id, value string) string {
	s := m.symbols[id]
	if s.stored != "" {
		return s.stored + " = (" + value + ")*" + s.in.name
	}
	return s.name + " = " + value
}

// Text writes the translation. It reports to list what cannot be translated, and returns nil then.
func (m *Model) Text(o Options, list *diag.List) *source.File {
	items, err := m.write(o)
	if !m.report(err, list) {
		return nil
	}
	if o.Name == "" {
		o.Name = m.file.Name()
	}
	return items.format(o.Name, m.file, list)
}

// open checks the document, and finds its model.
func (m *Model) open(document *element) error {
	m.root = document.child("model")
	switch m.level = document.attr("level"); {
	case document.name.Local != "sbml":
		return fail(document.place, "this is no SBML: its first element is <%s>", document.name.Local)
	case m.level == "":
		return fail(document.place, "the file does not say of which level of SBML it is")
	case m.level != "2" && m.level != "3":
		return fail(document.place, "this is SBML of level %s: save it as level 2 or 3", m.level)
	case m.root == nil:
		return fail(document.place, "the file has no model")
	}
	ids := map[string]bool{}
	var several *element
	m.root.each(func(e *element) {
		ids[e.attr("id")] = true
		switch {
		case e.name.Local == "bvar" && len(e.children) > 0:
			ids[e.children[0].text] = true
		case e.name.Local == "math" && len(e.children) > 1:
			several = e
		}
	})
	if several != nil {
		return fail(several.place, "this <math> has %d expressions, not one", len(several.children))
	}
	m.time = "t"
	for ids[m.time] {
		m.time += "_"
	}
	m.names[m.time] = true
	return m.packages(document)
}

// packages refuses those that change what the model means.
func (m *Model) packages(document *element) error {
	for _, a := range document.attrs {
		if a.Name.Local == "required" && a.Value == "true" {
			name := packageName().ReplaceAllString(a.Name.Space, "$1")
			if name == "comp" {
				continue // its submodels, if any, are looked for
			}
			return fail(document.place, "the model needs the package %q of SBML, which odes does not read", name)
		}
	}
	return nil
}

// packageName finds the name of a package of SBML in that of its name space.
var packageName = lazy.Regexp(`^.*/level3/version[0-9]+/([^/]+)/.*$`)

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
	for i, e := range events {
		m.writeEvent(w, e, i, len(events) > 1)
	}
	w.Line("")
	w.From(source.Origin{})
	m.writeResults(w, o.Bare)
	if o.Tail != nil {
		w.Add(o.Tail)
	}
	if len(events) > 1 {
		ties := "" // SBML draws the order of events of equal priority; of events without, any order is right
		if slices.ContainsFunc(events, func(e *element) bool { return e.child("priority") != nil }) {
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
		if s != nil && strings.HasSuffix(e.children[0].attr("definitionURL"), "/rateOf") && m.rates[s] == "" {
			m.rates[s] = m.named(s.id + "_rate")
		}
	})
}

// writeValues declares params, discretes, states and unknowns.
func (m *Model) writeValues(w *writer) {
	for _, s := range m.order {
		if name := m.starts[s]; name != "" {
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
			given, set := m.set[s]
			value := given.text
			if set {
				w.From(given.from)
			} else {
				value = w.of(m.startOf(s)).number().text
			}
			word := words[k]
			fixed, told := m.fixed[s]
			if !told {
				fixed = s.of.name.Local == "compartment" // so that sums of amounts are known to be conserved
			}
			if k == param && (set || s.start == nil) && fixed {
				word = "const"
			}
			w.Item("%s %s = %s", word, name, value)
		}
		if len(w.items) > n {
			w.Line("")
		}
	}
	if !slices.ContainsFunc(m.order, func(s *symbol) bool { return s.kind == state }) {
		m.resting = m.named("rest")
		w.From(source.Origin{})
		w.Item("state %s = 0\n", m.resting)
	}
}

// given is the value at the start of a symbol itself.
func (m *Model) given(s *symbol) (expr, error) { return m.startAs(s, s.isAmount, "") }

// startOf is the value at the start of what stores a symbol: of a species its amount or its concentration.
func (m *Model) startOf(s *symbol) (expr, error) {
	return m.startAs(s, s.isAmount || s.stored != "", m.starts[s])
}

// startAs is the value at the start of a symbol, of a species as an amount or as a concentration. If from is not "",
// it is a param that has the value of the symbol itself.
func (m *Model) startAs(s *symbol, asAmount bool, from string) (v expr, err error) {
	byAmount := s.byAmount
	switch {
	case from != "":
		v, byAmount = atom(from, false), s.isAmount
	case s.start != nil:
		v, err = m.expression(s.start.math(), nil)
		byAmount = s.isAmount
	case s.value != "":
		v, err = literal(s.value, s.of)
	case s.kind == alg:
		return atom("0", false), nil
	case s.of.name.Local == "compartment":
		m.note(s.of.place, "the compartment %s has no size: it is taken as 1", s.id)
		return atom("1", false), nil
	case s.of.name.Local == "speciesReference":
		return v, fail(s.of.place, "the stoichiometry %s has no value", s.id)
	default:
		return v, fail(s.of.place, "%s has no value at the start", s.id)
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
	if m.rates[s] == "" { // of a local parameter
		return atom("0", false), nil
	}
	return atom(m.rates[s], false), nil
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
		if name := m.rates[s]; name != "" {
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
		case m.rates[s] != "":
			v = atom(m.rates[s], false)
		case len(s.reactions) > 0 && !s.isAmount && v.text != "0":
			v = div(v, atom(s.in.name, false))
		}
		w.Item("%s' = %s", s.name, v.text)
	}
	if m.resting != "" {
		w.From(source.Origin{})
		w.Item("%s' = 0", m.resting)
	}
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" && r.math() != nil {
			w.From(m.origin(r, "algebraic rule"))
			w.Item("0 = %s", w.of(m.expression(r.math(), nil)).number().text)
		}
	}
}

// writeEvent writes an event. Several is whether there are others, which could come at the same time.
func (m *Model) writeEvent(w *writer, e *element, i int, several bool) {
	trigger := e.child("trigger")
	if trigger.math() == nil {
		m.note(e.place, "the event %s has no trigger, and is left out", e.attr("id"))
		return
	}
	id := e.attr("id")
	if id == "" {
		id = "event" + strconv.Itoa(i+1)
	}
	w.From(m.origin(e, "event %s", id))
	head := "event " + m.named(id) + " when " + w.of(m.expression(trigger.math(), nil)).condition().text
	if p := e.child("priority").math(); p != nil {
		head += " priority " + w.of(m.expression(p, nil)).number().text
	}
	if trigger.isNot("initialValue") {
		head += " at start"
	}
	late := e.isNot("useValuesFromTriggerTime")
	if d := e.child("delay").math(); d != nil {
		head += ", delay = " + w.of(m.expression(d, nil)).number().text
		if late {
			head += ", values = execution"
		}
	} else if !late && several {
		head += ", delay = 0" // values are those of the trigger, before others at the same time
	}
	if trigger.isNot("persistent") {
		head += ", persistent = false"
	}
	news := map[string]expr{}
	var order []*symbol
	for _, a := range e.list("listOfEventAssignments") {
		if a.math() == nil {
			continue
		}
		s := m.symbols[a.attr("variable")]
		news[s.id] = w.of(m.expression(a.math(), nil)).number()
		order = append(order, s)
	}
	for _, s := range m.order {
		if !s.species || s.kind != state || s.stored != "" || s.isAmount {
			continue
		}
		// A compartment that jumps keeps the amounts in it, also those that the event sets.
		if size, jumps := news[s.in.id]; jumps {
			v, set := news[s.id]
			if !set {
				order, v = append(order, s), atom(s.name, false)
			}
			news[s.id] = div(mul(v, atom(s.in.name, false)), size)
		}
	}
	var body []string
	for _, s := range order {
		name, v := s.name, news[s.id]
		if s.stored != "" {
			name, v = s.stored, mul(v, atom(s.in.name, false))
		}
		body = append(body, name+" = "+v.text)
	}
	w.doc(docOf(e))
	w.Item("%s { %s }", head, strings.Join(body, "; "))
}

// writeResults reports what changes, and has an objective for the last value of each species that does.
func (m *Model) writeResults(w *writer, bare bool) {
	var report []string
	plain := true // the states are what is to be reported
	for _, s := range m.order {
		if s.kind == param && s.stored == "" || s.locals != nil || m.constant(s) {
			continue
		}
		plain = plain && s.kind == state && s.stored == ""
		report = append(report, s.name)
	}
	if !plain {
		w.Item("output %s\n", strings.Join(report, ", "))
	}
	for _, s := range m.order {
		if s.kind == state && s.species && !bare {
			w.Item("objective %s = final(%s)", m.named(s.id+"_end"), s.name)
		}
	}
}
