package fit

import (
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes"
)

// narrowText is a population whose predictions are bells in the random effect: from zero, no search comes upon them.
const narrowText = `time t from 0 to 1
param w = 1 in [0.1, 1.5], s = 0.7 in [0.1, 3]
random e ~ normal(0, w)
let f = 2*exp(-((e - 1.3)/0.1)^2)
state x = 0
x' = 1
data D = csv("d.csv", time = "TIME")
observe y = f ~ normal(s) from D.DV
experiment subject from D by D.ID { }
objective L = nll()
`

func narrow(t *testing.T, marginal string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("m.ode", narrowText+"solver { marginal = "+marginal+" }\n", odes.ParseOptions{
		Files: fstest.MapFS{"d.csv": {Data: []byte("ID,TIME,DV\n1,0.2,1.9\n1,0.6,2.1\n2,0.2,0.1\n2,0.6,-0.1\n")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// narrowIntegral is the negative log likelihood of the first subject, by the trapezoidal rule.
func narrowIntegral(w, s float64) float64 {
	const h = 1e-3
	sum := 0.0
	for e := -8.0; e <= 8; e += h {
		f, l := 2*math.Exp(-math.Pow((e-1.3)/0.1, 2)), -e*e/(2*w*w)
		for _, y := range []float64{1.9, 2.1} {
			l -= (y - f) * (y - f) / (2 * s * s)
		}
		sum += h * math.Exp(l)
	}
	return -math.Log(sum) + 1.5*math.Log(2*math.Pi) + math.Log(w) + 2*math.Log(s)
}

// TestNarrow: a mode that searches from zero do not find is named, by each method, and found with more starts.
func TestNarrow(t *testing.T) {
	want := narrowIntegral(1, 0.7)
	for method, found := range map[string]float64{
		"laplace": 9.308, "foce": 9.308, "agq(n = 9)": 9.306, "laplace(starts = 64)": 4.706,
		"agq(n = 20, starts = 64)": 5.02, "imp(n = 1000, starts = 32)": want,
	} {
		m := narrow(t, method)
		p, err := odes.CheckedPopulation(t.Context(), m, odes.Options{Wrt: []string{}})
		if err != nil {
			t.Fatal(err)
		}
		s := &p.Subjects[0]
		if math.Abs(s.Value-found) > 0.03 || math.Abs(s.Check.Value-want) > 0.05 {
			t.Errorf("%s: %.4f, and %.4f by %s, not %.4f and %.4f", method, s.Value, s.Check.Value, s.Check.By, found,
				want)
		}
		if math.Abs(s.Check.Value-want) > 5*s.Check.Error+1e-3 {
			t.Errorf("%s: the error of %.4f is %.4f", method, s.Check.Value-want, s.Check.Error)
		}
		r, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"s"}})
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, d := range r.Warnings {
			text += d.Message + "\n"
		}
		missed := !strings.Contains(method, "starts")
		named := strings.Contains(text, "a better mode than the one that was found in subject_1 (") &&
			strings.Contains(text, "about e = 1.284")
		if named != missed || missed == (r.Status == "ok") {
			t.Errorf("%s: %s, %s", method, r.Status, text)
		}
	}
	for text, want := range map[string]string{
		"fo(starts = 8)": "marginal is laplace", "laplace(n = 3)": "marginal is laplace",
		"focei(starts = -1)": "whole number of starts", "agq(starts = 0.5)": "whole number of starts",
	} {
		_, err := narrow(t, text).Population(t.Context(), odes.Options{}, false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNarrowFit: a fit whose integral missed a mode goes on with more starts of searches for modes.
func TestNarrowFit(t *testing.T) {
	r, err := Run(t.Context(), narrow(t, "laplace"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Run(t.Context(), narrow(t, "laplace(starts = 64)"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "ok" || r.Population.Method != "laplace(starts = 64)" || math.Abs(r.NLL-other.NLL) > 1e-6 {
		t.Errorf("%s by %s: %.9g, not %.9g", r.Status, r.Population.Method, r.NLL, other.NLL)
	}
}

// TestNoDistribution: what is wrong with a distribution of random effects is named.
func TestNoDistribution(t *testing.T) {
	for _, c := range []struct {
		set   odes.Assignment
		alone bool
		want  string
	}{
		{odes.Assignment{Name: "Omega", Values: []float64{0.1, 0.01, 0.02, 0.1}}, true, "[2,1] is 0.02"},
		{odes.Assignment{Name: "Omega", Values: []float64{0.1, 0.01, 0.02, 0.1}}, false, "it is not symmetric"},
		{odes.Assignment{Name: "Omega", Values: []float64{0.1, 0.2, 0.2, 0.1}}, true, "a correlation of 2"},
		{odes.Assignment{Name: "Omega", Values: []float64{0.1, 0.2, 0.2, 0.1}}, false, "a correlation of 2"},
		{odes.Assignment{Name: "Omega", Values: []float64{0.1, 0, 0, 0}}, true, "[2,2] is 0, and variances"},
	} {
		name := ""
		if c.alone {
			name = "subject_2"
		}
		m, err := alone(t, blockText, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Set: []odes.Assignment{c.set}, Wrt: []string{"V"}})
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			text = strings.Join(s.Values[0].Warnings, " ")
		}
		if !strings.Contains(text, c.want) || !strings.Contains(text, "Omega") {
			t.Errorf("%v, %v: %s, not %s", c.set, c.alone, text, c.want)
		}
	}
}
