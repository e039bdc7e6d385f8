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
	out, in := args.Load("out"), pointers(args, Operands[:fn.Arity]...)
	n := args.Load("n")
	i := GP64()
	zero(i)
	mask := YMM()
	x := make([]reg.VecVirtual, fn.Arity)
	for k := range x {
		x[k] = YMM()
		if scalar>>k&1 == 1 {
			Broadcast(Mem{Base: in[k]}, x[k])
		}
	}
	load := func(masked bool) {
		for k, p := range in {
			switch m := At(p, i); {
			case scalar>>k&1 == 1:
			case masked:
				LoadMasked(m, mask, x[k])
			default:
				VMOVUPD(m, x[k])
			}
		}
	}
	VMOVUPD(Words(1<<64-1), mask)
	SUBQ(Imm(4), n)
	JL(LabelRef("short"))
	Label("loop")
	load(false)
	Label("compute")
	f := NewBody(coef)
	operands := make([]V, fn.Arity)
	for k := range x {
		if scalar>>k&1 == 1 {
			operands[k] = f.Pinned(x[k])
		} else {
			operands[k] = f.Input(x[k])
		}
	}
	y, bad := fn.Emit(f, operands)
	var r []reg.VecVirtual
	if bad == None {
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
	VMOVUPD(r[0], At(out, i))
	ADDQ(Imm(4), i)
	SUBQ(Imm(4), n)
	JGE(LabelRef("loop"))
	Label("short")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	Mask(n, mask)
	SUBQ(Imm(4), n)
	load(true)
	JMP(LabelRef("compute"))
	Label("last")
	StoreMasked(r[0], mask, At(out, i))
	LEAQ(Mem{Base: i, Index: n, Scale: 1, Disp: 4}, i)
	Label("done")
	return i
}
