package tape

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Along runs e like Run, at inputs whose imaginary parts are a motion. Where ops are at their kinks or jumps, or within
// near of them as Bends has it, they go to the side to which that leads. So it makes what the tape comes to on that
// side, and by the chain rule of directional derivatives how that moves there. It reports whether any op was there.
// at, if not nil, tells what else an element at its kink moves by.
func Along(e *Evaluator[complex128], near float64, at func(v Value, i int) float64) (some bool) {
	s := siding{Evaluator: e, near: near, real: make([][]float64, len(e.values))}
	for k := range e.steps {
		step := &e.steps[k]
		step.run(step.args, step.out)
		in := e.tape.Instr(step.value)
		if in.Seamless || !in.Op.HasKink() && !in.Op.HasJump() {
			continue
		}
		for _, v := range append(in.Args[:len(in.Args):len(in.Args)], step.value) {
			s.real[v] = parts(e.values[v], s.real[v][:0])
		}
		s.off = bends(e.tape, s.real, step.value, near, s.off[:0])
		for i, off := range s.off {
			if off == 0 {
				some = true
				if step.out[i] = s.side(in, step, i); at != nil {
					step.out[i] += complex(0, at(step.value, i))
				}
			}
		}
	}
	return some
}

// parts appends the real parts of numbers.
func parts(of []complex128, to []float64) []float64 {
	for _, z := range of {
		to = append(to, real(z))
	}
	return to
}

// siding is an evaluator whose ops go to sides.
type siding struct {
	*Evaluator[complex128]
	near float64
	real [][]float64 // of values
	off  []float64
	far  *Evaluator[float64] // a little way along the motion, which is part of it; nil before it is asked for
	part float64
}

// side returns what element i of a step is, which is at its kink or jump.
func (s *siding) side(in *Instr, step *step[complex128], i int) complex128 {
	arg := func(k int) complex128 { return step.args[k][broadcastIndex(in.Shape, s.tape.Shape(in.Args[k]), i)] }
	y, a, b := step.out[i], arg(0), complex128(0)
	if len(in.Args) > 1 {
		b = arg(1)
	}
	size := max(math.Abs(real(a)), math.Abs(real(b)))
	past := func(by float64) float64 { // where a comes to that moves by so much
		if by == 0 {
			return real(a)
		}
		return real(a) + math.Copysign(max(float64(2*s.near*size), float64(4*Rounding*size), 0x1p-1000), by)
	}
	switch in.Op {
	case Abs:
		return complex(real(y), math.Abs(imag(a)))
	case Hypot:
		return complex(real(y), elem.Hypot(imag(a), imag(b)))
	case Min, Max:
		if (imag(a) > imag(b)) == (in.Op == Max) {
			return complex(real(y), imag(a))
		}
		return complex(real(y), imag(b))
	case MinAxes, MaxAxes:
		for j, x := range step.args[0] {
			if real(x) == real(y) && without(s.tape.Shape(in.Args[0]), in.Attr.Axes, j) == i &&
				(imag(x) > imag(y)) == (in.Op == MaxAxes) {
				y = x
			}
		}
		return y
	case Sqrt, Pow: // of what is of higher order there, as √(x²)
		if imag(a) != 0 {
			return y
		}
		if s.far == nil {
			s.look()
		}
		return complex(real(y), s.far.values[step.value][i]/s.part)
	case Mod:
		level := math.Floor(past(imag(a)-float64(math.RoundToEven(real(a)/real(b))*imag(b))) / real(b))
		return complex(real(a)-float64(level*real(b)), imag(a)-float64(level*imag(b)))
	case Atan2:
		return complex(in.Op.Row().Real2(past(imag(a)), real(b)), imag(y))
	case Less, LessEq:
		return complex(in.Op.Row().Real2(past(imag(a)-imag(b)), real(b)), 0)
	}
	return complex(in.Op.Row().Real1(past(imag(a))), 0)
}

// look runs far, where the inputs have moved by little parts of their sizes.
func (s *siding) look() {
	s.far = NewEvaluator[float64](s.tape)
	fastest := 0.0
	for v := range s.tape.Inputs {
		for _, z := range s.values[v] {
			if size := math.Abs(real(z)); size > 0 {
				fastest = max(fastest, math.Abs(imag(z))/size)
			} else {
				fastest = max(fastest, math.Abs(imag(z)))
			}
		}
	}
	s.part = 0x1p-20 / fastest
	for v := range s.tape.Inputs {
		for i, z := range s.values[v] {
			s.far.values[v][i] = math.FMA(s.part, imag(z), real(z))
		}
	}
	s.far.Run()
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

// Portion returns the share of the k-th of several numbers: no two shares are in a simple proportion.
func Portion(k int) float64 {
	x := float64(float64(k+1) * math.Phi)
	return 0.25 + float64(0.5*(x-math.Floor(x)))
}
