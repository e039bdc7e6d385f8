package tape

import (
	"math"
	"slices"
)

// Matters reports whether outputs of e, as its last Run left it, are others on one side of the jump of v than on
// another, on whichever sides of theirs the others of jumps are; v is one of these. near is that of Bends. They are
// others if values differ, or else derivatives in one of several directions, and with second also second ones. move
// moves the inputs of an evaluator that part of the way in a direction. Where there is too much to try, it matters.
func Matters(e *Evaluator[float64], v Value, jumps []Value, near float64, second bool, directions int,
	move func(e *Evaluator[float64], direction int, part float64),
) bool {
	list, ok := choices(e, jumps, near)
	varied := func(c *choice) bool { return jumps[c.of] == v }
	if !ok || tries(e, []*Evaluator[float64]{e}, jumps, list, varied, outputs, unlike) {
		return true
	}
	ratio := 0.375 // of differences at half of the way: those in proportion to it have 0.5, squares 0.25, cubes 0.125
	if second {
		ratio = 0.1875
	}
	part := func(was, now [][]float64) bool {
		for i, x := range was[0] {
			far, half := math.Abs(x-now[0][i]), math.Abs(was[1][i]-now[1][i])
			if far > float64(0x1p-45*math.Abs(x)) && half > float64(ratio*far) {
				return true
			}
		}
		return false
	}
	far, half := NewEvaluator[float64](e.tape), NewEvaluator[float64](e.tape)
	for direction := range directions {
		move(far, direction, 1)
		move(half, direction, 0.5)
		if tries(e, []*Evaluator[float64]{far, half}, jumps, list, varied, outputs, part) {
			return true
		}
	}
	return false
}

// outputs returns all that e makes.
func outputs(e *Evaluator[float64]) (all []float64) {
	for _, out := range e.tape.Outputs {
		all = append(all, e.values[out.Value]...)
	}
	return all
}

// unlike reports whether what is read at the inputs of one evaluator differs, where numbers that are none are equal.
func unlike(was, now [][]float64) bool {
	return !slices.EqualFunc(was[0], now[0], func(a, b float64) bool { return a == b || a != a && b != b })
}

// choice is an element of an operation that jumps, and what it may be.
type choice struct {
	of    int // of the operations
	elem  int
	sides []float64
}

// choices lists those of operations that are at their jumps. It is false where there are too many.
func choices(e *Evaluator[float64], jumps []Value, near float64) (list []choice, ok bool) {
	const most = 81 // runs
	runs := 1
	for n, j := range jumps {
		for i, off := range Bends(e, j, near, nil) {
			if off != 0 {
				continue
			}
			in := e.tape.Instr(j)
			x := e.values[in.Args[0]][broadcastIndex(in.Shape, e.tape.Shape(in.Args[0]), i)]
			c := choice{n, i, sidesOf(in.Op, x)}
			list = append(list, c)
			if runs *= len(c.sides); runs == 0 || runs > most {
				return nil, false
			}
		}
	}
	return list, true
}

// tries reports whether what is read at the inputs of some evaluators differs with another choice of what is varied,
// and the others the same.
func tries(
	e *Evaluator[float64], inputs []*Evaluator[float64], jumps []Value, list []choice, varied func(c *choice) bool,
	read func(e *Evaluator[float64]) []float64, differ func(was, now [][]float64) bool,
) bool {
	runs := 1
	for _, c := range list {
		runs *= len(c.sides)
	}
	try := NewEvaluator[float64](e.tape)
	seen := map[int][][]float64{} // what follows, by what is chosen of the others
	for run := range runs {
		others, rest, unit := 0, run, 1
		for i := range list {
			n := len(list[i].sides)
			if !varied(&list[i]) {
				others += rest % n * unit
			}
			rest, unit = rest/n, unit*n
		}
		var now [][]float64
		for _, from := range inputs {
			for k := range e.tape.Inputs {
				copy(try.values[k], from.values[k])
			}
			Force(try, jumps, func(n int, out []float64) {
				rest := run
				for _, c := range list {
					if c.of == n {
						out[c.elem] = c.sides[rest%len(c.sides)]
					}
					rest /= len(c.sides)
				}
			})
			now = append(now, slices.Clone(read(try)))
		}
		was, ok := seen[others]
		if !ok {
			seen[others] = now
		} else if differ(was, now) {
			return true
		}
	}
	return false
}

// sidesOf returns what an op makes of x, which lies at its jump, and of what is beside; none where that is not known.
func sidesOf(op Op, x float64) []float64 {
	near := math.RoundToEven(x)
	switch op {
	case Less, LessEq:
		return []float64{0, 1}
	case Sign:
		return []float64{-1, 0, 1}
	case Floor:
		return []float64{near - 1, near}
	case Ceil:
		return []float64{near, near + 1}
	case Trunc:
		return []float64{near - 1, near, near + 1}
	case Round:
		return []float64{math.Floor(x), math.Ceil(x)}
	}
	return nil
}
