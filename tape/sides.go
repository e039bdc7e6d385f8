package tape

import (
	"math"
	"slices"
)

// Bent are elements of a value whose op is at its kink there.
type Bent struct {
	Value Value
	Elems []int
}

// AtKinks appends to to the elements of values, in ascending order, that are at their kinks as the last Run of e left
// them; near is that of Bends.
func AtKinks(e *Evaluator[float64], values []Value, near float64, to []Bent) []Bent {
	var off []float64
	for _, v := range values {
		off = Bends(e, v, near, off[:0])
		if !slices.Contains(off, 0) {
			continue
		}
		b := Bent{Value: v}
		for i, d := range off {
			if d == 0 {
				b.Elems = append(b.Elems, i)
			}
		}
		to = append(to, b)
	}
	return to
}

// Sides runs e like Run, at inputs whose imaginary parts are a direction. Elements of bent, in ascending order of
// values, have a derivative on each side of their kinks. They move by a mixture of all of these, so that an imaginary
// part that is 0 is 0 whichever side is taken. at is called for each of them. It is told how fast the element leaves
// its kink in this direction, and returns what else it moves by.
func Sides(e *Evaluator[complex128], bent []Bent, at func(v Value, i int, leaves float64) float64) {
	for k := range e.steps {
		s := &e.steps[k]
		s.run(s.args, s.out)
		if len(bent) == 0 || bent[0].Value != s.value {
			continue
		}
		in := e.tape.Instr(s.value)
		for _, i := range bent[0].Elems {
			by, leaves := mixture(e, in, s, i)
			by += at(s.value, i, leaves)
			s.out[i] = complex(real(s.out[i]), by)
		}
		bent = bent[1:]
	}
}

// Force runs e like Run, but has replace change what the operations of some values make, in ascending order.
func Force(e *Evaluator[float64], values []Value, replace func(n int, out []float64)) {
	n := 0
	for k := range e.steps {
		s := &e.steps[k]
		s.run(s.args, s.out)
		if n < len(values) && values[n] == s.value {
			replace(n, s.out)
			n++
		}
	}
}

// Portion returns the share of the k-th of several derivatives in a mixture: no two shares are in a simple proportion.
func Portion(k int) float64 {
	x := float64(float64(k+1) * math.Phi)
	return 0.25 + float64(0.5*(x-math.Floor(x)))
}

// mixture returns how element i of the result of a step, which is at a kink, moves, and how fast it leaves the kink.
func mixture(e *Evaluator[complex128], in *Instr, s *step[complex128], i int) (by, leaves float64) {
	shape := e.tape.Shape(in.Args[0])
	a := s.args[0]
	switch in.Op {
	case Abs:
		x := imag(a[broadcastIndex(in.Shape, shape, i)])
		return float64(Portion(0) * x), x
	case Less, LessEq:
		x := imag(a[broadcastIndex(in.Shape, shape, i)])
		return 0, x - imag(s.args[1][broadcastIndex(in.Shape, e.tape.Shape(in.Args[1]), i)])
	case Sign, Floor, Ceil, Round, Trunc:
		return 0, imag(a[broadcastIndex(in.Shape, shape, i)])
	case Min, Max, Hypot:
		x := imag(a[broadcastIndex(in.Shape, shape, i)])
		z := imag(s.args[1][broadcastIndex(in.Shape, e.tape.Shape(in.Args[1]), i)])
		if in.Op == Hypot {
			by = float64(Portion(0)*x) + float64(Portion(1)*z)
			return by, by
		}
		return float64(Portion(0)*x) + float64((1-Portion(0))*z), x - z
	case MinAxes, MaxAxes:
		return mixtureOfAxes(a, real(s.out[i]), shape, in.Attr.Axes, i)
	}
	// A root of what is of higher order at 0, as √(x²): it moves with all that it is made of.
	for v, made := range made(e.tape, in) {
		if made && slices.ContainsFunc(e.values[v], func(x complex128) bool { return imag(x) != 0 }) {
			for _, x := range e.values[v] {
				by = max(by, float64(Portion(0)*math.Abs(imag(x))))
			}
		}
	}
	return by, by
}

// made tells which values an instruction is made of.
func made(t *Tape, in *Instr) []bool {
	need := make([]bool, t.Values())
	for _, a := range in.Args {
		need[a] = true
	}
	for v := t.Values() - 1; v >= len(t.Inputs); v-- {
		if need[v] {
			for _, a := range t.Instr(Value(v)).Args {
				need[a] = true
			}
		}
	}
	return need
}

// mixtureOfAxes is mixture for best, the least or greatest of the elements of a over axes that become element of.
func mixtureOfAxes(a []complex128, best float64, shape Shape, axes []int, of int) (by, leaves float64) {
	first, n := 0.0, 0
	for j, x := range a {
		if real(x) != best || without(shape, axes, j) != of {
			continue
		}
		if n == 0 {
			first = imag(x)
		}
		by += float64(Portion(n) * imag(x))
		leaves += float64(Portion(n) * (imag(x) - first))
		n++
	}
	return by, leaves
}
