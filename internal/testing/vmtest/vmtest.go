// Package vmtest is the conformance suite of machines. Whatever runs tapes must give, in every
// lane, the bits of the reference evaluator of package tape. The suite knows tapes, and nothing of
// how machines run them.
package vmtest

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// Machine is what the suite needs of a machine; see vm.Machine.
type Machine interface {
	SetInput(i int, x []float64)
	SetOutput(i int, dst []float64, accumulate bool)
	Run()
}

// Backend makes a machine that runs t with the given lanes.
type Backend func(t *tape.Tape, lanes int) (Machine, error)

// Conform runs the suite: every op in every form, with every choice of per-lane
// inputs, and random tapes, on 1 to 16 lanes and special values.
func Conform(t *testing.T, b Backend) {
	t.Run("cases", func(t *testing.T) { cases(t, b) })
	t.Run("chains", func(t *testing.T) { chains(t, b) })
	t.Run("random", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			tp := tapetest.Random(t, tapetest.Any)
			if work(tp) > 1e4 {
				t.Skip("too large to be quick")
			}
			lanes := rapid.IntRange(1, 16).Draw(t, "lanes")
			seed := rapid.Uint64().Draw(t, "seed")
			special := rapid.Bool().Draw(t, "special")
			if err := Agree(b, tp, lanes, Inputs(tp, lanes, seed, special),
				rapid.Bool().Draw(t, "accumulate")); err != nil {
				t.Fatalf("%v\n%s", err, tp)
			}
		})
	})
}

// work counts the elements of all values, and the products of contractions.
func work(t *tape.Tape) float64 {
	n := 0.0
	for v := range t.Values() {
		size := float64(t.Shape(tape.Value(v)).Size())
		n += size
		if in := t.Instr(tape.Value(v)); in != nil && in.Op == tape.MatMul {
			n += float64(size * float64(t.Shape(in.Args[0]).Size()))
		}
	}
	return n
}

func cases(t *testing.T, b Backend) {
	n := 0
	for _, c := range tapetest.Cases() {
		for mask := range 1 << len(c.Tape.Inputs) {
			tp := withLanes(c.Tape, mask)
			for _, lanes := range []int{1, 2, 3, 4, 5, 8} {
				for seed := range uint64(2) {
					in := Inputs(tp, lanes, seed+1, seed == 1)
					if seed == 0 { // the numbers of the case itself, for which the op is defined
						for i := range tp.Inputs {
							own(in[i], c.Inputs[tp.Inputs[i].Name])
						}
					}
					if err := Agree(b, tp, lanes, in, seed == 1); err != nil {
						t.Errorf("%s, per-lane inputs %b, %d lanes: %v", c.Name, mask, lanes, err)
					}
					n++
				}
			}
		}
	}
	if n < 1000 {
		t.Errorf("only %d cases", n)
	}
}

// own repeats data for the lanes, with small differences between lanes.
func own(x, data []float64) {
	lanes := len(x) / len(data)
	for i, v := range data {
		for l := range lanes {
			x[i*lanes+l] = v
			if v != math.Trunc(v) {
				x[i*lanes+l] = v + float64(float64(l)*0.001)
			}
		}
	}
}

// withLanes returns t with the inputs of mask per lane and the others shared.
func withLanes(t *tape.Tape, mask int) *tape.Tape {
	u := *t
	u.Inputs = append([]tape.Input(nil), t.Inputs...)
	for i := range u.Inputs {
		u.Inputs[i].PerLane = mask>>i&1 == 1
	}
	return &u
}

// chains are tapes long enough for more than one strip, with matrix products larger than every
// unrolled size.
func chains(t *testing.T, b Backend) {
	for _, text := range []string{
		"tape long\n in x [1500]\n in s\n in y [1500]\n %3 = mul x s : [1500]\n %4 = sin %3 : [1500]\n" +
			" %5 = add %4 y : [1500]\n %6 = mul %5 %4 : [1500]\n %7 = sub %6 x : [1500]\n %8 = sum %7 axes=[0]\n" +
			" out a %7\n out b %8",
		"tape stencil\n in u [40 50]\n in k\n %2 = slice u start=[0 1] : [38 48]\n" +
			" %3 = slice u start=[2 1] : [38 48]\n %4 = slice u start=[1 0] : [38 48]\n" +
			" %5 = slice u start=[1 2] : [38 48]\n %6 = slice u start=[1 1] : [38 48]\n" +
			" %7 = add %2 %3 : [38 48]\n %8 = add %4 %5 : [38 48]\n %9 = add %7 %8 : [38 48]\n" +
			" %10 = mul %6 k : [38 48]\n %11 = sub %9 %10 : [38 48]\n %12 = pad %11 start=[1 1] : [40 50]\n out du %12",
		// The adjoint of a stencil: shifted parts added up.
		"tape pads\n in w [30 40]\n in x [34 44]\n in v [500]\n %3 = pad w start=[0 2] : [34 44]\n" +
			" %4 = pad w start=[4 0] : [34 44]\n %5 = slice w start=[1 3] step=[2 3] : [11 12]\n" +
			" %6 = pad %5 start=[2 5] step=[3 3] : [34 44]\n" +
			" %7 = add %3 %4 : [34 44]\n %8 = mul %6 x : [34 44]\n %9 = sub %7 %8 : [34 44]\n" +
			" %10 = pad v start=[700] : [1300]\n %11 = pad v start=[3] step=[2] : [1300]\n" +
			" %12 = add %10 %11 : [1300]\n %13 = pad %11 start=[1] : [1302]\n out a %9\n out b %12\n out c %13\n" +
			" out d %4",
		// A periodic stencil, and one that repeats the border.
		"tape wrap\n in u [24 100]\n in k\n %2 = take u axis=0 index=[1:24 0] : [24 100]\n" +
			" %3 = take u axis=0 index=[23 0:23] : [24 100]\n %4 = take u axis=1 index=[1:100 0] : [24 100]\n" +
			" %5 = take u axis=1 index=[99 0:99] : [24 100]\n" +
			" %6 = add %2 %3 : [24 100]\n %7 = add %4 %5 : [24 100]\n %8 = add %6 %7 : [24 100]\n" +
			" %9 = take %8 axis=1 index=[0 0:99] : [24 100]\n %10 = take %8 axis=0 index=[1:24 23] : [24 100]\n" +
			" %11 = mul %9 k : [24 100]\n %12 = sub %11 %10 : [24 100]\n %13 = sqr %12 : [24 100]\n" +
			" %14 = put %13 axis=1 index=[0 0:99] : [24 100]\n %15 = put %13 axis=0 index=[1:24 0] : [24 100]\n" +
			" %16 = add %14 %15 : [24 100]\n %17 = take u axis=0 index=[3 5 4] : [3 100]\n" +
			" %18 = take %17 axis=1 index=[7 9:99 7] : [3 92]\n %19 = sin %18 : [3 92]\n out a %16\n out b %12\n" +
			" out c %19",
		// An instruction on long arrays that only the loop behind a barrier reads.
		"tape sunk\n in x [20 60]\n in y [20 60]\n in k\n %3 = mul x y : [20 60]\n %4 = mul x k : [20 60]\n" +
			" %5 = sub %3 %4 : [20 60]\n %6 = exp y : [20 60]\n %7 = mul %6 %5 : [20 60]\n" +
			" %8 = take %3 axis=1 index=[1:60 0] : [20 60]\n %9 = add %7 %8 : [20 60]\n" +
			" %10 = take %9 axis=0 index=[19 0:19] : [20 60]\n %11 = sqr %5 : [20 60]\n %12 = add %10 %11 : [20 60]\n" +
			" %13 = sub %12 %6 : [20 60]\n %14 = sum %13 axes=[0] : [60]\n out a %13\n out b %14\n out c %4",
		"tape rows\n in a [30 40]\n in r [1 40]\n in c [30 1]\n %3 = mul a r : [30 40]\n %4 = add %3 c : [30 40]\n" +
			" %5 = transpose %4 perm=[1 0] : [40 30]\n %6 = exp %5 : [40 30]\n %7 = sum %6 axes=[0] : [30]\n" +
			" %8 = sum %6 axes=[1] : [40]\n %9 = maxof %6 axes=[0 1]\n out a %6\n out b %7\n out c %8\n out d %9",
		"tape glv\n in x [37]\n in r [37]\n in A [37 37]\n in w [37]\n %4 = matmul A x : [37]\n" +
			" %5 = add %4 r : [37]\n %6 = mul %5 x : [37]\n %7 = mul w x : [37]\n %8 = matmul A %7 ta : [37]\n" +
			" %9 = mul w %5 : [37]\n %10 = add %8 %9 : [37]\n %11 = outer %7 x : [37 37]\n %12 = dot x w\n out f %6\n" +
			" out xbar %10\n out Abar %11\n out d %12\n out y x",
		"tape products\n in a [11 13]\n in b [13 9]\n %2 = matmul a b : [11 9]\n" +
			" %3 = transpose a perm=[1 0] : [13 11]\n %4 = transpose b perm=[1 0] : [9 13]\n" +
			" %5 = matmul %3 b ta : [11 9]\n %6 = matmul a %4 tb : [11 9]\n %7 = matmul %3 %4 ta tb : [11 9]\n" +
			" out a %2\n out b %5\n out c %6\n out d %7\n out e %3",
		"tape inplace\n in x [600]\n %1 = exp x : [600]\n %2 = sum %1 axes=[0]\n %3 = div %1 %2 : [600]\n" +
			" %4 = slice %3 start=[1] : [599]\n %5 = slice %3 start=[0] : [599]\n %6 = sub %4 %5 : [599]\n" +
			" %7 = sqr %6 : [599]\n %8 = reshape %2 : [1]\n %9 = concat %7 %8 axis=0 : [600]\n" +
			" %10 = reshape %9 : [20 30]\n %11 = slice %10 start=[3 4] step=[2 3] : [8 8]\n" +
			" %12 = reshape %11 : [64]\n out o %9\n out p %12\n out q %11",
	} {
		tp, err := tape.Parse(text)
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		allMasks(t, b, tp, 1, 3, 4, 8, 16)
	}
	allMasks(t, b, pairs(1), 1, 2, 4, 8)
	allMasks(t, b, pairs(5), 1, 4)
	allMasks(t, b, pairs(90), 1, 8)
	allMasks(t, b, pairs(520), 1)
}

// allMasks runs t with every choice of per-lane inputs.
func allMasks(t *testing.T, b Backend, tp *tape.Tape, lanes ...int) {
	for mask := range 1 << len(tp.Inputs) {
		tp := withLanes(tp, mask)
		for _, n := range lanes {
			if err := Agree(b, tp, n, Inputs(tp, n, 5, false), mask&1 == 1); err != nil {
				t.Errorf("%s, per-lane inputs %b, %d lanes: %v", tp.Name, mask, n, err)
			}
		}
	}
}

// pairs has every sum, difference and product of a sum, difference or product and a third operand,
// for arrays of n elements and scalars. No machine may contract such pairs to one rounding.
func pairs(n int) *tape.Tape {
	b := tape.NewBuilderWith(fmt.Sprintf("pairs%d", n), 0)
	x, y, z := b.Input("x", tape.Shape{n}, false), b.Input("y", tape.Shape{n}, false),
		b.Input("z", tape.Shape{n}, false)
	s := b.Input("s", tape.Shape{}, false)
	ops := []func(a, b tape.Value) tape.Value{b.Add, b.Sub, b.Mul}
	var sum tape.Value
	for i, first := range ops {
		for j, second := range ops {
			for k, args := range [][3]tape.Value{{x, y, z}, {x, s, z}, {s, y, x}, {x, y, s}, {s, z, s}, {y, s, s}} {
				p := second(first(args[0], args[1]), args[2])
				q := second(args[2], first(args[1], args[0]))
				if sum == 0 {
					sum = p
				}
				sum = b.Op2(tape.Max, sum, b.Op2(tape.Min, p, q))
				if (i+j+k)%5 == 0 {
					b.Output(fmt.Sprintf("o%d.%d.%d", i, j, k), p)
				}
			}
		}
	}
	b.Output("sum", sum)
	return b.Tape()
}

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -1e-310, 1e308,
	-1e308, 0.5, 2,
}

// Inputs returns numbers for every input, all lanes of it. With special set, a third of them are
// special values.
func Inputs(t *tape.Tape, lanes int, seed uint64, special bool) [][]float64 {
	r := elem.NewRand(seed)
	out := make([][]float64, len(t.Inputs))
	for i := range t.Inputs {
		n := t.Inputs[i].Shape.Size()
		if t.Inputs[i].PerLane {
			n *= lanes
		}
		x := make([]float64, n)
		for k := range x {
			x[k] = r.Norm()
			if u := r.Uint64(); special && u%3 == 0 {
				x[k] = specials[u/3%uint64(len(specials))]
			}
		}
		out[i] = x
	}
	return out
}

// Agree runs t on a machine, and lane by lane on the reference evaluator, and returns an error
// where bits differ. It runs the machine twice, the second time on other inputs and, with
// accumulate set, with accumulation, so that it finds state left over from the first run.
func Agree(b Backend, t *tape.Tape, lanes int, in [][]float64, accumulate bool) error {
	m, err := b(t, lanes)
	if err != nil {
		return err
	}
	perLane := tape.PerLane(t)
	r := elem.NewRand(99)
	for round := range 2 {
		add := accumulate && round == 1
		if round == 1 {
			in = Inputs(t, lanes, 77, false)
		}
		before := make([][]float64, len(t.Inputs))
		for i, x := range in {
			before[i] = append([]float64(nil), x...)
			m.SetInput(i, x)
		}
		got := make([][]float64, len(t.Outputs))
		was := make([][]float64, len(t.Outputs))
		for i, o := range t.Outputs {
			n := t.Shape(o.Value).Size()
			if perLane[o.Value] {
				n *= lanes
			}
			got[i] = make([]float64, n)
			for k := range got[i] {
				got[i][k] = r.Norm()
			}
			was[i] = append([]float64(nil), got[i]...)
			m.SetOutput(i, got[i], add)
		}
		m.Run()
		for i := range in {
			for k := range in[i] {
				if !Same(in[i][k], before[i][k]) {
					return fmt.Errorf("input %s was overwritten", t.Inputs[i].Name)
				}
			}
		}
		e := tape.NewEvaluator[float64](t)
		for l := range lanes {
			for i := range t.Inputs {
				dst := e.Value(tape.Value(i))
				for k := range dst {
					if t.Inputs[i].PerLane {
						dst[k] = in[i][k*lanes+l]
					} else {
						dst[k] = in[i][k]
					}
				}
			}
			e.Run()
			for i, o := range t.Outputs {
				for k, want := range e.Value(o.Value) {
					at := k
					if perLane[o.Value] {
						at = k*lanes + l
					}
					if add {
						want = was[i][at] + want
					}
					if !Same(got[i][at], want) {
						return fmt.Errorf("run %d: element %d of output %s, lane %d, is %v (%x), want %v (%x)", round,
							k, o.Name, l, got[i][at], got[i][at], want, want)
					}
				}
			}
		}
	}
	return nil
}

// Same reports whether a and b have the same bits. Any NaN equals any NaN.
func Same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}
