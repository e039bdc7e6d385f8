package trust_test

import (
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestTiesMarkWhatMoves has two things that happen at one time. Derivatives by what moves one of them alone are those
// of one side, and marked. All others are right.
func TestTiesMarkWhatMoves(t *testing.T) {
	for _, c := range []struct {
		name, text string
		loose      []string
	}{
		{
			"the end at a window of time",
			"time t from 0 to T\nparam T = 5.5, k = 0.3\nstate x = 1\n" +
				"x' = -k*x + (if mod(t, 1) < 0.5 then 1 else 0)\nobjective J = final(x)",
			[]string{"T"},
		},
		{
			"a dose at an observation",
			"time t from 0 to 2\nparam tl = 0.5, D = 2, k = 0.3\nstate x = 1\nx' = -k*x\nevent d at tl { x += D }\n" +
				"objective J = sum_at([0.25, 0.5, 1], x^2)",
			[]string{"tl"},
		},
		{
			"a dose and an observation that move together",
			"time t from 0 to 2\nparam tl = 0.5, lag = 0, k = 0.3\nstate x = 1\nx' = -k*x\n" +
				"event d at tl + lag { x += 1 }\nobjective J = sum_at([2*tl - 0.5, 1], x)",
			[]string{"tl", "lag"},
		},
		{
			"the same with one time",
			"time t from 0 to 2\nparam tl = 0.5, lag = 0, k = 0.3\nstate x = 1\nx' = -k*x\n" +
				"event d at tl + lag { x += 1 }\nobjective J = sum_at([tl, 1], x)",
			[]string{"lag"},
		},
		{
			"several events at an observation that moves along with the first of them",
			"time t from 0 to 3\nparam tl = 2, tau = 1, te = 2, k = 0.3, D = 0\nstate x = 1, y = 1, z = 1\n" +
				"x' = -k*x\ny' = -k*y\nz' = -k*z\nevent d at tl, 2 { y = 0 }\nevent e every tau { x *= 0.5 }\n" +
				"event f at te { z += D }\nobjective J = sum_at([0.5, tl], x + z)",
			[]string{"tl", "tau"}, // and a dose of 0 may come at any time
		},
		{
			"a condition of a largest value at the end",
			"time t from 0 to 3\nparam q = 2, u = 0\nstate x = 1\nx' = -x\n" +
				"objective J = max_over(if t < q + 1 then u else 2)",
			[]string{"q"},
		},
		{
			"a largest value that is kept until a knot at the end",
			"time t from 0 to 2.5\nparam q = 2\nstate x = 1\nx' = -x\nobjective J = max_over(max(0.5 + q, t))",
			[]string{"q"},
		},
		{
			"a dose of 0 where a largest value is kept from",
			"time t from 0 to 2.5\nparam b = 1, q = 1, tl = 1, D = 0\nstate x = 1\nx' = -2*x\n" +
				"event d at tl { x += D }\nobjective J = max_over(if b < t then q else t)",
			[]string{"b", "q"},
		},
		{
			"a reset at the threshold of a condition",
			"time t from 0 to 2.5\nparam p = 1, q = 0, r = 0.3\nstate x = 0.5\n" +
				"x' = (if x >= 1 then r else 0.5) + 1 - x/2\nevent e when x > p { x = q }\nobjective J = final(x)",
			[]string{"p"},
		},
		{
			"two resets at the threshold of a condition",
			"time t from 0 to 2.5\nparam p = 1, q = 0, r = 0.3\nstate x = 0.5\n" +
				"x' = (if x >= 1 then r else 0.5) + 1 - x/2\nevent e when x > p { x = q }\n" +
				"event f when x > p { x = q }\nobjective J = final(x)",
			[]string{"p"},
		},
		{
			"a reset at the threshold of a condition with the same rates",
			"time t from 0 to 2.5\nparam p = 1, q = 0, r = 0.5\nstate x = 0.5\n" +
				"x' = (if x >= 1 then r else 0.5) + 1 - x/2\nevent e when x > p { x = q }\nobjective J = final(x)",
			nil,
		},
		{
			"a level at the start",
			"time t from 0 to 2\nparam r = 0.7\nstate x = 0, y = 0\nx' = r\ny' = floor(x + 1)\n" +
				"objective J = final(y + x)",
			[]string{"initial(x)"},
		},
		{
			"two thresholds of one state",
			"time t from 0 to 2\nparam c = 1, k = 0.9\nstate x = 0.2, y = 1\nx' = k\ny' = -y*k\n" +
				"event e when x > 1 { y *= 2 }\nevent f when x > c { y += 1 }\nobjective J = final(y)",
			[]string{"c"},
		},
		{
			"thresholds of two states",
			"time t from 0 to 2\nparam c = 1, k = 0.5, z = 3\nstate x = 0, v = 0, y = 1\nx' = k\nv' = k\ny' = -y/z\n" +
				"event e when x > 0.5 { y *= 2 }\nevent f when 2*v > c { y += 1 }\nobjective J = final(y)",
			[]string{"c", "initial(x)", "initial(v)"}, // k moves both alike
		},
		{
			"a threshold at the end",
			"time t from 0 to 2\nparam k = 0.5, z = 3\nstate x = 0, y = 1\nx' = k\ny' = -y/z\n" +
				"event e when x >= 1 { y *= 2 }\nobjective J = final(y)",
			[]string{"k", "initial(x)"},
		},
	} {
		s := modeltest.Run(t, c.text)
		var loose []string
		for _, v := range s.Variables {
			if modeltest.Grade(s, 0, v) != odes.Sound {
				loose = append(loose, v.String())
			}
		}
		slices.Sort(loose)
		slices.Sort(c.loose)
		if !slices.Equal(loose, c.loose) {
			t.Errorf("%s: marked %v, want %v: %v", c.name, loose, c.loose, s.Warnings)
		}
	}
}
