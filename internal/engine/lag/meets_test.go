package lag_test

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestEqualDelays: a jump that comes back by several delays at one time counts once for each.
func TestEqualDelays(t *testing.T) {
	const text = `
time t from 0 to 5
param a = 1, b = 2, tau = 1, sigma = 1
state A = 0, x = 0, z = 0
A' = -A
x' = a*delay(A, tau)
z' = b*delay(A^2, sigma) + 2*delay(A, a*tau)
event e at 1.5 { A += 3 }
objective J = final(x)
objective K = final(z)
`
	// A = 3 exp(1.5 - t) behind 1.5, so x(5) = a·3(1 - E), z(5) = b·9/2(1 - E²) + 2·3(1 - E), E = exp(tau - 3.5).
	e := math.Exp(-2.5)
	want := map[string]expected{
		"J": {3 * (1 - e), map[string]float64{"a": 3 * (1 - e), "b": 0, "tau": -3 * e, "sigma": 0}},
		"K": {9*(1-e*e) + 6*(1-e), map[string]float64{
			"a": -6 * e, "b": 4.5 * (1 - e*e), "tau": -6 * e, "sigma": -18 * e * e,
		}},
	}
	for _, mode := range []string{"adjoint", "tangent", "forward"} {
		s := sensitivities(t, text, nil, map[string]string{"solver.rtol": "1e-11", "sens.mode": mode})
		check(t, s, want, []string{"a", "b", "tau", "sigma"}, 1e-9, 1e-8)
	}
}

// TestTurns: a jump that comes back changes conditions of an event and of rates, at its own time.
func TestTurns(t *testing.T) {
	const text = `
time t from 0 to 3
param tau = 1.2, t1 = 0.5, c = 2
state x = 0, y = 1, z = 0
x' = 0
y' = if delay(x, tau) > c then 2 else 1
z' = y
event kick at t1 { x += 3 }
event seen when delay(x, tau) > c { z += y^2 }
objective J = final(y)
objective K = final(z)
objective T = event_time(seen, 1)
`
	// With s = t1 + tau: y = 1 + t up to s and 1 + 2 t - s behind it; z gains (1 + s)^2 at s.
	const s = 1.7
	k := s + s*s/2 + (1+s)*(1+s) + (1-s)*(3-s) + 9 - s*s
	dk := 1 + s + 2*(1+s) - (3 - s) - (1 - s) - 2*s
	want := map[string]expected{
		"J": {7 - s, map[string]float64{"tau": -1, "t1": -1, "c": 0}},
		"K": {k, map[string]float64{"tau": dk, "t1": dk, "c": 0}},
		"T": {s, map[string]float64{"tau": 1, "t1": 1, "c": 0}},
	}
	for _, mode := range []string{"adjoint", "tangent", "forward"} {
		r := sensitivities(t, text, nil, map[string]string{"solver.rtol": "1e-10", "sens.mode": mode})
		check(t, r, want, []string{"tau", "t1", "c"}, 1e-9, 1e-8)
	}
}

// TestMeets reads runs where a jump or a kink comes back: derivatives by what separates the two have a mark, and no
// others do.
func TestMeets(t *testing.T) {
	const head = "time t from 0 to 4\nparam tau = 1, sigma = 1, p = 1, T = 2\nstate x = 1\n"
	for _, c := range []struct{ text, marked string }{
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = sum_at(1, x)", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = sum_at(1, delay(x, tau))", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = final(x)", ""},
		{"past x = 0.5\nx' = -delay(x*(1 + x), tau)\nobjective J = final(x)", ""},
		{"past x = 0.5\nx' = -delay(x^2, tau)\nevent at 1 { x *= 2 }\nobjective J = final(x)", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)*delay(x, 2*sigma)\nevent at sigma { x += 1 }\n" +
			"objective J = final(x)", "tau sigma"},
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = final(delay(x, 4*tau))", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)*delay(x, sigma)\nobjective J = final(x)", "tau sigma"},
		{"past x = 0.5\nx' = -delay(x, tau) - delay(x, sigma)\nobjective J = final(x)", ""},
		{"x' = -0.3*delay(x, tau)\nobjective J = sum_at([1, 2, 3], x)", ""},
		{"x' = -0.3*delay(x, tau)\nobjective J = sum_at(1, delay(x, tau))", "tau"},
		{"x' = -0.3*delay(x, tau)\nobjective J = final(max(p, 1)*x)", "p"},
		{"x' = -0.3*delay(x, tau)\nevent at T { x += 1 }\nobjective J = sum_at(3, x^2)", "tau T"},
		{"x' = -0.3*delay(x, tau)\nevent at T { x += 1 }\nobjective J = sum_at(3.2, x^2)", ""},
	} {
		s := modeltest.Run(t, head+c.text)
		if got := modeltest.Marked(s, 0); got != c.marked {
			t.Errorf("%s: %q are marked, want %q: %v", c.text, got, c.marked, s.Warnings)
		}
	}
}
