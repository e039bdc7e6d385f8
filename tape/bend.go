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

// HasJump reports whether an op jumps: between values that are constant, or by the modulus.
func (o Op) HasJump() bool {
	switch o {
	case Sign, Floor, Ceil, Round, Trunc, Mod, Less, LessEq, Atan2:
		return true
	}
	return false
}

// Rounding is how near operands come, as parts of their size, where rounding decides how they compare.
const Rounding = 0x1p-50

// Bends appends to to how far each element of v, whose op HasKink or HasJump, is from the kink or the jump of the op,
// as the last Run of e left it; 0 at the kink, and where operands are so near, as parts of their size, that they may
// tie. On which side of a jump they are is not told within Rounding either. For ties and comparisons the distance is
// the difference of the two best operands, for levels that to the next one, and for the others their value.
func Bends(e *Evaluator[float64], v Value, near float64, to []float64) []float64 {
	return bends(e.tape, e.values, v, near, to)
}

// Bends is Bends of an evaluator.
func (p *Partly) Bends(v Value, near float64, to []float64) []float64 {
	p.Value(v)
	return bends(p.tape, p.values, v, near, to)
}

func bends(t *Tape, values [][]float64, v Value, near float64, to []float64) []float64 {
	in, y := t.Instr(v), values[v]
	a, shape := values[in.Args[0]], t.Shape(in.Args[0])
	if in.Op.HasJump() {
		near = max(near, Rounding)
	}
	switch in.Op {
	case Min, Max, Less, LessEq:
		b, other := values[in.Args[1]], t.Shape(in.Args[1])
		atA, atB := spread(in.Shape, shape), spread(in.Shape, other)
		for i := range y {
			x, z := a[atA.of(i)], b[atB.of(i)]
			off := math.Abs(x - z)
			if x == z || off <= float64(near*max(math.Abs(x), math.Abs(z))) { // both may be infinite
				off = 0
			}
			to = append(to, off)
		}
		return to
	case Sign:
		return append(to, a...)
	case Floor, Ceil, Round, Trunc:
		for _, x := range a {
			to = append(to, toLevel(in.Op, x, near))
		}
		return to
	case Mod, Atan2:
		b, other := values[in.Args[1]], t.Shape(in.Args[1])
		for i := range y {
			x, z := a[broadcastIndex(in.Shape, shape, i)], b[broadcastIndex(in.Shape, other, i)]
			switch {
			case in.Op == Mod:
				x = toLevel(Floor, x/z, near)
			case z > 0: // off the cut
				x = math.Inf(1)
			}
			to = append(to, x)
		}
		return to
	case MinAxes, MaxAxes:
		return bendsOfAxes(y, a, shape, in.Attr.Axes, to)
	}
	return append(to, y...)
}

// spreading finds the elements of an operand that those of a result are made of.
type spreading struct {
	by       int // of the index, where it tells
	from, to Shape
}

func spread(to, from Shape) spreading {
	switch from.Size() {
	case 1:
		return spreading{by: 0}
	case to.Size():
		return spreading{by: 1}
	}
	return spreading{by: -1, from: from, to: to}
}

func (s *spreading) of(i int) int {
	if s.by < 0 {
		return broadcastIndex(s.to, s.from, i)
	}
	return s.by * i
}

// toLevel returns how far x is from where the op that rounds it jumps.
func toLevel(op Op, x, near float64) float64 {
	if op == Round {
		x += math.Copysign(0.5, x)
	}
	level := math.RoundToEven(x)
	if level == 0 && (op == Trunc || op == Round) { // both go to 0 from either side
		return math.Inf(1)
	}
	off := math.Abs(x - level)
	if off <= float64(near*math.Abs(x)) {
		return 0
	}
	return off
}

// bendsOfAxes is Bends for y, the least or greatest elements of a over axes.
func bendsOfAxes(y, a []float64, shape Shape, axes []int, to []float64) []float64 {
	from := len(to)
	for range y {
		to = append(to, math.Inf(1))
	}
	out, best := to[from:], make([]bool, len(y))
	for j, x := range a {
		i := without(shape, axes, j)
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

// without returns which element of what is left of a shape without axes element j becomes a part of.
func without(shape Shape, axes []int, j int) int {
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
	return i
}
