package fit_test

import (
	"strings"
	"testing"

	"odes.dev/odes/fit"
)

// TestDiverging has objectives without a minimum, or with one that their errors hide: the fit says so, and of others it
// does not.
func TestDiverging(t *testing.T) {
	const model = "time t from 0 to 4\nparam k = 1, a = 1\nstate x = 1\nx' = -k*x\nobjective L = "
	const without = "the objective falls without end"
	for _, c := range []struct{ objective, fit, status, said string }{
		{"-a*final(x)", "over = [k, a]", "partial", without},
		{"-a^2*(1 + final(x))", "over = [k, a]", "partial", without},
		{"-a^2*(1 + final(x))", "over = [k, a] algorithm = lbfgsb", "partial", without},
		{"log(a) + 1/a^2 - a^4*final(x)", "over = [k, a]", "partial", without},
		{"a^4*(1 + final(x))", "over = [k, a] maximize = L", "partial", without},
		{"-a^4*(1 + final(x))\nconstraint c: k >= 0.5", "over = [k, a]", "partial", without},
		{"final(x) + exp(-a)", "over = [k, a]", "ok", "the minimum does not tell a"},
		{"final(x) + exp(-a)", "over = [k, a]", "ok", "the minimum does not tell k"},
		{"(final(x) - 0.3)^2", "over = [k, a]", "ok", "the minimum does not tell a"},
		{"(final(x) - 0.3)^2 + (a - 2)^2", "over = [k, a]", "ok", ""},
		{"1e-60*((final(x) - 0.3)^2 + (a - 2)^2 - 1)", "over = [k, a]", "ok", ""},
		{"1e60*((final(x) - 0.3)^2 + (a - 2)^2 - 1)", "over = [k, a]", "ok", ""},
	} {
		r := run(t, parse(t, model+c.objective+"\nfit { "+c.fit+" }\n"), fit.Options{})
		said := ""
		for _, d := range r.Warnings {
			if d.Code == fit.CodeFit {
				said += d.Message + "\n"
			}
		}
		if r.Status != c.status || !strings.Contains(said, c.said) || c.said == "" && said != "" {
			t.Errorf("%s, %s: %s, %q", c.objective, c.fit, r.Status, said)
		}
	}
}

// TestTooExact estimates the standard deviation of data without noise, and of data with little.
func TestTooExact(t *testing.T) {
	const model = "time t from 0 to 4\nparam k = 1.3, s = 1\nstate x = 0\nx' = k\n" +
		"observe y = x ~ normal(%s) from D.y\nobjective loss = nll()\nfit { over = [%o] scatter = %c }\ndata D {\n" +
		"  time = [1, 2, 3, 4]\n  y = [2, 4, 6, %e]\n}\n"
	for _, c := range []struct {
		sd, over, scatter, last string
		warned                  bool
	}{
		{"s", "k, s", "known", "8", true},
		{"0.1", "k", "estimated", "8", true},
		{"0.1", "k", "known", "8", false},
		{"1e-9", "k", "known", "8", false},
		{"s", "k, s", "known", "8.01", false},
		{"0.1", "k", "estimated", "8.01", false},
	} {
		text := strings.NewReplacer("%s", c.sd, "%o", c.over, "%c", c.scatter, "%e", c.last).Replace(model)
		r := run(t, parse(t, text), fit.Options{})
		said := false
		for _, d := range r.Warnings {
			said = said || strings.Contains(d.Message, "is that of the solver")
		}
		if said != c.warned {
			t.Errorf("sd %s over %s, %s, %s: warnings %v", c.sd, c.over, c.scatter, c.last, r.Warnings)
		}
	}
}
