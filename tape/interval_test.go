package tape_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// enclose evaluates t over boxes of the inputs, and at points within them, and requires that all values lie in their
// enclosures.
func enclose(t rapid.TB, tp *tape.Tape, boxes map[string][]tape.Interval, r *elem.Rand) {
	t.Helper()
	over, at := tape.NewEvaluator[tape.Interval](tp), tape.NewEvaluator[float64](tp)
	for name, box := range boxes {
		copy(over.Input(name), box)
	}
	over.Run()
	for trial := range 12 {
		for name, box := range boxes {
			x := at.Input(name)
			for i, b := range box {
				switch trial {
				case 0:
					x[i] = b.Lo
				case 1:
					x[i] = b.Hi
				default:
					u := r.Float64()
					x[i] = min(max(b.Lo+float64(u*(b.Hi-b.Lo)), b.Lo), b.Hi)
				}
			}
		}
		at.Run()
		for v := range tape.Value(tp.Values()) {
			for i, x := range at.Value(v) {
				if b := over.Value(v)[i]; !b.Contains(x) {
					op := "input"
					if in := tp.Instr(v); in != nil {
						op = in.Op.String()
						for _, a := range in.Args {
							t.Logf("operand over %v, at %v", over.Value(a), at.Value(a))
						}
					}
					t.Fatalf("element %d of value %d (%s) is %v, outside [%v, %v]", i, v, op, x, b.Lo, b.Hi)
				}
			}
		}
	}
}

// around returns a box around x, of a random width.
func around(x float64, r *elem.Rand) tape.Interval {
	w := float64(r.Float64() * elem.Pow(10, -float64(6*r.Float64())+1))
	switch {
	case r.Float64() < 0.1:
		w = 0
	case r.Float64() < 0.1:
		w = float64(w * 1e3)
	}
	u := r.Float64()
	return tape.Interval{Lo: x - float64(u*w), Hi: x + float64((1-u)*w)}
}

func TestIntervalsEncloseOps(t *testing.T) {
	r := elem.NewRand(1)
	for _, c := range tapetest.Cases() {
		for range 200 {
			boxes := map[string][]tape.Interval{}
			for name, x := range c.Inputs {
				for _, v := range x {
					logic := c.Op == tape.And || c.Op == tape.Or || c.Op == tape.Select
					if logic && name == "x" && r.Float64() < 0.5 {
						boxes[name] = append(boxes[name], tape.Point(v))
						continue
					}
					boxes[name] = append(boxes[name], around(v, r))
				}
			}
			enclose(t, c.Tape, boxes, r)
		}
	}
}

func TestIntervalsEncloseTapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]tapetest.Kind{tapetest.Any, tapetest.Smooth}).Draw(t, "kind")
		tp := tapetest.Random(t, kind)
		r := elem.NewRand(rapid.Uint64().Draw(t, "seed"))
		boxes := map[string][]tape.Interval{}
		for name, x := range tapetest.Fill(tp, r.Uint64()) {
			for _, v := range x {
				boxes[name] = append(boxes[name], around(v, r))
			}
		}
		enclose(t, tp, boxes, r)
	})
}

// TestIntervalsAreTight compares enclosures with the values that functions take.
func TestIntervalsAreTight(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		text     string
		over     tape.Interval
		lo, hi   float64
		relative float64 // how much wider it may be
	}{
		{"%1 = exp x", tape.Interval{Lo: 1, Hi: 2}, math.E, math.E * math.E, 1e-14},
		{"%1 = sqrt x", tape.Interval{Lo: 4, Hi: 9}, 2, 3, 0},
		{"%1 = sqr x", tape.Interval{Lo: -1, Hi: 3}, 0, 9, 0},
		{"%1 = sub x x", tape.Interval{Lo: 1, Hi: 3}, -2, 2, 0}, // operands are not known to be one value
		{"%1 = powi x power=3", tape.Interval{Lo: -2, Hi: 3}, -8, 27, 1e-14},
		{"%1 = powi x power=4", tape.Interval{Lo: -2, Hi: 3}, 0, 81, 1e-14},
		{"%1 = powi x power=-1", tape.Interval{Lo: 2, Hi: 4}, 0.25, 0.5, 1e-14},
		{"%1 = abs x", tape.Interval{Lo: -5, Hi: -3}, 3, 5, 0},
		{"%1 = sin x", tape.Interval{Lo: 1, Hi: 2}, math.Sin(1), 1, 1e-14},
		{"%1 = sin x", tape.Interval{Lo: 4, Hi: 5}, -1, math.Sin(4), 1e-14},
		{"%1 = sin x", tape.Interval{Lo: 100, Hi: 100.5}, math.Sin(100), math.Sin(100.5), 1e-14},
		{"%1 = sin x", tape.Interval{Lo: -50, Hi: 50}, -1, 1, 0},
		{"%1 = sin x", tape.Interval{Lo: 1e300, Hi: 1e300}, -1, 1, 0},
		{"%1 = cos x", tape.Interval{Lo: -0.5, Hi: 1}, math.Cos(1), 1, 1e-14},
		{"%1 = cos x", tape.Interval{Lo: 3, Hi: 3.5}, -1, math.Cos(3.5), 1e-14},
		{"%1 = tan x", tape.Interval{Lo: -1, Hi: 1}, math.Tan(-1), math.Tan(1), 1e-14},
		{"%1 = tan x", tape.Interval{Lo: 1, Hi: 2}, -inf, inf, 0},
		{"%1 = floor x", tape.Interval{Lo: 1.5, Hi: 2.5}, 1, 2, 0},
		{"%1 = recip x", tape.Interval{Lo: -1, Hi: 1}, -inf, inf, 0},
		{"%1 = cosh x", tape.Interval{Lo: -1, Hi: 0.5}, 1, math.Cosh(1), 1e-14},
		{"%1 = tanh x", tape.Interval{Lo: -100, Hi: 100}, -1, 1, 0},
		{"%1 = lgamma x", tape.Interval{Lo: 1, Hi: 2}, -0.12148629053584961, 0, 1e-13},
		{"%1 = const 2\n %2 = mod x %1", tape.Interval{Lo: 4.5, Hi: 5.5}, 0.5, 1.5, 0},
		{"%1 = const 2\n %2 = mod x %1", tape.Interval{Lo: 5, Hi: 6.5}, 0, 2, 0},
		{"%1 = const 2\n %2 = less x %1", tape.Interval{Lo: 1, Hi: 1.5}, 1, 1, 0},
		{"%1 = const 2\n %2 = less x %1", tape.Interval{Lo: 2, Hi: 2.5}, 0, 0, 0},
		{"%1 = const 2\n %2 = less x %1", tape.Interval{Lo: 1, Hi: 2.5}, 0, 1, 0},
	} {
		last := "%1"
		if strings.Contains(c.text, "%2") {
			last = "%2"
		}
		tp := parse(t, "tape c\n in x\n "+c.text+"\n out out "+last)
		e := tape.NewEvaluator[tape.Interval](tp)
		e.Input("x")[0] = c.over
		e.Run()
		got := e.Output("out")[0]
		slack := 0.0
		if c.relative > 0 {
			slack = c.relative * max(1, math.Abs(c.lo), math.Abs(c.hi))
		}
		if !(math.Abs(got.Lo-c.lo) <= slack || got.Lo == c.lo) || !(math.Abs(got.Hi-c.hi) <= slack || got.Hi == c.hi) {
			t.Errorf("%s over %v is %v, want [%v, %v]", c.text, c.over, got, c.lo, c.hi)
		}
	}
}

// TestIntervalsOfNothing holds that where NaN is possible nothing is known, and that functions with a bounded range
// do not hide it.
func TestIntervalsOfNothing(t *testing.T) {
	for _, text := range []string{
		"%1 = log x\n %2 = sin %1", "%1 = sqrt x\n %2 = tanh %1", "%1 = div x x\n %2 = less x %1",
		"%1 = asin x\n %2 = max x %1",
	} {
		tp := parse(t, "tape c\n in x\n "+text+"\n out out %2")
		e := tape.NewEvaluator[tape.Interval](tp)
		e.Input("x")[0] = tape.Interval{Lo: -2, Hi: 3}
		e.Run()
		got := e.Output("out")[0]
		if !(math.IsNaN(got.Lo) && math.IsNaN(got.Hi)) && got != (tape.Interval{Lo: 0, Hi: 1}) {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestIntervalsAllocateNothing(t *testing.T) {
	tp := parse(t, "tape c\n in x [3]\n %1 = sin x : [3]\n %2 = sum %1 axes=[0]\n %3 = exp %2\n out out %3")
	e := tape.NewEvaluator[tape.Interval](tp)
	if n := testing.AllocsPerRun(10, e.Run); n != 0 {
		t.Errorf("a run allocates %v times", n)
	}
}

// TestEveryOpHasAnEnclosure holds the table.
func TestEveryOpHasAnEnclosure(t *testing.T) {
	for _, op := range tape.Ops() {
		r := op.Row()
		if !r.Elementwise() || op == tape.Powi {
			continue
		}
		if !map[int]bool{1: r.Interval1 != nil, 2: r.Interval2 != nil, 3: r.Interval3 != nil}[r.Arity] {
			t.Errorf("%v has no enclosure", op)
		}
	}
}
