// Package antimony translates models in Antimony into the language of odes.
//
// L. P. Smith, F. T. Bergmann, D. Chandran and H. M. Sauro, Antimony: a modular model definition language,
// Bioinformatics 25 (2009) 2452-2454, and the reference of its library say what a text means. Modules are flattened: x
// of a submodule A is A__x.
package antimony

import (
	"errors"
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

// Lines that texts in Antimony have, and models of odes do not: a reaction or its end of an arrow, an assignment of a
// rule, an event of `at … :`; and headings.
var (
	arrows = lazy.Regexp(`(?m)^[^"'#\n]*(->|=>)[^"\n]*;`)
	rules  = lazy.Regexp(`(?m)^\s*[A-Za-z_][\w.]*\s*:=`)
	heads  = lazy.Regexp(`(?m)^\s*(model|module)\s+\*?\w+\s*(\(|$|\r)`)
	own    = lazy.Regexp(`(?m)^[ \t]*(time|state|param|let|objective|solver|sens|reaction)[ \t]+[^\s=,;]`)
)

// Is reports whether a text is in Antimony, by its name or its lines.
func Is(name, text string) bool {
	if strings.HasSuffix(strings.ToLower(name), ".ant") {
		return true
	}
	return !own().MatchString(text) && (arrows().MatchString(text) || rules().MatchString(text)) &&
		(heads().MatchString(text) || strings.Contains(text, "//") || strings.Contains(text, ";"))
}

// statement is one of a module, with its place.
type statement struct {
	text  string
	start int
	rate  *statement // of a reaction
}

func (s statement) at() sbml.Place { return sbml.At(s.start, s.start+len(s.text)) }

// trimmed passes over n bytes and white space.
func (s statement) from(n int) statement {
	rest := s.text[n:]
	trimmed := strings.TrimLeft(rest, " \t\r\n")
	return statement{strings.TrimRight(trimmed, " \t\r\n"), s.start + n + len(rest) - len(trimmed), nil}
}

// module is a model of the text.
type module struct {
	name       string
	params     []string
	statements []statement
}

// reader reads a text.
type reader struct {
	file      *source.File
	modules   map[string]*module
	order     []*module
	functions []*function
	main      string
}

// function is one of the text.
type function struct {
	name string
	args []string
	body statement
}

// Translate writes a text in Antimony in the language of odes. It reports to list what is wrong or cannot be
// translated, and returns nil then. End is the end of the run, which the text does not say, or "".
func Translate(file *source.File, end string, list *diag.List) *source.File {
	r := &reader{file: file, modules: map[string]*module{}}
	document, notes, err := r.document()
	if err != nil {
		at := sbml.At(0, 0)
		var wrong *infix.Error
		if errors.As(err, &wrong) {
			at = wrong.At
		}
		start, stop := at.Span()
		list.Errorf(parser.CodeForeignFile, source.Span{File: file, Start: start, End: stop}, "%v", err)
		return nil
	}
	m := sbml.ReadTree(file, document, list)
	if m == nil {
		return nil
	}
	for _, n := range notes {
		start, stop := n.at().Span()
		list.Notef(parser.CodeForeignFile, source.Span{File: file, Start: start, End: stop}, "%s", n.note)
	}
	return m.Text(sbml.Options{To: end}, list)
}

func (r *reader) document() (*sbml.Element, []noted, error) {
	if err := r.split(); err != nil {
		return nil, nil, err
	}
	name := r.main
	if name == "" {
		for _, s := range r.modules[top].statements {
			if !isAnnotation(s.text) {
				name = top
			}
		}
		if name == "" && len(r.order) > 0 {
			name = r.order[len(r.order)-1].name
		}
	}
	if name == "" {
		return nil, nil, infix.Errorf(sbml.At(0, 0), "the text has no model")
	}
	f := &flat{reader: r, symbols: map[string]*symbol{}, same: map[string]string{}}
	if err := f.enter(r.modules[name], "", map[string]string{}, 0, ""); err != nil {
		return nil, nil, err
	}
	document, err := f.document(name)
	return document, f.notes, err
}

// top is the module of what stands in no module.
const top = "__main"

// blank replaces comments by spaces, so that places stay what they are.
func blank(text string) (string, error) {
	b := []byte(text)
	for i := 0; i < len(b); {
		clear := func(to int) {
			for ; i < to; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
		switch {
		case b[i] == '"':
			end := strings.IndexByte(text[i+1:], '"')
			if end < 0 {
				return "", infix.Errorf(sbml.At(i, i+1), "the quotation mark is not closed")
			}
			i += end + 2
		case b[i] == '#' || strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			clear(i + end)
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return "", infix.Errorf(sbml.At(i, i+2), "the comment is not closed")
			}
			clear(i + end + 4)
		default:
			i++
		}
	}
	return string(b), nil
}

// Heads of modules and functions, and what continues in the next line.
var (
	moduleHead   = lazy.Regexp(`^(?:model|module)\s+(\*?)\s*([A-Za-z_]\w*)\s*(?:\(([^()]*)\))?`)
	functionHead = lazy.Regexp(`^function\s+([A-Za-z_]\w*)\s*\(([^()]*)\)`)
	goesOn       = lazy.Regexp(`(?:[:,=+*/^(&|]|[^>-]-)\s*$`)
)

// split makes statements of the text, and modules of these.
func (r *reader) split() error {
	text, err := blank(r.file.Text())
	if err != nil {
		return err
	}
	r.modules[top] = &module{name: top}
	in := r.modules[top]
	var of *function
	for pos := 0; pos < len(text); {
		s, line := next(text, pos)
		pos += len(s.text)
		s = s.from(0)
		switch head := moduleHead().FindStringSubmatchIndex(s.text); {
		case s.text == "" || s.text == ";":
			pos = max(pos, s.start+len(s.text))
		case of != nil && s.text == "end":
			of = nil
		case of != nil:
			if of.body.text == "" {
				of.body = s
			}
		case s.text == "end":
			in = r.modules[top]
		case head != nil && in.name == top:
			name := s.text[head[4]:head[5]]
			if r.modules[name] != nil {
				return infix.Errorf(s.at(), "the model %q is there twice", name)
			}
			in = &module{name: name}
			if head[6] >= 0 {
				in.params = list(s.text[head[6]:head[7]])
			}
			if head[2] < head[3] {
				r.main = name
			}
			r.modules[name], r.order = in, append(r.order, in)
			pos = s.start + head[1] // statements may follow in the line
		case functionHead().MatchString(s.text):
			m := functionHead().FindStringSubmatchIndex(s.text)
			of = &function{name: s.text[m[2]:m[3]], args: list(s.text[m[4]:m[5]])}
			r.functions = append(r.functions, of)
			pos = s.start + m[1]
		case strings.HasPrefix(s.text, "import ") || strings.HasPrefix(s.text, "import\""):
			return infix.Errorf(s.at(), "the text imports another file: put its models into this one")
		default:
			if isReaction(s.text) && line {
				rate, _ := next(text, pos+1)
				t := rate.from(0)
				sameLine := !strings.Contains(rate.text[:t.start-rate.start], "\n")
				if t.text != "" && t.text != "end" && sameLine && !isAnother(t.text) {
					s.rate = &t
					pos += 1 + len(rate.text)
				}
			}
			in.statements = append(in.statements, s)
		}
		if pos < len(text) && text[pos] == ';' {
			pos++
		}
	}
	return nil
}

// next returns the text up to the end of the statement that begins at pos, and whether a semicolon ends it. The word
// end is a statement of its own, also where nothing parts it from the others.
func next(text string, pos int) (s statement, semicolon bool) {
	depth, begun := 0, false
	for i := pos; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := strings.IndexByte(text[i+1:], '"')
			i += max(0, end) + 1
			begun = true
		case c == '(' || c == '{' || c == '[':
			depth++
			begun = true
		case c == ')' || c == '}' || c == ']':
			depth--
		case c == ';' && depth <= 0:
			return statement{text[pos:i], pos, nil}, true
		case c == '\n' && depth <= 0 && begun && !goesOn().MatchString(text[pos:i]):
			return statement{text[pos:i], pos, nil}, false
		case depth <= 0 && isWord(text, i, "end"):
			if !begun {
				i += len("end")
			}
			return statement{text[pos:i], pos, nil}, false
		case c > ' ':
			begun = true
		}
	}
	return statement{text[pos:], pos, nil}, false
}

// isWord reports whether a word stands at i in text, and is no part of a name.
func isWord(text string, i int, word string) bool {
	part := func(at int) bool {
		return at >= 0 && at < len(text) && (text[at] == '_' || text[at] == '.' || text[at] == '`' ||
			'0' <= text[at] && text[at] <= '9' || 'a' <= text[at]|0x20 && text[at]|0x20 <= 'z')
	}
	return strings.HasPrefix(text[i:], word) && !part(i-1) && !part(i+len(word))
}

func list(text string) []string {
	var names []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			names = append(names, part)
		}
	}
	return names
}

var (
	reactionForm = lazy.Regexp(`^(?:(\$?[A-Za-z_][\w.]*)(?:\s+in\s+([A-Za-z_][\w.]*))?\s*:)?` +
		`([^=:<>]*?)(<->|->|=>)([^=:<>]*)$`)
	assignmentForm = lazy.Regexp(`^\$?[A-Za-z_][\w.]*\s*(?:'|:)?=(?:[^=]|$)`)
	annotationForm = lazy.Regexp(`^[A-Za-z_][\w.]*(?:\s*\.\s*sboTerm\b.*|\s+\w+\s+".*|\s+\w+\s*\.\.\.".*)$`)
	unitForm       = lazy.Regexp(`^(?:unit\s.*|[A-Za-z_][\w.]*\s+has\s+.*|.*\.\s*(?:stdev|standardDeviation|mean|` +
		`confidenceInterval|range|distribution)\b.*)$`)
	displayForm = lazy.Regexp(`(?s)^[A-Za-z_][\w.]*\s+is\s+".*$`)
	interaction = lazy.Regexp(`-\||-o\s|-\(`)
)

func isReaction(text string) bool {
	return reactionForm().MatchString(text) && !strings.HasPrefix(text, "at ")
}

// isAnother reports whether what stands behind a reaction is no rate, but a statement of its own.
func isAnother(text string) bool {
	return assignmentForm().MatchString(text) || isReaction(text) || isAnnotation(text) ||
		strings.Contains(text, ":") || slices.Contains(words, strings.SplitN(text, " ", 2)[0])
}

// isAnnotation reports whether a statement says nothing of what a model computes.
func isAnnotation(text string) bool {
	oneLine := strings.ReplaceAll(text, "\n", " ")
	return annotationForm().MatchString(oneLine) || unitForm().MatchString(oneLine) || displayForm().MatchString(text)
}

// number writes a number of Antimony, without its unit, which it returns as well; ok is whether it is one.
func number(text string) (value, unit string, ok bool) {
	word, unit, _ := strings.Cut(text, " ")
	unit = strings.TrimSpace(unit)
	if unit != "" && !unitName().MatchString(unit) {
		return "", "", false
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || strings.ContainsAny(word, "xXpP_iInN") {
		return "", "", false
	}
	return strconv.FormatFloat(v, 'g', -1, 64), unit, true
}

var unitName = lazy.Regexp(`^[A-Za-z_]\w*$`)
