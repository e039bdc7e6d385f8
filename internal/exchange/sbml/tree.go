package sbml

import (
	"encoding/xml"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Element is an element of SBML, with its place in a file. Formats that say what SBML does are read as documents of
// these, whose places lie in their own files.
type Element = element

// Place is where something stands in a file, in bytes.
type Place = place

// At makes a place.
func At(start, end int) Place { return place{start: start, end: end} }

// Span returns where a place starts, and where it ends.
func (p place) Span() (start, end int) { return p.start, p.end }

// File returns the file that a place is in, or nil for that of the model.
func (p place) File() *source.File { return p.file }

// Parse reads a document. Its error says where in the text it is wrong, if Where knows.
func Parse(text string) (*Element, error) { return parse(text) }

// Where returns the place that an error of this package is about.
func Where(err error) (Place, bool) {
	wrong, ok := err.(*finding)
	if !ok {
		return place{}, false
	}
	return wrong.at, true
}

// ParseFile is Parse of a file, whose elements know their file.
func ParseFile(file *source.File) (*Element, error) {
	document, err := parse(file.Text())
	if wrong, ok := err.(*finding); ok {
		wrong.at.file = file
	}
	document.each(func(e *element) { e.file = file })
	return document, err
}

// Errorf is an error about a place.
func Errorf(at Place, format string, args ...any) error { return fail(at, format, args...) }

// Required refuses a document that needs packages of SBML which change what a model means, and are not read.
func Required(document *Element) error { return newModel(nil).packages(document) }

// Report adds an error of reading a file to list, at its place. It returns whether there was none.
func Report(file *source.File, err error, list *diag.List) bool {
	return newModel(file).report(err, list)
}

// New makes an element with attributes, whose names and values alternate.
func New(at Place, name string, attrs ...string) *Element {
	e := &element{name: xml.Name{Local: name}, place: at}
	for i := 0; i+1 < len(attrs); i += 2 {
		e.Set(attrs[i], attrs[i+1])
	}
	return e
}

// Leaf makes an element with a text in it.
func Leaf(at Place, name, text string) *Element {
	e := New(at, name)
	e.text = text
	return e
}

// Apply makes the application of an operator of MathML to operands.
func Apply(at Place, operator string, operands ...*Element) *Element {
	return New(at, "apply").Add(New(at, operator)).Add(operands...)
}

// ownFunction is what the address of a function of the language begins with.
const ownFunction = "odes:"

// Own makes the call of a function of the language that MathML does not have.
func Own(at Place, name string, args ...*Element) *Element {
	return New(at, "apply").Add(New(at, "csymbol", "definitionURL", ownFunction+name)).Add(args...)
}

// outside is what the address of a name of the translation begins with.
const outside = "odes="

// Outside makes a name of the translation that the model does not have.
func Outside(at Place, name string) *Element {
	return New(at, "csymbol", "definitionURL", outside+name)
}

// Changing returns the names of what changes during runs: states, and others. Listed is true if the translation names
// all of them as outputs.
func Changing(m *Model) (states, others []string, listed bool) {
	for _, s := range m.order {
		switch {
		case s.kind == param && s.stored == "" || s.locals != nil || m.constant(s):
		case s.kind == state:
			states, listed = append(states, s.name), listed || s.stored != ""
		default:
			others, listed = append(others, s.name), true
		}
	}
	return states, others, listed
}

// Time makes the symbol of the time.
func Time(at Place) *Element {
	return New(at, "csymbol", "definitionURL", "http://www.sbml.org/sbml/symbols/time")
}

// Math makes <math> of an expression.
func Math(e *Element) *Element { return New(e.place, "math").Add(e) }

// Add appends children, and returns e.
func (e *element) Add(children ...*Element) *Element {
	e.children = append(e.children, children...)
	return e
}

// Set gives an attribute a value, and returns e.
func (e *element) Set(name, value string) *Element {
	for i, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			e.attrs[i].Value = value
			return e
		}
	}
	e.attrs = append(e.attrs, xml.Attr{Name: xml.Name{Local: name}, Value: value})
	return e
}

// Copy returns a copy of an element and of all that it contains.
func (e *element) Copy() *Element {
	c := *e
	c.attrs = slices.Clone(e.attrs)
	c.children = make([]*element, len(e.children))
	for i, x := range e.children {
		c.children[i] = x.Copy()
	}
	return &c
}

// Place returns where an element stands.
func (e *element) Place() Place { return e.place }

// Package returns the name of the package of SBML that an element is of, or "".
func (e *element) Package() string { return packageOf(e.name.Space) }

// Of returns an attribute of a package. An element of that package may leave away the name space of its attributes.
func (e *element) Of(name, attribute string) string {
	for _, a := range e.attrs {
		if a.Name.Local == attribute && (packageOf(a.Name.Space) == name || a.Name.Space == "" && e.Package() == name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// packageOf returns the package that a name space is of, or "".
func packageOf(space string) string {
	_, rest, _ := strings.Cut(space, "/level3/version")
	name, _, more := strings.Cut(strings.TrimPrefix(strings.TrimLeft(rest, "0123456789"), "/"), "/")
	if !more {
		return ""
	}
	return name
}

// Keep leaves those children only that a function reports.
func (e *element) Keep(report func(*Element) bool) {
	e.children = slices.DeleteFunc(e.children, func(c *element) bool { return !report(c) })
}

// Name returns the name of an element, without its name space.
func (e *element) Name() string { return e.name.Local }

// Text returns what stands in an element, without the text of its children.
func (e *element) Text() string { return e.text }

// Attr returns an attribute without a name space, or "".
func (e *element) Attr(name string) string { return e.attr(name) }

// Children returns what an element contains.
func (e *element) Children() []*Element { return e.children }

// Child returns the first child of a name, or nil.
func (e *element) Child(name string) *Element { return e.child(name) }

// List returns what a list, such as listOfEvents, contains.
func (e *element) List(name string) []*Element { return e.list(name) }

// Each visits e and all that it contains.
func (e *element) Each(visit func(*Element)) { e.each(visit) }

// ReadTree reads a document: that of a file, or of one that says the same in its own way. It reports to list what is
// wrong or cannot be translated, and returns nil then. Changed are the ids of what others change during runs.
func ReadTree(file *source.File, document *Element, list *diag.List, changed ...string) *Model {
	m := newModel(file)
	for _, id := range changed {
		m.changed[id] = true
	}
	if !m.report(take(m, document), list) {
		return nil
	}
	return m
}

// TranslateTree writes the model of a document in the language of odes, in its normal layout. It reports to list what
// is wrong or cannot be translated, and returns nil then, and notes of what was left out or assumed.
func TranslateTree(file *source.File, document *Element, o Options, list *diag.List) *source.File {
	m := newModel(file)
	m.slow = o.IgnoreFast
	if !m.report(take(m, document), list) {
		return nil
	}
	return m.Text(o, list)
}

// Expression writes an expression of MathML in the language. Names are those of ids that the model does not have, or
// has otherwise.
func Expression(m *Model, e *Element, names map[string]string) (string, error) {
	in := scope{}
	for id, name := range names {
		in[id] = atom(name, false)
	}
	v, err := m.expression(e, in)
	return v.number().text, err
}

// Shift makes the time of the model that of the translation plus a name, for runs that begin at different times.
func Shift(m *Model, name string) { m.clock = "(" + m.time + " + " + name + ")" }

// Jumps writes that symbols get values at once during a run, in the order of their ids. A compartment that changes
// leaves what the symbols of its species are, so that amounts behind concentrations follow.
func Jumps(m *Model, ids []string, values map[string]string) []string {
	size := func(s *symbol) string {
		if v, ok := values[s.in.id]; ok {
			return "(" + v + ")"
		}
		return s.in.name
	}
	var jumps []string
	for _, id := range ids {
		if s := m.symbols[id]; s.stored != "" {
			jumps = append(jumps, s.stored+" = ("+values[id]+")*"+size(s))
		} else {
			jumps = append(jumps, s.name+" = "+values[id])
		}
	}
	for _, s := range m.order {
		if s.stored == "" {
			continue
		}
		_, moved := values[s.in.id]
		if _, set := values[s.id]; moved && !set {
			jumps = append(jumps, s.stored+" = "+s.name+"*"+size(s))
		}
	}
	return jumps
}

// Remove takes an attribute away.
func (e *element) Remove(name string) {
	e.attrs = slices.DeleteFunc(e.attrs, func(a xml.Attr) bool { return a.Name.Local == name && a.Name.Space == "" })
}

// Replace puts others in the place of a child.
func (e *element) Replace(child *Element, by []*Element) {
	if i := slices.Index(e.children, child); i >= 0 {
		e.children = slices.Replace(e.children, i, i+1, by...)
	}
}

// Define lets something else give a symbol its value: a constant at all times, as a rule does; if before, a species or
// a state its value at the start. It reports whether it can.
func Define(m *Model, id, text string, before bool, from source.Origin) bool {
	s := m.symbols[id]
	switch {
	case s == nil || s.set != nil:
		return false
	case s.kind == param && s.stored == "" && !s.species && !s.assigned:
		s.kind = let
	case !before || s.kind == let || s.kind == alg:
		return false
	}
	s.set = &setting{text, from}
	return true
}
