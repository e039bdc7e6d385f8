package fit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// parse compiles a model.
func parse(t *testing.T, text string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("test.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// run fits a model.
func run(t *testing.T, m *odes.Model, o fit.Options) *fit.Result {
	t.Helper()
	r, err := fit.Run(context.Background(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// estimate returns the estimate of a name.
func estimate(t *testing.T, r *fit.Result, name string) *fit.Estimate {
	t.Helper()
	for i := range r.Estimates {
		if r.Estimates[i].Text() == name {
			return &r.Estimates[i]
		}
	}
	t.Fatalf("no estimate of %s", name)
	return nil
}

// near reports a number that is further than tol, relative, from what it must be.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s is %.15g, want %.15g: off by %.2g", what, got, want, (got-want)/want)
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func list(x []float64) string { return strings.ReplaceAll(fmt.Sprint(x), " ", ", ") }

// TestLeastSquares fits problems of which the optimum is known in multiprecision arithmetic: estimates, and the
// standard errors of Gauss and Newton with the factor that the residuals tell.
func TestLeastSquares(t *testing.T) {
	var file struct {
		Cases []struct {
			ID          string
			States      []string
			Equations   map[string]string
			Initial     map[string]string
			Fixed       map[string]float64 `json:"fixed_parameters"`
			Estimated   []string
			Start       []float64
			Observables map[string]string
			Times       []float64
			Data        map[string][]float64
			Optimum     map[string]float64
			Value       float64            `json:"objective_at_optimum"`
			Errors      map[string]float64 `json:"standard_errors_sqrt(RSS/(n-p)*inv(JtJ)_ii)"`
		}
	}
	read(t, "testdata/least_squares_fits.json", &file)
	for _, c := range file.Cases {
		for _, scale := range []string{"log = []", "log = all"} {
			var b strings.Builder
			fmt.Fprintf(&b, "time t from 0 to %g\n", c.Times[len(c.Times)-1])
			for i, name := range c.Estimated {
				fmt.Fprintf(&b, "param %s = %g\n", name, c.Start[i])
			}
			for name, v := range c.Fixed {
				fmt.Fprintf(&b, "param %s = %g\n", name, v)
			}
			for _, x := range c.States {
				fmt.Fprintf(&b, "state %s = %s\n%s' = %s\n", x, c.Initial[x], x, c.Equations[x+"'"])
			}
			fmt.Fprintf(&b, "data D { time = %s", list(c.Times))
			for name, y := range c.Data {
				fmt.Fprintf(&b, " %s = %s", name, list(y))
			}
			b.WriteString(" }\n")
			n := 0
			for name, e := range c.Observables {
				n += len(c.Data[name])
				fmt.Fprintf(&b, "observe %s_seen = %s ~ normal(1) from D.%s\n", name, e, name)
			}
			fmt.Fprintf(&b, "objective loss = nll()\nfit { over = [%s] scatter = estimated intervals = wald %s }\n",
				strings.Join(c.Estimated, ", "), scale)
			b.WriteString("solver { method = vern9 rtol = 1e-13 atol = 1e-14 }\n")
			r := run(t, parse(t, b.String()), fit.Options{})
			for _, name := range c.Estimated {
				x := estimate(t, r, name)
				near(t, c.ID+" "+name, x.Value, c.Optimum[name], 3e-10)
				near(t, c.ID+" error of "+name, x.StdErr, c.Errors[name], 3e-9)
			}
			near(t, c.ID+" squares", 2*r.NLL-float64(n)*math.Log(2*math.Pi), c.Value, 1e-9*float64(n)/c.Value+1e-10)
			if r.Status != "ok" || !r.Identifiable {
				t.Errorf("%s: status %s, identifiable: %v", c.ID, r.Status, r.Identifiable)
			}
		}
	}
	if len(file.Cases) < 3 {
		t.Error("no cases: the test checks nothing")
	}
}

// TestProfiles fits problems of which the ends of profile likelihoods are known, and the standard errors by the
// observed information.
//
//odes:goroutines
func TestProfiles(t *testing.T) {
	var file struct {
		Cases []struct {
			ID        string
			States    []string
			Equations map[string]string
			Initial   map[string]string
			Doses     *struct{ Times, Amounts []float64 }
			Observe   string
			Times     []float64
			Data      []float64
			Estimated []string
			Start     []float64
			Optimum   map[string]float64
			Value     float64                    `json:"nll_at_optimum"`
			Errors    map[string]float64         `json:"standard_errors_observed_information"`
			Profile   map[string]json.RawMessage `json:"profile_likelihood_95"`
		}
	}
	read(t, "testdata/profiles.json", &file)
	ends := 0
	for _, c := range file.Cases {
		var b strings.Builder
		fmt.Fprintf(&b, "time t from 0 to %g\n", c.Times[len(c.Times)-1])
		for i, name := range c.Estimated {
			fmt.Fprintf(&b, "param %s = %g in [1e-3, 1000]\n", name, c.Start[i])
		}
		for _, x := range c.States {
			fmt.Fprintf(&b, "state %s = %s\n%s' = %s\n", x, c.Initial[x], x, c.Equations[x+"'"])
		}
		if c.Doses != nil {
			for i, at := range c.Doses.Times {
				fmt.Fprintf(&b, "event dose%d at %g { depot += %g }\n", i, at, c.Doses.Amounts[i])
			}
		}
		fmt.Fprintf(&b, "data D { time = %s y = %s }\nobserve %s from D.y\nobjective loss = nll()\n", list(c.Times),
			list(c.Data), c.Observe)
		b.WriteString("solver { rtol = 1e-9 atol = 1e-11 }\n")
		r := run(t, parse(t, b.String()), fit.Options{})
		exact := c.Profile == nil
		for _, name := range c.Estimated {
			x := estimate(t, r, name)
			near(t, c.ID+" "+name, x.Value, c.Optimum[name], 1e-7)
			if e := c.Errors[name]; e > 0 {
				near(t, c.ID+" error of "+name, x.StdErr, e, 1e-5)
			}
			if exact || c.Profile[name] == nil {
				continue
			}
			var p struct{ Lower, Upper float64 }
			if err := json.Unmarshal(c.Profile[name], &p); err != nil {
				t.Fatal(err)
			}
			near(t, c.ID+" lower end of "+name, x.Lower, p.Lower, 1e-6)
			near(t, c.ID+" upper end of "+name, x.Upper, p.Upper, 1e-6)
			ends += 2
		}
		near(t, c.ID+" nll", r.NLL, c.Value, 1e-8)
		near(t, c.ID+" objective", r.Objective.Value, c.Value, 1e-8)
	}
	if ends < 12 {
		t.Errorf("%d ends: the test checks nothing", ends)
	}
}
