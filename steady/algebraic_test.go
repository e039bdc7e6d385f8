package steady_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestSteadyAlgebraic finds steady states of models with algebraic unknowns, in closed form: with all modes, with and
// without a conserved sum, as `alg` and as a mass matrix, to second order, and with the eigenvalue.
func TestSteadyAlgebraic(t *testing.T) {
	const (
		bound = `model Bound
time t from 0 to 1
param k1 = 0.7, k2 = 0.4, K = 0.6, a0 = 1.2, b0 = 0.3
state A = a0, B = b0
alg F = 0.5
A' = -k1*F + k2*B
B' = k1*F - k2*B
0 = F*(1 + F/K) - A
`
		massive = `model Massive
time t from 0 to 1
param k1 = 0.7, k2 = 0.4, K = 0.6, a0 = 1.2, b0 = 0.3
state x[3] = [a0, b0, 0.5]
x' = [-k1*x[3] + k2*x[2], k1*x[3] - k2*x[2], x[3]*(1 + x[3]/K) - x[1]]
mass(x) = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
`
	)
	// k1 F = k2 B and F + F²/K + B = a0 + b0: F = (-q + sqrt(q² + 4(a0 + b0)/K))·K/2 with q = 1 + k1/k2.
	value := func(p []complex128) (f, b complex128) {
		q := 1 + p[0]/p[1]
		f = (cmplx.Sqrt(q*q+4*(p[3]+p[4])/p[2]) - q) * p[2] / 2
		return f, p[0] * f / p[1]
	}
	params := []float64{0.7, 0.4, 0.6, 1.2, 0.3}
	at := func(k int, h complex128) (f, b complex128) {
		p := make([]complex128, len(params))
		for i, x := range params {
			p[i] = complex(x, 0)
		}
		p[k] += h
		return value(p)
	}
	for _, c := range []struct{ text, of string }{
		{bound + "objective f = initial(F)\nobjective b = steady(B)\nequilibrate { }\n", ""},
		{massive + "objective f = initial(x[3])\nobjective b = steady(x[2])\nequilibrate { }\n", ""},
	} {
		for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
			m, err := odes.Parse("bound.ode", c.text+fmt.Sprintf("sens { mode = %s }\n", mode), odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{})
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			limit := 1e-11
			if mode == "differences" {
				limit = 1e-6
			}
			for k := range params {
				f, b := at(k, 1e-200i)
				for i, want := range []complex128{f, b} {
					d := imag(want) / 1e-200
					if math.Abs(s.Values[i].Value-real(want)) > 1e-12 || math.Abs(s.Gradient[i*s.Columns+k]-d) > limit {
						t.Errorf("%s: %v by %v: %v and %v, want %v and %v", mode, s.Values[i].Name, k,
							s.Values[i].Value, s.Gradient[i*s.Columns+k], real(want), d)
					}
				}
			}
			if mode != "adjoint" {
				continue
			}
			f, _ := at(0, 0)
			slope := 1 + 2*real(f)/params[2] // dA/dF
			want := -params[0]/slope - params[1]
			if len(s.Stats.Rests) == 0 || math.Abs(real(s.Stats.Rests[0].Eigenvalue)-want) > 1e-9 {
				t.Errorf("the steady states are %+v, want the eigenvalue %v", s.Stats.Rests, want)
			}
		}
		m, err := odes.Parse("bound.ode", c.text+"sens { order = 2 }\n", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := s.Columns
		for k := range params {
			const h = 1e-4
			up, _ := at(k, complex(h, 1e-200))
			down, _ := at(k, complex(-h, 1e-200))
			want := (imag(up) - imag(down)) / 1e-200 / (2 * h)
			if got := s.Hessian[k*n+k]; math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
				t.Errorf("second derivative by %d is %v, want %v", k, got, want)
			}
		}
	}
}

// TestConservedByEquations finds steady states of an enzyme whose complex is an unknown: that S + P stays what it was
// follows from the equation of the complex. Values and derivatives are those of the root of a quadratic.
func TestConservedByEquations(t *testing.T) {
	const end = `
objective s = steady(S)
objective c = steady(C)
`
	const params = "time t from 0 to 1\nparam kf = 2, kr = 0.5, kc = 0.7, ET = 0.5, S0 = 3, kp = 0.15\n"
	const massive = params + `state x[3] = [S0, 0, 0.1]
x' = [-kf*x[1]*(ET - x[3]) + kr*x[3] + kp*x[2], kc*x[3] - kp*x[2], kf*x[1]*(ET - x[3]) - (kr + kc)*x[3]]
mass(x) = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
let S = x[1]
let C = x[3]
`
	value := func(p []complex128) (s, c complex128) {
		kf, kr, kc, et, s0, kp := p[0], p[1], p[2], p[3], p[4], p[5]
		q := kc / kp // P = q C, S = S0 - q C
		b := kf*(s0+q*et) + kr + kc
		c = (b - cmplx.Sqrt(b*b-4*kf*q*kf*s0*et)) / (2 * kf * q)
		return s0 - q*c, c
	}
	for _, model := range []string{
		params + `state S = S0, P = 0
alg C = 0.1
S' = -kf*S*(ET - C) + kr*C + kp*P
P' = kc*C - kp*P
0 = kf*S*(ET - C) - (kr + kc)*C
`,
		massive,
	} {
		for _, mode := range []string{"adjoint", "tangent", "complex"} {
			m, err := odes.Parse("complex.ode", model+end+"sens { mode = "+mode+
				"  wrt = [kf, kr, kc, ET, S0, kp] }\n", odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Sensitivities(t.Context(), odes.Options{})
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			for k := range 6 {
				p := []complex128{2, 0.5, 0.7, 0.5, 3, 0.15}
				p[k] += 1e-200i
				s, c := value(p)
				for i, want := range []complex128{s, c} {
					got, d := r.Gradient[i*r.Columns+k], imag(want)/1e-200
					if math.Abs(r.Values[i].Value-real(want)) > 1e-12 || math.Abs(got-d) > 1e-11 {
						t.Errorf("%s: %v by %d: %v and %v, want %v and %v", mode, r.Values[i].Name, k,
							r.Values[i].Value, got, real(want), d)
					}
				}
			}
		}
	}
}

// TestSteadyModes compares integrated derivatives of steady states with those by one solution, in both directions.
func TestSteadyModes(t *testing.T) {
	const text = `model Receptor
time t from 0 to 2
param kon = 0.8, koff = 0.35, ki = 0.15, kr = 0.25, L = 1.2, before = 0.3
state R = 1.5, C = 0, I = 0
R' = -kon*L*R + koff*C - ki*R + kr*I
C' = kon*L*R - koff*C
I' = ki*R - kr*I
equilibrate { L = before }
objective s = initial(C)^2 + final(R)
objective q = steady(R)
solver { rtol = 1e-9  atol = 1e-12 }
`
	gradient := func(sens string) []float64 {
		m, err := odes.Parse("receptor.ode", text+"sens { trust = off  "+sens+" }\n", odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (s.Stats.SteadyFlow > 0) != (sens[len(sens)-3:] == "run") {
			t.Errorf("%s: %d steps", sens, s.Stats.SteadyFlow)
		}
		return append([]float64(nil), s.Gradient...)
	}
	want := gradient("mode = adjoint  steady = solve")
	for _, sens := range []string{"mode = adjoint  steady = run", "mode = tangent  steady = run"} {
		for i, x := range gradient(sens) {
			if math.Abs(x-want[i]) > 1e-7*(math.Abs(want[i])+0.01) {
				t.Errorf("%s: derivative %d is %v, want %v", sens, i, x, want[i])
			}
		}
	}
}

// TestCoefficientsOfSums: where volumes are params, the sum that they weigh is not found, and the error says which they
// are; where they are const, it is.
func TestCoefficientsOfSums(t *testing.T) {
	const text = `model Volumes
time t from 0 to 5
%s V1 = 0.27, V2 = 2.5
param k1 = 0.6, k2 = 0.4, other = 2
state x = 2, y = 0.1
x' = (k2*y - k1*x)/V1
y' = (k1*x - k2*y)/V2
objective s = steady(x) + other
`
	const hint = "its coefficients are of V1, V2: where these are declared const"
	for _, kind := range []string{"param", "const"} {
		m, err := odes.Parse("volumes.ode", fmt.Sprintf(text, kind), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Sensitivities(t.Context(), odes.Options{})
		if told := err != nil && strings.Contains(err.Error(), hint); told != (kind == "param") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
