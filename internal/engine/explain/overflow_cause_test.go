package explain_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestCauses: a number that is not finite has its cause beside it, whatever makes it, and the status is not "ok".
func TestCauses(t *testing.T) {
	const head = "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\n"
	for _, c := range []struct{ name, text, want string }{
		{"log", "objective J = log(final(x) - 1)", `"log(final(x) - 1)" is the logarithm of a negative number`},
		{"log of 0", "objective J = log(final(x)*0)", `"log(final(x)*0)" is the logarithm of 0`},
		{"log1p", "objective J = log1p(-1 - final(x))", `is the logarithm of a negative number`},
		{"sqrt", "objective J = sqrt(-final(x))", `"sqrt(-final(x))" is the square root of a negative number`},
		{"0/0", "objective J = (final(x) - final(x))/(k - 1)", `"(final(x) - final(x))/(k - 1)" is 0/0`},
		{"x/0", "objective J = final(x)/(k - 1)", `"final(x)/(k - 1)" is a division by 0`},
		{"1/0", "objective J = 1/(k - 1)", `is a division by 0`},
		{"power", "objective J = (-final(x))^(k/2)", "is a negative number to a power that is not whole"},
		{"power of 0", "objective J = (k - 1)^(-final(x))", "is 0 to a negative power"},
		{"asin", "objective J = asin(2 + final(x))", "is the function asin where it is not defined"},
		{"overflow", "objective J = exp(2000*final(x))", `"exp(2000*final(x))" is too large for a number`},
		{
			"in the run", "let y = log(x - 0.5)\nobjective J = final(y)",
			`"final(y)" is not a number, since "log(x - 0.5)" is the logarithm of a negative number`,
		},
		{
			"at an event", "event e at 0.9 { x = x }\nobjective J = at_event(e, sqrt(pre(x) - 0.5), nth = 1)",
			`since "sqrt(pre(x) - 0.5)" is the square root of a negative number`,
		},
		{"of a vector", "objective J = sum(log([final(x), final(x) - 1]))", "the logarithm of a negative number"},
		{
			"one of two", "objective K = log(-final(x))\nobjective J = sqrt(-final(x))",
			`"sqrt(-final(x))" is the square root`,
		},
	} {
		m, err := odes.Parse("m.ode", head+c.text+"\n", odes.ParseOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{Of: []string{"J"}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if v := s.Values[0]; s.Status != "partial" || v.Value-v.Value == 0 || !contains(v.Warnings, c.want) {
			t.Errorf("%s: %s, J = %g, %q; want %q", c.name, s.Status, v.Value, v.Warnings, c.want)
		}
		sol, err := m.Solve(context.Background(), odes.Options{Of: []string{"J"}})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if v := sol.Values[0]; sol.Status != "partial" || !contains(v.Warnings, c.want) {
			t.Errorf("%s: of the run: %s, %q; want %q", c.name, sol.Status, v.Warnings, c.want)
		}
	}
}

func contains(list []string, text string) bool {
	return strings.Contains(strings.Join(list, "\n"), text)
}

// TestNoDerivative: derivatives that are not finite name the expression, of objectives and of rates.
func TestNoDerivative(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"objective", "param k = 0\nstate x = 0\nx' = k\nobjective J = sqrt(final(x))",
			`"sqrt(final(x))" has no finite derivative`,
		},
		{
			"rates", "param k = 1\nstate x = 0, y = 1\nx' = k\ny' = -sqrt(x)*k\nobjective J = final(y)",
			`"sqrt(x)" has no finite derivative at t = 0`,
		},
		{
			"by a param", "param k = 0\nstate x = 1\nx' = -sqrt(k)*x\nobjective J = final(x)",
			`"sqrt(k)" has no finite derivative at t = 0`,
		},
	} {
		m, err := odes.Parse("m.ode", "time t from 0 to 1\n"+c.text+"\n", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s.Status != "partial" || !contains(s.Values[0].Warnings, c.want) {
			t.Errorf("%s: %s, %q; want %q", c.name, s.Status, s.Values[0].Warnings, c.want)
		}
		v, err := m.Verify(context.Background(), odes.Options{}, odes.VerifyOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := v.Objectives[0].Outcome; got != "undecided" {
			t.Errorf("%s: verify says %s", c.name, got)
		}
	}
}

// TestBrokenOutputs: an output that is not always a number says since when, and why.
func TestBrokenOutputs(t *testing.T) {
	const text = "time t from 0 to 1\nstate x = 1\nx' = -1\noutput y = log(x - 0.5)\noutput z = 0/(x - x)\n"
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{Times: []float64{0, 0.25, 0.75, 1}})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, d := range s.Warnings {
		said = append(said, d.Message)
	}
	for _, want := range []string{
		`since "log(x - 0.5)" is the logarithm of a negative number at t = 0.75: y`,
		`since "0/(x - x)" is 0/0 at t = 0: z`,
	} {
		if s.Status != "partial" || !contains(said, want) {
			t.Errorf("%s, %q; want %q", s.Status, said, want)
		}
	}
}

// TestGrowth: what grows without end is said to, by every method, and is not called stiff.
func TestGrowth(t *testing.T) {
	for _, text := range []string{"x' = 1000*x", "x' = x^2", "x' = exp(x)", "x' = x*1e300", "x' = 1e300"} {
		for _, method := range []string{"dopri5", "bs3", "dop853", "rkc2", "rodas5p", "auto", "rk4"} {
			m, err := odes.Parse("m.ode", "time t from 0 to 1e9\nstate x = 1\n"+text+"\nobjective J = final(x)\n",
				odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			over := []odes.Setting{{Key: "solver.method", Value: method}, {Key: "solver.max_steps", Value: "20000"}}
			if method == "rk4" {
				over = append(over, odes.Setting{Key: "solver.fixed_step", Value: "0.01"})
			}
			s, err := m.Sensitivities(context.Background(), odes.Options{Settings: over})
			var run *odes.RunError
			switch {
			case err == nil:
				if math.IsInf(s.Values[0].Value, 0) != (s.Status == "partial") && text != "x' = 1e300" {
					t.Errorf("%s by %s: J = %g, %s", text, method, s.Values[0].Value, s.Status)
				}
			case !errors.As(err, &run):
				t.Errorf("%s by %s: %v", text, method, err)
			case strings.Contains(err.Error(), "Inf") || strings.Contains(err.Error(), "looks stiff"):
				t.Errorf("%s by %s: %v", text, method, err)
			}
		}
	}
}
