package fit_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestProfileEnds has profiles that are not straight ways: along those of the first model, the others must move for the
// objective to have a value, as a median becomes negative otherwise; in the second, what is absorbed faster and what is
// eliminated faster may change places, and both explain the data. At each end the objective, with the estimate held and
// the others sought from many starts, has risen by 1.92.
func TestProfileEnds(t *testing.T) {
	for text, names := range map[string][]string{
		`
time t from 0 to 4
param k = 0.3 in [0, 3], a = 7 in [-9, 9], b = -1.7 in [-5, 5]
state x = 1
x' = -k*x
data D { time = [0.5, 1, 2, 3]  y = [4.7, 3.6, 2.3, 1.2] }
observe o = a*x + b ~ lognormal(0.1) from D.y
`: {"k", "b"},
		`
time t from 0 to 9
param a = 2.386 in [0, 20], k = 0.6216 in [0.01, 5], b = 1.031 in [0.01, 5]
state x = 1
x' = a*exp(-b*t) - k*x
data D {
  time = [0.5888, 0.7639, 2.434, 2.8755, 6.7544, 7.9511]
  y = [1.79688, 1.78024, 1.0225, 1.093, 0.306083, 0.140528]
}
observe o = x ~ normal(0.1) from D.y
fit { starts = 10  over = [a, k, b]  log = [k] }
`: {"a", "k"},
	} {
		m := parse(t, text+"objective L = nll()\nsolver { rtol = 1e-9  atol = 1e-12 }\n")
		r := run(t, m, fit.Options{})
		for _, name := range names {
			x := estimate(t, r, name)
			if x.OpenLower != "" || x.OpenUpper != "" {
				t.Errorf("the interval of %s is open: %q and %q", name, x.OpenLower, x.OpenUpper)
				continue
			}
			over := "[" + strings.Join(strings.Fields(strings.ReplaceAll("a k b", name, "")), ", ") + "]"
			for _, end := range []float64{x.Lower, x.Upper} {
				held := run(t, m, fit.Options{Options: odes.Options{
					Set: []odes.Assignment{{Name: name, Values: []float64{end}}},
					Settings: []odes.Setting{
						{Key: "fit.over", Value: over},
						{Key: "fit.log", Value: "[]"},
						{Key: "fit.intervals", Value: "none"},
						{Key: "fit.starts", Value: "40"},
					},
				}})
				if rise := held.Objective.Value - r.Objective.Value; math.Abs(rise-1.9207) > 1e-3 {
					t.Errorf("at the end %v of %s the objective has risen by %v", end, name, rise)
				}
			}
		}
	}
}

// TestProfileOutside has a profile of k that leads to amounts beyond the end that the profile of the amount found by
// itself, along another branch: points of one profile lie within all intervals.
func TestProfileOutside(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 9
param a = 6.609 in [0, 20], k = 0.7594 in [0, 5], b = 0.6059 in [-2, 5]
state x = 1
x' = -k*x
data D { time = [1.2724, 4.1481, 5.87625, 6.26056, 7.21923]  y = [2.84888, 0.722674, 0.19773, 0.39526, -0.636386] }
observe o = a*x + b ~ normal(0.8) from D.y
objective L = nll()
solver { rtol = 1e-9  atol = 1e-12 }
`), fit.Options{})
	if x := estimate(t, r, "a"); x.OpenUpper != "bound" || x.Upper != 20 {
		t.Errorf("the interval of a ends at %v, %q", x.Upper, x.OpenUpper)
	}
}
