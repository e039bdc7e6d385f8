package typecheck

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/tabulate"
)

// checkAlgebraic checks the algebraic equations: their right-hand sides are numbers, and there are as many as unknowns.
// Which of them determines which unknown is left to the compiler, since it takes all elements.
func (c *checker) checkAlgebraic() {
	unknowns, given := 0, 0
	var first *entity
	for _, e := range c.order {
		if e.kind != algName {
			continue
		}
		if e.sym == nil {
			return // it was reported
		}
		if first == nil {
			first = e
		}
		unknowns += e.sym.Type.Shape.Size()
	}
	for _, it := range c.algebraic {
		x, indices, ok := c.binders(context{place: placeRun}, it.For)
		if !ok {
			return
		}
		v := c.expr(x, it.Value)
		if isBad(v) || !c.numeric(v, "0 =", v.Span()) {
			return
		}
		if model.Depends(v)&model.UsesState == 0 {
			c.errorf(CodeTarget, v.Span(), "an algebraic equation is about an unknown, and this reads no `alg` and "+
				"no state")
			return
		}
		if given += v.Type().Shape.Size() * tabulate.Counts(indices); empty(indices) {
			continue
		}
		if len(indices) > 0 {
			if v = c.assembleOver(it.Span, indices, v); isBad(v) {
				return
			}
		}
		c.model.Residuals = append(c.model.Residuals, &model.Residual{Value: v, Span: it.Span})
	}
	c.initialOfStates()
	if unknowns == given || c.unparsed {
		return
	}
	text := plural(given, "algebraic equation", "algebraic equations") + " (`0 = …`) for " +
		plural(unknowns, "unknown", "unknowns") + " (`alg`); there must be as many"
	switch {
	case first != nil:
		c.errorf(CodeNoEquation, first.span, "%s", text)
	case len(c.algebraic) > 0:
		c.errorf(CodeNoEquation, c.algebraic[0].Span, "%s", text)
	}
}

// initialOfStates reports initial values that read an unknown: what that is follows from them.
func (c *checker) initialOfStates() {
	for _, s := range slices.Concat(c.model.States, c.model.Discretes) {
		if s.Kind == model.AlgSymbol || s.Value == nil {
			continue
		}
		model.Walk(func(e model.Expr) bool {
			r, ok := e.(*model.Ref)
			if ok && r.Sym.Kind == model.AlgSymbol {
				c.errorf(CodePlace, r.Span(), "the initial value of %q reads the alg %q, which follows from the "+
					"initial "+
					"values; write it with params and states", s.Name, r.Sym.Name).Relate(r.Sym.Span, "declared here")
				return false
			}
			return true
		}, s.Value)
	}
}
