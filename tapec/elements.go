package tapec

import "odes.dev/odes/tape"

// Elements is for tangents that move one element of a matrix at a time. It replaces each per-lane matrix
// among the inputs of t that want picks, and that only products with vectors read, by two vectors of which
// it is the outer product: the inputs "row.<input>" and "column.<input>", so that
//
//	(r cᵀ) x = r (c·x)
//
// costs the sum of its sides instead of their product. It returns the names of the inputs that it replaced.
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

// onlyMultiplied reports whether products with vectors are all that reads v.
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

// matrixOf returns which operand of in is among sides, -1 for none.
func matrixOf(in *tape.Instr, sides map[tape.Value][2]tape.Value) int {
	for k, a := range in.Args {
		if _, ok := sides[a]; ok {
			return k
		}
	}
	return -1
}
