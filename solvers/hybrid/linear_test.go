package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
)

// TestLinearMethods holds that it does not show how the equations of a step are solved: not in values, gradients and
// Hessians beyond rounding, and not in how tangents and adjoints agree.
func TestLinearMethods(t *testing.T) {
	const text = `
time t from 0 to 0.5
param D = 0.02, B = 3.2, A = 1
state u[7,7] = [[1 + 0.1*sin(i + 2*j) for j in 1:7] for i in 1:7]
state v[7,7] = 3
u[i,j]' = A + u[i,j]^2*v[i,j] - (B + 1)*u[i,j] + D*49*(u[wrap(i-1, 7), j] + u[wrap(i+1, 7), j] +
    u[i, wrap(j-1, 7)] + u[i, wrap(j+1, 7)] - 4*u[i,j]) for i in 1:7, j in 1:7
v[i,j]' = B*u[i,j] - u[i,j]^2*v[i,j] + D*49*(v[wrap(i-1, 7), j] + v[wrap(i+1, 7), j] +
    v[i, wrap(j-1, 7)] + v[i, wrap(j+1, 7)] - 4*v[i,j]) for i in 1:7, j in 1:7
event dose at 0.2 { u = u + A }
objective J = final(sum(u*u))
objective K = integral(mean(v))
solver { method = rodas5p  rtol = 1e-6 }
sens { wrt = [D, B, A]  trust = off }`
	m, err := odes.Parse("linear.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	numbers := func(linear, mode, order string) (list []float64) {
		r, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
			{Key: "solver.linear", Value: linear}, {Key: "sens.mode", Value: mode}, {Key: "sens.order", Value: order},
		}})
		if err != nil {
			t.Fatalf("%s, %s: %v", linear, mode, err)
		}
		for _, v := range r.Values {
			list = append(list, v.Value)
		}
		return append(append(list, r.Gradient...), r.Hessian...)
	}
	same := func(what string, got, want []float64, tol float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d numbers, not %d", what, len(got), len(want))
		}
		for i, x := range got {
			if !(math.Abs(x-want[i]) <= tol*math.Max(1, math.Abs(want[i]))) {
				t.Errorf("%s: number %d is %v, not %v", what, i, x, want[i])
			}
		}
	}
	want := numbers("dense", "adjoint", "2")
	for _, linear := range []string{"band", "sparse", "gmres"} {
		same(linear, numbers(linear, "adjoint", "2"), want, 1e-9)
	}
	same("tangent by gmres", numbers("gmres", "tangent", "1"), numbers("gmres", "adjoint", "1"), 1e-11)
	same("complex by gmres", numbers("gmres", "complex", "1"), numbers("gmres", "adjoint", "1"), 1e-9)
}
