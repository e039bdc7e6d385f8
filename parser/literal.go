package parser

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"odes.dev/odes/lang/ast"
)

// number parses a literal and the unit behind it.
func (p *parse) number() ast.Expr {
	n := p.literal()
	if t := p.peek(); isToken(t, "[") && !t.NewLine {
		n.Unit = p.unit()
		n.Span = p.since(n.Span.Start)
	}
	t := p.peek()
	if t.Start != n.Span.End || !isName(t) && t.Kind != ast.KeywordToken && t.Kind != ast.NumberToken &&
		!isToken(t, "(") || p.failed {
		return n
	}
	p.glued(n, t)
	if p.failed {
		return p.bad()
	}
	y := p.prefix()
	return &ast.Binary{At: ast.At{Span: p.since(n.Span.Start)}, Op: ast.Mul, OpAt: p.span(t.Start, t.Start), X: n, Y: y}
}

// memoryUnits are units of memory, which settings have in texts.
var memoryUnits = []string{"kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB"}

// glued reports a number with something directly behind it. Where a product was meant, the expression goes on.
func (p *parse) glued(n *ast.Number, t *ast.Token) {
	at := n.Span.To(p.at(t))
	text := p.file.Text()[n.Span.Start:t.End]
	switch {
	case t.Kind == ast.NumberToken:
		p.fail(CodeNumber, at, "\"%s\" is not a number%s", text,
			map[bool]string{true: "; a range is written lo:hi"}[strings.Contains(text, "..")])
	case isToken(t, "("):
		p.complain(CodeMissingOperator, at, "missing operator between %s and the parenthesis; write %s*(...)",
			n.Text, n.Text).
			Fix(p.span(t.Start, t.Start), "*", "multiply")
	case n.Text == "0" && strings.HasPrefix(strings.ToLower(t.Text), "x"):
		p.fail(CodeNumber, at, "\"%s\": numbers are decimal", text)
	case strings.HasPrefix(t.Text, "_"):
		p.fail(CodeNumber, at, "\"%s\": digits are not grouped with _", text)
	case t.Text == "e" || t.Text == "E":
		p.fail(CodeNumber, at, "\"%s\": the exponent has no digits", text)
	case slices.Contains(memoryUnits, t.Text):
		p.fail(CodeMissingOperator, at, "\"%s\": a size of memory is a text; write \"%s\" with its quotes", text, text).
			Fix(at, strconv.Quote(text), "quote")
	case n.Unit != nil:
		p.complain(CodeMissingOperator, at, "missing operator between the unit and \"%s\"", t.Text)
	default:
		p.complain(CodeMissingOperator, at, "\"%s\": missing operator; write %s*%s, or %s [%s] for a unit", text,
			n.Text, t.Text, n.Text, t.Text).
			Fix(at, n.Text+"*"+t.Text, "multiply")
	}
}

// literal parses a number without a unit.
func (p *parse) literal() *ast.Number {
	t := p.next()
	v, err := strconv.ParseFloat(t.Text, 64)
	if errors.Is(err, strconv.ErrRange) && math.IsInf(v, 0) {
		p.complain(CodeNumber, p.at(t), "%s is too large for double precision (1.8e308); write inf for infinity",
			shorten(t.Text))
	}
	return &ast.Number{At: ast.At{Span: p.at(t)}, Text: t.Text, Value: v}
}

func shorten(text string) string {
	if len(text) > 24 {
		return text[:20] + "…"
	}
	return text
}

// str parses a string literal.
func (p *parse) str() *ast.String {
	t := p.next()
	s := &ast.String{At: ast.At{Span: p.at(t)}}
	body := strings.TrimPrefix(t.Text, `"`)
	if len(t.Text) > 1 {
		body = strings.TrimSuffix(body, `"`)
	}
	if !strings.Contains(body, `\`) {
		s.Value = body
		return s
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			b.WriteByte(body[i])
			continue
		}
		i++
		switch body[i] {
		case 'n':
			b.WriteByte('\n')
		case '"', '\\':
			b.WriteByte(body[i])
		default:
			r, size := utf8.DecodeRuneInString(body[i:])
			p.complain(CodeEscape, p.span(t.Start+i, t.Start+i+1+size),
				"\\%c is not an escape; there are \\\", \\\\ and \\n", r).
				Fix(p.span(t.Start+i, t.Start+i+1), `\\`, "write a backslash as \\\\")
			b.WriteByte('\\')
			b.WriteByte(body[i])
		}
	}
	s.Value = b.String()
	return s
}
