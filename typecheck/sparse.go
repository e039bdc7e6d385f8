package typecheck

import (
	"odes.dev/odes/data"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
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
	width := 1 // length of the longest row
	count := make([]int, n)
	for _, i := range entries.Row {
		count[i]++
		width = max(width, count[i])
	}
	const gain = 4 // a gathered element costs more than one of a dense row
	if !s.large && gain*width > m {
		return nil
	}
	if float64(n)*float64(width) > float64(c.env.MaxElements) {
		c.errorf(CodeSize, e.Span, "a row of this sparse matrix has %d entries, too many for %d rows", width, n)
		return bad(e.Span)
	}
	// The entries row by row. A short row is filled up with zeros, in the column of its last entry.
	values, columns := make([]float64, n*width), make([]float64, n*width)
	clear(count)
	for k, i := range entries.Row {
		values[i*width+count[i]], columns[i*width+count[i]] = entries.Value[k], float64(entries.Col[k]+1)
		count[i]++
	}
	for i := range n {
		last := 1.0
		if count[i] > 0 {
			last = columns[i*width+count[i]-1]
		}
		for k := count[i]; k < width; k++ {
			columns[i*width+k] = last
		}
	}
	row := &model.Index{Name: "row", Lo: 1, Step: 1, Count: n, Span: e.Span}
	entry := &model.Index{Name: "entry", Lo: 1, Step: 1, Count: width, Span: e.Span}
	loop := func(ix *model.Index) model.Expr {
		return model.Seal(&model.LoopVar{Base: model.NewBase(types.Type{Kind: types.Int}, e.Span), Index: ix})
	}
	table := func(kind types.Kind, u units.Unit, d []float64) model.Expr {
		all := model.Seal(&model.Const{Base: model.NewBase(types.Type{
			Kind: kind, Shape: types.Shape{n, width},
			Unit: u,
		}, e.Span), Data: d})
		return model.Seal(&model.Access{
			Base: model.NewBase(types.Type{Kind: kind, Unit: u}, e.Span), X: all,
			Subs: []model.Sub{{At: loop(row)}, {At: loop(entry)}},
		})
	}
	from := []model.Sub{{At: table(types.Int, units.Unit{}, columns)}}
	to := []model.Sub{{At: loop(row)}}
	free := []*model.Index{row}
	shape := types.Shape{n}
	if rest := x.Type().Shape; len(rest) == 2 { // the other axis of a matrix
		k := 1
		if !left {
			k = 0
		}
		other := &model.Index{Name: "column", Lo: 1, Step: 1, Count: rest[k], Span: e.Span}
		free = append(free, other)
		if left {
			from, to, shape = append(from, model.Sub{At: loop(other)}), append(to, model.Sub{At: loop(other)}),
				types.Shape{n, rest[k]}
		} else {
			from, to, shape = append([]model.Sub{{At: loop(other)}}, from...),
				append([]model.Sub{{At: loop(other)}}, to...),
				types.Shape{rest[k], n}
		}
	}
	t := types.Type{Kind: types.Real, Unit: x.Type().Unit}
	term := c.apply(stdlib.Operator("*"), e.Span, table(types.Real, matrix.Type().Unit, values),
		model.Seal(&model.Access{Base: model.NewBase(t, e.Span), X: x, Subs: from}))
	if isBad(term) {
		return term
	}
	t.Unit = term.Type().Unit
	sum := model.Seal(&model.Reduce{
		Base: model.NewBase(t, e.Span), Fn: stdlib.Find("sum", stdlib.Reduction), Indices: []*model.Index{entry},
		Body: term,
	})
	t.Shape = shape
	return model.Seal(&model.Assemble{
		Base:   model.NewBase(t, e.Span),
		Pieces: []model.Piece{{Indices: free, Subs: to, Value: sum, Span: e.Span}},
	})
}
