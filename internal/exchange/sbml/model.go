package sbml

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// place is where something stands in a file, in bytes.
type place struct {
	start, end int
	file       *source.File // nil for that of the model
}

// finding says what odes cannot translate, what is wrong with the file, or what a user should know.
type finding struct {
	at   place
	text string
}

func (e *finding) Error() string { return e.text }

func fail(at place, format string, args ...any) error {
	return &finding{at, fmt.Sprintf(format, args...)}
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
	start    *element // the initial assignment that gives its value at the start
	value    string   // or what an attribute says of that
	rule     *element // its assignment rule, rate rule, kinetic law or stoichiometryMath
	locals   scope    // of a kinetic law
	doc      string

	assigned  bool     // by an event
	rateName  string   // what its rate is called, if something reads that
	startName string   // what the param is called that is its value at the start, if there is one
	set       *setting // what others have made of a param
	fixed     bool     // a param is a constant

	// Of a species: where it is, and whether its symbol is its amount. Stored is the name of a state or a discrete
	// with the amount, of a species whose symbol is the concentration in a compartment that changes.
	species   bool
	in        *symbol
	isAmount  bool
	byAmount  bool // value is an amount, not a concentration
	stored    string
	reactions []term
	quick     bool                 // fast reactions change it
	solved    func() (expr, error) // what it is in equilibria
}

// term is what one side of a reaction contributes to the rate of a species.
type term struct {
	rate   *symbol
	factor expr
}

// function is a function of the model.
type function struct {
	of   *element
	name string
	args []string
	body *element
	kept bool   // it is written as a function; others are written out where they are called
	seen bool   // it is known whether it is kept
	open bool   // it is being written out
	text string // of a function that is kept: its definition in the language
}

// setting is what others say of a param, behind the `=` of its declaration.
type setting struct {
	text string
	from source.Origin
}

func (m *Model) note(at place, format string, args ...any) {
	m.notes = append(m.notes, &finding{at, fmt.Sprintf(format, args...)})
}

// origin is an element as what something was made from, in words.
func (m *Model) origin(e *element, format string, args ...any) source.Origin {
	return source.Origin{Span: m.span(e.place), What: fmt.Sprintf(format, args...)}
}

func (m *Model) span(at place) source.Span {
	file := m.file
	if at.file != nil {
		file = at.file
	}
	return source.Span{File: file, Start: at.start, End: at.end}
}

// lineOf names the line of an element, and its file if that is not the model's.
func lineOf(m *Model, e *element) string {
	at := m.span(e.place)
	line := fmt.Sprintf("line %d", at.File.LineAt(at.Start))
	if at.File != m.file {
		line += " of " + at.File.Name()
	}
	return line
}

// declared is what declares a symbol, as an origin.
func (m *Model) declared(s *symbol) source.Origin {
	what := s.of.name.Local
	if what == "speciesReference" {
		what = "stoichiometry"
	}
	return m.origin(s.of, "%s %s", what, s.id)
}

// ruled is what gives a symbol or its rate, as an origin.
func (m *Model) ruled(s *symbol) source.Origin {
	if s.rule != nil && strings.HasSuffix(s.rule.name.Local, "Rule") {
		return m.origin(s.rule, "rule of %s", s.id)
	}
	return m.declared(s)
}

// started is what gives a symbol its value at the start, as an origin.
func (m *Model) started(s *symbol) source.Origin {
	if s.start != nil {
		return m.origin(s.start, "initial assignment of %s", s.id)
	}
	return m.declared(s)
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
func (m *Model) named(id string) string {
	id = clean(id)
	for m.names[id] || isWritten(id) {
		id += "_"
	}
	m.names[id] = true
	return quoted(id)
}

// quoted is a name as it is written, which may be a word of the language.
func quoted(name string) string {
	if parser.Reserved(name) {
		return "`" + name + "`"
	}
	return name
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

// isWritten reports whether translated expressions use a name: nothing of the model may have it.
func isWritten(name string) bool {
	if slices.Contains(written, name) {
		return true
	}
	for _, f := range functions {
		if f == name {
			return true
		}
	}
	return false
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
	m.clock = m.time
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
			if name == "qual" {
				return fail(document.place, "this is a logical network (package qual): its levels follow each other "+
					"by tables in place of rates; odes does not solve it")
			}
			return fail(document.place, "the model needs the package %q of SBML, which odes does not read", name)
		}
	}
	return nil
}

// isBalance reports whether a model has what problems of flux balance have.
func isBalance(model *element) (found bool) {
	model.each(func(e *element) {
		found = found || packageName().ReplaceAllString(e.name.Space, "$1") == "fbc"
		for _, a := range e.attrs {
			found = found || packageName().ReplaceAllString(a.Name.Space, "$1") == "fbc"
		}
	})
	return found
}

// balance says by what a reaction, with its law, is one of a problem of flux balance; "" if it is none. Before there
// was a package, bounds were local parameters, and the law was the flux or a list of them all.
func balance(model, law *element) string {
	if law.math() == nil {
		if isBalance(model) {
			return "package fbc"
		}
		return ""
	}
	bounds := 0
	for _, p := range law.list("listOfParameters") {
		if id := p.attr("id"); id == "LOWER_BOUND" || id == "UPPER_BOUND" {
			bounds++
		}
	}
	fluxes := true
	law.math().each(func(e *element) {
		if e.name.Local == "ci" {
			fluxes = fluxes && fluxNames[strings.TrimSpace(e.text)]
		}
	})
	if bounds == 2 && fluxes {
		return "LOWER_BOUND and UPPER_BOUND"
	}
	return ""
}

// fluxNames are what laws of such reactions read.
var fluxNames = map[string]bool{
	"LOWER_BOUND": true, "UPPER_BOUND": true, "FLUX_VALUE": true, "REDUCED_COST": true, "OBJECTIVE_COEFFICIENT": true,
}

// packageName finds the name of a package of SBML in that of its name space.
var packageName = lazy.Regexp(`^.*/level3/version[0-9]+/([^/]+)/.*$`)

// read takes what the elements declare, and finds out what everything is.
func (m *Model) read() error {
	if c := m.root.child("listOfSubmodels"); c != nil {
		return fail(c.place, "the model cannot be translated: it is composed of submodels (package comp)")
	}
	if len(m.root.list("listOfConstraints")) > 0 {
		m.note(m.root.child("listOfConstraints").place, "constraints are left out")
	}
	for _, step := range []func() error{
		m.readFunctions, m.declare, m.declareReactions, m.readRules, m.readStarts, m.readEvents, m.readReactions,
		m.algebraic, latePart{m}.unfold, m.fast.equilibria, m.classify, latePart{m}.readLate,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) readFunctions() error {
	standing := map[string]string{} // functions that stand for symbols, by their ids
	for _, f := range m.root.list("listOfFunctionDefinitions") {
		if symbol := standsFor(f); symbol != "" {
			standing[f.attr("id")] = symbol
			continue
		}
		lambda := f.math()
		if lambda == nil || lambda.name.Local != "lambda" || len(lambda.children) == 0 {
			continue // whoever calls it is told
		}
		def := &function{of: f, body: lambda.children[len(lambda.children)-1]}
		for _, c := range lambda.children[:len(lambda.children)-1] {
			if c.name.Local == "bvar" && len(c.children) > 0 {
				def.args = append(def.args, c.children[0].text)
			}
		}
		if first := m.declaration(f.attr("id")); first != nil {
			return fail(f.place, "the function %q is declared twice, in %s too", f.attr("id"), lineOf(m, first))
		}
		m.functions[f.attr("id")] = def
		def.name = m.named(f.attr("id"))
		m.defined = append(m.defined, def)
	}
	m.root.each(func(e *element) {
		if e.name.Local == "apply" && len(e.children) > 0 && e.children[0].name.Local == "ci" {
			if symbol := standing[e.children[0].text]; symbol != "" {
				e.children[0].become(symbol)
			}
		}
	})
	return nil
}

// standsFor returns the address of the symbol that a function stands for, in a file of COPASI for levels of SBML
// without that symbol; "" for none. The function itself is not a number, and an annotation says what it means.
func standsFor(f *element) string {
	of := f.child("annotation").child("symbols")
	if of == nil || of.name.Space != "http://sbml.org/annotations/symbols" || f.child("math") == nil {
		return ""
	}
	what := of.attr("definition")
	if what = what[strings.LastIndexByte(what, '/')+1:]; what == "Derivative" {
		return "http://www.sbml.org/sbml/symbols/rateOf"
	}
	return of.attr("definition")
}

// keep makes a function one of odes, too, if it can be, after those that it calls.
func (m *Model) keep(f *function) {
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
		f.text = fmt.Sprintf("fn %s(%s) = %s", f.name, strings.Join(args, ", "), body)
		m.kept = append(m.kept, f)
	}
}

// plain finds out whether a function can be a function in odes, too: one of numbers that reads its arguments only, and
// calls only such functions. It returns what it is for its arguments.
func (m *Model) plain(f *function) (body string, args []string, ok bool) {
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
		for isWritten(name) || m.isFunctionName(name) || slices.Contains(args, quoted(name)) {
			name += "_"
		}
		name = quoted(name)
		args = append(args, name)
		inner[a] = atom(name, false)
	}
	v, err := m.expression(f.body, inner)
	if err != nil || v.truth {
		return "", nil, false
	}
	return v.text, args, true
}

func (m *Model) isFunctionName(name string) bool {
	return slices.ContainsFunc(m.defined, func(f *function) bool { return f.name == name })
}

// declare makes the symbols of compartments, species and parameters.
func (m *Model) declare() error {
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
			return fail(e.place, "the species %s is in no compartment", s.id)
		}
		s.isAmount = e.is("hasOnlySubstanceUnits")
		if s.value = e.attr("initialConcentration"); s.value == "" {
			s.value, s.byAmount = e.attr("initialAmount"), true
		} else if e.attr("initialAmount") != "" {
			return fail(e.place, "the species %s has an initialConcentration and an initialAmount", s.id)
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
func (m *Model) add(e *element) (*symbol, error) {
	id := e.attr("id")
	switch {
	case id == "":
		return nil, fail(e.place, "this <%s> has no id", e.name.Local)
	case clean(id) != id:
		return nil, fail(e.place, "%q is no id of SBML: these have letters without accents, digits and _", id)
	}
	if first := m.declaration(id); first != nil {
		return nil, fail(e.place, "%q is declared twice, in %s too", id, lineOf(m, first))
	}
	s := &symbol{id: id, name: m.named(id), of: e, doc: docOf(e)}
	s.fixed = e.name.Local == "compartment" // so that sums of amounts are known to be conserved
	m.symbols[id] = s
	m.order = append(m.order, s)
	return s, nil
}

// declaration is the element that has declared an id so far, or nil.
func (m *Model) declaration(id string) *element {
	if s := m.symbols[id]; s != nil {
		return s.of
	}
	if f := m.functions[id]; f != nil {
		return f.of
	}
	return nil
}

// docOf is what the doc comment of a declaration says.
func docOf(e *element) string {
	doc := strings.Join(strings.Fields(e.attr("name")), " ")
	if doc == e.attr("id") {
		return ""
	}
	return doc
}

// sides are what a reaction consumes, and what it makes.
var sides = []string{"listOfReactants", "listOfProducts"}

// declareReactions makes the symbols of rates of reactions, and of stoichiometries that have an id.
func (m *Model) declareReactions() error {
	for _, r := range m.root.list("listOfReactions") {
		s, err := m.add(r)
		if err != nil {
			return err
		}
		s.kind = let
		for _, side := range sides {
			for _, ref := range r.list(side) {
				if ref.attr("id") == "" && (latePart{m}).hasDelay(ref.child("stoichiometryMath")) {
					ref.Set("id", freeID(m.root, ref.attr("species")+"_stoichiometry"))
				}
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
					f.kind, f.rule = let, of
				}
			}
		}
	}
	return nil
}

// freeID returns an id that nothing in a model has.
func freeID(model *element, id string) string {
	has := func() (found bool) {
		model.each(func(e *element) { found = found || e.attr("id") == id })
		return found
	}
	for has() {
		id += "_"
	}
	return id
}

// find returns the symbol whose id is an attribute of e.
func (m *Model) find(e *element, attr string) (*symbol, error) {
	if s := m.symbols[e.attr(attr)]; s != nil {
		return s, nil
	}
	return nil, fail(e.place, "nothing has the id %q", e.attr(attr))
}

func (m *Model) readRules() error {
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" {
			continue
		}
		s, err := m.find(r, "variable")
		if err != nil {
			return err
		}
		if s.kind != param || s.rule != nil {
			return fail(r.place, "%s has another rule, or is what a reaction or stoichiometryMath gives", s.id)
		}
		if r.math() == nil {
			m.note(r.place, "the rule of %s has no expression, and is left out", s.id)
			continue
		}
		s.rule, s.kind = r, let
		if r.name.Local == "rateRule" {
			s.kind = state
		}
	}
	return nil
}

// readStarts takes what initial assignments say.
func (m *Model) readStarts() error {
	for _, a := range m.root.list("listOfInitialAssignments") {
		s, err := m.find(a, "symbol")
		if err != nil {
			return err
		}
		if s.start != nil {
			return fail(a.place, "%s has another initial assignment", s.id)
		}
		if a.math() == nil {
			m.note(a.place, "the initial assignment of %s has no expression, and is left out", s.id)
			continue
		}
		s.start = a
	}
	return nil
}

// readEvents finds out what events set.
func (m *Model) readEvents() error {
	for _, e := range m.root.list("listOfEvents") {
		set := map[*symbol]bool{}
		for _, a := range e.list("listOfEventAssignments") {
			s, err := m.find(a, "variable")
			if err != nil {
				return err
			}
			if set[s] {
				return fail(a.place, "the event %s sets %s twice", e.attr("id"), s.id)
			}
			set[s] = true
			if s.kind == let {
				return fail(a.place, "%s has a rule, and an event sets it", s.id)
			}
			s.assigned = true
		}
	}
	for id := range m.changed {
		if s := m.symbols[id]; s != nil && s.kind != let {
			s.assigned = true
		}
	}
	return nil
}

// readReactions takes what reactions do to species.
func (m *Model) readReactions() error {
	for _, r := range m.root.list("listOfReactions") {
		s := m.symbols[r.attr("id")]
		if r.is("fast") {
			m.fast.noteFast(r, s)
		}
		law := r.child("kineticLaw")
		if by := balance(m.root, law); by != "" {
			return fail(r.place, "this is a problem of flux balance (%s): its reactions have bounds in place "+
				"of rates, and it has no time; odes does not solve it", by)
		}
		if law.math() == nil {
			return fail(r.place, "the reaction %s has no kinetic law", s.id)
		}
		s.rule, s.locals = law, scope{}
		for _, list := range []string{"listOfParameters", "listOfLocalParameters"} {
			for _, p := range law.list(list) {
				local := &symbol{
					id: p.attr("id"), name: m.named(s.id + "_" + p.attr("id")), of: p, value: p.attr("value"),
					doc: docOf(p),
				}
				if _, twice := s.locals[local.id]; twice {
					return fail(p.place, "the reaction %s declares %q twice", s.id, local.id)
				}
				m.order = append(m.order, local)
				s.locals[local.id] = atom(local.name, false)
			}
		}
		for _, side := range sides {
			for _, ref := range r.list(side) {
				to := m.symbols[ref.attr("species")]
				if to == nil || !to.species {
					return fail(ref.place, "the reaction %s has a species %q that does not exist", s.id,
						ref.attr("species"))
				}
				if to.of.is("boundaryCondition") || to.of.is("constant") {
					if !to.of.is("boundaryCondition") {
						return fail(ref.place, "the species %s is constant, and the reaction %s changes it: "+
							"boundaryCondition=\"true\" says that it stays", to.id, s.id)
					}
					continue
				}
				if to.kind == let || to.kind == state {
					return fail(ref.place, "the species %s has a rule, and the reaction %s changes it", to.id, s.id)
				}
				factor, err := m.stoichiometry(ref, to)
				if err != nil {
					return err
				}
				if slices.Contains(m.fast.reactions, s) {
					made := side == "listOfProducts"
					m.fast.terms = append(m.fast.terms, fastTerm{s, to, factor, made, ref})
					continue
				}
				if side == "listOfReactants" {
					factor = neg(factor)
				}
				to.reactions = append(to.reactions, term{s, factor})
			}
		}
	}
	return nil
}

// stoichiometry is how much of a species, in its own units, one unit of a reaction takes or makes.
func (m *Model) stoichiometry(ref *element, to *symbol) (factor expr, err error) {
	switch text, of := ref.attr("stoichiometry"), ref.child("stoichiometryMath"); {
	case ref.attr("id") != "":
		factor = atom(m.symbols[ref.attr("id")].name, false)
	case of != nil && of.math() == nil:
		err = fail(of.place, "this stoichiometryMath has no expression")
	case of != nil:
		factor, err = m.expression(of.math(), nil)
	case text == "":
		factor = atom("1", false)
	default:
		factor, err = literal(text, ref)
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
		return factor, fail(ref.place, "the conversion factor %q does not exist", by)
	}
	return mul(factor, atom(s.name, false)), nil
}

// algebraic finds what algebraic rules determine: as many symbols as there are rules, each read by its rule, that
// nothing else determines.
func (m *Model) algebraic() error {
	var rules []*element
	for _, r := range m.root.list("listOfRules") {
		if r.name.Local == "algebraicRule" && r.math() != nil {
			rules = append(rules, r)
		}
	}
	ruleOf := map[*symbol]int{}
	reads := make([][]*symbol, len(rules))
	for i, r := range rules {
		for given := range 3 { // what lies on the boundary is mostly given, and what events set still more so
			for _, s := range m.reads(r.math(), nil) {
				likely := 0
				switch {
				case s.assigned:
					likely = 2
				case s.of.is("boundaryCondition"):
					likely = 1
				}
				free := s.kind == param && !s.isConstant() && len(s.reactions) == 0 && likely == given
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
			return fail(r.place, "nothing is left that this algebraic rule could determine")
		}
	}
	for s := range ruleOf {
		if s.assigned {
			return fail(s.of.place, "an algebraic rule determines %s, and an event sets it", s.id)
		}
		s.kind = alg
	}
	return nil
}

// reads returns the symbols that an expression reads, functions included: these read their arguments only.
func (m *Model) reads(e *element, locals scope) []*symbol {
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
func (m *Model) readsTime(e *element) (found bool) {
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
func (m *Model) constant(s *symbol) bool {
	if found, ok := m.static[s]; ok {
		return found
	}
	m.static[s] = true // of a circle, which the checker of the language reports
	ok := s.kind == param && !s.assigned && len(s.reactions) == 0 && (s.stored == "" || m.constant(s.in))
	from := s.start
	if s.kind == let {
		ok, from = true, s.rule
	}
	ok = ok && m.known(from.math(), s.locals)
	if ok && s.species && !s.isAmount {
		ok = m.constant(s.in)
	}
	m.static[s] = ok
	return ok
}

// known reports whether an expression, which may be nil, reads nothing but what is constant.
func (m *Model) known(e *element, locals scope) bool {
	return !m.readsTime(e) &&
		!slices.ContainsFunc(m.reads(e, locals), func(s *symbol) bool { return !m.constant(s) })
}

// steady reports whether nothing changes a symbol during a run, whatever its value at the start follows from.
func (m *Model) steady(s *symbol) bool {
	return s.kind <= discrete && !s.assigned && len(s.reactions) == 0 || m.constant(s)
}

// startsBySize reports whether the value at the start of what stores a species reads its compartment. What an initial
// assignment gives is what the symbol is: an amount or a concentration.
func (s *symbol) startsBySize() bool {
	byAmount := s.byAmount
	if s.start != nil {
		byAmount = s.isAmount
	}
	return byAmount != (s.isAmount || s.stored != "")
}

// classify decides what each symbol becomes.
func (m *Model) classify() error {
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
		case s.assigned || s.start != nil && !m.known(s.start.math(), nil):
			s.kind = discrete
		case s.species && s.startsBySize() && !m.constant(s.in):
			s.kind = discrete
		}
	}
	return nil
}
