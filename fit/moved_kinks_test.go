package fit_test

import (
	"math"
	"testing"

	"odes.dev/odes/fit"
)

// TestMovedKinks: residuals vanish at a minimum of absolute values, so that errors of a run that are small beside the
// objective move it in first order. The least value is that of a linear program (HiGHS), for states in closed form.
func TestMovedKinks(t *testing.T) {
	const least = -30.8973325
	for _, algorithm := range []string{"auto", "lbfgsb"} {
		m := parse(t, `
time t from 0 to 9
param a = 1.83136 in [-100, 100]
param b = 1.89001 in [-100, 100]
param c = 3.92423 in [2.414, 100]
state x = a
x' = b*cos(t) + c*t
data D {
  time = [
    0.3052, 0.6084, 1.039, 2.218, 2.294, 2.398, 2.783, 3.532, 3.886, 4.104, 4.157, 4.553, 4.753, 5.336, 5.436,
    5.607, 5.696, 5.756, 5.861, 5.967, 6.5, 6.965, 6.994, 7.192, 7.476, 7.592, 7.701
  ]
  y = [
    2.00711, 3.0304, 4.39484, 9.8403, 10.1515, 10.9509, 13.0675, 18.3979, 21.6579, 23.856, 24.44, 29.1778, 31.9469,
    40.6392, 42.2594, 45.2278, 46.7672, 47.9457, 49.6476, 51.7536, 62.2604, 71.9585, 72.7114, 76.859, 83.1334,
    85.5755, 88.2371
  ]
}
observe o = x ~ laplace(0.07913) from D.y
objective L = nll()
fit { algorithm = `+algorithm+` }
`)
		r := run(t, m, fit.Options{})
		if r.Status != "ok" || !(math.Abs(r.Objective.Value-least) <= 1e-4) {
			t.Errorf("%s: %s at %.9g, %+v", algorithm, r.Status, r.Objective.Value, r.KKT)
		}
		if !(math.Abs(r.NLL-r.Objective.Value) <= 1e-12) {
			t.Errorf("%s: the likelihood is %.9g, and the objective %.9g", algorithm, r.NLL, r.Objective.Value)
		}
		// With one estimate held, the problem is convex, and so is its least value.
		for _, e := range r.Estimates {
			for k := 1; k < len(e.Profile)-1; k++ {
				p, q, s := e.Profile[k-1], e.Profile[k], e.Profile[k+1]
				line := p.Rise + (s.Rise-p.Rise)*(q.Value-p.Value)/(s.Value-p.Value)
				if q.Rise > line+0.02 {
					t.Errorf("%s: the profile of %s is %.4g at %v, between %.4g and %.4g", algorithm, e.Name, q.Rise,
						q.Value, p.Rise, s.Rise)
				}
			}
		}
	}
}
