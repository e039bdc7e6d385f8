package tape_test

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// TestPartly compares all values of random tapes with those of an evaluator, in any order and with inputs that change.
func TestPartly(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		e := tape.NewEvaluator[float64](tp)
		set := func(seed uint64, change func(name string) bool) {
			for name, x := range tapetest.Fill(tp, seed) {
				if change(name) {
					copy(e.Input(name), x)
				}
			}
			e.Run()
		}
		stay := func(name string) bool { return name != "in.b" }
		input := func(i int, to []float64) { copy(to, e.Value(tape.Value(i))) }
		p := tape.NewPartly(tp, stay, input)
		q := p.Other(input)
		for seed, all := range []bool{true, false, true} {
			set(uint64(seed), func(name string) bool { return all || !stay(name) })
			p.Begin(all)
			q.Begin(all)
			for _, v := range rapid.Permutation(slices.Collect(valuesOf(tp))).Draw(rt, "order") {
				for _, side := range []*tape.Partly{p, q} {
					if !slices.EqualFunc(side.Value(v), e.Value(v), func(a, b float64) bool {
						return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
					}) {
						rt.Fatalf("value %d is %v, want %v\n%v", v, side.Value(v), e.Value(v), tp)
					}
				}
			}
		}
	})
}

func valuesOf(t *tape.Tape) func(yield func(tape.Value) bool) {
	return func(yield func(tape.Value) bool) {
		for v := range tape.Value(t.Values()) {
			if !yield(v) {
				return
			}
		}
	}
}

// TestPartlyWork computes what is asked for and nothing else, and once what follows from inputs that stay.
func TestPartlyWork(t *testing.T) {
	tp := parse(t, `tape t
in knots [100]
in other [1000]
in t
%3 = sqr knots : [100]
%4 = find %3 t
%5 = sin other : [1000]
%6 = max %4 t
%7 = sum %5 axes=[0]
%8 = add %6 %7
out y %8
`)
	p := tape.NewPartly(tp, func(name string) bool { return name != "t" }, func(i int, to []float64) {
		for j := range to {
			to[j] = float64(j)
		}
	})
	for _, c := range []struct {
		all  bool
		want int
	}{{true, 203}, {false, 3}, {false, 3}, {true, 203}} {
		before := p.Work()
		p.Begin(c.all)
		if p.Bends(6, 0, nil); p.Work()-before != c.want {
			t.Errorf("%d elements are computed, want %d", p.Work()-before, c.want)
		}
	}
}
