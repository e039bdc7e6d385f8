package typecheck

import (
	"math"
	"strings"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// prior is the distribution of a param on a linear scale, truncated by the param's bounds.
type prior struct {
	sym  *model.Symbol
	dist ast.Expr
}

// logPrior elaborates log_prior(): a sum over params, which is known without a run.
func (c *checker) logPrior(e *ast.Call) model.Expr {
	if len(e.Args) > 0 || len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "log_prior takes no arguments")
		return bad(e.Span)
	}
	if len(c.priors) == 0 {
		c.errorf(CodeArguments, e.Span, "no param has a prior; write param k = 1 ~ lognormal(0, 1)")
		return bad(e.Span)
	}
	c.reads++
	var total model.Expr
	for i := range c.priors {
		t := c.priorTerm(&c.priors[i])
		if isBad(t) {
			return bad(e.Span)
		}
		if total == nil {
			total = t
		} else {
			total = c.apply(stdlib.Operator("-"), e.Span, total, t)
		}
		if i == 0 {
			total = c.apply(stdlib.Operator("neg"), e.Span, total)
		}
	}
	total = retype(total, types.Type{Kind: types.Real, Unit: units.One})
	c.parts[total] = part{prior: true}
	return total
}

// checkPriors checks the priors, whether or not an objective reads them.
func (c *checker) checkPriors() {
	for i := range c.priors {
		if _, _, d, ok := c.priorArgs(&c.priors[i]); ok {
			c.model.Priors = append(c.model.Priors, d)
		}
	}
}

// drawOf returns how a value of the symbol of p is drawn. It reports arguments that the distribution cannot have.
func (c *checker) drawOf(p *prior, row *stdlib.Func, values map[string]float64) (d model.Draw, ok bool) {
	sym := p.sym
	d = model.Draw{
		Target: target.Target{Name: sym.Name, Text: sym.Name}, Dist: row.Name, Lo: math.Inf(-1), Hi: math.Inf(1),
		Unit: sym.Type.Unit,
	}
	if sym.Kind == model.ParamSymbol {
		d.Lo, d.Hi = sym.Lo, sym.Hi
	}
	for _, name := range row.Args {
		d.Args = append(d.Args, values[name])
	}
	dist, err := sample.NewDist(d.Dist, d.Args, d.Lo, d.Hi)
	if err != nil {
		c.errorf(CodeBounds, p.dist.Pos(), "the distribution of %q: %v", sym.Name, err)
		return d, false
	}
	d.Mass = dist.Mass()
	return d, true
}

// draw checks `k ~ lognormal(0, 1)` in a settings block.
func (c *checker) draw(kind string, k *ast.Setting) (d model.Draw, ok bool) {
	if kind != "ensemble" {
		c.errorf(CodeSettingValue, k.Drawn.Pos(), "values are drawn in the block `ensemble`; write %s = …",
			k.Key.Name)
		return d, false
	}
	v, ok := c.settingValue(k.Drawn)
	if !ok {
		return d, false
	}
	before := c.list.Len()
	c.selected("wrt", "~", v)
	t, ok := target.Parse(strings.Join(strings.Fields(k.Drawn.Pos().Text()), ""))
	if !ok || c.list.Len() > before {
		return d, false
	}
	g := c.globals[t.Name]
	if g == nil || g.sym == nil {
		return d, false
	}
	_, _, d, ok = c.priorArgs(&prior{sym: g.sym, dist: k.Value})
	d.Target = t
	return d, ok
}

// priorArgs elaborates a distribution with all its numbers, and says how values are drawn from it.
func (c *checker) priorArgs(p *prior) (row *stdlib.Func, args map[string]model.Expr, d model.Draw, ok bool) {
	call, row, ok := c.noise(p.dist)
	s := p.dist.Pos()
	if !ok {
		return nil, nil, d, false
	}
	if len(call.Args) != len(row.Args) || row.Name == "poisson" || row.Name == "negbin" {
		c.errorf(CodeArguments, s, "a prior is written with all its numbers: %s", signature(row))
		return nil, nil, d, false
	}
	args = map[string]model.Expr{}
	values := map[string]float64{}
	n := 0
	for i := range call.Args {
		a := &call.Args[i]
		key := row.Args[n]
		if a.Key != nil {
			key = a.Key.Name
		}
		n++
		v, node, ok := c.constant(context{place: placeConst}, a.Value, "the "+key+" of a prior")
		if !ok {
			return nil, nil, d, false
		}
		if to := priorUnit(row, key, p.sym.Type.Unit); to.Known() && !bare(node) {
			if node = c.written(to, node, a.Value, s); !node.Type().Unit.Same(to) {
				c.expectUnit("the "+key+" of the prior", node, to, p.sym.Span)
				return nil, nil, d, false
			}
			list, ok := c.static(node, nil)
			if !ok {
				return nil, nil, d, false
			}
			v = list[0]
		}
		args[key], values[key] = node, v
	}
	for _, name := range row.Args {
		if args[name] == nil {
			c.errorf(CodeArguments, s, "a prior is written with all its numbers: %s", signature(row))
			return nil, nil, d, false
		}
	}
	d, ok = c.drawOf(p, row, values)
	return row, args, d, ok
}

// priorUnit returns the unit of a number of a distribution of a param with unit u.
func priorUnit(row *stdlib.Func, key string, u units.Unit) units.Unit {
	switch key {
	case "lo", "hi":
		return u
	case "lambda":
		return units.One.Div(u)
	case row.Centre, row.Scale:
		if !row.Log {
			return u
		}
	}
	return units.One
}

// within returns v, the negative log density of y, where y is within the bounds of the param, and infinity elsewhere.
func (c *checker) within(p *prior, y, v model.Expr) model.Expr {
	s := p.dist.Pos()
	bound := func(x float64) model.Expr { return number(x, y.Type().Unit, s) }
	keep := func(x model.Expr, op string, y model.Expr) {
		cond := c.elementwise(stdlib.Operator(op), s, types.Bool, x, y)
		els := number(math.Inf(1), units.One, s)
		shape, _ := c.broadcastShape("if", s, cond, v, els)
		t := types.Type{Kind: types.Real, Shape: shape, Unit: v.Type().Unit}
		v = model.Seal(&model.If{Base: model.NewBase(t, s), Cond: cond, Then: v, Else: els})
	}
	if !math.IsInf(p.sym.Lo, -1) {
		keep(bound(p.sym.Lo), "<=", y)
	}
	if !math.IsInf(p.sym.Hi, 1) {
		keep(y, "<=", bound(p.sym.Hi))
	}
	return v
}

// priorTerm returns the negative log density of one param, summed over its elements.
func (c *checker) priorTerm(p *prior) model.Expr {
	s := p.dist.Pos()
	row, args, d, ok := c.priorArgs(p)
	if !ok {
		return bad(s)
	}
	y := model.Seal(&model.Ref{Base: model.NewBase(p.sym.Type, s), Sym: p.sym})
	return c.quietly(func() model.Expr {
		x := context{place: &place{name: "a prior", allow: model.UsesParam}, module: builtin}
		for _, name := range row.Args {
			x = x.with(name, args[name], s)
		}
		v := c.define(x.with("y", y, s), row.Definition())
		if isBad(v) {
			return v
		}
		if d.Mass != 1 {
			v = c.apply(stdlib.Operator("+"), s, v, number(elem.Log(d.Mass), units.Unit{}, s))
		}
		v = c.within(p, y, v)
		switch {
		case len(v.Type().Shape) > 0:
			return c.reduction(s, stdlib.Find("sum", stdlib.Reduction), v)
		case p.sym.Type.Shape.Size() > 1: // a density that does not depend on the value
			return c.apply(stdlib.Operator("*"), s, v, number(float64(p.sym.Type.Shape.Size()), units.Unit{}, s))
		}
		return v
	})
}
