package sens_test

import (
	"math"
	"testing"

	"odes.dev/odes"
)

// TestStepsOfTolerances has events that come up to their tolerance late, the first of them as well: replayed runs stop
// where the run did, so the derivatives of the steps are those of the other modes.
func TestStepsOfTolerances(t *testing.T) {
	const text = `
time t from 0 to 3
param a = 0.9, b = 0.4
state x = b, y = 0.2
x' = a - 0.1*x*y
y' = cos(b*t)*x
event one when x > 1 + 0.1*t once, tol = 1e-2 { y = y/2 + a }
event two when x*y > 1.3 once, tol = 1e-3 { x = x*b }
objective J = final(x*y)
objective K = event_time(one, 1) + final(x)
objective L = integral(x^2*y)
sens { trust = off }
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, mode := range []string{"adjoint", "tangent", "complex"} {
		s, err := m.Sensitivities(t.Context(), odes.Options{
			Threads: 1, Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
		})
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if want == nil {
			want = s.Gradient
		}
		for i, x := range want {
			if got := s.Gradient[i]; !(math.Abs(got-x) <= 1e-10*(1+math.Abs(x))) {
				t.Errorf("%s: derivative %d is %.15g, want %.15g", mode, i, got, x)
			}
		}
	}
}

// TestTimesOfMany has a hundred events at 0.1 + k·p: their times have derivatives where these are asked for, and
// nothing where not.
func TestTimesOfMany(t *testing.T) {
	m, err := odes.Parse("m.ode", `
time t from 0 to 3
param p = 0.02
state x = 1
x' = -p*x
event tick every p from 0.1 count 100 { x += p }
objective J = final(x)
sens { trust = off }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []bool{false, true} {
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, EventTimes: asked})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Events) != 100 {
			t.Fatalf("%d events", len(s.Events))
		}
		for k, e := range s.Events {
			if asked != (e.Params != nil) || asked && math.Abs(e.Params[0]-float64(k)) > 1e-9 {
				t.Errorf("asked %v: derivatives of time %d are %v", asked, k, e.Params)
			}
		}
	}
}
