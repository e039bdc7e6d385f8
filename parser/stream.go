package parser

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// definition is the hand-written lexer as participle wants it.
type definition struct{}

// The token types of participle.
const (
	typeName lexer.TokenType = iota + 1
	typeNumber
	typeString
	typeSign
	typePrime
)

// Symbols names the token types.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Name": typeName, "Number": typeNumber, "String": typeString, "Sign": typeSign,
		"Prime": typePrime,
	}
}

// Lex scans all of r.
func (d definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(name, string(text))
}

// LexString scans text.
func (definition) LexString(name, text string) (lexer.Lexer, error) {
	f := source.NewFile(name, text)
	tokens, _ := scan(f, &diag.List{})
	return &stream{file: f, tokens: tokens}, nil
}

// stream hands tokens to participle. Positions hold byte offsets only.
type stream struct {
	file   *source.File
	tokens []ast.Token
	i      int
}

// Next returns the next token, and EOF at the end however often it is called. Values of names and strings keep their
// quotes, so that no word of the grammar matches them.
func (s *stream) Next() (lexer.Token, error) {
	t := &s.tokens[min(s.i, len(s.tokens)-1)]
	s.i++
	out := lexer.Token{Value: t.Text, Pos: lexer.Position{Offset: t.Start}}
	switch t.Kind {
	case ast.EOF:
		out.Type = lexer.EOF
	case ast.IdentToken, ast.KeywordToken:
		out.Type = typeName
	case ast.QuotedToken:
		out.Type, out.Value = typeName, s.file.Text()[t.Start:t.End]
	case ast.NumberToken:
		out.Type = typeNumber
	case ast.StringToken:
		out.Type = typeString
	default:
		out.Type = typeSign
		if t.Text == "'" {
			out.Type = typePrime
		}
	}
	return out, nil
}
