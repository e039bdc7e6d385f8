package lag_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestGapsComeBack checks models with so many delays that what comes back of breaks of high order is not looked for. No
// step may continue what it reads beyond such a break: error control would not see that, at any tolerance.
func TestGapsComeBack(t *testing.T) {
	// What objectives read changes no state.
	moving := &system{
		names:  []string{"tau1", "tau2", "s", "i", "q", "a", "c", "T", "d", "u0"},
		p:      []float64{0.5, 1.5, 0.0346, -0.06, 0.16, 0.61, -0.93, 2, 0.95, 0.8},
		delays: []delayed{{0, 1, -1}, {1, 1, 2}}, initial: []int{3}, pasts: []pastOf{{p: 3, q: 4}}, setting: 9,
		rates: [][]term{{{reading{formState, 0, -1}, 5, 0, -1}, {reading{formState, 0, 0}, 6, 0, -1}}},
		kicks: []kick{{7, 8, 0, 0}}, end: 4.5, reads: []float64{2.75},
		read: [3]reading{{formState, 0, 1}, {formPlus, 0, 1}, {formTimes, 0, 1}},
	}
	many := &system{
		names: []string{"i", "q", "u0"}, p: []float64{0.7, 0.4, 0.3}, initial: []int{0}, pasts: []pastOf{{p: 0, q: 1}},
		setting: 2, rates: [][]term{nil}, end: 3, reads: []float64{1},
		read: [3]reading{{formState, 0, -1}, {formState, 0, -1}, {formState, 0, -1}},
	}
	for i := range 16 {
		at := len(many.p)
		many.names = append(many.names, fmt.Sprintf("tau%d", i), fmt.Sprintf("c%d", i))
		many.p = append(many.p, 0.3+0.117*float64(i), 0.5*math.Cos(float64(i)))
		many.delays = append(many.delays, delayed{at, 1, -1})
		many.rates[0] = append(many.rates[0], term{reading{formState, 0, i}, at + 1, 0, -1})
	}
	for name, m := range map[string]*system{"moving": moving, "many": many} {
		want, ok := m.solve(m.p)
		if !ok {
			t.Fatal(name)
		}
		for _, method := range []string{"dop853", "tsit5"} {
			model, err := odes.Parse("gaps.ode", m.text(), odes.ParseOptions{})
			if err != nil {
				t.Fatalf("%v\n%s", err, m.text())
			}
			r, err := model.Sensitivities(context.Background(), odes.Options{
				Wrt:      m.names[:1],
				Settings: modeltest.Settings("solver.rtol", "1e-12", "solver.method", method),
			})
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if got := r.Values[i].Value; !(math.Abs(got-v) <= 1e-10*max(1, math.Abs(v))) {
					t.Errorf("%s, %s: %s = %.14g, want %.14g", name, method, r.Values[i].Name, got, v)
				}
			}
		}
	}
}
