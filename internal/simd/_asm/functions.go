package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// function is an elementary function, with a mask of the lanes it leaves to the scalar one.
type function struct {
	name  string
	arity int
	emit  func(f *emit.Body, x []emit.V) (y, bad emit.V)
}

func unary(name string, e func(f body, a val) (val, val)) function {
	return function{name, 1, func(f body, x []val) (val, val) { return e(f, x[0]) }}
}

func binary(name string, e func(f body, a, b val) (val, val)) function {
	return function{name, 2, func(f body, x []val) (val, val) { return e(f, x[0], x[1]) }}
}

var elementary = []function{
	unary("exp", body.Exp),
	unary("expm1", body.Expm1),
	unary("sinh", body.Sinh),
	unary("cosh", body.Cosh),
	unary("tanh", body.Tanh),
	unary("sigmoid", body.Sigmoid),
	unary("log", body.Log),
	unary("log1p", body.Log1p),
	unary("log10", body.Log10),
	unary("asinh", body.Asinh),
	unary("acosh", body.Acosh),
	unary("atanh", body.Atanh),
	unary("sin", body.Sin),
	unary("cos", body.Cos),
	unary("tan", body.Tan),
	unary("asin", body.Asin),
	unary("acos", body.Acos),
	unary("atan", body.Atan),
	unary("cbrt", body.Cbrt),
	binary("pow", body.Pow),
}

// functions writes name(out, a, … *float64, n int) (done int): the elements
// before done are computed, and the group of four that begins there is not,
// because it has a lane outside the main path. done is n if all are.
func functions(coef emit.Coefficients) {
	for _, fn := range elementary {
		alongFunction(fn, coef, 0)
		if fn.arity == 2 {
			alongFunction(fn, coef, 1)
			alongFunction(fn, coef, 2)
		}
	}
}

func alongFunction(fn function, coef emit.Coefficients, scalar int) {
	names := operandNames[:fn.arity]
	kind := ""
	for k := range names {
		kind += string("VS"[scalar>>k&1])
	}
	if scalar == 0 {
		kind = "V"
	}
	TEXT(fn.name+kind, NOSPLIT, fmt.Sprintf("func(out, %s *float64, n int) (done int)", strings.Join(names, ", ")))
	Pragma("noescape")
	out, in := pointers("out")[0], pointers(names...)
	n := Load(Param("n"), GP64()).(reg.GPVirtual)
	i := GP64()
	zero(i)
	mask := YMM()
	x := make([]reg.VecVirtual, fn.arity)
	for k := range x {
		x[k] = YMM()
		if scalar>>k&1 == 1 {
			emit.Broadcast(Mem{Base: in[k]}, x[k])
		}
	}
	load := func(masked bool) {
		for k, p := range in {
			switch m := emit.At(p, i); {
			case scalar>>k&1 == 1:
			case masked:
				emit.LoadMasked(m, mask, x[k])
			default:
				VMOVUPD(m, x[k])
			}
		}
	}
	VMOVUPD(emit.Words(1<<64-1), mask)
	SUBQ(Imm(4), n)
	JL(LabelRef("short"))
	Label("loop")
	load(false)
	Label("compute")
	f := emit.NewBody(coef)
	args := make([]val, fn.arity)
	for k := range x {
		if scalar>>k&1 == 1 {
			args[k] = f.Pinned(x[k])
		} else {
			args[k] = f.Input(x[k])
		}
	}
	y, bad := fn.emit(f, args)
	var r []reg.VecVirtual
	if bad == emit.None {
		r = f.Emit(y)
	} else {
		r = f.Emit(y, bad)
		b := GP64()
		VANDPD(mask, r[1], r[1])
		VMOVMSKPD(r[1], b.As32())
		TESTL(b.As32(), b.As32())
		JNZ(LabelRef("done"))
	}
	CMPQ(n, Imm(0))
	JL(LabelRef("last"))
	VMOVUPD(r[0], emit.At(out, i))
	ADDQ(Imm(4), i)
	SUBQ(Imm(4), n)
	JGE(LabelRef("loop"))
	Label("short")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	emit.Mask(n, mask)
	SUBQ(Imm(4), n)
	load(true)
	JMP(LabelRef("compute"))
	Label("last")
	emit.StoreMasked(r[0], mask, emit.At(out, i))
	LEAQ(Mem{Base: i, Index: n, Scale: 1, Disp: 4}, i)
	Label("done")
	VZEROUPPER()
	Store(i, ReturnIndex(0))
	RET()
}
