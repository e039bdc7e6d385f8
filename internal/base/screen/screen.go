// Package screen tells how text stands on a terminal: how many columns it takes, where to break it and how to cut it.
// It knows nothing of what the text says, and writes nothing.
package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// emojiPresentation is the selector that asks for the coloured picture of the character before it.
const emojiPresentation = '\ufe0f'

// RuneWidth returns the columns that r takes by itself: 2 where Unicode's East Asian Width (UAX #11) is W or F, as it
// is for most emoji; 0 for a mark that joins the character before it; -1 for what cannot be printed. The East Asian
// Width does not tell the last two from letters: a combining accent is "ambiguous", like α. General categories do.
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
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7fb: // Hangul vowels and finals stand inside their syllable
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Next returns how many bytes the first character of text has, with all marks that join it, and how many columns they
// take together: -1 for a character that cannot be printed. A narrow character with an emoji presentation selector (❤️)
// takes two, as UAX #11 says of such sequences. Emoji that U+200D joins are counted one by one: terminals disagree on
// whether they show a single picture.
func Next(text string) (size, columns int) {
	if text == "" {
		return 0, 0
	}
	if len(text) == 1 || text[1] < utf8.RuneSelf {
		if c := text[0]; c >= ' ' && c < 0x7f {
			return 1, 1
		}
	}
	first, size := utf8.DecodeRuneInString(text)
	columns = RuneWidth(first)
	if columns < 0 {
		return size, columns
	}
	for size < len(text) {
		r, n := utf8.DecodeRuneInString(text[size:])
		if RuneWidth(r) != 0 {
			break
		}
		if r == emojiPresentation && columns == 1 {
			columns = 2
		}
		size += n
	}
	return size, columns
}

// Width returns the columns that a line of text takes.
func Width(text string) int {
	n := 0
	for text != "" {
		size, columns := Next(text)
		n += max(0, columns)
		text = text[size:]
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
	for at := 0; at < len(text); {
		size, columns := Next(text[at:])
		if n += max(0, columns); n > width-1 {
			return text[:at] + "…"
		}
		at += size
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

// Fold breaks text between words so that its lines have at most width columns. Lines after the first start with indent.
// A width of 0 breaks nothing.
func Fold(text string, width int, indent string) string {
	var b strings.Builder
	from := 0
	for _, at := range Breaks(text, width, len(indent)) {
		b.WriteString(text[from:at] + "\n" + indent)
		from = at + 1
	}
	return b.String() + text[from:]
}

// Breaks returns the byte positions of the blanks to break text at, for lines of at most width columns. Lines after the
// first have indent columns less. A word that is wider than a line stays whole.
func Breaks(text string, width, indent int) []int {
	if width <= 0 {
		return nil
	}
	var list []int
	column, blank, since := 0, -1, 0 // since: columns behind the last blank
	for i, size := 0, 0; i < len(text); i += size {
		columns := 0
		size, columns = Next(text[i:])
		columns = max(0, columns)
		isBlank := text[i:i+size] == " "
		switch {
		case text[i] == '\n':
			column, blank, since = 0, -1, 0
			continue
		case isBlank && column >= width:
			list = append(list, i)
			column, blank, since = indent, -1, 0
			continue
		case isBlank && column > indent:
			blank, since = i, 0
			column++
			continue
		}
		if column+columns > width && blank >= 0 {
			list = append(list, blank)
			column, blank = indent+since, -1
		}
		column += columns
		since += columns
	}
	return list
}
