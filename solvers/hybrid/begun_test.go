package hybrid_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestWindowsThatEventsBegin begins windows in time at the time at which an event fires: their conditions are at the
// root there, and true behind it. Before, the time at which they begin lay so far away that products of differences are
// 1e18.
//
//odes:goroutines
func TestWindowsThatEventsBegin(t *testing.T) {
	for _, cond := range []string{
		"(t - begin)*(t - begin - w) < 0", "t > begin and t < begin + w", "t >= begin and t < begin + w",
		"not (t <= begin or t >= begin + w)", "(t - begin)*(begin + w - t) > 0", "abs(t - begin - w/2) < w/2",
		"(t - begin)^2 < w*(t - begin)", "x > c and x - c < r*w", "(x - c)*(x - c - r*w) < 0",
		"(x - c)*(t - begin - w) < 0",
	} {
		for _, c := range []struct{ from, to, at, never string }{
			{"0", "10", "3.3", "1e9"},
			{"0", "1e6", "3.3", "1e9"},
			{"4000", "4600", "0.1", "1e9"},
			{"0", "10", "3.3", "1e15"},
			{"-3.3", "10", "3.3", "1e9"},
		} {
			s, err := modeltest.Sensitivities(t, fmt.Sprintf(`
time t from %s to %s
param c = %s, w = 0.5, r = 1
state x = 0, y = 0
discrete begin = %s
event start when x >= c { begin = t }
x' = r
y' = if %s then 1 else 0
objective J = final(y)
`, c.from, c.to, c.at, c.never, cond), "adjoint")
			if err != nil {
				t.Errorf("%s, from %s to %s: %v", cond, c.from, c.to, err)
				continue
			}
			v, dw, dc := s.Values[0].Value, modeltest.Derivative(t, s, "J", "w"), modeltest.Derivative(t, s, "J", "c")
			if math.Abs(v-0.5) > 1e-8 || math.Abs(dw-1) > 1e-8 || math.Abs(dc) > 1e-8 {
				t.Errorf("%s, from %s to %s: J = %v, dJ/dw = %v, dJ/dc = %v, want 0.5, 1, 0", cond, c.from, c.to,
					v, dw, dc)
			}
		}
	}
}
