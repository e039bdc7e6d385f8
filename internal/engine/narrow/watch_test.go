package narrow_test

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/engine/narrow"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// watchOf returns a watch of the narrow parts of a tape, with its constants, and the number of parts.
func watchOf(t *testing.T, text string, constants map[string][]float64) (*narrow.Watch, int) {
	t.Helper()
	tp, err := tape.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p := tapec.Narrow(tp, nil)
	if p == nil {
		t.Fatal("nothing is narrow")
	}
	states := 0
	at := map[string]int{}
	for _, in := range tp.Inputs {
		if n := tapec.MustName(in.Name); n.Role == tapec.State {
			at[in.Name] = states
			states += in.Shape.Size()
		}
	}
	of, out := tapec.InnerValues.Name(), tapec.NarrowValues.Name()
	w := narrow.New(&narrow.Tapes{
		Inner: p.Inner, Degrees: p.Degrees, Parts: p.Parts, Jumps: p.Jumps,
		Of: of.String(), DotOf: of.Dot().String(), Out: out.String(), Dots: out.Dot().String(),
	}, func(name string) narrow.Place {
		n := tapec.MustName(name)
		return narrow.Place{
			Time: n.Role == tapec.Time, State: n.Role == tapec.State, From: at[name],
			Values: func() []float64 { return constants[name] },
		}
	}, func(int) bool { return true })
	w.Begin()
	return w, len(p.Spans)
}

// along returns the path of functions of theta.
func along(n int, h float64, states ...func(theta float64) float64) *bernstein.Path {
	p := &bernstein.Path{T: 0, H: h, T1: h, Basis: bernstein.Of(n)}
	for _, theta := range p.Nodes {
		var y []float64
		for _, f := range states {
			y = append(y, f(theta))
		}
		p.Values = append(p.Values, y)
	}
	return p
}

// TestPassages has bells that a path passes between two nodes, wherever it does.
func TestPassages(t *testing.T) {
	w, _ := watchOf(t, `tape rates
in y.x
in p.c
in p.w
%3 = sub y.x p.c
%4 = div %3 p.w
%5 = const 1
%6 = sub %4 %5
%7 = erf %6
out dq.0 %7
`, map[string][]float64{"p.c": {7.7834}, "p.w": {0.00019757}})
	x := func(theta float64) float64 {
		return 15.6 * math.Sin(2*math.Pi/15.6*0.8*(1.2353736284273915+0.556*theta))
	}
	p := along(5, 0.556, x)
	end, part, sure := w.Look(p, []float64{0, 0.3 * 0.556, 0.8 * 0.556, 0.556})
	t.Log(end, part, sure, w.Boxes)
	if part < 0 {
		t.Error("nothing found")
	}
}
