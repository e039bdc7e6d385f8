package run

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/result"
)

// lagModels read the past in each way: with pasts, jumps, discretes, quadratures, sites within steps, arrays, delays of
// their own for elements.
var lagModels = []string{`
time t from 0 to 30
param be = 2, ga = 1, n = 6.2, tau = 2, x0 = 0.5, w = 0.1
state x = x0
past x = x0*exp(t/10)
let late = delay(x, tau)
x' = be*late/(1 + late^n) - ga*x + w*sin(t)*late
objective J = integral(x*late)/30 + final(x) + sum_at([3.3, 7.25, 19.9], x^2)
objective K = final(late) - x0*sum_at([4.5], late)
`, `
time t from 0 to 12
param a = 0.9, b = 0.7, tau = 0.6, rho = 0.9, t1 = 1.8, c = 0.4
state d = [c, c*b]
d' = [0, 0]
state x = 0, y = 1
x' = delay(d[1]*x, tau) + b*delay(d[2], rho) - a*x
y' = -a*y*(1 + delay(x, rho)^2/8) + 0.1
event first at t1 { d[1] = d[1]/2 + c*x }
event again every rho from t1 { d = [d[2], d[1] + 0.1]; y += b/4 }
event low when y < 0.6 { x += 0.1 }
objective J = final(x*y) + integral(delay(x, tau) - y)
objective K = final(x) + final(delay(y, rho))
objective L = integral(d[1]*x*y)
`, `
time t from 0 to 20
param k = 0.8, tau = 1.3, s = 0.2
state x[11] = [sin(i) for i in 1:11]
state z = 1
x[i]' = k*tanh(delay(x[i], tau + s*i)) - x[i] + 0.1*x[wrap(i + 1, 11)]*z for i in 1:11
z' = delay(sum(x), tau) - z/(1 + delay(z, tau)^2)
objective J = final(sum(x)) + final(z)
`}

// TestWholeLags checks that steps of models that read the past, and their transposes, have the bits of the stages one
// by one when they are compiled as one program.
func TestWholeLags(t *testing.T) {
	for i, text := range lagModels {
		m, err := Parse("m.ode", text, ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		steps := 0 // compiled
		for _, method := range []string{"bs3", "tsit5", "vern7", "dop853", "auto"} {
			run := func(whole int) *result.Sensitivities {
				o := Options{Threads: 1, EventTimes: true, Settings: []Setting{
					{Key: "sens.trust", Value: "off"},
					{Key: "solver.method", Value: method},
					{Key: "solver.rtol", Value: "1e-5"},
				}}
				o.compileAfter = &compiled.CompileAfter{Small: whole, Large: whole}
				r, err := m.Prepare(o)
				if err != nil {
					t.Fatal(err)
				}
				s, err := r.Sensitivities(t.Context())
				if err != nil {
					t.Fatalf("%s: %v\n%s", method, err, text)
				}
				if step, _ := r.worker.StepStats(); step != nil {
					steps++
				}
				return s
			}
			want, got := run(math.MaxInt), run(0)
			if a, b := want.Stats.Steps, got.Stats.Steps; a != b {
				t.Errorf("model %d, %s: %d steps, %d when compiled", i, method, a, b)
			}
			for k, v := range want.Values {
				if x := got.Values[k].Value; math.Float64bits(x) != math.Float64bits(v.Value) {
					t.Errorf("model %d, %s: a value is %v, %v when compiled", i, method, v.Value, x)
				}
			}
			for k, v := range want.Gradient {
				if x := got.Gradient[k]; math.Float64bits(x) != math.Float64bits(v) {
					t.Errorf("model %d, %s: derivative %d is %v, %v when compiled", i, method, k, v, x)
				}
			}
		}
		back := m.System.StepPrograms().Transposes
		if simd.Backend() != simd.Generic && (steps < 4 || back < 2) {
			t.Errorf("model %d: only %d runs had compiled steps, %d compiled transposes", i, steps, back)
		}
	}
}
