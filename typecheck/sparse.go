package typecheck

import (
	"odes.dev/odes/data"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/typecheck/terms"
)

// A sparse matrix, load("A.mtx") of a file of coordinates, is known when the model is compiled. In
// a product A @ x, only its entries count. The product is written with arrays as long as the
// longest row of A, gathered from x. So it needs no node of its own, and has transposes and
// tangents already. In any other place it is an array like others, if it is not too large to be
// one.

// sparse holds the entries of the value of a sparse matrix.
type sparse struct {
	entries *data.Entries
	large   bool // its Const does not hold the elements: it can only be multiplied
}

// sparseMatrix makes the value of a matrix read from a file.
func (c *checker) sparseMatrix(a data.Array, t types.Type, s source.Span) model.Expr {
	large := a.Data == nil
	if large {
		a.Data = []float64{0}
	}
	return c.markSparse(model.Seal(&model.Const{Base: model.NewBase(t, s), Data: a.Data}), &sparse{a.Entries, large})
}

func (c *checker) markSparse(e model.Expr, s *sparse) model.Expr {
	if c.sparse == nil {
		c.sparse = map[model.Expr]*sparse{}
	}
	c.sparse[e] = s
	return e
}

// largeSparse reports whether e has no elements besides its entries.
func (c *checker) largeSparse(e model.Expr) bool {
	s := c.sparse[e]
	return s != nil && s.large
}

// onlyMultiplied reports a large sparse matrix in a place where all elements are needed.
func (c *checker) onlyMultiplied(e ast.Expr, v model.Expr) model.Expr {
	shape := v.Type().Shape
	c.errorf(CodeSize, e.Pos(), "a sparse matrix of %d × %d can only be multiplied: A @ x, x @ A, transpose(A) @ x; "+
		"it is declared with const or let", shape[0], shape[1])
	return bad(e.Pos())
}

// transposed is the transpose of a large sparse matrix.
func (c *checker) transposed(v model.Expr, s source.Span) model.Expr {
	t := v.Type()
	t.Shape = types.Shape{t.Shape[1], t.Shape[0]}
	return c.markSparse(model.Seal(&model.Const{Base: model.NewBase(t, s), Data: []float64{0}}),
		&sparse{c.sparse[v].entries.Transpose(), true})
}

// sparseProduct writes a @ b with the entries of the sparse factor. It returns nil where that saves
// nothing.
func (c *checker) sparseProduct(e *ast.Binary, a, b model.Expr) model.Expr {
	s, x, left := c.sparse[a], b, true
	if s == nil || c.largeSparse(b) && !s.large {
		s, x, left = c.sparse[b], a, false
	}
	if s == nil {
		return nil
	}
	if c.largeSparse(x) {
		c.errorf(CodeSize, e.Span, "the product of two sparse matrices of this size is not written out; multiply "+
			"from the right: A @ (B @ x)")
		return bad(e.Span)
	}
	entries, matrix := s.entries, a
	if !left { // x @ A is transpose(A) @ x
		entries, matrix = s.entries.Transpose(), b
	}
	n, m := matrix.Type().Shape[0], matrix.Type().Shape[1]
	if !left {
		n, m = m, n
	}
	return terms.Product(writer{c}, terms.Sparse{
		Entries: entries, Large: s.large, Unit: matrix.Type().Unit, Rows: n, Columns: m, Left: left,
	}, x, c.env.MaxElements, e.Span, func(width int) model.Expr {
		c.errorf(CodeSize, e.Span, "a row of this sparse matrix has %d entries, too many for %d rows", width, n)
		return bad(e.Span)
	})
}
