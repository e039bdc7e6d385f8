package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
)

const grayScottSteps = `
time t from 0 to 2
const m = 20
param D1 = 8e-5, D2 = 4e-5, g = 0.024, k = 0.06
state u[m,m] = [1 - 0.5*bump(i)*bump(j) for i in 1:m, j in 1:m]
state v[m,m] = [0.25*bump(i)*bump(j) for i in 1:m, j in 1:m]
fn bump(i) = if i > m/2 and i <= 3*m/4 + 1 then sin(8*pi*(i - 1)/m)^2 else 0
u[i,j]' = D1*m^2/4*(u[wrap(i-1,m),j] + u[wrap(i+1,m),j] + u[i,wrap(j-1,m)] + u[i,wrap(j+1,m)] - 4*u[i,j])
          - u[i,j]*v[i,j]^2 + g*(1 - u[i,j])  for i in 1:m, j in 1:m
v[i,j]' = D2*m^2/4*(v[wrap(i-1,m),j] + v[wrap(i+1,m),j] + v[i,wrap(j-1,m)] + v[i,wrap(j+1,m)] - 4*v[i,j])
          + u[i,j]*v[i,j]^2 - (g + k)*v[i,j]  for i in 1:m, j in 1:m
objective J = 0.5*(sum(final(u)*final(u)) + sum(final(v)*final(v)))
sens   { of = J  wrt = [D1, D2, g, k]  trust = off }
solver { fixed_step = 0.5 }
`

// TestStepsWithoutFactors holds that short implicit steps on a grid, whose equations are solved without factors, are
// those with factors, and that their derivatives are the same by transposes, by tangents, and by steps in complex
// arithmetic, which have factors.
func TestStepsWithoutFactors(t *testing.T) {
	m, err := odes.Parse("gray_scott.ode", grayScottSteps, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"trapezoidal", "esdirk4", "rodas4"} {
		run := func(linear, mode string) *odes.Sensitivities {
			t.Helper()
			s, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
				{Key: "solver.method", Value: method},
				{Key: "solver.linear", Value: linear},
				{Key: "sens.mode", Value: mode},
			}})
			if err != nil {
				t.Fatal(method, linear, mode, err)
			}
			return s
		}
		want := run("sparse", "adjoint")
		modes := [][2]string{{"auto", "adjoint"}, {"auto", "tangent"}, {"gmres", "adjoint"}}
		if method == "trapezoidal" && !testing.Short() {
			modes = append(modes, [2]string{"auto", "complex"})
		}
		for _, how := range modes {
			got := run(how[0], how[1])
			if d := math.Abs(got.Values[0].Value/want.Values[0].Value - 1); !(d <= 1e-14) {
				t.Errorf("%s, %s: the value differs by %.2g", method, how, d)
			}
			most, far := 0.0, 0.0
			for i, v := range want.Gradient {
				most, far = max(most, math.Abs(v)), max(far, math.Abs(got.Gradient[i]-v))
			}
			if !(far <= 1e-13*most) {
				t.Errorf("%s, %s: the gradient differs by %.2g", method, how, far/most)
			}
		}
	}
}
