package antimony

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
)

// flat is a model without modules.
type flat struct {
	*reader
	symbols   map[string]*symbol
	order     []*symbol
	same      map[string]string // what is another symbol
	reactions []*reaction
	events    []*event
	notes     []noted
	deleted   []string
	unnamed   int
	entered   int
}

// noted is a note about a statement.
type noted struct {
	statement
	note string
}

// symbol is a name in the flat model.
type symbol struct {
	name                                   string
	species, compartment, boundary, amount bool
	constant                               bool
	in                                     string // its compartment, if one is declared
	inReaction                             string // or that of a reaction or a submodule
	start, rule, rate                      definition
	title                                  string
	at                                     sbml.Place
}

// definition is a formula, as it stands in a module.
type definition struct {
	statement
	scope *scope
	level int // how deep in modules it stands: those of outer modules count
	set   bool
}

// scope is a copy of a module in the flat model.
type scope struct {
	prefix string
	bound  map[string]string // names of arguments
}

// reaction is one of the flat model.
type reaction struct {
	name, in    string
	statement   statement
	left, right string
	leftAt      int
	rightAt     int
	reversible  bool
	scope       *scope
	level       int // as of a definition
}

// event is one of the flat model.
type event struct {
	name  string
	s     statement
	scope *scope
	level int // as of a definition
}

// words begin declarations.
var words = []string{
	"species", "compartment", "const", "var", "formula", "substanceOnly", "reaction", "event", "gene", "operator",
	"DNA", "ext", "constraint", "unit", "delete", "at", "function", "model", "module", "assert", "minimize", "maximize",
}

// global is the name of a name of a scope in the flat model.
func (sc *scope) global(name string) string {
	first, rest, dotted := strings.Cut(name, ".")
	if to, ok := sc.bound[name]; ok {
		return to
	}
	if dotted {
		return sc.prefix + first + "__" + strings.ReplaceAll(rest, ".", "__")
	}
	return sc.prefix + name
}

// find returns the name that stands for all that are the same.
func (f *flat) find(name string) string {
	for range len(f.same) + 1 {
		to, ok := f.same[name]
		if !ok {
			break
		}
		name = to
	}
	return name
}

// symbol returns that of a name in the flat model.
func (f *flat) symbol(name string, at sbml.Place) *symbol {
	name = f.find(name)
	s := f.symbols[name]
	if s == nil {
		s = &symbol{name: name, at: at}
		f.symbols[name] = s
		f.order = append(f.order, s)
	}
	return s
}

// The most copies of modules that are made.
const maxCopies = 10_000

// Statements of a module.
var (
	eventForm  = lazy.Regexp(`(?s)^(?:([A-Za-z_][\w.]*)\s*(?:in\s+[\w.]+\s*)?:)?\s*at\b(.*)$`)
	moduleForm = lazy.Regexp(`(?s)^(?:([A-Za-z_]\w*)\s*(?:in\s+([\w.]+)\s*)?:)?\s*([A-Za-z_]\w*)\s*\(([^()]*)\)(.*)$`)
	sameForm   = lazy.Regexp(`^([A-Za-z_][\w.]*)\s+is\s+([A-Za-z_][\w.]*)$`)
	factorForm = lazy.Regexp(`^\S+\s*(?:[*/].*)?\s+is\s+`)
	setForm    = lazy.Regexp(`(?s)^\$?([A-Za-z_][\w.]*)(?:\s+in\s+([A-Za-z_][\w.]*))?\s*('\s*=|:=|=)(.*)$`)
	inForm     = lazy.Regexp(`^\$?([A-Za-z_][\w.]*)\s+in\s+([A-Za-z_][\w.]*)$`)
)

// enter makes a copy of a module.
func (f *flat) enter(m *module, prefix string, bound map[string]string, level int, in string) error {
	if f.entered++; f.entered > maxCopies || level > 50 {
		return infix.Errorf(sbml.At(0, 0), "modules are copied more than %d times, or contain each other", maxCopies)
	}
	sc := &scope{prefix, bound}
	for _, s := range m.statements {
		if err := f.take(sc, s, level, in); err != nil {
			return err
		}
	}
	return nil
}

// firstWord returns the first word of a statement; "" of one without any, such as ":".
func firstWord(text string) string {
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' || c == ':' })
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// take takes a statement.
func (f *flat) take(sc *scope, s statement, level int, in string) error {
	word := firstWord(s.text)
	if m := moduleForm().FindStringSubmatch(s.text); m != nil && f.modules[m[3]] != nil && word != "at" {
		return f.submodule(sc, s, m, level)
	}
	switch {
	case strings.HasPrefix(s.text, "delete "):
		for _, name := range list(s.text[len("delete "):]) {
			f.deleted = append(f.deleted, f.find(sc.global(name)))
		}
		return nil
	case isAnnotation(s.text):
		if name, title, ok := strings.Cut(s.text, " is \""); ok && displayForm().MatchString(s.text) && level == 0 {
			if t := f.symbols[f.find(sc.global(strings.TrimSpace(name)))]; t != nil {
				t.title = strings.TrimSuffix(strings.TrimSpace(title), "\"")
			}
		}
		return nil
	case eventForm().MatchString(s.text):
		m := eventForm().FindStringSubmatchIndex(s.text)
		name := ""
		if m[2] >= 0 {
			name = sc.global(s.text[m[2]:m[3]])
		}
		f.event(&event{name, s.from(m[4]), sc, level})
		return nil
	case isReaction(s.text):
		return f.reaction(sc, s, level, in)
	case interaction().MatchString(s.text) && !strings.ContainsAny(s.text, "=;"):
		return nil // says nothing of what is computed
	case slices.Contains([]string{"minimize", "maximize"}, word):
		return infix.Errorf(s.at(), "this is a problem of flux balance: it has no time, and odes does not solve it")
	case slices.Contains([]string{"assert", "constraint"}, word):
		f.notes = append(f.notes, noted{s, "constraints are left out"})
		return nil
	case slices.Contains(words, word):
		return f.declaration(sc, s, level, in)
	}
	if m := sameForm().FindStringSubmatch(s.text); m != nil {
		f.join(sc.global(m[1]), sc.global(m[2]), s.at())
		return nil
	}
	if factorForm().MatchString(s.text) {
		return infix.Errorf(s.at(), "conversion factors of modules are not read: write them into the formulas")
	}
	if setForm().MatchString(s.text) || inForm().MatchString(s.text) {
		_, err := f.set(sc, s, level)
		return err
	}
	return infix.Errorf(s.at(), "this statement is none that odes reads of Antimony")
}

// event takes one. A later event of the same name replaces it, unless it stands in an inner module.
func (f *flat) event(e *event) {
	at := slices.IndexFunc(f.events, func(o *event) bool { return e.name != "" && o.name == e.name })
	switch {
	case at < 0:
		f.events = append(f.events, e)
	case e.level <= f.events[at].level:
		f.notes = append(f.notes, noted{f.events[at].s, fmt.Sprintf(
			"another event %s follows, and replaces this one", e.name)})
		f.events[at] = e
	}
}

// join makes two symbols the same, with the second one's name.
func (f *flat) join(a, b string, at sbml.Place) {
	from, to := f.find(a), f.find(b)
	if from == to {
		return
	}
	s := f.symbols[from]
	f.same[from] = to
	if s == nil {
		return
	}
	delete(f.symbols, from)
	t := f.symbols[to]
	if t == nil {
		s.name = to
		f.symbols[to] = s
		return
	}
	f.order = slices.DeleteFunc(f.order, func(o *symbol) bool { return o == s })
	t.species, t.compartment = t.species || s.species, t.compartment || s.compartment
	t.boundary, t.amount, t.constant = t.boundary || s.boundary, t.amount || s.amount, t.constant || s.constant
	if t.in == "" {
		t.in = s.in
	}
	for _, d := range [][2]*definition{{&t.start, &s.start}, {&t.rule, &s.rule}, {&t.rate, &s.rate}} {
		if d[1].set && (!d[0].set || d[1].level < d[0].level) {
			*d[0] = *d[1]
		}
	}
}

// submodule makes a copy of a module inside another one.
func (f *flat) submodule(sc *scope, s statement, m []string, level int) error {
	if strings.Trim(m[5], " \t\n") != "" {
		return infix.Errorf(s.at(), "conversion factors of modules are not read: write them into the formulas")
	}
	of, name := f.modules[m[3]], m[1]
	if name == "" {
		f.unnamed++
		name = fmt.Sprintf("_sys%d", f.unnamed-1)
	}
	args := list(m[4])
	if len(args) > len(of.params) {
		return infix.Errorf(s.at(), "the model %s has %d arguments, and gets %d", m[3], len(of.params), len(args))
	}
	prefix := sc.prefix + name + "__"
	bound := map[string]string{}
	for i, a := range args {
		to := sc.global(a)
		if _, _, ok := number(a); ok {
			to = prefix + of.params[i]
			d := f.symbol(to, s.at())
			d.start = definition{statement{a, s.start, nil}, sc, level, true}
		} else {
			f.symbol(to, s.at())
			f.same[prefix+of.params[i]] = f.find(to)
		}
		bound[of.params[i]] = to
	}
	in := ""
	if m[2] != "" {
		in = sc.global(m[2])
		f.symbol(in, s.at()).compartment = true
	}
	return f.enter(of, prefix, bound, level+1, in)
}

// declaration takes a list of names with what they are.
func (f *flat) declaration(sc *scope, s statement, level int, in string) error {
	var kinds []string
	rest := s
	for {
		word, _, _ := strings.Cut(strings.ReplaceAll(rest.text, "\t", " "), " ")
		if !slices.Contains(words, word) || word == rest.text {
			break
		}
		kinds = append(kinds, word)
		rest = rest.from(len(word))
	}
	if slices.Contains(kinds, "DNA") || slices.Contains(kinds, "operator") {
		return infix.Errorf(s.at(), "strands of DNA are not read: write their reactions")
	}
	if slices.Contains(kinds, "reaction") || slices.Contains(kinds, "event") || slices.Contains(kinds, "gene") {
		return nil
	}
	for _, part := range pieces(rest, ',') {
		dollar := strings.HasPrefix(part.text, "$")
		t, err := f.set(sc, part, level)
		if err != nil {
			return err
		}
		for _, k := range kinds {
			switch k {
			case "species":
				t.species = true
				if t.inReaction == "" {
					t.inReaction = in
				}
			case "compartment":
				t.compartment = true
			case "substanceOnly":
				t.amount = true
			case "const":
				t.boundary, t.constant = true, true
			case "var":
				t.boundary, t.constant = false, false
			}
		}
		t.boundary = t.boundary || dollar
	}
	return nil
}

// set takes a name, perhaps with its compartment, and a value or a rule.
func (f *flat) set(sc *scope, s statement, level int) (*symbol, error) {
	name, in, sign, value := strings.TrimPrefix(s.text, "$"), "", "", ""
	offset := 0
	if m := setForm().FindStringSubmatchIndex(s.text); m != nil {
		name = s.text[m[2]:m[3]]
		if m[4] >= 0 {
			in = s.text[m[4]:m[5]]
		}
		sign, value, offset = s.text[m[6]:m[7]], s.text[m[8]:m[9]], m[8]
	} else if m := inForm().FindStringSubmatch(s.text); m != nil {
		name, in = m[1], m[2]
	}
	if !nameForm().MatchString(name) {
		return nil, infix.Errorf(s.at(), "%q is no name", name)
	}
	t := f.symbol(sc.global(name), s.at())
	if in != "" {
		t.in = sc.global(in)
		f.symbol(t.in, s.at()).compartment = true
	}
	if sign == "" {
		return t, nil
	}
	if name == "time" {
		return nil, infix.Errorf(s.at(), "time is the time of the run, and nothing else sets it")
	}
	of := &t.start
	switch sign[0] {
	case ':':
		of = &t.rule
	case '\'':
		of = &t.rate
	}
	if strings.TrimSpace(value) == "" { // clears it
		*of = definition{}
		return t, nil
	}
	if !of.set || level <= of.level {
		*of = definition{s.from(offset), sc, level, true}
	}
	if r := &t.rule; r.set && r.level == level && of == &t.start {
		return nil, infix.Errorf(s.at(), "a rule gives %s at all times (:=), also at the start", name)
	}
	return t, nil
}

var nameForm = lazy.Regexp(`^[A-Za-z_][\w.]*$`)

// pieces splits a statement where a character stands outside of brackets.
func pieces(s statement, at byte) []statement {
	var all []statement
	depth, from := 0, 0
	for i := 0; i <= len(s.text); i++ {
		if i == len(s.text) || s.text[i] == at && depth == 0 {
			p := statement{s.text[from:i], s.start + from, nil}
			all = append(all, p.from(0))
			from = i + 1
			continue
		}
		switch s.text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		}
	}
	return all
}

// participants are the species of a side, with what stands before them.
var participant = lazy.Regexp(`^(?:([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?|[A-Za-z_][\w.]*)\s*\*?\s+|` +
	`([0-9]*\.?[0-9]+)\s*)?(\$?)\s*([A-Za-z_][\w.]*)$`)

// reaction takes one.
func (f *flat) reaction(sc *scope, s statement, level int, in string) error {
	m := reactionForm().FindStringSubmatchIndex(s.text)
	r := &reaction{
		statement: s, left: s.text[m[6]:m[7]], right: s.text[m[10]:m[11]], leftAt: m[6], rightAt: m[10], scope: sc,
		reversible: s.text[m[8]:m[9]] != "=>", in: in, level: level,
	}
	if m[2] >= 0 {
		r.name = sc.global(s.text[m[2]:m[3]])
	} else {
		r.name = sc.global(fmt.Sprintf("_J%d", f.count(sc.prefix)))
	}
	if m[4] >= 0 {
		r.in = sc.global(s.text[m[4]:m[5]])
	}
	again := slices.IndexFunc(f.reactions, func(o *reaction) bool { return o.name == r.name && o.level > level })
	t := f.symbol(r.name, s.at())
	if again >= 0 { // that of a module inside
		t.start = definition{}
		f.reactions = slices.Delete(f.reactions, again, again+1)
	}
	if s.rate != nil {
		law := *s.rate
		i := strings.LastIndex(law.text, " in ")
		if i >= 0 && nameForm().MatchString(strings.TrimSpace(law.text[i+4:])) {
			r.in = sc.global(strings.TrimSpace(law.text[i+4:]))
			law = statement{law.text[:i], law.start, nil}
		}
		t.start = definition{law, sc, level, true}
	}
	if r.in != "" {
		f.symbol(r.in, s.at()).compartment = true
	}
	f.reactions = append(f.reactions, r)
	for _, side := range []statement{{r.left, s.start + r.leftAt, nil}, {r.right, s.start + r.rightAt, nil}} {
		for _, part := range pieces(side, '+') {
			if part.text == "" {
				continue
			}
			p := participant().FindStringSubmatch(part.text)
			if p == nil {
				return infix.Errorf(part.at(), "%q is no species with a stoichiometry before it", part.text)
			}
			t := f.symbol(sc.global(p[4]), part.at())
			t.species = true
			t.boundary = t.boundary || p[3] != ""
			if r.in != "" {
				t.inReaction = r.in
			}
		}
	}
	return nil
}

// count numbers reactions without names in a copy of a module.
func (f *flat) count(prefix string) int {
	n := 0
	for _, r := range f.reactions {
		if rest, ok := strings.CutPrefix(r.name, prefix+"_J"); ok && !strings.Contains(rest, "_") {
			n++
		}
	}
	return n
}

// isDeleted reports whether a name, or what it lies in, was deleted.
func (f *flat) isDeleted(name string) bool {
	return slices.ContainsFunc(f.deleted, func(d string) bool {
		return f.find(name) == f.find(d) || strings.HasPrefix(name, d+"__")
	})
}

// reads reports whether a formula of a scope reads something that was deleted.
func (f *flat) readsDeleted(d definition) bool {
	if len(f.deleted) == 0 {
		return false
	}
	for _, name := range anyName().FindAllString(d.text, -1) {
		if f.isDeleted(d.scope.global(name)) {
			return true
		}
	}
	return false
}

var anyName = lazy.Regexp(`[A-Za-z_][\w.]*`)

// document writes the model as one in SBML.
func (f *flat) document(name string) (*sbml.Element, error) {
	w := &written{flat: f, model: sbml.New(sbml.At(0, 0), "model", "id", name), lists: map[string]*sbml.Element{}}
	laws := map[*symbol]bool{}
	for _, r := range f.reactions {
		laws[f.symbol(r.name, r.statement.at())] = true
	}
	assigned := map[string]bool{}
	for _, e := range f.events {
		for _, t := range w.targets(e) {
			assigned[t] = true
		}
	}
	for _, step := range []func() error{
		w.functions,
		func() error { return w.symbols(laws, assigned) },
		w.reactions,
		w.events,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return sbml.New(sbml.At(0, 0), "sbml", "level", "3", "version", "2").Add(w.model), nil
}
