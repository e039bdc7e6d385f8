package trust_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestStandsStill has conditions at whose threshold a run stands still. By what takes it off there, at any time, there
// is no derivative of what depends on the condition. Everything else is right.
//
//odes:goroutines
func TestStandsStill(t *testing.T) {
	const head = `
time t from 0 to 4
param u = 0, k = 0.5, r = 1, th = 1, D = 0
state x = 1, v = 1, y = 0
x' = u - k*(x - r)
v' = -k*v
objective J = final(y)
objective V = final(v)
`
	for text, want := range map[string]string{
		"y' = if x > th then 1 else 0":                                    "u r th initial(x)",
		"y' = if x >= th then 1 else 0":                                   "u r th initial(x)",
		"y' = if x > th and v > 0 then 1 else 0":                          "u r th initial(x)",
		"y' = if x > r then 1 else 0":                                     "u r initial(x)",
		"y' = sign(x - th)":                                               "u r th initial(x)",
		"y' = (if x > th then 1 else 0)\nevent d at 2 { x += D }":         "u r th D initial(x)",
		"y' = if x > th then (x - th)^2 else 0":                           "", // the slopes are the same
		"y' = if x > th then x - th else 0":                               "u r th initial(x)",
		"y' = if x > th + 0.1 then 1 else 0":                              "",
		"y' = if max(x, 0) > th then 1 else 0":                            "u r th initial(x)",
		"y' = v\nevent e when x > th { y += 1 }":                          "u r", // what holds at the start is no event
		"y' = v\nevent e when x > th { y += 1 }\nevent d at 2 { x += D }": "u r D",
		"y' = v\nevent e when x > th { v = 0*v + 2*v }":                   "u r",
		"y' = v\nevent e when x > th at start { y += 1 }":                 "u r th initial(x)",
		"y' = v\nevent e when x > th { y += 1 }\nevent d at 2 { x += 1 }": "th initial(x)", // u: sooner or later
		"state h = 0, w = 1\nh' = w\nw' = -0.1*w\ny' = if h < 2 then 1 else 2\nevent b when h >= 2 { w = 0 }": "",
		// It begins there, and falls back.
		"y' = v\nstate z = th\nz' = r - z\nevent e when z > th { y += 1 }":                                  "r th",
		"y' = v\nstate z = th\nz' = k*(v - v)\nevent e when z > th { y += 1 }":                              "",
		"y' = v\nstate z = 2*th - 1\nz' = r - z\nevent e when z > th { y += 1 }":                            "r th",
		"y' = v\nstate z = 2*th - 1\nz' = 0.1*(r - z)\nevent e when z > th { y += 1 }":                      "r",
		"y' = v\nstate z = th\nz' = r - z\nevent e when z > th { y += 1 }\nevent o at [0, 1] { v = v + 1 }": "r th",
		"y' = v\nstate z = u\nz' = -z\nevent e when u > 2*z { y += 1 }":                                     "u",
		"y' = v\nstate z = u\nz' = -z\nevent e when u > 99*z { y += 1 }":                                    "",
		"y' = v\nstate z = th\nz' = th - z\nevent e when z > th { y += 1 }":                                 "",
		// What moves it by its square.
		"state z = th\nz' = u^2/(k^2 + u^2)\ny' = if z > th then 1 else 0": "u",
		"state z = 0\nz' = -z\ny' = if z^2 > D then 1 else 0":              "D initial(z)",
		"state z = 0\nz' = -k*z^3\ny' = if z > 0 then 1 else 0":            "initial(z)",
		// A body sets it, and then it is moved.
		"y' = if x > th then 1 else 0\nevent s at 2 { x = th }":                      "u r th initial(x)",
		"y' = if x > 3 then 1 else 0\nevent s at 2 { x = 3 }":                        "",
		"state z = 0\nz' = u\ny' = if z > th then 1 else 0\nevent s at 2 { z = th }": "u",
		// An event that stops it leaves it as far from its threshold as rounding does.
		"state w = 1.7\ndiscrete s = 3\nw' = u - s\nevent e when w <= 0 { s = 0 }\ny' = if w > 0 then 1 else 2": "u",
		// It matters only as it leaves.
		"state w = th, z = 0\nw' = z\nz' = 0\ny' = if w > r then z else 0\nevent s at 1 {z = 1}":     "r th",
		"state z = 0, w = th\nw' = z\nz' = 0\ny' = if w > r then z*w else r*z\nevent s at 1 {z = 1}": "",
		"state w = th\nw' = x - w\ny' = if w > r then 1 else 2\nevent s at 0 {x = 0.5*x}":            "r th",
		// It comes to its threshold, and stays.
		"state z = 0\nz' = if z < th then 1 else 0\ny' = v*(if z < th then 1 else 2)":       "",
		"state z = 0\nz' = if z < th then 1 else 0\ny' = v\nevent e when z > th { y += 1 }": "",
	} {
		for _, observes := range []string{"", "\nobjective O = sum_at([0, 2], t)"} {
			s, err := modeltest.Sensitivities(t, head+text+observes, "adjoint")
			if err != nil {
				t.Fatal(text, err)
			}
			if got := modeltest.Marked(s, 0); got != want {
				t.Errorf("%s%s: by %s, want %s: %v", text, observes, got, want, s.Warnings)
			}
			if got := modeltest.Marked(s, 1); got != "" && !strings.Contains(text, "v = ") &&
				!strings.Contains(text, "v +=") {
				t.Errorf("%s%s: of V by %s: %v", text, observes, got, s.Warnings)
			}
		}
	}
}

// TestSteadyThatDataRead has a steady state at a kink that nothing but a row of data reads.
func TestSteadyThatDataRead(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
time t from 0 to 10
param kin = 1, w = 0.5, s = 2
state x = 1, y = 1
x' = kin - x
y' = max(x, 1)*w - y
data B { time = [inf]  y = [0.6] }
observe r = y ~ normal(0.1) from B.y
objective J = nll()
objective F = final(x)*s
`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	if got := modeltest.Marked(s, 0); !strings.Contains(got, "kin") || strings.Contains(got, "w") {
		t.Errorf("by %s: %v", got, s.Warnings)
	}
	if got := modeltest.Marked(s, 1); got != "" {
		t.Errorf("of F by %s: %v", got, s.Warnings)
	}
}

// TestTiesInExperiments has a tie in an experiment, of which the objective is the total of likelihoods.
func TestTiesInExperiments(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
param ta = 3, tb = 3
time t from 0 to 6
state x = 0
x' = 0
event a at ta { x = 1 }
event b at tb { x = 2 }
data D { time = [5]  v = [1] }
observe o = x ~ normal(1) from D.v
experiment A { use D }
objective L = nll()
`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variables {
		if (s.Trust(0, v) == odes.Sound) != v.Initial {
			t.Errorf("by %v: %v", v, s.Trust(0, v))
		}
	}
}

// TestManyStandStill has so many conditions at rest that what moves them is not followed along the run.
func TestManyStandStill(t *testing.T) {
	s, err := modeltest.Sensitivities(t, `
param u = 0, r = 1, q = 2
time t from 0 to 2
state x[n] = 1, y[n] = 0, v = 1
const n = 400
x[i]' = u - (x[i] - r) for i in 1:n
y[i]' = (if x[i] > 1 then 1 else 0)*q for i in 1:n
v' = -v
objective J = final(sum(y))
objective V = final(v)
sens { wrt = [u, r] }
`, "adjoint")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.Variables {
		if s.Trust(0, v) == odes.Sound || s.Trust(1, v) != odes.Sound {
			t.Errorf("by %v: %v and %v", v, s.Trust(0, v), s.Trust(1, v))
		}
	}
}
