package parser

import (
	"sort"
	"strconv"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
)

// The routines below make trees of what the grammar has matched. The caller sets the place of the item itself.

// value returns the value of a part, or the zero T where the part is absent.
func value[T any](x part[T]) (v T) {
	if x != nil {
		v = x.get()
	}
	return v
}

// of returns the place of a struct of the grammar: participle tells where the
// token after it starts.
func (c *cursor) of(at place) source.Span {
	n := sort.Search(len(c.tokens), func(i int) bool { return c.tokens[i].Start >= at.EndPos.Offset })
	for n > 0 && c.tokens[n-1].Text == ";" && c.tokens[n-1].Kind == ast.SignToken {
		n--
	}
	if n == 0 {
		return c.span(at.Pos.Offset, at.Pos.Offset)
	}
	return c.span(at.Pos.Offset, max(at.Pos.Offset, c.tokens[n-1].End))
}

func optional(x part[optName]) *ast.Ident {
	if x == nil {
		return nil
	}
	name := x.get().Ident
	return &name
}

func optionalDotted(x part[dotName]) *ast.Ident {
	if x == nil {
		return nil
	}
	name := x.get().Ident
	return &name
}

// readDotted reads a name, or that of a param of a component: c.k.
func readDotted(p *parse) dotName {
	name := p.ident(p.next())
	for p.is(".") && isName(p.ahead(1)) {
		p.next()
		t := p.next()
		name.Name, name.Quoted = name.Name+"."+t.Text, false
		name.Span.End = t.End
	}
	return dotName{name}
}

// lvalue parses a name with optional subscripts. Reserved words match only
// where an assignment shows that a name was meant.
func (p *parse) lvalue() (*ast.LValue, bool) {
	t := p.peek()
	if t.Kind == ast.KeywordToken {
		if a := p.ahead(1); p.startsItem(p.i) || !isToken(a, "=") && !isToken(a, "+=") && !isToken(a, "'") &&
			!isToken(a, "[") && !isToken(a, ":") {
			return nil, false
		}
		p.reserved(t)
	} else if !isName(t) {
		return nil, false
	}
	p.i++
	v := &ast.LValue{Name: p.ident(t)}
	p.subscripts(v)
	for !p.failed && p.is(".") && isName(p.ahead(1)) {
		at := ast.At{Span: p.since(t.Start)}
		v.Of = component(v, at)
		p.i++
		v.Name, v.Subs = p.ident(p.next()), nil
		p.subscripts(v)
	}
	v.At = ast.At{Span: p.since(t.Start)}
	return v, true
}

// subscripts parses those of v, if there are any.
func (p *parse) subscripts(v *ast.LValue) {
	if open := p.peek(); isToken(open, "[") {
		p.i++
		v.Subs = p.subs(open)
	}
}

// component returns what v names as an expression: what it is part of, at a place.
func component(v *ast.LValue, at ast.At) ast.Expr {
	var e ast.Expr = &ast.Name{Ident: v.Name}
	if v.Of != nil {
		e = &ast.Member{At: at, X: v.Of, Name: v.Name}
	}
	if v.Subs != nil {
		e = &ast.Index{At: at, X: e, Subs: v.Subs}
	}
	return e
}

// dotted returns the name of what v names in a component, such as c.V; ok is false where v is one element.
func dotted(v *ast.LValue) (name ast.Ident, ok bool) {
	name, ok = v.Name, v.Subs == nil
	for of := v.Of; of != nil; {
		switch e := of.(type) {
		case *ast.Member:
			name.Name, of = e.Name.Name+"."+name.Name, e.X
		case *ast.Name:
			name.Name, of = e.Name+"."+name.Name, nil
		default:
			return name, false
		}
		name.Span = v.Span
	}
	return name, ok
}

// drawn parses what stands before `~` in an ensemble block: k, A[2] or initial(x). It matches where `~` follows.
func (p *parse) drawn() (drawn, bool) {
	if !isName(p.peek()) {
		return drawn{}, false
	}
	depth := 0
	for n := 1; ; n++ {
		t := p.ahead(n)
		switch {
		case isToken(t, "[") || isToken(t, "("):
			depth++
		case isToken(t, "]") || isToken(t, ")"):
			depth--
		case depth == 0 && isToken(t, "~"):
			return drawn{p.ident(p.peek()), p.expr(0)}, true
		case depth == 0 || t.Kind == ast.EOF || isToken(t, "{") || isToken(t, "}"):
			return drawn{}, false
		}
	}
}

// key parses the key of a setting, which may be a reserved word.
func (p *parse) key() (keyName, bool) {
	t := p.peek()
	if !isName(t) && (t.Kind != ast.KeywordToken || p.startsItem(p.i)) {
		return keyName{}, false
	}
	p.i++
	return keyName{p.ident(t)}, true
}

// isArrow reports whether a reaction goes to its right side with t.
func isArrow(t *ast.Token) bool { return isToken(t, "->") || isToken(t, "<->") }

// specie parses `A`, `2 A` or `2 A[i]` on a side of a reaction. There the word `rate` begins the rate, unless an arrow
// follows.
func (p *parse) specie() (*ast.Specie, bool) {
	start := p.peek()
	s := &ast.Specie{}
	if start.Kind == ast.NumberToken {
		s.Coeff = p.literal()
		if t := p.peek(); t.Start == start.End && isName(t) {
			p.complain(CodeCoefficient, s.Coeff.Span.To(p.at(t)),
				"a coefficient is separated from the species by a space: write %s %s", s.Coeff.Text, t.Text).
				Fix(p.span(t.Start, t.Start), " ", "write a space")
		}
		if isToken(p.peek(), "*") {
			p.fail(CodeCoefficient, p.gap(),
				"a coefficient stands before its species without an operator: 2 A + B -> C")
			return s, true
		}
	}
	var name *ast.LValue
	ok := false
	if t := p.peek(); t.Kind != ast.IdentToken || t.Text != "rate" || isArrow(p.ahead(1)) {
		name, ok = p.lvalue()
	}
	if !ok && s.Coeff != nil {
		if s.Coeff.Value == 0 {
			p.fail(CodeUnexpected, s.Coeff.Span, "a side without species stays empty: reaction r: A -> rate k*A").
				Fix(s.Coeff.Span, "", "leave it out")
		} else {
			p.fail(CodeUnexpected, p.gap(), "expected a species after the coefficient %s, found %s",
				s.Coeff.Text, p.found())
		}
	}
	s.Name = name
	s.At = ast.At{Span: p.since(start.Start)}
	return s, ok || s.Coeff != nil
}

// dims parses the shape behind a declared name.
func (p *parse) dims() []ast.Expr {
	open := p.next()
	var dims []ast.Expr
	for !p.failed {
		dims = append(dims, p.expr(0))
		if !p.got(",") {
			break
		}
	}
	p.closeBracket("]", open, "shape")
	return dims
}

// fnDims parses the shape of a function's parameter.
func (p *parse) fnDims() []ast.FnDim {
	open := p.next()
	var dims []ast.FnDim
	for !p.failed {
		t := p.peek()
		d := ast.FnDim{At: ast.At{Span: p.at(t)}}
		switch size, err := strconv.Atoi(t.Text); {
		case isToken(t, ":"):
			d.All = true
		case isName(t):
			d.Name = t.Text
		case t.Kind == ast.NumberToken && err == nil && isInteger(t.Text):
			d.Size = size
		default:
			p.fail(CodeUnexpected, p.gap(), "a dimension of a function's parameter is a name, a whole number or "+
				"\":\", found %s", p.found())
			return nil
		}
		p.i++
		dims = append(dims, d)
		if !p.got(",") {
			break
		}
	}
	p.closeBracket("]", open, "shape")
	return dims
}

// bounds parses `in [lo, hi]`.
func (p *parse) bounds() (b bounds) {
	p.next()
	open := p.peek()
	if !p.got("[") {
		d := p.fail(CodeBounds, p.gap(), "bounds are written in [lo, hi]")
		if inner, end := p.parenthesised(); end > 0 {
			d.Fix(p.span(open.Start, end), "["+inner+"]", "write brackets")
		}
		return b
	}
	b.lo = p.expr(0)
	if !p.failed && !p.got(",") {
		p.fail(CodeBounds, p.gap(), "bounds are written in [lo, hi], with a comma between them")
	}
	if !p.failed {
		b.hi = p.expr(0)
	}
	if p.is(",") {
		p.fail(CodeBounds, p.gap(), "there are two bounds, in [lo, hi]; write -inf or inf for an open side")
	}
	p.closeBracket("]", open, "bounds")
	return b
}

// parenthesised returns what stands in the parentheses that open here, and
// where they end, 0 if they do not end on the line.
func (c *cursor) parenthesised() (inner string, end int) {
	depth := 0
	for i := c.i; c.tokens[i].Kind != ast.EOF && (i == c.i || !c.tokens[i].NewLine); i++ {
		t := &c.tokens[i]
		if isToken(t, "(") {
			depth++
		} else if isToken(t, ")") {
			depth--
		}
		if depth == 0 {
			if i == c.i {
				return "", 0
			}
			return c.file.Text()[c.peek().End:t.Start], t.End
		}
	}
	return "", 0
}
