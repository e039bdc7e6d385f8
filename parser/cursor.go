package parser

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
)

// cursor is a place among the tokens of a file. It moves, tells what stands around it, and where items start. It knows
// nothing of what is being parsed.
type cursor struct {
	file   *source.File
	tokens []ast.Token // ends with EOF
	i      int
}

func (c *cursor) peek() *ast.Token { return &c.tokens[c.i] }

// ahead returns the token n places on, or EOF.
func (c *cursor) ahead(n int) *ast.Token { return &c.tokens[min(c.i+n, len(c.tokens)-1)] }

// next consumes a token; EOF stays.
func (c *cursor) next() *ast.Token {
	t := &c.tokens[c.i]
	if t.Kind != ast.EOF {
		c.i++
	}
	return t
}

// is reports whether the next token is the sign or keyword text.
func (c *cursor) is(text string) bool { return isToken(c.peek(), text) }

// got consumes the sign or keyword text if it is next.
func (c *cursor) got(text string) bool {
	if c.is(text) {
		c.i++
		return true
	}
	return false
}

func (c *cursor) span(start, end int) source.Span {
	return source.Span{File: c.file, Start: start, End: end}
}

func (c *cursor) at(t *ast.Token) source.Span { return c.span(t.Start, t.End) }

// since returns the place from start to the end of the last consumed token.
func (c *cursor) since(start int) source.Span {
	if c.i == 0 {
		return c.span(start, start)
	}
	return c.span(start, max(start, c.tokens[c.i-1].End))
}

// gap is where something is missing before the next token: at that token, or
// just behind the last one when the next stands on another line.
func (c *cursor) gap() source.Span {
	t := c.peek()
	if c.i > 0 && (t.NewLine || t.Kind == ast.EOF) {
		end := c.tokens[c.i-1].End
		return c.span(end, end)
	}
	return c.at(t)
}

// ident makes a name of t.
func (c *cursor) ident(t *ast.Token) ast.Ident {
	return ast.Ident{At: ast.At{Span: c.at(t)}, Name: t.Text, Quoted: t.Kind == ast.QuotedToken}
}

// behind says after which token the next one stands.
func (c *cursor) behind() string {
	if c.i == 0 {
		return ""
	}
	return " after " + describe(&c.tokens[c.i-1], false)
}

// found describes the next token as the thing that was not expected.
func (c *cursor) found() string { return describe(c.peek(), c.atEnd()) }

// atEnd reports whether the statement ends before the next token: at the end
// of the file, a semicolon, a closing brace or the start of another item.
func (c *cursor) atEnd() bool {
	t := c.peek()
	return t.Kind == ast.EOF || isToken(t, ";") || isToken(t, "}") || c.startsItem(c.i)
}

// startsItem reports whether token i looks like the start of an item. That is the left side of an equation, or an item
// word that starts a line or is followed by something that follows such words.
func (c *cursor) startsItem(i int) bool {
	t := &c.tokens[i]
	switch t.Kind {
	case ast.KeywordToken:
		if !itemWords[t.Text] || t.Text == "use" && !isToken(&c.tokens[min(i+2, len(c.tokens)-1)], "as") {
			return false // in an experiment, `use D` is a part of it
		}
		after := &c.tokens[min(i+1, len(c.tokens)-1)]
		return !isToken(after, "=") && !c.startsPrimed(i) &&
			(t.NewLine || isName(after) || after.Kind == ast.StringToken || isToken(after, "{"))
	case ast.IdentToken, ast.QuotedToken:
		return c.startsEquation(i) || c.freeItem(i) != ""
	case ast.NumberToken:
		return t.Text == "0" && i+1 < len(c.tokens) && isToken(&c.tokens[i+1], "=")
	}
	return false
}

// freeItem returns the word that token i is where it starts an item without being reserved; "" elsewhere.
func (c *cursor) freeItem(i int) string {
	t := &c.tokens[i]
	if t.Kind != ast.IdentToken {
		return ""
	}
	if follows := freeItems[t.Text]; follows == nil || i+2 >= len(c.tokens) || !follows(c, i+1) {
		return ""
	}
	return t.Text
}

// startsEquation reports whether token i starts `x' =` or `x[…]' =`.
func (c *cursor) startsEquation(i int) bool { return isName(&c.tokens[i]) && c.startsPrimed(i) }

// maxSubscript bounds the nesting of brackets that startsPrimed looks through,
// so that it stays cheap on any text.
const maxSubscript = 64

// startsPrimed is startsEquation for reserved words too.
func (c *cursor) startsPrimed(i int) bool {
	j := i + 1
	if j < len(c.tokens) && isToken(&c.tokens[j], "[") {
		depth := 0
	scan:
		for ; j < len(c.tokens); j++ {
			switch t := &c.tokens[j]; {
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
	if j+1 >= len(c.tokens) || !isToken(&c.tokens[j], "'") {
		return false
	}
	after := &c.tokens[j+1]
	return isToken(after, "=") || isToken(after, "+=") || isToken(after, "'") && after.Start == c.tokens[j].End
}

// tokenAt returns the number of the token that starts at offset.
func (c *cursor) tokenAt(offset int) int {
	i, _ := slices.BinarySearchFunc(c.tokens, offset, func(t ast.Token, at int) int { return t.Start - at })
	return i
}

// quoteIn returns the text of a single-quoted string that starts at token i
// and its end, or "" when there is none on the line.
func (c *cursor) quoteIn(i int) (string, int) {
	start := c.tokens[i].End
	rest := c.file.Text()[start:]
	n := strings.IndexAny(rest, "'\n")
	if n < 0 || rest[n] == '\n' {
		return "", 0
	}
	return rest[:n], start + n + 1
}

func isToken(t *ast.Token, text string) bool {
	return (t.Kind == ast.SignToken || t.Kind == ast.KeywordToken) && t.Text == text
}

// isName reports whether t can name something a model declares.
func isName(t *ast.Token) bool { return t.Kind == ast.IdentToken || t.Kind == ast.QuotedToken }

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

// where writes a place for a message: line:column.
func where(at source.Span) string {
	b := at.Begin()
	return fmt.Sprintf("%d:%d", b.Line, b.Column)
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
