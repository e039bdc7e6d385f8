package verify_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// oracles are ways to the derivative that share little: the transpose of the steps, their tangent, the
// tangent in complex arithmetic, and the two modes that differentiate the equations first.
var oracles = []string{"adjoint", "tangent", "complex", "forward", "continuous"}

// scalarModels have one objective each, J, whose gradient is known (testdata/reference/gradients.json).
var scalarModels = map[string]string{
	"hess_lotka_volterra": `
time t from 0 to 6
param a = 1.1, b = 0.4, c = 0.4, d = 0.1, x0 = 10, y0 = 5
state x = x0, y = y0
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = final(((1 - x)^2 + (1 - y)^2)/2)
`,
	"hess_van_der_pol": `
time t from 0 to 4
param mu = 1, x0 = 2, v0 = 0
state x = x0, v = v0
x' = v
v' = mu*(1 - x^2)*v - x
objective J = integral(x^2 + v^2/2)
`,
	"hess_pendulum": `
time t from 0 to 2.5
param g = 9.81, L = 1.2, c = 0.3, th0 = 1
state th = th0, om = 0
th' = om
om' = -g/L*sin(th) - c*om
objective J = integral(om^2) + final(th)^3
`,
	"dense_vdp_np10":  denseVanDerPol(10),
	"dense_vdp_np100": denseVanDerPol(100),
	"fit_decay": `
time t from 0 to 10
param k = 0.2, x0 = 5
state x = x0
x' = -k*x
objective J = %s
`,
	"fit_logistic": `
time t from 0 to 18
param r = 0.4, K = 60, x0 = 3
state x = x0
x' = r*x*(1 - x/K)
objective J = %s
`,
	"fit_lotka_volterra": `
time t from 0 to 12
param a = 1, b = 0.3, c = 0.5, d = 0.12
state x = 10, y = 5
x' = a*x - b*x*y
y' = -c*y + d*x*y
objective J = %s
`,
}

// denseVanDerPol is the optimal control problem of DENSERKS with n parameters.
func denseVanDerPol(n int) string {
	return fmt.Sprintf(`
const n = %d
time t from 0 to 5
param p[n] = 1/n
state y1 = 0, y2 = 1
let v = t*sum(p[i]*p[i+1] for i in 1:n-1)
y1' = (1 - y2^2)*y1 - y2 + v
y2' = y1
objective J = integral(y1^2 + y2^2 + v^2)
`, n)
}

// TestReferenceGradients compares gradients of scalar objectives by five methods, and with
// observations read from the dense output.
func TestReferenceGradients(t *testing.T) {
	var ref struct {
		Cases []struct {
			ID       string
			Names    []string
			Value    float64
			Gradient []float64
			Times    []float64
			Data     [][]float64 // of x and y
		}
	}
	readReference(t, "gradients", &ref)
	if len(ref.Cases) != len(scalarModels) {
		t.Fatalf("%d cases for %d models", len(ref.Cases), len(scalarModels))
	}
	for _, row := range ref.Cases {
		text := scalarModels[row.ID]
		if len(row.Times) > 0 {
			var squares []string
			for k, data := range row.Data {
				for i, y := range data {
					squares = append(squares, fmt.Sprintf("sum_at([%v], (%s - %v)^2)", row.Times[i],
						[]string{"x", "y"}[k], y))
				}
			}
			text = fmt.Sprintf(text, strings.Join(squares, " + "))
		}
		m, err := odes.Parse(row.ID+".ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range oracles {
			observe := []string{"clip"}
			if len(row.Times) > 0 {
				observe = []string{"clip", "dense"}
			}
			for _, how := range observe {
				t.Run(row.ID+"/"+mode+"/"+how, func(t *testing.T) {
					t.Parallel()
					got, err := m.Sensitivities(t.Context(), odes.Options{
						Threads: 1, Wrt: row.Names,
						Settings: []odes.Setting{
							{Key: "solver.method", Value: "vern8"},
							{Key: "solver.rtol", Value: "1e-11"},
							{Key: "solver.atol", Value: "1e-13"},
							{Key: "solver.observe", Value: how},
							{Key: "sens.mode", Value: mode},
						},
					})
					if err != nil {
						t.Fatal(err)
					}
					if got.Columns != len(row.Gradient) || len(got.Values) != 1 {
						t.Fatalf("%d columns of %d objectives, want %d", got.Columns, len(got.Values),
							len(row.Gradient))
					}
					size := 0.0
					for _, d := range row.Gradient {
						size = max(size, math.Abs(d))
					}
					c := &comparison{t: t}
					c.close("J", got.Values[0].Value, row.Value, 1e-9)
					for i, d := range row.Gradient {
						c.close(fmt.Sprintf("derivative %d", i), got.Gradient[i]/size, d/size, 1e-9)
					}
				})
			}
		}
	}
}
