package fit_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestProfilePastFailure has a profile along which the others must move for the objective to have a value: with the
// others as they are at the minimum, a median becomes negative. The ends are where the objective has risen by 1.92.
func TestProfilePastFailure(t *testing.T) {
	const text = `
time t from 0 to 4
param k = 0.3 in [0, 3], a = 7 in [-9, 9], b = -1.7 in [-5, 5]
state x = 1
x' = -k*x
data D { time = [0.5, 1, 2, 3]  y = [4.7, 3.6, 2.3, 1.2] }
observe o = a*x + b ~ lognormal(0.1) from D.y
objective L = nll()
solver { rtol = 1e-9  atol = 1e-12 }
`
	m := parse(t, text)
	r := run(t, m, fit.Options{})
	for _, name := range []string{"k", "b"} {
		x := estimate(t, r, name)
		if x.OpenLower != "" || x.OpenUpper != "" {
			t.Errorf("the interval of %s is open: %q and %q", name, x.OpenLower, x.OpenUpper)
			continue
		}
		for _, end := range []float64{x.Lower, x.Upper} {
			over := map[string]string{"k": "[a, b]", "b": "[k, a]"}[name]
			held := run(t, m, fit.Options{Options: odes.Options{
				Set: []odes.Assignment{{Name: name, Values: []float64{end}}},
				Settings: []odes.Setting{
					{Key: "fit.over", Value: over},
					{Key: "fit.intervals", Value: "none"},
					{Key: "fit.starts", Value: "40"}, // some of which have a value
				},
			}})
			if rise := held.Objective.Value - r.Objective.Value; math.Abs(rise-1.9207) > 1e-4 {
				t.Errorf("at the end %v of %s the objective has risen by %v", end, name, rise)
			}
		}
	}
}
