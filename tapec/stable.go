package tapec

import (
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// Quotients of exponentials and powers are bounded where their parts are too large for numbers: 1/(1 + exp(1000)) is 0,
// and its derivative is 0 as well, though the rule of the quotient has 0 · ∞. stable writes them in forms without
// overflow:
//
//   - 1/(1 + exp(z)) and what is a multiple of it, and the quotient that is tanh(z), by these functions;
//   - other a/(c + d·exp(z)), and what no longer changes for large arguments, as exp(-exp(z)), with z no larger than
//     ample: beyond, the quotient is below 1e-260 of a;
//   - quotients, logarithms and negative powers of sums and products that have exponentials above as well, and of high
//     powers, in a scale of their own: a value is m·exp(s), where s is 0 as long as the numbers are of moderate size.
//
// In the last, the choice of s is constant for derivatives, which holds exactly: the value is the same for any s.
const (
	ample    = 600 // exp(ample) is 4e260
	moderate = 128 // exponents up to which no scale is needed
)

// steep is the exponent above which a power is high.
const steep = 8

// stabilizer rewrites a tape.
type stabilizer struct {
	t       *tape.Tape
	b       *tape.Builder
	at      []tape.Value // of the values of t in b
	high    func(in *tape.Instr) bool
	named   bool   // only what is a function that has a name is rewritten
	grow    []bool // may be too large for a number though a quotient of it is not
	linear  []bool // of those that grow: sums of multiples of exponentials
	bounded []bool // a quotient of what grows
	scales  map[tape.Value]scaledValue
	clamped map[tape.Value]tape.Value
	changed bool
}

// scaledValue is m·exp(s).
type scaledValue struct {
	m, s tape.Value
	one  bool // s is 0
}

// stable returns t without overflow in quotients. The Plain of what is rewritten has functions by name, but no scales.
// The function high tells which powers may be too large for numbers.
func stable(t *tape.Tape, high func(in *tape.Instr) bool) *tape.Tape {
	rewritten := stabilized(t, high, false)
	if rewritten != t {
		rewritten.Plain = stabilized(t, high, true)
	}
	return rewritten
}

func stabilized(t *tape.Tape, high func(in *tape.Instr) bool, named bool) *tape.Tape {
	st := &stabilizer{
		t: t, high: high, named: named, grow: make([]bool, t.Values()), linear: make([]bool, t.Values()),
		bounded: make([]bool, t.Values()), scales: map[tape.Value]scaledValue{}, clamped: map[tape.Value]tape.Value{},
	}
	if !st.look() {
		return t
	}
	st.b = tape.NewBuilder(t.Name)
	st.at = make([]tape.Value, t.Values())
	copy(st.at, st.b.Inputs(t.Inputs))
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		in := t.Instrs[i]
		st.b.SetSpan(in.Span)
		if x, ok := st.rewrite(v, &in); ok {
			st.at[v], st.changed = st.stretched(x, in.Shape), true
			continue
		}
		args := make([]tape.Value, len(in.Args))
		for k, a := range in.Args {
			args[k] = st.at[a]
		}
		in.Args = args
		st.at[v] = st.b.Emit(in)
	}
	if !st.changed {
		return t
	}
	for _, o := range t.Outputs {
		st.b.Output(o.Name, st.at[o.Value])
	}
	return st.b.Needed()
}

func (st *stabilizer) stretched(x tape.Value, shape tape.Shape) tape.Value {
	if st.b.Shape(x).Equal(shape) {
		return x
	}
	return st.b.Broadcast(x, shape)
}

// look notes what grows, and reports whether anything does that has a quotient.
func (st *stabilizer) look() (some bool) {
	for i := range st.t.Instrs {
		v := tape.Value(len(st.t.Inputs) + i)
		in := &st.t.Instrs[i]
		any, lin, quotient := false, true, false
		for _, a := range in.Args {
			any = any || st.grow[a]
			lin = lin && (!st.grow[a] || st.linear[a])
			quotient = quotient || st.bounded[a]
		}
		grows := func(k int) bool { return st.grow[in.Args[k]] }
		switch in.Op {
		case tape.Exp, tape.Sinh, tape.Cosh:
			some = some || any
			st.grow[v], st.linear[v] = true, true
		case tape.Pow, tape.Powi:
			high := st.high(in)
			st.grow[v] = any || high
			some = some || any
		case tape.Add, tape.Sub, tape.Neg, tape.Broadcast, tape.Reshape:
			st.grow[v], st.linear[v], st.bounded[v] = any, any && lin, quotient
		case tape.Mul:
			st.grow[v], st.bounded[v] = any, quotient
			st.linear[v] = any && lin && !(grows(0) && grows(1))
			some = some || any && quotient
		case tape.Sqr, tape.Sqrt:
			st.grow[v], st.bounded[v] = any, quotient
		case tape.Div, tape.Recip:
			st.grow[v] = any
			if st.bounded[v] = quotient || grows(len(in.Args)-1); st.bounded[v] {
				some = true
			} else {
				st.linear[v] = lin && any
			}
		case tape.Log, tape.Log1p, tape.Tanh, tape.Sigmoid, tape.Atan, tape.Erf, tape.Erfc:
			some = some || any
		}
	}
	return some
}

// instr returns the instruction of v if it is one of op.
func (st *stabilizer) instr(v tape.Value, op tape.Op) (*tape.Instr, bool) {
	in := st.t.Instr(v)
	return in, in != nil && in.Op == op
}

// uniform returns the number that all elements of v are.
func (st *stabilizer) uniform(v tape.Value) (float64, bool) { return st.b.Uniform(st.at[v]) }

// rewrite returns what stands for v in b, where that is not what in computes of the values there.
func (st *stabilizer) rewrite(v tape.Value, in *tape.Instr) (tape.Value, bool) {
	if in.Op == tape.Recip || in.Op == tape.Div {
		return st.quotient(v, in)
	}
	if st.named {
		return 0, false
	}
	switch in.Op {
	case tape.Mul:
		a, b := in.Args[0], in.Args[1]
		if st.grow[a] && st.grow[b] && (st.bounded[a] != st.bounded[b]) {
			return st.whole(v), true
		}
	case tape.Log, tape.Log1p:
		if a := in.Args[0]; st.grow[a] && !st.bounded[a] {
			return st.logarithm(in), true
		}
	case tape.Pow:
		if k, known := st.uniform(in.Args[1]); st.grow[in.Args[0]] && !st.bounded[in.Args[0]] && (!known || k < 0) {
			return st.whole(v), true
		}
	case tape.Powi:
		if st.grow[in.Args[0]] && !st.bounded[in.Args[0]] && in.Attr.Power < 0 {
			return st.whole(v), true
		}
	case tape.Exp, tape.Tanh, tape.Sigmoid, tape.Atan, tape.Erf, tape.Erfc:
		if a := in.Args[0]; st.linear[a] {
			return st.b.Op1(in.Op, st.clamp(a)), true
		}
	}
	return 0, false
}

// quotient is rewrite of a quotient.
func (st *stabilizer) quotient(v tape.Value, in *tape.Instr) (tape.Value, bool) {
	below := in.Args[len(in.Args)-1]
	if !st.grow[below] || st.bounded[below] {
		return 0, false
	}
	if z, ok := st.logistic(below); ok {
		if in.Op == tape.Recip {
			return st.b.Op1(tape.Sigmoid, st.b.Neg(st.at[z])), true
		}
		a := in.Args[0]
		if !st.grow[a] {
			return st.b.Mul(st.at[a], st.b.Op1(tape.Sigmoid, st.b.Neg(st.at[z]))), true
		}
		if e, ok := st.instr(a, tape.Exp); ok && e.Args[0] == z {
			return st.b.Op1(tape.Sigmoid, st.at[z]), true
		}
		if m, ok := st.instr(a, tape.Mul); ok {
			for k, x := range m.Args {
				if e, ok := st.instr(x, tape.Exp); ok && e.Args[0] == z && !st.grow[m.Args[1-k]] {
					return st.b.Mul(st.at[m.Args[1-k]], st.b.Op1(tape.Sigmoid, st.at[z])), true
				}
			}
		}
	}
	if z, ok := st.tangent(in.Args[0], below); ok {
		return st.b.Op1(tape.Tanh, z), true
	}
	if st.named {
		return 0, false
	}
	if in.Op == tape.Recip {
		if st.linear[below] {
			return st.b.Op1(tape.Recip, st.clamp(below)), true
		}
		return st.whole(v), true
	}
	if !st.grow[in.Args[0]] && st.linear[below] {
		return st.b.Div(st.at[in.Args[0]], st.clamp(below)), true
	}
	return st.whole(v), true
}

// logistic reports whether v is 1 + exp(z).
func (st *stabilizer) logistic(v tape.Value) (z tape.Value, ok bool) {
	in, ok := st.instr(v, tape.Add)
	if !ok {
		return 0, false
	}
	for k, a := range in.Args {
		e, isExp := st.instr(a, tape.Exp)
		if c, known := st.uniform(in.Args[1-k]); isExp && known && c == 1 {
			return e.Args[0], true
		}
	}
	return 0, false
}

// tangent reports whether a/b is the hyperbolic tangent of z: that of exponentials of z and −z, or of 2z and 0.
func (st *stabilizer) tangent(a, b tape.Value) (z tape.Value, ok bool) {
	sub, ok1 := st.instr(a, tape.Sub)
	add, ok2 := st.instr(b, tape.Add)
	if !ok1 || !ok2 || !(sub.Args[0] == add.Args[0] && sub.Args[1] == add.Args[1] ||
		sub.Args[0] == add.Args[1] && sub.Args[1] == add.Args[0]) {
		return 0, false
	}
	up, rises := st.instr(sub.Args[0], tape.Exp)
	down, falls := st.instr(sub.Args[1], tape.Exp)
	one := func(v tape.Value) bool { c, known := st.uniform(v); return known && c == 1 }
	half := func(z tape.Value) tape.Value { return st.b.Mul(st.b.Scalar(0.5), st.at[z]) }
	switch {
	case rises && falls:
		if st.opposite(up.Args[0], down.Args[0]) {
			return st.at[up.Args[0]], true
		}
		return half2(st, up.Args[0], down.Args[0]), true
	case rises && one(sub.Args[1]):
		return half(up.Args[0]), true
	case falls && one(sub.Args[0]):
		return st.b.Neg(half(down.Args[0])), true
	}
	return 0, false
}

// half2 is half of the difference of two exponents.
func half2(st *stabilizer, a, b tape.Value) tape.Value {
	return st.b.Mul(st.b.Scalar(0.5), st.b.Sub(st.at[a], st.at[b]))
}

func (st *stabilizer) opposite(a, b tape.Value) bool {
	x, ok := st.instr(a, tape.Neg)
	if ok && x.Args[0] == b {
		return true
	}
	x, ok = st.instr(b, tape.Neg)
	return ok && x.Args[0] == a
}

// clamp returns v, a sum of multiples of exponentials, with exponents of at most ample.
func (st *stabilizer) clamp(v tape.Value) tape.Value {
	if !st.grow[v] {
		return st.at[v]
	}
	if x, ok := st.clamped[v]; ok {
		return x
	}
	in := *st.t.Instr(v)
	args := make([]tape.Value, len(in.Args))
	most := st.b.Scalar(ample)
	for k, a := range in.Args {
		switch in.Op {
		case tape.Exp:
			args[k] = tape.Seamlessly(st.b, func() tape.Value { return st.b.Op2(tape.Min, st.at[a], most) })
		case tape.Sinh, tape.Cosh:
			args[k] = tape.Seamlessly(st.b, func() tape.Value {
				return st.b.Op2(tape.Max, st.b.Op2(tape.Min, st.at[a], most), st.b.Scalar(-ample))
			})
		default:
			args[k] = st.clamp(a)
		}
	}
	in.Args = args
	x := st.b.Emit(in)
	st.clamped[v] = x
	return x
}

// whole returns the value of v, computed in scales.
func (st *stabilizer) whole(v tape.Value) tape.Value {
	x := st.scaled(v)
	if x.one {
		return x.m
	}
	return st.b.Mul(x.m, st.b.Op1(tape.Exp, x.s))
}

// logarithm is rewrite of a logarithm of what grows.
func (st *stabilizer) logarithm(in *tape.Instr) tape.Value {
	x := st.scaled(in.Args[0])
	if x.one {
		return st.b.Op1(in.Op, x.m)
	}
	if in.Op == tape.Log {
		return st.b.Add(st.b.Op1(tape.Log, x.m), x.s)
	}
	far := st.b.Op2(tape.NotEqual, x.s, st.b.Scalar(0))
	near := st.b.Op1(tape.Log1p, st.b.Select(far, st.b.Scalar(0), x.m))
	sum := st.add(tape.Add, scaledValue{m: st.b.Scalar(1), s: st.b.Scalar(0), one: true}, x)
	return st.b.Select(far, st.b.Add(st.b.Op1(tape.Log, sum.m), sum.s), near)
}

// scaled returns v as m·exp(s).
func (st *stabilizer) scaled(v tape.Value) scaledValue {
	if x, ok := st.scales[v]; ok {
		return x
	}
	x := st.scale(v)
	st.scales[v] = x
	return x
}

func (st *stabilizer) scale(v tape.Value) scaledValue {
	b := st.b
	zero := b.Scalar(0)
	if !st.grow[v] {
		return scaledValue{st.at[v], zero, true}
	}
	in := st.t.Instr(v)
	arg := func(k int) scaledValue { return st.scaled(in.Args[k]) }
	switch in.Op {
	case tape.Exp:
		z := st.at[in.Args[0]]
		s := st.level(z)
		return scaledValue{m: b.Op1(tape.Exp, b.Sub(z, s)), s: s}
	case tape.Sinh, tape.Cosh:
		z := st.at[in.Args[0]]
		s := st.level(tape.Seamlessly(b, func() tape.Value { return b.Op1(tape.Abs, z) }))
		up := b.Op1(tape.Exp, b.Sub(z, s))
		down := b.Op1(tape.Exp, b.Sub(b.Neg(z), s))
		op := tape.Add
		if in.Op == tape.Sinh {
			op = tape.Sub
		}
		far := b.Op2(tape.NotEqual, s, zero)
		near := b.Op1(in.Op, b.Select(far, zero, z))
		return scaledValue{m: b.Select(far, b.Mul(b.Scalar(0.5), b.Op2(op, up, down)), near), s: s}
	case tape.Pow:
		return st.power(arg(0), st.at[in.Args[1]], func(x tape.Value) tape.Value { return b.Pow(x, st.at[in.Args[1]]) })
	case tape.Powi:
		return st.power(arg(0), b.Scalar(float64(in.Attr.Power)), func(x tape.Value) tape.Value {
			return b.Powi(x, in.Attr.Power)
		})
	case tape.Add, tape.Sub:
		return st.add(in.Op, arg(0), arg(1))
	case tape.Mul:
		x, y := arg(0), arg(1)
		return scaledValue{b.Mul(x.m, y.m), b.Add(x.s, y.s), x.one && y.one}
	case tape.Div:
		x, y := arg(0), arg(1)
		return scaledValue{b.Div(x.m, y.m), b.Sub(x.s, y.s), x.one && y.one}
	case tape.Recip:
		x := arg(0)
		return scaledValue{b.Op1(tape.Recip, x.m), b.Neg(x.s), x.one}
	case tape.Neg:
		x := arg(0)
		return scaledValue{b.Neg(x.m), x.s, x.one}
	case tape.Sqr:
		x := arg(0)
		return scaledValue{b.Op1(tape.Sqr, x.m), b.Mul(b.Scalar(2), x.s), x.one}
	case tape.Sqrt:
		x := arg(0)
		return scaledValue{b.Op1(tape.Sqrt, x.m), b.Mul(b.Scalar(0.5), x.s), x.one}
	case tape.Broadcast, tape.Reshape:
		x := arg(0)
		m, s := *in, *in
		m.Args, s.Args = []tape.Value{x.m}, []tape.Value{st.stretched(x.s, b.Shape(x.m))}
		if x.one {
			return scaledValue{b.Emit(m), zero, true}
		}
		return scaledValue{b.Emit(m), b.Emit(s), false}
	}
	return scaledValue{st.at[v], zero, true}
}

// level returns the part of an exponent that becomes a scale: a multiple of moderate, which is constant for
// derivatives.
func (st *stabilizer) level(z tape.Value) tape.Value {
	b := st.b
	const most = 0x1p1000 // so that what scales make of one another is finite
	return tape.Seamlessly(b, func() tape.Value {
		within := b.Op2(tape.Max, b.Op2(tape.Min, z, b.Scalar(most)), b.Scalar(-most))
		return b.Mul(b.Op1(tape.Trunc, b.Mul(within, b.Scalar(1.0/moderate))), b.Scalar(moderate))
	})
}

// add returns a sum or difference, in the larger of both scales.
func (st *stabilizer) add(op tape.Op, x, y scaledValue) scaledValue {
	b := st.b
	if x.one && y.one {
		return scaledValue{b.Op2(op, x.m, y.m), x.s, true}
	}
	s := tape.Seamlessly(b, func() tape.Value { return b.Op1(tape.Floor, b.Op2(tape.Max, x.s, y.s)) })
	in := func(v scaledValue) tape.Value { return b.Mul(v.m, b.Op1(tape.Exp, b.Sub(v.s, s))) }
	return scaledValue{m: b.Op2(op, in(x), in(y)), s: s}
}

// power returns x to the power n, which pow computes. The base is divided by about its size where the result would be
// too large.
func (st *stabilizer) power(x scaledValue, n tape.Value, pow func(tape.Value) tape.Value) scaledValue {
	b := st.b
	zero := b.Scalar(0)
	off := tape.Seamlessly(b, func() tape.Value {
		size := b.Op1(tape.Log, b.Op1(tape.Abs, x.m))
		large := b.Op2(tape.And, b.Op2(tape.Less, b.Scalar(2*moderate), b.Op1(tape.Abs, b.Mul(n, size))),
			b.Op2(tape.Less, b.Op1(tape.Abs, size), b.Scalar(math.MaxInt16)))
		const parts = 1 << 20
		near := b.Mul(b.Op1(tape.Floor, b.Mul(size, b.Scalar(parts))), b.Scalar(1.0/parts))
		return b.Select(large, near, zero)
	})
	m := pow(b.Mul(x.m, b.Op1(tape.Exp, b.Neg(off))))
	return scaledValue{m: m, s: b.Mul(n, b.Add(off, x.s))}
}

// highPower returns the function that tells which powers of the model may be too large for numbers: those with an
// exponent above steep, or of a param or a value at the start so large that its power is.
func (c *compiler) highPower(t *tape.Tape) func(in *tape.Instr) bool {
	largest := 0.0
	sizes := map[string]float64{}
	for _, p := range c.model.Params {
		if x, ok := largestIn(p.Value); ok {
			sizes[Param.Called(p.Name).String()] = x
			largest = max(largest, x)
		}
	}
	for _, s := range c.model.States {
		if x, ok := largestIn(s.Value); ok {
			largest = max(largest, x)
		}
	}
	for i := range t.Instrs {
		if in := &t.Instrs[i]; in.Op == tape.Const {
			for _, x := range in.Attr.Data {
				if x = math.Abs(x); x <= math.MaxFloat64 {
					largest = max(largest, x)
				}
			}
		}
	}
	_, bits := math.Frexp(max(largest, 1))
	return func(in *tape.Instr) bool {
		n := float64(in.Attr.Power)
		if in.Op == tape.Pow {
			x := in.Args[1]
			if def := t.Instr(x); def != nil && def.Op == tape.Const {
				n = def.Attr.Data[0]
			} else if def == nil {
				known := false
				if n, known = sizes[t.Inputs[x].Name]; !known {
					return true
				}
			} else {
				return true
			}
		}
		n = math.Abs(n)
		return n > steep || float64(n*float64(bits)) > 332 // 10¹⁰⁰
	}
}

// largestIn returns the largest size of the elements of a constant expression.
func largestIn(e model.Expr) (x float64, ok bool) {
	k, ok := e.(*model.Const)
	if !ok {
		return 0, false
	}
	for _, d := range k.Data {
		x = max(x, math.Abs(d))
	}
	return x, true
}
