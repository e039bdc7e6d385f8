package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestRootsThatGuardsHide crosses short windows of states that no sample of a step shows: their conditions are flat
// beside them.
func TestRootsThatGuardsHide(t *testing.T) {
	const model = `
time t from 0 to 100
param w = 0.001, r = 0.1
state x = 0, z = 1, y = 0
discrete n = 0
x' = r
z' = -0.05*z
`
	a := math.Sqrt(math.Ln2)
	for _, c := range []struct {
		text string
		want float64
		by   float64 // w
	}{
		{"y' = if exp(-((x - 3)/w)^2) > 0.5 then 1 else 0\nobjective J = final(y)", 0.02 * a, 20 * a},
		{"y' = if 1/(1 + ((x - 3)/w)^2) > 0.5 then 1 else 0\nobjective J = final(y)", 0.02, 20},
		{"y' = if max(1 - abs(x - 3)/w, 0) > 0.5 then 1 else 0\nobjective J = final(y)", 0.01, 10},
		{
			"y' = if x > 1 and tanh((x - 3)/w) > 0 and tanh((x - 3 - w)/w) < 0 then 1 else 0\nobjective J = final(y)",
			0.01, 10,
		},
		{
			"y' = if not (exp(-((t - 20*log(1/z) + x - 3)/w)^2) < 0.5) then 1 else 0\nobjective J = final(y)",
			0.02 * a, 20 * a,
		},
		{"event e when exp(-((x - 3)/w)^2) > 0.5 { n += 1 }\ny' = 0\nobjective J = final(n)", 1, 0},
		{"event e when 1/(1 + ((x - 3)/w)^2) - 0.5 crosses 0 { n += 1 }\ny' = 0\nobjective J = final(n)", 2, 0},
		{"event e when (x - 3)/(1e-6 + ((x - 3)/w)^4) > 10 and x < 9 { n += 1 }\ny' = 0\nobjective J = final(n)", 1, 0},
	} {
		for _, method := range []string{"dopri5", "tsit5"} {
			s, err := modeltest.Sensitivities(t, model+c.text, "adjoint",
				odes.Setting{Key: "solver.method", Value: method})
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			got, by := s.Values[0].Value, modeltest.Derivative(t, s, "J", "w")
			if math.Abs(got-c.want) > 1e-6*c.want || math.Abs(by-c.by) > 1e-5*math.Max(c.by, 1) {
				t.Errorf("%s, %s: J = %v, dJ/dw = %v, want %v, %v", c.text, method, got, by, c.want, c.by)
			}
		}
	}
}
