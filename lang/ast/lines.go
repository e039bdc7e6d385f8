package ast

import (
	"slices"
	"strings"
)

// Lines tells how the tokens and comments of a file are divided into lines. This part of a layout
// has a meaning, because doc comments describe what they stand next to. So Format keeps it: every
// line of a file is a line of its normal layout, with the same comments above and behind it.
//
// Three things about lines do not matter. Items always start a line, a brace is on the line of what
// precedes it, and semicolons count as blanks.
type Lines struct {
	Of       []int   // the line of each token, from 0
	Comments []Place // where each comment stands
}

// Place is where a comment stands.
type Place struct {
	Line   int  // the line that it is behind or above
	Behind bool // something stands before it
	Apart  bool // an empty line follows it
}

// LinesOf returns the lines of a file.
func LinesOf(f *File) Lines {
	items := make(map[int]bool, len(f.Items))
	for _, item := range f.Items {
		items[item.Pos().Start] = true
	}
	text := f.Source.Text()
	lines := Lines{Of: make([]int, len(f.Tokens)), Comments: make([]Place, len(f.Comments))}
	line := -1
	end := 0           // end of what precedes, semicolons aside
	newLine := false   // a line has ended since the last token
	commented := false // there was a comment since the last token
	c := 0
	comments := func(before int) {
		for ; c < len(f.Comments) && f.Comments[c].Span.Start < before; c++ {
			at := f.Comments[c].Span
			if c > 0 && !lines.Comments[c-1].Behind && lines.Comments[c-1].Line == line+1 {
				lines.Comments[c-1].Apart = emptyLine(text[end:at.Start])
			}
			lines.Comments[c] = Place{Line: line + 1}
			if line >= 0 && !strings.Contains(text[end:at.Start], "\n") {
				lines.Comments[c] = Place{Line: line, Behind: true}
			}
			end, commented = at.End, true
		}
	}
	for i := range f.Tokens {
		t := &f.Tokens[i]
		comments(t.Start)
		newLine = newLine || t.NewLine
		if t.Kind == SignToken && t.Text == ";" {
			lines.Of[i] = max(line, 0)
			continue
		}
		if brace := t.Kind == SignToken && t.Text == "{"; line < 0 || items[t.Start] ||
			newLine && (commented || !brace) {
			line++
			if c > 0 && !lines.Comments[c-1].Behind && lines.Comments[c-1].Line == line {
				lines.Comments[c-1].Apart = emptyLine(text[end:t.Start])
			}
		}
		lines.Of[i] = line
		end, newLine, commented = t.End, false, false
	}
	comments(len(text) + 1)
	return lines
}

// First reports whether token i starts a line.
func (l Lines) First(i int) bool { return i == 0 || l.Of[i] != l.Of[i-1] }

// Span returns the lines that the first and the last token of a node stand on.
func (l Lines) Span(f *File, n Node) (first, last int) {
	i := f.TokenAt(n.Pos().Start)
	j := max(i, f.TokenAt(n.Pos().End)-1)
	return l.Of[i], l.Of[j]
}

// TokenAt returns the index of the first token that starts at offset off or after it.
func (f *File) TokenAt(off int) int {
	i, _ := slices.BinarySearchFunc(f.Tokens, off, func(t Token, off int) int { return t.Start - off })
	return i
}

// emptyLine reports whether text, which starts and ends within lines, has a line with nothing on it.
func emptyLine(text string) bool {
	for {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return false
		}
		text = strings.TrimLeft(text[i+1:], " \t\r")
		if strings.HasPrefix(text, "\n") {
			return true
		}
	}
}
