package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns is text as a terminal shows it, and how many columns that takes.
type columns struct {
	text  string
	width int
}

const (
	maxColumns = 100 // of a source line; longer ones are cut on both sides
	lead       = 40  // columns kept before the place in a cut line
)

// window splits a line at [from, to) and shows the three parts: tabs as
// spaces, what cannot be printed as a replacement, at most maxColumns wide.
func window(text string, from, to int) (before, under, after columns) {
	from = max(0, min(from, len(text)))
	to = max(from, min(to, len(text)))
	head, tail := text[:from], text[to:]
	if len(head) > 4*maxColumns { // cut bytes first: the line may be a megabyte
		head = head[boundary(head, len(head)-4*maxColumns):]
		before = columns{"…", 1}
	}
	h := show(head, before.width)
	u := show(cut(text[from:to], maxColumns), before.width+h.width)
	t := show(cut(tail, 4*maxColumns), before.width+h.width+u.width)
	if before.width+h.width+u.width+t.width <= maxColumns && len(tail) <= 4*maxColumns && before.width == 0 {
		return h, u, t
	}
	under = u.keepStart(maxColumns - lead)
	if h.width > lead {
		before = columns{"…", 1}
		h = h.keepEnd(lead - 1)
	}
	before = columns{before.text + h.text, before.width + h.width}
	room := maxColumns - before.width - under.width
	after = t.keepStart(room)
	return before, under, after
}

// boundary returns the start of the character at or after byte i.
func boundary(text string, i int) int {
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}

func cut(text string, runes int) string {
	n := 0
	for i := range text {
		if n == runes {
			return text[:i]
		}
		n++
	}
	return text
}

// show renders text that starts at the given column.
func show(text string, column int) columns {
	var b strings.Builder
	start := column
	for _, r := range text {
		switch w := runeWidth(r); {
		case r == '\t':
			n := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case w < 0:
			b.WriteRune('\ufffd')
			column++
		default:
			b.WriteRune(r)
			column += w
		}
	}
	return columns{b.String(), column - start}
}

// keepStart cuts c to at most width columns, with … for what is lost.
func (c columns) keepStart(width int) columns {
	if c.width <= width {
		return c
	}
	n := 0
	for i, r := range c.text {
		w := max(0, runeWidth(r))
		if n+w > width-1 {
			return columns{c.text[:i] + "…", n + 1}
		}
		n += w
	}
	return c
}

// keepEnd cuts c to at most its last width columns.
func (c columns) keepEnd(width int) columns {
	for i, r := range c.text {
		if c.width <= width && runeWidth(r) != 0 {
			return columns{c.text[i:], c.width}
		}
		c.width -= max(0, runeWidth(r))
	}
	return columns{}
}

// printable replaces what must not reach a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && runeWidth(r) < 0 {
			return '\ufffd'
		}
		return r
	}, text)
}

// wide holds the blocks that terminals show two columns wide (Unicode's East
// Asian Width W and F, rounded to blocks).
var wide = [][2]rune{
	{0x1100, 0x115f},
	{0x2e80, 0x303e},
	{0x3041, 0x33ff},
	{0x3400, 0x4dbf},
	{0x4e00, 0x9fff},
	{0xa000, 0xa4cf},
	{0xac00, 0xd7a3},
	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},
	{0xff00, 0xff60},
	{0xffe0, 0xffe6},
	{0x1f300, 0x1f64f},
	{0x1f900, 0x1f9ff},
	{0x20000, 0x3fffd},
}

// runeWidth returns the columns that r takes: 0 for combining marks, -1 for
// what cannot be printed.
func runeWidth(r rune) int {
	switch {
	case r == utf8.RuneError:
		return 1
	case r < 0x20 || r >= 0x7f && r < 0xa0 || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
		return -1
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, block := range wide {
		if block[0] <= r && r <= block[1] {
			return 2
		}
	}
	return 1
}
