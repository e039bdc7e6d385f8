package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odes.dev/odes/lang/source"
)

// Format is a way to write diagnostics.
type Format uint8

// The formats. Plain and Colour are for people: the place, what is wrong, the
// line with the place marked, related places, and what the fixes would make.
// JSON is for programs: one object a line.
const (
	Plain Format = iota
	Colour
	JSON
)

// Write writes the diagnostics of list to w.
func Write(w io.Writer, list []Diagnostic, f Format) error {
	for i := range list {
		var text string
		if f == JSON {
			text = list[i].json()
		} else {
			r := renderer{colour: f == Colour}
			r.diagnostic(&list[i])
			text = r.b.String()
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// String returns the plain rendering, several lines with their endings.
func (d *Diagnostic) String() string {
	r := renderer{}
	r.diagnostic(d)
	return r.b.String()
}

// The colours: SGR parameters.
const (
	bold    = "1"
	dim     = "2"
	red     = "1;31"
	green   = "32"
	yellow  = "1;33"
	blue    = "1;36"
	tabStop = 4
)

var levelColours = [...]string{red, yellow, blue}

type renderer struct {
	b      strings.Builder
	colour bool
	gutter int // width of line numbers
}

func (r *renderer) paint(sgr, text string) {
	if !r.colour || text == "" {
		r.b.WriteString(text)
		return
	}
	r.b.WriteString("\x1b[" + sgr + "m" + text + "\x1b[0m")
}

func (r *renderer) diagnostic(d *Diagnostic) {
	r.gutter = digits(d.Span)
	for _, n := range d.Related {
		r.gutter = max(r.gutter, digits(n.Span))
	}
	r.head(d.Span, d.Level.String(), levelColours[d.Level], d.Message)
	if d.Code != "" {
		r.b.WriteByte(' ')
		r.paint(dim, "["+string(d.Code)+"]")
	}
	r.b.WriteByte('\n')
	r.snippet(d.Span, levelColours[d.Level])
	for _, n := range d.Related {
		r.head(n.Span, Note.String(), blue, n.Message)
		r.b.WriteByte('\n')
		r.snippet(n.Span, blue)
	}
	for _, fix := range d.Fixes {
		r.fix(fix)
	}
}

func digits(at source.Span) int {
	if at.IsZero() {
		return 0
	}
	return len(strconv.Itoa(at.Begin().Line))
}

func (r *renderer) head(at source.Span, word, colour, message string) {
	if !at.IsZero() {
		b := at.Begin()
		r.paint(bold, fmt.Sprintf("%s:%d:%d:", printable(at.File.Name()), b.Line, b.Column))
		r.b.WriteByte(' ')
	}
	r.paint(colour, word+":")
	r.b.WriteByte(' ')
	r.paint(bold, printable(message))
}

// snippet shows the first line of at with the place underlined.
func (r *renderer) snippet(at source.Span, colour string) {
	if at.IsZero() {
		return
	}
	line := at.Begin().Line
	start := at.File.LineStart(line)
	text := at.File.Line(line)
	r.marked(line, text, at.Start-start, at.End-start, "^", colour)
}

// fix shows the line as it would be with the edit made.
func (r *renderer) fix(f Fix) {
	r.paint(green, "fix:")
	r.b.WriteString(" " + printable(f.Message) + "\n")
	if f.Span.IsZero() || strings.Contains(f.Span.Text(), "\n") || strings.Contains(f.Text, "\n") {
		return
	}
	line := f.Span.Begin().Line
	start := f.Span.File.LineStart(line)
	text := f.Span.File.Line(line)
	from, to := min(f.Span.Start-start, len(text)), min(f.Span.End-start, len(text))
	r.marked(line, text[:from]+f.Text+text[to:], from, from+len(f.Text), "+", green)
}

// marked writes a line of source and, below it, marks under its bytes [from, to).
func (r *renderer) marked(line int, text string, from, to int, mark, colour string) {
	before, under, after := window(text, from, to)
	r.paint(dim, fmt.Sprintf("  %*d | ", r.gutter, line))
	r.b.WriteString(before.text)
	r.paint(colour, under.text)
	r.b.WriteString(after.text + "\n")
	r.paint(dim, fmt.Sprintf("  %*s | ", r.gutter, ""))
	r.b.WriteString(strings.Repeat(" ", before.width))
	r.paint(colour, strings.Repeat(mark, max(1, under.width)))
	r.b.WriteByte('\n')
}

type jsonPlace struct {
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
}

func placeOf(at source.Span) jsonPlace {
	if at.IsZero() {
		return jsonPlace{}
	}
	b, e := at.Begin(), at.Finish()
	return jsonPlace{at.File.Name(), b.Line, b.Column, e.Line, e.Column}
}

type jsonRelated struct {
	jsonPlace
	Message string `json:"message"`
}

type jsonFix struct {
	jsonPlace
	Message string `json:"message"`
	Text    string `json:"text"`
}

// json returns d as one line. A diagnostic without a place has no file, line
// or column; related and fixes are always there.
func (d *Diagnostic) json() string {
	out := struct {
		Code  Code   `json:"code"`
		Level string `json:"level"`
		jsonPlace
		Message string        `json:"message"`
		Related []jsonRelated `json:"related"`
		Fixes   []jsonFix     `json:"fixes"`
	}{d.Code, d.Level.String(), placeOf(d.Span), d.Message, []jsonRelated{}, []jsonFix{}}
	for _, n := range d.Related {
		out.Related = append(out.Related, jsonRelated{placeOf(n.Span), n.Message})
	}
	for _, f := range d.Fixes {
		out.Fixes = append(out.Fixes, jsonFix{placeOf(f.Span), f.Message, f.Text})
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil { // strings and numbers always encode
		panic(err)
	}
	return b.String()
}
