package vm_test

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
)

// randomGrid is a tape of n instructions on grids longer than a strip:
// arithmetic, neighbours with every border, parts of rows, sums.
func randomGrid(r *elem.Rand, n int) *tape.Tape {
	b := tape.NewBuilderWith("grid", 0)
	pick := func(k int) int { return int(r.Uint64() % uint64(k)) }
	shape := tape.Shape{[]int{9, 12, 40}[pick(3)], []int{33, 70, 130, 64}[pick(4)]}
	in := func(name string, s tape.Shape) tape.Value { return b.Input(name, s, pick(3) == 0) }
	grids := []tape.Value{in("u", shape), in("v", shape)}
	others := []tape.Value{
		in("k", nil), in("r", tape.Shape{1, shape[1]}), in("c", tape.Shape{shape[0], 1}),
		b.Scalar(3),
	}
	recent := func() tape.Value {
		if pick(2) == 0 {
			return grids[pick(len(grids))]
		}
		return grids[len(grids)-1-pick(min(len(grids), 3))]
	}
	index := func(axis int) []int { // neighbours along an axis, or positions in no order
		m := shape[axis]
		list := make([]int, m)
		shift, kind := 1-2*pick(2), pick(4)
		for i := range list {
			switch j := i + shift; kind {
			case 0:
				list[i] = (j + m) % m
			case 1:
				list[i] = min(max(j, 0), m-1)
			case 2:
				list[i] = (i*7 + 3) % m
			default:
				list[i] = m - 1 - i
			}
		}
		return list
	}
	ops := []tape.Op{tape.Add, tape.Sub, tape.Mul, tape.Sub, tape.Max, tape.Less, tape.Sqr, tape.Exp, tape.Select}
	for i := range n {
		var v tape.Value
		switch pick(8) {
		case 0:
			axis := pick(2)
			v = b.Take(recent(), axis, index(axis))
		case 1:
			axis := pick(2)
			v = b.Put(recent(), axis, index(axis), shape[axis])
		case 2:
			part, start := tape.Shape{shape[0] - 2, shape[1] - 1 - pick(2)}, []int{pick(3), pick(2)}
			x := b.Slice(recent(), start, part, nil)
			if pick(2) == 0 {
				x = b.Mul(x, others[0])
			}
			v = b.Pad(x, shape, []int{pick(3), pick(2)}, nil)
		default:
			op := ops[pick(len(ops))]
			args := []tape.Value{recent(), recent(), recent()}[:op.Row().Arity]
			if len(args) == 2 && pick(3) == 0 {
				args[pick(2)] = others[pick(len(others))]
			}
			v = b.Emit(tape.Instr{Op: op, Args: args, Shape: shape})
		}
		grids = append(grids, v)
		switch pick(8) {
		case 2, 3:
			flat := tape.Shape{shape.Size()}
			d := b.Dot(b.Reshape(v, flat), b.Reshape(recent(), flat))
			b.Output(fmt.Sprintf("d%d", i), d)
		case 0:
			b.Output(fmt.Sprintf("o%d", i), v)
		case 1:
			s := b.SumAxes(v, pick(2))
			b.Output(fmt.Sprintf("s%d", i), s)
		}
	}
	b.Output("last", grids[len(grids)-1])
	return b.Tape()
}

// TestLongLoops runs random tapes on arrays of several strips.
func TestLongLoops(t *testing.T) {
	r := elem.NewRand(11)
	for round := range 40 {
		tp := randomGrid(r, 4+round)
		lanes := []int{1, 2, 3, 4, 8}[round%5]
		in := vmtest.Inputs(tp, lanes, uint64(round), round%4 == 0)
		for _, name := range backends() {
			for kind, b := range map[string]vmtest.Backend{"": on(name), "placed": placedOn(name)} {
				if err := vmtest.Agree(b, tp, lanes, in, round%2 == 0); err != nil {
					t.Fatalf("%s %s, %d lanes, round %d: %v\n%s", name, kind, lanes, round, err, tp)
				}
			}
		}
	}
}

// TestRestOfRow runs a loop of two strips whose last row the handler does in part, because it stops
// at an element outside of the main path of a function.
func TestRestOfRow(t *testing.T) {
	for _, op := range []string{"atan2", "pow", "hypot", "mod"} {
		tp := parse(t, "tape row\n in x [129]\n in y [1] lane\n %2 = "+op+" x y : [129] lane\n %3 = "+op+
			" y x : [129] lane\n out a %2\n out b %3\n")
		for _, name := range backends() {
			for _, lanes := range []int{4, 8, 16} {
				for seed := range uint64(20) {
					if err := vmtest.Agree(on(name), tp, lanes, vmtest.Inputs(tp, lanes, seed, true),
						false); err != nil {
						t.Fatalf("%s, %s, %d lanes: %v", op, name, lanes, err)
					}
				}
			}
		}
	}
}
