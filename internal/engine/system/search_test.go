package system

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/crossings"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// margins are the conditions "f > 0" of functions f of time.
type margins struct{ *timeline }

func (m margins) At(t float64, margins, truths []float64) {
	m.timeline.At(t)
	for k, x := range m.value {
		margins[k], truths[k] = x, 0
		if x > 0 {
			truths[k] = 1
		}
	}
}

func (m margins) Over(lo, hi float64, margins, slopes []tape.Interval) {
	m.timeline.Over(lo, hi)
	for k := range margins {
		margins[k], slopes[k] = m.bound[k], m.Slope(k)
	}
}

// timelineOf compiles functions of time t.
func timelineOf(t testing.TB, functions ...string) *timeline {
	t.Helper()
	text := "time t from 0 to 1\nstate x[" + fmt.Sprint(len(functions)) + "] = 0\n"
	for i, f := range functions {
		text += fmt.Sprintf("x[%d]' = %s\n", i+1, f)
	}
	var list diag.List
	model := typecheck.Check(parser.Parse(source.NewFile("test.ode", text), &list), typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	c := tapec.Compile(model, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	l := newTimeline(compiled.NewByTime(c.Rates, tapec.Rate.Called("x"), nil, nil), vec.NewLayout(c))
	l.set(&vec.Frame{}, 0, nil)
	return l
}

// all returns the times up to limit at which one of the functions changes its sign.
func all(l *timeline, from, limit float64) (times []float64, s *crossings.Search) {
	s = crossings.New(margins{l}, len(l.value), nil)
	for t, calls := from, 0; t < limit && calls < 200000; calls++ {
		at, flips := s.Next(t, limit)
		if flips {
			times = append(times, at)
		}
		if !(at > t) {
			return append(times, math.NaN()), s
		}
		t = at
	}
	return times, s
}

// multiples returns (k + shift) period for k = 0 … n-1.
func multiples(n int, period float64, shifts ...float64) (times []float64) {
	for k := range n {
		for _, s := range shifts {
			times = append(times, (float64(k)+s)*period)
		}
	}
	return times
}

func TestSearch(t *testing.T) {
	asin := math.Asin(0.999) / 3
	third := math.Pi / 3
	gauss := math.Sqrt(math.Log(2))
	for _, c := range []struct {
		f        string
		from, to float64
		want     []float64
		most     int // evaluations for each root, or in all
	}{
		{"sin(3*t) - 0.999", 0, 10, multiples(5, 2*third, asin/(2*third), 0.5-asin/(2*third)), 60},
		{"sin(1e4*t)", 1e-5, 0.1, multiples(319, math.Pi/1e4, 1)[:318], 40},
		{"(t - 3)*(t - 3 - 1e-5)", 0, 10, []float64{3, 3 + 1e-5}, 150},
		{"1e-6 - abs(t - 777.25)", 0, 1000, []float64{777.25 - 1e-6, 777.25 + 1e-6}, 150},
		{"exp(-((t - 5)/1e-6)^2) - 0.5", 0, 10, []float64{5 - 1e-6*gauss, 5 + 1e-6*gauss}, 250},
		{"exp(-((t - 0.3)/1e-5)^2) - 0.5", 0, 1e6, []float64{0.3 - 1e-5*gauss, 0.3 + 1e-5*gauss}, 350},
		{"sin(t^2)", 1, 30, func() (w []float64) {
			for k := 1; float64(k)*math.Pi < 900; k++ {
				w = append(w, math.Sqrt(float64(k)*math.Pi))
			}
			return w
		}(), 60},
		{"t - 0.25", 0, 1e-3, nil, 10},
		{"t - 0.25e-3", 0, 1e-3, []float64{0.25e-3}, 40},
		{"t^3 - 8e15", 0, 1e6, []float64{2e5}, 80},
		// what touches zero
		{"sin(t) - 1", 0, 100, nil, 4000},
		{"-(t - 5)^2", 0, 10, nil, 200},
		{"-(t - 5)^2", 5, 10, nil, 200},
		{"cos(t) + 1", 0, 100, nil, 4000},
		{"abs(t - 4)", 0, 10, nil, 400},
		{"max(t - 4, 0)", 0, 10, []float64{math.Nextafter(4, 5)}, 200},
		{"1e-9 - (t - 5)^2", 0, 10, []float64{5 - math.Sqrt(1e-9), 5 + math.Sqrt(1e-9)}, 200},
		{"t*sqrt(t) - 1", 0, 4, []float64{1}, 60},
		{"1/(t - 2)", 0, 4, []float64{math.Nextafter(2, 3)}, 400},
		{"tanh(1/(t - 2))", 0, 4, []float64{math.Nextafter(2, 3)}, 400},
		{"0*t", 0, 4, nil, 10},
		{"sin(t)*0", 0, 4, nil, 200},
		// without slopes
		{"noevent(1 + floor(t))*(1e-8 - (t - 5)^2)", 0, 10, []float64{5 - 1e-4, 5 + 1e-4}, 2000},
		{"-noevent(1 + floor(t))*(t - 5.25)^2", 0, 10, nil, 1000000},
		{"-noevent(1 + floor(t))*(t*t - 4*t + 4)", 0, 10, nil, 1000000},
		{"noevent(floor(3*t)) - 7", 0, 10, []float64{8. / 3}, 400},
		{"noevent(mod(t, 2)) - 1.5", 0, 5, []float64{1.5, 2, 3.5, 4}, 400},
		{"noevent(if t < 3 then -1 else t - 3)", 0, 5, []float64{3}, 400},
		{"log(t - 1)", 0, 4, []float64{2}, 300},
	} {
		got, s := all(timelineOf(t, c.f), c.from, c.to)
		ok := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			ok = ok && math.Abs(got[i]-c.want[i]) <= 1e-12*max(1, math.Abs(c.want[i]))
		}
		cost := float64(s.Points+s.Boxes) / float64(max(len(c.want), 1))

		if !ok {
			t.Errorf("%s changes its sign at %d times, want %d: %v, want %v", c.f, len(got), len(c.want),
				got[:min(len(got), 6)], c.want[:min(len(c.want), 6)])
		}
		if cost > float64(c.most) {
			t.Errorf("%s took %.0f evaluations for a root, want at most %d", c.f, cost, c.most)
		}
	}
}

// TestSearchManyWaves compares with dense samples: every change that samples show is found, and every time that is
// found is the first float of a change.
func TestSearchManyWaves(t *testing.T) {
	r := elem.NewRand(7)
	u := func(a, b float64) float64 { return a + r.Float64()*(b-a) }
	for range 60 {
		var f []string
		for range 1 + int(r.Uint64()%3) {
			text := fmt.Sprintf("%g", u(-1, 1))
			for range 1 + int(r.Uint64()%3) {
				text += fmt.Sprintf(" + %g*sin(%g*t + %g)", u(-1, 1), u(0.1, 20), u(0, 6))
			}
			f = append(f, text)
		}
		l := timelineOf(t, f...)
		found, s := all(l, 0, 10)
		truth := func(at float64) []float64 {
			g, h := make([]float64, len(f)), make([]float64, len(f))
			margins{l}.At(at, g, h)
			return h
		}
		for _, at := range found {
			if before := math.Nextafter(at, -1); slices.Equal(truth(before), truth(at)) {
				t.Errorf("%q: nothing changes at %v", f, at)
			}
		}
		i, before := 0, truth(0)
		for k := 1; k <= 20000; k++ {
			at := float64(k) * 5e-4
			now, some := truth(at), false
			for i < len(found) && found[i] <= at {
				i, some = i+1, true
			}
			if !some && !slices.Equal(before, now) {
				t.Errorf("%q: the change before %v is not found", f, at)
			}
			before = now
		}
		if cost := float64(s.Points+s.Boxes) / float64(max(len(found), 1)); cost > 120 && len(found) > 4 {
			t.Errorf("%q: %.0f evaluations for each of %d changes", f, cost, len(found))
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	l := timelineOf(t, "sin(t) - 0.5")
	s := crossings.New(margins{l}, 1, nil)
	if n := testing.AllocsPerRun(10, func() { s.Next(0, 10) }); n > 0 {
		t.Errorf("a search allocates %v times", n)
	}
}

// TestTimelineSets sets a timeline again and again, as every segment does. What depends on its inputs alone is made
// anew where these differ, and nowhere else.
func TestTimelineSets(t *testing.T) {
	l := timelineOf(t, "exp(0.3)*t")
	l.inputs = append(l.inputs, timelineInput{vec: vec.P, point: make([]float64, 1), box: make([]tape.Interval, 1)})
	of := func(p float64) *vec.Frame {
		var in vec.Frame
		in[tapec.Primal][vec.P] = []float64{p}
		return &in
	}
	const mark = 7
	for _, c := range []struct {
		p    float64
		made bool
	}{
		{1, true},
		{1, false},
		{2, true},
		{math.Copysign(0, -1), true},
		{0, true},
		{math.NaN(), true},
		{math.NaN(), false},
	} {
		l.value[0] = mark
		l.set(of(c.p), 0, nil)
		if made := l.value[0] != mark; made != c.made {
			t.Errorf("at %v: made anew: %v, want %v", c.p, made, c.made)
		}
		if x := l.inputs[0].point[0]; math.Float64bits(x) != math.Float64bits(c.p) {
			t.Errorf("the input is %v, want %v", x, c.p)
		}
	}
}
