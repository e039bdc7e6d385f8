package fit

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/sample"
)

// TestPriorRows compares what priors add to the objective, and its derivative, with what mpmath makes of their
// densities.
func TestPriorRows(t *testing.T) {
	text, err := os.ReadFile("testdata/priors.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Dist     string
		Args     []float64
		Y        float64
		Bounds   string
		Value    float64
		Gradient []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Bounds != "" {
			continue
		}
		r := priorRows[c.Dist](c.Y, c.Args)
		got := r.square*r.square/2 + r.rest + constantOf(&odes.Draw{Dist: c.Dist, Args: c.Args, Mass: 1})
		slope := r.square*r.bySquare + r.byRest
		if math.Abs(got+c.Value) > 1e-12 || math.Abs(slope+c.Gradient[0]) > 1e-12 {
			t.Errorf("%s%v: %.15g and %.15g, want %.15g and %.15g", c.Dist, c.Args, got, slope, -c.Value,
				-c.Gradient[0])
		}
		if lo, _, _ := sample.Support(c.Dist, c.Args); lo == 0 {
			if r := priorRows[c.Dist](-0.1, c.Args); !math.IsInf(r.rest, 1) {
				t.Errorf("%s%v has a density below 0", c.Dist, c.Args)
			}
		}
	}
}

// TestPriorsOfParams fits a model whose priors are normal with a mean that is searched for. The optimum is that of a
// quadratic form: the mean is the sum of the data by 5 (of three params with variances 1 + 1, and its own prior of 1).
func TestPriorsOfParams(t *testing.T) {
	const model = `
time t from 0 to 1
param m = 0 ~ normal(0, 1)
param k[3] = 0 ~ normal(m, 1)
param l[2] = 0.5 in [0, inf] ~ half_normal([1, 2])
state x = 0
x' = 0
data D { time = [1] y = [1] z = [2] w = [4] }
observe a = k[1] ~ normal(1) from D.y
observe b = k[2] ~ normal(1) from D.z
observe c = k[3] ~ normal(1) from D.w
objective loss = nll() - log_prior() + 0.5*sum((l - 1)^2)
sens { of = loss }
fit { over = [m, k, l] }
`
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(t.Context(), m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// m: m + sum(m - k) = 0; k: k - m + k - y = 0, so k = (m + y)/2 and m (1 + 3/2) = sum(y)/2.
	mean := 7.0 / 2 / 2.5
	want := []float64{mean, (mean + 1) / 2, (mean + 2) / 2, (mean + 4) / 2, 0.5, 0.8}
	for i, x := range out.Estimates {
		if math.Abs(x.Value-want[i]) > 1e-6 {
			t.Errorf("%s is %g, want %g", x.Name, x.Value, want[i])
		}
	}
}
