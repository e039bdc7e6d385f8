package fit

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestPriorsAsDefined compares log_prior() and its gradient, by the value and by the numbers of the prior, with what
// mpmath makes of the densities and distribution functions at 40 digits. The numbers are params, then constants, then
// arrays of constants.
func TestPriorsAsDefined(t *testing.T) {
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
		in := ""
		if c.Bounds != "" {
			in = "in " + c.Bounds
		}
		var params, names, numbers, arrays []string
		for i, a := range c.Args {
			names = append(names, fmt.Sprintf("a%d", i))
			params = append(params, fmt.Sprintf("param a%d = %v\n", i, a))
			numbers = append(numbers, fmt.Sprint(a))
			arrays = append(arrays, fmt.Sprintf("[%v, %v]", a, a))
		}
		const rest = "time t from 0 to 1\nstate x = 0\nx' = 0\nobjective lp = log_prior()\n"
		at := func(what, text string, times float64, gradient []float64) {
			t.Helper()
			m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			near := func(got, want float64) bool { return math.Abs(got-want) <= 2e-11*max(math.Abs(want), 1) }
			if !near(s.Values[0].Value, times*c.Value) {
				t.Errorf("%s%v %s, %s: %.15g, want %.15g", c.Dist, c.Args, c.Bounds, what, s.Values[0].Value,
					times*c.Value)
			}
			for i, want := range gradient {
				if !near(s.Gradient[i], want) {
					t.Errorf("%s%v %s, %s: derivative %d is %.15g, want %.15g", c.Dist, c.Args, c.Bounds, what, i,
						s.Gradient[i], want)
				}
			}
		}
		scalar := func(args []string) string {
			return fmt.Sprintf("param y = %v %s ~ %s(%s)\n", c.Y, in, c.Dist, strings.Join(args, ", "))
		}
		at("params", rest+scalar(names)+strings.Join(params, ""), 1, c.Gradient)
		if c.Args[0] == 30 { // the bounds leave 1e-730 of it, which constants may not have
			continue
		}
		at("constants", rest+scalar(numbers), 1, c.Gradient[:1])
		at("arrays", rest+strings.ReplaceAll(scalar(arrays), "param y", "param y[2]"), 2,
			[]float64{c.Gradient[0], c.Gradient[0]})
	}
}

// TestWhatPriorsRead holds what priors may read, and what they may not.
func TestWhatPriorsRead(t *testing.T) {
	const rest = "time t from 0 to 1\nstate x = 0\nx' = 0\nobjective lp = log_prior()\n"
	for _, c := range []struct{ text, says string }{
		{"param m = 0 ~ normal(0, 1)\nparam s = 1 in [0, inf] ~ half_cauchy(1)\nparam k[3] = 1 ~ normal(m, s)", ""},
		{"param m[2] = 0\nparam k[3] = 1 ~ normal([m[1], m[2], m[1]], 1)", ""},
		{"param cauchy = 1 ~ cauchy(0, 1)\nparam half_normal = 1\nparam k = 1 ~ normal(cauchy, half_normal)", ""},
		{"param nu = 4\nparam k = 1 ~ student(nu, 0, 1)", ""},
		{"param k = 1 ~ normal(k, 1)", "depends on the value of \"k\" itself"},
		{"param k = 1 ~ normal(m, 1)\nparam m = 1 ~ normal(l, 1)\nparam l = 2*k", "in a circle"},
		{"param m[2] = 1\nparam k[3] = 1 ~ normal(m, 1)", "the mean of the prior must be of shape [3]"},
		{"param m[2] = 1\nparam k = 1 ~ normal(m, 1)", "the mean of the prior must be a scalar"},
		{"param nu = 4\nparam k = 1 in [0, 2] ~ student(nu, 0, 1)", "no derivatives by its numbers"},
		{"param nu = 4\nparam k = 1 in [1, inf] ~ inverse_gamma(nu, 1)", "no derivatives by its numbers"},
		{"param k[2] = 1 ~ normal(0, [1, -1])", "needs sd > 0"},
		{"param k = 1 ~ normal(x, 1)", "a prior"},
		{"param k = 1 ~ normal(t, 1)", "a prior"},
	} {
		_, err := odes.Parse("m.ode", rest+c.text, odes.ParseOptions{})
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
