package fit_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// beginning is a model with declarations of params k and a, an objective and what a fit block says.
const beginning = `time t from 0 to 4
param k = %s
param a = %s
state x = a
x' = -abs(k)*x
data D { time = [1, 2, 3]  y = [3, 1.8, 1.1] }
observe o = x ~ normal(0.1) from D.y
objective loss = %s
fit { over = [%s]  log = [%s]  intervals = none }
`

// TestStartIsThatOfTheModel: the start of an estimate has the bits of the value in the model, on either scale.
func TestStartIsThatOfTheModel(t *testing.T) {
	for _, log := range []string{"", "k, a"} {
		r := run(t, parse(t, fmt.Sprintf(beginning, "0.3", "5 in [1, 10]", "nll()", "k, a", log)), fit.Options{})
		if k, a := r.Estimates[0].Start, r.Estimates[1].Start; k != 0.3 || a != 5 {
			t.Errorf("log = [%s]: starts %v and %v, want 0.3 and 5", log, k, a)
		}
	}
}

// TestLogarithmicBounds: a bound that a logarithmic scale does not reach is an error.
func TestLogarithmicBounds(t *testing.T) {
	for _, c := range []struct{ k, want string }{
		{"0.3 in [0, 3]", "k is searched for on a logarithmic scale, which does not reach its bound 0;"},
		{"0.3 in [-2, 3]", "k is searched for on a logarithmic scale, which does not reach its bound -2;"},
		{"0.3 in [0.1, 3]", ""},
		{"0.3 ~ lognormal(0, 1)", ""},
		{"0.3", ""},
	} {
		_, err := fit.Run(t.Context(), parse(t, fmt.Sprintf(beginning, c.k, "5", "nll()", "k, a", "k")), fit.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.k, err, c.want)
		}
	}
}

// TestUnsupported: where no search comes to a value, and the prior of a param is zero where they begin, the error names
// that param, whether it is searched for or not.
func TestUnsupported(t *testing.T) {
	for _, c := range []struct{ k, want string }{
		{"-1 ~ gamma(2, 1)", "the prior of k, gamma(2, 1), is zero at its value -1:"},
		{"2 ~ beta(2, 3)", "the prior of k, beta(2, 3), is zero at its value 2:"},
		{"0 ~ loglaplace(0, 1)", "the prior of k, loglaplace(0, 1), is zero at its value 0:"},
	} {
		for _, over := range []string{"k, a", "a"} {
			for _, objective := range []string{"nll() - log_prior()", "final(x) - log_prior()"} {
				m := parse(t, fmt.Sprintf(beginning, c.k, "5", objective, over, ""))
				_, err := fit.Run(t.Context(), m, fit.Options{})
				if !errors.Is(err, fit.ErrNoMinimum) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s, over %s, %s: %v, want %q", c.k, over, objective, err, c.want)
				}
			}
		}
	}
	m := parse(t, fmt.Sprintf(beginning, "-1 ~ gamma(2, 1)", "5", "nll()", "a", ""))
	if _, err := fit.Run(t.Context(), m, fit.Options{}); err != nil {
		t.Errorf("a prior that nothing reads is no error: %v", err)
	}
}
