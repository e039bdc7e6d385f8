package diag

import (
	"strings"
	"unicode/utf8"

	"odes.dev/odes/internal/base/screen"
)

// columns is text as a terminal shows it, and how many columns that takes.
type columns struct {
	text  string
	width int
}

const (
	maxColumns   = 100 // of a source line; longer ones are cut on both sides
	leastColumns = 10  // of a source line on a narrow screen
)

// window splits a line at [from, to) and shows the three parts: tabs as
// spaces, what cannot be printed as a replacement, at most most columns wide.
func window(text string, from, to, most int) (before, under, after columns) {
	lead := most * 2 / 5 // columns kept before the place in a cut line
	from = max(0, min(from, len(text)))
	to = max(from, min(to, len(text)))
	head, tail := text[:from], text[to:]
	if len(head) > 4*most { // cut bytes first: the line may have a megabyte
		head = head[boundary(head, len(head)-4*most):]
		before = columns{"…", 1}
	}
	h := show(head, before.width)
	u := show(cut(text[from:to], most), before.width+h.width)
	t := show(cut(tail, 4*most), before.width+h.width+u.width)
	if before.width+h.width+u.width+t.width <= most && len(tail) <= 4*most && before.width == 0 {
		return h, u, t
	}
	under = u.keepStart(most - lead)
	if h.width > lead {
		before = columns{"…", 1}
		h = h.keepEnd(lead - 1)
	}
	before = columns{before.text + h.text, before.width + h.width}
	room := most - before.width - under.width
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
	for text != "" {
		size, w := screen.Next(text)
		switch {
		case text[0] == '\t':
			n := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
		case w < 0:
			b.WriteRune('\ufffd')
			column++
		default:
			b.WriteString(strings.ToValidUTF8(text[:size], "\ufffd"))
			column += w
		}
		text = text[size:]
	}
	return columns{b.String(), column - start}
}

// keepStart cuts c to at most width columns, with … for what is lost.
func (c columns) keepStart(width int) columns {
	if c.width <= width {
		return c
	}
	if width <= 0 {
		return columns{}
	}
	n := 0
	for at := 0; at < len(c.text); {
		size, w := screen.Next(c.text[at:])
		if n+max(0, w) > width-1 {
			return columns{c.text[:at] + "…", n + 1}
		}
		n += max(0, w)
		at += size
	}
	return c
}

// keepEnd cuts c to at most its last width columns.
func (c columns) keepEnd(width int) columns {
	for c.text != "" {
		size, w := screen.Next(c.text)
		if c.width <= width && w != 0 {
			return c
		}
		c.text, c.width = c.text[size:], c.width-max(0, w)
	}
	return columns{}
}

// printable replaces characters that must not reach a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && screen.RuneWidth(r) < 0 {
			return '\ufffd'
		}
		return r
	}, text)
}
