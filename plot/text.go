package plot

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"odes.dev/odes/internal/base/screen"
)

// Terminal describes the screen that Text draws on. The zero value is a screen of 80 columns
// without colour.
type Terminal struct {
	Width  int // columns; 0 means 80
	Height int // rows of the curves of one panel; 0 means a suitable number
	Colour bool
}

const (
	defaultWidth  = 80
	leastWidth    = 10
	defaultHeight = 14
	stackedHeight = 8
)

// Text draws p with block and braille characters.
func Text(w io.Writer, p Picture, o Terminal) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, leastWidth)
	pg := &page{w: bufio.NewWriter(w), Terminal: o}
	p.text(pg)
	return pg.w.Flush()
}

// page collects text. Its bufio.Writer keeps the first error.
type page struct {
	w *bufio.Writer
	Terminal
	stacked bool
	margin  int  // least width of the labels left of the axis
	silent  bool // the legend of a panel below names the marks
}

func (p *page) height() int {
	switch {
	case p.Height > 0:
		return max(3, p.Height)
	case p.stacked:
		return stackedHeight
	}
	return defaultHeight
}

// line writes a line without trailing blanks.
func (p *page) line(s string) {
	p.w.WriteString(strings.TrimRight(s, " "))
	p.w.WriteByte('\n')
}

func (p *page) nothing() { p.line(screen.Cut("(nothing to draw)", p.Width)) }

// title writes a heading, in bold type where colour is wanted.
func (p *page) title(s string) {
	if s == "" {
		return
	}
	for _, line := range fold(s, mostHead, func(s string) bool { return screen.Width(s) <= p.Width }) {
		line = screen.Cut(line, p.Width)
		if p.Colour {
			line = screen.Style("1", line)
		}
		p.line(line)
	}
}

// mostHead bounds the lines of a title.
const mostHead = 3

// fold breaks text between words into lines that fit. There are at most most lines, and the last
// one may not fit.
func fold(text string, most int, fits func(string) bool) []string {
	words := strings.Fields(text)
	var lines []string
	for len(words) > 0 && len(lines) < most-1 {
		n := 1
		for n < len(words) && fits(strings.Join(words[:n+1], " ")) {
			n++
		}
		lines, words = append(lines, strings.Join(words[:n], " ")), words[n:]
	}
	if len(words) > 0 {
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// shades are the colours of curves on a terminal, of its 256. They have a middling lightness, so
// that they stand out from dark and light backgrounds, and people who do not see red or green can
// tell them apart.
var shades = []int{32, 172, 36, 168, 98, 244}

// ramp holds colours in the order of their lightness, for families of curves.
var ramp = []int{61, 62, 32, 38, 36, 71, 107, 143, 178}

const faint = 244

func (p *page) paint(colour int, s string) string {
	if !p.Colour || colour == 0 {
		return s
	}
	return screen.Style(fmt.Sprintf("38;5;%d", colour), s)
}

// clipPainted is clip for a text with escape sequences.
func clipPainted(s string, n int) string {
	var b strings.Builder
	escape, used, cut := false, 0, false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case used == n-1:
			if !cut {
				b.WriteRune('…')
			}
			cut = true
			continue
		default:
			used++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// entries writes short texts next to each other, wrapped at the width of the page. Each entry is
// its text and that text with its colours.
func (p *page) entries(indent int, list [][2]string) {
	const gap = 3
	var line strings.Builder
	used := 0
	for _, e := range list {
		plain, painted := e[0], e[1]
		n := screen.Width(plain)
		if used > 0 && indent+used+gap+n > p.Width {
			p.line(strings.Repeat(" ", indent) + line.String())
			line.Reset()
			used = 0
		}
		if used > 0 {
			line.WriteString(strings.Repeat(" ", gap))
			used += gap
		}
		if room := p.Width - indent; n > room {
			painted, n = clipPainted(painted, room), room
		}
		line.WriteString(painted)
		used += n
	}
	if used > 0 {
		p.line(strings.Repeat(" ", indent) + line.String())
	}
}

// panelColumns is the least width of panels beside each other, and the gap between them.
const (
	panelColumns = 56
	askedColumns = 20 // where the user asked for that many panels
	panelGap     = 2
)

func (s *Stack) text(p *page) {
	p.title(s.Title)
	least := panelColumns
	if s.Columns > 0 {
		least = askedColumns
	}
	rows := s.rows(max(1, (p.Width+panelGap)/(least+panelGap)))
	if len(rows) == 0 {
		p.nothing()
		return
	}
	inner := *p
	inner.stacked = len(s.Panels) > 1
	n := len(rows[0])
	inner.Width = (p.Width - (n-1)*panelGap) / n
	margins := make([]int, n)
	for _, row := range rows {
		for k, panel := range row {
			if l, ok := panel.(*Lines); ok {
				margins[k] = max(margins[k], l.labelWidth(inner.height()))
			}
		}
	}
	for i, row := range rows {
		if i > 0 {
			p.line("")
		}
		columns := make([][]string, n)
		for k, panel := range row {
			var b strings.Builder
			part := inner
			part.w, part.margin = bufio.NewWriter(&b), margins[k]
			part.silent = i+1 < len(rows) && k < len(rows[i+1]) && marksAlike(panel, rows[i+1][k])
			panel.text(&part)
			part.w.Flush()
			columns[k] = strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		}
		p.beside(columns, inner.Width)
	}
}

// beside writes columns of lines, of which all but the last are filled up to a width.
func (p *page) beside(columns [][]string, width int) {
	tall := 0
	for _, lines := range columns {
		tall = max(tall, len(lines))
	}
	for i := range tall {
		var b strings.Builder
		for k, lines := range columns {
			text := ""
			if i < len(lines) {
				text = lines[i]
			}
			b.WriteString(text)
			if k < len(columns)-1 {
				b.WriteString(strings.Repeat(" ", max(0, width+panelGap-screen.Width(unpainted(text)))))
			}
		}
		p.line(b.String())
	}
}

// unpainted is a text without escape sequences.
func unpainted(s string) string {
	var b strings.Builder
	escape := false
	for _, r := range s {
		switch {
		case r == '\x1b':
			escape = true
		case !escape:
			b.WriteRune(r)
		default:
			escape = r != 'm'
		}
	}
	return b.String()
}

// levels are the blocks of a sparkline.
var levels = []rune("▁▂▃▄▅▆▇█")

// Spark draws values as a line of at most width blocks. Values that are not finite become gaps.
func Spark(values []float64, width int) string {
	s, ok := spanOf(Axis{}, values)
	if !ok || width <= 0 {
		return ""
	}
	n := min(width, len(values))
	var b strings.Builder
	for k := range n {
		from, to := k*len(values)/n, (k+1)*len(values)/n
		sum, count := 0.0, 0
		for _, x := range values[from:to] {
			if finite(x) {
				sum += x / float64(to-from)
				count++
			}
		}
		switch {
		case count == 0:
			b.WriteByte(' ')
		case s.hi == s.lo:
			b.WriteRune(levels[3])
		default:
			mean := sum * float64(to-from) / float64(count)
			i := int((mean - s.lo) / (s.hi - s.lo) * float64(len(levels)))
			b.WriteRune(levels[min(max(i, 0), len(levels)-1)])
		}
	}
	return b.String()
}
