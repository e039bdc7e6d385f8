// Package parser turns the text of a model file into its tree. It knows the
// grammar and nothing of meaning: no name is looked up, no shape or unit is
// checked. It reads any bytes whatever without panicking, reports what is
// wrong with a place and an advice, and goes on at the next item.
package parser

import (
	"fmt"
	"io"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// ParseExpr parses f as one whole expression. The result is never nil: where
// the text is wrong it is an *ast.BadExpr and the list says why.
func ParseExpr(f *source.File, l *diag.List) ast.Expr {
	p := &parse{file: f, diags: l}
	p.tokens, _ = scan(f, l)
	x := p.expr(0)
	if t := p.peek(); !p.failed && t.Kind != ast.EOF {
		p.trailing()
		return &ast.BadExpr{At: ast.At{Span: p.since(0)}}
	}
	return x
}

// Tokens returns the tokens of f without the final EOF; it reports what only
// the lexer can see.
func Tokens(f *source.File, l *diag.List) []ast.Token {
	tokens, _ := scan(f, l)
	return tokens[:len(tokens)-1]
}

// TokensOf splits text as the parser does, without a word on what is no token.
func TokensOf(text string) []ast.Token { return Tokens(source.NewFile("", text), new(diag.List)) }

// DumpTokens writes the tokens of f, one a line: place, kind and text, separated by tabs.
func DumpTokens(w io.Writer, f *source.File) error {
	var list diag.List
	for _, t := range Tokens(f, &list) {
		at := f.Position(t.Start)
		if _, err := fmt.Fprintf(w, "%d:%d\t%s\t%s\n", at.Line, at.Column, t.Kind, t.Text); err != nil {
			return err
		}
	}
	return list.Err()
}

// DumpTree writes the tree of f as [ast.Dump] does. A file with errors has none; the error carries them.
func DumpTree(w io.Writer, f *source.File) error {
	var list diag.List
	tree := Parse(f, &list)
	if err := list.Err(); err != nil {
		return err
	}
	_, err := io.WriteString(w, ast.Dump(tree))
	return err
}

// trailing reports the token behind a complete expression.
func (p *parse) trailing() {
	t := p.peek()
	switch {
	case p.commonMistake():
	case startsOperand(t) && !t.NewLine:
		p.fail(CodeMissingOperator, p.at(t), "missing operator before %s", p.found())
	default:
		p.fail(CodeUnexpected, p.at(t), "unexpected %s after the expression", p.found())
	}
}
