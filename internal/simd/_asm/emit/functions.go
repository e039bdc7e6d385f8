package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Elementary is an elementary function, with a mask of the lanes that it leaves to the scalar
// function.
type Elementary struct {
	Name  string
	Arity int
	Emit  func(f *Body, x []V) (y, bad V)
}

func unaryFunction(name string, e func(f *Body, a V) (V, V)) Elementary {
	return Elementary{name, 1, func(f *Body, x []V) (V, V) { return e(f, x[0]) }}
}

func binaryFunction(name string, e func(f *Body, a, b V) (V, V)) Elementary {
	return Elementary{name, 2, func(f *Body, x []V) (V, V) { return e(f, x[0], x[1]) }}
}

// Functions are the elementary functions of internal/elem that have a vector form.
var Functions = []Elementary{
	unaryFunction("exp", (*Body).Exp),
	unaryFunction("expm1", (*Body).Expm1),
	unaryFunction("sinh", (*Body).Sinh),
	unaryFunction("cosh", (*Body).Cosh),
	unaryFunction("tanh", (*Body).Tanh),
	unaryFunction("sigmoid", (*Body).Sigmoid),
	unaryFunction("log", (*Body).Log),
	unaryFunction("log1p", (*Body).Log1p),
	unaryFunction("log10", (*Body).Log10),
	unaryFunction("asinh", (*Body).Asinh),
	unaryFunction("acosh", (*Body).Acosh),
	unaryFunction("atanh", (*Body).Atanh),
	unaryFunction("sin", (*Body).Sin),
	unaryFunction("cos", (*Body).Cos),
	unaryFunction("tan", (*Body).Tan),
	unaryFunction("asin", (*Body).Asin),
	unaryFunction("acos", (*Body).Acos),
	unaryFunction("atan", (*Body).Atan),
	unaryFunction("cbrt", (*Body).Cbrt),
	unaryFunction("erf", (*Body).Erf),
	unaryFunction("erfc", (*Body).Erfc),
	unaryFunction("recip2", (*Body).Recip2),
	unaryFunction("recip3", (*Body).Recip3),
	unaryFunction("recip4", (*Body).Recip4),
	binaryFunction("pow", (*Body).Pow),
	binaryFunction("atan2", (*Body).Atan2),
	binaryFunction("hypot", (*Body).Hypot),
	binaryFunction("mod", (*Body).Mod),
}

// Along applies the function to n elements. Its arguments are out, a and b as far as needed, and n;
// operand k is one element if bit k of scalar is set. It returns a register with the number of
// elements done. If not all are done, the group of four after them has a lane outside the main
// path.
func (fn Elementary) Along(args Args, coef Coefficients, scalar int) reg.GPVirtual {
	return fn.along(args, coef, scalar, four)
}

// AlongWide is Along by groups of eight.
func (fn Elementary) AlongWide(args Args, coef Coefficients, scalar int) reg.GPVirtual {
	return fn.along(args, coef, scalar, eight)
}

// along is Along by vectors of a shape.
func (fn Elementary) along(args Args, coef Coefficients, scalar int, is shape) reg.GPVirtual {
	out, in := args.Load("out"), pointers(args, Operands[:fn.Arity]...)
	n := args.Load("n")
	i := GP64()
	zero(i)
	group, wide := is.bytes/8, is.bytes == 64
	var mask reg.VecVirtual
	if !wide {
		mask = YMM()
	}
	x := make([]reg.VecVirtual, fn.Arity)
	for k := range x {
		x[k] = is.reg()
		if scalar>>k&1 == 1 {
			Broadcast(Mem{Base: in[k]}, x[k])
		}
	}
	lanes := reg.Register(mask)
	if wide {
		lanes = wideMask
		all(lanes)
	} else {
		VMOVUPD(Words(1<<64-1), mask)
	}
	load := func(masked bool) {
		for k, p := range in {
			switch m := At(p, i); {
			case scalar>>k&1 == 1:
			case masked:
				is.load(m, mask, x[k])
			default:
				VMOVUPD(m, x[k])
			}
		}
	}
	SUBQ(Imm(uint64(group)), n)
	JL(LabelRef("short"))
	Label("loop")
	load(false)
	Label("compute")
	f := NewBody(coef)
	f.wide = wide
	operands := make([]V, fn.Arity)
	for k := range x {
		if scalar>>k&1 == 1 {
			operands[k] = f.Pinned(x[k])
		} else {
			operands[k] = f.Input(x[k])
		}
	}
	y, bad := fn.Emit(f, operands)
	r := f.within(y, bad, lanes, "done")
	CMPQ(n, Imm(0))
	JL(LabelRef("last"))
	VMOVUPD(r, At(out, i))
	ADDQ(Imm(uint64(group)), i)
	SUBQ(Imm(uint64(group)), n)
	JGE(LabelRef("loop"))
	Label("short")
	ADDQ(Imm(uint64(group)), n)
	JZ(LabelRef("done"))
	is.mask(n, mask)
	SUBQ(Imm(uint64(group)), n)
	load(true)
	JMP(LabelRef("compute"))
	Label("last")
	is.store(r, mask, At(out, i))
	LEAQ(Mem{Base: i, Index: n, Scale: 1, Disp: group}, i)
	Label("done")
	return i
}
