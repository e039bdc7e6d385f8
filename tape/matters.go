package tape

import (
	"math"
	"slices"
)

// Matters reports whether outputs of e, as its last Run left it, are others on one side of the jump of v than on
// another, on whichever sides of theirs the others of jumps are; v is one of these. near is that of Bends. Where there
// is too much to try, it does.
func Matters(e *Evaluator[float64], v Value, jumps []Value, near float64) bool {
	const most = 81 // runs
	type choice struct {
		of    int // of jumps
		elem  int
		sides []float64
	}
	var choices []choice
	runs := 1
	for n, j := range jumps {
		for i, off := range Bends(e, j, near, nil) {
			if off != 0 {
				continue
			}
			in := e.tape.Instr(j)
			x := e.values[in.Args[0]][broadcastIndex(in.Shape, e.tape.Shape(in.Args[0]), i)]
			sides := sidesOf(in.Op, x)
			if runs *= len(sides); runs == 0 || runs > most {
				return true
			}
			choices = append(choices, choice{n, i, sides})
		}
	}
	try := NewEvaluator[float64](e.tape)
	for k := range e.tape.Inputs {
		copy(try.values[k], e.values[k])
	}
	seen := map[int][]float64{} // what follows, by what is chosen of the others
	for run := range runs {
		others, rest, unit := 0, run, 1
		for _, c := range choices {
			if jumps[c.of] != v {
				others += rest % len(c.sides) * unit
			}
			rest, unit = rest/len(c.sides), unit*len(c.sides)
		}
		Force(try, jumps, func(n int, out []float64) {
			rest := run
			for _, c := range choices {
				if c.of == n {
					out[c.elem] = c.sides[rest%len(c.sides)]
				}
				rest /= len(c.sides)
			}
		})
		var outputs []float64
		for _, out := range e.tape.Outputs {
			outputs = append(outputs, try.values[out.Value]...)
		}
		was, ok := seen[others]
		if !ok {
			seen[others] = outputs
		} else if !slices.EqualFunc(was, outputs, func(a, b float64) bool { return a == b || a != a && b != b }) {
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
