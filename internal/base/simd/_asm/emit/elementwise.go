package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Operation is an elementwise operation of a few instructions.
type Operation struct {
	Name  string
	Arity int
	Emit  func(f *Body, x []V) V
}

func one(name string, e func(f *Body, a V) V) Operation {
	return Operation{name, 1, func(f *Body, x []V) V { return e(f, x[0]) }}
}

func two(name string, e func(f *Body, a, b V) V) Operation {
	return Operation{name, 2, func(f *Body, x []V) V { return e(f, x[0], x[1]) }}
}

func three(name string, e func(f *Body, a, b, c V) V) Operation {
	return Operation{name, 3, func(f *Body, x []V) V { return e(f, x[0], x[1], x[2]) }}
}

// Operations are those of internal/base/elem that are a few instructions.
var Operations = []Operation{
	one("copy", func(f *Body, a V) V { return a }),
	one("neg", (*Body).Neg),
	one("abs", (*Body).Abs),
	one("sign", (*Body).Sign),
	one("not", func(f *Body, a V) V { return f.Sub(f.Num(1), a) }),
	one("recip", func(f *Body, a V) V { return f.Div(f.Num(1), a) }),
	one("sqrt", (*Body).Sqrt),
	one("sqr", func(f *Body, a V) V { return f.Mul(a, a) }),
	one("cube", func(f *Body, a V) V { return f.Mul(f.Mul(a, a), a) }),
	one("fourth", func(f *Body, a V) V { s := f.Mul(a, a); return f.Mul(s, s) }),
	one("floor", (*Body).Floor),
	one("ceil", (*Body).Ceil),
	one("round", (*Body).Round),
	one("trunc", (*Body).Trunc),
	two("add", (*Body).Add),
	two("sub", (*Body).Sub),
	two("mul", (*Body).Mul),
	two("div", (*Body).Div),
	two("min", (*Body).Min),
	two("max", (*Body).Max),
	two("less", func(f *Body, a, b V) V { return f.Condition(f.Lt(a, b)) }),
	two("lessEq", func(f *Body, a, b V) V { return f.Condition(f.Le(a, b)) }),
	two("equal", func(f *Body, a, b V) V { return f.Condition(f.Eq(a, b)) }),
	two("notEqual", func(f *Body, a, b V) V { return f.Condition(f.Ne(a, b)) }),
	two("and", (*Body).Both),
	two("or", (*Body).Either),
	two("zeroMul", (*Body).ZeroMul),
	three("sel", (*Body).Select),
	three("fma", (*Body).Fma),
}

// Operands names the arguments of an operation.
var Operands = []string{"a", "b", "c"}

// Along applies the operation to n elements: arguments out, a, b, c as far as
// needed, n.
func (op Operation) Along(args Args) {
	out, in := args.Load("out"), pointers(args, Operands[:op.Arity]...)
	n, i := args.Load("n"), GP64()
	zero(i)
	elements(op, out, in, make([]reg.VecVirtual, op.Arity), n, i, "along")
}

// group writes four elements, beginning with element i+4·at. Fixed operands are in registers.
func group(op Operation, out reg.Register, in []reg.Register, fixed []reg.VecVirtual, i reg.Register, at int,
	mask *reg.VecVirtual,
) {
	f := NewBody(nil)
	var x []V
	for k, p := range in {
		if fixed[k] != nil {
			x = append(x, f.Pinned(fixed[k]))
			continue
		}
		r := YMM()
		if m := At(p, i).Offset(32 * at); mask == nil {
			VMOVUPD(m, r)
		} else {
			LoadMasked(m, *mask, r)
		}
		x = append(x, f.Input(r))
	}
	y := f.Emit(op.Emit(f, x))[0]
	if m := At(out, i).Offset(32 * at); mask == nil {
		VMOVUPD(y, m)
	} else {
		StoreMasked(y, *mask, m)
	}
}

// elements writes the elements from i to end and leaves i = end.
func elements(op Operation, out reg.Register, in []reg.Register, fixed []reg.VecVirtual, end, i reg.GPVirtual,
	label string,
) {
	left := GP64()
	MOVQ(end, left)
	SUBQ(i, left)
	SUBQ(Imm(16), left)
	JL(LabelRef(label + "short"))
	Label(label + "sixteen")
	for at := range 4 {
		group(op, out, in, fixed, i, at, nil)
	}
	ADDQ(Imm(16), i)
	SUBQ(Imm(16), left)
	JGE(LabelRef(label + "sixteen"))
	Label(label + "short")
	ADDQ(Imm(12), left)
	JL(LabelRef(label + "end"))
	Label(label + "four")
	group(op, out, in, fixed, i, 0, nil)
	ADDQ(Imm(4), i)
	SUBQ(Imm(4), left)
	JGE(LabelRef(label + "four"))
	Label(label + "end")
	ADDQ(Imm(4), left)
	JZ(LabelRef(label + "done"))
	mask := YMM()
	Mask(left, mask)
	group(op, out, in, fixed, i, 0, &mask)
	ADDQ(left, i)
	Label(label + "done")
}

// AlongRows applies the operation to rows of lanes, where operand k has one
// element for each row if bit k of shared is set: arguments out, a, b, c as far
// as needed, rows, lanes.
func (op Operation) AlongRows(args Args, shared int) {
	out, in := args.Load("out"), pointers(args, Operands[:op.Arity]...)
	rows := args.Load("rows")
	lanes := args.Load("lanes")
	i, row := GP64(), GP64()
	zero(i)
	zero(row)
	broadcast := func() []reg.VecVirtual {
		fixed := make([]reg.VecVirtual, op.Arity)
		for k, p := range in {
			if shared>>k&1 == 1 {
				fixed[k] = YMM()
				Broadcast(At(p, row), fixed[k])
			}
		}
		return fixed
	}
	CMPQ(lanes, Imm(2))
	JE(LabelRef("two"))
	CMPQ(lanes, Imm(8))
	JE(LabelRef("eight"))
	CMPQ(lanes, Imm(4))
	JE(LabelRef("quad"))
	Label("row")
	fixed := broadcast()
	end := GP64()
	LEAQ(Mem{Base: i, Index: lanes, Scale: 1}, end)
	elements(op, out, in, fixed, end, i, "row")
	INCQ(row)
	CMPQ(row, rows)
	JLT(LabelRef("row"))
	JMP(LabelRef("done"))
	for _, l := range []struct {
		label  string
		groups int
	}{{"eight", 2}, {"quad", 1}} {
		Label(l.label)
		fixed := broadcast()
		for at := range l.groups {
			group(op, out, in, fixed, i, at, nil)
		}
		ADDQ(Imm(uint64(4*l.groups)), i)
		INCQ(row)
		CMPQ(row, rows)
		JLT(LabelRef(l.label))
		if l.groups == 2 {
			JMP(LabelRef("done"))
		}
	}
	// Two rows of two lanes are done at a time; a single last row takes the general path.
	JMP(LabelRef("done"))
	Label("two")
	left := GP64()
	MOVQ(rows, left)
	SUBQ(row, left)
	JZ(LabelRef("done"))
	CMPQ(left, Imm(2))
	JL(LabelRef("row"))
	fixed = make([]reg.VecVirtual, op.Arity)
	for k, p := range in {
		if shared>>k&1 == 1 {
			fixed[k] = YMM()
			VBROADCASTF128(At(p, row), fixed[k])
			VPERMILPD(Imm(0b1100), fixed[k], fixed[k])
		}
	}
	group(op, out, in, fixed, i, 0, nil)
	ADDQ(Imm(4), i)
	ADDQ(Imm(2), row)
	JMP(LabelRef("two"))
	Label("done")
}
