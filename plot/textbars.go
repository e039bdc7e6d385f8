package plot

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Colours of negative and positive numbers.
const (
	negative = 172
	positive = 32
)

// eighths are blocks of growing width, filled from the left.
var eighths = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// bar returns a block of x columns.
func bar(x float64) string {
	n := int(math.Round(8 * x))
	return strings.Repeat("█", n/8) + eighths[n%8]
}

// barLeft returns a block of x columns that ends on its right.
func barLeft(x float64) string {
	n := int(math.Round(2 * x))
	return strings.Repeat("▐", n%2) + strings.Repeat("█", n/2)
}

func (b *Bars) text(p *page) {
	p.title(b.Title)
	if t := b.X.title(); t != "" {
		p.line(clip(t, p.Width))
	}
	labels, notes := 0, 0
	below, above := 0.0, 0.0
	for _, it := range b.Items {
		labels = max(labels, utf8.RuneCountInString(it.Label))
		notes = max(notes, utf8.RuneCountInString(it.note()))
		if finite(it.Value) {
			below, above = max(below, -it.Value), max(above, it.Value)
		}
	}
	if len(b.Items) == 0 {
		p.line("(nothing to draw)")
		return
	}
	labels = min(labels, p.Width/3)
	room := float64(max(4, p.Width-labels-notes-6))
	if below+above == 0 {
		above = 1
	}
	left := math.Round(room * (below / (below + above)))
	if below > 0 {
		left = max(left, 1)
	}
	scale := room / (below + above)
	if below > 0 && left/below < scale {
		scale = left / below
	}
	if above > 0 && (room-left)/above < scale {
		scale = (room - left) / above
	}
	for _, it := range b.Items {
		line := "  " + pad(clip(it.Label, labels), labels) + " "
		switch v := it.Value; {
		case !finite(v):
			line += strings.Repeat(" ", int(left)) + p.paint(faint, "│") + " " + it.note()
		case v < 0:
			block := barLeft(-v * scale)
			line += padLeft("", int(left)-utf8.RuneCountInString(block)) + p.paint(negative, block) + p.paint(faint, "│") + " " + it.note()
		default:
			line += strings.Repeat(" ", int(left)) + p.paint(faint, "│") + p.paint(positive, bar(v*scale)) + " " + it.note()
		}
		p.line(line)
	}
}

func (b Bar) note() string {
	if b.Note != "" {
		return b.Note
	}
	if b.Value > 0 {
		return "+" + number(b.Value, 3)
	}
	return number(b.Value, 3)
}

// Shades of a heat map without colour, by size. The signs differ in kind, not only in weight.
var (
	rising  = []rune("·░▒▓█")
	falling = []rune("·-=%#")
)

// Colours of a heat map, from very negative over nothing to very positive: orange to blue.
var heatColours = []int{130, 172, 215, 223, 255, 153, 75, 32, 25}

// blocked returns h's values averaged so that they fit rows × cols: each block's largest, with its sign.
func (h *Heat) blocked(rows, cols int) [][]float64 {
	n := len(h.Values)
	m := 0
	for _, r := range h.Values {
		m = max(m, len(r))
	}
	rows, cols = min(rows, n), min(cols, m)
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, cols)
		for j := range out[i] {
			big := math.NaN()
			for a := i * n / rows; a < (i+1)*n/rows; a++ {
				for c := j * m / cols; c < (j+1)*m/cols && c < len(h.Values[a]); c++ {
					if v := h.Values[a][c]; finite(v) && (math.IsNaN(big) || math.Abs(v) > math.Abs(big)) {
						big = v
					}
				}
			}
			out[i][j] = big
		}
	}
	return out
}

func (h *Heat) top() float64 {
	t := 0.0
	for _, r := range h.Values {
		for _, v := range r {
			if finite(v) {
				t = max(t, math.Abs(v))
			}
		}
	}
	return t
}

func (h *Heat) text(p *page) {
	p.title(h.Title)
	rows := len(h.Values)
	if rows == 0 || len(h.Values[0]) == 0 {
		p.line("(nothing to draw)")
		return
	}
	cols := len(h.Values[0])
	left := len(fmt.Sprint(h.FirstRow+rows-1)) + 2
	cell := 2
	if cols*2 > p.Width-left-1 {
		cell = 1
	}
	tall := max(24, p.Height)
	grid := h.blocked(tall, (p.Width-left-1)/cell)
	top := h.top()
	blocks := len(grid) < rows || len(grid[0]) < cols
	if t := strings.TrimSpace("↓ " + h.Rows.title() + "   → " + h.Cols.title()); h.Rows.Label+h.Cols.Label != "" {
		p.line(strings.Repeat(" ", left) + t)
	}
	head := []rune(strings.Repeat(" ", p.Width))
	free := 0
	for _, c := range places(cols, len(grid[0])*cell/8) {
		label := []rune(fmt.Sprint(h.FirstCol + c))
		at := left + c*len(grid[0])/cols*cell
		if at < free || at+len(label) > len(head) {
			continue
		}
		copy(head[at:], label)
		free = at + len(label) + 1
	}
	p.line(string(head))
	named := map[int]string{}
	for _, r := range places(rows, max(2, len(grid)/3)) {
		named[r*len(grid)/rows] = fmt.Sprint(h.FirstRow + r)
	}
	for i, r := range grid {
		var b strings.Builder
		b.WriteString(padLeft(named[i], left-1) + " ")
		for _, v := range r {
			b.WriteString(p.cell(v, top, cell))
		}
		p.line(b.String())
	}
	unit := ""
	if h.Unit != "" && h.Unit != "1" {
		unit = " " + h.Unit
	}
	var key [][2]string
	for _, k := range []struct {
		v    float64
		text string
	}{{-top, "-" + number(top, 3) + unit}, {0, "0"}, {top, "+" + number(top, 3) + unit}} {
		key = append(key, [2]string{"██ " + k.text, p.cell(k.v, top, 2) + " " + k.text})
	}
	if blocks {
		key = append(key, [2]string{"each cell the largest of a block", "each cell the largest of a block"})
	}
	p.entries(left, key)
}

// cell draws one value of a heat map.
func (p *page) cell(v, top float64, width int) string {
	switch {
	case math.IsNaN(v):
		return strings.Repeat("?", width)
	case p.Colour:
		k := len(heatColours) / 2
		if top > 0 {
			k = int(math.Round((v/top + 1) / 2 * float64(len(heatColours)-1)))
		}
		return fmt.Sprintf("\x1b[48;5;%dm%s\x1b[0m", heatColours[k], strings.Repeat(" ", width))
	}
	scale, k := rising, 0
	if v < 0 {
		scale = falling
	}
	if top > 0 {
		k = int(math.Round(math.Abs(v) / top * float64(len(scale)-1)))
		if k == 0 && v == 0 {
			return strings.Repeat(" ", width)
		}
	}
	return strings.Repeat(string(scale[k]), width)
}
