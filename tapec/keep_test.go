package tapec

import (
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// TestKeepRandom compares a tape that keeps values, and a transpose that reads them, with those that do not.
func TestKeepRandom(t *testing.T) {
	kept := 0
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Smooth)
		of, wrt := names(tp)
		v, err := VJP(tp, of, wrt)
		if err != nil {
			rt.Fatal(err)
		}
		keeping, reading, saved := Keep(tp, v, SharedWork)
		if keeping == nil {
			return
		}
		if saved <= 0 {
			rt.Fatalf("%d saved", saved)
		}
		kept++
		in := tapetest.Fill(tp, 2)
		want, got := runTape(rt, tp, in), runTape(rt, keeping, in)
		same := func(t *tape.Tape, got, want *tape.Evaluator[float64]) {
			for _, o := range t.Outputs {
				if !sameBits(got.Output(o.Name), want.Output(o.Name)) {
					rt.Fatalf("%s changed\n%s\n%s", o.Name, t, keeping)
				}
			}
		}
		same(tp, got, want)
		values := map[string][]float64{}
		for _, o := range keeping.Outputs {
			values[o.Name] = got.Output(o.Name)
		}
		bars := tapetest.Fill(v, 3)
		same(v, runTape(rt, reading, bars, in, values), runTape(rt, v, bars, in))
	})
	if kept == 0 {
		t.Error("nothing was kept")
	}
}

// TestKeep looks at a layer of a neural network: its products and functions are not computed again.
func TestKeep(t *testing.T) {
	tp := parseTape(t, `tape dy
in x [20]
in w [30 20]
in u [40 30]
%3 = matmul w x : [30]
%4 = tanh %3    : [30]
%5 = matmul u %4 : [40]
out dy %5
`)
	v, err := VJP(tp, []string{"dy"}, []string{"x", "w", "u"})
	if err != nil {
		t.Fatal(err)
	}
	keeping, reading, saved := Keep(tp, v, SharedWork)
	if got := keeping.String(); !strings.HasSuffix(got, "out dy  %5\nout w.0 %4\n") {
		t.Errorf("keeping is\n%s", got)
	}
	if got := reading.String(); strings.Contains(got, "tanh") || !strings.Contains(got, "in w.0    [30]") {
		t.Errorf("reading is\n%s", got)
	}
	if want := 30*20 + 30*ofFunction - 30*storing; saved != want {
		t.Errorf("%d saved, want %d", saved, want)
	}
	if k, r, n := Keep(tp, parseTape(t, "tape v\nin x [20]\nin bar.dy [40]\n%2 = sqr x : [20]\nout bar.x %2\n"),
		SharedWork); k != nil || r != nil || n != 0 {
		t.Errorf("%d saved of nothing", n)
	}
}
