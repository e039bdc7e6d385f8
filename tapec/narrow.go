package tapec

import (
	"math"
	"slices"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
)

// NarrowSize is the largest number of elements that the narrow parts of a tape have in all. Larger ones are left out.
const NarrowSize = 64

// NarrowParts are parts of a tape that may be narrow in states: bells as exp(-((x - c)/s)^2), the transitions of gates
// as tanh((x - c)/s), whose products and differences are bells, high powers, and what is cut off as max(0, …) is. They
// are functions of inner values, which are polynomials of time and states of degree 1 or 2.
type NarrowParts struct {
	// Inner makes the inner values, all in its one output, InnerValues, of time, states and what is constant between
	// two events.
	Inner   *tape.Tape
	Degrees []int // of each of them in time and states
	// Parts makes the parts, all in its output NarrowValues, of the inner values and of what is constant. Along with
	// them it makes their derivatives along a direction in which inner values move by the tangent of InnerValues.
	Parts *tape.Tape
	Jumps [][]tape.Value // see ByTime
	// Of each element of the parts: the expression it comes from, and the outputs that depend on it.
	Spans   []source.Span
	Readers [][]Name
	Left    []source.Span // of expressions whose parts are left out; Parts is nil where all are
}

// Narrow returns the narrow parts of t; nil if there are none. Those of time and even states alone are not among them:
// Signals has these.
func Narrow(t *tape.Tape, even []Name) *NarrowParts {
	if t == nil {
		return nil
	}
	if t.Plain != nil { // forms with scales hide what is narrow; intervals of the parts need none
		t = t.Plain
	}
	f := newNarrowFinder(t, even)
	f.find()
	switch {
	case len(f.found) > 0:
		return f.parts()
	case len(f.left) > 0:
		return &NarrowParts{Left: f.left}
	}
	return nil
}

// curve is how a value depends on time and states, as far as it matters for polynomials.
type curve uint8

const (
	constant curve = iota
	affine
	square    // an even power of an affine value, or a multiple of it
	quadratic // a polynomial of degree 2 that contains squares
	product   // and one that does not
	curved    // anything else
)

// narrowFinder finds the narrow parts of t.
type narrowFinder struct {
	t       *tape.Tape
	moves   []bool  // which values depend on states that are not even
	curves  []curve // of the values
	readers [][]tape.Value
	open    []bool // an output depends on the value other than through a narrow part
	found   []narrowPart
	size    int
	left    []source.Span

	b      *tape.Builder // of the parts
	inputs []tape.Value  // of b, for those of t; none where they are not needed
	memo   [2][]tape.Value
	inner  []tape.Value // the values of t that are inner ones
	at     []tape.Value // what they are in b, for each value of t; none
}

// narrowPart is a part, as it is made of a value of t.
type narrowPart struct {
	of   tape.Value
	make func(f *narrowFinder) tape.Value
}

func newNarrowFinder(t *tape.Tape, even []Name) *narrowFinder {
	driven := func(n Name) bool { return n.Role == State && !slices.Contains(even, n) }
	f := &narrowFinder{
		t: t, moves: tape.DependsOnFunc(t, ByName(driven)), curves: make([]curve, t.Values()),
		readers: make([][]tape.Value, t.Values()), open: make([]bool, t.Values()),
	}
	for i := range t.Inputs {
		if n := MustName(t.Inputs[i].Name); n.Role == State || n == Time.Name() {
			f.curves[i] = affine
		}
	}
	for i := range t.Instrs {
		v := tape.Value(len(t.Inputs) + i)
		f.curves[v] = f.curveOf(&t.Instrs[i])
		for _, a := range t.Instrs[i].Args {
			f.readers[a] = append(f.readers[a], v)
		}
	}
	return f
}

// curveOf returns the curve of an instruction's result.
func (f *narrowFinder) curveOf(in *tape.Instr) curve {
	of := func(k int) curve { return f.curves[in.Args[k]] }
	most, some := constant, 0
	for k := range in.Args {
		if most = max(most, of(k)); of(k) != constant {
			some++
		}
	}
	if some == 0 {
		return constant
	}
	switch in.Op {
	case tape.Neg:
		return most
	case tape.Add, tape.Sub:
		return sum(of(0), of(1))
	case tape.Mul, tape.Dot, tape.MatMul, tape.Outer, tape.ZeroMul:
		return times(of(0), of(1), in.Args[0] == in.Args[1])
	case tape.FMA:
		return sum(times(of(0), of(1), in.Args[0] == in.Args[1]), of(2))
	case tape.Div:
		if of(1) == constant {
			return of(0)
		}
	case tape.Sqr:
		return times(most, most, true)
	case tape.Powi:
		if in.Attr.Power == 2 {
			return times(most, most, true)
		}
	case tape.SumAxes:
		if most == square {
			return quadratic
		}
		return most
	default:
		if in.Op.Row().Class == tape.Structure {
			return most
		}
	}
	return curved
}

func sum(a, b curve) curve {
	switch {
	case a == constant || b == constant, a == b && a != square, a == curved || b == curved:
		return max(a, b)
	case a == square || b == square || a == quadratic || b == quadratic:
		return quadratic
	}
	return product
}

func times(a, b curve, same bool) curve {
	switch {
	case a == constant || b == constant:
		return max(a, b)
	case a == affine && b == affine && same:
		return square
	case a == affine && b == affine:
		return product
	}
	return curved
}

// find lists the parts: what is narrow, and what an output depends on other than through what is.
func (f *narrowFinder) find() {
	for _, o := range f.t.Outputs {
		f.open[o.Value] = true
	}
	for v := tape.Value(f.t.Values() - 1); int(v) >= len(f.t.Inputs); v-- {
		if !f.open[v] || !f.moves[v] {
			continue
		}
		in := f.t.Instr(v)
		parts, closed := f.narrow(v, in)
		n := f.t.Shape(v).Size()
		for _, p := range parts {
			if f.size+n <= NarrowSize {
				f.found, f.size = append(f.found, narrowPart{v, p}), f.size+n
			} else {
				f.left = append(f.left, f.t.Span(v))
			}
		}
		for k, a := range in.Args {
			f.open[a] = f.open[a] || !slices.Contains(closed, k)
		}
	}
}

// narrow returns what makes the parts that v, which in makes, brings, and the operands that matter through these alone.
func (f *narrowFinder) narrow(v tape.Value, in *tape.Instr) (parts []func(*narrowFinder) tape.Value, closed []int) {
	itself := func(f *narrowFinder) tape.Value { return f.copy(v, false) }
	of := func(k int) curve { return f.curves[in.Args[k]] }
	switch in.Op {
	case tape.Exp, tape.Expm1:
		if of(0) > affine && !f.belowQuotient(v) {
			parts = one(itself)
		}
		return parts, []int{0}
	case tape.Tanh, tape.Sigmoid, tape.Erf, tape.Erfc, tape.Atan:
		return one(func(f *narrowFinder) tape.Value { return f.slope(in) }), []int{0}
	case tape.Recip, tape.Log:
		return f.quotient(in.Args[0]), nil
	case tape.Log1p:
		if f.steep(in.Args[0]) {
			return one(func(f *narrowFinder) tape.Value { return f.passage(f.b.Scalar(1), in.Args[0]) }), nil
		}
	case tape.Div:
		if of(1) != constant {
			return f.quotient(in.Args[1]), nil
		}
	case tape.Pow, tape.Powi:
		if f.steep(v) && !f.belowQuotient(v) {
			return one(itself), nil
		}
	case tape.Max, tape.Min:
		if f.even(in.Args[0]) || f.even(in.Args[1]) {
			return one(itself), nil
		}
	}
	return nil, nil
}

func one(part func(*narrowFinder) tape.Value) []func(*narrowFinder) tape.Value {
	return []func(*narrowFinder) tape.Value{part}
}

// highPower is the least power that is narrow where its base turns.
const highPower = 8

// even reports whether v is an even power of an affine value, or a polynomial of one: a bell if it is cut off.
func (f *narrowFinder) even(v tape.Value) bool {
	in := f.t.Instr(v)
	if in == nil || f.curves[v] <= affine {
		return false
	}
	switch in.Op {
	case tape.Sqr, tape.Powi:
		return in.Op == tape.Sqr || in.Attr.Power%2 == 0
	case tape.Mul, tape.Add, tape.Sub, tape.Div, tape.FMA, tape.Neg, tape.Reshape, tape.Broadcast:
		return f.curves[v] == square || slices.ContainsFunc(in.Args, f.even)
	}
	return false
}

// raised reports whether v is a constant and squares: it has a least value, which is not 0.
func (f *narrowFinder) raised(v tape.Value) bool {
	level, some := false, false
	for _, u := range f.terms(v, nil) {
		level = level || f.curves[u] == constant
		some = some || f.curves[u] == square && !f.plain(u) || f.curves[u] == quadratic
	}
	return level && some
}

// steep reports whether v grows or falls by large factors while states change by small ones.
func (f *narrowFinder) steep(v tape.Value) bool {
	in := f.t.Instr(v)
	if in == nil || !f.moves[v] {
		return false
	}
	switch in.Op {
	case tape.Exp, tape.Expm1, tape.Cosh:
		return true
	case tape.Powi:
		n := in.Attr.Power
		return n >= highPower || n <= -highPower || n < 0 && f.raised(in.Args[0])
	case tape.Pow:
		e := f.t.Instr(in.Args[1])
		if e == nil || e.Op != tape.Const {
			return true
		}
		for _, n := range e.Attr.Data {
			if math.Abs(n) >= highPower || n < 0 && f.raised(in.Args[0]) {
				return true
			}
		}
	case tape.Mul, tape.Div: // a multiple
		return f.curves[in.Args[1]] == constant && f.steep(in.Args[0]) ||
			in.Op == tape.Mul && f.curves[in.Args[0]] == constant && f.steep(in.Args[1])
	case tape.Neg, tape.Reshape, tape.Broadcast:
		return f.steep(in.Args[0])
	}
	return false
}

// belowQuotient reports whether v, which is steep, is read as u in 1/(c + u) and u/(c + u) alone: gates, which do not
// become large as it does.
func (f *narrowFinder) belowQuotient(v tape.Value) bool {
	for _, r := range f.readers[v] {
		switch in := f.t.Instr(r); in.Op {
		case tape.Add, tape.Sub, tape.FMA:
			if !f.divides(r) {
				return false
			}
		case tape.Neg, tape.Reshape, tape.Broadcast:
			if !f.belowQuotient(r) {
				return false
			}
		case tape.Mul:
			if f.curves[in.Args[0]] != constant && f.curves[in.Args[1]] != constant || !f.belowQuotient(r) {
				return false
			}
		case tape.Div:
			if in.Args[0] == v && f.curves[in.Args[1]] == constant {
				if !f.belowQuotient(r) {
					return false
				}
			} else if in.Args[0] != v || !slices.Contains(f.terms(in.Args[1], nil), v) {
				return false
			}
		default:
			return false
		}
	}
	return len(f.readers[v]) > 0
}

// divides reports whether v is read as a denominator, or within a logarithm, alone.
func (f *narrowFinder) divides(v tape.Value) bool {
	for _, r := range f.readers[v] {
		switch in := f.t.Instr(r); in.Op {
		case tape.Recip, tape.Log:
		case tape.Div:
			if in.Args[1] != v {
				return false
			}
		case tape.Add, tape.Sub, tape.Reshape, tape.Broadcast, tape.Neg:
			if !f.divides(r) {
				return false
			}
		default:
			return false
		}
	}
	return len(f.readers[v]) > 0
}

// terms appends what v is the sum of to list.
func (f *narrowFinder) terms(v tape.Value, list []tape.Value) []tape.Value {
	if in := f.t.Instr(v); in != nil && in.Op == tape.Add {
		return f.terms(in.Args[1], f.terms(in.Args[0], list))
	}
	return append(list, v)
}

// quotient returns what makes the parts of 1/d. Those are the passages from where one term of d is the largest to where
// others are; and 1/d itself where it is a bell. Of products and powers it looks at what they are made of.
func (f *narrowFinder) quotient(d tape.Value) (parts []func(*narrowFinder) tape.Value) {
	switch in := f.t.Instr(d); {
	case in == nil || f.curves[d] == constant:
		return nil
	case in.Op == tape.Mul && in.Args[0] != in.Args[1]:
		return append(f.quotient(in.Args[0]), f.quotient(in.Args[1])...)
	case slices.Contains([]tape.Op{
		tape.Mul, tape.Neg, tape.Div, tape.Sqr, tape.Powi, tape.Pow, tape.Sqrt, tape.Reshape, tape.Broadcast,
	}, in.Op) && !f.steep(d):
		return f.quotient(in.Args[0])
	}
	terms := f.terms(d, nil)
	bell := f.raised(d)
	for i, u := range terms {
		switch {
		case len(terms) > 1 && f.steep(u):
			rest := slices.Delete(slices.Clone(terms), i, i+1)
			parts = append(parts, func(f *narrowFinder) tape.Value {
				all := f.copy(rest[0], false)
				for _, r := range rest[1:] {
					all = f.b.Add(all, f.copy(r, false))
				}
				return f.passage(all, u)
			})
		case f.steep(u): // alone: 1/cosh(z), 1/r^12
			bell = true
		}
	}
	if bell {
		parts = append(parts, func(f *narrowFinder) tape.Value { return f.b.Op1(tape.Recip, f.copy(d, false)) })
	}
	return parts
}

// plain reports whether a square is that of a state, as in x²/(1 + x²), which changes as slowly as x does.
func (f *narrowFinder) plain(v tape.Value) bool {
	for {
		in := f.t.Instr(v)
		if in == nil {
			return true
		}
		switch in.Op {
		case tape.Sqr, tape.Powi, tape.Neg, tape.Reshape, tape.Broadcast, tape.Slice, tape.Take:
			v = in.Args[0]
		case tape.Mul, tape.Div:
			switch {
			case in.Args[0] == in.Args[1] || f.curves[in.Args[1]] == constant:
				v = in.Args[0]
			case f.curves[in.Args[0]] == constant:
				v = in.Args[1]
			default:
				return false
			}
		default:
			return false
		}
	}
}

// passage returns u·c/(c + u)² for a value u of t, by quotients that do not overflow.
func (f *narrowFinder) passage(c, u tape.Value) tape.Value {
	b := f.b
	ratio := b.Div(f.copy(u, false), c)
	p := b.Op1(tape.Recip, b.Add(b.Scalar(1), ratio))
	return b.Mul(p, b.Sub(b.Scalar(1), p))
}

// slope returns the derivative of a gate by its operand.
func (f *narrowFinder) slope(in *tape.Instr) tape.Value {
	b, z := f.b, f.copy(in.Args[0], false)
	switch in.Op {
	case tape.Tanh:
		y := b.Op1(tape.Tanh, z)
		return b.Mul(b.Sub(b.Scalar(1), y), b.Add(b.Scalar(1), y))
	case tape.Sigmoid:
		return b.Mul(b.Op1(tape.Sigmoid, z), b.Op1(tape.Sigmoid, b.Neg(z)))
	case tape.Atan:
		return b.Op1(tape.Recip, b.Add(b.Scalar(1), b.Op1(tape.Sqr, z)))
	}
	return b.Op1(tape.Exp, b.Neg(b.Op1(tape.Sqr, z)))
}

// copy returns v, a value of t, as a function of inner values. Within is set where a polynomial of squares is an
// exponent or a part of one: intervals of squares tell more of large ones than polynomials do, whose rounding errors
// are parts of the largest value in a step. Elsewhere squares may cancel, and polynomials tell more.
func (f *narrowFinder) copy(v tape.Value, within bool) tape.Value {
	side := 0
	if within {
		side = 1
	}
	if x := f.memo[side][v]; x != none {
		return x
	}
	x, c := none, f.curves[v]
	in := f.t.Instr(v)
	switch {
	case in == nil && c == constant:
		if f.inputs[v] == none {
			input := &f.t.Inputs[v]
			f.inputs[v] = f.b.Input(input.Name, input.Shape, false)
		}
		x = f.inputs[v]
	case c == affine, c == product, c == quadratic && !within:
		x = f.innerValue(v)
	default:
		next := within
		switch in.Op {
		case tape.Exp, tape.Expm1:
			next = true
		case tape.Sqr, tape.Powi, tape.Pow, tape.Abs, tape.Tanh, tape.Sigmoid, tape.Erf, tape.Erfc, tape.Atan,
			tape.Sqrt:
			next = false
		}
		made := *in
		if in.Op == tape.Pow && f.fractional(in.Args[1]) {
			return f.b.Pow(f.b.Op2(tape.Max, f.b.Scalar(0), f.copy(in.Args[0], next)), f.copy(in.Args[1], next))
		}
		made.Args = make([]tape.Value, len(in.Args))
		for k, a := range in.Args {
			made.Args[k] = f.copy(a, next)
		}
		x = f.b.Emit(made)
	}
	f.memo[side][v] = x
	return x
}

// fractional reports whether an exponent may be no integer. A base below zero is the error of a state at zero then.
func (f *narrowFinder) fractional(e tape.Value) bool {
	in := f.t.Instr(e)
	return in == nil || in.Op != tape.Const ||
		slices.ContainsFunc(in.Attr.Data, func(n float64) bool { return n != math.Trunc(n) })
}

// innerValue makes v an inner value, and returns what it is in b.
func (f *narrowFinder) innerValue(v tape.Value) tape.Value {
	if f.at[v] == none {
		f.at[v] = f.b.Input(innerName(len(f.inner)), f.t.Shape(v), false)
		f.inner = append(f.inner, v)
	}
	return f.at[v]
}

// innerName is what the inner value of this number is called until all are known.
func innerName(i int) string { return InnerValues.String() + " " + RunWork.Number(i).String() }

// parts makes the tapes of what was found.
func (f *narrowFinder) parts() *NarrowParts {
	t := f.t
	f.b = tape.NewBuilder("narrow")
	list := func() []tape.Value { return slices.Repeat([]tape.Value{none}, t.Values()) }
	f.inputs, f.at, f.memo = list(), list(), [2][]tape.Value{list(), list()}
	p := &NarrowParts{Left: f.left}
	var outs []tape.Value
	needs := map[string][]bool{}
	for _, o := range t.Outputs {
		needs[o.Name] = tape.Needed(t, o.Name)
	}
	for _, part := range f.found {
		x := part.make(f)
		n := f.b.Shape(x).Size()
		outs = append(outs, f.b.Reshape(x, tape.Shape{n}))
		var readers []Name
		for _, o := range t.Outputs {
			if needs[o.Name][part.of] {
				readers = append(readers, MustName(o.Name))
			}
		}
		for range n {
			p.Spans, p.Readers = append(p.Spans, t.Span(part.of)), append(p.Readers, readers)
		}
	}
	f.b.Output(NarrowValues.Name().String(), f.b.Concat(0, outs...))
	named := f.b.Needed()

	// The inner values become one vector.
	number := map[string]int{}
	for i := range f.inner {
		number[innerName(i)] = i
	}
	b, total := tape.NewBuilder("inner"), 0
	values := copyInto(b, t)
	var inner []tape.Value
	for i := range named.Inputs {
		if k, ok := number[named.Inputs[i].Name]; ok {
			v := f.inner[k]
			n, degree := t.Shape(v).Size(), 1
			if f.curves[v] > affine {
				degree = 2
			}
			p.Degrees = append(p.Degrees, slices.Repeat([]int{degree}, n)...)
			inner = append(inner, b.Reshape(values[v], tape.Shape{n}))
			total += n
		}
	}
	b.Output(InnerValues.Name().String(), b.Concat(0, inner...))
	p.Inner = b.Needed()
	joined := tape.NewBuilder("narrow")
	whole := joined.Input(InnerValues.Name().String(), tape.Shape{total}, false)
	at, from := make([]tape.Value, named.Values()), 0
	for i := range named.Inputs {
		in := &named.Inputs[i]
		if _, ok := number[in.Name]; !ok {
			at[i] = joined.Input(in.Name, in.Shape, false)
			continue
		}
		n := in.Shape.Size()
		at[i] = joined.Reshape(joined.Slice(whole, []int{from}, tape.Shape{n}, nil), in.Shape)
		from += n
	}
	for i := range named.Instrs {
		at[len(named.Inputs)+i] = joined.Emit(mapped(named.Instrs[i], at))
	}
	out := named.Outputs[0]
	joined.Output(out.Name, at[out.Value])
	p.Parts, p.Jumps = along(joined.Needed(), out.Name, []string{InnerValues.Name().String()})
	return p
}
