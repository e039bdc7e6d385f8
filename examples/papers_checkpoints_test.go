package examples_test

import (
	"fmt"
	"testing"
)

// TestPaperCheckpoints counts the steps that are made again for a gradient of a run of known length, by states kept,
// and compares them with the formula of Griewank and Walther.
func TestPaperCheckpoints(t *testing.T) {
	const folder = "papers/tsadjoint/"
	binomial := func(n, k int) int {
		b := 1
		for i := range min(k, n-k) {
			b = b * (n - i) / (i + 1)
		}
		return b
	}
	formula := func(n, c int) int { // r n - C(c+r, r-1), with the least r for which C(c+r, r) is at least n
		c = min(c, n)
		r := 0
		for binomial(c+r, r) < n {
			r++
		}
		if r == 0 {
			return 0
		}
		return r*n - binomial(c+r, r-1)
	}
	var rows [][]string
	var first float64
	for _, c := range []int{1, 2, 3, 4, 5, 6, 8, 10} {
		row := []string{fmt.Sprint(c)}
		for _, n := range []int{10, 100} {
			s := studied(t, folder+"decay.ode", "solver.checkpoint", fmt.Sprintf("binomial(%d)", c),
				"solver.fixed_step", fmt.Sprint(1/float64(n)))
			if s.Stats.Steps != n {
				t.Fatalf("%d steps, want %d", s.Stats.Steps, n)
			}
			if got, want := s.Stats.RecomputedSteps, formula(n, c); got != want {
				t.Errorf("%d steps, %d states: %d are made again, the formula says %d", n, c, got, want)
			} else if n == 10 && c == 3 && got != 15 {
				t.Errorf("10 steps, 3 states: %d are made again, want 15", got)
			}
			if n == 10 {
				if first == 0 {
					first = s.Gradient[0]
				}
				if s.Gradient[0] != first {
					t.Errorf("%d states: the derivative is %v, with one state it is %v", c, s.Gradient[0], first)
				}
			}
			row = append(row, fmt.Sprint(s.Stats.RecomputedSteps), fmt.Sprint(formula(n, c)))
		}
		rows = append(rows, row)
	}
	tabled(t, folder+"README.md", "counts", []string{
		"states", "10 steps", "by formula", "100 steps", "by formula",
	}, rows)
}
