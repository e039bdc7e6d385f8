package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Page writes a page for browsers that needs nothing beside it: headings, paragraphs, the tables of this package and
// pictures. What it is given are texts; it alone writes marks of HTML. The first error of the writer comes from Close.
type Page struct {
	w      *bufio.Writer
	script string
}

// pageStyle lets a page look well on a screen, light or dark, and on paper.
//
//go:embed page.css
var pageStyle string

// pageScript lets tables sort, and chooses light or dark. A page can be read without.
//
//go:embed page.js
var pageScript string

// Head is what a page begins with.
type Head struct {
	Title string
	// Made says by what the page was made and when.
	Made string
	// Links lead elsewhere.
	Links []Link
	// Style and Script are those of pictures; "" for none.
	Style, Script string
}

// Link is a link with its words.
type Link struct{ Text, To string }

// NewPage begins a page.
func NewPage(w io.Writer, head Head) *Page {
	p := &Page{w: bufio.NewWriter(w), script: head.Script}
	fmt.Fprintf(p.w, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"+
		"<meta name=\"viewport\" content=\"width=device-width\"/>\n"+
		"<meta name=\"color-scheme\" content=\"light dark\"/>\n"+
		"<title>%s</title>\n<style>%s%s</style>\n</head>\n<body>\n<main>\n",
		html.EscapeString(head.Title), pageStyle, head.Style)
	p.element("h1", "", head.Title)
	if head.Made != "" {
		p.element("p", "made", head.Made)
	}
	if len(head.Links) > 0 {
		fmt.Fprint(p.w, `<p class="links">`)
		for _, l := range head.Links {
			fmt.Fprintf(p.w, `<a href="%s">%s</a> `, html.EscapeString(l.To), html.EscapeString(l.Text))
		}
		fmt.Fprint(p.w, "</p>\n")
	}
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

// Source writes the text of a file, folded under its name, with each of its blocks folded under its first line.
func (p *Page) Source(name, text string) {
	fmt.Fprintf(p.w, "<details>\n<summary>%s</summary>\n<div class=\"source\">", html.EscapeString(name))
	for _, part := range folds(text) {
		if !folded(part) {
			p.element("pre", "", strings.Join(part, "\n"))
			continue
		}
		fmt.Fprintf(p.w, "<details open=\"\"><summary><code>%s</code></summary>\n", html.EscapeString(part[0]))
		p.element("pre", "", strings.Join(part[1:], "\n"))
		fmt.Fprint(p.w, "</details>\n")
	}
	fmt.Fprint(p.w, "</div>\n</details>\n")
}

// folded reports whether a part of folds is a block, not lines between blocks.
func folded(part []string) bool {
	end := slices.IndexFunc(part, func(line string) bool { return strings.HasPrefix(line, "}") })
	return len(part) >= leastFold && strings.HasSuffix(strings.TrimSpace(part[0]), "{") && end == len(part)-1
}

// leastFold is how many lines a block has that is worth a fold.
const leastFold = 4

// folds cuts a text into blocks, which begin with a line that ends in an open brace and end where a line begins with
// its end, and the lines between these.
func folds(text string) (parts [][]string) {
	var plain, block []string
	keep := func(lines *[]string) {
		if len(*lines) > 0 {
			parts = append(parts, *lines)
		}
		*lines = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		switch open := strings.HasSuffix(strings.TrimSpace(line), "{"); {
		case block != nil:
			if block = append(block, line); strings.HasPrefix(line, "}") {
				if len(block) < leastFold { // it stays among its neighbours
					plain = append(plain, block...)
					block = nil
					continue
				}
				keep(&plain)
				keep(&block)
			}
		case open && line[0] != ' ' && line[0] != '\t' && line[0] != '#':
			block = []string{line}
		default:
			plain = append(plain, line)
		}
	}
	plain = append(plain, block...) // without an end
	keep(&plain)
	return parts
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
	fmt.Fprint(p.w, "<div class=\"wide\"><table>\n")
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
		fmt.Fprint(p.w, "<thead>\n")
		row("th", func(c column) string { return c.head })
		fmt.Fprint(p.w, "</thead>\n")
	}
	fmt.Fprint(p.w, "<tbody>\n")
	for i := range shown[0].cells {
		row("td", func(c column) string { return c.cells[i] })
	}
	fmt.Fprint(p.w, "</tbody>\n</table></div>\n")
}

// prose writes what a writer of tables says in lines.
func (p *Page) prose(text string) {
	if text = strings.TrimFunc(text, unicode.IsSpace); text != "" {
		p.Paragraph(text)
	}
}

// Close ends the page.
func (p *Page) Close() error {
	fmt.Fprintf(p.w, "</main>\n<script>//<![CDATA[\n%s%s//]]></script>\n</body>\n</html>\n", pageScript, p.script)
	return p.w.Flush()
}

// On lets a writer of tables write on a page.
func On[R any](p *Page, write Writer[R], h Heading, result R, opts TableOptions) error {
	opts.page = p
	return write(nil, h, result, opts)
}
