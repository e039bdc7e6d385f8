package typecheck

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/terms"
)

// ofCorrelations reports whether a prior, lkj(eta), is that of the correlations of a matrix.
func (p *prior) ofCorrelations() bool {
	call, is := strip(p.dist).(*ast.Call)
	shape := p.sym.Type.Shape
	return is && isName(call.Fun, "lkj") && len(shape) == 2 && shape[0] == shape[1]
}

// matrixPrior checks the prior of the correlations of a matrix.
func (c *checker) matrixPrior(p *prior) {
	if isBad(correlations(c, p)) {
		return
	}
	if n, ok := c.priorNumbers(p, false); ok {
		values, _ := c.static(p.sym.Value, nil)
		n.draw.Blocks, _ = terms.Blocks(values, p.sym.Type.Shape[0])
		c.model.Matrices = append(c.model.Matrices, n.draw)
	}
}

// correlations returns the negative logarithm of the prior of those of a matrix, which knows which of them are zero.
func correlations(c *checker, p *prior) model.Expr {
	at := p.dist.Pos()
	n, ok := c.priorNumbers(p, false)
	if !ok {
		return bad(at)
	}
	var values []float64
	if model.Static(p.sym.Value) {
		values, _ = c.static(p.sym.Value, nil)
	}
	wrong := ""
	v := c.quietly(func() (e model.Expr) {
		e, wrong = terms.Correlations(writer{c}, at, p.sym, n.args["eta"], values)
		return e
	})
	if wrong != "" {
		c.errorf(CodeArguments, at, "%s", wrong)
	}
	return v
}
