package predictive

import (
	"context"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
)

// flat is one value with a normal prior of standard deviation 10, measured five times with standard deviation 1.
const flat = `time t from 0 to 5
param a = 0 ~ normal(0, 10)
state x = a
x' = 0
data D { time = [1, 2, 3, 4, 5]  y = [0.3, -0.4, 1.1, 0.9, -1.2] }
observe o = x ~ normal(1) from D.y
objective L = nll() - log_prior()`

var measured = []float64{0.3, -0.4, 1.1, 0.9, -1.2}

// posterior returns mean and standard deviation of a by all data but one.
func posterior(without int) (mean, sd float64) {
	precision, sum := 0.01, 0.0
	for i, y := range measured {
		if i != without {
			precision, sum = precision+1, sum+y
		}
	}
	return sum / precision, 1 / math.Sqrt(precision)
}

func parsed(t *testing.T, text string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func posteriorDraws(n int) Draws {
	mean, sd := posterior(-1)
	random := elem.NewRand(3)
	d := Draws{Names: []string{"a"}}
	for range n {
		d.Rows = append(d.Rows, []float64{mean + sd*random.Norm()})
	}
	return d
}

// TestLeftOut compares leave-one-out with densities in closed form, and ranges with known ones.
func TestLeftOut(t *testing.T) {
	d := posteriorDraws(4000)
	o := Options{Seed: 1}
	r, err := Run(context.Background(), parsed(t, flat), d, o)
	if err != nil {
		t.Fatal(err)
	}
	elpd := 0.0
	for i, y := range measured {
		mean, sd := posterior(i)
		s := math.Hypot(sd, 1)
		want := -math.Log(s) - 0.9189385332046728 - (y-mean)*(y-mean)/(2*s*s)
		elpd += want
		if p := r.Points[i]; math.Abs(p.ELPD-want) > 0.05 || p.K > 0.5 || p.Data != y {
			t.Errorf("datum %d: elpd %g, not %g (k = %g)", i, p.ELPD, want, p.K)
		}
	}
	if math.Abs(r.LOO.ELPD-elpd) > 0.1 || !(r.LOO.P > 0.5 && r.LOO.P < 1.6) || r.Status != "ok" {
		t.Errorf("elpd %g, not %g; %g params; %v", r.LOO.ELPD, elpd, r.LOO.P, r.Warnings)
	}
	mean, sd := posterior(-1)
	const z = 1.6448536269514722
	for _, p := range r.Points {
		for _, x := range [][2]float64{
			{p.Mean, mean},
			{p.Q5, mean - z*sd},
			{p.Q95, mean + z*sd},
			{p.Low, mean - z*math.Hypot(sd, 1)},
			{p.High, mean + z*math.Hypot(sd, 1)},
			{p.PIT, 0.5 * math.Erfc(-(p.Data-mean)/math.Hypot(sd, 1)/math.Sqrt2)},
		} {
			if math.Abs(x[0]-x[1]) > 0.12 {
				t.Errorf("t = %g: %g, not %g", p.T, x[0], x[1])
			}
		}
	}
	o.Threads = 1
	again, err := Run(context.Background(), parsed(t, flat), d, o)
	if err != nil || again.LOO.ELPD != r.LOO.ELPD || again.Points[2].Low != r.Points[2].Low {
		t.Error("other numbers by another number of threads", err)
	}
}

// TestOdd: data that the model does not make, a datum that moves the posterior alone, and draws that fail are told.
func TestOdd(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	far := strings.Replace(flat, "-1.2]", "30]", 1)
	d := posteriorDraws(1000)
	r, err := Run(context.Background(), parsed(t, far), d, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, w := range r.Warnings {
		text += w.Message + "\n"
	}
	if !strings.Contains(text, "Pareto's k of 1 of 5") || !strings.Contains(text, "does not make data such as") {
		t.Error(text)
	}
	d.Rows[7][0] = math.Inf(1)
	if r, err = Run(context.Background(), parsed(t, flat), d, Options{}); err != nil || r.Failed != 1 ||
		r.Status != "partial" || len(r.Kept) != 999 {
		t.Error(r, err)
	}
	plain := "time t from 0 to 1\nparam a = 1\nstate x = a\nx' = 0"
	if _, err = Run(context.Background(), parsed(t, plain), d, Options{}); err == nil {
		t.Error("a model without data predicts")
	}
}

// TestSubjects: each subject is predicted by its own random effects, and never without any.
func TestSubjects(t *testing.T) {
	m, err := odes.Parse("levels.ode", `model Levels
time t from 0 to 4
param mu = 1
param omega = 1 in [0, 5]
random eta ~ normal(0, omega)
state x = mu + eta
x' = 0.5
data D { ID = [7, 7, 9]  time = [1, 2, 1]  y = [2, 3, -1] }
experiment subject from D by D.ID
observe o = x ~ normal(0.5) from D.y
objective L = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := Draws{
		Names: []string{"mu", "eta.1", "eta.2"},
		Of:    map[string]Effect{"eta.1": {Subject: 1, Name: "eta"}, "eta.2": {Subject: 2, Name: "eta"}},
	}
	for k := range 40 {
		x := float64(k%4) * 0.01
		d.Rows = append(d.Rows, []float64{1 + x, 0.75, -2 - x})
	}
	r, err := Run(t.Context(), m, d, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1 + 0.015 + 0.75 + 0.5, 1 + 0.015 + 0.75 + 1, 1 - 2 + 0.5} {
		if got := r.Points[i].Mean; math.Abs(got-want) > 1e-6 {
			t.Errorf("the mean of datum %d is %g, and %g is right", i+1, got, want)
		}
	}
	d.Of["eta.2"] = Effect{Subject: 1, Name: "eta"}
	if _, err := Run(t.Context(), m, d, Options{Seed: 1}); err == nil ||
		!strings.Contains(err.Error(), "no random effects of subject_9") {
		t.Errorf("of a subject that the draws lack: %v", err)
	}
	d.Of["eta.2"] = Effect{Subject: 3, Name: "eta"}
	if _, err := Run(t.Context(), m, d, Options{Seed: 1}); err == nil ||
		!strings.Contains(err.Error(), "draws of another model") {
		t.Errorf("of a subject that the model lacks: %v", err)
	}
	d.Names, d.Of = d.Names[:1], nil
	for k := range d.Rows {
		d.Rows[k] = d.Rows[k][:1]
	}
	if _, err := Run(t.Context(), m, d, Options{Seed: 1}); err == nil ||
		!strings.Contains(err.Error(), "--sample.random=draw") {
		t.Errorf("without random effects: %v", err)
	}
}

// TestUpperLimit: what draws predict ends at an upper limit, as it does at a lower one in the mirror image.
func TestUpperLimit(t *testing.T) {
	points := func(text, limit string, sign float64) (*Result, []Point) {
		d := posteriorDraws(300)
		for _, row := range d.Rows {
			row[0] *= sign
		}
		r, err := Run(t.Context(), parsed(t, strings.Replace(text, "normal(1)", "normal(1, "+limit+")", 1)), d,
			Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r, r.Points
	}
	turned := strings.Replace(flat, "[0.3, -0.4, 1.1, 0.9, -1.2]", "[-0.3, 0.4, -1.1, -0.9, 1.2]", 1)
	upper, up := points(flat, "above = 0.9", 1)
	lower, down := points(turned, "below = -0.9", -1)
	for i := range up {
		a, b := &up[i], &down[i]
		if beyond := measured[i] >= 0.9; beyond != (a.Side == 1) || a.Side != -b.Side || a.Data != -b.Data ||
			a.High > 0.9 || b.Low < -0.9 || math.Abs(a.Median+b.Median) > 1e-9 || math.Abs(a.ELPD-b.ELPD) > 1e-9 {
			t.Errorf("%+v, %+v", *a, *b)
		}
		for k := range upper.Replicated[i] {
			if upper.Replicated[i][k] > 0.9 || lower.Replicated[i][k] < -0.9 {
				t.Fatalf("datum %d: %g and %g are drawn", i, upper.Replicated[i][k], lower.Replicated[i][k])
			}
		}
	}
}
