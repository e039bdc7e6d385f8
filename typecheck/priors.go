package typecheck

import (
	"math"
	"strings"

	"odes.dev/odes/lang/target"

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
	draw model.Draw // of the correlations of a matrix, once it is checked
}

// logPrior elaborates log_prior(): a sum over params, which is known without a run.
func (c *checker) logPrior(e *ast.Call) model.Expr {
	if len(e.Args) > 0 || len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "log_prior takes no arguments")
		return bad(e.Span)
	}
	switch {
	case len(c.priors) > 0:
	case c.variant != nil && len(c.randoms) > 0: // the distribution of random effects is in nll()
		return number(0, units.One, e.Span)
	default:
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
		if c.priors[i].ofCorrelations() {
			correlations(c, &c.priors[i])
			c.model.Matrices = append(c.model.Matrices, c.priors[i].draw)
			continue
		}
		if n, ok := c.priorNumbers(&c.priors[i], false); ok {
			c.model.Priors = append(c.model.Priors, n.draw)
		}
	}
	name := model.Circle(c.model.Priors)
	for i := range c.priors {
		if p := &c.priors[i]; p.sym.Name == name {
			c.errorf(CodeArguments, p.dist.Pos(), "the prior of %q depends on the value of %q itself, or in a circle "+
				"on that of others; a prior reads params whose own priors do not read it", name, name)
		}
	}
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
	n, ok := c.priorNumbers(&prior{sym: g.sym, dist: k.Value}, true)
	n.draw.Target = t
	return n.draw, ok
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
		v = model.Seal(&model.If{Base: model.NewBase(t, s), Cond: cond, Then: v, Else: els, Support: true})
	}
	if !math.IsInf(p.sym.Lo, -1) {
		keep(bound(p.sym.Lo), "<=", y)
	}
	if !math.IsInf(p.sym.Hi, 1) {
		keep(y, "<=", bound(p.sym.Hi))
	}
	return v
}
