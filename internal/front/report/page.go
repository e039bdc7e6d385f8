package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Page writes a page for browsers that needs nothing beside it: headings, paragraphs, the tables of this package and
// pictures. What it is given are texts; it alone writes marks of HTML. The first error of the writer comes from Close.
type Page struct {
	w *bufio.Writer
}

// style lets a page look well on a screen, light or dark, and on paper.
const style = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-bottom: 1px solid #8886; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto;
  font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .8rem .15rem 0; text-align: right; white-space: pre; border-bottom: 1px solid #8883; }
th.l, td.l { text-align: left; }
td.loose { background: #fc06; }
td.lost { background: #f446; }
pre.warning { border-left: 4px solid #e80; }
figure { margin: 1rem 0; background: #fff; }
figure svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; padding: .8rem; background: #8882; font-size: 13px; white-space: pre-wrap; }
@media print {
  details:not([open]) { display: none; }
  h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
}
`

// NewPage begins a page.
func NewPage(w io.Writer, title string) *Page {
	p := &Page{bufio.NewWriter(w)}
	fmt.Fprintf(p.w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"+
		"<meta name=\"viewport\" content=\"width=device-width\"/>\n"+
		"<title>%s</title>\n<style>%s</style>\n</head>\n<body>\n", html.EscapeString(title), style)
	p.element("h1", "", title)
	return p
}

// element writes an element that holds text, on a line of its own.
func (p *Page) element(tag, class, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(p.w, "<%s%s>%s</%[1]s>\n", tag, class, html.EscapeString(text))
}

// Section begins a part of the page.
func (p *Page) Section(title string) { p.element("h2", "", title) }

// Paragraph writes text.
func (p *Page) Paragraph(text string) { p.element("p", "", text) }

// Messages writes warnings and notes, each with its place.
func (p *Page) Messages(list []diag.Diagnostic) error {
	for _, d := range list {
		var b strings.Builder
		if err := diag.Write(&b, []diag.Diagnostic{d}, diag.Plain); err != nil {
			return err
		}
		p.element("pre", d.Level.String(), strings.TrimSpace(b.String()))
	}
	return nil
}

// Source writes the text of a file, folded under its name.
func (p *Page) Source(name, text string) {
	fmt.Fprintf(p.w, "<details>\n<summary>%s</summary>\n", html.EscapeString(name))
	p.element("pre", "", text)
	fmt.Fprint(p.w, "</details>\n")
}

// Picture writes a picture, drawn as SVG.
func (p *Page) Picture(svg []byte) { fmt.Fprintf(p.w, "<figure>\n%s</figure>\n", svg) }

// Symbols writes a table of declarations, such as params, that have values.
func (p *Page) Symbols(list []odes.Symbol) {
	name, value, about := column{head: "name", left: true}, column{head: "value"}, column{head: "", left: true}
	for _, s := range list {
		for k, x := range s.Values {
			name.cells = append(name.cells, withUnit(s.Element(k), s.Unit))
			short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 10, 64), 64) // estimates have all digits
			value.cells = append(value.cells, plainNumber(short))
			text := s.Doc
			if k > 0 {
				text = ""
			}
			about.cells = append(about.cells, text)
		}
	}
	p.table([]column{name, value, about})
}

// table writes columns. Columns that are empty are left out.
func (p *Page) table(cols []column) {
	shown, heads := make([]column, 0, len(cols)), false
	for _, c := range cols {
		if c.head != "" || strings.Join(c.cells, "") != "" {
			shown, heads = append(shown, c), heads || c.head != ""
		}
	}
	if len(shown) == 0 {
		return
	}
	fmt.Fprint(p.w, "<table>\n")
	row := func(tag string, text func(c column) string) {
		fmt.Fprint(p.w, "<tr>")
		for _, c := range shown {
			var classes []string
			if c.left {
				classes = append(classes, "l")
			}
			cell := strings.TrimRight(text(c), " ") // marks are not lined up here
			switch {
			case tag == "th" || c.left:
			case strings.HasSuffix(cell, marks[odes.Lost]):
				classes = append(classes, "lost")
			case strings.HasSuffix(cell, marks[odes.Loose]):
				classes = append(classes, "loose")
			}
			class := ""
			if len(classes) > 0 {
				class = ` class="` + strings.Join(classes, " ") + `"`
			}
			fmt.Fprintf(p.w, "<%s%s>%s</%[1]s>", tag, class, html.EscapeString(cell))
		}
		fmt.Fprint(p.w, "</tr>\n")
	}
	if heads {
		row("th", func(c column) string { return c.head })
	}
	for i := range shown[0].cells {
		row("td", func(c column) string { return c.cells[i] })
	}
	fmt.Fprint(p.w, "</table>\n")
}

// prose writes what a writer of tables says in lines.
func (p *Page) prose(text string) {
	if text = strings.TrimFunc(text, unicode.IsSpace); text != "" {
		p.Paragraph(text)
	}
}

// Close ends the page.
func (p *Page) Close() error {
	fmt.Fprint(p.w, "</body>\n</html>\n")
	return p.w.Flush()
}

// On lets a writer of tables write on a page.
func On[R any](p *Page, write Writer[R], h Heading, result R, opts TableOptions) error {
	opts.page = p
	return write(nil, h, result, opts)
}
