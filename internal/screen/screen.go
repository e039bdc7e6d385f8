// Package screen knows how text stands on a terminal: how many columns it
// takes, where to break it and how to cut it. It knows nothing of what the text
// says, and writes nothing.
package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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

// RuneWidth returns the columns that r takes: 0 for combining marks, -1 for
// what cannot be printed.
func RuneWidth(r rune) int {
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

// Width returns the columns that a line of text takes.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += max(0, RuneWidth(r))
	}
	return n
}

// Cut shortens text to at most width columns, with … for what is lost.
func Cut(text string, width int) string {
	if Width(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	n := 0
	for i, r := range text {
		if n += max(0, RuneWidth(r)); n > width-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// Pad appends blanks up to width columns; PadLeft puts them in front.
func Pad(text string, width int) string { return text + blanks(width-Width(text)) }

// PadLeft puts blanks in front of text, up to width columns.
func PadLeft(text string, width int) string { return blanks(width-Width(text)) + text }

func blanks(n int) string { return strings.Repeat(" ", max(0, n)) }

// Hanging stands before the further lines of a folded text.
const Hanging = "    "

// Fold breaks text between words so that its lines have at most width columns,
// the further ones behind indent; width 0 breaks nothing.
func Fold(text string, width int, indent string) string {
	var b strings.Builder
	from := 0
	for _, at := range Breaks(text, width, len(indent)) {
		b.WriteString(text[from:at] + "\n" + indent)
		from = at + 1
	}
	return b.String() + text[from:]
}

// Breaks returns the places of blanks to break text at, for lines of width
// columns of which the further ones lose some to an indent. A word wider than a
// line stays whole.
func Breaks(text string, width, indent int) []int {
	if width <= 0 {
		return nil
	}
	var list []int
	column, blank, since := 0, -1, 0 // since: columns behind the last blank
	for i, r := range text {
		w := max(0, RuneWidth(r))
		switch {
		case r == '\n':
			column, blank, since = 0, -1, 0
			continue
		case r == ' ' && column >= width:
			list = append(list, i)
			column, blank, since = indent, -1, 0
			continue
		case r == ' ' && column > indent:
			blank, since = i, 0
			column++
			continue
		}
		if column+w > width && blank >= 0 {
			list = append(list, blank)
			column, blank = indent+since, -1
		}
		column += w
		since += w
	}
	return list
}
