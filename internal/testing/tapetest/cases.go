// Package tapetest makes tapes for tests: some for every op of the table, and random
// ones. It serves the tests of packages that transform or run tapes, and must know
// none of these packages.
package tapetest

import (
	"fmt"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/tape"
)

// Case is a tape whose last instruction is of an op. At the inputs the op is
// differentiable, if it is anywhere. The only output is "out".
type Case struct {
	Op     tape.Op
	Name   string
	Tape   *tape.Tape
	Inputs map[string][]float64
}

// arguments lists six arguments for each domain. The op is differentiable there.
var arguments = map[tape.Domain][]float64{
	tape.Everywhere:    {-2.6, -1.3, -0.4, 0.7, 1.9, 3.2},
	tape.NonZero:       {-2.6, -1.3, -0.4, 0.7, 1.9, 3.2},
	tape.Positive:      {0.05, 0.3, 0.9, 1.7, 2.5, 8},
	tape.AboveMinusOne: {-0.7, -0.2, 1e-9, 0.4, 2, 30},
	tape.AboveOne:      {1.01, 1.5, 2, 3, 20, 100},
	tape.WithinOne:     {-0.95, -0.5, -0.1, 0.2, 0.6, 0.9},
}

// structures are the tapes of the ops that are not elementwise.
var structures = []struct {
	op         tape.Op
	name, text string
}{
	{tape.Const, "fill", "tape c\n in x [3]\n %1 = const 2.5 : [3]\n out out %1"},
	{tape.Const, "data", "tape c\n in x [3]\n %1 = const {1 2*2} : [3]\n out out %1"},
	{tape.Slice, "vector", "tape c\n in x [7]\n %1 = slice x start=[1] step=[2] : [3]\n out out %1"},
	{tape.Slice, "matrix", "tape c\n in x [4 5]\n %1 = slice x start=[1 0] step=[2 3] : [2 2]\n out out %1"},
	{tape.Pad, "vector", "tape c\n in x [3]\n %1 = pad x start=[1] step=[2] : [7]\n out out %1"},
	{tape.Pad, "matrix", "tape c\n in x [2 2]\n %1 = pad x start=[1 0] : [4 3]\n out out %1"},
	{tape.Reshape, "fold", "tape c\n in x [6]\n %1 = reshape x : [2 3]\n out out %1"},
	{tape.Reshape, "scalar", "tape c\n in x [1 1]\n %1 = reshape x\n out out %1"},
	{tape.Transpose, "matrix", "tape c\n in x [2 3]\n %1 = transpose x perm=[1 0] : [3 2]\n out out %1"},
	{tape.Transpose, "cube", "tape c\n in x [2 3 4]\n %1 = transpose x perm=[2 0 1] : [4 2 3]\n out out %1"},
	{tape.Broadcast, "scalar", "tape c\n in x\n %1 = broadcast x : [2 3]\n out out %1"},
	{tape.Broadcast, "column", "tape c\n in x [2 1]\n %1 = broadcast x : [2 3]\n out out %1"},
	{tape.Concat, "vector", "tape c\n in x [2]\n in y [3]\n %2 = concat x y x axis=0 : [7]\n out out %2"},
	{tape.Concat, "matrix", "tape c\n in x [2 2]\n in y [2 3]\n %2 = concat x y axis=1 : [2 5]\n out out %2"},
	{tape.Take, "vector", "tape c\n in x [4]\n %1 = take x axis=0 index=[3 0 3 1] : [4]\n out out %1"},
	{tape.Take, "matrix", "tape c\n in x [2 4]\n %1 = take x axis=1 index=[2 2 0] : [2 3]\n out out %1"},
	{tape.Put, "vector", "tape c\n in x [4]\n %1 = put x axis=0 index=[3 0 3 1] : [5]\n out out %1"},
	{tape.Put, "matrix", "tape c\n in x [3 2]\n %1 = put x axis=0 index=[1 1 0] : [2 2]\n out out %1"},
	{tape.SumAxes, "all", "tape c\n in x [3 7]\n %1 = sum x axes=[0 1]\n out out %1"},
	{tape.SumAxes, "rows", "tape c\n in x [3 4]\n %1 = sum x axes=[1] : [3]\n out out %1"},
	{tape.SumAxes, "middle", "tape c\n in x [2 3 2]\n %1 = sum x axes=[1] : [2 2]\n out out %1"},
	{tape.ProdAxes, "vector", "tape c\n in x [5]\n %1 = prod x axes=[0]\n out out %1"},
	{tape.ProdAxes, "columns", "tape c\n in x [3 2]\n %1 = prod x axes=[0] : [2]\n out out %1"},
	{tape.ProdAxes, "single", "tape c\n in x [1 2]\n %1 = prod x axes=[0] : [2]\n out out %1"},
	{tape.MaxAxes, "all", "tape c\n in x [2 3]\n %1 = maxof x axes=[0 1]\n out out %1"},
	{tape.MaxAxes, "rows", "tape c\n in x [2 3]\n %1 = maxof x axes=[1] : [2]\n out out %1"},
	{tape.MinAxes, "vector", "tape c\n in x [4]\n %1 = minof x axes=[0]\n out out %1"},
	{tape.MinAxes, "columns", "tape c\n in x [2 3]\n %1 = minof x axes=[0] : [3]\n out out %1"},
	{tape.MatMul, "matrix", "tape c\n in x [2 3]\n in y [3 4]\n %2 = matmul x y : [2 4]\n out out %2"},
	{tape.MatMul, "ta", "tape c\n in x [3 2]\n in y [3 4]\n %2 = matmul x y ta : [2 4]\n out out %2"},
	{tape.MatMul, "tb", "tape c\n in x [2 3]\n in y [4 3]\n %2 = matmul x y tb : [2 4]\n out out %2"},
	{tape.MatMul, "tatb", "tape c\n in x [3 2]\n in y [4 3]\n %2 = matmul x y ta tb : [2 4]\n out out %2"},
	{tape.MatMul, "matvec", "tape c\n in x [2 3]\n in y [3]\n %2 = matmul x y : [2]\n out out %2"},
	{tape.MatMul, "matvec-ta", "tape c\n in x [3 2]\n in y [3]\n %2 = matmul x y ta : [2]\n out out %2"},
	{tape.MatMul, "vecmat", "tape c\n in x [3]\n in y [3 2]\n %2 = matmul x y : [2]\n out out %2"},
	{tape.MatMul, "vecmat-tb", "tape c\n in x [3]\n in y [2 3]\n %2 = matmul x y tb : [2]\n out out %2"},
	{tape.Dot, "vectors", "tape c\n in x [11]\n in y [11]\n %2 = dot x y\n out out %2"},
	{tape.Find, "scalar", "tape c\n in x [5]\n in y\n %2 = find x y\n out out %2"},
	{tape.Find, "matrix", "tape c\n in x [2]\n in y [2 3]\n %2 = find x y : [2 3]\n out out %2"},
	{tape.Pick, "scalar", "tape c\n in x [5]\n in y\n %2 = pick x y\n out out %2"},
	{tape.Pick, "matrix", "tape c\n in x [1]\n in y [2 3]\n %2 = pick x y : [2 3]\n out out %2"},
	{tape.Drop, "scalar", "tape c\n in x\n in y\n %2 = drop x y : [5]\n out out %2"},
	{tape.Drop, "matrix", "tape c\n in x [2 3]\n in y [2 3]\n %2 = drop x y : [2]\n out out %2"},
	{tape.Outer, "vectors", "tape c\n in x [2]\n in y [3]\n %2 = outer x y : [2 3]\n out out %2"},
}

// Cases returns tapes for every op.
func Cases() []Case {
	var out []Case
	for _, op := range tape.Ops() {
		if op.Row().Elementwise() {
			out = append(out, elementwise(op)...)
		}
	}
	for _, s := range structures {
		t, err := tape.Parse(s.text)
		if err != nil {
			panic(fmt.Sprintf("tapetest: %v %s: %v", s.op, s.name, err))
		}
		out = append(out, Case{Op: s.op, Name: s.op.String() + "/" + s.name, Tape: t, Inputs: Fill(t, 1)})
	}
	return out
}

// Fill returns distinct numbers in (-2, 2) for every input of t.
func Fill(t *tape.Tape, seed uint64) map[string][]float64 {
	r := elem.NewRand(seed)
	out := map[string][]float64{}
	for _, in := range t.Inputs {
		x := make([]float64, in.Shape.Size())
		for i := range x {
			x[i] = float64(4*r.Float64()) - 2
		}
		out[in.Name] = x
	}
	return out
}

// elementwise returns the cases of an elementwise op: some with operands of one shape,
// and one for every kind of stretching.
func elementwise(op tape.Op) []Case {
	one := func(name string, attr tape.Attr, args ...operand) Case {
		b := tape.NewBuilderWith("c", 0)
		in := tape.Instr{Op: op, Attr: attr}
		inputs := map[string][]float64{}
		for k, a := range args {
			n := string(rune('x' + k))
			in.Args = append(in.Args, b.Input(n, a.shape, false))
			inputs[n] = a.data[:a.shape.Size()]
		}
		b.Output("out", b.Emit(in))
		return Case{Op: op, Name: op.String() + "/" + name, Tape: b.Tape(), Inputs: inputs}
	}
	vector, matrix, row, column := tape.Shape{6}, tape.Shape{2, 3}, tape.Shape{1, 3}, tape.Shape{2, 1}
	on := op.Row().On
	x := arguments[on[0]]
	y, z := []float64{1.1, 0.6, -0.8, 2.2, -1.7, 0.25}, []float64{0.3, -1.9, 2.4, 0.9, -0.2, 1.6}
	for k, list := range []*[]float64{&y, &z} {
		if on[k+1] > tape.NonZero {
			*list = arguments[on[k+1]]
		}
	}
	switch op.Row().Arity {
	case 1:
		if op == tape.Powi {
			var out []Case
			for _, n := range []int{-3, -1, 0, 1, 2, 3, 5, 12} {
				out = append(out, one(fmt.Sprint("n=", n), tape.Attr{Power: n}, operand{vector, x}))
			}
			return out
		}
		return []Case{one("vector", tape.Attr{}, operand{vector, x}), one("scalar", tape.Attr{}, operand{nil, x[1:]})}
	case 2:
		switch op {
		case tape.And, tape.Or:
			x, y = []float64{0, 0, 1, 1, 0, 1}, []float64{0, 1, 0, 1, 1, 1}
		case tape.Equal, tape.NotEqual:
			y = []float64{-2.6, 1, 1, 0.7, 1, 1}
		}
		return []Case{
			one("vectors", tape.Attr{}, operand{vector, x}, operand{vector, y}),
			one("scalar-vector", tape.Attr{}, operand{nil, x[3:]}, operand{vector, y}),
			one("vector-scalar", tape.Attr{}, operand{vector, x}, operand{nil, y}),
			one("matrix-row", tape.Attr{}, operand{matrix, x}, operand{row, y}),
			one("column-row", tape.Attr{}, operand{column, x[3:]}, operand{row, y}),
			one("scalar-matrix", tape.Attr{}, operand{nil, x[4:]}, operand{matrix, y}),
		}
	default:
		if op == tape.Select {
			x = []float64{0, 1, 0, 1, 1, 0}
		}
		return []Case{
			one("vectors", tape.Attr{}, operand{vector, x}, operand{vector, y}, operand{vector, z}),
			one("scalar-first", tape.Attr{}, operand{nil, x[1:]}, operand{vector, y}, operand{vector, z}),
			one("scalar-others", tape.Attr{}, operand{matrix, x}, operand{nil, y}, operand{row, z}),
			one("scalar-last", tape.Attr{}, operand{column, x}, operand{row, y}, operand{nil, z}),
		}
	}
}

type operand struct {
	shape tape.Shape
	data  []float64
}
