package typecheck

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/terms"
)

// ofCorrelations reports whether a prior, lkj(eta), is that of the correlations of a matrix.
func (p *prior) ofCorrelations() bool {
	call, is := strip(p.dist).(*ast.Call)
	return is && isName(call.Fun, "lkj") && len(p.sym.Type.Shape) == 2 && p.sym.Type.Shape[0] == p.sym.Type.Shape[1]
}

// correlations returns the negative logarithm of the prior of those of a matrix, which knows which of them are zero.
func correlations(c *checker, p *prior) model.Expr {
	n, ok := c.priorNumbers(p, false)
	if !ok {
		return bad(p.dist.Pos())
	}
	wrong, values := "", []float64(nil)
	if model.Static(p.sym.Value) {
		values, _ = c.static(p.sym.Value, nil)
	}
	v := c.quietly(func() (e model.Expr) {
		e, n.draw.Blocks, wrong = terms.Correlations(writer{c}, p.dist.Pos(), p.sym, n.args["eta"], values)
		return e
	})
	if wrong != "" {
		c.errorf(CodeArguments, p.dist.Pos(), "%s", wrong)
	}
	p.draw = n.draw
	return v
}
