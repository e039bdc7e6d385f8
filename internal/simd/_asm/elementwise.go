package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// operation is an elementwise operation of a few instructions.
type operation struct {
	name  string
	arity int
	emit  func(f *emit.Body, x []emit.V) emit.V
}

type (
	body = *emit.Body
	val  = emit.V
)

func one(name string, e func(f body, a val) val) operation {
	return operation{name, 1, func(f body, x []val) val { return e(f, x[0]) }}
}

func two(name string, e func(f body, a, b val) val) operation {
	return operation{name, 2, func(f body, x []val) val { return e(f, x[0], x[1]) }}
}

func three(name string, e func(f body, a, b, c val) val) operation {
	return operation{name, 3, func(f body, x []val) val { return e(f, x[0], x[1], x[2]) }}
}

var operations = []operation{
	one("copy", func(f body, a val) val { return a }),
	one("neg", body.Neg),
	one("abs", body.Abs),
	one("sign", body.Sign),
	one("not", func(f body, a val) val { return f.Sub(f.Num(1), a) }),
	one("recip", func(f body, a val) val { return f.Div(f.Num(1), a) }),
	one("sqrt", body.Sqrt),
	one("sqr", func(f body, a val) val { return f.Mul(a, a) }),
	one("cube", func(f body, a val) val { return f.Mul(f.Mul(a, a), a) }),
	one("fourth", func(f body, a val) val { s := f.Mul(a, a); return f.Mul(s, s) }),
	one("floor", body.Floor),
	one("ceil", body.Ceil),
	one("round", body.Round),
	one("trunc", body.Trunc),
	two("add", body.Add),
	two("sub", body.Sub),
	two("mul", body.Mul),
	two("div", body.Div),
	two("min", body.Min),
	two("max", body.Max),
	two("less", func(f body, a, b val) val { return f.Condition(f.Lt(a, b)) }),
	two("lessEq", func(f body, a, b val) val { return f.Condition(f.Le(a, b)) }),
	two("equal", func(f body, a, b val) val { return f.Condition(f.Eq(a, b)) }),
	two("notEqual", func(f body, a, b val) val { return f.Condition(f.Ne(a, b)) }),
	two("and", body.Both),
	two("or", body.Either),
	two("zeroMul", body.ZeroMul),
	three("sel", body.Select),
	three("fma", body.Fma),
}

var operandNames = []string{"a", "b", "c"}

// elementwise writes each operation for operands that have an element for each
// of the result, and for shared ones that have one element for a row of lanes.
func elementwise() {
	for _, op := range operations {
		alongVectors(op)
		for shared := 1; shared < 1<<op.arity; shared++ {
			if shared == 1<<op.arity-1 && op.name != "copy" {
				continue // nothing is left to be done for each lane
			}
			alongRows(op, shared)
		}
	}
}

func pointers(names ...string) []reg.Register {
	out := make([]reg.Register, len(names))
	for i, name := range names {
		out[i] = Load(Param(name), GP64())
	}
	return out
}

func zero(r reg.GPVirtual) { XORL(r.As32(), r.As32()) }

// alongVectors writes name(out, a, b, … *float64, n int).
func alongVectors(op operation) {
	names := operandNames[:op.arity]
	TEXT(op.name+"V", NOSPLIT, fmt.Sprintf("func(out, %s *float64, n int)", strings.Join(names, ", ")))
	Pragma("noescape")
	out, in := pointers("out")[0], pointers(names...)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	i := GP64()
	zero(i)
	elements(op, out, in, make([]reg.VecVirtual, op.arity), n, i, op.name+"V")
	VZEROUPPER()
	RET()
}

// group writes four elements from i+4·at on; fixed operands stand in registers.
func group(op operation, out reg.Register, in []reg.Register, fixed []reg.VecVirtual, i reg.Register, at int, mask *reg.VecVirtual) {
	f := emit.NewBody(nil)
	var x []val
	for k, p := range in {
		if fixed[k] != nil {
			x = append(x, f.Pinned(fixed[k]))
			continue
		}
		r := YMM()
		if m := emit.At(p, i).Offset(32 * at); mask == nil {
			VMOVUPD(m, r)
		} else {
			emit.LoadMasked(m, *mask, r)
		}
		x = append(x, f.Input(r))
	}
	y := f.Emit(op.emit(f, x))[0]
	if m := emit.At(out, i).Offset(32 * at); mask == nil {
		VMOVUPD(y, m)
	} else {
		emit.StoreMasked(y, *mask, m)
	}
}

// elements writes the elements from i to end and leaves i = end.
func elements(op operation, out reg.Register, in []reg.Register, fixed []reg.VecVirtual, end, i reg.GPVirtual, label string) {
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
	emit.Mask(left, mask)
	group(op, out, in, fixed, i, 0, &mask)
	ADDQ(left, i)
	Label(label + "done")
}

// alongRows writes name(out, a, b, … *float64, rows, lanes int): the shared
// operands have one element for each row.
func alongRows(op operation, shared int) {
	names := operandNames[:op.arity]
	kind := ""
	for k := range names {
		kind += string("VS"[shared>>k&1])
	}
	name := op.name + kind
	TEXT(name, NOSPLIT, fmt.Sprintf("func(out, %s *float64, rows, lanes int)", strings.Join(names, ", ")))
	Pragma("noescape")
	out, in := pointers("out")[0], pointers(names...)
	rows := Load(Param("rows"), GP64()).(reg.GPVirtual)
	lanes := Load(Param("lanes"), GP64()).(reg.GPVirtual)
	i, row := GP64(), GP64()
	zero(i)
	zero(row)
	broadcast := func() []reg.VecVirtual {
		fixed := make([]reg.VecVirtual, op.arity)
		for k, p := range in {
			if shared>>k&1 == 1 {
				fixed[k] = YMM()
				emit.Broadcast(emit.At(p, row), fixed[k])
			}
		}
		return fixed
	}
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
	Label("done")
	VZEROUPPER()
	RET()
}
