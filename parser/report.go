package parser

import (
	"errors"

	"github.com/alecthomas/participle/v2"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// reporter says what is wrong at the cursor. An item that failed reports nothing more.
type reporter struct {
	cursor
	diags  *diag.List
	failed bool // the current item has
	index  int  // of how many subscripts the cursor is inside: `end` stands only in one

	reservedSeen map[string]bool // reserved words already reported as names

	advice *advice // the last one that was given; tests hold it against the examples of the tables
}

// fail reports the error that ends the current item. Later errors of the item are dropped, and so are errors at a token
// that the lexer has reported. Related places and fixes can be added to the diagnostic that it returns.
func (r *reporter) fail(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	if r.failed || r.peek().Kind == ast.BadToken {
		r.failed = true
		return &diag.Diagnostic{}
	}
	r.failed = true
	return r.diags.Errorf(code, at, format, args...)
}

// complain reports an error after which the item can go on.
func (r *reporter) complain(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	if r.failed {
		return &diag.Diagnostic{}
	}
	return r.diags.Errorf(code, at, format, args...)
}

// reserved reports a reserved word that is used as a name. Each word is reported once, since a name is used in many
// places.
func (r *reporter) reserved(t *ast.Token) {
	if r.reservedSeen[t.Text] {
		return
	}
	if r.reservedSeen == nil {
		r.reservedSeen = map[string]bool{}
	}
	r.reservedSeen[t.Text] = true
	r.complain(CodeReserved, r.at(t), "\"%s\" is a reserved word; choose another name or write `%s` in "+
		"backquotes", t.Text, t.Text).
		Fix(r.at(t), "`"+t.Text+"`", "write it in backquotes")
}

// commonMistake reports what other languages write after an operand. It returns whether it found such a mistake.
func (r *reporter) commonMistake() bool {
	t := r.peek()
	if t.Kind != ast.SignToken {
		return false
	}
	switch at := r.at(t); t.Text {
	case "=":
		r.fail(CodeCondition, at, "\"=\" does not compare; write == for indices and strings, <= or >= for reals")
	case "%":
		if before := &r.tokens[max(r.i-1, 0)]; before.Kind == ast.NumberToken && !r.ahead(1).NewLine &&
			!startsOperand(r.ahead(1)) || before.Kind == ast.NumberToken && r.ahead(1).NewLine {
			r.fail(CodeForeignOperator, at, "there is no percent sign; write %s/100", before.Text).
				Fix(at, "/100", "write /100")
			break
		}
		r.fail(CodeForeignOperator, at, "\"%%\" is no operator; comments start with #, the remainder is mod(a, b)")
	case "?":
		r.fail(CodeForeignOperator, at, "\"?\" is no operator; write if condition then a else b")
	case "!":
		r.fail(CodeForeignOperator, at, "\"!\" is no operator; write not, or != for a comparison")
	case "$", "\\", "|", "&":
		r.fail(CodeForeignOperator, at, "\"%s\" is not part of the language", t.Text)
	case "(", "[":
		if !t.NewLine {
			return false
		}
		r.fail(CodeNewLine, at, "\"%s\" on a new line does not continue the line above; put it behind the name "+
			"there", t.Text)
	default:
		return false
	}
	return true
}

// singleQuoted reports a string in single quotes if one starts here. It returns whether one does.
func (r *reporter) singleQuoted() bool {
	t := r.peek()
	if !isToken(t, "'") {
		return false
	}
	text, end := r.quoteIn(r.i)
	if end == 0 {
		return false
	}
	at := r.span(t.Start, end)
	r.fail(CodeSingleQuote, at, "strings stand in double quotes: \"%s\"", text).
		Fix(at, `"`+text+`"`, "write double quotes")
	return true
}

func (r *reporter) tooMany(at source.Span) {
	r.diags.Notef(CodeTooMany, at, "more than %d errors; the rest of the file is not reported", maxErrors)
}

// trailing reports the token behind a complete expression.
func (r *reporter) trailing() {
	t := r.peek()
	switch {
	case r.commonMistake():
	case startsOperand(t) && !t.NewLine:
		r.fail(CodeMissingOperator, r.at(t), "missing operator before %s", r.found())
	default:
		r.fail(CodeUnexpected, r.at(t), "unexpected %s after the expression", r.found())
	}
}

// structural reports a token that the grammar of an item did not expect.
func (r *reporter) structural(start int, err error) {
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		r.fail(CodeUnexpected, r.at(&r.tokens[start]), "%s", err)
		return
	}
	for r.i = start; r.tokens[r.i].Kind != ast.EOF && r.tokens[r.i].Start < unexpected.Unexpected.Pos.Offset; {
		r.i++
	}
	r.unexpected(start, expectation(unexpected.Message()))
}
