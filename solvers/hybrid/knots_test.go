package hybrid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestMovingKnots differentiates by the knot of a table that is read at the time. Derivatives of the
// right-hand side jump there, and the continuous methods must take the side of the step they are in.
func TestMovingKnots(t *testing.T) {
	const model = `
time t from 0 to 2
param p = 0.7, k = 0.5
state x = 0
x' = interp([0, p, 2], [0, 1, 0], t) - k*x
objective M = integral(t*interp([0, p, 2], [0, 1, 0], t))
objective X = final(x)
`
	// M is the area of a triangle, 1, times the time of its centroid, (0 + p + 2)/3.
	for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous", "backsolve"} {
		var want float64
		for _, method := range []string{"tsit5", "dopri5", "dop853", "rk4"} { // with and without stages at the end
			s, err := modeltest.Sensitivities(t, model, mode, odes.Setting{Key: "solver.method", Value: method},
				odes.Setting{Key: "solver.rtol", Value: "1e-9"}, odes.Setting{Key: "solver.hmax", Value: "0.05"},
				odes.Setting{Key: "sens.rtol", Value: "1e-9"})
			if err != nil {
				t.Fatal(err)
			}
			p, q := s.Gradient[0], s.Gradient[s.Columns]
			if math.Abs(s.Values[0].Value-0.9) > 1e-9 || math.Abs(p-1.0/3) > 1e-7 {
				t.Errorf("%s, %s: M = %v, dM/dp = %v, want 0.9 and 1/3", mode, method, s.Values[0].Value, p)
			}
			if want == 0 {
				want = q
			} else if math.Abs(q-want) > 1e-7 {
				t.Errorf("%s, %s: dX/dp = %v, want %v", mode, method, q, want)
			}
		}
	}
}

// TestKnotAtAnotherTime has a knot where something else happens to end a step. What moves the other
// must not move the knot.
func TestKnotAtAnotherTime(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for name, other := range map[string]string{
		"event":         "event e at ts { y += 1 }",
		"fixed event":   "event e at 0.5 { y += 1 }",
		"mode":          "z' = if t < ts then 1 else 2",
		"fixed mode":    "z' = if t < 0.5 then 1 else 2",
		"root":          "event e when z >= ts { y += 1 }",
		"observation":   "objective O = sum_at([ts], y)",
		"fixed":         "objective O = sum_at([0.5], y)",
		"another table": "objective O = integral(interp([0, ts, 2], [0, 1, 0], t))",
		"window":        "objective O = integral(1, from = ts, to = 1)",
		"another and both": "objective O = integral(interp([0, 0.5, 2], [0, 1, 0], t), from = ts, to = 1)\n" +
			"event e at ts { y += 1 }",
	} {
		model := `
time t from 0 to 2
param p = 0.5, ts = 0.5
state y = 0, z = 0, q = 1
q' = 0
y' = 0
objective M = integral(t*q*interp([0, p, 2], [0, 1, 0], t))
` + other
		if name != "mode" && name != "fixed mode" {
			model += "\nz' = 1"
		}
		for _, mode := range []string{"adjoint", "tangent", "complex", "forward", "continuous"} {
			s, err := modeltest.Sensitivities(t, model, mode, odes.Setting{Key: "solver.method", Value: "dopri5"},
				odes.Setting{Key: "solver.rtol", Value: "1e-9"},
				odes.Setting{Key: "solver.observe", Value: "clip"})
			if err != nil {
				t.Fatal(err)
			}
			if p, ts := s.Gradient[0], s.Gradient[1]; math.Abs(p-1.0/3) > 1e-9 || math.Abs(ts) > 1e-9 {
				t.Errorf("%s, %s: dM/dp = %v, dM/dts = %v, want 1/3 and 0", name, mode, p, ts)
			}
		}
	}
}

// TestNoEventAtEvent has a jump inside noevent at the time of an event. Methods that use the field at
// the end of a step must take the side of the step. (The computed numbers have a stage on the other
// side, and so have their derivatives.)
func TestNoEventAtEvent(t *testing.T) {
	const model = `
time t from 0 to 2
param ts = 0.5
state x = 0, y = 0
let u = if t < ts then 1 else 3
x' = noevent(u + 0)
y' = u
objective X = final(x)
objective Y = final(y)
objective A = integral(noevent(u*t))
`
	for _, mode := range []string{"forward", "continuous", "backsolve"} {
		for _, method := range []string{"tsit5", "dopri5", "bs5"} {
			s, err := modeltest.Sensitivities(t, model, mode, odes.Setting{Key: "solver.method", Value: method})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []float64{-2, -2, -1} {
				if got := s.Gradient[i*s.Columns]; math.Abs(got-want) > 1e-7 {
					t.Errorf("%s, %s: d%s/dts = %v, want %v", mode, method, s.Values[i].Name, got, want)
				}
			}
		}
	}
}

// TestHat has kinks inside a kink. The outer ones are exactly at floats, where the argument of max is exactly zero.
func TestHat(t *testing.T) {
	for _, mode := range []string{"adjoint", "tangent"} {
		s, err := modeltest.Sensitivities(t, `
time t from 0 to 6.5
param a = 6.839
state z = 4
z' = -z
objective J = integral(max(0, 1 - abs(t - a)))`, mode)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Gradient[0]; math.Abs(got+0.661) > 1e-9 {
			t.Errorf("%s: dJ/da = %v, want -0.661", mode, got)
		}
		for _, w := range s.Warnings {
			t.Errorf("%s: %s", mode, w.Message)
		}
	}
}

// TestKnotsWithinRounding reads tables at ramps that stay at a knot for some floats of time: the two conditions of the
// knot change a rounding apart.
func TestKnotsWithinRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(59, 6))
	for range 30 {
		tau, s, k := 1.4+0.2*r.Float64(), 0.3*r.Float64(), -1.4+0.2*r.Float64()
		at := func(q float64) float64 { return 1 + (q-k)*(1/(k+9)*b2f(q < k)+6/(9-k)*b2f(q >= k)) }
		for i, text := range []string{
			"interp([-9, %v, 9], [0, 1, 7], t - tau - s*t)", "interp([-9, %v, 9], [0, 1, 7], t*(1 - s) - tau)",
			"1 + 6*max(t - tau - s*t - c, 0)/(9 - c) + min(t - tau - s*t - c, 0)/(9 + c)",
		} {
			if i < 2 {
				text = fmt.Sprintf(text, k)
			}
			m, err := odes.Parse("m.ode", fmt.Sprintf("time t from 0 to 5\nparam tau = %v, s = %v, c = %v\n"+
				"state x = 1\nx' = -x\nobjective J = integral(%s)\n", tau, s, k, text), odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, method := range []string{"tsit5", "dop853", "radau9"} {
				g, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"tau"}, Settings: modeltest.Settings(
					"solver.method", method, "sens.trust", "off")})
				if err != nil {
					t.Fatal(err)
				}
				want := -(at(5*(1-s)-tau) - at(-tau)) / (1 - s)
				modeltest.WantNear(t, fmt.Sprintf("%v, tau = %v, s = %v", text, tau, s), g.Gradient[0], want, 1e-9)
			}
		}
	}
}

// b2f is 1 for true.
func b2f(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
