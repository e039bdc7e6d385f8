package lag_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestMovingTables compares delays that change along the run, and read a table with kinks, with the method of steps: by
// explicit methods and by implicit ones.
func TestMovingTables(t *testing.T) {
	m := &system{
		names:  []string{"tau1", "s1", "tau2", "s2", "i", "a", "c", "e", "u0", "T", "d"},
		p:      []float64{0.8, 0.2, 1.1, -0.15, 1, 0.1, -0.9, 0.4, 0.3, 1.37, 0.6},
		delays: []delayed{{0, 1, 1}, {2, 1, 3}}, initial: []int{4}, setting: 8,
		pasts: []pastOf{{p: -1, table: table{[]float64{-9, -0.7, -0.35, 0}, []float64{0.3, 0.9, -0.4, 1.2}}}},
		rates: [][]term{{
			{reading{formState, 0, -1}, 5, 0, -1},
			{reading{formState, 0, 0}, 6, 0, -1},
			{reading{formState, 0, 1}, 7, 0, -1},
		}},
		kicks: []kick{{9, 10, 0, 0}}, end: 4.1, reads: []float64{2.21},
		read: [3]reading{{formState, 0, 1}, {formPlus, 0, 0}, {formState, 0, 0}},
	}
	want, ok := m.solve(m.p)
	if !ok {
		t.Fatal("it has no solution")
	}
	for _, method := range []string{"tsit5", "dop853", "radau9", "esdirk54"} {
		s := sensitivities(t, m.text(), m.names, map[string]string{"solver.rtol": "1e-10", "solver.method": method})
		for i, v := range want {
			modeltest.WantNear(t, method+" "+s.Values[i].Name, s.Values[i].Value, v, 1e-8)
		}
		for k, name := range m.names {
			of, ok := m.slopes(k, want)
			if !ok {
				t.Fatal(name)
			}
			j := slices.IndexFunc(s.Variables, func(x odes.Variable) bool { return x.String() == name })
			for i := range want {
				got, by := s.Derivative(i, s.Variables[j])[0], (of.first[0][i]+of.first[1][i])/2
				if !(math.Abs(got-by) <= 3e-6*max(1, math.Abs(by))) {
					t.Errorf("%s: d %s/d %s = %.10g, want %.10g", method, s.Values[i].Name, name, got, by)
				}
			}
		}
	}
}

// TestTinySteps: where a step of next to no length ends at a gap, stages read a little beyond it. Derivatives were
// wrong by any factor, as rounding grows with a high power of how many lengths of the step that is.
func TestTinySteps(t *testing.T) {
	const text = `
time t from 0 to 5
param a = 2, u0 = 1, tau = 0.7
state u = u0
state w = 0
let z = delay(u, tau + 0.3*w)
u' = -a*z
w' = abs(%s) - w
%s
objective J = final(w)
objective K = final(u)
`
	const events = "event when z > 0 {}\nevent when z < 0 {}\n"
	for _, c := range []struct {
		text, rtol, method string
	}{
		{fmt.Sprintf(text, "u", ""), "1e-7", "tsit5"},
		{fmt.Sprintf(text, "z", events), "1e-7", "dop853"},
		{fmt.Sprintf(text, "z", events), "1e-9", "dop853"},
	} {
		var list [2]*odes.Sensitivities
		for i, settings := range [2][]string{{c.rtol, c.method}, {"1e-11", "vern7"}} {
			m, err := odes.Parse("tiny.ode", c.text, odes.ParseOptions{})
			if err == nil {
				list[i], err = m.Sensitivities(context.Background(), odes.Options{Settings: modeltest.Settings(
					"solver.rtol", settings[0], "solver.method", settings[1], "sens.trust", "off")})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for k, v := range list[0].Gradient {
			modeltest.WantNear(t, fmt.Sprintf("%s %s %d", c.method, c.rtol, k), v, list[1].Gradient[k], 1e-5)
		}
	}
}
