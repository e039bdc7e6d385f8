package terms

import (
	"odes.dev/odes/data"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Sparse is the sparse factor of a product.
type Sparse struct {
	Entries       *data.Entries // of the matrix, or of its transpose where it stands on the right
	Large         bool          // it has no elements besides its entries
	Unit          units.Unit
	Rows, Columns int
	Left          bool // it is the left factor
}

// Product writes the product of a sparse matrix and x with the entries of the matrix, or calls tooMany where these
// have no room in most elements. It returns nil where that saves nothing.
func Product(c Checker, s Sparse, x model.Expr, most int, at source.Span,
	tooMany func(width int) model.Expr,
) model.Expr {
	n, m := s.Rows, s.Columns
	width := 1 // length of the longest row
	count := make([]int, n)
	for _, i := range s.Entries.Row {
		count[i]++
		width = max(width, count[i])
	}
	const gain = 4 // a gathered element costs more than one of a dense row
	if !s.Large && gain*width > m {
		return nil
	}
	if float64(n)*float64(width) > float64(most) {
		return tooMany(width)
	}
	// The entries row by row. A short row is filled up with zeros, in the column of its last entry.
	values, columns := make([]float64, n*width), make([]float64, n*width)
	clear(count)
	for k, i := range s.Entries.Row {
		values[i*width+count[i]], columns[i*width+count[i]] = s.Entries.Value[k], float64(s.Entries.Col[k]+1)
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
	row := &model.Index{Name: "row", Lo: 1, Step: 1, Count: n, Span: at}
	entry := &model.Index{Name: "entry", Lo: 1, Step: 1, Count: width, Span: at}
	table := func(kind types.Kind, u units.Unit, d []float64) model.Expr {
		all := model.Seal(&model.Const{Base: model.NewBase(types.Type{
			Kind: kind, Shape: types.Shape{n, width},
			Unit: u,
		}, at), Data: d})
		return model.Seal(&model.Access{
			Base: model.NewBase(types.Type{Kind: kind, Unit: u}, at), X: all,
			Subs: []model.Sub{{At: LoopVar(row, at)}, {At: LoopVar(entry, at)}},
		})
	}
	from := []model.Sub{{At: table(types.Int, units.Unit{}, columns)}}
	to := []model.Sub{{At: LoopVar(row, at)}}
	free := []*model.Index{row}
	shape := types.Shape{n}
	if rest := x.Type().Shape; len(rest) == 2 { // the other axis of a matrix
		k := 1
		if !s.Left {
			k = 0
		}
		other := &model.Index{Name: "column", Lo: 1, Step: 1, Count: rest[k], Span: at}
		free = append(free, other)
		if s.Left {
			from, to = append(from, model.Sub{At: LoopVar(other, at)}), append(to, model.Sub{At: LoopVar(other, at)})
			shape = types.Shape{n, rest[k]}
		} else {
			from, to, shape = append([]model.Sub{{At: LoopVar(other, at)}}, from...),
				append([]model.Sub{{At: LoopVar(other, at)}}, to...),
				types.Shape{rest[k], n}
		}
	}
	t := types.Type{Kind: types.Real, Unit: x.Type().Unit}
	term := c.Apply(stdlib.Operator("*"), at, table(types.Real, s.Unit, values),
		model.Seal(&model.Access{Base: model.NewBase(t, at), X: x, Subs: from}))
	if IsBad(term) {
		return term
	}
	t.Unit = term.Type().Unit
	sum := model.Seal(&model.Reduce{
		Base: model.NewBase(t, at), Fn: stdlib.Find("sum", stdlib.Reduction), Indices: []*model.Index{entry},
		Body: term,
	})
	t.Shape = shape
	return model.Seal(&model.Assemble{
		Base:   model.NewBase(t, at),
		Pieces: []model.Piece{{Indices: free, Subs: to, Value: sum, Span: at}},
	})
}
