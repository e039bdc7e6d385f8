package trust_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestSingularDerivatives has expressions with an infinite derivative by a state that rests where it is infinite. What
// does not move the state there has a finite derivative, the same in every mode; what does has none.
func TestSingularDerivatives(t *testing.T) {
	for _, c := range []struct {
		name, text string
		infinite   string // variables by which there is no derivative
		want       map[string]float64
	}{
		{"canary", `
param IC = 2, g = 0.7
state A = 0, R = 0
A' = 0
R' = 1 - (A/IC)^g/(1 + (A/IC)^g) - R
objective J = final(R)`, "initial(A)", map[string]float64{"IC": 0, "g": 0, "initial(R)": math.Exp(-1)}},
		{"dose", `
import "std/kinetics.ode"
param k = 1, K = 2, g = 0.7, D = 1, lag = 0.3
state A = 0, R = 0
A' = -k*A
R' = hill(A, K, g) - R
event dose at lag { A += D }
objective J = final(R)`, "initial(A)", nil},
		{"root", `
param k = 1, D = 1
state h = 0, V = 0
h' = -k*sqrt(h)
V' = sqrt(h)
event fill when V + t >= 0.4 { h += D }
objective J = final(h) + 2*final(V)
objective L = event_time(fill, 1)`, "initial(h)", nil},
		{"chain", `
param k = 1, g = 0.5, D = 1
state A = 0, B = 0, R = 0
A' = -k*A
B' = A^g - B
R' = B^g - R
event dose at 0.5 { A += D }
objective J = final(R)`, "initial(A) initial(B)", nil},
		{"param", `
param a = 0, b = 2, g = 0.5
state x = 1
x' = -b*x + a^g*b
objective J = final(x)
objective K = integral(x^2)`, "a", nil},
		{"array", `
param K[3] = [1, 2, 3], g = 0.4, D = 1
state A[3] = 0, R[3] = 0
A[i]' = -A[i] for i in 1:3
R[i]' = (A[i]/K[i])^g/(1 + (A[i]/K[i])^g) - R[i] for i in 1:3
event dose at 0.25 { A[2] += D }
objective J[i] = final(R[i]) for i in 1:3`, "initial(A)", nil},
	} {
		modes := []string{"adjoint", "tangent", "complex", "forward"}
		rows := make([]map[string][]float64, len(modes))
		for k, mode := range modes {
			s, err := modeltest.Sensitivities(t, "time t from 0 to 1"+c.text, mode)
			if err != nil {
				t.Fatal(c.name, mode, err)
			}
			rows[k] = map[string][]float64{}
			for i, v := range s.Values {
				some := false
				for _, x := range s.Variables {
					singular := strings.Contains(" "+c.infinite+" ", " "+x.String()+" ")
					d := s.Derivative(i, x)
					rows[k][fmt.Sprintf("%d by %s", i, x)] = d
					for _, y := range d {
						if !singular && (math.IsNaN(y) || math.IsInf(y, 0)) {
							t.Errorf("%s, %s: d%s/d%s = %v", c.name, mode, v.Name, x, d)
						}
						some = some || math.IsNaN(y) || math.IsInf(y, 0)
					}
					if want, ok := c.want[x.String()]; ok && !modeltest.Near(d[0], want, 1e-5) {
						t.Errorf("%s, %s: d%s/d%s = %v, want %v", c.name, mode, v.Name, x, d[0], want)
					}
					if singular && v.Name != "L" && !some {
						t.Errorf("%s, %s: d%s/d%s = %v, and does not exist", c.name, mode, v.Name, x, d)
					}
				}
				if some != (len(v.Warnings) > 0) {
					t.Errorf("%s, %s: %s has the warnings %q", c.name, mode, v.Name, v.Warnings)
				}
			}
		}
		for what, want := range rows[1] {
			for k, mode := range modes {
				tol := 1e-12
				if mode == "forward" {
					tol = 1e-4
				}
				for i, x := range rows[k][what] {
					if y := want[i]; !modeltest.Near(x, y, tol) && !(math.IsNaN(x-x) && math.IsNaN(y-y)) {
						t.Errorf("%s: %s: %v in mode %s, %v in mode tangent", c.name, what, x, mode, y)
					}
				}
			}
		}
	}
}

// TestExponentBelowZero has a base that is negative by what errors of stages are, and a param as its exponent. There is
// no logarithm of it, but the derivative by the exponent is that of zero, in every mode. Of a base that is truly
// negative there is none.
func TestExponentBelowZero(t *testing.T) {
	text := func(start string) string {
		return `model Exponent
time t from 0 to 2
param n = 2
state x = ` + start + `, y = 0
x' = 1
y' = x^n
objective J = final(y)
sens { wrt = n }
solver { rtol = 1e-10  atol = 1e-12  hmax = 0.01 }`
	}
	want := 8.0 / 3 * (math.Log(2) - 1.0/3)
	for _, start := range []string{"0", "-1e-300", "-1e-12"} {
		for _, mode := range []string{"adjoint", "tangent", "complex", "continuous", "forward"} {
			s := modeltest.RunTimes(t, text(start), "sens.mode", mode)
			if got := s.Gradient[0]; !(math.Abs(got-want) < 1e-7) {
				t.Errorf("from %s, %s: %v, want %v", start, mode, got, want)
			}
		}
	}
	if s := modeltest.RunTimes(t, text("-1e-3"), "sens.trust", "off"); !math.IsNaN(s.Gradient[0]) {
		t.Errorf("a base that is negative: %v", s.Gradient[0])
	}
}
