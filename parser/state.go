package parser

import "odes.dev/odes/lang/ast"

const (
	maxDepth  = 500    // of nested brackets, conditions and signs
	maxChain  = 20_000 // operators in a row at one level
	maxErrors = 100    // of one file
)

// parse is one run over the tokens of a file. It makes trees of what the grammar does not match by itself, such as
// expressions and units.
type parse struct {
	reporter
	depth   int  // of the expression or unit being parsed
	unitDef bool // inside a unit definition, where numbers are units
}

// name parses a name that is declared or assigned here.
func (p *parse) name() (ast.Ident, bool) {
	t := p.peek()
	if isName(t) {
		p.i++
		return p.ident(t), true
	}
	if t.Kind == ast.KeywordToken && !(t.NewLine && p.startsItem(p.i)) {
		p.reserved(t)
		p.i++
		return p.ident(t), true
	}
	switch before := &p.tokens[max(p.i-1, 0)]; {
	case isToken(before, "model") && t.Kind == ast.StringToken:
		p.fail(CodeUnexpected, p.at(t), "a model has a name, and behind it a title: model Name %s", p.at(t).Text()).
			Fix(p.span(t.Start, t.Start), "M ", "give it a name")
		return ast.Ident{At: ast.At{Span: p.gap()}}, false
	case isToken(t, "<") && isToken(p.ahead(1), "-"):
		p.fail(CodeUnexpected, p.at(t).To(p.at(p.ahead(1))), arrowGivesNothing)
		return ast.Ident{At: ast.At{Span: p.gap()}}, false
	case isToken(before, "time") && (t.Kind == ast.NumberToken || isOneOf(t, "= [ (")):
		p.fail(CodeUnexpected, p.at(t), spanOfTime)
		return ast.Ident{At: ast.At{Span: p.gap()}}, false
	case isToken(before, "reaction") && (t.Kind == ast.NumberToken || isToken(t, "->") || isToken(t, "<->")):
		p.fail(CodeUnexpected, p.at(t), unnamedReaction)
		return ast.Ident{At: ast.At{Span: p.gap()}}, false
	case t.Kind == ast.NumberToken && isToken(before, ",") && p.i > 1 &&
		p.tokens[p.i-2].Kind == ast.NumberToken && p.tokens[p.i-2].End == before.Start:
		at := p.at(&p.tokens[p.i-2]).To(p.at(t))
		number := p.tokens[p.i-2].Text + "." + t.Text
		p.fail(CodeUnexpected, at, "a comma separates names; the decimal sign is a point: %s", number).
			Fix(at, number, "write "+number)
		return ast.Ident{At: ast.At{Span: p.gap()}}, false
	}
	what := "a name"
	if p.i > 0 && isToken(&p.tokens[p.i-1], "import") {
		what = "a path in double quotes or a name"
	}
	p.fail(CodeUnexpected, p.gap(), "expected %s%s, found %s", what, p.behind(), p.found())
	return ast.Ident{At: ast.At{Span: p.gap()}}, false
}

// closeBracket consumes the closing bracket that matches the token open.
func (p *parse) closeBracket(closing string, open *ast.Token, what string) bool {
	if p.failed {
		return false
	}
	if p.got(closing) {
		return true
	}
	at := p.at(open)
	t := p.peek()
	switch {
	case p.commonMistake():
	case what == "call" && isToken(t, "if"):
		p.fail(CodeUnexpected, p.at(t), "a loop has no condition of its own; write it inside the sum: sum(if i "+
			"> 1 then x[i] else 0 for i in 1:n)")
	case isToken(t, "if") && p.i > 0 && endsOperand(&p.tokens[p.i-1]):
		p.fail(CodeUnexpected, p.at(t), "the condition stands first: if c then a else b")
	case what == "array" && p.is(";"):
		p.fail(CodeUnexpected, p.at(t), "rows are arrays in an array: [[1, 2], [3, 4]]").
			Relate(at, "the array opened here")
	case startsOperand(t) && !t.NewLine && !p.startsItem(p.i) && p.i > 0 && endsOperand(&p.tokens[p.i-1]):
		p.fail(CodeMissingOperator, p.gap(), "expected an operator%s or \"%s\" before %s",
			map[bool]string{true: ", a comma"}[what != "parenthesis"], closing, p.found()).
			Relate(at, "the %s opened here", what)
	default:
		p.fail(CodeUnclosed, p.gap(), "expected \"%s\" to close the %s opened at %s", closing, what, where(at)).
			Relate(at, "opened here")
	}
	return false
}
