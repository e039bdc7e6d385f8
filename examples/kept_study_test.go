package examples_test

import (
	"fmt"
	"testing"
)

// TestKeptSteps counts what a gradient of a thousand steps keeps in memory, and how many steps it
// recomputes.
func TestKeptSteps(t *testing.T) {
	const steps = 1000
	var rows [][]string
	var first []float64
	for _, keep := range []string{
		"all", "states", "states(30)", "states(every = 30, ram = 1)", "binomial(100)", "binomial(20)", "binomial(5)",
		"revolve(ram = 5, disk = 95)", "",
	} {
		how := []string{"solver.fixed_step", "0.04", "solver.method", "dopri5", "sens.wrt", "gamma"}
		name := "`" + keep + "`"
		if keep == "" {
			name, how = "left out, `memory = \"5 MB\"`", append(how, "solver.memory", `"5 MB"`)
		} else {
			how = append(how, "solver.checkpoint", keep)
		}
		s := studied(t, "gray_scott/gray_scott.ode", how...)
		if s.Stats.Steps != steps {
			t.Fatalf("%d steps, want %d", s.Stats.Steps, steps)
		}
		if first == nil {
			first = append(first, s.Gradient...)
		}
		for i, x := range s.Gradient {
			if x != first[i] {
				t.Errorf("%s: derivative %d is %v, want %v", keep, i, x, first[i])
			}
		}
		rows = append(rows, []string{
			name, fmt.Sprintf("%.3g", float64(s.Stats.PeakTrajectoryBytes)/1e6),
			fmt.Sprint(s.Stats.RecomputedSteps),
		})
	}
	tabled(t, "../docs/methods-derivatives.md", "kept", []string{"`checkpoint`", "MB", "steps made again"}, rows)
}
