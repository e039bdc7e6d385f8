package plot

import (
	"fmt"
	"math"
	"strings"

	"odes.dev/odes/internal/base/screen"
)

// braille is a grid of cells of 2 × 4 dots.
type braille struct {
	w, h   int // cells
	dots   []uint8
	colour []int
}

func newBraille(w, h int) *braille {
	return &braille{w: w, h: h, dots: make([]uint8, w*h), colour: make([]int, w*h)}
}

// bit returns the dot of column x (0, 1) and row y (0 to 3) of a cell.
func bit(x, y int) uint8 {
	return [2][4]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}[x][y]
}

// set draws a dot, y upwards.
func (b *braille) set(x, y, colour int) {
	if x < 0 || y < 0 || x >= 2*b.w || y >= 4*b.h {
		return
	}
	y = 4*b.h - 1 - y
	at := y/4*b.w + x/2
	b.dots[at] |= bit(x%2, y%4)
	b.colour[at] = colour
}

// segment draws from one dot to another.
func (b *braille) segment(x0, y0, x1, y1, colour int) {
	n := max(abs(x1-x0), abs(y1-y0))
	if n == 0 {
		b.set(x0, y0, colour)
		return
	}
	for i := range n + 1 {
		f := float64(i) / float64(n)
		b.set(x0+int(math.Round(f*float64(x1-x0))), y0+int(math.Round(f*float64(y1-y0))), colour)
	}
}

func abs(x int) int { return max(x, -x) }

// panel is the geometry of Lines on a page.
type panel struct {
	l      *Lines
	x, y   span
	left   int // columns before the canvas
	w, h   int
	canvas *braille
	shade  *braille // bands, seen where no curve is
	labels []tick   // of the upright axis
}

// yTicks returns the ticks of the upright axis of h rows, and their offset.
func (l *Lines) yTicks(y span, h int) ([]tick, float64) { return y.ticks(l.Y, max(2, h/3)) }

// labelWidth returns the width of the labels of the upright axis.
func (l *Lines) labelWidth(h int) int {
	_, y, ok := l.spans()
	if !ok {
		return 0
	}
	n := 0
	ticks, _ := l.yTicks(y, h)
	for _, t := range ticks {
		n = max(n, screen.Width(t.label))
	}
	return n
}

func (l *Lines) text(p *page) {
	p.title(l.Title)
	x, y, ok := l.spans()
	if !ok {
		p.nothing()
		return
	}
	g := &panel{l: l, x: x, y: y, h: p.height()}
	g.left = max(p.margin, l.labelWidth(g.h)) + 2
	var offset float64
	g.labels, offset = l.yTicks(y, g.h)
	title := l.Y.from(offset).title()
	if p.Width-g.left-1 < leastCurves { // the labels would leave no room: the range stands above
		g.left, g.labels = 2, nil
		title = strings.TrimSpace(title + " " + number(y.lo-offset, 2) + " to " + number(y.hi-offset, 2))
	}
	g.w = max(4, p.Width-g.left-1)
	g.canvas, g.shade = newBraille(g.w, g.h), newBraille(g.w, g.h)

	if l.Y.Log {
		title = strings.TrimPrefix(title+", log scale", ", ")
	}
	if y := title; y != "" {
		for len(g.labels) == 0 && screen.Width(y) > p.Width-g.left+1 && strings.Contains(y, " ") {
			first, rest, _ := strings.Cut(y, " ") // a word a line, where there is no room for more
			p.line(strings.Repeat(" ", g.left-1) + screen.Cut(first, p.Width-g.left+1))
			y = rest
		}
		p.line(strings.Repeat(" ", g.left-1) + screen.Cut(y, p.Width-g.left+1))
	}
	g.rows(p)
	g.foot(p)
	g.legend(p)
}

// leastCurves is the least number of columns that curves have where their axis has labels.
const leastCurves = 6

// holds tells whether a dot lies on the canvas.
func (g *panel) holds(x, y int) bool { return x >= 0 && x < 2*g.w && y >= 0 && y < 4*g.h }

// inside returns the part of a line between two dots that lies on the canvas.
func (g *panel) inside(x0, y0, x1, y1 int) (a, b, c, d int, ok bool) {
	if g.holds(x0, y0) && g.holds(x1, y1) {
		return x0, y0, x1, y1, true
	}
	from, to, ok := clip(point{float64(x0), float64(y0)}, point{float64(x1), float64(y1)}, point{},
		point{float64(2*g.w - 1), float64(4*g.h - 1)})
	round := func(x float64) int { return int(math.Round(x)) }
	return round(from.x), round(from.y), round(to.x), round(to.y), ok
}

// dot returns the dot at (x, y).
func (g *panel) dot(x, y float64) (int, int) {
	return int(math.Round(g.x.to(g.l.X, x) * float64(2*g.w-1))), int(math.Round(g.y.to(g.l.Y, y) * float64(4*g.h-1)))
}

func (g *panel) colour(i int) int {
	if c := g.l.Curves[i]; c.Ramp > 0 {
		return ramp[shade(c, len(ramp))]
	}
	return shades[i%len(shades)]
}

// shade returns which of n colours a curve of a family has.
func shade(c Curve, n int) int {
	if c.Of <= 1 {
		return 0
	}
	return min(n-1, max(0, (c.Ramp-1)*(n-1)/(c.Of-1)))
}

// curves draws curves and bars on the canvas.
func (g *panel) curves() {
	for i, c := range g.l.Curves {
		for _, r := range c.runs(g.l.X, g.l.Y) {
			px, py := g.dot(c.X[r[0]], c.Y[r[0]])
			g.canvas.set(px, py, g.colour(i))
			for k := r[0] + 1; k < r[1]; k++ {
				qx, qy := g.dot(c.X[k], c.Y[k])
				if c.Dots {
					g.canvas.set(qx, qy, g.colour(i))
				} else if a, b, c, d, ok := g.inside(px, py, qx, qy); ok {
					g.canvas.segment(a, b, c, d, g.colour(i))
				}
				px, py = qx, qy
			}
		}
	}
	for i, c := range g.l.Curves {
		for k := range c.PX {
			if d := c.spread(k); d > 0 && c.side(k) == 0 && g.l.X.holds(c.PX[k]) && g.l.Y.shown(c.PY[k]) {
				g.bar(c.PX[k], c.PY[k], d, g.colour(i))
			}
		}
	}
}

// rows draws the curves and the upright axis.
func (g *panel) rows(p *page) {
	if g.bands(p) {
		for _, b := range g.l.Bands {
			g.band(b)
		}
	}
	g.curves()
	letters, points := g.letters(p), g.points(p)
	marks := map[int]bool{}
	for _, m := range g.l.Marks {
		if g.l.X.shown(m.X) && m.X >= g.x.lo && m.X <= g.x.hi {
			x, _ := g.dot(m.X, g.y.lo)
			marks[x/2] = true
		}
	}
	if len(marks) > g.w/7 { // so many marks would hide the curves; the axis shows their places
		marks = nil
	}
	crosses := map[int]bool{}
	for _, at := range g.l.lost() {
		x, _ := g.dot(at, g.y.lo)
		crosses[x/2] = true
	}
	labels := map[int]string{}
	for _, t := range g.labels {
		_, y := g.dot(g.x.lo, t.at)
		labels[g.h-1-y/4] = t.label
	}
	zero := -1
	if !g.l.Y.Log && g.y.lo < 0 && g.y.hi > 0 {
		_, y := g.dot(g.x.lo, 0)
		zero = g.h - 1 - y/4
	}
	for r := range g.h {
		var b strings.Builder
		label, ok := labels[r]
		axis := "│"
		if ok {
			axis = "┤"
		}
		b.WriteString(screen.PadLeft(label, g.left-2) + " " + p.paint(faint, axis))
		for c := range g.w {
			at := r*g.w + c
			switch {
			case r == g.h-1 && crosses[c]:
				b.WriteString(signLost)
			case points[at] != "":
				b.WriteString(points[at])
			case letters[at] != 0:
				b.WriteRune(letters[at])
			case g.canvas.dots[at] != 0:
				b.WriteString(p.paint(g.canvas.colour[at], string(rune(0x2800)+rune(g.canvas.dots[at]))))
			case g.shade.dots[at] != 0:
				b.WriteString(p.paint(faint, string(rune(0x2800)+rune(g.shade.dots[at]))))
			case marks[c]:
				b.WriteString(p.paint(faint, "┊"))
			case r == zero:
				b.WriteString(p.paint(faint, "┈"))
			default:
				b.WriteByte(' ')
			}
		}
		p.line(b.String())
	}
}

// bar draws how far the truth may lie from a point.
func (g *panel) bar(x, y, spread float64, colour int) {
	low := y - spread
	if !g.l.Y.shown(low) {
		low = g.y.lo
	}
	x0, y0 := g.dot(x, low)
	x1, y1 := g.dot(x, y+spread)
	if a, b, c, d, ok := g.inside(x0, y0, x1, y1); ok {
		g.canvas.segment(a, b, c, d, colour)
	}
}

// bands reports whether bands are drawn. Without colour they would hide the curves.
func (g *panel) bands(p *page) bool { return p.Colour || len(g.l.Curves) < 3 }

// band fills the area of a band with sparse dots.
func (g *panel) band(b Band) {
	for k := 1; k < len(b.X); k++ {
		if !g.l.X.shown(b.X[k-1]) || !g.l.X.shown(b.X[k]) || !g.l.Y.shown(b.Lo[k]) || !g.l.Y.shown(b.Hi[k]) ||
			!g.l.Y.shown(b.Lo[k-1]) || !g.l.Y.shown(b.Hi[k-1]) {
			continue
		}
		x0, lo0 := g.dot(b.X[k-1], b.Lo[k-1])
		_, hi0 := g.dot(b.X[k-1], b.Hi[k-1])
		x1, lo1 := g.dot(b.X[k], b.Lo[k])
		_, hi1 := g.dot(b.X[k], b.Hi[k])
		for x := max(0, x0); x <= min(2*g.w-1, x1); x++ {
			f := 0.0
			if x1 > x0 {
				f = float64(x-x0) / float64(x1-x0)
			}
			lo, hi := float64(lo0)+f*float64(lo1-lo0), float64(hi0)+f*float64(hi1-hi0)
			for y := max(0, int(math.Round(lo))); y <= min(4*g.h-1, int(math.Round(hi))); y++ {
				if x%2 == 0 && y%4 == x/2%2*2 {
					g.shade.set(x, y, faint)
				}
			}
		}
	}
}

// letters names the curves of a page without colour by letters on them, at columns that differ from
// curve to curve.
func (g *panel) letters(p *page) map[int]rune {
	out := map[int]rune{}
	n := len(g.l.Curves)
	lines := 0
	for _, c := range g.l.Curves {
		point := '●'
		if !c.few() {
			lines++
			if point = '•'; !c.Dots || len(c.X) > g.w {
				continue
			}
		}
		for k := range c.X { // single points would not be seen among dots
			if g.l.X.holds(c.X[k]) && g.l.Y.holds(c.Y[k]) {
				x, y := g.dot(c.X[k], c.Y[k])
				out[(g.h-1-y/4)*g.w+min(x/2, g.w-1)] = point
			}
		}
	}
	if p.Colour || lines < 2 || n > maxLetters {
		return out
	}
	period := max(8, min(7*n, g.w))
	for i, c := range g.l.Curves {
		if c.few() {
			continue
		}
		seen := map[int]bool{}
		for _, r := range c.runs(g.l.X, g.l.Y) {
			for k := r[0]; k < r[1]; k++ {
				x0, y0 := g.dot(c.X[k], c.Y[k])
				x1, y1 := x0, y0
				if k+1 < r[1] && !c.Dots {
					x1, y1 = g.dot(c.X[k+1], c.Y[k+1])
				}
				for x := max(0, min(x0, x1)); x <= min(2*g.w-1, max(x0, x1)); x++ {
					col := x / 2
					if seen[col] || (col+period-(i*period/n+3)%period)%period != 0 {
						continue
					}
					y := y0
					if x1 != x0 {
						y = y0 + int(math.Round(float64(x-x0)/float64(x1-x0)*float64(y1-y0)))
					}
					if y < 0 || y >= 4*g.h || col >= g.w {
						continue
					}
					at := (g.h-1-y/4)*g.w + col
					if out[at] == 0 {
						out[at] = letter(i)
						seen[col] = true
					}
				}
			}
		}
	}
	return out
}

// signs mark the points of curves, in the order of the curves.
var signs = []rune("●○■□◆◇+×")

// Signs of points that lie below or above what is drawn.
const (
	signBelow = "▽"
	signAbove = "△"
)

// signLost stands at the foot where a number is not finite.
const signLost = "×"

func sign(i int) string { return string(signs[i%len(signs)]) }

// points returns the painted signs of measured points, by cell.
func (g *panel) points(p *page) map[int]string {
	out := map[int]string{}
	for i, c := range g.l.Curves {
		for k := range c.PX {
			if g.l.X.holds(c.PX[k]) && g.l.Y.holds(c.PY[k]) {
				x, y := g.dot(c.PX[k], c.PY[k])
				text := sign(i)
				switch c.side(k) {
				case -1:
					text = signBelow
				case 1:
					text = signAbove
				}
				out[(g.h-1-y/4)*g.w+min(x/2, g.w-1)] = p.paint(g.colour(i), text)
			}
		}
	}
	return out
}

// few reports whether a curve is only one or two points.
func (c Curve) few() bool { return c.Dots && len(c.X) <= 2 }

const maxLetters = 26

func letter(i int) rune { return rune('a' + i) }

// foot draws the level axis, its labels and its name.
func (g *panel) foot(p *page) {
	ticks, offset := g.x.ticks(g.l.X, max(2, g.w/12))
	name := g.l.X.from(offset).title()
	if g.l.X.Log {
		name += ", log scale"
	}
	name = screen.Cut(name, max(g.w/2, min(g.w-8, screen.Width(name))))
	axis := []rune(strings.Repeat("─", g.w))
	line := []rune(strings.Repeat(" ", g.left+g.w+1))
	end := len(line)
	if name != "" {
		end -= screen.Width(name)
		copy(line[end:], []rune(name))
		end -= 2
	}
	free := 0
	for _, t := range ticks {
		x, _ := g.dot(t.at, g.y.lo)
		col := min(x/2, g.w-1)
		axis[col] = '┬'
		label := []rune(t.label)
		at := max(0, g.left+col-(len(label)-1)/2)
		if at < free || at+len(label) > end {
			continue
		}
		copy(line[at:], label)
		free = at + len(label) + 1
	}
	for _, m := range g.l.Marks {
		if g.l.X.shown(m.X) && m.X >= g.x.lo && m.X <= g.x.hi {
			x, _ := g.dot(m.X, g.y.lo)
			axis[min(x/2, g.w-1)] = '┴'
		}
	}
	p.line(strings.Repeat(" ", g.left-1) + p.paint(faint, "└"+string(axis)))
	p.line(string(line))
}

const (
	maxLegend = 8 // curves named in a legend
	maxPlaces = 4 // times of a mark in a legend
)

// legend names curves, bands and marks.
func (g *panel) legend(p *page) {
	var list [][2]string
	curves := g.l.Curves
	lines := g.l.lines()
	single := lines == 1 && len(g.l.Bands) == 0
	for i, c := range curves {
		if c.Name == "" || single && !c.few() && len(c.PX) == 0 && c.Name == g.l.Y.Label {
			continue
		}
		if len(curves) > maxLegend && i >= maxLegend-1 && i < len(curves)-1 {
			if i == maxLegend-1 {
				text := fmt.Sprintf("… %d more", len(curves)-maxLegend)
				list = append(list, [2]string{text, text})
			}
			continue
		}
		sample := "──"
		switch {
		case c.few() && len(c.PX) > 0:
			sample = ""
		case c.few():
			sample = "●"
		case c.Dots:
			sample = "••"
		}
		if !p.Colour && lines > 1 && len(curves) <= maxLetters && !c.few() {
			sample = string(letter(i))
		}
		if len(c.PX) > 0 {
			sample += sign(i)
		}
		list = append(list, [2]string{sample + " " + c.Name, p.paint(g.colour(i), sample) + " " + c.Name})
	}
	below, above := g.l.bounds()
	if below {
		list = append(list, [2]string{signBelow + " " + belowLimit, signBelow + " " + belowLimit})
	}
	if above {
		list = append(list, [2]string{signAbove + " " + aboveLimit, signAbove + " " + aboveLimit})
	}
	if len(g.l.lost()) > 0 {
		list = append(list, [2]string{signLost + " " + notFinite, signLost + " " + notFinite})
	}
	for _, b := range g.l.Bands {
		if !g.bands(p) || b.Name == "" {
			continue
		}
		list = append(list, [2]string{"⠕⠕ " + b.Name, p.paint(faint, "⠕⠕") + " " + b.Name})
	}
	names, at := markNames(g.l.Marks)
	for _, n := range names {
		if p.silent {
			break
		}
		text := n + " at " + placesOf(at[n])
		list = append(list, [2]string{"┊ " + text, p.paint(faint, "┊") + " " + text})
	}
	p.entries(g.left, list)
}

// placesOf lists places of marks: the first of them, and how many there are.
func placesOf(at []float64) string {
	var where []string
	for k, x := range at {
		if k == maxPlaces && len(at) > maxPlaces+1 {
			where = append(where, fmt.Sprintf("… (%d times)", len(at)))
			break
		}
		where = append(where, number(x, 4))
	}
	return strings.Join(where, ", ")
}
