package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/diag"
)

const decay = `
time t from 0 to 10
param k = 0.2 in [1e-3, 10]
param x0 = 5 in [0.1, 100]
state x = x0
x' = -k*x
data D {
  time = [0, 0.5, 1, 2, 3, 4.5, 6, 8, 10]
  y = [7.9488, 6.8179, 5.5923, 3.9097, 2.6135, 1.6134, 1.202, 0.5713, 0.449]
}
`

// TestDistributions: whatever the noise, the search ends where the gradient of the objective vanishes, and its value is
// that of the objective.
func TestDistributions(t *testing.T) {
	for i, c := range []struct{ params, noise, objective string }{
		{"", "normal(0.2)", "nll()"},
		{"param sd = 0.5 in [1e-3, 10]", "normal(sd)", "nll()"},
		{"param a = 0.1 in [1e-3, 10]", "normal(a + 0.05*y)", "nll()"},
		{"param sd = 0.5 in [1e-3, 10]", "lognormal(sd)", "nll()"},
		{"", "normal(0.2, below = 1.5)", "nll()"},
		{"param sd = 0.3 in [1e-3, 10]", "lognormal(sd, below = 1.5)", "nll()"},
		{"param s = 0.3 in [1e-3, 10]", "student(4, s)", "nll()"},
		{"", "normal(0.2)", "nll() - log_prior()"},
		{"param sd = 0.5 in [1e-3, 10] ~ gamma(2, 3)", "normal(sd)", "2*nll() - log_prior() + 3"},
		{"param sd = 0.5 in [1e-3, 10] ~ lognormal(0, 1)", "normal(sd)", "nll(D) - log_prior()"},
		{"param c = 0.7 ~ normal(1, 2)", "normal(0.2*c)", "(nll() - log_prior())/2"},
		{"param sd = 0.5 in [1e-3, 10] ~ exponential(2)", "normal(sd)", "nll() - log_prior()"},
		{"param sd = 0.5 in [1e-3, 0.9] ~ beta(2, 2)", "normal(sd)", "nll() - log_prior()"},
		{"param sd = 0.5 in [1e-3, 0.9] ~ student(3, 0, 1)", "normal(sd)", "nll() - log_prior()"},
		{"param sd = 0.5 in [1e-3, 0.9] ~ uniform(0, 1)", "normal(sd)", "nll() - log_prior()"},
	} {
		if testing.Short() && i%4 > 0 {
			continue
		}
		model := strings.Replace(decay, "in [1e-3, 10]\n", "in [1e-3, 10] ~ lognormal(-1, 1)\n", 1)
		over := strings.Join(append([]string{"k", "x0"}, names(c.params)...), ", ")
		text := fmt.Sprintf("%s%s\nobserve y = x ~ %s from D.y\nobjective loss = %s\n"+
			"fit { over = [%s] intervals = wald }\nsolver { rtol = 1e-9 atol = 1e-11 }\n", model, c.params, c.noise,
			c.objective, over)
		r := run(t, parse(t, text), fit.Options{})
		if r.Algorithm != "least_squares" || r.Status != "ok" {
			t.Errorf("%s %s: %s by %s", c.noise, c.objective, r.Status, r.Algorithm)
		}
		if r.GradientNorm > 1e-6 {
			t.Errorf("%s %s: the gradient is %g", c.noise, c.objective, r.GradientNorm)
		}
		m := parse(t, text)
		s, err := m.Sensitivities(context.Background(), odes.Options{Set: r.Assignments()})
		if err != nil {
			t.Fatal(err)
		}
		near(t, c.noise+" "+c.objective, r.Starts[0].Value, s.Values[0].Value, 1e-9)
		if n := r.Starts[0].Evaluations; n > 40 {
			t.Errorf("%s %s: %d evaluations", c.noise, c.objective, n)
		}
		for _, x := range r.Estimates {
			if !(x.StdErr > 0) || !(x.Lower < x.Value) || !(x.Upper > x.Value) {
				t.Errorf("%s %s: %s = %g ± %g in [%g, %g]", c.noise, c.objective, x.Text(), x.Value, x.StdErr, x.Lower,
					x.Upper)
			}
		}
	}
}

// names lists the params that a text declares.
func names(text string) (list []string) {
	for _, line := range strings.Split(text, "param ")[1:] {
		name, _, _ := strings.Cut(line, " ")
		list = append(list, name)
	}
	return list
}

// TestCounts fits counts.
func TestCounts(t *testing.T) {
	for _, noise := range []string{"poisson()", "negbin(20)"} {
		r := run(t, parse(t, `
time t from 0 to 5
param k = 0.9 in [1e-3, 10]
param x0 = 20 in [1, 1000]
state x = x0
x' = -k*x
data D { time = [0, 1, 2, 3, 4, 5]  y = [31, 18, 13, 7, 3, 3] }
observe y = x ~ `+noise+` from D.y
objective loss = nll()
`), fit.Options{})
		if r.Status != "ok" || r.GradientNorm > 1e-4 {
			t.Errorf("%s: %s, gradient %g", noise, r.Status, r.GradientNorm)
		}
	}
}

// TestAgree: the searches of all algorithms end at the same minimum.
func TestAgree(t *testing.T) {
	var first *fit.Result
	for _, algorithm := range []string{"auto", "trust", "lbfgsb", "sqp"} {
		for _, objective := range []string{"nll()", "exp(nll()/10)"} { // the second is not read row by row
			r := run(t, parse(t, decay+`observe y = x ~ normal(0.2) from D.y
objective loss = `+objective+`
fit { log = k intervals = none algorithm = `+algorithm+` }
solver { rtol = 1e-9 atol = 1e-11 }`), fit.Options{})
			if first == nil {
				first = r
			}
			for i := range r.Estimates {
				x, want := r.Estimates[i], first.Estimates[i].Value
				near(t, algorithm+" "+objective+" "+x.Text(), x.Value, want, 1e-5)
			}
			if r.Status != "ok" {
				t.Errorf("%s %s: %s", algorithm, objective, r.Starts[0].Why)
			}
		}
	}
}

// TestNoise: with loose tolerances, whose errors make the objective rough, searches end early and at a minimum.
func TestNoise(t *testing.T) {
	for _, rtol := range []string{"1e-2", "1e-3", "1e-4"} {
		r := run(t, parse(t, `
time t from 0 to 12
param a = 1 in [0.1, 10], b = 0.3 in [0.01, 10], c = 0.5 in [0.01, 10], d = 0.12 in [0.01, 10]
state x = 10, y = 5
x' = a*x - b*x*y
y' = -c*y + d*x*y
data D {
  time = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  x = [2.92, 0.96, 0.48, 0.48, 0.89, 0.99, 2.1, 4.46, 8.96, 13.8, 7.88, 2.29]
  y = [5.8, 4.96, 3.47, 2.32, 1.39, 1.07, 1.18, 0.75, 0.91, 2.61, 5.5, 5.91]
}
observe u = x ~ normal(0.1) from D.x
observe v = y ~ normal(0.1) from D.y
objective loss = nll()
fit { log = all intervals = wald }
solver { method = bs3 rtol = `+rtol+` atol = 1e-3 }`), fit.Options{Starts: 4})
		if s := r.Starts[0]; s.Status != "converged" || s.Evaluations > 60 {
			t.Errorf("rtol %s: %s after %d evaluations: %s", rtol, s.Status, s.Evaluations, s.Why)
		}
		near(t, "a with rtol "+rtol, estimate(t, r, "a").Value, 1.084, 0.05)
	}
}

// TestConstraint fits under a constraint.
func TestConstraint(t *testing.T) {
	r := run(t, parse(t, decay+`observe y = x ~ normal(0.2) from D.y
objective loss = nll()
constraint half: final(x) >= 0.5
solver { rtol = 1e-9 atol = 1e-11 }`), fit.Options{})
	if r.Algorithm != "sqp" || r.Status != "ok" || math.Abs(r.Constraints[0].Value) > 1e-8 {
		t.Errorf("%s by %s, constraint %g", r.Status, r.Algorithm, r.Constraints[0].Value)
	}
	if len(r.Predictions) != 9 {
		t.Errorf("%d predictions", len(r.Predictions))
	}
}

// TestViolated: a search that ends where a constraint does not hold is behind those that end where all do, however much
// less its value is, also after it was read back. From below, the constraint is nearest to holding at a = -1.
func TestViolated(t *testing.T) {
	model := parse(t, `model Violated
time t from 0 to 1
param a = 3 in [-3, 4]
state x = 0
x' = a
objective J = final(x)
constraint g: final(x)^3 - 3*final(x) - 3 >= 0
fit { minimize = J  starts = 6 }`)
	var kept strings.Builder
	r := run(t, model, fit.Options{Found: func(s fit.Start) { kept.WriteString(fit.WriteStart(s)) }})
	for _, r := range []*fit.Result{r, run(t, model, fit.Options{Done: starts(t, kept.String())})} {
		last := r.Starts[len(r.Starts)-1]
		if math.Abs(r.Starts[0].Value-2.1038034) > 1e-6 || r.Starts[0].Violated || !last.Violated || last.Value > 0 {
			t.Errorf("%+v", r.Starts)
		}
	}
}

// TestInfeasible: where no point satisfies the constraints, the fit says so, which are violated, and by how much.
func TestInfeasible(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`time t from 0 to 1
param a = 1 in [0, 5]
state x = a
x' = -x
objective J = integral(x^2)
constraint high: exp(1)*final(x) >= 30
constraint low: final(x) <= 50
fit { minimize = J }`, "no feasible point was found: where the best search ended, constraint high is violated " +
			"by 25; no point near this one satisfies the constraints better, and searches from 8 other points found " +
			"none either; others may: --starts 50"},
		{`time t : [s] from 0 to 1
control u : [m/s^2] = 0 in [-1, 1] piecewise constant on grid(0 [s], 1 [s], 6)
state x = 0 [m], v = 0 [m/s]
x' = v
v' = u
objective J = integral(u^2)
constraint far: final(x) == 3 [m]
constraint rest: final(v) == 0 [m/s]
constraint slow: max_over(v) <= 0.2 [m/s]
fit { minimize = J }`, "constraint far is violated by 2.84 [m]; no point"},
	} {
		r, said := run(t, parse(t, "model Infeasible\n"+c.text), fit.Options{}), ""
		for _, d := range r.Warnings {
			said += d.Message + "\n"
		}
		if r.Status != "partial" || !strings.Contains(said, c.want) {
			t.Errorf("%s, %q; want %q", r.Status, said, c.want)
		}
	}
}

// TestIdentifiable: what the data do not tell is said, and what they tell is told all the same.
func TestIdentifiable(t *testing.T) {
	text := strings.ReplaceAll(decay, "x' = -k*x",
		"param a = 2 in [0.01, 100]\nparam idle = 3 in [1, 5]\nx' = -k*a*x") +
		"observe y = x ~ normal(0.2) from D.y\nobjective loss = nll()\n"
	r := run(t, parse(t, text), fit.Options{})
	if r.Identifiable || len(r.Unidentified) != 2 {
		t.Fatalf("identifiable: %v, %v", r.Identifiable, r.Unidentified)
	}
	said := ""
	for _, d := range r.Warnings {
		said += d.Message + "\n"
	}
	for _, want := range []string{
		"idle is not identifiable from this data", "k and a are not identifiable from this data",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	x := estimate(t, r, "x0")
	near(t, "x0", x.Value, 7.97, 2e-2)
	if !(x.StdErr > 0.1 && x.StdErr < 0.3) {
		t.Errorf("the error of x0 is %g", x.StdErr)
	}
	if e := estimate(t, r, "k").StdErr; !math.IsInf(e, 1) {
		t.Errorf("the error of k is %g", e)
	}
	// Without a search the same is told.
	id, err := fit.Identify(context.Background(), parse(t, text), fit.Options{})
	if err != nil || len(id.Unidentified) != 2 {
		t.Errorf("%+v, %v", id, err)
	}
	// A prior tells what data do not.
	text = strings.Replace(text, "param a = 2 in [0.01, 100]", "param a = 2 in [0.01, 100] ~ lognormal(0, 0.1)", 1)
	text = strings.Replace(text, "param idle = 3 in [1, 5]", "", 1)
	text = strings.Replace(text, "nll()", "nll() - log_prior()", 1)
	if r := run(t, parse(t, text), fit.Options{}); !r.Identifiable {
		t.Errorf("with a prior: %v", r.Unidentified)
	}
}

// TestVanishing: an estimate that runs towards zero, on a logarithmic scale, is not one that the data tell.
func TestVanishing(t *testing.T) {
	r := run(t, parse(t, `time t from 0 to 3
param k = 0.5, sd = 0.1
state x = 1
x' = -k*x
data D { time = [1, 2, 3]  y = [0.61, 0.37, 0.22] }
observe y = x ~ normal(sd + 0.2) from D.y
objective loss = nll()
fit { over = [k, sd]  log = [sd]  intervals = none }
solver { rtol = 1e-9 atol = 1e-11 }
`), fit.Options{})
	if e := estimate(t, r, "sd"); r.Identifiable || !math.IsInf(e.StdErr, 1) {
		t.Errorf("identifiable %v, sd %+v", r.Identifiable, e)
	}
	if e := estimate(t, r, "k"); !(e.StdErr > 0.1 && e.StdErr < 1) {
		t.Errorf("%+v", e)
	}
}

// TestPriorEnds: where the density of a prior ends is a bound, from wherever the search begins.
func TestPriorEnds(t *testing.T) {
	for _, start := range []string{"0.4", "0.3", "2"} {
		r := run(t, parse(t, `time t from 0 to 3
param k = `+start+` ~ uniform(0.1, 0.4)
state x = 1
x' = -k*x
data D { time = [1, 2, 3]  y = [0.61, 0.37, 0.22] }
observe y = x ~ normal(0.01) from D.y
objective loss = nll() - log_prior()
`), fit.Options{})
		if e := estimate(t, r, "k"); r.Status != "ok" || e.Value != 0.4 || e.AtBound != 1 {
			t.Errorf("from %s: %s, %+v", start, r.Status, e)
		}
	}
}

// TestOneValue: a param whose bounds leave it one value is not searched for.
func TestOneValue(t *testing.T) {
	text := strings.Replace(decay, "x' = -k*x", "param a = 1 in [1, 1]\nx' = -k*a*x", 1) +
		"observe y = x ~ normal(0.2) from D.y\nobjective loss = nll()\n"
	r := run(t, parse(t, text), fit.Options{})
	if slices.ContainsFunc(r.Estimates, func(e fit.Estimate) bool { return e.Name == "a" }) || !r.Identifiable {
		t.Errorf("%+v", r.Estimates)
	}
	_, err := fit.Run(context.Background(), parse(t, text+"fit { over = [k, a] }\n"), fit.Options{})
	if err == nil || !strings.Contains(err.Error(), "a cannot be searched for: its bounds leave it one value, 1") {
		t.Errorf("the error is %v", err)
	}
}

// TestUnread: a note says which parts of the model a fit leaves out: blocks that all have names, where none is asked
// for, and experiments that the objective does not read.
func TestUnread(t *testing.T) {
	const (
		noBlock       = "no fit block holds: each has a name (one, two)"
		noExperiments = "J is that of the run without changes"
		low           = "experiment low { x0 = 4  use D }\n"
		three         = "fit { minimize = J  max_iter = 3 }\n"
	)
	text := decay + "observe y = x ~ normal(0.2) from D.y\n" + low + "objective J = final(x)^2\n" +
		"objective loss = nll()\nobjective both = nll() + 0*final(x)\n"
	named := "fit one { minimize = loss }\nfit two { minimize = loss  over = k }\n"
	for _, c := range []struct {
		text, block string
		want        []string
	}{
		{text + named, "", []string{noBlock}},
		{text + named, "two", nil},
		{text + named + "fit { minimize = loss }\n", "", nil},
		{text + three, "", []string{noExperiments}},
		{text + "fit { minimize = both  max_iter = 3 }\n", "", nil},
		{strings.Replace(text, low, "", 1) + three, "", nil},
	} {
		opts := fit.Options{}
		opts.Fit = c.block
		r := run(t, parse(t, c.text), opts)
		for _, say := range []string{noBlock, noExperiments} {
			said := slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
				return d.Level == diag.Note && strings.HasPrefix(d.Message, say)
			})
			if said != slices.Contains(c.want, say) {
				t.Errorf("%q is said: %t, block %q of\n%s", say, said, c.block, c.text)
			}
		}
	}
}

// TestUnlikely: a warning says that the sign of a likelihood is wrong.
func TestUnlikely(t *testing.T) {
	text := decay + "observe y = x ~ normal(0.2) from D.y\n"
	for settings, want := range map[string]bool{
		"objective J = -nll()\nfit { minimize = J  over = k  max_iter = 3 }\n":               true,
		"objective J = 1 - 2*nll()\nfit { over = k  max_iter = 3 }\n":                        true,
		"objective J = nll()\nfit { maximize = J  over = k  max_iter = 3 }\n":                true,
		"objective J = -nll()\nfit { maximize = J  over = k  max_iter = 3 }\n":               false,
		"objective J = 2*nll()\nfit { minimize = J  over = k  max_iter = 3 }\n":              false,
		"objective J = final(x) - nll()\nfit { over = k  intervals = none  max_iter = 3 }\n": false,
	} {
		r := run(t, parse(t, text+settings), fit.Options{})
		if got := slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
			return d.Level == diag.Warning && strings.Contains(d.Message, "least likely")
		}); got != want {
			t.Errorf("warned: %t, want %t, of\n%s", got, want, settings)
		}
	}
}

// TestBound: an estimate at a bound has the bound's value, and a warning.
func TestBound(t *testing.T) {
	for _, scale := range []string{"[]", "all"} {
		r := run(t, parse(t, strings.Replace(decay, "[0.1, 100]", "[0.1, 7.3]", 1)+
			"observe y = x ~ normal(0.2) from D.y\nobjective loss = nll()\nfit { log = "+scale+" }\n"), fit.Options{})
		x := estimate(t, r, "x0")
		if x.Value != 7.3 || x.AtBound != 1 || x.OpenUpper != "bound" || !(x.Lower < 7.3) {
			t.Errorf("%+v", x)
		}
		if !slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
			return strings.Contains(d.Message, "x0 is at its upper bound, 7.3: the data want it to be greater")
		}) {
			t.Errorf("%v", r.Warnings)
		}
	}
}

// TestFlatBounds has a growth that is over before the first value: rate and start end at bounds, beyond which the data
// would be fitted better, and within which they tell nothing.
func TestFlatBounds(t *testing.T) {
	r := run(t, parse(t, `
time t from 0 to 10
param r = 6 in [5, 20], K = 9 in [5, 20], n0 = 2 in [1, 3]
state x = n0
x' = r*x*(1 - x/K)
data D { time = [6, 7, 8, 9, 10]  y = [9.8, 10.1, 9.9, 10.05, 10.1] }
observe o = x ~ normal(0.3) from D.y
objective J = nll()
fit { over = [r, K, n0]  intervals = profile }
`), fit.Options{})
	flat := 0
	for _, d := range r.Warnings {
		if strings.Contains(d.Message, "might as well be anywhere within its bounds") {
			flat++
		}
		if strings.Contains(d.Message, "the data want") {
			t.Error(d.Message)
		}
	}
	if flat != 2 {
		t.Errorf("%d flat estimates: %v", flat, r.Warnings)
	}
}

// TestIdleBound has searches that stop at a bound which does not hold them: where only a product is told, data want
// neither factor greater, and the fit says that they are not identifiable; where slopes tell nothing of a variance of
// zero, the bound stays a condition of the errors.
func TestIdleBound(t *testing.T) {
	const head = `
time t from 0 to 4
state x = 1
x' = -k*x
data D { time = [0.5, 1, 2, 3]  y = [4.7, 3.6, 2.3, 1.2] }
objective L = nll()
`
	for _, c := range []struct {
		model string
		lost  []string
		said  string
	}{
		{
			"param k = 0.5 in [0, 9], a = 2 in [0.1, 2], b = 3 in [0.1, 9]\nobserve o = a*b*x ~ normal(0.1) from D.y",
			[]string{"a", "b"},
			"a and b are not identifiable",
		},
		{
			"param k = 0.5 in [0, 9], a = 5 in [0.1, 5], b = 1\nobserve o = a*b*x ~ normal(0.1) from D.y",
			nil, "a is at its upper bound, 5: the data want it to be greater",
		},
		{
			"param k = 0.5 in [0, 9], a = 6 in [0.1, 9], s = 0 in [0, 1]\n" +
				"observe o = a*x ~ normal(sqrt(1 + s^2)) from D.y",
			nil, "s is at its lower bound, 0: its interval",
		},
	} {
		r := run(t, parse(t, head+c.model+"\nfit { intervals = wald }\nsolver { rtol = 1e-8  atol = 1e-11 }\n"),
			fit.Options{})
		var lost []string
		for _, u := range r.Unidentified {
			lost = append(lost, u.Names...)
		}
		said := slices.ContainsFunc(r.Warnings, func(d diag.Diagnostic) bool {
			return strings.Contains(d.Message, c.said)
		})
		k := estimate(t, r, "k")
		if !slices.Equal(lost, c.lost) || !said || !(k.StdErr > 0 && k.StdErr < 1) {
			t.Errorf("%s: %v, %v, k %v ± %v", c.model, lost, r.Warnings, k.Value, k.StdErr)
		}
	}
}

// TestFailures: runs that fail are failures of points, and a fit without any value says why.
func TestFailures(t *testing.T) {
	explosive := `
time t from 0 to 2
param a = -0.5 in [-2, 3]
state x = 1
x' = a*x^2
data D { time = [0.5, 1, 1.5, 2]  y = [0.8, 0.66, 0.57, 0.51] }
observe y = x ~ normal(0.02) from D.y
objective loss = nll()
` // for a > 1/2 it ends in a pole
	r := run(t, parse(t, explosive), fit.Options{Starts: 12})
	failed := 0
	for _, s := range r.Starts {
		if s.Status == "failed" {
			failed++
			if s.To != nil || !math.IsNaN(s.Value) || s.Why == "" {
				t.Errorf("%+v", s)
			}
		}
	}
	if failed < 2 || failed > 9 || r.Starts[0].Status != "converged" {
		t.Errorf("%d of %d failed", failed, len(r.Starts))
	}
	near(t, "a", r.Estimates[0].Value, -0.49, 0.05)
	_, err := fit.Run(context.Background(), parse(t, strings.Replace(explosive, "a = -0.5", "a = 2", 1)), fit.Options{})
	if !errors.Is(err, fit.ErrNoMinimum) || !strings.Contains(err.Error(), "t = 0.5") {
		t.Errorf("%v", err)
	}
}

// TestWorkers: results do not depend on the number of workers, and searches that were made before are not made again.
//
//odes:goroutines
func TestWorkers(t *testing.T) {
	text := decay + "param sd = 0.4 in [1e-3, 10]\nobserve y = x ~ normal(sd) from D.y\nobjective loss = nll()\n"
	var kept []fit.Start
	told := 0 // runs, before the first search ended
	one := run(t, parse(t, text), fit.Options{
		Starts: 9, Workers: 1, Found: func(s fit.Start) { kept = append(kept, s) },
		Told: func(at fit.Progress) {
			if at.Phase == "searches" && at.Done == 0 {
				told = at.Evaluations
			}
		},
	})
	if told < 2 {
		t.Errorf("%d runs were told of before a search ended", told)
	}
	two := run(t, parse(t, text), fit.Options{Starts: 9, Workers: 4})
	lines := ""
	for _, s := range kept[:5] {
		lines += fit.WriteStart(s)
	}
	again := 0
	three := run(t, parse(t, text), fit.Options{
		Starts: 9, Done: starts(t, lines+`{"number": 3, "val`), Found: func(fit.Start) { again++ },
	})
	if again != 4 {
		t.Errorf("%d searches were made, 4 were left", again)
	}
	for _, other := range []*fit.Result{two, three} {
		for i := range one.Starts {
			a, b := one.Starts[i], other.Starts[i]
			if a.Number != b.Number || a.Value != b.Value || !slices.Equal(a.To, b.To) ||
				a.Evaluations != b.Evaluations {
				t.Errorf("search %d:\n%+v\n%+v", i, a, b)
			}
		}
		for i := range one.Estimates {
			a, b := one.Estimates[i], other.Estimates[i]
			if a.Value != b.Value || a.Lower != b.Lower || a.Upper != b.Upper || a.StdErr != b.StdErr {
				t.Errorf("%+v\n%+v", a, b)
			}
		}
	}
}

// TestInterrupted: a fit that is interrupted returns what was done.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	m := parse(t, decay+"observe y = x ~ normal(0.2) from D.y\nobjective loss = nll()\n")
	r, err := fit.Run(ctx, m, fit.Options{
		Starts: 1000, Workers: 1, Found: func(fit.Start) {
			if n++; n == 3 {
				cancel()
			}
		},
	})
	if err != nil || r.Status != "partial" || len(r.Starts) < 3 || len(r.Starts) > 5 || len(r.Estimates) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	// Searches that end before they have a value are not results.
	soon, stop := context.WithCancel(context.Background())
	n = 0
	r, err = fit.Run(soon, m, fit.Options{Starts: 400, Workers: 8, Found: func(fit.Start) {
		if n++; n == 5 {
			stop()
		}
	}})
	if err != nil || r.Starts[0].Status != "converged" || math.Abs(r.Objective.Value-r.Starts[0].Value) > 1e-9 ||
		estimate(t, r, "k").Value < 0.3 {
		t.Errorf("%+v, %v", r.Starts[0], err)
	}
	cancel()
	if _, err := fit.Run(ctx, m, fit.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestExperiments: a fit of several experiments is that of their sum, and arrays and initial values are fitted, too.
func TestExperiments(t *testing.T) {
	m := parse(t, `
time t from 0 to 4
param k[2] = [0.5, 0.2] in [1e-3, 10]
param dose = 1
state x = dose, y = 0.5
x' = -k[1]*x
y' = k[1]*x - k[2]*y
data D {
  time = [0.5, 1, 2, 4, 0.5, 1, 2, 4]
  y = [0.86, 1.07, 1.18, 0.92, 1.2, 1.65, 1.98, 1.68]
  arm = ["a", "a", "a", "a", "b", "b", "b", "b"]
}
observe z = y ~ normal(0.05) from D.y
experiment a { use D where arm == "a" }
experiment b { dose = 2  use D where arm == "b" }
objective loss = nll()
fit { over = [k, initial(y)]  intervals = wald }
`)
	r := run(t, m, fit.Options{})
	if len(r.Estimates) != 3 || r.Estimates[1].Text() != "k[2]" || r.Estimates[2].Text() != "initial(y)" ||
		r.Rows != 8 {
		t.Fatalf("%+v", r.Estimates)
	}
	if r.GradientNorm > 1e-3 || r.Predictions[4].Experiment != "b" {
		t.Errorf("gradient %g, %+v", r.GradientNorm, r.Predictions[4])
	}
	a := r.Assignments()
	if len(a) != 2 || len(a[0].Values) != 2 || a[1].Name != "initial(y)" {
		t.Errorf("%+v", a)
	}
}

// TestCoverage refits a simulated experiment 200 times: the intervals, those of standard errors and those of profiles,
// hold the truth about as often as they say.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	const times, k, x0, sd = 200, 0.35, 8, 0.3
	at := []float64{0, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 9, 10}
	draw := elem.NewRand(7)
	wald, profile := [2]int{}, [2]int{}
	// The data are zeros, and the measurements are params that are taken from the prediction: so one model serves all.
	head, _, _ := strings.Cut(decay, "data D")
	m := parse(t, fmt.Sprintf("%sdata D { time = %s y = %s }\nparam seen[%d] = 0\n", head, list(at),
		list(make([]float64, len(at))), len(at))+
		"observe y = x - interp(D.time, seen, t) ~ normal(0.3) from D.y\n"+
		"objective loss = nll()\nfit { over = [k, x0] }\n")
	for range times {
		seen := make([]float64, len(at))
		for i, s := range at {
			seen[i] = x0*math.Exp(-k*s) + sd*draw.Norm()
		}
		r := run(t, m, fit.Options{Options: odes.Options{Set: []odes.Assignment{{Name: "seen", Values: seen}}}})
		for i, truth := range []float64{k, x0} {
			x := r.Estimates[i]
			if math.Abs(x.Value-truth) <= 1.959964*x.StdErr {
				wald[i]++
			}
			if x.Lower <= truth && truth <= x.Upper {
				profile[i]++
			}
		}
	}
	for i := range wald {
		for _, n := range []int{wald[i], profile[i]} {
			if n < times*90/100 || n > times*99/100 {
				t.Errorf("intervals of %s hold the truth %d times of %d (standard errors), %d times (profiles)",
					[]string{"k", "x0"}[i], wald[i], times, profile[i])
			}
		}
	}
}

// A profile goes on towards places where the objective has no value, as where a spread is negative, until it has risen
// enough: the end is the one that a logarithmic scale leads to, and not a place beyond.
func TestProfileBesideNoValue(t *testing.T) {
	const text = `
time t from 0 to 12
param m = 4 in [0.1, 100], phi = 5
state x = m
x' = 0
data D { time = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]  c = [2, 6, 3, 8, 1, 5, 4, 3, 7, 2, 4, 3] }
observe y = x ~ negbin(phi) from D.c
objective L = nll()
fit { over = [m, phi] }
`
	lower := func(text string) fit.Estimate {
		r, err := fit.Run(t.Context(), parse(t, text), fit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r.Estimates[1]
	}
	a, b := lower(text), lower(strings.Replace(text, "[m, phi] }", "[m, phi]  log = phi }", 1))
	if a.OpenLower != "" || b.OpenLower != "" || math.Abs(a.Lower/b.Lower-1) > 1e-4 {
		t.Errorf("the interval begins at %g (%q), on a logarithmic scale at %g (%q)", a.Lower, a.OpenLower, b.Lower,
			b.OpenLower)
	}
}
