package trust_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestGrowthWithinSteps has runs whose implicit steps are long beside what grows: they step over unstable states, or
// stay on slow ones that have become unstable. No such number is sound unless it is right.
func TestGrowthWithinSteps(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
	}{
		{ // y rises from an unstable state, which nothing below can cross
			`time t from 0 to 1000
param g = 8777.922, e = 6.728e-12, f = 54173704
state y = 3, z = 0
y' = g*((y - 3)*(5 - y)*(y - 1) + e)
z' = f*(y + sin(t) - z)
objective J = final(y)`, 5,
		},
		{
			`time t from 0 to 2
param f = 1e4, d = 1e-10
state y = 3.5
y' = f*((y - 3)*(t + 2 - y) + d)
objective J = final(y)`, 3.99990,
		},
		{ // what is zero stays zero, however fast it would grow
			`time t from 0 to 1000
param g = 1e3, f = 1e6
state x = 0, z = 0
x' = g*x*(1 - x)
z' = f*(cos(t) - z)
objective J = final(z) + final(x)`, math.Cos(1000),
		},
	} {
		s, err := modeltest.Sensitivities(t, c.text, "adjoint")
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := s.Values[0]; math.Abs(got.Value-c.want) > 1e-4 && got.Trust == odes.Sound {
			t.Errorf("%s\nJ = %g is sound, and %g is right", c.text, got.Value, c.want)
		}
	}
}
