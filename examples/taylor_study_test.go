package examples_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestTaylorTables checks the tables at the end of odes verify, for an optimal control problem and
// for a reaction–diffusion equation. The remainder of a change of the parameters, without its
// linear part, vanishes with order 2.
func TestTaylorTables(t *testing.T) {
	for _, c := range []struct {
		folder, model string
		directions    int
	}{
		{"cart", "cart.ode", 3},
		{"gray_scott", "gray_scott.ode", 1},
	} {
		m, err := odes.ParseFile(c.folder + "/" + c.model)
		if err != nil {
			t.Fatal(err)
		}
		v, err := m.Verify(t.Context(), odes.Options{Threads: 1}, odes.VerifyOptions{Directions: c.directions, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		heads := []string{"ε"}
		for _, e := range v.Steps {
			heads = append(heads, fmt.Sprint(e))
		}
		var rows [][]string
		for _, o := range v.Objectives {
			if o.Outcome != "ok" || math.Abs(o.Order-2) > 0.02 || len(o.Remainders) != len(v.Steps) {
				t.Errorf("%s, %s: %s, order %.3f, %d remainders", c.model, o.Name, o.Outcome, o.Order,
					len(o.Remainders))
			}
			row := []string{"`" + o.Name + "`"}
			for _, r := range o.Remainders {
				row = append(row, fmt.Sprintf("%.2g", r))
			}
			rows = append(rows, append(row, fmt.Sprintf("%.2f", o.Order)))
		}
		tabled(t, c.folder+"/README.md", "taylor", append(heads, "order"), rows)
	}
}
