package typecheck

import (
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/terms"
)

// The prior lkj(eta) of a square matrix is that of the correlations of a matrix of covariances. It says nothing of its
// standard deviations.

// ofCorrelations reports whether a prior is one.
func (p *prior) ofCorrelations() bool {
	shape := p.sym.Type.Shape
	call, is := strip(p.dist).(*ast.Call)
	if !is || len(shape) != 2 || shape[0] != shape[1] {
		return false
	}
	n, is := strip(call.Fun).(*ast.Name)
	return is && n.Name == "lkj"
}

// correlations returns the number of the prior, and which elements of the matrix are correlated: those that the text
// does not keep at zero. It returns nil after an error.
func correlations(c *checker, p *prior) (eta model.Expr, blocks [][]int) {
	n, ok := c.priorNumbers(p, false)
	if !ok {
		return nil, nil
	}
	eta = n.args["eta"]
	at := p.dist.Pos()
	if len(eta.Type().Shape) > 0 {
		c.errorf(CodeArguments, at, "the prior of the correlations of %q has one number: lkj(2)", p.sym.Name)
		return nil, nil
	}
	var values []float64
	if model.Static(p.sym.Value) {
		values, _ = c.static(p.sym.Value, nil)
	}
	if values == nil {
		c.errorf(CodeArguments, at, "which correlations of %q are zero is not known: lkj takes a matrix of numbers, "+
			"param Omega[2,2] = [[0.1, 0.01], [0.01, 0.1]]", p.sym.Name)
		return nil, nil
	}
	size := p.sym.Type.Shape[0]
	blocks, full := terms.Blocks(values, size)
	if !full {
		c.errorf(CodeArguments, at, "lkj has no density of a matrix with zeros within a block, as %q has; give all "+
			"elements of a block numbers, or write standard deviations and correlations as params of their own",
			p.sym.Name)
		return nil, nil
	}
	return eta, blocks
}
