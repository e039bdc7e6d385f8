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
	end, part, sure := w.Look(p, []float64{0, 0.3 * 0.556, 0.8 * 0.556, 0.556}, []float64{1e-9})
	t.Log(end, part, sure, w.Boxes)
	if part < 0 {
		t.Error("nothing found")
	}
}

// bump is q^2*exp(-q^2) for q = (t - c)/w, as intervals see it.
type bump struct {
	c, w          float64
	values        [1]float64
	bound, slopes [1]tape.Interval
}

func (b *bump) At(t float64) []float64 {
	q := (t - b.c) / b.w
	b.values[0] = q * q * math.Exp(-q*q)
	return b.values[:]
}

func (b *bump) Over(lo, hi float64) []tape.Interval {
	p, q := (lo-b.c)/b.w, (hi-b.c)/b.w
	least, most := min(p*p, q*q), max(p*p, q*q)
	if p < 0 && q > 0 {
		least = 0
	}
	b.bound[0] = tape.Interval{Lo: least * math.Exp(-most), Hi: most * math.Exp(-least)}
	if b.slopes[0] = (tape.Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}); p == q {
		b.slopes[0] = tape.Point(2 * q * (1 - q*q) * math.Exp(-q*q) / b.w)
	}
	return b.bound[:]
}

func (b *bump) Slope(k int) tape.Interval { return b.slopes[k] }

// TestUnimportant has a function whose bound over a long step is 10^13 times its largest value, and yet it is seen.
func TestUnimportant(t *testing.T) {
	b := narrow.NewBands(&bump{c: 4.2479, w: 5e-6}, 1, 1)
	b.Doubt[0] = true
	times := []float64{0, 5, 27.9}
	b.Floor[0] = b.Line.Over(0, 27.9)[0].Hi
	b.Unimportant(0, 27.9)
	if floor := b.Floor[0]; !(floor > 0 && floor < 1e-10) {
		t.Errorf("%g does not matter, of 0.37", floor)
	}
	if end, out := b.Leave(times, 400); !out || math.Abs(end-4.2479) > 1e-3 {
		t.Errorf("it leaves its band at %v, %v", end, out)
	}
}
