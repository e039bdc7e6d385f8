package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestConditionsOnFunctionsOfTime has conditions on functions of time that are not affine. What they do is known, also
// where they hold for a small part of the run only.
func TestConditionsOnFunctionsOfTime(t *testing.T) {
	gauss := 2 * math.Sqrt(math.Log(2))
	for _, c := range []struct {
		name, text string
		value      float64
		wrt        map[string]float64
	}{
		{"crests", `
time t from 0 to 10
param c = 0.999
discrete n = 0, T = 0
state x = 0
x' = 1
event f when sin(3*t) > c { n += 1; T += t }
objective J = final(n) + 0*final(T)`, 5, nil},
		{"a product", `
time t from 0 to 10
param a = 7.3, w = 1e-4, D = 100
state x = 0
x' = if (t - a)*(t - a - w) < 0 then D/w else 0
objective J = final(x)`, 100, map[string]float64{"a": 0, "D": 1}},
		{"a distance", `
time t from 0 to 100
param a = 77.3, w = 1e-3
state x = 0
x' = if abs(t - a) < w then t else 0
objective J = final(x)`, 2e-3 * 77.3, map[string]float64{"a": 2e-3, "w": 2 * 77.3}},
		{"a bell", `
time t from 0 to 10
param c = 5, s = 1e-4
state x = 0
x' = if exp(-((t - c)/s)^2) > 0.5 then 1 else 0
objective J = final(x)`, 1e-4 * gauss, map[string]float64{"c": 0, "s": gauss}},
		{"a chirp", `
time t from 2 to 20
param k = 1
state x = 0
discrete n = 0
x' = 1
event e when sin(k*t^2) > 0 { n += 1 }
objective J = final(n)`, 63, map[string]float64{"k": 0}},
		{"what only touches", `
time t from 0 to 100
param c = 1
state x = 0
discrete n = 0
x' = 1
event e when sin(t) > c or -(t - 5)^2 > 0 { n += 1 }
objective J = final(n)`, 0, map[string]float64{"c": 0}},
	} {
		s := modeltest.Run(t, c.text)
		if got := s.Values[0].Value; math.Abs(got-c.value) > 1e-7*math.Abs(c.value) {
			t.Errorf("%s: %v, want %v", c.name, got, c.value)
		}
		for k, v := range s.Variables {
			if want, ok := c.wrt[v.Name]; ok && math.Abs(s.Gradient[k]-want) > 1e-6*max(1e-3, math.Abs(want)) {
				t.Errorf("%s: d/d%s = %v, want %v", c.name, v.Name, s.Gradient[k], want)
			}
		}
	}
}

// TestModelWithoutStates: a model that does not move needs no state. Its values and derivatives are those of closed
// forms, in every mode that differentiates the computed run, with an event and with data.
//
//odes:goroutines
func TestModelWithoutStates(t *testing.T) {
	m, err := odes.Parse("dose.ode", `model DoseResponse
time dose from 0 to 100
param Emax = 90, EC50 = 5
output effect = Emax*dose/(EC50 + dose)
data D { time = [1, 10, 50]  y = [14, 61, 80] }
observe y = effect ~ normal(2) from D.y
event half when effect > 45 { }
objective area = integral(effect)
objective end_ = final(effect)
objective when_ = event_time(half, 1)
objective loss = nll()
solver { rtol = 1e-10 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const emax, ec, end = 90.0, 5.0, 100.0
	log := math.Log((ec + end) / ec)
	// The integral of E x/(C + x) is E (x - C log(C + x)).
	want := map[string][3]float64{
		"area":  {emax * (end - ec*log), end - ec*log, emax * (-log + end/(ec+end))},
		"end_":  {emax * end / (ec + end), end / (ec + end), -emax * end / (ec + end) / (ec + end)},
		"when_": {ec, -2 * ec / emax, 1},
	}
	loss := [3]float64{}
	for _, p := range [][2]float64{{1, 14}, {10, 61}, {50, 80}} {
		share := p[0] / (ec + p[0])
		r := (emax*share - p[1]) / 2
		loss[0] += r*r/2 + math.Log(2*math.Sqrt(2*math.Pi))
		loss[1] += r / 2 * share
		loss[2] -= r / 2 * emax * share / (ec + p[0])
	}
	want["loss"] = loss
	for _, mode := range []string{"adjoint", "tangent", "forward"} {
		s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: mode}}})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range s.Values {
			w := want[v.Name]
			got := []float64{v.Value, s.Gradient[i*s.Columns], s.Gradient[i*s.Columns+1]}
			for k := range w {
				if !(math.Abs(got[k]-w[k]) <= 1e-7*(1+math.Abs(w[k]))) {
					t.Errorf("%s of %s: number %d is %v, not %v", mode, v.Name, k, got[k], w[k])
				}
			}
		}
	}
}
