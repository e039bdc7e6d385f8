package fit_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/lang/diag"
)

// exchanged is a model of which two rates may change places.
const exchanged = `
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
`

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
		exchanged: {"a"}, // the interval of k reaches to its bound: see TestTwins
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

// TestTwins has two minima of one value, in which two rates have changed places. Each is a minimum of its own,
// intervals cover both, and a warning names them. A valley that the data leave open is one minimum.
func TestTwins(t *testing.T) {
	for _, c := range []struct {
		name, text string
		starts     []int // of each minimum; nil where that depends on the draws
		ends       map[string][2]float64
	}{
		{"absorption", `
time t from 0 to 24
param ka = 1.2 in [0.01, 10], ke = 0.15 in [0.01, 10], V = 20 in [0.1, 500]
state g = 100, x = 0
g' = -ka*g
x' = ka*g - ke*x
data D { time = [0.5, 1, 2, 4, 6, 8, 12, 16, 24]  y = [2.1, 3.2, 3.75, 3.2, 2.4, 1.8, 0.98, 0.55, 0.17] }
observe o = x/V ~ lognormal(0.05) from D.y
fit { starts = 20 }
`, nil, map[string][2]float64{"ka": {0.14186, 1.3019}, "ke": {0.14186, 1.3019}}},
		{"bound", exchanged + "solver { rtol = 1e-9  atol = 1e-12 }\n", nil, map[string][2]float64{"k": {0.2418, 5}}},
		{"valley", `
time t from 0 to 4
param a = 1 in [0.1, 10], b = 2 in [0.1, 10]
state x = 1
x' = -0.3*x
data D { time = [0.5, 1, 2, 3]  y = [4.7, 3.6, 2.3, 1.2] }
observe o = a*b*x ~ normal(0.1) from D.y
fit { starts = 5 }
`, []int{5}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, parse(t, c.text+"objective L = nll()\n"), fit.Options{})
			var sum int
			var got []int
			for k, x := range r.Clusters {
				got, sum = append(got, x.Starts), sum+x.Starts
				for i := range r.Starts {
					if s := &r.Starts[i]; s.Cluster == k && i == x.Best && s.Value-x.Value > 1e-3 {
						t.Errorf("the best of minimum %d has %v, not %v", k, s.Value, x.Value)
					}
				}
			}
			told := slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
				return strings.HasPrefix(d.Message, "2 minima are equally good")
			})
			if want := c.ends != nil; told != want {
				t.Errorf("two minima are told: %v", told)
			}
			if c.ends != nil && (len(got) < 2 || math.Abs(r.Clusters[0].Value-r.Clusters[1].Value) > 1e-3) ||
				c.starts != nil && !slices.Equal(got, c.starts) {
				t.Errorf("minima %v, with %v searches", r.Clusters, got)
			}
			for name, want := range c.ends {
				x := estimate(t, r, name)
				if math.Abs(x.Lower-want[0]) > 1e-3*want[0] || math.Abs(x.Upper-want[1]) > 1e-3*want[1] {
					t.Errorf("the interval of %s is from %v to %v, not %v", name, x.Lower, x.Upper, want)
				}
			}
		})
	}
}

// TestProfileScales fits what is linear, at zero or at a bound, and far from 1: the interval is that of any scale.
func TestProfileScales(t *testing.T) {
	for _, scale := range []float64{1e-12, 1, 1e9, 1e15} {
		text := fmt.Sprintf(`
time t from 0 to 5
param a = %[1]v in [0, inf], b = %[1]v in [0, inf]
state x = a, y = b
x' = -0.1*x
y' = -1*y
data D {
  time = [0, 1, 2, 3, 4, 5]
  y = [2*%[1]v, 1.9*%[1]v, 1.7*%[1]v, 1.55*%[1]v, 1.38*%[1]v, 1.3*%[1]v]
}
observe o = x + y ~ normal(%[2]v) from D.y
objective L = nll()
`, scale, scale/10)
		r := run(t, parse(t, text), fit.Options{})
		if x := estimate(t, r, "b"); x.OpenUpper != "" || math.Abs(x.Upper/scale-0.179246) > 1e-5 {
			t.Errorf("scale %v: the interval of b ends at %v %q", scale, x.Upper, x.OpenUpper)
		}
	}
	for _, noise := range []float64{1, 1e5, 1e12} {
		r := run(t, parse(t, fmt.Sprintf(`
time t from 0 to 5
param p = 1 in [-1e15, 1e15]
state x = p
x' = -0.5*x
data D { time = [0.5, 1, 2, 3]  y = [0, 0, 0, 0] }
observe o = x ~ normal(%v) from D.y
objective L = nll()
`, noise)), fit.Options{})
		sum := 0.0
		for _, at := range []float64{0.5, 1, 2, 3} {
			sum += math.Exp(-at)
		}
		want := 1.959963984540054 * noise / math.Sqrt(sum)
		if x := estimate(t, r, "p"); math.Abs(x.Upper/want-1) > 1e-5 || math.Abs(x.Lower/want+1) > 1e-5 {
			t.Errorf("noise %v: the interval is from %v to %v, not ±%v", noise, x.Lower, x.Upper, want)
		}
	}
}
