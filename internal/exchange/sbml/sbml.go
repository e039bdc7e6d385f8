// Package sbml translates models of the Systems Biology Markup Language, Level 2 and Level 3 Core, into the language of
// odes.
//
// M. Hucka et al., The Systems Biology Markup Language (SBML): Language Specification for Level 3 Version 2 Core,
// Journal of Integrative Bioinformatics 16 (2019) 20190021, says what a model means. What the translation keeps:
// every id has the value that SBML gives it, and the name of an id is the id, unless the language has reserved it for
// something else.
package sbml

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Model is a model in SBML that has been read. What it becomes can be changed before its text is written.
type Model struct {
	file      *source.File
	root      *element
	level     string
	calls     int // of functions that are written out
	time      string
	slow      bool // fast reactions are taken by their rate laws
	fast      fastPart
	clock     string          // the time in expressions
	changed   map[string]bool // ids that others change during runs
	symbols   map[string]*symbol
	order     []*symbol // compartments, species, parameters, stoichiometries, reactions
	functions map[string]*function
	defined   []*function
	kept      []*function      // in an order in which each calls only those before it
	names     map[string]bool  // of the language, that are taken
	static    map[*symbol]bool // what constant has found out
	late      map[*symbol]bool // what is read at earlier times
	from      string           // where the time begins
	early     *early           // while values at the start, or before it, are translated
	resting   string           // the name of a state where the model has none
	alone     bool             // nothing beside the model reads its symbols, while it is being written
	notes     []*finding       // what a user should know of the translation
}

// Options are what a file in SBML does not say.
type Options struct {
	From, To string // the span of time; 0 and 100 where they are empty
	Name     string // of the translation; that of the file where it is empty
	Bare     bool   // without objectives
	Head     *Items // further items behind the time, or nil
	Tail     *Items // further items at the end, or nil
	// Several is true if others have events, too, and Ordered if these have priorities.
	Several, Ordered bool
	// IgnoreFast takes reactions that are marked as fast, which are equilibria, by their rate laws.
	IgnoreFast bool
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

func newModel(file *source.File) *Model {
	m := &Model{
		file: file, symbols: map[string]*symbol{}, functions: map[string]*function{}, names: map[string]bool{},
		static: map[*symbol]bool{}, changed: map[string]bool{},
	}
	m.fast.Model = m
	return m
}

// take reads a document into a model.
func take(m *Model, document *element) error {
	if err := m.open(document); err != nil {
		return err
	}
	return m.read()
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
	s := m.symbols[id]
	return s != nil && s.set != nil
}

// IsRule reports whether a rule or a reaction gives a symbol, which then has no value at the start of its own.
func (m *Model) IsRule(id string) bool {
	s := m.symbols[id]
	return s != nil && (s.kind == let || s.kind == alg)
}

// Time returns what the time is in expressions.
func (m *Model) Time() string { return m.clock }

// Free returns a name for something new, which is like the proposal.
func (m *Model) Free(proposal string) string { return m.named(proposal) }

// Set declares a param with this behind its `=`, whatever the file says of its value, since from says so. It returns
// false if something changes the symbol.
func (m *Model) Set(id, declaration string, from source.Origin) bool {
	s := m.symbols[id]
	if s.kind == discrete && !s.species && !s.assigned { // only its initial assignment made it one
		s.kind = param
	}
	if s.kind != param || s.stored != "" {
		return false
	}
	s.set = &setting{declaration, from}
	return true
}

// Fix declares all params as constants whose values are numbers, but for those that others set or keep.
func (m *Model) Fix(keep func(id string) bool) {
	for _, s := range m.order {
		s.fixed = !keep(s.id) && !s.species
	}
}

// Start returns the name of a param that the value of a symbol at the start is.
func (m *Model) Start(id string) string {
	s := m.symbols[id]
	if s.startName == "" {
		s.startName = m.named(s.id + "_start")
	}
	return s.startName
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
	m.alone = !o.Bare && o.Head == nil && o.Tail == nil
	items, err := m.write(o)
	if !m.report(err, list) {
		return nil
	}
	if o.Name == "" {
		o.Name = m.file.Name()
	}
	return items.Format(o.Name, m.file, list)
}

// Restart returns what sets values anew by their initial assignments, as a run with a condition of its own begins
// from a steady state of another: of those that read, themselves or through others, what the condition changes. What
// an initial assignment reads has its own value at the start, not that of the steady state. It passes over what keep
// reports.
func Restart(m *Model, changed, keep func(id string) bool) (jumps []string, err error) {
	follows := map[*symbol]bool{}
	var reads func(s *symbol) bool
	reads = func(s *symbol) bool {
		if found, ok := follows[s]; ok {
			return found
		}
		follows[s] = false // of a circle, which the checker of the language reports
		from := s.start
		if s.kind == let {
			from = s.rule
		}
		follows[s] = changed(s.id) || slices.ContainsFunc(m.reads(from.math(), s.locals), reads)
		return follows[s]
	}
	values := map[*symbol]expr{}
	var value func(s *symbol) (expr, error)
	value = func(s *symbol) (v expr, err error) {
		if v, ok := values[s]; ok {
			return v, nil
		}
		values[s] = atom(s.name, false)
		from := s.start
		if s.kind == let {
			from = s.rule
		}
		if from == nil {
			v, err = m.given(s)
		} else {
			in := maps.Clone(s.locals)
			if in == nil {
				in = scope{}
			}
			for _, r := range m.reads(from.math(), s.locals) {
				if r.kind == param && r.stored == "" || err != nil {
					continue
				}
				var start expr
				start, err = value(r)
				in[r.id] = start.number()
			}
			if err == nil {
				v, err = latePart{m}.start(from.math(), in)
			}
		}
		values[s] = v.number()
		return values[s], err
	}
	for _, s := range m.order {
		if s.kind != state && s.kind != discrete && s.stored == "" || s.start == nil || keep(s.id) || !reads(s) {
			continue
		}
		v, err := value(s)
		if err != nil {
			return nil, err
		}
		jumps = append(jumps, m.Jump(s.id, v.text))
	}
	return jumps, nil
}
