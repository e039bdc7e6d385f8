package lag_test

import (
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestMeets reads runs where a jump or a kink comes back: derivatives by what separates the two have a mark, and no
// others do.
func TestMeets(t *testing.T) {
	const head = "time t from 0 to 4\nparam tau = 1, sigma = 1, p = 1, T = 2\nstate x = 1\n"
	for _, c := range []struct{ text, marked string }{
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = sum_at(1, x)", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = sum_at(1, delay(x, tau))", "tau"},
		{"past x = 0.5\nx' = -delay(x, tau)\nobjective J = final(x)", ""},
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
