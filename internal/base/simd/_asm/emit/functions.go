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
	// Abreast is how many vectors of four are computed side by side, where there are as many; 0 for one by one.
	Abreast int
}

func unaryFunction(name string, e func(f *Body, a V) (V, V)) Elementary {
	return Elementary{Name: name, Arity: 1, Emit: func(f *Body, x []V) (V, V) { return e(f, x[0]) }}
}

// abreast is the function with n vectors side by side.
func (fn Elementary) abreast(n int) Elementary {
	fn.Abreast = n
	return fn
}

func binaryFunction(name string, e func(f *Body, a, b V) (V, V)) Elementary {
	return Elementary{Name: name, Arity: 2, Emit: func(f *Body, x []V) (V, V) { return e(f, x[0], x[1]) }}
}

// Functions are the elementary functions of package elem that have a vector form. How many vectors are best side by
// side was measured; functions that need more registers, or gain little, go one by one.
var Functions = []Elementary{
	unaryFunction("exp", (*Body).Exp).abreast(4),
	unaryFunction("expm1", (*Body).Expm1).abreast(2),
	unaryFunction("sinh", (*Body).Sinh),
	unaryFunction("cosh", (*Body).Cosh),
	unaryFunction("tanh", (*Body).Tanh).abreast(4),
	unaryFunction("sigmoid", (*Body).Sigmoid).abreast(3),
	unaryFunction("log", (*Body).Log),
	unaryFunction("log1p", (*Body).Log1p),
	unaryFunction("log10", (*Body).Log10),
	unaryFunction("asinh", (*Body).Asinh),
	unaryFunction("acosh", (*Body).Acosh),
	unaryFunction("atanh", (*Body).Atanh),
	unaryFunction("sin", (*Body).Sin).abreast(2),
	unaryFunction("cos", (*Body).Cos).abreast(2),
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

// several applies the function to some vectors of four at a time, from element i on, while there are as many and their
// lanes are on the main path.
func (fn Elementary) several(out reg.Register, in []reg.Register, n, i reg.GPVirtual, coef Coefficients) {
	vectors := fn.Abreast
	elements := Imm(uint64(4 * vectors))
	SUBQ(elements, n)
	JL(LabelRef("few"))
	Label("several")
	f := NewBody(coef)
	f.again = true
	ys, outside := make([]V, vectors, vectors+1), None
	for k := range vectors {
		x := make([]V, len(in))
		for j, p := range in {
			x[j] = f.Memory(At(p, i).Offset(32 * k))
		}
		y, bad := fn.Emit(f, x)
		ys[k] = y
		strand := []V{y}
		if bad != None {
			strand = append(strand, bad)
			if outside == None {
				outside = bad
			} else {
				outside = f.Or(outside, bad)
			}
		}
		f.strands = append(f.strands, strand)
	}
	if outside == None {
		f.write(ys...)
	} else {
		f.write(append(ys, outside)...)
		any := GP64()
		VMOVMSKPD(f.load(outside), any.As32())
		TESTL(any.As32(), any.As32())
		JNZ(LabelRef("few"))
	}
	for k, y := range ys {
		VMOVUPD(f.load(y), At(out, i).Offset(32*k))
	}
	ADDQ(elements, i)
	SUBQ(elements, n)
	JGE(LabelRef("several"))
	Label("few")
	ADDQ(elements, n)
	JZ(LabelRef("done"))
}

// along is Along by vectors of a shape.
func (fn Elementary) along(args Args, coef Coefficients, scalar int, is shape) reg.GPVirtual {
	out, in := args.Load("out"), pointers(args, Operands[:fn.Arity]...)
	n := args.Load("n")
	i := GP64()
	zero(i)
	group, wide := is.bytes/8, is.bytes == 64
	if !wide && scalar == 0 && fn.Abreast > 0 {
		fn.several(out, in, n, i, coef)
	}
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
