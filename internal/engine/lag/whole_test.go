package lag_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestWholeSteps compares two runs by one worker, the first of which makes its first steps stage by stage and the
// second none. Values and derivatives have the same bits.
func TestWholeSteps(t *testing.T) {
	for name, text := range map[string]string{
		"one": "state x = 1\nx' = 1 - a*x - b*delay(x, tau)\n",
		"two": "state x = 1, y = 2\nx' = 1 - a*x - b*delay(y, tau)\ny' = x - delay(y, 1.01*tau) - 0.1*delay(x, b)\n",
		"array": "state z = 0.3, x[9] = [sin(i) for i in 1:9]\nz' = -z\n" +
			"x[i]' = a*tanh(delay(x[i], tau)) - x[i] for i in 1:9\n",
		"discrete": "state x = 1\ndiscrete k = 1\nx' = delay(k, tau) - a*x - b*delay(x, 1)\n" +
			"event kick every 7.3 { k = -k; x += 0.1 }\n",
	} {
		for _, method := range []string{"tsit5", "dop853"} {
			m, err := odes.Parse("m.ode", "time t from 0 to 200\nparam a = 0.3, b = 1.2, tau = 1.37\n"+text+
				"objective J = integral(x"+map[bool]string{true: "[2]"}[name == "array"]+"^2)\n", odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Prepare(odes.Options{Threads: 1, Settings: modeltest.Settings(
				"solver.method", method, "solver.fixed_step", "0.11", "sens.trust", "off")})
			if err != nil {
				t.Fatal(err)
			}
			var first []uint64
			for k := range 3 {
				s, err := r.Sensitivities(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var bits []uint64
				for _, o := range s.Values {
					bits = append(bits, math.Float64bits(o.Value))
				}
				for _, v := range s.Variables {
					for _, d := range s.Derivative(0, v) {
						bits = append(bits, math.Float64bits(d))
					}
				}
				if first == nil {
					first = bits
				}
				if fmt.Sprint(bits) != fmt.Sprint(first) {
					t.Errorf("%s, %s: run %d has other bits", name, method, k)
				}
			}
		}
	}
}
