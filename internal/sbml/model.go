// Package sbml translates models of the Systems Biology Markup Language, Level 2 and Level 3 Core, into the language of
// odes.
//
// M. Hucka et al., The Systems Biology Markup Language (SBML): Language Specification for Level 3 Version 2 Core,
// Journal of Integrative Bioinformatics 16 (2019) 20190021, says what a model means. What the translation keeps:
// every id has the value that SBML gives it, and the name of an id is the id, unless the language has reserved it for
// something else.
package sbml

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/lazy"
	"odes.dev/odes/parser"
)

// lineError says what odes cannot translate, or what is wrong with the file.
type lineError struct {
	line int // from 1
	text string
}

func (e *lineError) Error() string { return e.text }

func fail(line int, format string, args ...any) error {
	return &lineError{line, fmt.Sprintf(format, args...)}
}

// kind is what a symbol becomes.
type kind uint8

const (
	param    kind = iota // it stays as it is
	discrete             // events change it, or its value at the start depends on what changes
	state                // it has a rate
	let                  // a rule gives it
	alg                  // an algebraic rule determines it
)

// symbol is what an id stands for: a compartment, a species, a parameter, the rate of a reaction, or a stoichiometry.
type symbol struct {
	id, name string
	of       *element
	kind     kind
	start    *element // its value at the start, as an initial assignment gives it
	value    string   // or as an attribute does
	rule     *element // what an assignment rule, a rate rule or a kinetic law says
	locals   scope    // of a kinetic law
	doc      string

	// Of a species: where it is, and whether its symbol is its amount. Stored is the name of a state or a discrete
	// with the amount, of a species whose symbol is the concentration in a compartment that changes.
	species   bool
	in        *symbol
	isAmount  bool
	byAmount  bool // value is an amount, not a concentration
	stored    string
	reactions []part
}

// part is what a reaction does to a species.
type part struct {
	rate   *symbol
	factor expr
}

// function is a function of the model.
type function struct {
	name string
	args []string
	body *element
	kept bool // it is written as a function; others are written out where they are called
	seen bool // it is known whether it is kept
	open bool // it is being written out
}

// model is a model that is being translated.
type model struct {
	root      *element
	level     string
	calls     int // of functions that are written out
	time      string
	symbols   map[string]*symbol
	order     []*symbol // compartments, species, parameters, stoichiometries, reactions
	functions map[string]*function
	defined   []*function
	kept      []string           // functions of the model in the language
	names     map[string]bool    // of the language, that are taken
	assigned  map[string]bool    // by events
	static    map[*symbol]bool   // what constant has found out
	rates     map[*symbol]string // names of rates that something reads
	set       map[*symbol]string // declarations of params that others have made
	fixed     map[*symbol]bool   // params that are constants
	starts    map[*symbol]string // params that values at the start are
	resting   string             // the name of a state where the model has none
	notes     []*lineError       // what a user should know of the translation
}

func (m *model) note(line int, format string, args ...any) {
	m.notes = append(m.notes, &lineError{line, fmt.Sprintf(format, args...)})
}

// isConstant is what the file says of a symbol. Level 2 has a default, true for all but species and stoichiometries.
func (s *symbol) isConstant() bool {
	switch s.of.name.Local {
	case "compartment", "parameter":
		return !s.of.isNot("constant")
	}
	return s.of.is("constant")
}

// named makes a name that is free from what an id proposes.
func (m *model) named(id string) string {
	id = clean(id)
	for m.names[id] || slices.Contains(written, id) || isFunction(id) {
		id += "_"
	}
	m.names[id] = true
	if parser.Reserved(id) {
		return "`" + id + "`"
	}
	return id
}

// clean makes a name of what an id is, or nearly is.
func clean(id string) string {
	id = notName().ReplaceAllString(id, "_")
	if id == "" || id[0] >= '0' && id[0] <= '9' {
		id = "_" + id
	}
	return id
}

var notName = lazy.Regexp(`[^A-Za-z0-9_]`)

func isFunction(name string) bool {
	for _, f := range functions {
		if f == name {
			return true
		}
	}
	return false
}

// read takes what the elements declare, and finds out what everything is.
func (m *model) read() error {
	steps := []func() error{
		m.checkDocument, m.readFunctions, m.declare, m.readRules, m.readReactions, m.algebraic, m.classify,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// required are lists of the model that mean something that odes has not.
var required = map[string]string{
	"listOfSubmodels": "it is composed of submodels (package comp): flatten it first",
}

func (m *model) checkDocument() error {
	for _, c := range m.root.children {
		if why := required[c.name.Local]; why != "" {
			return fail(c.line, "the model cannot be translated: %s", why)
		}
	}
	if n := len(m.root.list("listOfConstraints")); n > 0 {
		m.note(m.root.child("listOfConstraints").line, "constraints are left out")
	}
	return nil
}

func (m *model) readFunctions() error {
	for _, f := range m.root.list("listOfFunctionDefinitions") {
		lambda := f.math()
		if lambda == nil || lambda.name.Local != "lambda" || len(lambda.children) == 0 {
			continue // whoever calls it is told
		}
		def := &function{body: lambda.children[len(lambda.children)-1]}
		for _, c := range lambda.children[:len(lambda.children)-1] {
			if c.name.Local == "bvar" && len(c.children) > 0 {
				def.args = append(def.args, c.children[0].text)
			}
		}
		if m.functions[f.attr("id")] != nil {
			return fail(f.line, "the function %q is declared twice", f.attr("id"))
		}
		m.functions[f.attr("id")] = def
		def.name = m.named(f.attr("id"))
		m.defined = append(m.defined, def)
	}
	return nil
}

// keep makes a function one of odes, too, if it can be, after those that it calls.
func (m *model) keep(f *function) {
	if f.seen {
		return
	}
	f.seen = true
	f.body.each(func(e *element) {
		if g := m.functions[e.text]; g != nil && e.name.Local == "ci" {
			m.keep(g)
		}
	})
	if body, args, ok := m.plain(f); ok {
		f.kept = true
		m.kept = append(m.kept, fmt.Sprintf("fn %s(%s) = %s", f.name, strings.Join(args, ", "), body))
	}
}

// plain finds out whether a function can be a function in odes, too: one of numbers that reads its arguments only, and
// calls only such functions. It returns what it is for its arguments.
func (m *model) plain(f *function) (body string, args []string, ok bool) {
	ok = true
	f.body.each(func(e *element) {
		switch {
		case e.name.Local == "ci" && m.functions[e.text] != nil:
			ok = ok && (m.functions[e.text].kept || slices.Contains(f.args, e.text))
		case e.name.Local == "csymbol" && !strings.HasSuffix(e.attr("definitionURL"), "/avogadro"):
			ok = false
		case e.name.Local == "apply" && len(e.children) > 0:
			switch e.children[0].name.Local {
			case "and", "or", "not", "xor", "implies", "eq", "neq": // of an argument that may be a condition
				for _, c := range e.children[1:] {
					ok = ok && c.name.Local != "ci"
				}
			}
		case e.name.Local == "piece" && len(e.children) == 2:
			ok = ok && e.children[1].name.Local != "ci"
		}
	})
	if !ok {
		return "", nil, false
	}
	inner := scope{}
	for _, a := range f.args {
		name := clean(a)
		for slices.Contains(written, name) || isFunction(name) || m.isFunctionName(name) ||
			slices.Contains(args, name) {
			name += "_"
		}
		if parser.Reserved(name) {
			name = "`" + name + "`"
		}
		args = append(args, name)
		inner[a] = atom(name, false)
	}
	v, err := m.expression(f.body, inner)
	if err != nil || v.truth {
		return "", nil, false
	}
	return v.text, args, true
}

func (m *model) isFunctionName(name string) bool {
	for _, f := range m.defined {
		if f.name == name {
			return true
		}
	}
	return false
}

// declare makes the symbols of compartments, species and parameters.
func (m *model) declare() error {
	for _, c := range m.root.list("listOfCompartments") {
		s, err := m.add(c)
		if err != nil {
			return err
		}
		if s.value = c.attr("size"); s.value == "" {
			s.value = c.attr("volume")
		}
	}
	for _, e := range m.root.list("listOfSpecies") {
		s, err := m.add(e)
		if err != nil {
			return err
		}
		s.species = true
		s.in = m.symbols[e.attr("compartment")]
		if s.in == nil {
			return fail(e.line, "the species %s is in no compartment", s.id)
		}
		s.isAmount = e.is("hasOnlySubstanceUnits")
		if s.value = e.attr("initialConcentration"); s.value == "" {
			s.value, s.byAmount = e.attr("initialAmount"), true
		}
	}
	for _, p := range m.root.list("listOfParameters") {
		s, err := m.add(p)
		if err != nil {
			return err
		}
		s.value = p.attr("value")
	}
	return nil
}

// add declares what an element has as its id.
func (m *model) add(e *element) (*symbol, error) {
	id := e.attr("id")
	if id == "" {
		return nil, fail(e.line, "this <%s> has no id", e.name.Local)
	}
	if m.symbols[id] != nil || m.functions[id] != nil {
		return nil, fail(e.line, "%q is declared twice", id)
	}
	s := &symbol{id: id, name: m.named(id), of: e, doc: docOf(e)}
	m.symbols[id] = s
	m.order = append(m.order, s)
	return s, nil
}

// docOf is what the doc comment of a declaration says.
func docOf(e *element) string {
	doc := strings.Join(strings.Fields(e.attr("name")), " ")
	if doc == e.attr("id") {
		return ""
	}
	return doc
}

func (m *model) readRules() error {
	for _, r := range m.root.list("listOfReactions") {
		if r.attr("id") == "" {
			return fail(r.line, "this reaction has no id")
		}
		s, err := m.add(r)
		if err != nil {
			return err
		}
		s.kind = let
		for _, list := range []string{"listOfReactants", "listOfProducts"} {
			for _, ref := range r.list(list) {
				if ref.attr("id") == "" {
					continue
				}
				f, err := m.add(ref)
				if err != nil {
					return err
				}
				if f.value = ref.attr("stoichiometry"); f.value == "" && m.level == "2" {
					f.value = "1"
				}
				if of := ref.child("stoichiometryMath"); of != nil {
					f.kind, f.rule = let, of.math()
				}
			}
		}
	}
	find := func(e *element, attr string) (*symbol, error) {
		if s := m.symbols[e.attr(attr)]; s != nil {
			return s, nil
		}
		return nil, fail(e.line, "nothing has the id %q", e.attr(attr))
	}
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" {
			continue
		}
		s, err := find(r, "variable")
		if err != nil {
			return err
		}
		if s.kind != param || s.rule != nil {
			return fail(r.line, "%s has another rule, or is what a reaction or stoichiometryMath gives", s.id)
		}
		if s.rule = r.math(); s.rule == nil {
			m.note(r.line, "the rule of %s has no expression, and is left out", s.id)
			continue
		}
		s.kind = let
		if r.name.Local == "rateRule" {
			s.kind = state
		}
	}
	for _, a := range m.root.list("listOfInitialAssignments") {
		s, err := find(a, "symbol")
		if err != nil {
			return err
		}
		if s.start != nil {
			return fail(a.line, "%s has another initial assignment", s.id)
		}
		if s.start = a.math(); s.start == nil {
			m.note(a.line, "the initial assignment of %s has no expression, and is left out", s.id)
		}
	}
	for _, e := range m.root.list("listOfEvents") {
		for _, a := range e.list("listOfEventAssignments") {
			s, err := find(a, "variable")
			if err != nil {
				return err
			}
			if s.kind == let {
				return fail(a.line, "%s has a rule, and an event sets it", s.id)
			}
			m.assigned[s.id] = true
		}
	}
	return nil
}

// readReactions takes what reactions do to species.
func (m *model) readReactions() error {
	for _, r := range m.root.list("listOfReactions") {
		s := m.symbols[r.attr("id")]
		if r.is("fast") {
			return fail(r.line, "the reaction %s is fast, an equilibrium at all times: odes needs its rate law, or "+
				"its equilibrium as an algebraic rule", s.id)
		}
		law := r.child("kineticLaw")
		if law.math() == nil {
			return fail(r.line, "the reaction %s has no kinetic law", s.id)
		}
		s.rule, s.locals = law.math(), scope{}
		for _, list := range []string{"listOfParameters", "listOfLocalParameters"} {
			for _, p := range law.list(list) {
				local := &symbol{
					id: p.attr("id"), name: m.named(s.id + "_" + p.attr("id")), of: p, value: p.attr("value"),
					doc: docOf(p),
				}
				m.order = append(m.order, local)
				s.locals[local.id] = atom(local.name, false)
			}
		}
		for side, list := range []string{"listOfReactants", "listOfProducts"} {
			for _, ref := range r.list(list) {
				to := m.symbols[ref.attr("species")]
				if to == nil || !to.species {
					return fail(ref.line, "the reaction %s has a species %q that does not exist", s.id,
						ref.attr("species"))
				}
				if to.of.is("boundaryCondition") || to.of.is("constant") {
					continue
				}
				if to.kind == let || to.kind == state {
					return fail(ref.line, "the species %s has a rule, and the reaction %s changes it", to.id, s.id)
				}
				factor, err := m.stoichiometry(ref, to)
				if err != nil {
					return err
				}
				if side == 0 {
					factor = neg(factor)
				}
				to.reactions = append(to.reactions, part{s, factor})
			}
		}
	}
	return nil
}

// stoichiometry is how much of a species, in its own units, one unit of a reaction takes or makes.
func (m *model) stoichiometry(ref *element, to *symbol) (factor expr, err error) {
	switch text := ref.attr("stoichiometry"); {
	case ref.attr("id") != "":
		factor = atom(m.symbols[ref.attr("id")].name, false)
	case ref.child("stoichiometryMath").math() != nil:
		factor, err = m.expression(ref.child("stoichiometryMath").math(), nil)
	case text == "":
		factor = atom("1", false)
	default:
		factor, err = literal(text, ref.line)
	}
	if err != nil {
		return factor, err
	}
	by := to.of.attr("conversionFactor")
	if by == "" {
		by = m.root.attr("conversionFactor")
	}
	if by == "" {
		return factor, nil
	}
	s := m.symbols[by]
	if s == nil {
		return factor, fail(ref.line, "the conversion factor %q does not exist", by)
	}
	return mul(factor, atom(s.name, false)), nil
}

// algebraic finds what algebraic rules determine: as many symbols as there are rules, each read by its rule, that
// nothing else determines.
func (m *model) algebraic() error {
	var rules []*element
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" && r.math() != nil {
			rules = append(rules, r)
		}
	}
	ruleOf := map[*symbol]int{}
	reads := make([][]*symbol, len(rules))
	for i, r := range rules {
		for _, boundary := range []bool{false, true} { // what lies on the boundary is mostly given
			for _, s := range m.reads(r.math(), nil) {
				free := s.kind == param && !s.isConstant() && len(s.reactions) == 0 &&
					s.of.is("boundaryCondition") == boundary
				if free && !slices.Contains(reads[i], s) {
					reads[i] = append(reads[i], s)
				}
			}
		}
	}
	var match func(i int, tried map[*symbol]bool) bool
	match = func(i int, tried map[*symbol]bool) bool {
		for _, s := range reads[i] {
			if tried[s] {
				continue
			}
			tried[s] = true
			if old, ok := ruleOf[s]; !ok || match(old, tried) {
				ruleOf[s] = i
				return true
			}
		}
		return false
	}
	for i, r := range rules {
		if !match(i, map[*symbol]bool{}) {
			return fail(r.line, "nothing is left that this algebraic rule could determine")
		}
	}
	for s := range ruleOf {
		if m.assigned[s.id] {
			return fail(s.of.line, "an algebraic rule determines %s, and an event sets it", s.id)
		}
		s.kind = alg
	}
	return nil
}

// reads returns the symbols that an expression reads, functions included: these read their arguments only.
func (m *model) reads(e *element, locals scope) []*symbol {
	var list []*symbol
	e.each(func(e *element) {
		if e.name.Local != "ci" {
			return
		}
		if _, local := locals[e.text]; local {
			return
		}
		if s := m.symbols[e.text]; s != nil {
			list = append(list, s)
		}
	})
	return list
}

// readsTime reports whether an expression reads the time, itself or through a function.
func (m *model) readsTime(e *element) (found bool) {
	seen := map[*function]bool{}
	var look func(*element)
	look = func(e *element) {
		switch f := m.functions[e.text]; {
		case e.name.Local == "csymbol" && !strings.HasSuffix(e.attr("definitionURL"), "/avogadro"):
			found = true
		case e.name.Local == "ci" && f != nil && !seen[f]:
			seen[f] = true
			f.body.each(look)
		}
	}
	e.each(look)
	return found
}

// constant reports whether nothing changes a symbol during a run, and its value at the start follows from params.
func (m *model) constant(s *symbol) bool {
	if found, ok := m.static[s]; ok {
		return found
	}
	m.static[s] = true // of a circle, which the checker of the language reports
	ok := s.kind == param && !m.assigned[s.id] && len(s.reactions) == 0 && (s.stored == "" || m.constant(s.in))
	from := s.start
	if s.kind == let {
		ok, from = true, s.rule
	}
	ok = ok && m.known(from, s.locals)
	if ok && s.species && !s.isAmount {
		ok = m.constant(s.in)
	}
	m.static[s] = ok
	return ok
}

// known reports whether an expression, which may be nil, reads nothing but what is constant.
func (m *model) known(e *element, locals scope) bool {
	return !m.readsTime(e) &&
		!slices.ContainsFunc(m.reads(e, locals), func(s *symbol) bool { return !m.constant(s) })
}

// steady reports whether nothing changes a symbol during a run, whatever its value at the start follows from.
func (m *model) steady(s *symbol) bool {
	return s.kind <= discrete && !m.assigned[s.id] && len(s.reactions) == 0 || m.constant(s)
}

// classify decides what each symbol becomes.
func (m *model) classify() error {
	for _, f := range m.defined {
		m.keep(f)
	}
	for _, s := range m.order {
		if s.species && s.kind != let && s.kind != alg && !s.isAmount && !m.steady(s.in) && s.kind != state {
			s.stored = m.named(s.id + "_amount")
		}
		if s.kind != param {
			continue
		}
		switch {
		case len(s.reactions) > 0:
			s.kind = state
		case m.assigned[s.id] || s.start != nil && !m.known(s.start, nil):
			s.kind = discrete
		case s.species && (s.byAmount != (s.isAmount || s.stored != "")) && !m.constant(s.in):
			s.kind = discrete // the value at the start reads the compartment
		}
	}
	return nil
}
