package parser

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
)

// docs finds the doc comments of a file by the lines they stand on.
type docs struct {
	file  *ast.File
	alone map[int]string // a doc comment that fills its line
	tail  map[int]string // a doc comment behind something
	taken int            // a line whose comment belongs to the item after this one

	shared int // a line that the item does not start: what stands above is of the one that does
}

// attachDocs hands doc comments to what they describe: those on the lines
// directly above, and the one behind it on its last line.
func attachDocs(f *ast.File) {
	d := docs{file: f, alone: map[int]string{}, tail: map[int]string{}}
	next := 0                   // the first token behind the comment
	commented := map[int]bool{} // lines that end in a comment
	for _, c := range f.Comments {
		for next < len(f.Tokens) && f.Tokens[next].Start < c.Span.Start {
			next++
		}
		line := f.Source.LineAt(c.Span.Start)
		alone := next == 0 || f.Source.LineAt(f.Tokens[next-1].End) != line
		if !alone {
			// behind a semicolon on a line of its own it is behind what that ends, unless something is there
			end := next - 1
			for end > 0 && f.Tokens[end].Text == ";" {
				end--
			}
			ends := f.Source.LineAt(f.Tokens[end].End)
			if alone = ends != line && commented[ends] || f.Tokens[end].Text == ";"; !alone {
				line = ends
				commented[line] = true
			}
		}
		if !strings.HasPrefix(c.Text, "##") || strings.HasPrefix(c.Text, "###") {
			continue
		}
		text := strings.TrimSpace(strings.TrimPrefix(c.Text, "##"))
		if alone {
			d.alone[line] = text
		} else if d.tail[line] == "" {
			d.tail[line] = text
		}
	}
	if len(d.alone)+len(d.tail) == 0 {
		return
	}
	before := 0 // the line that the item before this one ends on
	for i, item := range f.Items {
		first, last := d.lines(item)
		d.shared = 0
		if first == before {
			d.shared = first
		}
		before = last
		d.taken = 0
		if i+1 < len(f.Items) {
			if start, _ := d.lines(f.Items[i+1]); start == last {
				d.taken = last // the comment belongs to what stands nearer to it
			}
		}
		d.attach(item, first, last)
	}
}

// behind returns the doc comment behind what ends on line.
func (d docs) behind(line int) string {
	if line == d.taken {
		return ""
	}
	return d.tail[line]
}

func (d docs) lines(n ast.Node) (first, last int) {
	at := n.Pos()
	return d.file.Source.LineAt(at.Start), d.file.Source.LineAt(max(at.Start, at.End-1))
}

// above returns the doc comment on the lines that end above line.
func (d docs) above(line int) string {
	if line == d.shared {
		return ""
	}
	var lines []string
	for line--; ; line-- {
		text, ok := d.alone[line]
		if !ok {
			break
		}
		lines = append(lines, text)
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	return strings.Join(lines, "\n")
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// braced returns the doc comment behind a brace that opens the body of an item
// on a line of its own, below the item's first line, where nothing is between.
func (d docs) braced(item ast.Item, first int) string {
	f := d.file
	i, _ := slices.BinarySearchFunc(f.Tokens, item.Pos().Start, func(t ast.Token, at int) int { return t.Start - at })
	for ; i < len(f.Tokens) && f.Tokens[i].Start < item.Pos().End; i++ {
		t := &f.Tokens[i]
		if t.Text != "{" || t.Kind != ast.SignToken || t.Start == item.Pos().Start { // a bad item may start with a brace
			continue
		}
		before := f.Tokens[i-1].End
		line := f.Source.LineAt(t.Start)
		if line == first || f.Source.LineAt(before) != first {
			return ""
		}
		for _, c := range f.Comments {
			if c.Span.Start > before && c.Span.Start < t.Start {
				return ""
			}
		}
		return d.tail[line]
	}
	return ""
}

func (d docs) attach(item ast.Item, first, last int) {
	doc := join(d.above(first), d.behind(last))
	if last > first && d.behind(last) == "" {
		doc = join(doc, join(d.behind(first), d.braced(item, first)))
	}
	switch n := item.(type) {
	case *ast.Model:
		n.Doc = doc
	case *ast.UnitDecl:
		n.Doc = doc
	case *ast.Time:
		n.Doc = doc
	case *ast.Decl:
		for i, v := range n.Vars {
			v.Doc = d.variable(v)
			if start, _ := d.lines(v); i == 0 && start != first {
				v.Doc = join(d.above(first), v.Doc)
			}
		}
	case *ast.Control:
		n.Var.Doc = doc
	case *ast.Let:
		n.Doc = doc
	case *ast.Fn:
		n.Doc = doc
	case *ast.Event:
		n.Doc = doc
	case *ast.Reaction:
		n.Doc = doc
	case *ast.Experiment:
		n.Doc = doc
	case *ast.Data:
		n.Doc = doc
	case *ast.Observe:
		n.Doc = doc
	case *ast.Objective:
		n.Doc = doc
	case *ast.Constraint:
		n.Doc = doc
	case *ast.Equation:
		n.Doc = doc
	}
}

// variable returns the doc of a variable: what stands above a declaration
// describes all variables on its first line.
func (d docs) variable(v *ast.Var) string {
	start, end := d.lines(v)
	return join(d.above(start), d.behind(end))
}
