package trust

import (
	"math"
	"testing"

	"odes.dev/odes/result"
)

const sound, loose, lost = result.Sound, result.Loose, result.Lost

// TestChance holds that a small difference is no evidence among large ones, if these are most and many.
func TestChance(t *testing.T) {
	g := &Grader{Rounding: 1e-14}
	for i := range 9 {
		g.Variables = append(g.Variables, Variable{Offset: i, Count: 1, Size: 1})
	}
	for _, c := range []struct {
		what    string
		n, bad  int // variables, and those with large errors
		off     float64
		want    result.Trust // of the last variable, whose error is off
		nothing int          // variables without effect
	}{
		{"most are loose", 9, 5, 1e-4, loose, 0},
		{"most are right", 9, 4, 1e-4, sound, 0},
		{"much nearer than by chance", 9, 8, 1e-5, sound, 0},
		{"few", 7, 6, 1e-4, sound, 0},
		{"few that matter", 9, 5, 1e-4, sound, 2},
	} {
		x := &Numbers{
			Value: 1, Row: make([]float64, c.n), Errors: make([]float64, c.n),
			Trusts: make([]result.Trust, c.n),
		}
		for i := range c.n {
			if x.Row[i] = 1; i < c.bad {
				x.Errors[i] = 5e-3
			}
		}
		for i := range c.nothing {
			x.Row[c.n-2-i] = 0
		}
		x.Errors[c.n-1] = c.off
		y := *g
		y.Variables = g.Variables[:c.n]
		y.Grade(x)
		if got := x.Trusts[c.n-1]; got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestGrades grades numbers by their errors.
func TestGrades(t *testing.T) {
	g := &Grader{
		Variables: []Variable{{Count: 1, Size: 1}, {Offset: 1, Count: 1, Size: 1000}}, Rounding: 1e-14, Promised: 1e-8,
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		what       string
		value, err float64
		row, off   []float64
		want       result.Trust
		by         []result.Trust
	}{
		{"right", 2, 1e-6, []float64{1, 1}, []float64{1e-5, 1e-5}, sound, []result.Trust{sound, sound}},
		{"a loose value", 2, 1.5e-3, []float64{1, 0}, []float64{0, 0}, loose, []result.Trust{sound, sound}},
		{"a lost value", 2, 1e-2, []float64{1, 0}, []float64{0, 0}, lost, []result.Trust{sound, sound}},
		{"derivatives", 2, 0, []float64{1, 1e-3}, []float64{1e-2, 1e-3}, sound, []result.Trust{loose, lost}},
		{"not finite", inf, 0, []float64{1, math.NaN()}, nil, lost, []result.Trust{sound, lost}},
		{"an infinite error", 1, 0, []float64{1, 1}, []float64{inf, 0}, sound, []result.Trust{lost, sound}},
		{"of no influence", 2, 0, []float64{1e-5, 1}, []float64{1e-5, 0}, sound, []result.Trust{sound, sound}},
		{"of little influence", 2, 0, []float64{1e-2, 1}, []float64{1e-2, 0}, sound, []result.Trust{loose, sound}},
		{
			"zero but for rounding", 1, 0,
			[]float64{1e-15, 1e-18},
			[]float64{1e-15, 1e-18},
			sound,
			[]result.Trust{sound, sound},
		},
		{"a difference", 1e-7, 1e-8, []float64{1, 0}, []float64{0, 0}, loose, []result.Trust{sound, sound}},
		{"less than atol", 1e-12, 1e-10, []float64{1e-12, 0}, []float64{1e-10, 0}, loose, []result.Trust{loose, sound}},
		{"a value of rounding", 1e-15, 2e-15, []float64{1, 0}, []float64{0, 0}, sound, []result.Trust{sound, sound}},
		{
			"few digits beside a steep one", 1, 0,
			[]float64{1e9, 1e-3},
			[]float64{0, 1e-5},
			sound,
			[]result.Trust{sound, loose},
		},
		{
			"a zero beside a steep one", 1, 0,
			[]float64{1e9, 1e-3},
			[]float64{0, 1e-3},
			sound,
			[]result.Trust{sound, sound},
		},
		{"perhaps zero", 1, 0, []float64{1, 5e-10}, []float64{0, 5e-10}, sound, []result.Trust{sound, sound}},
		{"amplified rounding", 0.7, 0.05, []float64{1e15, 0}, []float64{0, 0}, loose, []result.Trust{sound, sound}},
		{"garbage hides nothing", 2, 0.1, []float64{1e46, 1}, []float64{1e46, 0}, lost, []result.Trust{lost, sound}},
	} {
		x := &Numbers{Value: c.value, Err: c.err, Row: c.row, Errors: c.off, Trusts: make([]result.Trust, 2)}
		got := g.Grade(x)
		if got != c.want || x.Trusts[0] != c.by[0] || x.Trusts[1] != c.by[1] {
			t.Errorf("%s: %s and %v, want %s and %v", c.what, got, x.Trusts, c.want, c.by)
		}
	}
}
