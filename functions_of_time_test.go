package odes_test

import (
	"math"
	"testing"
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
		s := largest(t, c.text)
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
