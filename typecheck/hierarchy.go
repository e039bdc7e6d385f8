package typecheck

import (
	"math"

	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Numbers of priors: constants, or functions of other params (hierarchical models), for all elements or for each.

// placePrior is where the numbers of priors stand.
var placePrior = &place{name: "a prior", knows: "consts and params", allow: model.UsesParam}

// numbersOf are those of a prior.
type numbersOf struct {
	row    *stdlib.Func
	args   map[string]model.Expr
	varies bool // some are functions of params
	// mass holds the logarithms of the probability within the bounds, of numbers that do not vary: one, or one for each
	// element; nil where the bounds take nothing away.
	mass []float64
	draw model.Draw
}

// priorNumbers elaborates a distribution with all its numbers, and says how values are drawn from it. With fixed, the
// numbers are single constants.
func (c *checker) priorNumbers(p *prior, fixed bool) (n *numbersOf, ok bool) {
	n = &numbersOf{}
	call, row, ok := c.noise(p.dist)
	s := p.dist.Pos()
	if !ok {
		return n, false
	}
	if len(call.Args) != len(row.Args) || row.Name == "poisson" || row.Name == "negbin" {
		c.errorf(CodeArguments, s, "a prior is written with all its numbers: %s", signature(row))
		return n, false
	}
	n.row, n.args = row, map[string]model.Expr{}
	for i := range call.Args {
		a := &call.Args[i]
		key := row.Args[i]
		if a.Key != nil {
			key = a.Key.Name
		}
		var node model.Expr
		if fixed {
			if _, node, ok = c.constant(context{place: placeConst}, a.Value, "the "+key+" of a prior"); !ok {
				return n, false
			}
		} else {
			node = c.expr(context{place: placePrior}, a.Value)
			if isBad(node) || !c.numeric(node, "a prior", node.Span()) {
				return n, false
			}
		}
		if to := row.NumberUnit(key, p.sym.Type.Unit); to.Known() && !bare(node) {
			if node = c.written(to, node, a.Value, s); !node.Type().Unit.Same(to) {
				c.expectUnit("the "+key+" of the prior", node, to, p.sym.Span)
				return n, false
			}
		}
		if !c.fill("the "+key+" of the prior", node, p.sym.Type.Shape, p.sym.Span) {
			return n, false
		}
		n.args[key] = node
		n.varies = n.varies || !model.Static(node)
	}
	for _, name := range row.Args {
		if n.args[name] == nil {
			c.errorf(CodeArguments, s, "a prior is written with all its numbers: %s", signature(row))
			return n, false
		}
	}
	return n, c.drawFrom(p, n)
}

// drawFrom says how values are drawn, and how much bounds leave of the distribution. It reports numbers that the
// distribution cannot have.
func (c *checker) drawFrom(p *prior, n *numbersOf) bool {
	sym, row, size := p.sym, n.row, p.sym.Type.Shape.Size()
	n.draw = model.Draw{
		Target: target.Target{Name: sym.Name, Text: sym.Name}, Dist: row.Name, Lo: math.Inf(-1), Hi: math.Inf(1),
		Unit: sym.Type.Unit, Mass: 1,
	}
	d := &n.draw
	if sym.Kind == model.ParamSymbol && !p.ofCorrelations() { // bounds of a matrix are those of covariances
		d.Lo, d.Hi = sym.Lo, sym.Hi
	}
	each := false
	for _, name := range row.Args {
		each = each || len(n.args[name].Type().Shape) > 0
	}
	if n.varies {
		d.Of = model.ParamsOf(n.args)
		if row.Mass == nil && cuts(row, d) {
			c.errorf(CodeBounds, p.dist.Pos(), "the bounds of %q cut off its prior, and what they leave of %s has no "+
				"derivatives by its numbers; give it numbers that are constants, or leave the bounds out", sym.Name,
				row.Name)
			return false
		}
	}
	if n.varies || each {
		args := make([]model.Expr, len(row.Args))
		for i, name := range row.Args {
			args[i] = n.args[name]
		}
		d.Numbers = func(value func(name string) []float64) [][]float64 { return tabulate.Each(args, size, value) }
	}
	if n.varies {
		return true
	}
	var list [][]float64
	if each {
		list = d.Numbers(nil)
	} else {
		one := make([]float64, len(row.Args))
		for i, name := range row.Args {
			v, ok := c.static(n.args[name], nil)
			if !ok {
				return false
			}
			one[i] = v[0]
		}
		list = [][]float64{one}
	}
	d.Args = list[0]
	cut := false
	for _, args := range list {
		dist, err := sample.NewDist(d.Dist, args, d.Lo, d.Hi)
		if err != nil {
			c.errorf(CodeBounds, p.dist.Pos(), "the distribution of %q: %v", sym.Name, err)
			return false
		}
		n.mass = append(n.mass, elem.Log(dist.Mass()))
		cut = cut || dist.Mass() != 1
		d.Mass = dist.Mass()
	}
	if !cut {
		n.mass = nil
	}
	if each {
		d.Mass = 1
	}
	return true
}

// cuts reports whether the bounds of a param take away something that a distribution without a closed form has.
func cuts(row *stdlib.Func, d *model.Draw) bool {
	lo, hi, _ := sample.Support(row.Name, make([]float64, len(row.Args)))
	return d.Lo > lo || d.Hi < hi
}

// priorTerm returns the negative log density of one param, summed over its elements.
func (c *checker) priorTerm(p *prior) model.Expr {
	s := p.dist.Pos()
	if p.ofCorrelations() {
		return correlations(c, p)
	}
	n, ok := c.priorNumbers(p, false)
	if !ok {
		return bad(s)
	}
	y := model.Seal(&model.Ref{Base: model.NewBase(p.sym.Type, s), Sym: p.sym})
	return c.quietly(func() model.Expr {
		x := context{place: &place{name: "a prior", allow: model.UsesParam}, module: builtin}
		for _, name := range n.row.Args {
			x = x.with(name, n.args[name], s)
		}
		v := model.Supported(c.define(x.with("y", y, s), n.row.Definition()))
		if isBad(v) {
			return v
		}
		if mass := logMass(c, x, n, y.Type().Unit, s); mass != nil {
			v = c.apply(stdlib.Operator("+"), s, v, mass)
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

// logMass returns the logarithm of the probability that the bounds leave, which the density is divided by; nil for one
// of 1. x has the numbers of the distribution.
func logMass(c *checker, x context, n *numbersOf, u units.Unit, s source.Span) model.Expr {
	if !n.varies {
		switch len(n.mass) {
		case 0:
			return nil
		case 1:
			return number(n.mass[0], units.Unit{}, s)
		}
		shape := types.Shape{len(n.mass)}
		for _, name := range n.row.Args {
			if t := n.args[name].Type(); len(t.Shape) > 0 {
				shape = t.Shape
			}
		}
		return model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real, Shape: shape, Unit: units.One}, s), Data: n.mass,
		})
	}
	m := n.row.Mass
	if m == nil {
		return nil
	}
	lo, hi := n.draw.Lo, n.draw.Hi
	below, above := !math.IsInf(lo, -1), !math.IsInf(hi, 1)
	if m.Positive && lo <= 0 {
		below, lo = false, 0
	}
	if m.Positive && hi <= 0 || !below && !above {
		return nil // no bounds; or no value has a density, and within says so
	}
	bound := func(v float64) model.Expr {
		if n.row.Log {
			return number(elem.Log(v), units.Unit{}, s)
		}
		return number(v, u, s)
	}
	if below {
		x = x.with("from", bound(lo), s)
	}
	if above {
		x = x.with("to", bound(hi), s)
	}
	v := c.define(x, m.Definition(n.row.Name, below, above))
	if isBad(v) {
		return v
	}
	return c.apply(stdlib.Operator("neg"), s, v)
}
