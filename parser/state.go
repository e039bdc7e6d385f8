package parser

import (
	"fmt"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

const (
	maxDepth  = 500    // of nested brackets, conditions and signs
	maxChain  = 20_000 // operators in a row at one level
	maxErrors = 100    // of one file
)

// parse is the state of one run over the tokens of a file: where it is, and
// whether the current item has failed. A failed item reports nothing more.
type parse struct {
	file    *source.File
	diags   *diag.List
	tokens  []ast.Token // ends with EOF
	i       int
	failed  bool
	depth   int  // of the expression or unit being parsed
	index   int  // of subscripts: `end` stands only inside one
	unitDef bool // inside a unit definition, where numbers are units

	reservedSeen map[string]bool // reserved words already reported as names

	advice *advice // the last one that was given; tests hold it against the examples of the tables
}

func (p *parse) peek() *ast.Token { return &p.tokens[p.i] }

// ahead returns the token n places on, or EOF.
func (p *parse) ahead(n int) *ast.Token { return &p.tokens[min(p.i+n, len(p.tokens)-1)] }

// next consumes a token; EOF stays.
func (p *parse) next() *ast.Token {
	t := &p.tokens[p.i]
	if t.Kind != ast.EOF {
		p.i++
	}
	return t
}

// is reports whether the next token is the sign or keyword text.
func (p *parse) is(text string) bool { return isToken(p.peek(), text) }

func isToken(t *ast.Token, text string) bool {
	return (t.Kind == ast.SignToken || t.Kind == ast.KeywordToken) && t.Text == text
}

// got consumes the sign or keyword text if it is next.
func (p *parse) got(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

func (p *parse) span(start, end int) source.Span {
	return source.Span{File: p.file, Start: start, End: end}
}

func (p *parse) at(t *ast.Token) source.Span { return p.span(t.Start, t.End) }

// since returns the place from start to the end of the last consumed token.
func (p *parse) since(start int) source.Span {
	if p.i == 0 {
		return p.span(start, start)
	}
	return p.span(start, max(start, p.tokens[p.i-1].End))
}

// gap is where something is missing before the next token: at that token, or
// just behind the last one when the next stands on another line.
func (p *parse) gap() source.Span {
	t := p.peek()
	if p.i > 0 && (t.NewLine || t.Kind == ast.EOF) {
		end := p.tokens[p.i-1].End
		return p.span(end, end)
	}
	return p.at(t)
}

// fail reports the error that ends the current item. Later errors of the item are dropped, and so are errors at a token
// that the lexer has reported. Related places and fixes can be added to the diagnostic that it returns.
func (p *parse) fail(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	if p.failed || p.peek().Kind == ast.BadToken {
		p.failed = true
		return &diag.Diagnostic{}
	}
	p.failed = true
	return p.diags.Errorf(code, at, format, args...)
}

// complain reports an error after which the item can go on.
func (p *parse) complain(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	if p.failed {
		return &diag.Diagnostic{}
	}
	return p.diags.Errorf(code, at, format, args...)
}

// found describes the next token as the thing that was not expected.
func (p *parse) found() string { return describe(p.peek(), p.atEnd()) }

func describe(t *ast.Token, end bool) string {
	switch {
	case t.Kind == ast.EOF:
		return "end of file"
	case end:
		return "end of statement"
	case t.Kind == ast.StringToken:
		return "a string"
	case t.Kind == ast.NumberToken:
		return "the number " + t.Text
	case t.Kind == ast.QuotedToken:
		return "`" + t.Text + "`"
	}
	return fmt.Sprintf("%q", t.Text)
}

// atEnd reports whether the statement ends before the next token: at the end
// of the file, a semicolon, a closing brace or the start of another item.
func (p *parse) atEnd() bool {
	t := p.peek()
	return t.Kind == ast.EOF || isToken(t, ";") || isToken(t, "}") || p.startsItem(p.i)
}

// startsItem reports whether token i looks like the start of an item. That is the left side of an equation, or an item
// word that starts a line or is followed by something that follows such words.
func (p *parse) startsItem(i int) bool {
	t := &p.tokens[i]
	switch t.Kind {
	case ast.KeywordToken:
		if !itemWords[t.Text] || t.Text == "use" && !isToken(&p.tokens[min(i+2, len(p.tokens)-1)], "as") {
			return false // in an experiment, `use D` is a part of it
		}
		after := &p.tokens[min(i+1, len(p.tokens)-1)]
		return !isToken(after, "=") && !p.startsPrimed(i) &&
			(t.NewLine || isName(after) || after.Kind == ast.StringToken || isToken(after, "{"))
	case ast.IdentToken, ast.QuotedToken:
		return p.startsEquation(i) || p.freeItem(i) != ""
	case ast.NumberToken:
		return t.Text == "0" && i+1 < len(p.tokens) && isToken(&p.tokens[i+1], "=")
	}
	return false
}

// freeItem returns the word that token i is where it starts an item without being reserved; "" elsewhere.
func (p *parse) freeItem(i int) string {
	t := &p.tokens[i]
	if t.Kind != ast.IdentToken {
		return ""
	}
	if follows := freeItems[t.Text]; follows == nil || i+2 >= len(p.tokens) || !follows(p, i+1) {
		return ""
	}
	return t.Text
}

// startsEquation reports whether token i starts `x' =` or `x[…]' =`.
func (p *parse) startsEquation(i int) bool { return isName(&p.tokens[i]) && p.startsPrimed(i) }

// maxSubscript bounds the nesting of brackets that startsPrimed looks through,
// so that it stays cheap on any text.
const maxSubscript = 64

// startsPrimed is startsEquation for reserved words too.
func (p *parse) startsPrimed(i int) bool {
	j := i + 1
	if j < len(p.tokens) && isToken(&p.tokens[j], "[") {
		depth := 0
	scan:
		for ; j < len(p.tokens); j++ {
			switch t := &p.tokens[j]; {
			case isToken(t, "[") || isToken(t, "("):
				if depth++; depth > maxSubscript {
					return false
				}
			case isToken(t, "]") || isToken(t, ")"):
				if depth--; depth == 0 {
					j++
					break scan
				}
			case t.Kind == ast.KeywordToken && itemWords[t.Text], isToken(t, "=") && depth == 1, isToken(t, "{"):
				return false
			}
		}
	}
	if j+1 >= len(p.tokens) || !isToken(&p.tokens[j], "'") {
		return false
	}
	after := &p.tokens[j+1]
	return isToken(after, "=") || isToken(after, "+=") || isToken(after, "'") && after.Start == p.tokens[j].End
}

// isName reports whether t can name something a model declares.
func isName(t *ast.Token) bool { return t.Kind == ast.IdentToken || t.Kind == ast.QuotedToken }

// ident makes a name of t.
func (p *parse) ident(t *ast.Token) ast.Ident {
	return ast.Ident{At: ast.At{Span: p.at(t)}, Name: t.Text, Quoted: t.Kind == ast.QuotedToken}
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

// behind says after which token the next one stands.
func (p *parse) behind() string {
	if p.i == 0 {
		return ""
	}
	return " after " + describe(&p.tokens[p.i-1], false)
}

// reserved reports a reserved word that is used as a name. Each word is reported once, since a name is used in many
// places.
func (p *parse) reserved(t *ast.Token) {
	if p.reservedSeen[t.Text] {
		return
	}
	if p.reservedSeen == nil {
		p.reservedSeen = map[string]bool{}
	}
	p.reservedSeen[t.Text] = true
	p.complain(CodeReserved, p.at(t), "\"%s\" is a reserved word; choose another name or write `%s` in "+
		"backquotes", t.Text, t.Text).
		Fix(p.at(t), "`"+t.Text+"`", "write it in backquotes")
}

// where writes a place for a message: line:column.
func where(at source.Span) string {
	b := at.Begin()
	return fmt.Sprintf("%d:%d", b.Line, b.Column)
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
		p.fail(CodeUnexpected, p.at(t), "a loop has no condition of its own; choose in what it runs over: sum(if i "+
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

// startsOperand reports whether an operand can start with t.
func startsOperand(t *ast.Token) bool {
	switch t.Kind {
	case ast.IdentToken, ast.QuotedToken, ast.NumberToken, ast.StringToken:
		return true
	}
	return isToken(t, "(")
}

// endsOperand reports whether t can be the last token of an operand.
func endsOperand(t *ast.Token) bool {
	switch t.Kind {
	case ast.IdentToken, ast.QuotedToken, ast.NumberToken, ast.StringToken:
		return true
	}
	return isToken(t, ")") || isToken(t, "]") || isToken(t, "end")
}

// commonMistake reports what other languages write after an operand. It returns whether it found such a mistake.
func (p *parse) commonMistake() bool {
	t := p.peek()
	if t.Kind != ast.SignToken {
		return false
	}
	switch at := p.at(t); t.Text {
	case "=":
		p.fail(CodeCondition, at, "\"=\" does not compare; write == for indices and strings, <= or >= for reals")
	case "%":
		if before := &p.tokens[max(p.i-1, 0)]; before.Kind == ast.NumberToken && !p.ahead(1).NewLine &&
			!startsOperand(p.ahead(1)) || before.Kind == ast.NumberToken && p.ahead(1).NewLine {
			p.fail(CodeForeignOperator, at, "there is no percent sign; write %s/100", before.Text).
				Fix(at, "/100", "write /100")
			break
		}
		p.fail(CodeForeignOperator, at, "\"%%\" is no operator; comments start with #, the remainder is mod(a, b)")
	case "?":
		p.fail(CodeForeignOperator, at, "\"?\" is no operator; write if condition then a else b")
	case "!":
		p.fail(CodeForeignOperator, at, "\"!\" is no operator; write not, or != for a comparison")
	case "$", "\\", "|", "&":
		p.fail(CodeForeignOperator, at, "\"%s\" is not part of the language", t.Text)
	case "(", "[":
		if !t.NewLine {
			return false
		}
		p.fail(CodeNewLine, at, "\"%s\" on a new line does not continue the line above; put it behind the name "+
			"there", t.Text)
	default:
		return false
	}
	return true
}

// singleQuoted reports a string in single quotes if one starts here. It returns whether one does.
func (p *parse) singleQuoted() bool {
	t := p.peek()
	if !isToken(t, "'") {
		return false
	}
	text, end := p.quoteIn(p.i)
	if end == 0 {
		return false
	}
	at := p.span(t.Start, end)
	p.fail(CodeSingleQuote, at, "strings stand in double quotes: \"%s\"", text).
		Fix(at, `"`+text+`"`, "write double quotes")
	return true
}

// quoteIn returns the text of a single-quoted string that starts at token i
// and its end, or "" when there is none on the line.
func (p *parse) quoteIn(i int) (string, int) {
	start := p.tokens[i].End
	rest := p.file.Text()[start:]
	n := strings.IndexAny(rest, "'\n")
	if n < 0 || rest[n] == '\n' {
		return "", 0
	}
	return rest[:n], start + n + 1
}
