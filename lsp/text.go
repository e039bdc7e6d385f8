package lsp

import (
	"sort"
	"unicode/utf8"
)

// text is a text with its lines as editors count them: a line ends with \n, \r\n or \r.
type text struct {
	s     string
	lines []int // byte offset of the start of each
	ascii bool
}

func newText(s string) *text {
	t := &text{s: s, lines: []int{0}, ascii: true}
	for i := 0; i < len(s); i++ {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.lines = append(t.lines, i+1)
		}
		t.ascii = t.ascii && s[i] < utf8.RuneSelf
	}
	return t
}

// encoding is the unit that positions count characters in.
type encoding string

const (
	utf16 encoding = "utf-16"
	utf8s encoding = "utf-8"
)

// position returns the place of byte offset off.
func (t *text) position(off int, e encoding) position {
	off = max(0, min(off, len(t.s)))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > off }) - 1
	head := t.s[t.lines[line]:off]
	if t.ascii || e == utf8s {
		return position{line, len(head)}
	}
	units := 0
	for _, r := range head {
		units += width(r)
	}
	return position{line, units}
}

// width is the number of UTF-16 units of r.
func width(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// offset returns the byte offset of a place. A place behind the end of a line counts as its end, and one inside a
// character as the start of the character.
func (t *text) offset(p position, e encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.s)
	}
	start, end := t.lines[p.Line], len(t.s)
	if p.Line+1 < len(t.lines) {
		end = t.lines[p.Line+1]
	}
	for end > start && (t.s[end-1] == '\n' || t.s[end-1] == '\r') {
		end--
	}
	if t.ascii || e == utf8s {
		off := max(start, min(start+p.Character, end))
		for off > start && off < end && !utf8.RuneStart(t.s[off]) {
			off--
		}
		return off
	}
	units := 0
	for i, r := range t.s[start:end] {
		if units += width(r); units > p.Character {
			return start + i
		}
	}
	return end
}

func (t *text) span(start, end int, e encoding) textRange {
	return textRange{t.position(start, e), t.position(end, e)}
}
