package ast

import (
	"strings"
	"unicode/utf8"
)

// group notes where the cells of an item that stands on one line start, so that they can be aligned
// with those of its neighbours. Token i is the item's first.
func (l *layout) group(i int, item Item) {
	if first, last := l.lines.Span(l.file, item); first != last {
		return
	}
	class := l.file.Tokens[i].Text
	// start puts a cell at the token that begins back tokens before offset off.
	start := func(n Node, back, slot, gap int) {
		j := l.tokenAt(i, n.Pos().Start) - back
		if j > i {
			l.cells[l.file.Tokens[j].Start] = cell{slot: slot, gap: gap}
		}
	}
	alone := true
	value := func(u *Unit, e Expr) {
		if u != nil {
			start(u, 1, 1, 1)
		}
		if e != nil {
			start(e, 1, 2, 1)
		}
		if n, ok := e.(*Number); ok && n.Unit != nil && alone {
			start(n.Unit, 0, 3, 1)
		}
	}
	switch n := item.(type) {
	case *Decl:
		v := n.Vars[0]
		alone = len(n.Vars) == 1
		value(v.Unit, v.Value)
		if !alone {
			break
		}
		if v.Lo != nil {
			start(v.Lo, 2, 4, 2)
		}
		if v.Prior != nil {
			start(v.Prior, 1, 5, 2)
		}
	case *Let:
		value(n.Unit, n.Value)
	case *Objective:
		value(n.Unit, n.Value)
	case *Equation:
		class = "'"
		value(nil, n.Value)
	case *Constraint:
		start(n.Cond, 1, 1, 0)
	case *Settings, *Experiment:
		if _, ok := n.(*Settings); ok {
			class = "settings"
		}
		for j := i; j < len(l.file.Tokens); j++ {
			if l.is(j, "{") {
				l.cells[l.file.Tokens[j].Start] = cell{slot: 1, gap: 1}
				break
			}
		}
	case *Reaction:
		l.cells[l.file.Tokens[i+2].Start] = cell{slot: 1}
		for j := i; j < len(l.file.Tokens); j++ {
			if l.is(j, "->") || l.is(j, "<->") {
				l.cells[l.file.Tokens[j].Start] = cell{slot: 2, gap: 1}
				break
			}
		}
		start(n.Rate, 1, 3, 2)
	default:
		return
	}
	l.out[len(l.out)-1].class = class
}

// setting notes that the line starts with a setting, so that the columns of a
// table stand below each other.
func (l *layout) setting(i int) {
	if !l.settings[l.file.Tokens[i].Start] || !l.is(i+1, "=") || l.file.Tokens[i+1].NewLine {
		return
	}
	sign, n := l.file.Tokens[i+1].Start, l.out[len(l.out)-1]
	l.cells[sign] = cell{slot: 1, gap: 1}
	n.class, n.sign = "setting", l.columnIn(sign)+l.shift
	l.head = n
}

// columnIn returns how many columns off stands from the left.
func (l *layout) columnIn(off int) int {
	from := l.lineStart(off)
	return l.column(from) + utf8.RuneCountInString(l.file.Source.Text()[from:off])
}

// tokenAt returns the index of the token at offset off, looking from token i.
func (l *layout) tokenAt(i, off int) int {
	for i < len(l.file.Tokens) && l.file.Tokens[i].Start < off {
		i++
	}
	return i
}

// align widens the gaps of cells and comments so that they stand below each
// other in groups of lines.
func align(lines []*line) {
	for i := 0; i < len(lines); {
		group := []*line{lines[i]}
		j := i + 1
		for ; j < len(lines) && !lines[j].blank && lines[i].class != ""; j++ {
			if lines[j].head != nil && lines[j].head == group[len(group)-1] {
				continue
			}
			if lines[j].class != lines[i].class {
				break
			}
			group = append(group, lines[j])
		}
		if lines[i].class != "" {
			alignCells(group)
		}
		i = j
	}
	for _, n := range lines { // lines that continue a setting move along with its value
		if h := n.head; h != nil {
			n.indent = max(h.indent+2, min(n.indent+h.indent+utf8.RuneCountInString(h.cells[0].text.String())+
				h.cells[1].gap-h.sign, maxIndent))
		}
	}
	for i := 0; i < len(lines); {
		group := []*line{}
		j := i
		for ; j < len(lines) && (j == i || !lines[j].blank) && len(lines[j].cells) > 0; j++ {
			if lines[j].comment != "" {
				group = append(group, lines[j])
			} else if j > i && (lines[j].class == "" || lines[j].class != lines[j-1].class) {
				break // only a cell of the same kind may be missing
			}
		}
		alignComments(group)
		i = max(j, i+1)
	}
}

func alignCells(lines []*line) {
	ends := make([]int, len(lines)) // of what has been placed so far
	next := make([]int, len(lines)) // the next cell to place
	for i, n := range lines {
		ends[i], next[i] = utf8.RuneCountInString(n.cells[0].text.String()), 1
	}
	const slots = 5
	for slot := 1; slot <= slots; slot++ {
		column := 0
		for i, n := range lines {
			if next[i] < len(n.cells) && n.cells[next[i]].slot == slot {
				column = max(column, ends[i]+n.cells[next[i]].gap)
			}
		}
		for i, n := range lines {
			if next[i] < len(n.cells) && n.cells[next[i]].slot == slot {
				c := n.cells[next[i]]
				c.gap = column - ends[i]
				ends[i] = column + utf8.RuneCountInString(c.text.String())
				next[i]++
			}
		}
	}
}

func alignComments(lines []*line) {
	widths := make([]int, len(lines))
	column := 0
	for i, n := range lines {
		widths[i] = n.indent
		for _, c := range n.cells {
			widths[i] += c.gap + utf8.RuneCountInString(c.text.String())
		}
		column = max(column, widths[i]+2)
	}
	for i, n := range lines {
		n.comment = strings.Repeat(" ", column-widths[i]) + n.comment
	}
}
