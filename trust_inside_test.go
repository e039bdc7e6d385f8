package odes

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestStrangeEvents compares the events of two runs.
func TestStrangeEvents(t *testing.T) {
	named := func(x happening) string {
		if x.elem > 0 {
			return fmt.Sprintf("%c[1,%d]", x.what, x.elem)
		}
		return string(rune(x.what))
	}
	at := func(name string, times ...float64) (list []happening) {
		for _, x := range times {
			list = append(list, happening{x, int32(name[0]), 0})
		}
		return list
	}
	for _, c := range []struct {
		a, b []happening
		want string // a part of what is said; "" for nothing
	}{
		{at("e", 1, 2), at("e", 1, 2), ""},
		{at("e", 1, 2), at("e", 1+1e-9, 2-1e-9), ""},
		{at("e", 1, 2), at("e", 1), "e at 2 happens in this run alone"},
		{at("e", 1), at("e", 1, 2), "e at 2 happens in the independent run alone"},
		{at("e", 1, 2, 3), at("e", 1, 2.5, 3), "e happens at 2 in this run, at 2.5 in the independent run"},
		{at("e", 2, 3), at("e", 1, 2, 3), "at 1 in the independent run"}, // the first one
		{at("e", 1, 10), at("e", 1), ""},                                 // at the end
		{at("e", 0), nil, ""},                                            // at the start
		{append(at("e", 1), at("f", 2)...), append(at("f", 1), at("e", 2)...), "e happens at 1"},
		{append(at("e", 1), at("f", 1)...), append(at("f", 1), at("e", 1)...), ""}, // the order of a tie
		{[]happening{{3, 'e', 2}}, nil, "e[1,2] at 3"},
	} {
		a, b := &happenings{list: c.a, named: named}, &happenings{list: c.b, named: named}
		got, _ := strangeEvent(a, b, 0, 10, 10)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%v and %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// TestChance holds that a small difference is no evidence among large ones, if these are most and many.
func TestChance(t *testing.T) {
	g := &grader{rounding: 1e-14}
	for range 9 {
		g.variables = append(g.variables, Variable{Name: "p", Offset: len(g.variables)})
		g.sizes = append(g.sizes, 1)
	}
	for _, c := range []struct {
		what    string
		n, bad  int // variables, and those with large errors
		off     float64
		want    Trust // of the last variable, whose error is off
		nothing int   // variables without effect
	}{
		{"most are loose", 9, 5, 1e-4, Loose, 0},
		{"most are right", 9, 4, 1e-4, Sound, 0},
		{"much nearer than by chance", 9, 8, 1e-5, Sound, 0},
		{"few", 7, 6, 1e-4, Sound, 0},
		{"few that matter", 9, 5, 1e-4, Sound, 2},
	} {
		x := &graded{value: 1, row: make([]float64, c.n), errors: make([]float64, c.n), trusts: make([]Trust, c.n)}
		for i := range c.n {
			if x.row[i] = 1; i < c.bad {
				x.errors[i] = 5e-3
			}
		}
		for i := range c.nothing {
			x.row[c.n-2-i] = 0
		}
		x.errors[c.n-1] = c.off
		y := *g
		y.variables = g.variables[:c.n]
		y.grade(x)
		if got := x.trusts[c.n-1]; got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestGrades grades numbers by their errors.
func TestGrades(t *testing.T) {
	g := &grader{
		variables: []Variable{{Name: "p"}, {Name: "q", Offset: 1}}, sizes: []float64{1, 1000}, rounding: 1e-14,
		promised: 1e-8,
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		what       string
		value, err float64
		row, off   []float64
		want       Trust
		by         []Trust
	}{
		{"right", 2, 1e-6, []float64{1, 1}, []float64{1e-5, 1e-5}, Sound, []Trust{Sound, Sound}},
		{"a loose value", 2, 1e-3, []float64{1, 0}, []float64{0, 0}, Loose, []Trust{Sound, Sound}},
		{"a lost value", 2, 1e-2, []float64{1, 0}, []float64{0, 0}, Lost, []Trust{Sound, Sound}},
		{"derivatives", 2, 0, []float64{1, 1e-3}, []float64{1e-2, 1e-3}, Sound, []Trust{Loose, Lost}},
		{"not finite", inf, 0, []float64{1, math.NaN()}, nil, Lost, []Trust{Sound, Lost}},
		{"an infinite error", 1, 0, []float64{1, 1}, []float64{inf, 0}, Sound, []Trust{Lost, Sound}},
		{"of no influence", 2, 0, []float64{1e-5, 1}, []float64{1e-5, 0}, Sound, []Trust{Sound, Sound}},
		{"of little influence", 2, 0, []float64{1e-2, 1}, []float64{1e-2, 0}, Sound, []Trust{Loose, Sound}},
		{"zero but for rounding", 1, 0, []float64{1e-15, 1e-18}, []float64{1e-15, 1e-18}, Sound, []Trust{Sound, Sound}},
		{"a difference", 1e-7, 1e-8, []float64{1, 0}, []float64{0, 0}, Loose, []Trust{Sound, Sound}},
		{"less than atol", 1e-12, 1e-10, []float64{1e-12, 0}, []float64{1e-10, 0}, Loose, []Trust{Loose, Sound}},
		{"a value of rounding", 1e-15, 2e-15, []float64{1, 0}, []float64{0, 0}, Sound, []Trust{Sound, Sound}},
		{"amplified rounding", 0.7, 0.05, []float64{1e15, 0}, []float64{0, 0}, Loose, []Trust{Sound, Sound}},
		{"garbage hides nothing", 2, 0.1, []float64{1e46, 1}, []float64{1e46, 0}, Lost, []Trust{Lost, Sound}},
	} {
		x := &graded{value: c.value, err: c.err, row: c.row, errors: c.off, trusts: make([]Trust, 2)}
		got := g.grade(x)
		if got != c.want || x.trusts[0] != c.by[0] || x.trusts[1] != c.by[1] {
			t.Errorf("%s: %s and %v, want %s and %v", c.what, got, x.trusts, c.want, c.by)
		}
	}
}
