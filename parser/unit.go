package parser

import (
	"fmt"
	"strconv"
	"strings"

	"odes.dev/odes/lang/ast"
)

// maxExponent bounds the numbers of a unit's exponent.
const maxExponent = 99

// unit parses a unit in brackets; the opening bracket is next.
func (p *parse) unit() *ast.Unit {
	open := p.peek()
	if p.is("=") && p.i > 0 && isToken(&p.tokens[p.i-1], ":") {
		at := p.at(&p.tokens[p.i-1]).To(p.at(open))
		p.fail(CodeUnexpected, at, "write = instead of :=").Fix(at, "=", "write =")
	}
	if !p.is("[") && p.itemWord() == "fn" && p.i > 1 && isToken(&p.tokens[p.i-1], ":") &&
		isToken(&p.tokens[p.i-2], ")") {
		at := p.at(&p.tokens[p.i-1])
		p.fail(CodeUnit, at, "the value of a function follows =: fn f(x) = x^2").Fix(at, " =", "write =")
	}
	if !p.got("[") {
		p.fail(CodeUnit, p.gap(), "expected a unit in brackets, found %s", p.found())
		return &ast.Unit{}
	}
	u := p.product(open)
	if !p.failed && !p.got("]") {
		p.unitEnd("]", open)
	}
	u.At = ast.At{Span: p.since(open.Start)}
	if !p.failed && !p.unitDef && numeric(u) {
		p.complain(CodeNumericUnit, u.Span,
			"%s is read as a unit (a bracket right after a number or an array literal always is), and 1 is the "+
				"only number that is a unit; to index an array, give it a name first",
			u.Span.Text())
	}
	return u
}

// numeric reports whether u is made of numbers alone and is not [1].
func numeric(u *ast.Unit) bool {
	one := len(u.Factors) == 1
	for i := range u.Factors {
		f := &u.Factors[i]
		switch {
		case f.Name != "":
			return false
		case f.Group != nil:
			if len(u.Factors) == 1 {
				return numeric(f.Group)
			}
			if !numeric(f.Group) {
				return false
			}
			one = false
		case f.Number.Value != 1:
			one = false
		}
	}
	return !one
}

// product parses factors up to the closing bracket or parenthesis of open.
func (p *parse) product(open *ast.Token) *ast.Unit {
	defer p.leave()
	u := &ast.Unit{}
	if !p.enter() {
		return u
	}
	start := p.peek().Start
	for div := false; ; {
		f, raised := p.factor()
		f.Div = div
		if p.failed {
			return u
		}
		switch {
		case p.is("*"), p.is("/"):
			if raised && f.Den == 1 && p.is("/") && p.ahead(1).Kind == ast.NumberToken {
				p.bare(&f)
			}
			div = p.next().Text == "/"
			u.Factors = append(u.Factors, f)
		default:
			u.Factors = append(u.Factors, f)
			u.At = ast.At{Span: p.since(start)}
			return u
		}
	}
}

// bare marks the factor m^1 of `m^1/2` and warns.
func (p *parse) bare(f *ast.UnitFactor) {
	n := p.ahead(1)
	at := p.span(f.Span.Start, n.End)
	if f.Name == "" || p.failed {
		return
	}
	f.Bare = true
	num := strconv.Itoa(f.Num)
	p.diags.Warnf(CodeBareExponent, at, "%s means (%s^%s)/%s; write %s^(%s/%s) for a rational exponent",
		at.Text(), f.Name, num, n.Text, f.Name, num, n.Text).
		Fix(at, f.Name+"^("+num+"/"+n.Text+")", "write a rational exponent")
}

// factor parses a name, a number or a group, and its exponent if one is raised.
func (p *parse) factor() (f ast.UnitFactor, raised bool) {
	t := p.peek()
	f = ast.UnitFactor{Num: 1, Den: 1}
	switch {
	case t.Kind == ast.IdentToken:
		p.i++
		f.Name = t.Text
	case t.Kind == ast.NumberToken:
		f.Number = p.literal()
	case isToken(t, "("):
		p.i++
		f.Group = p.product(t)
		if !p.failed && !p.got(")") {
			p.unitEnd(")", t)
		}
	default:
		p.noUnit(t)
	}
	if p.failed {
		return f, false
	}
	if power := p.peek(); isToken(power, "^") || isToken(power, "**") {
		raised = true
		p.i++
		if power.Text == "**" {
			p.complain(CodeForeignOperator, p.at(power), "the power operator is ^").Fix(p.at(power), "^", "write ^")
		}
		p.exponent(&f)
	}
	f.At = ast.At{Span: p.since(t.Start)}
	return f, raised
}

func (p *parse) noUnit(t *ast.Token) {
	const rule = "a bracket right after a number or an array literal is always a unit, never an index"
	switch {
	case t.Kind == ast.KeywordToken && !p.atEnd():
		p.fail(CodeUnit, p.at(t), "expected a unit name; \"%s\" is a reserved word", t.Text)
	case isToken(t, "%"):
		p.fail(CodeUnit, p.at(t), "%% is not a unit; write the number as a fraction, or [1]").
			Fix(p.at(t), "1", "write 1")
	default:
		d := p.fail(CodeUnit, p.gap(), "expected a unit name (%s), found %s", rule, p.found())
		if p.i > 0 && isToken(t, "/") && isToken(&p.tokens[p.i-1], "[") {
			d.Message = "something is divided in a unit: write [1/" + p.ahead(1).Text + "]"
			d.Fix(p.span(t.Start, t.Start), "1", "write 1/")
		}
	}
}

// unitEnd reports what stands where the unit should end.
func (p *parse) unitEnd(closing string, open *ast.Token) {
	t := p.peek()
	switch {
	case t.Kind == ast.IdentToken && !t.NewLine && p.tokens[p.i-1].Text == "per":
		p.fail(CodeUnit, p.at(t), "\"per\" is written /: [1/%s]", t.Text).
			Fix(p.span(p.tokens[p.i-1].Start, t.Start), "1/", "write 1/")
	case t.Kind == ast.IdentToken && !t.NewLine:
		p.fail(CodeUnit, p.at(t), "units are joined by * or /; write * before \"%s\"", t.Text).
			Fix(p.span(p.tokens[p.i-1].End, t.Start), "*", "write *")
	case isToken(t, "+"), isToken(t, "-"), isToken(t, ":"), isToken(t, ","), isToken(t, "("):
		p.fail(CodeUnit, p.at(t), "\"%s\" cannot stand in a unit (a bracket right after a number or an array "+
			"literal is always a unit, never an index)", t.Text)
	default:
		p.fail(CodeUnclosed, p.gap(), "expected \"%s\" to close the unit opened at %s", closing, where(p.at(open))).
			Relate(p.at(open), "opened here")
	}
}

// exponent parses -2, or (1/2) with the sign inside.
func (p *parse) exponent(f *ast.UnitFactor) {
	if p.peek().Kind != ast.SignToken || !p.is("(") {
		f.Num = p.signed()
		return
	}
	open := p.next()
	f.Num = p.signed()
	if !p.failed && p.got("/") {
		t := p.peek()
		if f.Den = p.integer(); !p.failed && f.Den == 0 {
			p.fail(CodeUnit, p.at(t), "the exponent divides by zero")
		}
	}
	if !p.failed && !p.got(")") {
		p.unitEnd(")", open)
	}
}

func (p *parse) signed() int {
	if p.got("-") {
		return -p.integer()
	}
	return p.integer()
}

func (p *parse) integer() int {
	t := p.peek()
	n, err := strconv.Atoi(t.Text)
	switch {
	case t.Kind != ast.NumberToken:
		p.fail(CodeUnit, p.gap(), "expected an exponent, an integer or a fraction in parentheses, found %s", p.found())
	case err != nil && !isInteger(t.Text):
		d := p.fail(CodeUnit, p.at(t), "the exponent of a unit is an integer or a fraction in parentheses: "+
			"m^2, Hz^(1/2)")
		if whole, half := strings.CutSuffix(t.Text, ".5"); half {
			if n, err := strconv.Atoi(whole); err == nil && n < maxExponent/2 {
				d.Fix(p.at(t), fmt.Sprintf("(%d/2)", 2*n+1), "write a fraction")
			}
		}
	case err != nil || n > maxExponent:
		p.fail(CodeUnit, p.at(t), "the exponent of a unit is at most %d", maxExponent)
	default:
		p.i++
		return n
	}
	return 1
}

func isInteger(text string) bool {
	for i := range len(text) {
		if !isDigit(text[i]) {
			return false
		}
	}
	return true
}
