package lag_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
)

// walking has delays by time and state, of which one vanishes at the start, beside one that stays.
const walking = `
time t from 0 to 6
param a = 0.8, c = 0.5, s = 0.12, x0 = 1
state x = x0, y = 0.3
x' = -a*delay(x, c + s*t + 0.2*y) + 0.3*delay(y, 0.7)
y' = 0.5*x - y + 0.2*delay(x, c*(1 + 0.5*sin(t))) - y*delay(y, s*t/2)
objective J = final(x)
objective K = integral(y*x)
`

// TestMoving: derivatives through delays by time and state are those of differences of whole runs.
func TestMoving(t *testing.T) {
	by := []string{"a", "c", "s", "x0", "initial(y)"}
	run := func(mode string, sets map[string]float64) *odes.Sensitivities {
		m, err := odes.Parse("m.ode", walking, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o := odes.Options{Wrt: by, Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-10"}, {Key: "sens.mode", Value: mode}, {Key: "sens.trust", Value: "off"},
		}}
		for name, v := range sets {
			o.Set = append(o.Set, odes.Assignment{Name: name, Values: []float64{v}})
		}
		s, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := map[string]float64{"a": 0.8, "c": 0.5, "s": 0.12, "x0": 1, "initial(y)": 0.3}
	adjoint, tangent := run("adjoint", nil), run("tangent", nil)
	for k, v := range adjoint.Variables {
		name := v.String()
		const h = 1e-4
		var list [2]*odes.Sensitivities
		for i, by := range []float64{-h, h} {
			list[i] = run("tangent", map[string]float64{name: at[name] + by})
		}
		for i := range adjoint.Values {
			f := func(k int) float64 { return list[k].Values[i].Value }
			want := (f(1) - f(0)) / (2 * h)
			for mode, s := range map[string]*odes.Sensitivities{"adjoint": adjoint, "tangent": tangent} {
				got := s.Derivative(i, s.Variables[k])[0]
				if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want))) {
					t.Errorf("%s: d %s/d %s = %.10g, and differences give %.10g",
						mode, s.Values[i].Name, name, got, want)
				}
			}
		}
	}
}
