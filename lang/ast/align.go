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
	f := item.form()
	if f.class == "" {
		return
	}
	l.out[len(l.out)-1].class = f.class
	l.cellsOf(i, item.Pos(), f.parts, slots)
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

// alignComments sets comments below each other. One behind a long line moves no others.
func alignComments(lines []*line) {
	const long = 100
	widths := make([]int, len(lines))
	column := 0
	for i, n := range lines {
		widths[i] = n.indent
		for _, c := range n.cells {
			widths[i] += c.gap + utf8.RuneCountInString(c.text.String())
		}
		if widths[i] <= long {
			column = max(column, widths[i]+2)
		}
	}
	for i, n := range lines {
		n.comment = strings.Repeat(" ", max(column-widths[i], 2)) + n.comment
	}
}
