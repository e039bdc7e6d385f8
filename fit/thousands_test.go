package fit_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestThousands solves problems of control with many pieces, whose optima are known on their grids: a mass that moves
// by one in two seconds and stops, with the least force, and one that does so in the least time.
func TestThousands(t *testing.T) {
	const n = 800
	h := 2.0 / n
	// The least Σ h u² with Σ h (2 − tᵢ) uᵢ = 1 and Σ h uᵢ = 0, tᵢ in the middles of pieces: u = λa + μ.
	one, way, square := float64(n)*h, 0.0, 0.0
	for i := range n {
		a := 2 - (float64(i)+0.5)*h
		way += h * a
		square += h * a * a
	}
	least := 1 / (square - way*way/one)
	for _, c := range []struct{ over, end, more, goal string }{
		{"u", "2", "", "integral(u^2)"},
		{"[u, T]", "T", "param T = 3 in [0.5, 10]\n", "T"},
	} {
		want := least
		if c.more != "" {
			want = 2
		}
		m, err := odes.Parse("m.ode", fmt.Sprintf(`time t from 0 to %s
%scontrol u = 0 in [-1.6, 1.6] piecewise constant on grid(0, %s, %d)
state x = 0, v = 0
x' = v
v' = u
objective J = %s
constraint arrive: final(x) == 1
constraint halt: final(v) == 0
fit { minimize = J  over = %s  intervals = none }
solver { rtol = 1e-8 }
`, c.end, c.more, c.end, n+1, c.goal, c.over), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if c.more != "" { // the force is 1.6 at most
			want /= math.Sqrt(1.6)
		}
		r, err := fit.Run(context.Background(), m, fit.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Objective.Value
		if c.more == "" { // from a solution of which values are of many sizes, as a moving horizon begins
			near := fit.Options{Workers: 1}
			near.Set = []odes.Assignment{{Name: "u", Values: make([]float64, n)}}
			for i := range n {
				near.Set[0].Values[i] = 0.9 * r.Estimates[i].Value
			}
			again, err := fit.Run(context.Background(), m, near)
			if err != nil {
				t.Fatal(err)
			}
			if v := again.Objective.Value; again.Status != "ok" || math.Abs(v-want) > 1e-7*want ||
				again.Stats.Evaluations > 40 {
				t.Errorf("from nearby: %s, %.10g after %d evaluations", again.Status, v, again.Stats.Evaluations)
			}
		}
		if r.Status != "ok" || !r.KKT.Certified || math.Abs(got-want) > 1e-7*want || r.Stats.Evaluations > 80 {
			t.Errorf("%s: %s, %.10g after %d evaluations, want %.10g; %+v %v", c.goal, r.Status, got,
				r.Stats.Evaluations, want, r.KKT, r.Warnings)
		}
	}
}
