package tape

import "math"

// HasKink reports whether an op has places where it is continuous and has no derivative, while tapes compute one that
// may be finite: there, √(x²) gets the derivative 0.
func (o Op) HasKink() bool {
	switch o {
	case Abs, Sqrt, Pow, Hypot, Min, Max, MinAxes, MaxAxes:
		return true
	}
	return false
}

// Bends appends to to how far each element of v, whose op HasKink, is from the kink of the op, as the last Run of e
// left it; 0 at the kink. For ties it is the difference of the two best operands, and for the others their value.
func Bends(e *Evaluator[float64], v Value, to []float64) []float64 {
	in, y := e.tape.Instr(v), e.values[v]
	a, shape := e.values[in.Args[0]], e.tape.Shape(in.Args[0])
	switch in.Op {
	case Min, Max:
		b, other := e.values[in.Args[1]], e.tape.Shape(in.Args[1])
		for i := range y {
			x, z := a[broadcastIndex(in.Shape, shape, i)], b[broadcastIndex(in.Shape, other, i)]
			if x == z { // both may be infinite
				to = append(to, 0)
				continue
			}
			to = append(to, math.Abs(x-z))
		}
		return to
	case MinAxes, MaxAxes:
		return bendsOfAxes(y, a, shape, in.Attr.Axes, to)
	}
	return append(to, y...)
}

// bendsOfAxes is Bends for y, the least or greatest elements of a over axes.
func bendsOfAxes(y, a []float64, shape Shape, axes []int, to []float64) []float64 {
	from := len(to)
	for range y {
		to = append(to, math.Inf(1))
	}
	out, best := to[from:], make([]bool, len(y))
	for j, x := range a {
		i, stride, rest, gone := 0, 1, j, len(axes)
		for k := len(shape) - 1; k >= 0; k-- {
			at := rest % shape[k]
			rest /= shape[k]
			if gone > 0 && axes[gone-1] == k {
				gone--
				continue
			}
			i += at * stride
			stride *= shape[k]
		}
		if x == y[i] && !best[i] {
			best[i] = true
			continue
		}
		if x == y[i] {
			out[i] = 0
		} else {
			out[i] = min(out[i], math.Abs(x-y[i]))
		}
	}
	return to
}
