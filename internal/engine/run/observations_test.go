package run_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

const arms = `
time t : [h] from 0 to 24
param k = 0.2 [1/h], V = 20 [L], dose = 100 [mg]
state A = dose
A' = -k*A
output C = A/V
let half = C/2
data D {
  time = [1, 4, 12, 1, 4, 12] [h]
  conc = [4.2, 2.1, 0.4, 8.0, nan, 0.9] [mg/L]
  arm  = ["low", "low", "low", "high", "high", "high"]
}
observe c = A / V ~ normal(0.1 [mg/L]) from D.conc
observe h = half ~ normal(0.1 [mg/L]) from D.conc  ## half of it
`

func TestObservations(t *testing.T) {
	m, err := odes.Parse("arms.ode", arms+"objective J = nll()", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list := m.Observations()
	if len(list) != 2 {
		t.Fatalf("%d observations", len(list))
	}
	c, h := list[0], list[1]
	if c.Name != "c" || c.Text != "A / V" || !slices.Equal(c.Outputs, []string{"C"}) || c.Unit != "mg/L" ||
		c.Table != "D" || c.Column != "conc" ||
		!slices.Equal(c.T, []float64{1, 4, 12, 1, 12}) || !slices.Equal(c.Values, []float64{4.2, 2.1, 0.4, 8, 0.9}) {
		t.Errorf("%+v", c)
	}
	if h.Text != "half" || len(h.Outputs) > 0 || h.Doc != "half of it" {
		t.Errorf("%+v", h)
	}
	if len(m.Experiments()) != 0 || m.Experiment("low") != nil {
		t.Error("experiments of a model without any")
	}
}

//odes:goroutines
func TestObservationsOfExperiments(t *testing.T) {
	m, err := odes.Parse("arms.ode", arms+`
experiment low  { use D where arm == "low" }
experiment high { dose = 2*dose  use D where arm == "high" }
objective J = nll()
sens { of = J }`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Experiments(); !slices.Equal(got, []string{"low", "high"}) {
		t.Fatalf("experiments %v", got)
	}
	if got := len(m.Observations()[0].Values); got != 5 {
		t.Errorf("the model lists %d rows, not 5", got)
	}
	high := m.Experiment("high")
	if o := high.Observations()[0]; !slices.Equal(o.Values, []float64{8, 0.9}) ||
		!slices.Equal(o.Outputs, []string{"C"}) {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct {
		m    *odes.Model
		want float64
	}{{m, 5}, {high, 10}} {
		sol, err := c.m.Solve(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := sol.Outputs[0].Values[0]; got != c.want {
			t.Errorf("starts at %g, want %g", got, c.want)
		}
	}
}

func TestDerivativeUnit(t *testing.T) {
	m, err := odes.Parse("arms.ode", arms+"objective J = final(A)\nobjective L[i] = final(C) for i in 1:2",
		odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		objective string
		by        odes.Variable
		want      string
	}{
		{"J", odes.Variable{Name: "k"}, "mg*h"},
		{"J", odes.Variable{Name: "dose"}, ""},
		{"J", odes.Variable{Name: "A", Initial: true}, ""},
		{"L[2]", odes.Variable{Name: "V"}, "mg/L^2"},
		{"J", odes.Variable{Name: "q"}, ""},
		{"K", odes.Variable{Name: "k"}, ""},
	} {
		if got := m.DerivativeUnit(c.objective, c.by); got != c.want {
			t.Errorf("d %s / d %s in %q, want %q", c.objective, c.by, got, c.want)
		}
	}
}

//odes:goroutines
func TestProgressOfExperiments(t *testing.T) {
	m, err := odes.Parse("arms.ode", arms+`
experiment low  { use D where arm == "low" }
experiment high { dose = 2*dose  use D where arm == "high" }
objective J = nll()`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for what, run := range map[string]func(odes.Options) error{
		"solve":     func(o odes.Options) error { _, err := m.Solve(t.Context(), o); return err },
		"gradients": func(o odes.Options) error { _, err := m.Sensitivities(t.Context(), o); return err },
	} {
		var heard []odes.Progress
		err := run(odes.Options{Progress: func(p odes.Progress) {
			if p.Phase == "experiments" {
				heard = append(heard, p)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if len(heard) != 2 || heard[0].Done != 0.5 || heard[1].Done != 1 || heard[1].Steps <= heard[0].Steps {
			t.Errorf("%s: heard %+v", what, heard)
		}
	}
}

// TestWidths: an observation says how its data are distributed, how wide that is, and where most data lie.
func TestWidths(t *testing.T) {
	const model = "time t from 0 to 2\nparam s = 0.5\nstate x = 4\nx' = -x\n" +
		"data D { time = [1, 2]  y = [2, 1]  e = [0.1, 0.2] }\nobjective L = nll()\nobserve o = x ~ "
	for noise, want := range map[string]struct {
		width  string
		widths []float64
		lo, hi float64 // around 4 with a width of ½
	}{
		"normal(s)":                    {"s", nil, 3.5, 4.5},
		"normal(  s *\n 2 )":           {"s * 2", nil, 3.5, 4.5},
		"normal(D.e)":                  {"D.e", []float64{0.1, 0.2}, 3.5, 4.5},
		"laplace(s)":                   {"s", nil, 3.5, 4.5},
		"student(3, s)":                {"s", nil, 3.5, 4.5},
		"lognormal(s)":                 {"s", nil, 4 * math.Exp(-0.5), 4 * math.Exp(0.5)},
		"loglaplace(sd = s)":           {},
		"poisson()":                    {"", nil, 2, 6},
		"negbin(s)":                    {"s", nil, -2, 10},
		"normal(s, below = 0.1)":       {"s", nil, 3.5, 4.5},
		"lognormal(sd=s, below = 0.1)": {"s", nil, 4 * math.Exp(-0.5), 4 * math.Exp(0.5)},
	} {
		m, err := odes.Parse("m.ode", model+noise+" from D.y\n", odes.ParseOptions{})
		if want.hi == 0 { // loglaplace has no sd
			if err == nil {
				t.Errorf("%s is understood", noise)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", noise, err)
			continue
		}
		o := m.Observations()[0]
		lo, hi := o.Around(4, 0.5)
		if !strings.HasPrefix(noise, o.Noise) || o.Width != want.width || !slices.Equal(o.Widths, want.widths) ||
			math.Abs(lo-want.lo) > 1e-14 || math.Abs(hi-want.hi) > 1e-14 {
			t.Errorf("%s: %s of width %q, %v, from %v to %v; want %+v", noise, o.Noise, o.Width, o.Widths, lo, hi, want)
		}
	}
	if lo, hi := (odes.Observation{}).Around(4, 1); lo != 4 || hi != 4 {
		t.Errorf("without a distribution: from %v to %v", lo, hi)
	}
}
