package parser

import "odes.dev/odes/lang/ast"

// This file says what is wrong where an operand should start, and what to write instead.

// noOperands are the mistakes where an operand should start.
var noOperands = []advice{
	{
		example: "let a = end",
		next:    "end",
		tell:    (*site).endOutsideIndex,
	},
	{
		example: "time t from 0 to 1; let a = 2*time",
		next:    "time",
		tell:    (*site).timeItself,
	},
	{
		example: "objective J = at(24, x)",
		next:    "at", after: "(",
		tell: (*site).valueAtTime,
	},
	{
		example: "let a = 2*data",
		when: func(s *site) bool {
			word := s.next.Text
			return s.next.Kind == ast.KeywordToken && (s.reservedSeen[word] || !s.atEnd() &&
				(itemWords[word] || !continues(word)))
		},
		tell: func(s *site) bool { s.reserved(s.next); return true },
	},
	{
		example: "data D = csv('a.csv')",
		tell:    func(s *site) bool { return s.singleQuoted() },
	},
	{
		example: "let a = 'b",
		next:    "'",
		code:    CodePrime,
		message: "' is the time derivative and stands only on the left of an equation; strings stand in double quotes",
	},
	{
		example: "let a = = 2",
		next:    "=", before: "=",
		code:    CodeMissingExpr,
		message: "there are two =; write one",
		fix:     replacement{onNext, "", "remove it"},
	},
	{
		example: "let a = (2 + )",
		when: func(s *site) bool {
			return s.atEnd() || isOneOf(s.next, ") ] ,") || s.next.Kind == ast.KeywordToken
		},
		tell: (*site).missingExpression,
	},
	{
		example: "let a = 2 // twice",
		next:    "/ *", before: "/",
		code: CodeForeignOperator, at: beforeToNext,
		message: commentsStart,
		fix:     replacement{beforeToNext, "#", "write #"},
	},
	{
		example: "let a = b <> 2",
		next:    ">", before: "<",
		code: CodeForeignOperator, at: beforeToNext,
		message: "write != for \"not equal\"",
		fix:     replacement{beforeToNext, "!=", "write !="},
	},
	{
		example: "fn f(x) = { let a = x^2  return a }",
		next:    "{", item: "fn",
		message: "a body in braces has no = before it: fn f(x) { let a = x^2  return a }",
	},
	{
		example: "event e when { x = 0 }",
		next:    "{", item: "event",
		code:    CodeMissingExpr,
		message: "the condition or time before \"{\" is not complete",
	},
	{
		example: "let a = {1, 2}",
		next:    "{",
		message: "arrays are written in brackets: [a, b]",
	},
	{
		example: "let a = * 2",
		when:    func(s *site) bool { return s.next.Kind == ast.SignToken && isBinary(s.next.Text) },
		code:    CodeMissingExpr,
		message: "\"{next}\" has nothing on its left; the expression before it is missing",
	},
	{
		example: "let a = ? 1 : 2",
		tell:    func(s *site) bool { return s.commonMistake() },
	},
	{
		example: "let a = ~2",
		message: "expected an expression, found {found}",
	},
}

// endOutsideIndex reports `end` outside of brackets; within an index it is one.
func (s *site) endOutsideIndex() bool {
	if s.index == 0 {
		s.complain(CodeEnd, s.at(s.next), "`end` is the last index and stands only inside brackets: x[end]")
	}
	return true
}

// timeItself reports the word time where its name belongs, and says which name the model gives it. In an experiment it
// may be a column of a table.
func (s *site) timeItself() bool {
	if s.atEnd() || isToken(s.after, "(") || s.word() == "experiment" {
		return false
	}
	for i := range s.tokens {
		if t := &s.tokens[min(i+1, len(s.tokens)-1)]; isToken(&s.tokens[i], "time") && s.startsItem(i) && isName(t) {
			s.complain(CodeReserved, s.at(s.next), "the time of this model is called \"%s\"", t.Text).
				Fix(s.at(s.next), t.Text, "write "+t.Text)
			return true
		}
	}
	return false
}

// valueAtTime reports the word at where a function belongs.
func (s *site) valueAtTime() bool {
	if s.reservedSeen["at"] { // a name of the model, which was reported
		return false
	}
	d := s.complain(CodeReserved, s.at(s.next), "the value at a time is sum_at(24, x), of several times their sum; "+
		"\"at\" is a reserved word")
	if i := s.i + 2; i < len(s.tokens) && (s.tokens[i].Kind == ast.NumberToken || isToken(&s.tokens[i], "[")) {
		d.Fix(s.at(s.next), "sum_at", "write sum_at")
	}
	return true
}

// missingExpression reports that an expression is missing, and relates what the next line starts with.
func (s *site) missingExpression() bool {
	d := s.fail(CodeMissingExpr, s.gap(), "unexpected %s: the expression is missing", s.found())
	if s.i > 0 && s.next.Kind != ast.EOF && s.next.NewLine {
		d.Relate(s.at(s.next), "the next statement starts here")
	}
	return true
}

func isBinary(text string) bool { _, ok := binary[text]; return ok }

// continues reports whether a reserved word can follow an operand. Where an operand should start, such a word means
// that the operand is missing.
func continues(word string) bool {
	switch word {
	case "then", "elseif", "else", "and", "or", "crosses", "as", "for", "in":
		return true
	}
	return false
}
