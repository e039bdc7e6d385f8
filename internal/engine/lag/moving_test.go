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

// TestMovingJumps: a jump that delays which move bring back at one time counts once for each, in both modes.
func TestMovingJumps(t *testing.T) {
	const text = `
time t from 0 to 4
param c = 0.8, s = 0.25, t1 = 0.7, d = 2, k = 0.5
state x = 0, y = 0
x' = 0
y' = k*delay(x, c + s*t) + (1 - k)*delay(x^2, c + s*t)
event kick at t1 { x += d }
objective J = final(y)
objective K = integral(delay(x, c + s*t))
`
	// What is read is d from T = (t1 + c)/(1 - s) on, so y(4) = (k d + (1 - k) d²)(4 - T).
	const T, s, f = 2.0, 0.25, 0.5*2 + 0.5*4
	want := map[string]expected{
		"J": {f * (4 - T), map[string]float64{
			"c": -f / (1 - s), "t1": -f / (1 - s), "s": -f * T / (1 - s), "d": (0.5 + 2) * (4 - T), "k": -2 * (4 - T),
		}},
		"K": {2 * (4 - T), map[string]float64{
			"c": -2 / (1 - s), "t1": -2 / (1 - s), "s": -2 * T / (1 - s), "d": 4 - T, "k": 0,
		}},
	}
	for _, mode := range []string{"adjoint", "tangent"} {
		r := sensitivities(t, text, nil, map[string]string{"solver.rtol": "1e-10", "sens.mode": mode})
		check(t, r, want, []string{"c", "s", "t1", "d", "k"}, 1e-9, 1e-8)
	}
}
