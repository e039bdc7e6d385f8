package fit_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/elem"
)

// TestStarts: of n drawn starts, each n-th part of what a param is drawn from holds one, whatever it is drawn from: a
// prior, whether or not the objective reads it, or bounds; and on either scale of the search.
func TestStarts(t *testing.T) {
	const n = 16
	normal := func(z float64) float64 { return 0.5 * elem.Erfc(-z/math.Sqrt2) }
	shares := map[string]func(v float64) float64{ // of the distribution that lies below v
		"a": func(v float64) float64 { return normal(elem.Log(v) / 0.5) },
		"b": func(v float64) float64 { return (1 - elem.Exp(-(v - 0.5))) / (1 - elem.Exp(-1.5)) },
		"c": func(v float64) float64 { return (v - 1) / 2 },
		"d": func(v float64) float64 { return elem.Log(v/0.1) / elem.Log(100) },
	}
	const model = `
time t from 0 to 1
param a = 1 ~ lognormal(0, 0.5)
param b = 1 in [0.5, 2] ~ exponential(1)
param c = 2 in [1, 3]
param d = 1 in [0.1, 10]
state x = a
x' = -b*x*c*d
data D { time = [0.1, 0.2, 0.3, 0.4, 0.5]  y = [0.8, 0.6, 0.4, 0.3, 0.3] }
observe y = x ~ normal(0.1) from D.y
objective loss = nll()
fit { over = [a, b, c, d]  log = [%s]  starts = %d  points = %s  intervals = none  max_iter = 1 }
`
	for _, scale := range []string{"d", "a, b, d"} {
		for _, points := range []string{"lhs", "sobol"} {
			r := run(t, parse(t, fmt.Sprintf(model, scale, n+1, points)), fit.Options{})
			seen := map[string]map[int]bool{"a": {}, "b": {}, "c": {}, "d": {}}
			for _, s := range r.Starts {
				if s.Number == 0 {
					continue
				}
				for i, v := range s.From {
					name := r.Estimates[i].Name
					seen[name][int(n*shares[name](v))] = true
				}
			}
			for name, parts := range seen {
				if len(parts) != n {
					t.Errorf("%s, log = [%s]: %d parts of %d of %s hold a start", points, scale, len(parts), n, name)
				}
			}
		}
	}
}
