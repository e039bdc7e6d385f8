package sens_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestUnknowns: x' = -z with the unknown z = d·x, of which an event at s makes d greater by the factor b and x by u. So
// x(T) = u·exp(-a·s - a·b·(T - s)), z is a·b·x there, and an observation at the event has the new z.
func TestUnknowns(t *testing.T) {
	const text = `
time t from 0 to 2
param a = 0.7, b = 1.5, s = 0.8, u = 1.2
state x = 1
alg z = 0.5
discrete d = a
x' = -z
0 = z - d*x
event more at s { d = b*d; x = u*x }
objective J = final(z)
objective K = at_event(more, post(z), nth = 1)
objective L = integral(z)
sens { trust = off }
solver { rtol = 1e-10  atol = 1e-12 }
`
	const a, b, s, u, tf = 0.7, 1.5, 0.8, 1.2, 2.0
	before, after := math.Exp(-a*s), math.Exp(-a*b*(tf-s))
	end := u * before * after
	at := a * b * u * before
	want := [3][4]float64{
		{b*end - a*b*end*(s+b*(tf-s)), a*end - a*b*end*a*(tf-s), a * b * end * a * (b - 1), a * b * end / u},
		{b*u*before - at*s, a * u * before, -a * at, at / u},
		// The integral is 1 - before + u·before·(1 - after).
		{
			s*before - u*s*before*(1-after) + u*before*b*(tf-s)*after, u * before * a * (tf - s) * after,
			a*before - u*a*before*(1-after) - u*before*a*b*after, before * (1 - after),
		},
	}
	m, err := odes.Parse("unknowns.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range [][]string{
		{"adjoint", "rodas5p"},
		{"tangent", "rodas5p"},
		{"forward", "rodas5p"},
		{"continuous", "rodas5p"},
		{"complex", "rodas5p"},
		{"adjoint", "radau5"},
		{"tangent", "radau5"},
	} {
		opts := odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "sens.mode", Value: set[0]}, {Key: "solver.method", Value: set[1]},
		}}
		for _, lanes := range []int{0, 1, 2} {
			opts.Lanes = lanes
			r, err := m.Sensitivities(context.Background(), opts)
			if err != nil {
				t.Fatalf("%v: %v", set, err)
			}
			for i, row := range want {
				for j, x := range row {
					if got := r.Gradient[len(r.Gradient)/3*i+j]; !(math.Abs(got-x) <= 1e-7*(1+math.Abs(x))) {
						t.Errorf("%v, %d lanes: objective %d by param %d is %.10g, want %.10g", set, lanes, i, j,
							got, x)
					}
				}
			}
		}
	}
}

// TestUnknownsBetweenSteps: modes that read the run between its steps solve for the unknown there. Of z + z³ = w the
// root is 2/√3·sinh(asinh(3√3/2·w)/3), so the same can be written without it.
func TestUnknownsBetweenSteps(t *testing.T) {
	const text = `
time t from 0 to 2
param a = 0.7, b = 1.5
state x = 1
%s
x' = -z
objective J = final(z)
objective K = integral(z^2)
sens { trust = off }
`
	gradient := func(of string, settings ...odes.Setting) []float64 {
		t.Helper()
		m, err := odes.Parse("unknowns.ode", fmt.Sprintf(text, of), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: settings})
		if err != nil {
			t.Fatalf("%v: %v", settings, err)
		}
		return s.Gradient
	}
	set := func(key, value string) odes.Setting { return odes.Setting{Key: key, Value: value} }
	want := gradient("let u = 1.5*sqrt(3)*a*x*(1 + b*x)\nlet z = 2/sqrt(3)*sinh(log(u + sqrt(1 + u^2))/3)",
		set("solver.rtol", "1e-11"), set("solver.atol", "1e-13"))
	for _, method := range []string{"rodas5p", "rodas4", "radau5", "esdirk4"} {
		got := gradient("alg z = 0.5\n0 = z + z^3 - a*x*(1 + b*x)", set("solver.method", method),
			set("sens.mode", "continuous"), set("solver.rtol", "1e-4"), set("solver.atol", "1e-6"))
		for i, x := range want {
			if !(math.Abs(got[i]-x) <= 2e-5) {
				t.Errorf("%s: derivative %d is %.9g, want %.9g", method, i, got[i], x)
			}
		}
	}
}
