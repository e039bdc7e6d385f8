package repl

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
)

// Colours of what is typed, as they are on light and on dark screens.
const (
	paintWord, paintCommand, paintNumber = "\x1b[34m", "\x1b[1m", "\x1b[36m"
	paintString, paintUnit, paintComment = "\x1b[32m", "\x1b[35m", "\x1b[90m"
	paintUnknown, paintEnd               = "\x1b[31m", "\x1b[0m"
)

// painter colours a line while it is typed: commands, words of the language, numbers, units, texts and comments; names
// that stand before a bracket and that nothing has are red, once they are whole.
type painter struct{ s *Session }

// Paint returns the line with colours.
func (p painter) Paint(line []rune, _ int) []rune {
	var out string
	if guard(p.s, "", func() error { out = paint(string(line), p.known()); return nil }) != nil {
		return line // colours are not worth a message
	}
	return []rune(out)
}

// known tells which names mean something.
func (p painter) known() func(string) bool {
	var names []string
	return func(name string) bool {
		if names == nil {
			names = slices.Concat(p.s.declared(), p.s.cfg.Words, []string{"d", "x"})
		}
		return slices.Contains(names, name)
	}
}

// paint colours a line.
func paint(line string, known func(string) bool) string {
	if len(line) > 2000 {
		return line // it was pasted, and each key would colour it anew
	}
	code, comment := line, ""
	if at := commentAt(line); at >= 0 {
		code, comment = line[:at], line[at:]
	}
	tokens := parser.TokensOf(code)
	var b strings.Builder
	at, unit := 0, false
	for i, t := range tokens {
		if t.Start < at || t.End > len(code) {
			continue
		}
		b.WriteString(code[at:t.Start])
		at = t.End
		colour := ""
		switch {
		case t.Text == "[" && i > 0 && (tokens[i-1].Kind == ast.NumberToken || tokens[i-1].Text == ":"):
			unit, colour = true, paintUnit
		case unit:
			unit, colour = t.Text != "]", paintUnit
		case i == 0 && slices.ContainsFunc(commands(), func(c command) bool { return c.name == t.Text }):
			colour = paintCommand
		case t.Kind == ast.KeywordToken || i == 0 && slices.Contains(parser.ItemWords(), t.Text):
			colour = paintWord
		case t.Kind == ast.NumberToken:
			colour = paintNumber
		case t.Kind == ast.StringToken:
			colour = paintString
		case t.Kind == ast.IdentToken && i+1 < len(tokens) && tokens[i+1].Text == "(" && !known(t.Text):
			colour = paintUnknown
		}
		if colour == "" {
			b.WriteString(code[t.Start:t.End])
			continue
		}
		b.WriteString(colour + code[t.Start:t.End] + paintEnd)
	}
	b.WriteString(code[at:])
	if comment != "" {
		b.WriteString(paintComment + comment + paintEnd)
	}
	return b.String()
}

// commentAt returns where a comment begins, outside of texts; -1 for none.
func commentAt(line string) int {
	quoted := false
	for i, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '#' && !quoted:
			return i
		}
	}
	return -1
}
