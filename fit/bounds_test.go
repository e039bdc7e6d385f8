package fit_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/lang/diag"
)

// TestBoundsOfParams: bounds that read params are what these are in the run, also where they follow others, and a fit
// searches for none of them.
func TestBoundsOfParams(t *testing.T) {
	text := `
time t from 0 to 2
param top = 6
param um = top/2
control u = 0 in [-um, um] piecewise constant on grid(0, 2, 11)
state x = 0, v = 0
x' = v
v' = u
objective effort = integral(u^2)
constraint arrive: final(x) == 1
constraint halt: final(v) == 0
fit { minimize = effort }
solver { rtol = 1e-10 }
`
	m := parse(t, text)
	const free = 1.5151515151515151 // nothing is at a bound: 50/33
	near(t, "within wide bounds", run(t, m, fit.Options{}).Objective.Value, free, 1e-8)
	set := func(name string, v float64) fit.Options {
		return fit.Options{Options: odes.Options{Set: []odes.Assignment{{Name: name, Values: []float64{v}}}}}
	}
	want := run(t, parse(t, strings.Replace(text, "[-um, um]", "[-1.2, 1.2]", 1)), fit.Options{}).Objective.Value
	for _, o := range []fit.Options{set("um", 1.2), set("top", 2.4)} {
		r := run(t, m, o)
		near(t, "within narrow bounds", r.Objective.Value, want, 1e-9)
		if u := estimate(t, r, "u[1]"); u.Value != 1.2 || u.AtBound != 1 {
			t.Errorf("u[1] = %v, %d", u.Value, u.AtBound)
		}
	}
	refused := func(m *odes.Model, o fit.Options, part string) {
		t.Helper()
		if _, err := fit.Run(t.Context(), m, o); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v, not %q", err, part)
		}
	}
	refused(m, set("um", -1), "above its upper one")
	root := parse(t, strings.Replace(text, "[-um, um]", "[-um, sqrt(um - 2)]", 1))
	refused(root, set("um", 1.2), "the bounds of u, -1.2 and NaN, which follow from params, are not both numbers")
	sought := parse(t, strings.Replace(text, "top = 6", "top = 6 in [1, 8]", 1))
	refused(sought, fit.Options{}, "is searched for as well")
}

// TestPriorAtBounds: an estimate at the edge of where its prior has a density has a derivative, from within. A kink of
// what a prior is made of is told all the same.
func TestPriorAtBounds(t *testing.T) {
	const text = `
time t from 0 to 7
param a = 0.4 in [0, inf]
param b = 0.4 BOUNDS
state x = a, y = b
x' = -0.16*x
y' = -0.52*y
data D { time = [0.2, 1.5, 3.8, 4.4, 5.7]  v = [1.2, 1, 0.82, 0.83, 0.6] }
observe o = x + y ~ normal(0.1) from D.v
objective L = nll() - log_prior()
fit { intervals = none }
`
	kinks := func(bounds string) (*fit.Result, string) {
		r := run(t, parse(t, strings.Replace(text, "BOUNDS", bounds, 1)), fit.Options{})
		for _, d := range r.Warnings {
			if d.Code == odes.CodeKink {
				return r, d.Message
			}
		}
		return r, ""
	}
	for _, bounds := range []string{
		"in [0, inf] ~ normal(0.2, 0.5)", "in [0, 1] ~ half_normal(0.5)", "in [0, 1] ~ uniform(0, 1)",
	} {
		if r, kink := kinks(bounds); kink != "" || r.Estimates[1].AtBound != -1 {
			t.Errorf("%s: %q, %+v", bounds, kink, r.Estimates[1])
		}
	}
	moved := parse(t, strings.Replace(text, "BOUNDS", "in [0, inf] ~ normal(max(c, 0), 0.5)\nparam c = 0", 1))
	s, err := moved.Sensitivities(t.Context(), odes.Options{Wrt: []string{"c"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == odes.CodeKink }) {
		t.Errorf("nothing is said of max(c, 0): %+v", s.Warnings)
	}
}

// TestFlatBetweenBounds: data behind the growth of a population tell neither where it began nor, but for its least
// value, how fast it grew. Slopes there are so small that standard errors are a trillion times as long as the bounds.
func TestFlatBetweenBounds(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 24
state N = N0
N' = r*N*(1 - N/K)
param r = 1.21 in [0.02958, 26.62]
param K = 5.46 in [0.198, 178.2]
param N0 = 0.115 in [0.003828, 3.445]
data D {
  time = [7.66, 7.69, 10.01, 10.56, 10.65, 13.07, 14.83, 15, 17.21, 17.32, 18.81, 22.02, 22.3]
  y = [37, 27, 30, 42, 32, 22, 35, 33, 29, 36, 31, 21, 36]
}
observe o = 5*N ~ poisson() from D.y
objective L = nll()
fit { starts = 1 }
`), fit.Options{})
	said := messages(r)
	for _, want := range []string{"N0 is not identifiable from this data", "the data only tell that r is at least"} {
		if !strings.Contains(said, want) {
			t.Errorf("not said: %s\n%s", want, said)
		}
	}
	N0 := estimate(t, r, "N0")
	if r.Identifiable || len(r.Unidentified) != 1 || !math.IsInf(N0.StdErr, 1) || !math.IsNaN(r.Correlation[0][2]) {
		t.Errorf("identifiable: %v, %+v", r.Identifiable, N0)
	}
	if K := estimate(t, r, "K"); !(K.StdErr < 1) {
		t.Errorf("%+v", K)
	}
}

// TestUntoldAtBounds: an estimate at a bound that holds nothing back trades with others, however small it is, and
// whatever constraints are active. One that is zero but for rounding trades with none that it is not tied to.
func TestUntoldAtBounds(t *testing.T) {
	for _, c := range []struct {
		name, params, sum, more string
		lost, kept, starts      string
	}{
		{
			"a small bound beside a constraint",
			"param a = 1e-5 in [1e-5, 20], d = 3 in [-9, 9], k = 0.1 in [-9, 9]",
			"a + d + k*t", "constraint q: a + k <= 9", "a d", "k", "1",
		},
		{
			"two bounds beside an equation",
			"param a = -1 in [-10, -1], b = -2 in [-10, -2], c = 1 in [-9, 9], d = 2 in [-9, 9], k = 1 in [-9, 9]",
			"a + c + (b + d)*t + k*t^2", "constraint q: a - b + c - d == 1", "a b c d", "k", "1",
		},
		{
			"zero by a prior",
			"param a = -0.772 in [-10, 10], d = -1.527 in [-10, 10] ~ normal(0, 1.42)\n" +
				"param k = 1.812 in [-10, 10], b = 2.268 in [-10, 10]",
			"a*sin(t) + b*sin(t) + 0.5*d*t + 0.5*k*t", "", "a b", "d k", "4",
		},
		{"nothing at all", "param a = 2 in [-10, 2], k = 1 in [-9, 9]", "0*a + k*t", "", "a", "k", "1"},
	} {
		objective := "nll()"
		if strings.Contains(c.params, "~") {
			objective += " - log_prior()"
		}
		r := run(t, parse(t, `
time t from 0 to 5
`+c.params+`
state z = 0
z' = 0
data D {
  time = [0.01, 0.11, 0.34, 0.48, 0.62, 0.74, 0.91, 0.95, 1.21, 1.29, 1.6]
  v = [0.3523, -0.3325, 0.2841, -0.1393, -0.047, -0.1097, 0.0829, 0.4989, -0.299, 0.255, 0.0331]
}
observe o = z + `+c.sum+` ~ normal(0.3) from D.v
`+c.more+`
objective L = `+objective+`
fit { minimize = L  starts = `+c.starts+` }
`), fit.Options{})
		said := messages(r)
		if r.Status != "ok" || r.Identifiable {
			t.Errorf("%s: %s, identifiable: %v", c.name, r.Status, r.Identifiable)
		}
		var names []string
		for _, u := range r.Unidentified {
			names = append(names, u.Names...)
		}
		slices.Sort(names)
		if got := strings.Join(slices.Compact(names), " "); got != c.lost {
			t.Errorf("%s: not told are %s, not %s", c.name, got, c.lost)
		}
		for _, name := range strings.Fields(c.lost) {
			if e := estimate(t, r, name); e.StdErr < 1e3 {
				t.Errorf("%s: %s = %v ± %v\n%s", c.name, name, e.Value, e.StdErr, said)
			}
		}
		for _, name := range strings.Fields(c.kept) {
			if e := estimate(t, r, name); !(e.StdErr < 1e3) {
				t.Errorf("%s: %s = %v ± %v\n%s", c.name, name, e.Value, e.StdErr, said)
			}
		}
	}
}

// TestScatterOfEstimatedNoise: a standard deviation that is estimated takes no degree of freedom from the common
// factor, so that errors of all else are those of regression, as where it is held.
func TestScatterOfEstimatedNoise(t *testing.T) {
	const text = `
time t from 0 to 3
param a = 1 in [0, 10], s = 0.5 in [0.01, 5]
state x = a
x' = 0
data D { time = [1, 2, 3]  v = [1, 2, 6] }
observe o = x ~ normal(s) from D.v
objective L = nll()
fit { scatter = estimated  intervals = wald  over = [a, s] }
`
	for _, over := range []string{"[a, s]", "[a]"} {
		r := run(t, parse(t, strings.Replace(text, "[a, s]", over, 1)), fit.Options{})
		near(t, "error of a", estimate(t, r, "a").StdErr, math.Sqrt((4+1+9)/2.0/3), 1e-5)
		near(t, "scatter", r.Predictions[0].Scatter, math.Sqrt((4+1+9)/2.0), 1e-5)
		if r.Freedom != 2 {
			t.Errorf("%s: %d degrees of freedom", over, r.Freedom)
		}
	}
}

// TestScatterAtBound: an estimate that is held at its bound takes no degree of freedom from the scatter, and is charged
// for all the same.
func TestScatterAtBound(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 3
param a = 1 in [0, 10]
param b = 1 in [0, 10]
state x = a, y = b
x' = 0
y' = 1
data D { time = [1, 2, 3]  v = [1, 2, 3]  w = [-3, -4, -5.5] }
observe o = x ~ normal(1) from D.v
observe q = y ~ normal(1) from D.w
objective L = nll()
fit { scatter = estimated  intervals = wald }
`), fit.Options{})
	squares := 2.0
	for i, w := range []float64{-3, -4, -5.5} {
		d := w - float64(i+1)
		squares += d * d
	}
	near(t, "factor", r.Factor, math.Sqrt(squares/5), 1e-6)
	near(t, "error of a", estimate(t, r, "a").StdErr, math.Sqrt(squares/5/3), 1e-6)
	near(t, "AIC", r.AIC, 2*r.NLL+4, 1e-9)
	if r.Freedom != 5 {
		t.Errorf("%d degrees of freedom", r.Freedom)
	}
}
