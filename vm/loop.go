package vm

import (
	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// loop runs elementwise instructions over arrays of one size, strip by strip.
type loop struct {
	n     int // elements, all lanes
	strip int // elements of a strip, a multiple of the lanes
	lanes int
	once  []micro
	body  []micro
}

// micro is one instruction of a loop's body.
type micro struct {
	op      tape.Op // Broadcast fills dst from the view
	arity   int8
	power   int
	dst     operand
	a, b, c operand
	shared  simd.Shared // operands with one element for each row of lanes, or with one only
	rows    bool        // the shared operands have one element for each row
	from    reader      // source of a fill
}

// reader lays out the elements of a view.
type reader interface {
	// read writes the elements from first on, for all lanes, to dst.
	read(dst, src []float64, first int)
	// direct returns where in src the n numbers from element first on stand. The result ok is false
	// if they do not stand side by side.
	direct(first, n int) (at int, ok bool)
}

// operand is an array that an instruction of a loop works on. If it moves, strip s has its elements
// from off+s on; otherwise every strip has the first ones.
type operand struct {
	reg   int
	off   int
	moves bool
}

func (m *Machine) at(o operand, s, n int) []float64 {
	x := m.regs[o.reg]
	if o.moves {
		s += o.off
		return x[s : s+n]
	}
	return x[:n]
}

// part returns the elements of operand o of u for a strip. Shared operands are not repeated.
func (l *loop) part(m *Machine, u *micro, which simd.Shared, o operand, s, n int) []float64 {
	switch {
	case u.shared&which == 0:
		return m.at(o, s, n)
	case u.rows:
		return m.at(o, s/l.lanes, n/l.lanes)
	default:
		return m.regs[o.reg][o.off : o.off+1]
	}
}

func (l *loop) run(m *Machine) {
	for i := range l.once {
		l.fill(m, &l.once[i], 0, min(l.strip, l.n))
	}
	fast := m.p.fast
	for s := 0; s < l.n; s += l.strip {
		n := min(l.strip, l.n-s)
		for i := range l.body {
			u := &l.body[i]
			switch {
			case u.arity == 0:
				l.fill(m, u, s, n)
			case fast:
				l.fast(m, u, s, n)
			case u.arity == 1:
				kernel.Map1(u.op, u.power, m.at(u.dst, s, n), m.at(u.a, s, n))
			case u.arity == 2:
				kernel.Map2(u.op, m.at(u.dst, s, n), m.at(u.a, s, n), m.at(u.b, s, n))
			default:
				kernel.Map3(u.op, m.at(u.dst, s, n), m.at(u.a, s, n), m.at(u.b, s, n), m.at(u.c, s, n))
			}
		}
	}
}

// fast runs u on elements s to s+n-1 by the kernels of package simd.
func (l *loop) fast(m *Machine, u *micro, s, n int) {
	d, a := m.at(u.dst, s, n), l.part(m, u, simd.SharedA, u.a, s, n)
	lanes := n
	if u.rows {
		lanes = l.lanes
	}
	switch {
	case u.op == tape.Powi:
		simd.Powi(d, a, u.power)
	case u.arity == 1:
		simd.Unary(simdOps[u.op], d, a)
	case u.arity == 2:
		b := l.part(m, u, simd.SharedB, u.b, s, n)
		if u.shared == 0 {
			simd.Binary(simdOps[u.op], d, a, b)
		} else {
			simd.BinaryRows(simdOps[u.op], u.shared, d, a, b, lanes)
		}
	default:
		b, c := l.part(m, u, simd.SharedB, u.b, s, n), l.part(m, u, simd.SharedC, u.c, s, n)
		if u.shared == 0 {
			simd.Ternary(simdOps[u.op], d, a, b, c)
		} else {
			simd.TernaryRows(simdOps[u.op], u.shared, d, a, b, c, lanes)
		}
	}
}

// fill lays out the elements of a view for a strip.
func (l *loop) fill(m *Machine, u *micro, s, n int) {
	u.from.read(m.at(u.dst, s, n), m.regs[u.a.reg][u.a.off:], s/l.lanes)
}

// simdOps holds the elementwise operations but Powi.
var simdOps = [256]simd.Op{
	tape.Neg: simd.Neg, tape.Abs: simd.Abs, tape.Sign: simd.Sign, tape.Not: simd.Not,
	tape.Recip: simd.Recip, tape.Sqrt: simd.Sqrt, tape.Cbrt: simd.Cbrt, tape.Sqr: simd.Sqr,
	tape.Exp: simd.Exp, tape.Expm1: simd.Expm1, tape.Log: simd.Log, tape.Log1p: simd.Log1p, tape.Log10: simd.Log10,
	tape.Sin: simd.Sin, tape.Cos: simd.Cos, tape.Tan: simd.Tan, tape.Asin: simd.Asin, tape.Acos: simd.Acos,
	tape.Atan: simd.Atan,
	tape.Sinh: simd.Sinh, tape.Cosh: simd.Cosh, tape.Tanh: simd.Tanh,
	tape.Asinh: simd.Asinh, tape.Acosh: simd.Acosh, tape.Atanh: simd.Atanh,
	tape.Erf: simd.Erf, tape.Erfc: simd.Erfc, tape.Lgamma: simd.Lgamma,
	tape.Digamma: simd.Digamma, tape.Trigamma: simd.Trigamma, tape.Tetragamma: simd.Tetragamma,
	tape.Floor: simd.Floor, tape.Ceil: simd.Ceil, tape.Round: simd.Round, tape.Trunc: simd.Trunc,
	tape.Sigmoid: simd.Sigmoid,
	tape.Add:     simd.Add, tape.Sub: simd.Sub, tape.Mul: simd.Mul, tape.Div: simd.Div,
	tape.Pow: simd.Pow, tape.Atan2: simd.Atan2, tape.Hypot: simd.Hypot, tape.Mod: simd.Mod,
	tape.Min: simd.Min, tape.Max: simd.Max,
	tape.Less: simd.Less, tape.LessEq: simd.LessEq, tape.Equal: simd.Equal, tape.NotEqual: simd.NotEqual,
	tape.And: simd.And, tape.Or: simd.Or, tape.ZeroMul: simd.ZeroMul,
	tape.Select: simd.Select, tape.FMA: simd.FMA,
}
