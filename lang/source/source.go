// Package source holds model files and places in them: byte spans, and the
// lines and columns that people and editors count in. It knows nothing of the
// language.
package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// File is the text of one source file. It is immutable once made.
type File struct {
	name  string
	text  string
	lines []int // byte offset of the first byte of each line
	ascii bool  // one byte a character, so that columns need no counting on a line of a megabyte

	origin func(offset int) (Origin, bool) // of a translation
	times  []float64                       // that the original asks for
}

// NewFile returns a file with the given name (a path, or "<stdin>") and text.
func NewFile(name, text string) *File {
	lines, ascii := []int{0}, true
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	return &File{name: name, text: text, lines: lines, ascii: ascii}
}

// Origin is what a part of a translation was made from. What says it in words, such as "reaction r1".
type Origin struct {
	Span Span
	What string
}

// Translation returns a file whose text was made from other files. Origin says from what it has what stands at a byte
// offset, if it is known; it may be called at any time, from several goroutines.
func Translation(name, text string, origin func(offset int) (Origin, bool)) *File {
	f := NewFile(name, text)
	f.origin = origin
	return f
}

// Ask notes at which times the original of a translation asks for outputs.
func (f *File) Ask(times []float64) { f.times = times }

// Asked returns times or, if there are none, those that the original of a translation asks for.
func (f *File) Asked(times []float64) []float64 {
	if times == nil && f != nil {
		return f.times
	}
	return times
}

// IsTranslation reports whether the text was made from other files.
func (f *File) IsTranslation() bool { return f.origin != nil }

// Name returns the name the file was made with.
func (f *File) Name() string { return f.name }

// Text returns the whole text.
func (f *File) Text() string { return f.text }

// Lines returns the number of lines. A text that ends in a newline has an empty last line.
func (f *File) Lines() int { return len(f.lines) }

// Line returns line n (1-based) without its line ending.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	end := len(f.text)
	if n < len(f.lines) {
		end = f.lines[n]
	}
	return strings.TrimRight(f.text[f.lines[n-1]:end], "\r\n")
}

// LineStart returns the byte offset at which line n (1-based) starts.
func (f *File) LineStart(n int) int {
	return f.lines[max(0, min(n-1, len(f.lines)-1))]
}

// LineAt returns the number (1-based) of the line that holds byte offset off.
func (f *File) LineAt(off int) int {
	off = max(0, off)
	// counts the lines that start at or before off
	return sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > off })
}

// Position is a place in a file as people count it.
type Position struct {
	Line   int // 1-based
	Column int // 1-based, in Unicode code points
	UTF16  int // 0-based, in UTF-16 code units, which editors count in
}

// Position returns the line and column of byte offset off, clamped to the text.
func (f *File) Position(off int) Position {
	off = max(0, min(off, len(f.text)))
	n := f.LineAt(off)
	head := f.text[f.lines[n-1]:off]
	if f.ascii {
		return Position{Line: n, Column: len(head) + 1, UTF16: len(head)}
	}
	units := 0
	for _, r := range head {
		if r >= 0x10000 {
			units++
		}
		units++
	}
	return Position{Line: n, Column: utf8.RuneCountInString(head) + 1, UTF16: units}
}

// Span is the half-open byte range [Start, End) of a file. The zero Span is no place at all.
type Span struct {
	File       *File
	Start, End int
}

// IsZero reports whether s is no place.
func (s Span) IsZero() bool { return s.File == nil }

// Translated reports whether the text of f was made from other files.
func (f *File) Translated() bool { return f.origin != nil }

// Origin returns what s was made from, if s lies in a translation and this is known.
func (s Span) Origin() (Origin, bool) {
	if s.File == nil || s.File.origin == nil {
		return Origin{}, false
	}
	return s.File.origin(s.Start)
}

// Text returns the source text that s covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.text[max(0, min(s.Start, len(s.File.text))):max(0, min(s.End, len(s.File.text)))]
}

// Begin returns the position of the first byte of s.
func (s Span) Begin() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.Start)
}

// Finish returns the position just after the last byte of s.
func (s Span) Finish() Position {
	if s.File == nil {
		return Position{}
	}
	return s.File.Position(s.End)
}

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span {
	if s.File == nil {
		return t
	}
	if t.File == nil {
		return s
	}
	return Span{File: s.File, Start: s.Start, End: max(s.End, t.End)}
}
