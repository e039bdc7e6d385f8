package vm_test

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
)

// randomScalars is a tape of n scalar instructions on random earlier values,
// some of them outputs.
func randomScalars(r *elem.Rand, n int) *tape.Tape {
	b := tape.NewBuilderWith("scalars", 0)
	pick := func(k int) int { return int(r.Uint64() % uint64(k)) }
	var all []tape.Value
	for i := range 3 + pick(4) {
		all = append(all, b.Input(fmt.Sprintf("x%d", i), tape.Shape{}, pick(2) == 0))
	}
	y := b.Input("y", tape.Shape{5}, pick(2) == 0)
	for i := range 5 {
		all = append(all, b.Element(y, i))
	}
	all = append(all, b.Scalar(2.5), b.Scalar(-0.25))
	ops := []tape.Op{
		tape.Add, tape.Sub, tape.Mul, tape.Add, tape.Sub, tape.Mul, tape.Mul, tape.Div, tape.Neg, tape.Sqr,
		tape.Recip, tape.Sin, tape.Tanh, tape.Max, tape.Select, tape.FMA, tape.Less,
	}
	for i := range n {
		op := ops[pick(len(ops))]
		var args []tape.Value
		for range op.Row().Arity {
			v := all[pick(len(all))]
			if pick(3) > 0 { // a recent one
				v = all[len(all)-1-pick(min(len(all), 12))]
			}
			args = append(args, v)
		}
		v := b.Emit(tape.Instr{Op: op, Args: args})
		all = append(all, v)
		if pick(6) == 0 {
			b.Output(fmt.Sprintf("o%d", i), v)
		}
	}
	b.Output("last", all[len(all)-1])
	return b.Tape()
}

// TestScalars runs random tapes of many scalar instructions.
func TestScalars(t *testing.T) {
	r := elem.NewRand(7)
	for round := range 60 {
		tp := randomScalars(r, 20+3*round)
		for _, name := range backends() {
			for _, lanes := range []int{1, 2, 3, 4, 8} {
				in := vmtest.Inputs(tp, lanes, uint64(round), round%3 == 0)
				for kind, b := range map[string]vmtest.Backend{"": on(name), "placed": placedOn(name)} {
					if err := vmtest.Agree(b, tp, lanes, in, round%2 == 0); err != nil {
						t.Fatalf("%s %s, %d lanes, round %d: %v\n%s", name, kind, lanes, round, err, tp)
					}
				}
			}
		}
	}
}
