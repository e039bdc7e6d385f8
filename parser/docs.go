package parser

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
)

// docs holds the doc comments of a file by the lines that they stand at.
type docs struct {
	file   *ast.File
	lines  ast.Lines
	above  map[int][]string // those that fill the lines directly above it
	behind map[int]string   // the one at its end
}

// attachDocs gives doc comments to what they describe. An item has the comments directly above its first line, with
// neither an empty line nor another comment between, and those behind its first and its last line.
func attachDocs(f *ast.File) {
	text := func(c ast.Comment) (string, bool) {
		t, ok := strings.CutPrefix(c.Text, "##")
		return strings.TrimSpace(t), ok && !strings.HasPrefix(t, "#")
	}
	if len(f.Items) == 0 || !slices.ContainsFunc(f.Comments,
		func(c ast.Comment) bool { _, doc := text(c); return doc }) {
		return
	}
	d := docs{file: f, lines: ast.LinesOf(f), above: map[int][]string{}, behind: map[int]string{}}
	for i, c := range f.Comments {
		t, doc := text(c)
		switch at := d.lines.Comments[i]; {
		case at.Behind && doc:
			d.behind[at.Line] = t
		case at.Behind:
		case doc && !at.Apart:
			d.above[at.Line] = append(d.above[at.Line], t)
		default:
			delete(d.above, at.Line)
		}
	}
	for _, item := range f.Items {
		d.attach(item)
	}
}

// join joins the parts of a doc comment that say something.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// over returns what stands directly above a line.
func (d docs) over(line int) string { return strings.Join(d.above[line], "\n") }

// ends returns what stands behind the first and the last line of a part.
func (d docs) ends(first, last int) string {
	if first == last {
		return d.behind[first]
	}
	return join(d.behind[first], d.behind[last])
}

func (d docs) attach(item ast.Item) {
	if n, ok := item.(*ast.Decl); ok {
		d.variables(n)
		return
	}
	first, last := d.lines.Span(d.file, item)
	for _, declared := range ast.Declarations(item) {
		if declared.Doc != nil {
			*declared.Doc = join(d.over(first), d.ends(first, last))
		}
	}
}

// variables gives the variables of a declaration their docs. Each is described as if it were an item. A comment above a
// line describes all variables that start on that line, and a comment above the declaration describes those of the
// first line with variables.
func (d docs) variables(n *ast.Decl) {
	start, _ := d.lines.Span(d.file, n)
	line, above := -1, ""
	for i, v := range n.Vars {
		first, last := d.lines.Span(d.file, v)
		if first != line {
			line, above = first, ""
			if first == start || d.leads(v) {
				above = d.over(first)
			}
			if i == 0 && first != start {
				above = join(d.over(start), above)
			}
		}
		v.Doc = join(above, d.ends(first, last))
	}
}

// leads reports whether a line starts with v, or with the comma before it.
func (d docs) leads(v *ast.Var) bool {
	i := d.file.TokenAt(v.Pos().Start)
	if !d.lines.First(i) && isToken(&d.file.Tokens[i-1], ",") {
		i--
	}
	return d.lines.First(i)
}
