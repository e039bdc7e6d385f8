package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/screen"
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
		p.line(screen.Cut(t, p.Width))
	}
	labels, notes := 0, 0
	below, above := 0.0, 0.0
	for _, it := range b.Items {
		labels = max(labels, screen.Width(it.Label))
		notes = max(notes, screen.Width(it.note()))
		if finite(it.Value) {
			below, above = max(below, -it.Value), max(above, it.Value)
		}
	}
	if len(b.Items) == 0 {
		p.nothing()
		return
	}
	labels = min(labels, p.Width/3)
	if p.Width-labels-notes-6 < 4 { // notes without bars are of more use than bars alone
		labels = max(1, min(labels, p.Width-notes-5))
	}
	room := float64(max(1, p.Width-labels-notes-6))
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
		line := "  " + screen.Pad(screen.Cut(it.Label, labels), labels) + " "
		switch v := it.Value; {
		case !finite(v):
			line += strings.Repeat(" ", int(left)) + p.paint(faint, "│") + " " + it.note()
		case v < 0:
			block := barLeft(-v * scale)
			line += screen.PadLeft("", int(left)-screen.Width(block)) + p.paint(negative, block) + p.paint(faint, "│") +
				" " + it.note()
		default:
			line += strings.Repeat(" ", int(left)) + p.paint(faint, "│") + p.paint(positive, bar(v*scale)) + " " +
				it.note()
		}
		if screen.Width(unpainted(line)) > p.Width {
			line = clipPainted(line, p.Width)
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

// Shades of a heat map without colour, by magnitude. The two signs differ in kind, not only in
// weight.
var (
	rising  = []rune("·░▒▓█")
	falling = []rune("·-=%#")
)

// heatColours run from very negative through zero to very positive: from orange to blue.
var heatColours = []int{130, 172, 215, 223, 255, 153, 75, 32, 25}

// blocked returns h's values reduced to at most rows × cols blocks. Each block has its largest
// value by magnitude, with its sign; NaN where one of them is not finite.
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
			big := 0.0
			for a := i * n / rows; a < (i+1)*n/rows; a++ {
				for c := j * m / cols; c < (j+1)*m/cols && c < len(h.Values[a]); c++ {
					if v := h.Values[a][c]; !finite(v) {
						big = math.NaN()
					} else if math.Abs(v) > math.Abs(big) {
						big = v
					}
				}
			}
			out[i][j] = big
		}
	}
	return out
}

// shading maps the values of a heat map to colours: from negative through zero to positive, or,
// when all values lie far from zero on one side, from the least to the greatest.
type shading struct {
	lo, hi    float64
	diverging bool
	sign      int // the sign of all values, where they share one; only that half of a diverging scale is shown
	// Where least > 0, colours follow the logarithms of magnitudes, and what is smaller than least follows its value.
	least float64
	// beyond tells that some values lie beyond lo or hi.
	beyond bool
}

func (h *Heat) shading() shading {
	s := shading{lo: math.Inf(1), hi: math.Inf(-1)}
	var values, sizes []float64
	for _, r := range h.Values {
		for _, v := range r {
			if finite(v) {
				s.lo, s.hi = min(s.lo, v), max(s.hi, v)
				values = append(values, v)
				if v != 0 {
					sizes = append(sizes, math.Abs(v))
				}
			}
		}
	}
	if s.lo > s.hi {
		return shading{diverging: true}
	}
	slices.Sort(values)
	slices.Sort(sizes)
	how := h.Colours
	if h.Range.set() {
		s.lo, s.hi = h.Range.From, h.Range.To
		how = cmp.Or(how, Linear)
	}
	s = s.centred()
	if how == "" && s.diverging && quantile(sizes, hidden) < s.hi/tooFew {
		how = Logarithmic
	}
	switch how {
	case Logarithmic:
		if len(sizes) > 0 {
			s.least = max(quantile(sizes, 0.05), sizes[len(sizes)-1]*1e-8)
			if !s.diverging {
				s.least = min(math.Abs(s.lo), math.Abs(s.hi))
			}
		}
	case Percentile:
		whole := s
		if s.diverging {
			s.hi = quantile(sizes, within)
			s.lo = -s.hi
		} else {
			s.lo, s.hi = quantile(values, 1-within), quantile(values, within)
		}
		if s.lo == s.hi {
			return whole
		}
		s.beyond = s.lo > whole.lo || s.hi < whole.hi
	}
	return s
}

// Where this part of the values is so much smaller than the largest, a linear scale would show little but that.
const (
	hidden = 0.75
	tooFew = 100.0
)

// within is the part of values that the scale of percentiles spans.
const within = 0.98

// quantile returns the value below which a part of a sorted list lies.
func quantile(list []float64, part float64) float64 {
	if len(list) == 0 {
		return 0
	}
	return list[int(part*float64(len(list)-1)+0.5)]
}

// centred places zero in the middle, unless all values lie far from it on one side.
func (s shading) centred() shading {
	near, top := min(math.Abs(s.lo), math.Abs(s.hi)), max(math.Abs(s.lo), math.Abs(s.hi))
	if s.lo*s.hi > 0 && near > 0.2*top && s.hi > s.lo {
		return s
	}
	sign := 0
	if s.lo >= 0 {
		sign = 1
	} else if s.hi <= 0 {
		sign = -1
	}
	return shading{lo: -top, hi: top, diverging: true, sign: sign}
}

// size maps a magnitude to a place on the scale of magnitudes.
func (s shading) size(v float64) float64 {
	if s.least == 0 {
		return v
	}
	return math.Copysign(math.Log1p(math.Abs(v)/s.least), v)
}

// to maps v to [-1, 1] around zero, or to [0, 1] from least to greatest.
func (s shading) to(v float64) float64 {
	switch {
	case s.diverging && s.hi > 0:
		return s.size(v) / s.size(s.hi)
	case !s.diverging:
		return (s.size(v) - s.size(s.lo)) / (s.size(s.hi) - s.size(s.lo))
	}
	return 0
}

// from is the value that to maps to f.
func (s shading) from(f float64) float64 {
	x := f * s.size(s.hi)
	if !s.diverging {
		x = s.size(s.lo) + f*(s.size(s.hi)-s.size(s.lo))
	}
	if s.least == 0 {
		return x
	}
	return math.Copysign(s.least*math.Expm1(math.Abs(x)), x)
}

// places are the ends of what a legend shows, as to maps them.
func (s shading) places() (lo, hi float64) {
	switch {
	case s.diverging && s.sign < 0:
		return -1, 0
	case s.diverging && s.sign == 0:
		return -1, 1
	}
	return 0, 1
}

// key lists the values that a legend shows.
func (s shading) key() []float64 {
	if s.hi == 0 && s.diverging {
		return []float64{0}
	}
	lo, hi := s.places()
	n := 2
	if s.least > 0 {
		n = 4
	}
	var list []float64
	for k := range n + 1 {
		list = append(list, s.from(lo+(hi-lo)*float64(k)/float64(n)))
	}
	return list
}

// note says how colours follow values where that is not linear.
func (s shading) note() string {
	switch {
	case s.least > 0:
		return "log scale"
	case s.beyond:
		return "ends at percentiles"
	}
	return ""
}

// signed writes a value of a legend.
func (s shading) signed(v float64) string {
	if s.diverging && s.sign == 0 && v > 0 {
		return "+" + number(v, 3)
	}
	return number(v, 3)
}

// mostNamed is the number of rows or columns up to which all are named.
const mostNamed = 12

func (h *Heat) text(p *page) {
	down := "↓ "
	if h.Up {
		down = "↑ "
	}
	h = h.upright()
	p.title(h.Title)
	rows := len(h.Values)
	if rows == 0 || len(h.Values[0]) == 0 {
		p.nothing()
		return
	}
	cols := len(h.Values[0])
	left := 0
	for r := range rows {
		left = max(left, screen.Width(h.rowName(r))+2)
	}
	cell := 2
	left = min(left, max(1, p.Width-4))
	if cols*2 > p.Width-left-1 {
		cell = 1
	}
	tall := max(24, p.Height)
	grid := h.blocked(tall, (p.Width-left-1)/cell)
	shades := h.shading()
	blocks := len(grid) < rows || len(grid[0]) < cols
	if t := strings.TrimSpace(down + h.Rows.title() + "   → " + h.Cols.title()); h.Rows.Label+h.Cols.Label != "" {
		p.line(strings.Repeat(" ", left) + screen.Cut(t, p.Width-left))
	}
	head := []rune(strings.Repeat(" ", p.Width))
	free := 0
	apart := 8
	if cols <= mostNamed {
		apart = len(fmt.Sprint(h.FirstCol+cols-1)) + 1
	}
	for _, t := range h.columnTicks(cols, len(grid[0])*cell/apart) {
		label := []rune(t.label)
		at := left + int(t.at)*len(grid[0])/cols*cell
		if at < free || at+len(label) > len(head) {
			continue
		}
		copy(head[at:], label)
		free = at + len(label) + 1
	}
	p.line(string(head))
	named := map[int]string{}
	each := max(2, len(grid)/3)
	if rows <= mostNamed {
		each = rows
	}
	for _, r := range places(rows, each) {
		named[r*len(grid)/rows] = h.rowName(r)
	}
	for i, r := range grid {
		var b strings.Builder
		b.WriteString(screen.PadLeft(named[i], left-1) + " ")
		for _, v := range r {
			b.WriteString(p.cell(v, shades, cell))
		}
		p.line(b.String())
	}
	unit := ""
	if h.Unit != "" && h.Unit != "1" {
		unit = " " + h.Unit
	}
	var key [][2]string
	for _, v := range shades.key() {
		text := shades.signed(v)
		if v != 0 {
			text += unit
		}
		key = append(key, [2]string{p.cell(v, shades, 2) + " " + text, p.cell(v, shades, 2) + " " + text})
		key[len(key)-1][0] = "██ " + text // as wide, without colour
	}
	if h.lost() {
		key = append(key, [2]string{"?? " + notFinite, "?? " + notFinite})
	}
	if note := shades.note(); note != "" {
		key = append(key, [2]string{note, note})
	}
	if blocks {
		key = append(key, [2]string{"each cell the largest of a block", "each cell the largest of a block"})
	}
	p.entries(left, key)
}

// lost tells whether some value is not finite.
func (h *Heat) lost() bool {
	return slices.ContainsFunc(h.Values, func(r []float64) bool {
		return slices.ContainsFunc(r, func(v float64) bool { return !finite(v) })
	})
}

// cell draws one value of a heat map.
func (p *page) cell(v float64, s shading, width int) string {
	if math.IsNaN(v) {
		return strings.Repeat("?", width)
	}
	f := max(-1, min(1, s.to(v)))
	colours := heatColours
	if !s.diverging {
		colours, f = ramp, 2*f-1
	}
	if p.Colour {
		return screen.Style(fmt.Sprintf("48;5;%d", colours[int(math.Round((f+1)/2*float64(len(colours)-1)))]),
			strings.Repeat(" ", width))
	}
	if !s.diverging {
		f = (f + 1) / 2
	}
	scale := rising
	if f < 0 {
		scale, f = falling, -f
	}
	k := int(math.Round(f * float64(len(scale)-1)))
	if k == 0 && v == 0 {
		return strings.Repeat(" ", width)
	}
	return strings.Repeat(string(scale[k]), width)
}
