package parser

import (
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/policy"
)

// Binding powers, low to high.
const (
	bindOr = 1 + iota
	bindAnd
	bindNot
	bindCompare
	bindAdd
	bindMul
	bindSign
	bindPow
)

var binary = map[string]struct {
	op   ast.Op
	bind int
}{
	"or": {ast.Or, bindOr}, "and": {ast.And, bindAnd},
	"<": {ast.Less, bindCompare}, "<=": {ast.LessEq, bindCompare}, ">": {ast.Greater, bindCompare},
	">=": {ast.GreaterEq, bindCompare}, "==": {ast.Equal, bindCompare}, "!=": {ast.NotEqual, bindCompare},
	"crosses": {ast.Crosses, bindCompare},
	"+":       {ast.Add, bindAdd}, "-": {ast.Sub_, bindAdd},
	"*": {ast.Mul, bindMul}, "/": {ast.Div, bindMul}, "@": {ast.MatMul, bindMul},
	"^": {ast.Pow, bindPow},

	"||": {ast.Or, bindOr}, "|": {ast.Or, bindOr}, "&&": {ast.And, bindAnd}, "&": {ast.And, bindAnd},
	"**": {ast.Pow, bindPow},
}

// foreign names the operators that another language spells differently.
var foreign = map[string]struct{ write, message string }{
	"**": {"^", "the power operator is ^"},
	"&&": {"and", "there is no such operator; write `and`"},
	"&":  {"and", "there is no such operator; write `and`"},
	"||": {"or", "there is no such operator; write `or`"},
	"|":  {"or", "there is no such operator; write `or`"},
}

func (p *parse) bad() ast.Expr { return &ast.BadExpr{At: ast.At{Span: p.gap()}} }

// enter counts a level of nesting and reports whether it is allowed.
func (p *parse) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.fail(CodeDepth, p.at(p.peek()), "nested more than %d levels deep; name the parts with let", maxDepth)
		return false
	}
	return !p.failed
}

func (p *parse) leave() { p.depth-- }

// expr parses an expression whose operators bind at least as tightly as bind.
func (p *parse) expr(bind int) ast.Expr {
	defer p.leave()
	if !p.enter() {
		return p.bad()
	}
	start := p.peek().Start
	x := p.prefix()
	for n := 0; !p.failed; n++ {
		t := p.peek()
		if t.Kind != ast.SignToken && t.Kind != ast.KeywordToken {
			break
		}
		if t.Text == "'" && t.Kind == ast.SignToken {
			p.prime(x)
			continue
		}
		entry, ok := binary[t.Text]
		if !ok || entry.bind < bind {
			break
		}
		if n == maxChain {
			p.fail(CodeDepth, p.at(t), "more than %d operators in a row; name parts of the expression with "+
				"let", maxChain)
			break
		}
		p.i++
		if f, ok := foreign[t.Text]; ok {
			p.complain(CodeForeignOperator, p.at(t), "%s", f.message).Fix(p.at(t), f.write, "write "+f.write)
		}
		right := entry.bind + 1
		if entry.op == ast.Pow {
			right = entry.bind
		}
		y := p.expr(right)
		if u, ok := y.(*ast.BadExpr); ok && p.failed {
			return u
		}
		way := ""
		if w := p.peek(); entry.op == ast.Crosses && w.Kind == ast.IdentToken && (w.Text == "up" || w.Text == "down") {
			way = p.next().Text
		}
		x = &ast.Binary{At: ast.At{Span: p.since(start)}, Op: entry.op, OpAt: p.at(t), X: x, Y: y, Way: way}
		if entry.bind == bindCompare && bind <= bindCompare {
			p.unchained(x.(*ast.Binary))
		}
	}
	if p.failed {
		return p.bad()
	}
	return x
}

// unchained reports a comparison that follows the comparison x.
func (p *parse) unchained(x *ast.Binary) {
	t := p.peek()
	entry, ok := binary[t.Text]
	if !ok || entry.bind != bindCompare || t.Kind != ast.SignToken && t.Kind != ast.KeywordToken {
		return
	}
	p.fail(CodeChained, p.at(t), "comparisons do not chain; write a < b and b < c").
		Fix(p.span(t.Start, t.Start), "and "+x.Y.Pos().Text()+" ", "repeat the middle term")
}

// prime reports a ' behind an operand and steps over it.
func (p *parse) prime(x ast.Expr) {
	t := p.next()
	d := p.complain(CodePrime, p.at(t), "' is the time derivative and stands only on the left of an equation; "+
		"transpose with transpose(A), and name a derivative with let to use it")
	if isToken(p.peek(), "*") || isToken(p.peek(), "@") {
		d.Fix(x.Pos().To(p.at(t)), "transpose("+x.Pos().Text()+")", "write transpose(...)")
	}
}

// prefix parses an operand with the signs before it.
func (p *parse) prefix() ast.Expr {
	t := p.peek()
	op, bind := ast.Neg, bindSign
	switch {
	case isToken(t, "-"):
	case isToken(t, "+"):
		op = ast.Plus
	case isToken(t, "not"):
		op, bind = ast.Not, bindNot
	case isToken(t, "!"):
		p.complain(CodeForeignOperator, p.at(t), "write `not`").Fix(p.at(t), "not ", "write not")
		op, bind = ast.Not, bindNot
	case isToken(t, "if"):
		return p.condition()
	default:
		return p.postfix(p.atom())
	}
	p.i++
	x := p.expr(bind)
	if p.failed {
		return x
	}
	return &ast.Unary{At: ast.At{Span: p.since(t.Start)}, Op: op, X: x}
}

// condition parses if … then … elseif … then … else ….
func (p *parse) condition() ast.Expr {
	first := p.next()
	n := &ast.If{}
	for word := first; ; {
		n.Conds = append(n.Conds, p.expr(0))
		if p.failed {
			return p.bad()
		}
		if !p.got("then") {
			if !p.commonMistake() {
				p.fail(CodeUnexpected, p.gap(), "expected \"then\" after the condition of \"%s\", found %s",
					word.Text, p.found()).
					Relate(p.at(word), "the condition starts here")
			}
			return p.bad()
		}
		n.Thens = append(n.Thens, p.expr(0))
		if p.failed {
			return p.bad()
		}
		if !p.is("elseif") {
			break
		}
		if word = p.next(); len(n.Conds) == maxChain {
			p.fail(CodeDepth, p.at(word), "more than %d branches; look values up in a table instead", maxChain)
			return p.bad()
		}
	}
	if !p.got("else") {
		if !p.commonMistake() {
			p.fail(CodeMissingElse, p.gap(), "expected \"else\" (an if-expression always needs else)").
				Relate(p.at(first), "the if starts here")
		}
		return p.bad()
	}
	n.Else = p.expr(0)
	n.At = ast.At{Span: p.since(first.Start)}
	return n
}

func (p *parse) atom() ast.Expr {
	t := p.peek()
	switch {
	case t.Kind == ast.NumberToken:
		return p.number()
	case t.Kind == ast.StringToken:
		return p.str()
	case isName(t):
		p.i++
		return &ast.Name{Ident: p.ident(t)}
	case isToken(t, "("):
		p.i++
		x := p.expr(0)
		if !p.closeBracket(")", t, "parenthesis") {
			return p.bad()
		}
		return &ast.Paren{At: ast.At{Span: p.since(t.Start)}, X: x}
	case isToken(t, "["):
		return p.array()
	}
	p.site().answer(noOperands)
	if !p.failed { // reported as a reserved word
		p.i++
		return &ast.Name{Ident: p.ident(t)}
	}
	return p.bad()
}

// array parses [a, b], [x = a, y = b], [e for i in 1:n] and the unit behind it.
func (p *parse) array() ast.Expr {
	open := p.next()
	a := &ast.Array{}
	for !p.failed && !p.is("]") {
		x := p.arg()
		if x.Key != nil {
			a.Elems = append(a.Elems, &ast.Entry{At: x.At, Key: *x.Key, Value: x.Value})
		} else {
			a.Elems = append(a.Elems, x.Value)
		}
		if len(a.Elems) == 1 && x.Key == nil && p.is("for") {
			a.For = p.binders()
			break
		}
		if !p.got(",") {
			break
		}
	}
	if !p.closeBracket("]", open, "array") {
		return p.bad()
	}
	if t := p.peek(); isToken(t, "[") && !t.NewLine {
		a.Unit = p.unit()
	}
	a.At = ast.At{Span: p.since(open.Start)}
	return a
}

// postfix parses the calls, subscripts, members and unit conversions behind x.
func (p *parse) postfix(x ast.Expr) ast.Expr {
	start := x.Pos().Start
	for n := 0; !p.failed; n++ {
		t := p.peek()
		if n == maxDepth {
			p.fail(CodeDepth, p.at(t), "more than %d brackets in a row", maxDepth)
		}
		switch {
		case isToken(t, "(") && !t.NewLine:
			x = p.call(x)
		case isToken(t, "[") && !t.NewLine:
			p.i++
			subs := p.subs(t)
			x = &ast.Index{At: ast.At{Span: p.since(start)}, X: x, Subs: subs}
		case isToken(t, "."):
			switch x.(type) {
			case *ast.Name, *ast.Member, *ast.Index:
			default:
				if n, ok := x.(*ast.Number); ok && (strings.HasSuffix(n.Text, ".") || isToken(p.ahead(1), ".")) {
					p.fail(CodeUnexpected, p.at(t), "a range is written with a colon, 1:n, and the time span with to: "+
						"from 0 to 10")
					return p.bad()
				}
				p.fail(CodeUnexpected, p.at(t),
					"\".\" follows the name of a table, a module or a component only: D.column")
				return p.bad()
			}
			p.i++
			name := p.next()
			if !isName(name) && name.Kind != ast.KeywordToken {
				p.i--
				p.fail(CodeUnexpected, p.gap(), "expected a name after \".\", found %s", p.found())
				break
			}
			x = &ast.Member{At: ast.At{Span: p.since(start)}, X: x, Name: p.ident(name)}
		case isToken(t, "as") && isToken(p.ahead(1), "["):
			p.i++
			u := p.unit()
			x = &ast.As{At: ast.At{Span: p.since(start)}, X: x, Unit: u}
		default:
			return x
		}
	}
	return p.bad()
}

// call parses the arguments of f.
func (p *parse) call(f ast.Expr) ast.Expr {
	open := p.next()
	switch f.(type) {
	case *ast.Name, *ast.Member:
	default:
		p.fail(CodeMissingOperator, p.at(open), "missing operator before the parenthesis; only a name can be called").
			Fix(p.span(open.Start, open.Start), "*", "multiply")
		return p.bad()
	}
	c := &ast.Call{Fun: f}
	for !p.failed && !p.is(")") {
		c.Args = append(c.Args, p.arg())
		if len(c.Args) == 1 && c.Args[0].Key == nil && p.is("for") {
			c.For = p.binders()
			break
		}
		if !p.got(",") {
			break
		}
		if p.is(")") {
			p.fail(CodeMissingExpr, p.at(p.peek()), "an argument is missing after the comma")
		}
	}
	if !p.closeBracket(")", open, "call") {
		return p.bad()
	}
	c.At = ast.At{Span: p.since(f.Pos().Start)}
	return c
}

func (p *parse) arg() ast.Arg {
	t := p.peek()
	a := ast.Arg{}
	if (isName(t) || t.Kind == ast.KeywordToken) && isToken(p.ahead(1), "=") {
		key := p.ident(t)
		a.Key = &key
		p.i += 2
	}
	a.Value = p.expr(0)
	a.At = ast.At{Span: p.since(t.Start)}
	return a
}

// subs parses the subscripts behind the consumed bracket open, with their closing bracket.
func (p *parse) subs(open *ast.Token) []*ast.Sub {
	p.index++
	defer func() { p.index-- }()
	var subs []*ast.Sub
	for !p.failed {
		subs = append(subs, p.sub())
		if !p.got(",") {
			break
		}
	}
	p.closeBracket("]", open, "index")
	return subs
}

func (p *parse) sub() *ast.Sub {
	start := p.peek().Start
	s := &ast.Sub{}
	if p.is(":") {
		p.i++
		s.All = true
	} else {
		s.Lo, s.Step, s.Hi = p.rangeOf(p.expr(bindAdd))
	}
	s.At = ast.At{Span: p.since(start)}
	return s
}

// rangeOf parses what may follow lo: `:hi` or `:step:hi`.
func (p *parse) rangeOf(lo ast.Expr) (_, step, hi ast.Expr) {
	if p.failed || !p.got(":") {
		return lo, nil, nil
	}
	hi = p.expr(bindAdd)
	if !p.failed && p.got(":") {
		step, hi = hi, p.expr(bindAdd)
	}
	return lo, step, hi
}

// binders parses `for i in 1:n, j in 1:m`.
func (p *parse) binders() []ast.Binder {
	p.next()
	var list []ast.Binder
	for !p.failed {
		start := p.peek().Start
		name, ok := p.name()
		if !ok {
			break
		}
		b := ast.Binder{Name: name}
		if !p.got("in") {
			d := p.fail(CodeRange, p.gap(), "expected \"in\" after the loop index: for %s in 1:n", name.Name)
			if p.is("=") {
				d.Fix(p.at(p.peek()), "in", "write in")
			}
			break
		}
		lo := p.expr(bindAdd)
		b.Lo, b.Step, b.Hi = p.rangeOf(lo)
		if !p.failed && b.Hi == nil {
			p.noRange(name.Name, lo)
			break
		}
		b.At = ast.At{Span: p.since(start)}
		list = append(list, b)
		if p.startsOption() && policy.Find(p.ahead(1).Text) != nil || !p.got(",") {
			break
		}
	}
	return list
}

// noRange reports a loop over something other than a range, such as n, or range(n) and seq(1, n) of other languages.
func (p *parse) noRange(name string, lo ast.Expr) {
	at, hi := lo.Pos(), lo.Pos().Text()
	if call, ok := lo.(*ast.Call); ok && len(call.Args) > 0 {
		switch call.Fun.Pos().Text() {
		case "range", "seq", "seq_len", "eachindex", "xrange":
			from, to := "1", call.Args[0].Value.Pos().Text()
			if len(call.Args) > 1 {
				from, to = to, call.Args[1].Value.Pos().Text()
			}
			p.fail(CodeRange, at, "a loop runs over a range lo:hi, both included; write for %s in %s:%s", name,
				from, to).Fix(at, from+":"+to, "write a range")
			return
		}
	}
	p.fail(CodeRange, at, "a loop runs over a range lo:hi; write for %s in 1:%s", name, hi).
		Fix(p.span(at.Start, at.Start), "1:", "start at 1")
}
