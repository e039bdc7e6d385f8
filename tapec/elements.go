package tapec

import "odes.dev/odes/tape"

// Elements is for tangents in which a matrix has one nonzero element. Such a matrix is
// the outer product of two unit vectors. So a product with it,
//
//	(r cᵀ) x = r (c·x)
//
// takes as many operations as the matrix has rows and columns, instead of elements.
// Elements replaces per-lane matrices among the inputs of t by two inputs each, in the
// roles RowSide and ColumnSide. It does so for inputs that want picks and that only
// products with vectors read, and returns their names.
func Elements(t *tape.Tape, want func(input string) bool) (*tape.Tape, []string) {
	var picked []string
	sides := map[tape.Value][2]tape.Value{}
	b := tape.NewBuilderWith(t.Name, 0)
	out := make([]tape.Value, t.Values())
	for i := range t.Inputs {
		in, v := &t.Inputs[i], tape.Value(i)
		if !in.PerLane || len(in.Shape) != 2 || !want(in.Name) || !onlyMultiplied(t, v) {
			out[v] = b.Input(in.Name, in.Shape, in.PerLane)
			continue
		}
		picked = append(picked, in.Name)
		sides[v] = [2]tape.Value{
			b.Input(RowSide.Called(in.Name).String(), in.Shape[:1], true),
			b.Input(ColumnSide.Called(in.Name).String(), in.Shape[1:], true),
		}
	}
	if len(picked) == 0 {
		return t, nil
	}
	for i := range t.Instrs {
		in, v := &t.Instrs[i], tape.Value(len(t.Inputs)+i)
		k := matrixOf(in, sides)
		if k < 0 {
			out[v] = b.Emit(mapped(*in, out))
			continue
		}
		to, along := sides[in.Args[k]][0], sides[in.Args[k]][1]
		if k == 0 && in.Attr.TA || k == 1 && !in.Attr.TB {
			to, along = along, to
		}
		b.SetSpan(in.Span)
		out[v] = b.Mul(to, b.Dot(along, out[in.Args[1-k]]))
	}
	for _, o := range t.Outputs {
		b.Output(o.Name, out[o.Value])
	}
	return b.Tape(), picked
}

// onlyMultiplied reports whether only products with vectors read v.
func onlyMultiplied(t *tape.Tape, v tape.Value) bool {
	for i := range t.Instrs {
		in := &t.Instrs[i]
		for k, a := range in.Args {
			if a == v && (in.Op != tape.MatMul || in.Args[1-k] == v || len(t.Shape(in.Args[1-k])) != 1) {
				return false
			}
		}
	}
	for _, o := range t.Outputs {
		if o.Value == v {
			return false
		}
	}
	return true
}

// matrixOf returns the number of the operand of in that is among sides, or -1.
func matrixOf(in *tape.Instr, sides map[tape.Value][2]tape.Value) int {
	for k, a := range in.Args {
		if _, ok := sides[a]; ok {
			return k
		}
	}
	return -1
}
