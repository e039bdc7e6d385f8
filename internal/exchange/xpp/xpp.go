// Package xpp translates files of XPPAUT into the language of odes.
//
// G. B. Ermentrout, Simulating, Analyzing, and Animating Dynamical Systems: A Guide to XPPAUT for Researchers and
// Students, SIAM 2002, says what a file means. Names are without regard to case there, and are small letters here.
package xpp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Cues are lines that files of XPPAUT have and models of odes do not, and own are lines that only models of odes have.
var (
	cues = lazy.Regexp(`(?im)^[ \t]*(done[ \t\r]*$|@[ \t]*[a-z_]\w*[ \t]*=|d[a-z_]\w*/dt[ \t]*=|` +
		`(par|p|init|i|num|number|aux)[ \t]+[a-z_][\w\[\].]*[ \t]*=|global[ \t]+[-+]?[01][ \t]|` +
		`wiener[ \t]+\w+|[a-z_]\w*\(0\)[ \t]*=|![ \t]*\w+[ \t]*=)`)
	own = lazy.Regexp(`(?m)^[ \t]*(model|time|state|let|const|objective|event|output|solver|sens)[ \t]+[^\s=]`)
)

// Is reports whether a text is a file of XPPAUT, by its lines: their names end in .ode, too.
func Is(text string) bool {
	return !own().MatchString(text) && cues().MatchString(text)
}

// file is one that is being translated.
type file struct {
	source *source.File
	list   *diag.List
	model  *sbml.Element
	parts  map[string]*sbml.Element // lists of the model

	lines     []line
	variables []string // in their order
	names     map[string]bool
	starts    map[string]*sbml.Element // values at the start
	pasts     map[string]*sbml.Element // before it, of variables that have formulas for it
	functions map[string]int           // how many arguments each has
	from, to  string
	events    int
	late      bool // values of the past are read
	index     *int // of the sum that is being written out
	notes     []string
}

// line is one of the file, with its continuation, after arrays were written out.
type line struct {
	text  string
	start int
	exact bool // the text stands so in the file, from start on
	end   int
}

func (l line) at() sbml.Place { return sbml.At(l.start, l.end) }

// Translate writes a file of XPPAUT in the language of odes. It reports to list what is wrong or cannot be translated,
// and returns nil then.
func Translate(from *source.File, list *diag.List) *source.File {
	f := &file{
		source: from, list: list, model: sbml.New(sbml.At(0, 0), "model"), parts: map[string]*sbml.Element{},
		names: map[string]bool{}, starts: map[string]*sbml.Element{}, pasts: map[string]*sbml.Element{},
		functions: map[string]int{}, to: "20",
	}
	if !f.read() {
		return nil
	}
	document := sbml.New(sbml.At(0, 0), "sbml", "level", "3", "version", "2").Add(f.model)
	m := sbml.ReadTree(from, document, list)
	if m == nil {
		return nil
	}
	for _, n := range f.notes {
		list.Notef(parser.CodeForeignFile, source.Span{File: from}, "%s", n)
	}
	return m.Text(sbml.Options{From: f.from, To: f.to}, list)
}

// part returns a list of the model.
func (f *file) part(name string) *sbml.Element {
	if f.parts[name] == nil {
		f.parts[name] = sbml.New(sbml.At(0, 0), name)
		f.model.Add(f.parts[name])
	}
	return f.parts[name]
}

// read takes all lines. It reports the first that is wrong.
func (f *file) read() bool {
	f.split()
	for _, step := range []func(line) error{f.declare, f.define} {
		for _, l := range f.lines {
			if err := step(l); err != nil {
				f.wrong(l, err)
				return false
			}
		}
	}
	if len(f.variables) == 0 {
		f.list.Errorf(parser.CodeForeignFile, source.Span{File: f.source}, "the file has no differential equation")
		return false
	}
	var zero []string
	for _, v := range f.variables {
		p := f.parameter(sbml.At(0, 0), v, "0", false)
		if past, start := f.pasts[v], f.starts[v]; f.late && past != start {
			// `x(0) = e` gives the past and the start, and `init x = e` the start alone: the past is 0 then.
			if past == nil {
				past = sbml.Leaf(sbml.At(start.Span()), "cn", "0")
				zero = append(zero, v)
			}
			sbml.SetPast(p, past)
		}
		if start := f.starts[v]; start != nil {
			f.part("listOfInitialAssignments").Add(sbml.New(sbml.At(start.Span()), "initialAssignment", "symbol", v).
				Add(sbml.Math(start)))
		}
	}
	if len(zero) > 0 {
		f.notes = append(f.notes, fmt.Sprintf("before the start 0 is read of %s, as in XPPAUT: init gives the start "+
			"alone, and %s(0) = … the past, too", strings.Join(zero, ", "), zero[0]))
	}
	return true
}

func (f *file) wrong(l line, err error) {
	at := l.at()
	var formula *infix.Error
	if errors.As(err, &formula) && l.exact {
		at = formula.At
	}
	start, end := at.Span()
	f.list.Errorf(parser.CodeForeignFile, source.Span{File: f.source, Start: start, End: end}, "%v", err)
}

// split makes lines of the file, without comments, up to `done`, and writes arrays out.
func (f *file) split() {
	text := f.source.Text()
	var block []line // lines between %[1..n] and %
	var over string
	inside := false
	for pos := 0; pos < len(text); {
		l := line{start: pos, exact: true}
		for {
			end := strings.IndexByte(text[pos:], '\n')
			if end < 0 {
				end = len(text) - pos
			}
			part := strings.TrimRight(text[pos:pos+end], " \t\r")
			pos = min(pos+end+1, len(text))
			if joined, more := strings.CutSuffix(part, `\`); more {
				l.text, l.exact = l.text+joined, false
				if pos < len(text) {
					continue
				}
				part = ""
			}
			l.text += part
			break
		}
		l.end = max(l.start, pos-1)
		l.text = strings.ReplaceAll(l.text, "\t", " ")
		indent := len(l.text) - len(strings.TrimLeft(l.text, " "))
		if l.exact {
			l.start += indent
			l.end = l.start + len(l.text) - indent
		}
		l.text = l.text[indent:]
		word := strings.ToLower(strings.TrimSpace(l.text))
		if word == "done" || word == "d" {
			break
		}
		switch {
		case l.text == "" || l.text[0] == '#' || l.text[0] == '"':
		case l.text[0] == '%' && strings.HasPrefix(strings.TrimSpace(l.text[1:]), "["):
			inside, block, over = true, nil, strings.TrimSpace(l.text[1:])
		case l.text[0] == '%' && inside:
			inside = false
			f.repeat(over, block)
		case inside:
			block = append(block, l)
		default:
			f.repeat("", []line{l})
		}
	}
	f.lines = append(f.lines, block...) // of a block that is not closed: its lines will be refused
}

// Of arrays: [1..5], and [j], [j-1], [j*2] where it is repeated.
var (
	arrayRange = lazy.Regexp(`\[\s*(-?\d+)\s*\.\.\s*(-?\d+)\s*\]`)
	arrayIndex = lazy.Regexp(`(?i)\[\s*j\s*(?:([-+*])\s*(\d+)\s*)?\]`)
)

// maxLines is how many lines arrays are written out to.
const maxLines = 20_000

// repeat writes lines out for each number of a range, which over has, or the lines themselves.
func (f *file) repeat(over string, block []line) {
	find := over
	if over == "" {
		find = block[0].text
	}
	r := arrayRange().FindStringSubmatch(find)
	if r == nil {
		f.lines = append(f.lines, block...)
		return
	}
	from, _ := strconv.Atoi(r[1])
	to, _ := strconv.Atoi(r[2])
	for j := from; j <= to && len(f.lines) < maxLines; j++ {
		for _, l := range block {
			l.text, l.exact = arrayRange().ReplaceAllString(l.text, strconv.Itoa(j)), false
			l.text = arrayIndex().ReplaceAllStringFunc(l.text, func(s string) string {
				m := arrayIndex().FindStringSubmatch(s)
				n, _ := strconv.Atoi(m[2])
				switch m[1] {
				case "+":
					return strconv.Itoa(j + n)
				case "-":
					return strconv.Itoa(j - n)
				case "*":
					return strconv.Itoa(j * n)
				}
				return strconv.Itoa(j)
			})
			f.lines = append(f.lines, l)
		}
	}
}

// Forms of lines.
var (
	rateForm     = lazy.Regexp(`(?i)^([a-z_]\w*)\s*'\s*=`)
	ratioForm    = lazy.Regexp(`(?i)^d([a-z_]\w*)\s*/\s*dt\s*=`)
	startForm    = lazy.Regexp(`(?i)^([a-z_]\w*)\s*\(\s*0\s*\)\s*=`)
	mapForm      = lazy.Regexp(`(?i)^([a-z_]\w*)\s*\(\s*t\s*\+\s*1\s*\)\s*=`)
	volterraForm = lazy.Regexp(`(?i)^(volt\w*\s|[a-z_]\w*\s*\(\s*t\s*\)\s*=.*int\s*[{\[])`)
	functionForm = lazy.Regexp(`(?i)^([a-z_]\w*)\s*\(([^()]*)\)\s*=`)
	fixedForm    = lazy.Regexp(`(?i)^([a-z_]\w*)\s*=`)
	derivedForm  = lazy.Regexp(`(?i)^!\s*([a-z_]\w*)\s*=`)
	zeroForm     = lazy.Regexp(`^0\s*=`)
	wordForm     = lazy.Regexp(`(?i)^([a-z]\w*)\s+`)
	auxForm      = lazy.Regexp(`^([A-Za-z_][^=\s]*)\s*=`)
	notName      = lazy.Regexp(`[^A-Za-z0-9_]`)
	bareNames    = lazy.Regexp(`(?i)^[\s,]*[a-z_]\w*(?:[\s,]+[a-z_]\w*)*[\s,]*$`)
	assignForm   = lazy.Regexp(`(?i)([a-z_]\w*)\s*=\s*`)
)

// words are those that lines begin with, by what they say.
var words = map[string]string{
	"p": "par", "par": "par", "param": "par", "params": "par", "parameter": "par", "parameters": "par",
	"number": "par", "num": "par", "n": "par", "i": "init", "init": "init", "a": "aux", "aux": "aux",
	"global": "global",
	"solv":   "solv", "solve": "solv", "wiener": "noise", "w": "noise", "markov": "markov", "m": "markov",
	"table": "table", "b": "bdry", "bdry": "bdry", "bndry": "bdry", "set": "", "only": "",
	"options": "", "option": "", "export": "",
	"o": "", "special": "special", "volterra": "volterra", "volt": "volterra",
}

// refusals say what cannot be translated, by what a line begins with.
var refusals = map[string]string{
	"noise":  "the file has noise (wiener): odes solves equations without noise",
	"markov": "the file has a Markov variable, which jumps at random: odes solves equations without noise",
	"table":  "the file reads a table: write its values in the model, and interp(t, y, q) for it",
	"special": "the file has a special network function (conv, sparse, fftcon …): write sums, or arrays and A @ x, " +
		"in the language of odes",
	"volterra": "the file has an integral equation (volterra): odes solves differential equations",
}

// word returns what a line begins with, and the rest.
func (l line) word() (kind, rest string, ok bool) {
	m := wordForm().FindStringSubmatch(l.text)
	if m == nil {
		return "", "", false
	}
	kind, ok = words[strings.ToLower(m[1])]
	rest = l.text[len(m[0]):]
	if strings.HasPrefix(rest, "=") { // it is a name here
		return "", "", false
	}
	return kind, rest, ok
}

// declare takes names, so that formulas may read what stands after them.
func (f *file) declare(l line) error {
	if kind, rest, ok := l.word(); ok {
		if why := refusals[kind]; why != "" {
			return infix.Errorf(l.at(), "%s", why)
		}
		if kind == "par" || kind == "solv" {
			return f.assignments(l, rest, func(name, _ string, _ int) error {
				f.names[name] = true
				return nil
			})
		}
		return nil
	}
	for _, form := range []*regexp.Regexp{rateForm(), ratioForm()} {
		if m := form.FindStringSubmatch(l.text); m != nil {
			name := strings.ToLower(m[1])
			if slices.Contains(f.variables, name) {
				return infix.Errorf(l.at(), "%s has two differential equations", name)
			}
			f.variables, f.names[name] = append(f.variables, name), true
			return nil
		}
	}
	switch {
	case mapForm().MatchString(l.text):
		return infix.Errorf(l.at(), "the file is a map (x(t+1) = …): odes solves differential equations")
	case volterraForm().MatchString(l.text):
		return infix.Errorf(l.at(), "%s", refusals["volterra"])
	case startForm().MatchString(l.text):
	case functionForm().MatchString(l.text):
		m := functionForm().FindStringSubmatch(l.text)
		f.functions[strings.ToLower(m[1])] = len(arguments(m[2]))
	case fixedForm().MatchString(l.text):
		f.names[strings.ToLower(fixedForm().FindStringSubmatch(l.text)[1])] = true
	case derivedForm().MatchString(l.text):
		f.names[strings.ToLower(derivedForm().FindStringSubmatch(l.text)[1])] = true
	}
	return nil
}

func arguments(text string) []string {
	var list []string
	for a := range strings.SplitSeq(text, ",") {
		list = append(list, strings.ToLower(strings.TrimSpace(a)))
	}
	return list
}

// define takes what a line says.
func (f *file) define(l line) error {
	if strings.HasPrefix(l.text, "@") {
		return f.options(l)
	}
	if kind, rest, ok := l.word(); ok {
		return f.worded(l, kind, rest)
	}
	for _, form := range []*regexp.Regexp{rateForm(), ratioForm()} {
		if m := form.FindStringSubmatch(l.text); m != nil {
			return f.rule(l, "rateRule", strings.ToLower(m[1]), len(m[0]))
		}
	}
	if m := startForm().FindStringSubmatch(l.text); m != nil {
		name := strings.ToLower(m[1])
		err := f.start(l, name, l.text[len(m[0]):], len(m[0]))
		f.pasts[name] = f.starts[name]
		return err
	}
	if m := functionForm().FindStringSubmatch(l.text); m != nil {
		return f.function(l, m)
	}
	for _, form := range []*regexp.Regexp{derivedForm(), fixedForm()} {
		if m := form.FindStringSubmatch(l.text); m != nil {
			f.parameter(l.at(), strings.ToLower(m[1]), "", false)
			return f.rule(l, "assignmentRule", strings.ToLower(m[1]), len(m[0]))
		}
	}
	if m := zeroForm().FindString(l.text); m != "" {
		e, err := f.formula(l, l.text[len(m):], len(m), nil)
		if err != nil {
			return err
		}
		f.part("listOfRules").Add(sbml.New(l.at(), "algebraicRule").Add(sbml.Math(e)))
		return nil
	}
	return infix.Errorf(l.at(), "this line is none that odes reads of XPPAUT")
}

// worded takes a line that begins with a word.
func (f *file) worded(l line, kind, rest string) error {
	offset := len(l.text) - len(rest)
	switch kind {
	case "par", "init", "solv":
		return f.assignments(l, rest, func(name, value string, at int) error {
			if kind == "init" {
				return f.start(l, name, value, offset+at)
			}
			if v, err := strconv.ParseFloat(value, 64); err == nil {
				f.parameter(l.at(), name, strconv.FormatFloat(v, 'g', -1, 64), kind == "par")
				return nil
			}
			e, err := f.formula(l, value, offset+at, nil)
			if err != nil {
				return err
			}
			f.parameter(l.at(), name, "", kind == "par")
			f.part("listOfInitialAssignments").Add(
				sbml.New(l.at(), "initialAssignment", "symbol", name).Add(sbml.Math(e)))
			return nil
		})
	case "aux":
		m := auxForm().FindStringSubmatch(rest)
		if m == nil {
			return infix.Errorf(l.at(), "aux has a name and a formula: aux y = x^2")
		}
		e, err := f.formula(l, rest[len(m[0]):], offset+len(m[0]), nil)
		if err != nil {
			return err
		}
		name := notName().ReplaceAllString(strings.ToLower(m[1]), "_")
		for f.names[name] { // what is read by a name is not what is plotted by it
			name = "aux_" + name
		}
		f.names[name] = true
		f.parameter(l.at(), name, "", false)
		f.part("listOfRules").Add(sbml.New(l.at(), "assignmentRule", "variable", name).Add(sbml.Math(e)))
	case "global":
		return f.global(l, rest, offset)
	case "bdry":
		f.notes = append(f.notes, fmt.Sprintf("boundary conditions (line %d) are left out: odes solves from the start",
			f.source.LineAt(l.start)))
	}
	return nil
}

// assignments visits those of a list, which commas or spaces separate.
func (f *file) assignments(l line, rest string, visit func(name, value string, at int) error) error {
	list := assignForm().FindAllStringSubmatchIndex(rest, -1)
	bare := func(names string, at int) error { // names without values, which are 0
		for _, name := range strings.FieldsFunc(names, func(c rune) bool { return c == ',' || c == ' ' }) {
			if err := visit(strings.ToLower(name), "0", at); err != nil {
				return err
			}
		}
		return nil
	}
	before := rest
	if len(list) > 0 {
		before = rest[:list[0][0]]
	}
	if strings.Trim(before, " ,") != "" && !bareNames().MatchString(before) {
		return infix.Errorf(l.at(), "a list of assignments is expected here, such as a=1, b=2")
	}
	if err := bare(before, 0); err != nil {
		return err
	}
	for i, m := range list {
		end := len(rest)
		if i+1 < len(list) {
			end = list[i+1][0]
		}
		value, others := strings.TrimRight(rest[m[1]:end], " ,;"), ""
		if first, more, ok := strings.Cut(value, ","); ok && bareNames().MatchString(more) {
			value, others = first, more
		}
		if err := visit(strings.ToLower(rest[m[2]:m[3]]), value, m[1]); err != nil {
			return err
		}
		if err := bare(others, m[1]); err != nil {
			return err
		}
	}
	return nil
}

// parameter declares a name with a value at the start, if it has one.
func (f *file) parameter(at sbml.Place, name, value string, constant bool) *sbml.Element {
	p := sbml.New(at, "parameter", "id", name, "constant", strconv.FormatBool(constant))
	if value != "" {
		p.Set("value", value)
	}
	f.part("listOfParameters").Add(p)
	return p
}

func (f *file) rule(l line, kind, name string, offset int) error {
	e, err := f.formula(l, l.text[offset:], offset, nil)
	if err != nil {
		return err
	}
	f.part("listOfRules").Add(sbml.New(l.at(), kind, "variable", name).Add(sbml.Math(e)))
	return nil
}

func (f *file) start(l line, name, value string, offset int) error {
	e, err := f.formula(l, value, offset, nil)
	if err != nil {
		return err
	}
	if !slices.Contains(f.variables, name) {
		return infix.Errorf(l.at(), "%s gets a value at the start, and has no differential equation", name)
	}
	f.starts[name] = e // the last one counts
	return nil
}

func (f *file) function(l line, m []string) error {
	name, args := strings.ToLower(m[1]), arguments(m[2])
	e, err := f.formula(l, l.text[len(m[0]):], len(m[0]), args)
	if err != nil {
		return err
	}
	lambda := sbml.New(l.at(), "lambda")
	for _, a := range args {
		lambda.Add(sbml.New(l.at(), "bvar").Add(sbml.Leaf(l.at(), "ci", a)))
	}
	f.part("listOfFunctionDefinitions").Add(sbml.New(l.at(), "functionDefinition", "id", name).
		Add(sbml.New(l.at(), "math").Add(lambda.Add(e))))
	return nil
}

// global makes an event: where a condition crosses zero upwards (1), downwards (-1) or either way (0).
func (f *file) global(l line, rest string, offset int) error {
	way, after, _ := strings.Cut(rest, " ")
	open := strings.LastIndexByte(after, '{')
	if open < 0 || !strings.HasSuffix(strings.TrimSpace(after), "}") ||
		!slices.Contains([]string{"1", "+1", "-1", "0"}, way) {
		return infix.Errorf(l.at(), "global has a direction, a condition and what is set: global 1 v-30 {v=c;u=u+d}")
	}
	offset += len(rest) - len(after)
	condition := strings.TrimSpace(after[:open])
	if strings.HasPrefix(condition, "{") && strings.HasSuffix(condition, "}") {
		condition = " " + condition[1:len(condition)-1]
	}
	list := sbml.New(l.at(), "listOfEventAssignments")
	body := strings.TrimSuffix(strings.TrimSpace(after[open+1:]), "}")
	from := offset + open + 1
	for part := range strings.SplitSeq(body, ";") {
		m := fixedForm().FindStringSubmatch(strings.TrimLeft(part, " "))
		if m == nil && strings.TrimSpace(part) != "" {
			return infix.Errorf(l.at(), "%q is no assignment", strings.TrimSpace(part))
		}
		if m != nil {
			indent := len(part) - len(strings.TrimLeft(part, " "))
			name := strings.ToLower(m[1])
			if name == "arret" || name == "out_put" {
				return infix.Errorf(l.at(), "%s stops a run, or chooses its output, at an event: write `stop` in the "+
					"body of an event of odes", name)
			}
			e, err := f.formula(l, part[indent+len(m[0]):], from+indent+len(m[0]), nil)
			if err != nil {
				return err
			}
			list.Add(sbml.New(l.at(), "eventAssignment", "variable", name).Add(sbml.Math(e)))
		}
		from += len(part) + 1
	}
	for _, side := range []string{"geq", "leq"} {
		if side == "geq" && way == "-1" || side == "leq" && strings.HasSuffix(way, "1") && way != "-1" {
			continue
		}
		when, err := f.formula(l, condition, offset, nil)
		if err != nil {
			return err
		}
		f.events++
		trigger := sbml.New(l.at(), "trigger", "initialValue", "true", "persistent", "true").
			Add(sbml.Math(sbml.Apply(l.at(), side, when, sbml.Leaf(l.at(), "cn", "0"))))
		f.part("listOfEvents").Add(sbml.New(l.at(), "event", "id", "global"+strconv.Itoa(f.events),
			"useValuesFromTriggerTime", "true").Add(trigger, list))
	}
	return nil
}

// options takes the span of time; all others are of the solver of XPPAUT, and of its pictures.
func (f *file) options(l line) error {
	for _, m := range assignForm().FindAllStringSubmatchIndex(l.text, -1) {
		value, _, _ := strings.Cut(strings.TrimLeft(l.text[m[1]:], " "), ",")
		value, _, _ = strings.Cut(value, " ")
		name := strings.ToLower(l.text[m[2]:m[3]])
		if name != "total" && name != "t0" {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return infix.Errorf(l.at(), "%s is %q, which is no number", name, value)
		}
		if name == "t0" {
			f.from = strconv.FormatFloat(v, 'g', -1, 64)
		} else {
			f.to = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	if f.from != "" {
		from, _ := strconv.ParseFloat(f.from, 64)
		to, _ := strconv.ParseFloat(f.to, 64)
		f.to = strconv.FormatFloat(from+to, 'g', -1, 64)
	}
	return nil
}
