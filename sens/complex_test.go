package sens_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestComplexStays compares complex steps with the adjoint where derivatives grow beyond what rounding and tiny
// imaginary parts bear: at an unstable equilibrium, and beside an infinite slope.
func TestComplexStays(t *testing.T) {
	models := map[string]string{
		"grows": `
time t from 0 to 5
param a = 40, b = 0, c = 0.3
state x = b, y = 1
x' = a*(2.5 - t)*x/(1 + x^2)
y' = -y + c*(1 + x)
objective J = final(y)
event e when y < 0.5 { y = 0.7 + c }
`,
		"beside": `
time t from 0 to 10
param b = 0.34
state x = 1, y = -0.676
x' = 2.09*y
y' = max(y, 0)^b - x
objective J = final(y)
`,
	}
	for name, text := range models {
		m, err := odes.Parse(name+".ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"dopri5", "tsit5", "rodas5p", "radau5"} {
			gradient := func(mode string) *odes.Sensitivities {
				s, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{
					{Key: "sens.mode", Value: mode},
					{Key: "solver.method", Value: method},
					{Key: "sens.trust", Value: "off"},
				}})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			want, got := gradient("adjoint"), gradient("complex")
			for i := range want.Values {
				row, other := want.Gradient[i*want.Columns:(i+1)*want.Columns], got.Gradient[i*want.Columns:]
				largest := 0.0
				for _, x := range row {
					largest = max(largest, math.Abs(x))
				}
				for k, x := range row {
					if !(math.Abs(other[k]-x) <= 1e-7*largest) {
						t.Errorf("%s, %s: d%s/d[%d] = %.12g, want %.12g", name, method,
							want.Values[i].Name, k, other[k], x)
					}
				}
			}
		}
	}
}
