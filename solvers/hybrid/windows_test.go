package hybrid_test

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestWindowAtAnotherTime has the bounds of an integral where something else happens to end a step.
// The window must open and close at its own time, whatever comes before it there.
func TestWindowAtAnotherTime(t *testing.T) {
	const model = `
time t from 0 to 2
param a = 0.5, b = 1.5, u = 0.5, w = 1.5, k = 0.3
state x = 1
x' = -k*x
discrete d = 1
objective J = integral(2 + x, from = a, to = b)
`
	x := func(t float64) float64 { return 2 + math.Exp(-0.3*t) }
	for name, others := range map[string]string{
		"windows": "objective K = integral(x, from = 0.5, to = 1.5)\n" +
			"objective L = integral(x^2, from = u, to = w)",
		"events":        "event e at u { d += 1 }\nevent f at w { d += 1 }",
		"fixed events":  "event e at 0.5 { d += 1 }\nevent f at 1.5 { d += 1 }",
		"modes":         "objective K = integral(if t < u then 1 elseif t < w then 2 else x)",
		"tables":        "objective K = integral(interp([0, u, w, 2], [0, 1, 2, x], t))",
		"observations":  "objective K = sum_at([u, 0.5, w], x)",
		"the same once": "objective K = integral(x, to = a) + integral(x, from = b)",
		"each": "objective K[i] = integral(x, from = if i == 1 then u elseif i == 2 then a else 0.5, to = " +
			"if i == 1 then b elseif i == 2 then w else 1.5) for i in 1:3",
	} {
		for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous"} {
			s, err := modeltest.Sensitivities(t, model+others, mode,
				odes.Setting{Key: "solver.method", Value: "dopri5"},
				odes.Setting{Key: "solver.rtol", Value: "1e-10"},
				odes.Setting{Key: "solver.observe", Value: "clip"})
			if err != nil {
				t.Fatal(name, err)
			}
			for k, want := range []float64{-x(0.5), x(1.5), 0, 0} {
				if got := s.Gradient[k]; math.Abs(got-want) > 1e-7 {
					t.Errorf("%s, %s: dJ/d%s = %v, want %v", name, mode, s.Variables[k].Name, got, want)
				}
			}
			if name != "each" {
				continue
			}
			for i, want := range [][]float64{{0, x(1.5), -x(0.5), 0}, {-x(0.5), 0, 0, x(1.5)}, {0, 0, 0, 0}} {
				for k := range want {
					v := want[k]
					if v != 0 {
						v -= math.Copysign(2, v)
					}
					if got := s.Gradient[(i+1)*s.Columns+k]; math.Abs(got-v) > 1e-7 {
						t.Errorf("%s: dK[%d]/d%s = %v, want %v", mode, i+1, s.Variables[k].Name, got, v)
					}
				}
			}
		}
	}
}

// TestWindowsAfterStop ends a run before bounds of integrals, or of other readings. What these bounds enclose has no
// value; an integral without an upper bound goes to the end of the run, wherever that is.
func TestWindowsAfterStop(t *testing.T) {
	nan := math.NaN()
	const model = `
time t from 0 to 1
state x[2] = 0
x[i]' = i for i in 1:2
event e when x[1] >= 0.5 { stop }
data D { time = [0.1, 0.9]  v = [0.1, 0.9] }
observe o = x[1] ~ normal(0.1) from D.v
experiment same { use D }
`
	for _, c := range []struct {
		objective string
		want      []float64
	}{
		{"J = integral(x[1], from = 0.2, to = 0.8)", []float64{nan}},
		{"J = integral(x[1], from = 0.6, to = 0.8)", []float64{nan}},
		{"J = integral(x[1], from = 0.6)", []float64{nan}},
		{"J = integral(x[1], to = 1)", []float64{nan}},
		{"J = integral(x[1], to = 0.5)", []float64{0.125}},
		{"J = integral(x[1], from = 0.2)", []float64{0.105}},
		{"J = integral(x[1])", []float64{0.125}},
		{"J[i] = integral(x[1], from = 0.2*i, to = 0.3*i) for i in 1:3", []float64{0.025, nan, nan}},
		{"J[i] = integral(x, from = 0.1, to = 0.2*i)[2] for i in 1:3", []float64{0.03, 0.15, nan}},
		{"J = sum_at([0.3, 0.9], x[1])", []float64{nan}},
		{"J = nll()", []float64{nan}},
	} {
		for _, mode := range []string{"adjoint", "tangent", "continuous"} {
			s, err := modeltest.Sensitivities(t, model+"objective "+c.objective, mode)
			if err != nil {
				t.Fatal(c.objective, err)
			}
			status := "ok"
			for i, want := range c.want {
				got := &s.Values[i]
				if math.IsNaN(want) {
					status = "partial"
					if !math.IsNaN(got.Value) || len(got.Warnings) == 0 {
						t.Errorf("%s, %s: %s = %v, %q; want none, with a warning", c.objective, mode, got.Name,
							got.Value, got.Warnings)
					} else if !strings.Contains(got.Warnings[0], "e stopped the run at t = 0.5") {
						t.Errorf("%s: the warning does not name the stop: %s", c.objective, got.Warnings[0])
					}
				} else if !modeltest.Near(got.Value, want, 1e-6) {
					t.Errorf("%s, %s: %s = %v, want %v", c.objective, mode, got.Name, got.Value, want)
				}
			}
			if s.Status != status {
				t.Errorf("%s, %s: status %q, want %q", c.objective, mode, s.Status, status)
			}
		}
	}
}

// TestWindowAtTheStart has bounds of integrals at the start of the run, and at one another. They move by themselves, so
// that derivatives are those by which the integral begins later or ends later.
func TestWindowAtTheStart(t *testing.T) {
	const model = `
time t from s to 2
param s = 0, a = 0, b = 0, c = 1.5, d = 1.5, k = 0.7
state x = 1
x' = -k*x
objective J = integral(x, from = a)
objective K = integral(x, to = b)
objective L = integral(x, from = a, to = b)
objective M = integral(x, from = c, to = d)
objective N = integral(x, from = s)
`
	x := func(t float64) float64 { return math.Exp(-0.7 * t) }
	all := (1 - x(2)) / 0.7
	want := [][5]float64{ // by s, a, b, c, d
		{0.7 * all, -1, 0, 0, 0},
		{-1, 0, 1, 0, 0},
		{0, -1, 1, 0, 0},
		{0, 0, 0, -x(1.5), x(1.5)},
		{0.7*all - 1, 0, 0, 0, 0},
	}
	for _, method := range []string{"dopri5", "rodas5p", "radau5"} {
		for _, mode := range []string{
			"adjoint", "tangent", "complex", "differences", "forward", "continuous", "backsolve",
		} {
			s, err := modeltest.Sensitivities(t, model, mode, odes.Setting{Key: "solver.method", Value: method},
				odes.Setting{Key: "solver.rtol", Value: "1e-9"})
			if err != nil {
				t.Fatal(method, mode, err)
			}
			for i, row := range want {
				if v := [5]float64{all, 0, 0, 0, all}[i]; math.Abs(s.Values[i].Value-v) > 1e-7 {
					t.Errorf("%s, %s: %s = %v, want %v", method, mode, s.Values[i].Name, s.Values[i].Value, v)
				}
				for k, v := range row {
					if got := s.Gradient[i*s.Columns+k]; math.Abs(got-v) > 1e-6 {
						t.Errorf("%s, %s: d%s/d%s = %v, want %v", method, mode, s.Values[i].Name,
							s.Variables[k].Name, got, v)
					}
				}
			}
		}
	}
}
