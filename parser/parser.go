// Package parser turns the text of a model file into its tree. It also serves editors: it outlines, formats and splits
// texts, and has the table of the words of the language. It knows the grammar and nothing of meaning: it looks up no
// name and checks no shape or unit. It accepts any bytes without panicking, reports mistakes with their place and
// advice, and goes on at the next item.
package parser

import (
	"fmt"
	"io"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// ParseExpr parses f as one whole expression. The result is never nil: for a wrong text it is an *ast.BadExpr, and the
// list says why.
func ParseExpr(f *source.File, l *diag.List) ast.Expr {
	p := new(parse)
	p.file, p.diags = f, l
	p.tokens, _ = scan(f, l)
	x := p.expr(0)
	if t := p.peek(); !p.failed && t.Kind != ast.EOF {
		p.trailing()
		return &ast.BadExpr{At: ast.At{Span: p.since(0)}}
	}
	return x
}

// Tokens returns the tokens of f without the final EOF. It reports the errors that the lexer finds.
func Tokens(f *source.File, l *diag.List) []ast.Token {
	tokens, _ := scan(f, l)
	return tokens[:len(tokens)-1]
}

// TokensOf splits a text as the parser does, and reports no errors.
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
