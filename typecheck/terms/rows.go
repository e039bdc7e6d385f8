package terms

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// Gather makes the numbers of row i those of vectors of n numbers, which are zero where nothing was gathered.
func Gather(vectors, row []model.Expr, i, n int, s source.Span) []model.Expr {
	for k, e := range row {
		if k == len(vectors) {
			t := e.Type()
			t.Shape = types.Shape{n}
			zeros := &model.Stack{Base: model.NewBase(t, s)}
			for range n {
				zeros.Elems = append(zeros.Elems, Number(0, e.Type().Unit, s))
			}
			vectors = append(vectors, zeros)
		}
		v := vectors[k].(*model.Stack)
		v.Elems[i] = e
	}
	return vectors
}

// Each returns a functional of as many elements as there are rows: the values of e in those that a numbered table has,
// and zeros.
func Each(e model.Expr, table *model.Table, times model.Expr, rows int, s source.Span) model.Expr {
	t := types.Type{Kind: types.Real, Shape: types.Shape{rows}, Unit: e.Type().Unit}
	return model.Seal(&model.Functional{
		Base: model.NewBase(t, s), Kind: model.SumAt, Body: e, Times: times,
		Table: table, ByRow: true,
	})
}
