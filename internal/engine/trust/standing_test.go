package trust_test

import (
	"math"
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

// TestConditionsOfBodies has conditions of bodies that are at their threshold as the event comes.
func TestConditionsOfBodies(t *testing.T) {
	const head = `
time t from 0 to 4.5
param D = 2, tau = 1, te = 3, n = 3, k = 0.5, c0 = 1, m = 1
state c = c0, v = 1
c' = -k*c
v' = -k*v
discrete done = 0
objective J = final(c)
objective V = final(v)
`
	for text, want := range map[string]string{
		"event d every tau { c += if t < te then D else 0 }":                            "tau te",
		"event d every tau { c += D*(1 - step(t - te)) }":                               "tau te",
		"event d every 1 { c += if t < te then D else 0 }":                              "te",
		"event d every tau { c += if t < n*tau then D else 0 }":                         "n",
		"event d every tau { c += if t < te + 0.5 then D else 0 }":                      "",
		"event d every tau { c += if done < n then D else 0  done += 1 }":               "n",
		"event d at 0.1 { done = n }\nevent e at te { c += if done > n then D else 0 }": "",
		"event d at 0 { c += if v < m then D else 0 }":                                  "m initial(v)",
	} {
		s, err := modeltest.Sensitivities(t, head+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		for _, v := range s.Variables {
			if d := s.Derivative(1, v)[0]; s.Trust(1, v) != odes.Sound || d != d || math.IsInf(d, 0) {
				t.Errorf("%s: of V by %v: %g, marked", text, v, d)
			}
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %s, want %s: %v", text, got, want, s.Warnings)
		}
	}
}

// TestObservationsAtKinks has observations that are at kinks and thresholds: of states at rest, of params, of time.
func TestObservationsAtKinks(t *testing.T) {
	const head = `
time t from 0 to 6
param A = 1, u = 1, sd = 1, te = 2, k = 1
state x = 1, z = 1
x' = -k*x
z' = u - z
data D { time = [1, 2, 5]  v = [1, 0.5, 0.2]  dose = [1, 2, 3] }
objective L = nll()
`
	for text, want := range map[string]string{
		"observe o = (if z > A then 2*x else x) ~ normal(sd) from D.v":        "A u initial(z)",
		"observe o = x*max(z, A) ~ normal(sd) from D.v":                       "A u initial(z)",
		"observe o = x*max(A, 1) ~ normal(sd) from D.v":                       "A",
		"observe o = (if A > 1 then 2*x else x) ~ normal(sd) from D.v":        "A",
		"observe o = (if t > te then 2*x else x) ~ normal(sd) from D.v":       "te",
		"observe o = (if t > te - 1 then 2*x else x) ~ normal(sd) from D.v":   "te",
		"observe o = x ~ normal(max(sd, 1)) from D.v":                         "sd",
		"observe o = x ~ normal(if abs(sd - 1) > 0 then 1 else 2) from D.v":   "sd",
		"observe o = x*max(z, A + 0.5) ~ normal(sd) from D.v":                 "",
		"observe o = (if t > te - 0.5 then 2*x else x) ~ normal(sd) from D.v": "",
		"observe o = x ~ laplace(sd) from D.v":                                "",
		"observe o = z ~ laplace(sd) from D.v":                                "u initial(z)", // the first row is 1
	} {
		s, err := modeltest.Sensitivities(t, head+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %s, want %s: %v", text, got, want, s.Warnings)
		}
	}
}

// TestParamsAtThresholds has conditions of params alone at their thresholds, where rates are the same on both sides. By
// what their slopes differ by, there is no derivative.
func TestParamsAtThresholds(t *testing.T) {
	const head = `
time t from 0 to 3
param u = 1, Imax = 1, D = 0, k = 1
state x = 1, v = 1
v' = -k*v
objective J = final(x)
objective V = final(v)
`
	for text, want := range map[string]string{
		"x' = (if u > Imax then Imax else u) - k*x":                                    "u Imax",
		"x' = (if D > 0 then D/10 else 0) - k*x":                                       "D",
		"x' = (if D > 0 then D^2 else 0) - k*x":                                        "",
		"x' = (if u > Imax then v else v) - k*x":                                       "",
		"x' = (if u > Imax then v else exp(-t)) - k*x":                                 "", // v is exp(-t)
		"discrete I = Imax\nx' = (if u > I then I else u) - k*x":                       "u Imax",
		"discrete I = 2\nx' = (if u > I then I else u) - x\nevent e at 1 { I = Imax }": "u Imax",
		"x' = (if u > Imax then D else 2*D) - k*x":                                     "",
		"x' = (if u > Imax then 1 else v) - k*x":                                       "u Imax",
	} {
		s, err := modeltest.Sensitivities(t, head+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %s, want %s: %v", text, got, want, s.Warnings)
		}
		if got := modeltest.Marked(s, 1); got != "" {
			t.Errorf("%s: of V by %s: %v", text, got, s.Warnings)
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

// TestSteadyAtThresholds has steady states at thresholds and kinks. What moves the steady state off is marked, of what
// is read there and depends on it.
func TestSteadyAtThresholds(t *testing.T) {
	const head = `
time t from 0 to 3
param P = 0.6, k = 0.3, th = 2, r = 2, w = 1
state x = 0, y = 0
objective A = steady(y)
objective X = steady(x)
objective Y = final(y)
`
	for text, want := range map[string]string{
		"x' = P - k*x\ny' = (if x > th then 3 else 1) - w*y":                      "P k th",
		"x' = P - k*x\ny' = max(x, th) - w*y":                                     "P k th",
		"x' = P - k*x\ny' = abs(x - th) - w*y":                                    "P k th",
		"x' = P - k*x\ny' = max(x, th + 0.1) - w*y":                               "",
		"x' = -k*(x - r)\ny' = (if x > r then 3 else 1) - w*y":                    "",
		"x' = -k*(x - r)\ny' = (if x > 2 then 3 else 1) - w*y":                    "r",
		"x' = P - k*x\ny' = (if x > th then 3 else 1) - y\nequilibrate { w = 2 }": "P k th",
	} {
		s, err := modeltest.Sensitivities(t, head+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %s, want %s: %v", text, got, want, s.Warnings)
		}
		if got := modeltest.Marked(s, 1) + modeltest.Marked(s, 2); got != "" && !strings.Contains(text, "equilibrate") {
			t.Errorf("%s: of X and Y by %s: %v", text, got, s.Warnings)
		}
	}
}

// TestObjectivesAtThresholds has functions of end values that are at kinks and thresholds: what moves these is marked.
func TestObjectivesAtThresholds(t *testing.T) {
	const head = `
time t from 0 to te
param te = 5, b = 1, hi = 2, k = 0.5, P = 2
state x = 2, v = 2
x' = k*(P - x)
v' = (if t > 1 then 1 else 0)*k*(v - P)
`
	for text, want := range map[string]string{
		"if final(x) > hi then b else 0":     "hi P initial(x)",
		"max(final(x), hi)*b":                "hi P initial(x)",
		"final(if x > hi then b else 0)":     "hi P initial(x)",
		"if final(x) > hi + 1 then b else 0": "",
		"abs(final(x) - final(v))*b":         "P initial(x) initial(v)",
		"if final(x*t) > 5*hi then b else 0": "te hi P initial(x)",
	} {
		s, err := modeltest.Sensitivities(t, head+"objective J = "+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0); got != want {
			t.Errorf("%s: by %s, want %s: %v", text, got, want, s.Warnings)
		}
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

// TestConditionsInExperiments has conditions at their thresholds in experiments: totals are marked by what moves these,
// and nothing else is.
//
//odes:goroutines
func TestConditionsInExperiments(t *testing.T) {
	const head = `
param ta = 3, tb = 3, th = 1, k = 0.5, b = 1, u = 0
time t from 0 to 6
state x = 0, z = 1
z' = u - (z - 1)
data D { time = [5]  v = [1] }
observe o = x ~ normal(1) from D.v
experiment A { use D }
experiment B { use D  b = 2 }
objective L = nll()
objective F = final(z)
objective M = nll() + final(z)
`
	for text, want := range map[string]string{
		"x' = (if z > th then b else 0) - k*x":                             "th u initial(z)",
		"x' = max(z, th) - k*x":                                            "th u initial(z)",
		"x' = b - k*x\nevent e at ta { x += 1 }\nevent f at tb { x *= 2 }": "ta tb",
		"x' = (if b > 2 then z else 2*z) - k*x":                            "", // b is a number in B
		"x' = b - k*x":                                                     "",
	} {
		s, err := modeltest.Sensitivities(t, head+text, "adjoint")
		if err != nil {
			t.Fatal(text, err)
		}
		if got := modeltest.Marked(s, 0) + modeltest.Marked(s, 1) + modeltest.Marked(s, 2); got != want+want {
			t.Errorf("%s: by %s, want %s twice: %v", text, got, want, s.Warnings)
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
