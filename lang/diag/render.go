package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/screen"
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
func Write(w io.Writer, list []Diagnostic, f Format) error { return WriteWidth(w, list, f, 0) }

// WriteWidth is Write for a screen of width columns. It breaks messages between words, and cuts
// lines of source to fit. Width 0 breaks nothing.
func WriteWidth(w io.Writer, list []Diagnostic, f Format, width int) error {
	for i := range list {
		var text string
		if f == JSON {
			text = list[i].JSON() + "\n"
		} else {
			r := renderer{colour: f == Colour, width: width}
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
	width  int // of the screen; 0: unknown
	gutter int // width of line numbers
}

func (r *renderer) paint(sgr, text string) {
	if !r.colour || text == "" {
		r.b.WriteString(text)
		return
	}
	r.b.WriteString(screen.Style(sgr, text))
}

func (r *renderer) diagnostic(of *Diagnostic) {
	d := of.told()
	r.gutter = digits(d.Span)
	for _, n := range d.Related {
		r.gutter = max(r.gutter, digits(n.Span))
	}
	code := ""
	if d.Code != "" {
		code = "[" + string(d.Code) + "]"
	}
	r.head(d.Span, d.Level.String(), levelColours[d.Level], d.Message, code)
	r.snippet(d.Span, levelColours[d.Level])
	for _, n := range d.Related {
		r.head(n.Span, Note.String(), blue, n.Message, "")
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

func (r *renderer) head(at source.Span, word, colour, message, code string) {
	var parts []part
	if !at.IsZero() {
		parts = append(parts, part{bold, printable(placed(at))}, part{"", " "})
	}
	parts = append(parts, part{colour, word + ":"}, part{"", " "}, part{bold, printable(brief(message))})
	if code != "" {
		parts = append(parts, part{"", " "}, part{dim, code})
	}
	r.sentence(parts)
}

// part is a piece of a sentence in one colour.
type part struct{ sgr, text string }

// sentence writes parts, broken between words where the screen is too narrow.
func (r *renderer) sentence(parts []part) {
	var whole strings.Builder
	for _, p := range parts {
		whole.WriteString(p.text)
	}
	breaks := screen.Breaks(whole.String(), r.width, len(screen.Hanging))
	at := 0
	for _, p := range parts {
		text := p.text
		for len(breaks) > 0 && breaks[0] < at+len(text) {
			n := breaks[0] - at
			r.paint(p.sgr, text[:n])
			r.b.WriteString("\n" + screen.Hanging)
			text, at, breaks = text[n+1:], breaks[0]+1, breaks[1:]
		}
		r.paint(p.sgr, text)
		at += len(text)
	}
	r.b.WriteByte('\n')
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
	r.sentence([]part{{green, "fix:"}, {"", " " + printable(brief(f.Message))}})
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
	columns := maxColumns
	if r.width > 0 {
		columns = max(leastColumns, min(columns, r.width-r.gutter-5))
	}
	before, under, after := window(text, from, to, columns)
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
	return jsonPlace{nameOf(at.File), b.Line, b.Column, e.Line, e.Column}
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

// JSON returns d as an object on one line. A diagnostic without a place has no file, line or column.
// The fields related and fixes are always present.
func (d *Diagnostic) JSON() string {
	told := d.told()
	out := struct {
		Code  Code   `json:"code"`
		Level string `json:"level"`
		jsonPlace
		Message string        `json:"message"`
		Related []jsonRelated `json:"related"`
		Fixes   []jsonFix     `json:"fixes"`
	}{d.Code, d.Level.String(), placeOf(told.Span), brief(told.Message), []jsonRelated{}, []jsonFix{}}
	for _, n := range told.Related {
		out.Related = append(out.Related, jsonRelated{placeOf(n.Span), brief(n.Message)})
	}
	for _, f := range d.Fixes {
		out.Fixes = append(out.Fixes, jsonFix{placeOf(f.Span), brief(f.Message), f.Text})
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil { // cannot fail for strings and numbers
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
