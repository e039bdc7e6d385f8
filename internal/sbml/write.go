package sbml

import (
	"bytes"
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

// Model is a model in SBML that has been read. What it becomes can be changed before its text is written.
type Model struct {
	m    *model
	file *source.File
}

// Options are what a file in SBML does not say.
type Options struct {
	From, To string // the span of time; 0 and 100 where they are empty
	Bare     bool   // without objectives
	Tail     string // further items
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
// with the file or cannot be translated, and returns "" then, and notes of what was left out or assumed.
func Translate(file *source.File, o Options, list *diag.List) string {
	m := Read(file, list)
	if m == nil {
		return ""
	}
	return m.Text(o, list)
}

// Read reads a model. It reports to list what is wrong with the file or cannot be translated, and returns nil then.
func Read(file *source.File, list *diag.List) *Model {
	m := &model{
		symbols: map[string]*symbol{}, functions: map[string]*function{}, names: map[string]bool{},
		assigned: map[string]bool{}, static: map[*symbol]bool{}, rates: map[*symbol]string{},
		set: map[*symbol]string{}, fixed: map[*symbol]bool{}, starts: map[*symbol]string{},
	}
	result := &Model{m, file}
	document, err := parse(file.Text())
	if err == nil {
		err = m.open(document)
	}
	if err == nil {
		err = m.read()
	}
	if !result.report(err, list) {
		return nil
	}
	return result
}

// report adds an error, and all notes so far, to list. It returns whether there was none.
func (x *Model) report(err error, list *diag.List) bool {
	at := func(line int) source.Span {
		text := strings.TrimRight(x.file.Line(line), " \t\r")
		indent := len(text) - len(strings.TrimLeft(text, " \t"))
		start := x.file.LineStart(line)
		return source.Span{File: x.file, Start: start + indent, End: start + len(text)}
	}
	for _, n := range x.m.notes {
		list.Notef(parser.CodeForeignFile, at(n.line), "%s", n.text)
	}
	x.m.notes = nil
	var wrong *lineError
	switch {
	case errors.As(err, &wrong):
		list.Errorf(parser.CodeForeignFile, at(wrong.line), "%s", wrong.text)
	case err != nil:
		list.Errorf(parser.CodeForeignFile, source.Span{File: x.file}, "%s", err)
	}
	return err == nil
}

// Name returns what an id is called in the translation, and whether it is a param there.
func (x *Model) Name(id string) (name string, isParam, ok bool) {
	s := x.m.symbols[id]
	if s == nil {
		return "", false, false
	}
	return s.name, s.kind == param && s.stored == "", true
}

// Given returns the value at the start that the file gives a symbol, if it does.
func (x *Model) Given(id string) (value string, ok bool) {
	v, err := x.m.given(x.m.symbols[id])
	return v.number().text, err == nil
}

// Assume gives a symbol a value at the start.
func (x *Model) Assume(id, number string) {
	s := x.m.symbols[id]
	s.value, s.byAmount = number, s.isAmount
}

// IsSet reports whether others have set a symbol.
func (x *Model) IsSet(id string) bool {
	_, set := x.m.set[x.m.symbols[id]]
	return set
}

// IsRule reports whether a rule or a reaction gives a symbol, which then has no value at the start of its own.
func (x *Model) IsRule(id string) bool {
	s := x.m.symbols[id]
	return s != nil && (s.kind == let || s.kind == alg)
}

// Time returns the name of the time.
func (x *Model) Time() string { return x.m.time }

// Free returns a name for something new, which is like the proposal.
func (x *Model) Free(proposal string) string { return x.m.named(proposal) }

// Set declares a param with this behind its `=`, whatever the file says of its value. It returns false if something
// changes the symbol.
func (x *Model) Set(id, declaration string) bool {
	s := x.m.symbols[id]
	if s.kind == discrete && !s.species && !x.m.assigned[s.id] { // only its initial assignment made it one
		s.kind = param
	}
	if s.kind != param || s.stored != "" {
		return false
	}
	x.m.set[s] = declaration
	return true
}

// Fix declares all params as constants whose values are numbers, but for those that others set or keep.
func (x *Model) Fix(keep func(id string) bool) {
	for _, s := range x.m.order {
		x.m.fixed[s] = !keep(s.id) && !s.species
	}
}

// Start returns the name of a param that the value of a symbol at the start is.
func (x *Model) Start(id string) string {
	s := x.m.symbols[id]
	if x.m.starts[s] == "" {
		x.m.starts[s] = x.m.named(s.id + "_start")
	}
	return x.m.starts[s]
}

// Jump writes that a symbol gets a value during a run.
func (x *Model) Jump(id, value string) string {
	s := x.m.symbols[id]
	if s.stored != "" {
		return s.stored + " = (" + value + ")*" + s.in.name
	}
	return s.name + " = " + value
}

// Text writes the translation. It reports to list what cannot be translated, and returns "" then.
func (x *Model) Text(o Options, list *diag.List) string {
	written, err := x.m.write(o)
	if !x.report(err, list) {
		return ""
	}
	formatted, err := parser.Format(x.file.Name(), written)
	var wrong *diag.ListError
	switch {
	case errors.As(err, &wrong) && wrong.Diagnostics[0].Code == parser.CodeDepth:
		list.Errorf(parser.CodeForeignFile, source.Span{File: x.file}, "an expression has more brackets in each other "+
			"than odes reads: give its parts names, by assignment rules")
		return ""
	case err != nil:
		list.Errorf(parser.CodeForeignFile, source.Span{File: x.file}, "the translation does not parse; please report "+
			"it, with the model: %v", err)
		return ""
	}
	return formatted
}

// open checks the document, and finds its model.
func (m *model) open(document *element) error {
	m.root = document.child("model")
	switch m.level = document.attr("level"); {
	case document.name.Local != "sbml":
		return fail(document.line, "this is no SBML: its first element is <%s>", document.name.Local)
	case m.level != "2" && m.level != "3":
		return fail(document.line, "this is SBML of level %s: save it as level 2 or 3", m.level)
	case m.root == nil:
		return fail(document.line, "the file has no model")
	}
	ids := map[string]bool{}
	m.root.each(func(e *element) {
		ids[e.attr("id")] = true
		if e.name.Local == "bvar" && len(e.children) > 0 {
			ids[e.children[0].text] = true
		}
	})
	m.time = "t"
	for ids[m.time] {
		m.time += "_"
	}
	m.names[m.time] = true
	return m.packages(document)
}

// packages refuses those that change what the model means.
func (m *model) packages(document *element) error {
	for _, a := range document.attrs {
		if a.Name.Local == "required" && a.Value == "true" {
			space := a.Name.Space
			if strings.Contains(space, "/comp/") {
				continue // its submodels, if any, are looked for
			}
			if i := strings.Index(space, "/version"); i >= 0 {
				space, _, _ = strings.Cut(space[i+len("/version1/"):], "/")
			}
			return fail(document.line, "the model needs the package %q of SBML, which odes does not read", space)
		}
	}
	return nil
}

// writer collects the sections of the text.
type writer struct {
	bytes.Buffer
	err error
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// doc writes the doc comment of what follows.
func (w *writer) doc(text string) {
	if text != "" {
		w.line("## %s", text)
	}
}

// of takes a translation, and keeps its error.
func (w *writer) of(e expr, err error) expr {
	if err != nil && w.err == nil {
		w.err = err
	}
	return e
}

func (m *model) write(o Options) (string, error) {
	from, to := o.From, o.To
	if from == "" {
		from = "0"
	}
	if to == "" {
		to = "100"
	}
	m.root.each(func(e *element) {
		if e.name.Local != "apply" || len(e.children) != 2 || e.children[0].name.Local != "csymbol" {
			return
		}
		s := m.symbols[e.children[1].text]
		if s != nil && strings.HasSuffix(e.children[0].attr("definitionURL"), "/rateOf") && m.rates[s] == "" {
			m.rates[s] = m.named(s.id + "_rate")
		}
	})
	var head, values, flow, events, ends writer
	name := clean(m.root.attr("id"))
	if name == "_" {
		name = "translated"
	}
	if parser.Reserved(name) {
		name = "`" + name + "`"
	}
	title := docOf(m.root)
	if title != "" {
		title = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(title) + `"`
	}
	head.line("model %s%s\n", name, title)
	head.line("time %s from %s to %s\n", m.time, from, to)
	for _, f := range m.kept {
		head.line("%s", f)
	}
	m.writeValues(&values)
	m.writeFlow(&flow)
	list := m.root.list("listOfEvents")
	for i, e := range list {
		m.writeEvent(&events, e, i, len(list) > 1)
	}
	m.writeResults(&ends, o.Bare)
	ends.WriteString(o.Tail)
	if len(list) > 1 {
		ties := "" // SBML draws the order of events of equal priority; of events without, any order is right
		if slices.ContainsFunc(list, func(e *element) bool { return e.child("priority") != nil }) {
			ties = "  ties = random(seed = 1)"
		}
		ends.line("\nsolver { recheck = body%s }", ties)
	}
	var all bytes.Buffer
	for _, w := range []*writer{&head, &values, &flow, &events, &ends} {
		if w.err != nil {
			return "", w.err
		}
		all.Write(w.Bytes())
		all.WriteByte('\n')
	}
	return all.String(), nil
}

// writeValues declares params, discretes, states and unknowns.
func (m *model) writeValues(w *writer) {
	for _, s := range m.order {
		if name := m.starts[s]; name != "" {
			w.line("param %s = %s", name, w.of(m.given(s)).number().text)
		}
	}
	words := map[kind]string{param: "param", discrete: "discrete", state: "state", alg: "alg"}
	for _, k := range []kind{param, discrete, state, alg} {
		n := w.Len()
		for _, s := range m.order {
			if s.kind != k {
				continue
			}
			name := s.name
			if s.stored != "" {
				name = s.stored
			}
			w.doc(s.doc)
			value, set := m.set[s]
			if !set {
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
			w.line("%s %s = %s", word, name, value)
		}
		if w.Len() > n {
			w.line("")
		}
	}
	if !slices.ContainsFunc(m.order, func(s *symbol) bool { return s.kind == state }) {
		w.line("state %s = 0\n", m.rest())
	}
}

// rest is the name of a state that a model without one has, since it has a time.
func (m *model) rest() string {
	if m.resting == "" {
		m.resting = m.named("rest")
	}
	return m.resting
}

// given is the value at the start of a symbol itself.
func (m *model) given(s *symbol) (expr, error) { return m.startAs(s, s.isAmount, "") }

// startOf is the value at the start of what stores a symbol: of a species its amount or its concentration.
func (m *model) startOf(s *symbol) (expr, error) {
	return m.startAs(s, s.isAmount || s.stored != "", m.starts[s])
}

// startAs is the value at the start of a symbol, of a species as an amount or as a concentration. If from is not "",
// it is a param that has the value of the symbol itself.
func (m *model) startAs(s *symbol, asAmount bool, from string) (v expr, err error) {
	byAmount := s.byAmount
	switch {
	case from != "":
		v, byAmount = atom(from, false), s.isAmount
	case s.start != nil:
		v, err = m.expression(s.start, nil)
		byAmount = s.isAmount
	case s.value != "":
		v, err = literal(s.value, s.of.line)
	case s.kind == alg:
		return atom("0", false), nil
	case s.of.name.Local == "compartment":
		m.note(s.of.line, "the compartment %s has no size: it is taken as 1", s.id)
		return atom("1", false), nil
	case s.of.name.Local == "speciesReference":
		return v, fail(s.of.line, "the stoichiometry %s has no value", s.id)
	default:
		return v, fail(s.of.line, "%s has no value at the start", s.id)
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

// rate is what the rate of the state is that a symbol is, or that stores it.
func (m *model) rate(s *symbol) (expr, error) {
	if s.rule != nil {
		v, err := m.expression(s.rule, nil)
		return v.number(), err
	}
	sum := atom("0", false)
	var done []*symbol
	for _, p := range s.reactions {
		if slices.Contains(done, p.rate) {
			continue
		}
		done = append(done, p.rate)
		net, numeric, others := 0.0, false, []expr{}
		for _, q := range s.reactions {
			if q.rate != p.rate {
				continue
			}
			if v, err := strconv.ParseFloat(q.factor.text, 64); err == nil {
				net, numeric = net+v, true
			} else {
				others = append(others, q.factor)
			}
		}
		if numeric && net != 0 {
			text := strconv.FormatFloat(net, 'g', -1, 64)
			others = append(others, atom(strings.ToLower(strings.TrimPrefix(text, "+")), false)) // +Inf is inf
		}
		for _, f := range others {
			sum = plus(sum, f, p.rate.name)
		}
	}
	return sum, nil
}

// plus adds a reaction to a sum.
func plus(sum, factor expr, reaction string) expr {
	text, minus := strings.CutPrefix(factor.in(bindSign), "-")
	term := text + "*" + reaction
	if text == "1" {
		term = reaction
	}
	switch {
	case sum.text == "0" && minus:
		return expr{"-" + term, bindSign, false}
	case sum.text == "0":
		return expr{term, bindProduct, false}
	case minus:
		return expr{sum.text + " - " + term, bindSum, false}
	}
	return expr{sum.text + " + " + term, bindSum, false}
}

// derivative is that of a symbol by time, for rateOf.
func (m *model) derivative(s *symbol) (expr, error) {
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
		return zero, fail(s.of.line, "rateOf(%s): a rule gives %[1]s, not a rate", s.id)
	}
	return zero, nil
}

// rateOf is what the function rateOf of an id is.
func (m *model) rateOf(of *element, in scope) (expr, error) {
	s := m.symbols[of.text]
	if v, local := in[of.text]; local {
		i := slices.IndexFunc(m.order, func(s *symbol) bool { return s.name == v.text })
		if i < 0 {
			return expr{}, fail(of.line, "rateOf is for an id of the model, and %s is none", v.text)
		}
		s = m.order[i]
	}
	if s == nil {
		return expr{}, fail(of.line, "nothing has the id %q", of.text)
	}
	if m.rates[s] == "" { // of a local parameter
		return atom("0", false), nil
	}
	return atom(m.rates[s], false), nil
}

// writeFlow writes rules, reactions and equations.
func (m *model) writeFlow(w *writer) {
	for _, s := range m.order {
		switch {
		case s.stored != "":
			w.line("let %s = %s/%s", s.name, s.stored, s.in.name)
		case s.kind == let:
			w.doc(s.doc)
			if s.rule == nil {
				w.of(expr{}, fail(s.of.line, "%s has no expression", s.id))
				continue
			}
			w.line("let %s = %s", s.name, w.of(m.expression(s.rule, s.locals)).number().text)
		}
	}
	for _, s := range m.order {
		if name := m.rates[s]; name != "" {
			w.line("let %s = %s", name, w.of(m.derivative(s)).text)
		}
	}
	w.line("")
	for _, s := range m.order {
		if s.kind != state {
			continue
		}
		v := w.of(m.rate(s))
		switch {
		case s.stored != "":
			w.line("%s' = %s", s.stored, v.text)
			continue
		case m.rates[s] != "":
			v = atom(m.rates[s], false)
		case len(s.reactions) > 0 && !s.isAmount && v.text != "0":
			v = div(v, atom(s.in.name, false))
		}
		w.line("%s' = %s", s.name, v.text)
	}
	if m.resting != "" {
		w.line("%s' = 0", m.resting)
	}
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" && r.math() != nil {
			w.line("0 = %s", w.of(m.expression(r.math(), nil)).number().text)
		}
	}
}

// writeEvent writes an event. Several is whether there are others, which could come at the same time.
func (m *model) writeEvent(w *writer, e *element, i int, several bool) {
	trigger := e.child("trigger")
	if trigger.math() == nil {
		m.note(e.line, "the event %s has no trigger, and is left out", e.attr("id"))
		return
	}
	id := e.attr("id")
	if id == "" {
		id = "event" + strconv.Itoa(i+1)
	}
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
	w.line("%s { %s }", head, strings.Join(body, "; "))
}

// writeResults reports what changes, and has an objective for the last value of each species that does.
func (m *model) writeResults(w *writer, bare bool) {
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
		w.line("output %s\n", strings.Join(report, ", "))
	}
	for _, s := range m.order {
		if s.kind == state && s.species && !bare {
			w.line("objective %s = final(%s)", m.named(s.id+"_end"), s.name)
		}
	}
}
