package posterior

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

func parsed(t *testing.T, text string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawn(t *testing.T, text string, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), parsed(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// near compares the moments of a param with known ones, in standard errors.
func near(t *testing.T, p *Param, mean, sd float64) {
	t.Helper()
	if z := (p.Mean - mean) / p.MCSEMean; !(math.Abs(z) < 4.5) {
		t.Errorf("%s: mean %g, not %g (z = %.1f)", p.Text(), p.Mean, mean, z)
	}
	if z := (p.Sd - sd) / p.MCSESd; !(math.Abs(z) < 4.5) {
		t.Errorf("%s: sd %g, not %g (z = %.1f)", p.Text(), p.Sd, sd, z)
	}
}

// line is a straight line through one measurement of each of two values, whose posterior is normal.
const line = `time t from 0 to 1
param a = 0 ~ normal(0, 1)
param b[2] = 0 ~ normal(1, 2)
state x = a, y[2] = b
x' = 0
y[i]' = 0 for i in 1:2
data D { time = [1]  u = [2]  v = [3]  w = [-1] }
observe o1 = x ~ normal(1) from D.u
observe o2 = y[1] ~ normal(1) from D.v
observe o3 = y[2] ~ normal(2) from D.w
`

// TestNormal: a posterior in closed form, without an objective and without a block.
func TestNormal(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, line+"sample { draws = 500  warmup = 200 }", Options{})
	if r.Status != "ok" || len(r.Params) != 3 || len(r.Modes) != 1 || r.Divergences > 0 || r.Trust == nil ||
		r.Trust.Sd > 1e-6 || r.Draws() != 2000 {
		t.Errorf("%s, %+v, %+v, %v", r.Status, r.Modes, r.Trust, r.Warnings)
	}
	near(t, &r.Params[0], 1, math.Sqrt(0.5))
	near(t, &r.Params[1], (1.0/4+3)/(1.0/4+1), math.Sqrt(1/(1.0/4+1)))
	near(t, &r.Params[2], 0, math.Sqrt(2))
	if r.Params[1].Text() != "b[1]" {
		t.Error(r.Params[1].Text())
	}
}

// TestWorkers: draws do not depend on how many chains go on at once.
func TestWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	text, err := os.ReadFile("testdata/decay.ode")
	if err != nil {
		t.Fatal(err)
	}
	a, b := drawn(t, string(text), Options{Workers: 1}), drawn(t, string(text), Options{Workers: 3})
	for k := range a.Chains {
		for i := range a.Params {
			if !slices.Equal(a.Chains[k].Values[i], b.Chains[k].Values[i]) {
				t.Fatalf("chain %d differs", k)
			}
		}
	}
	if a.Gradients != b.Gradients {
		t.Error("the work differs")
	}
}

// prior is a model whose posterior is its prior.
func prior(params string) string {
	return "time t from 0 to 1\n" + params + "\nstate x = 0\nx' = 0\n"
}

// TestTransforms: bounds of all kinds, and a constraint, with priors whose moments are known.
func TestTransforms(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, prior(`param u = 0.5 in [2, 5] ~ uniform(2, 5)
param e = 1 in [-1, inf] ~ normal(-1, 1)
param h = -3 in [-inf, -1] ~ normal(-1, 1)
param g = 1 ~ gamma(3, 2)
param b = 0.3 ~ beta(2, 3)
sample { draws = 1000  warmup = 300 }`), Options{})
	half := math.Sqrt(2 / math.Pi)
	near(t, &r.Params[0], 3.5, 3/math.Sqrt(12))
	near(t, &r.Params[1], -1+half, math.Sqrt(1-half*half))
	near(t, &r.Params[2], -1-half, math.Sqrt(1-half*half))
	near(t, &r.Params[3], 1.5, math.Sqrt(3)/2)
	near(t, &r.Params[4], 0.4, 0.2)
	if r.Status != "ok" {
		t.Error(r.Warnings)
	}
}

// TestConstraint: a constraint cuts off.
func TestConstraint(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, prior(`param a = 1 ~ normal(0, 1)
constraint c: a >= 0
sample { draws = 1000  warmup = 300 }`), Options{})
	half := math.Sqrt(2 / math.Pi)
	near(t, &r.Params[0], half, math.Sqrt(1-half*half))
	if len(r.Rejections) != 1 || r.Rejections[0].Cause != "constraint c" {
		t.Error(r.Rejections)
	}
}

// TestModes: two modes that chains would never cross between have their shares.
func TestModes(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, `time t from 0 to 1
param b = 0.5 ~ normal(0.3, 0.8)
state y = b^2
y' = 0
data D { time = [1]  y = [1] }
observe o = y ~ normal(0.1) from D.y
sample { draws = 1000  warmup = 300 }`, Options{})
	share, mass := 0.0, 0.0
	for x := -3.0; x < 3; x += 1e-4 {
		w := math.Exp(-(x*x-1)*(x*x-1)/0.02 - (x-0.3)*(x-0.3)/1.28)
		if mass += w; x < 0 {
			share += w
		}
	}
	share /= mass
	if len(r.Modes) != 2 || r.Status != "ok" {
		t.Fatalf("%+v, %v", r.Modes, r.Warnings)
	}
	got := float64(r.Modes[1].Draws) / float64(r.Draws())
	if z := (got - share) / math.Sqrt(share*(1-share)/r.Params[0].BulkESS); math.Abs(z) > 4.5 ||
		math.Abs(r.Modes[1].Weight-share) > 0.05 {
		t.Errorf("a share of %g, not %g (z = %.1f); by Laplace %g", got, share, z, r.Modes[1].Weight)
	}
}

// TestLaplace: the approximation is exact for a normal posterior, and told not to be for another one.
func TestLaplace(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	r := drawn(t, line+"sample { method = laplace  draws = 500 }", Options{})
	near(t, &r.Params[1], (1.0/4+3)/(1.0/4+1), math.Sqrt(1/(1.0/4+1)))
	if r.Status != "ok" || !(r.K < 0.5) {
		t.Error(r.K, r.Warnings)
	}
	r = drawn(t, prior(`param a = 0, b = 0
objective L = a^2/2 + 20*(b - a^2)^2
sample { of = L  over = [a, b]  method = laplace }`), Options{})
	if r.Status != "partial" || !(r.K > 0.7) {
		t.Error(r.K, r.Warnings)
	}
}

// TestSolverTrust: where the tolerances are too coarse for the data, the draws are not to be trusted.
func TestSolverTrust(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	const text = `time t from 0 to 10
param k = 1 ~ lognormal(0, 0.1)
state x = 1, v = 0
x' = v
v' = -k*x
data D { time = [8, 10]  x = [-0.1455, -0.8391] }
observe o = x ~ normal(1e-6) from D.x
solver { rtol = RTOL  atol = 1e-12 }
sample { draws = 100  warmup = 100  starts = 1  chains = 2 }`
	r := drawn(t, strings.Replace(text, "RTOL", "1e-3", 1), Options{})
	if r.Status != "partial" || !strings.Contains(messages(r), "errors of the solver") {
		t.Error(r.Trust, r.Warnings)
	}
	r = drawn(t, strings.Replace(text, "RTOL", "1e-10", 1), Options{})
	if strings.Contains(messages(r), "errors of the solver") {
		t.Error(r.Trust, r.Warnings)
	}
}

func messages(r *Result) string {
	var all []string
	for _, d := range r.Warnings {
		all = append(all, d.Message)
	}
	return strings.Join(all, "\n")
}

// TestMistakes: what cannot be drawn from is an error that says why, or a warning.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{prior("param a = 1 in [0, 1]\nsample { of = nothing }"), "not an objective"},
		{prior("param a = 1"), "nothing to draw"},
		{prior("param a = 1 in [0, 1]"), "no density to draw from"},
		{prior("param a = 1 in [1, 1] ~ normal(0, 1)\nsample { over = [a] }"), "a"},
		{prior("param a = 1 ~ normal(0, 1)\nconstraint c: a == 0"), "no volume"},
		{
			prior("param a = 1 ~ normal(0, 1)\nlet q = 2*a\nobjective L = q^2\nsample { of = L  over = [q] }"),
			"not a param, but a let",
		},
		{prior("param a = 1 ~ normal(0, 1)\nobjective c[i] = i*a for i in 1:2\nsample { of = c }"), "one number"},
	} {
		m, err := odes.Parse("m.ode", c.text, odes.ParseOptions{})
		if err == nil {
			_, err = Run(context.Background(), m, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q, of\n%s", err, c.want, c.text)
		}
	}
	_, err := Run(context.Background(), parsed(t, prior("param a = 1 ~ normal(0, 1)\nlet q = 2*a")), Options{
		Options: odes.Options{Settings: []odes.Setting{{Key: "sample.over", Value: "[q]"}}},
	})
	if err == nil || !strings.Contains(err.Error(), `cannot draw "q"`) ||
		!strings.Contains(err.Error(), "what it is made of") {
		t.Error(err)
	}
	r := drawn(t, prior("param a = 1\nobjective L = a^2\nsample { of = L  over = [a]  draws = 50  warmup = 50 }"),
		Options{})
	if !strings.Contains(messages(r), "may not exist") {
		t.Error(r.Warnings)
	}
}

// TestInterrupted: what was drawn until then is kept.
func TestInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	o := Options{}
	o.Progress = func(at odes.Progress) {
		if at.Phase == odes.PhaseRuns {
			if n++; n == 1500 {
				cancel()
			}
		}
	}
	r, err := Run(ctx, parsed(t, line+"sample { draws = 100000  warmup = 50 }"), o)
	if err != nil || r.Status != "partial" || !r.Interrupted || r.Draws() == 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestReferences compares with the posteriors of a file that ODES_POSTERIORS names, if it does: all of them, or those
// of ODES_CASES.
func TestReferences(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	path := os.Getenv("ODES_POSTERIORS")
	if path == "" {
		t.Skip("ODES_POSTERIORS names no file of posteriors")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type number struct {
		Name     string
		Index    *int
		Mean, Sd *float64
		Q5       float64 `json:"q5"`
		Median   float64 `json:"q50"`
		Q95      float64 `json:"q95"`
		MCSE     map[string]float64
	}
	var file struct {
		Cases []struct {
			ID, Text  string
			Reference []number
			Limits    struct {
				Gradients float64 `json:"gradients_per_effective_draw"`
				Hard      bool
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		if only := os.Getenv("ODES_CASES"); only != "" && !slices.Contains(strings.Split(only, ","), c.ID) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			r := drawn(t, c.Text, Options{})
			least := math.Inf(1)
			for i, want := range c.Reference {
				p := &r.Params[i]
				least = min(least, p.BulkESS)
				check := func(what string, got, want, e, e2 float64) {
					if z := (got - want) / math.Hypot(e, e2); !(math.Abs(z) <= 4) {
						t.Errorf("%s of %s: %g, not %g (z = %.1f)", what, p.Text(), got, want, z)
					}
				}
				check("median", p.Median, want.Median, p.MCSEMedian, want.MCSE["q50"])
				if want.Mean == nil {
					continue
				}
				check("mean", p.Mean, *want.Mean, p.MCSEMean, want.MCSE["mean"])
				if d := p.Sd / *want.Sd; !(math.Abs(d-1) <= 0.06) {
					t.Errorf("sd of %s: %g, not %g", p.Text(), p.Sd, *want.Sd)
				}
			}
			rate := float64(r.Gradients) / least
			t.Logf("%s: %d divergences, %.1f gradients an effective draw (limit %g)", r.Status, r.Divergences, rate,
				c.Limits.Gradients)
			if c.Limits.Gradients > 0 && rate > c.Limits.Gradients {
				t.Errorf("%.1f gradients an effective draw, more than %g", rate, c.Limits.Gradients)
			}
		})
	}
}
