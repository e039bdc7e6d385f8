package trust_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestSoonSwitched has a change of modes that comes at the time of an event, or of another change, but for errors of
// steps. Where these are rounding there are both sides, and where they are larger there is a mark.
func TestSoonSwitched(t *testing.T) {
	const head = "time t from 0 to 2\nparam T = 1, a = 2.718281828459045, c = 0.36787944117144233\n" +
		"state x = 0, y = 1, z = 1\ny' = -y\nz' = z\nobjective J = final(x)\nsens { wrt = [T, a, c] }\n"
	const e = math.E
	for _, c := range []struct {
		what, rest  string
		left, right []float64
	}{
		{
			"an event", "x' = if y < c then 2 else 1\nevent e at T { x = 2*x - 1 }",
			[]float64{1, 0, e},
			[]float64{2, 0, 2 * e},
		},
		{
			"a change of modes", "x' = (if y < c then 2 else 1)*(if z > a then 3 else 1)",
			[]float64{0, -2 / e, 3 * e},
			[]float64{0, -4 / e, e},
		},
	} {
		for _, rtol := range []string{"1e-11", "1e-6"} {
			s := modeltest.Run(t, head+c.rest, "solver.rtol", rtol)
			for k := range c.left {
				b, sided := s.OnBothSides(0, k)
				differ := c.left[k] != c.right[k]
				switch {
				case !differ && (sided || s.Trusts != nil && s.Trusts[k] != odes.Sound):
					t.Errorf("%s, %s, column %d: marked", c.what, rtol, k)
				case differ && rtol == "1e-6" && !sided && (s.Trusts == nil || s.Trusts[k] == odes.Sound):
					t.Errorf("%s, %s, column %d: no mark", c.what, rtol, k)
				case differ && rtol == "1e-11" && math.Abs(b.Left-c.left[k])+math.Abs(b.Right-c.right[k]) > 1e-8:
					t.Errorf("%s, %s, column %d: %v", c.what, rtol, k, b)
				}
			}
		}
	}
}
