package ast

import "strings"

// between returns the source between tokens i and j.
func (l *layout) between(i, j int) string {
	return l.file.Source.Text()[l.file.Tokens[i].End:l.file.Tokens[j].Start]
}

// spaced reports whether the source has blanks between tokens i and j.
func (l *layout) spaced(i, j int) bool {
	return i >= 0 && j < len(l.file.Tokens) && l.between(i, j) != ""
}

// space returns the number of spaces between token p and token i, which follows it.
func (l *layout) space(p, i int) int {
	prev, t := &l.file.Tokens[p], &l.file.Tokens[i]
	top := l.top()
	if l.statements[t.Start] && !l.is(p, "{") {
		if l.is(p, ";") {
			return 1
		}
		return 2
	}
	if t.Kind == SignToken {
		switch t.Text {
		case ",", ";", ")", "]", "'":
			return 0
		case ".":
			return 0
		case "{", "}":
			return 1
		}
	}
	if prev.Kind == SignToken {
		switch prev.Text {
		case ".":
			return 0
		case "(":
			return 0
		case "[":
			if top == 't' {
				return l.wide(p, i, 0)
			}
			return 0
		case "{", ";":
			return 1
		case ",":
			switch {
			case top == 't':
				return l.wide(p, i, 1)
			case top == 'i' && !l.spaced(p, i):
				return 0
			}
			return 1
		}
	}
	if top == 'u' {
		return 0
	}
	if n, known := l.operator(p, i); known {
		return n
	}
	if t.Kind == SignToken {
		switch t.Text {
		case "[":
			if kind := l.kind(i); kind == 'i' {
				return 0
			}
			return 1
		case "(":
			if l.kind(i) == 'c' {
				return 0
			}
			return 1
		}
	}
	return 1
}

// wide keeps the writer's columns in a table.
func (l *layout) wide(p, i, least int) int {
	text := l.between(p, i)
	if strings.ContainsAny(text, "\t\r\n") {
		return least
	}
	return max(least, min(len(text), maxIndent))
}

// operator returns the spaces between p and i where one of them is an operator
// or a colon.
func (l *layout) operator(p, i int) (spaces int, known bool) {
	if l.unary(p) {
		return 0, true
	}
	for _, k := range [2]int{i, p} {
		if l.unary(k) || l.file.Tokens[k].Kind != SignToken {
			continue
		}
		before := k == i
		switch l.file.Tokens[k].Text {
		case "^", "'":
			if before || l.file.Tokens[k].Text == "^" {
				return 0, true
			}
		case "*", "/":
			if l.spaced(k-1, k) && l.spaced(k, k+1) {
				return 1, true
			}
			return 0, true
		case "+", "-":
			if (l.top() == 'i' || l.top() == 'c') && !l.spaced(k-1, k) && !l.spaced(k, k+1) {
				return 0, true
			}
			return 1, true
		case ":":
			return l.colon(before), true
		case "=", "+=", "-=", "*=", "/=", "==", "!=", "<", "<=", ">", ">=", "->", "<->", "~", "@":
			return 1, true
		}
	}
	return 0, false
}

// unary reports whether token i is a sign before an operand.
func (l *layout) unary(i int) bool {
	return l.signs[l.file.Tokens[i].Start] && l.file.Tokens[i].Kind == SignToken
}

// colon returns the spaces before or behind a colon: none in ranges, one behind a label, one on
// both sides before a unit.
func (l *layout) colon(before bool) int {
	if l.top() == 'i' || l.loop == len(l.brackets) {
		return 0
	}
	if !before || l.labelled() == " " && l.top() != 'c' {
		return 1
	}
	return 0
}

// labelled returns the spaces before the colon that is being written: none after the name of a
// reaction or constraint, one before a unit.
func (l *layout) labelled() string {
	n := l.out[len(l.out)-1]
	first := n.cells[0].text.String()
	if strings.HasPrefix(first, "reaction ") || strings.HasPrefix(first, "constraint ") {
		return ""
	}
	return " "
}
