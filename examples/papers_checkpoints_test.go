package examples_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes/plot"

	"odes.dev/odes/solvers/methods"
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
	seen := studied(t, folder+"decay_seen.ode", "solver.checkpoint", "binomial(3)", "solver.fixed_step", "0.1")
	if s := seen.Stats; s.Steps != 10 || s.RecomputedSteps != 19 {
		t.Errorf("unknown number of steps: %d of %d are made again, want 19 of 10", s.RecomputedSteps, s.Steps)
	}
	tabled(t, folder+"README.md", "counts", []string{
		"states", "10 steps", "by formula", "100 steps", "by formula",
	}, rows)
}

// TestPaperStages counts the same where whole steps are kept with their stages, and draws all counts over the memory
// that is kept.
func TestPaperStages(t *testing.T) {
	const folder = "papers/tsadjoint/"
	least := func(n, c int) int { // by enumeration, without the n steps of the run
		best := make([][]int, c+1)
		for s := range best {
			best[s] = make([]int, n+1)
			for m := 1; m <= n; m++ {
				best[s][m] = m * (m + 1) / 2
				for i := 1; i < m && s > 0; i++ {
					best[s][m] = min(best[s][m], i+best[s-1][m-i]+best[s][i-1])
				}
			}
		}
		return best[c][n] - n
	}
	count := func(model, keep string, n int) int {
		s := studied(t, folder+model, "solver.checkpoint", keep, "solver.fixed_step", fmt.Sprint(1/float64(n)))
		if s.Stats.Steps != n {
			t.Fatalf("%d steps, want %d", s.Stats.Steps, n)
		}
		return s.Stats.RecomputedSteps
	}
	var rows [][]string
	for _, c := range []int{1, 2, 3, 4, 5, 6, 8, 10} {
		row := []string{fmt.Sprint(c)}
		for _, n := range []int{10, 100} {
			got, want := count("decay.ode", fmt.Sprintf("stages(%d)", c), n), least(n, c)
			if got != want {
				t.Errorf("%d steps, %d of them kept: %d are made again, want %d", n, c, got, want)
			} else if n == 10 && c == 3 && got != 6 {
				t.Errorf("10 steps, 3 of them kept: %d are made again, want 6", got)
			}
			row = append(row, fmt.Sprint(got), fmt.Sprint(want))
		}
		rows = append(rows, row)
	}
	tabled(t, folder+"README.md", "stages", []string{
		"steps kept", "10 steps", "by enumeration", "100 steps", "by enumeration",
	}, rows)

	picture := &plot.Lines{
		Title: "100 steps of rk4",
		X:     plot.Axis{Label: "memory, in states", Log: true}, Y: plot.Axis{Label: "steps made again", Log: true},
		Curves: []plot.Curve{
			{Name: "states, number of steps known"}, {Name: "states, not known"}, {Name: "steps with stages"},
		},
	}
	rk4, _ := methods.Lookup("rk4")
	each := rk4.Info().Stages + 2 // states that a step takes, with its ends
	for c := 1; c <= 90; c += 1 + c/8 {
		for i, row := range []struct {
			model, keep string
			memory      int
		}{
			{"decay.ode", "binomial(%d)", c},
			{"decay_seen.ode", "binomial(%d)", c},
			{"decay.ode", "stages(%d)", 1 + c*each},
		} {
			curve := &picture.Curves[i]
			if row.memory > 100 {
				continue
			}
			curve.X = append(curve.X, float64(row.memory))
			curve.Y = append(curve.Y, float64(count(row.model, fmt.Sprintf(row.keep, c), 100)))
		}
	}
	fewest, most := math.Inf(1), 0.0
	for i, known := range picture.Curves[0].Y {
		more := 100 * (picture.Curves[1].Y[i]/known - 1)
		fewest, most = min(fewest, more), max(most, more)
	}
	text, err := os.ReadFile(folder + "README.md")
	if want := fmt.Sprintf("makes\n%.0f to %.0f %% more again", fewest, most); err != nil ||
		!strings.Contains(string(text), want) {
		t.Errorf("the README does not say %q (%v)", want, err)
	}
	drawn(t, folder+"checkpoints.svg", picture)
}
