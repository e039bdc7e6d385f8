package trust_test

import (
	"fmt"
	"testing"

	"odes.dev/odes"
)

// TestPolesCrossed steps across a pole with steps as short as the rounding of time, as the independent run does: values
// that the two do not share are lost.
func TestPolesCrossed(t *testing.T) {
	for _, how := range []string{"vern7  rtol = 1e-9", "tsit5  rtol = 1e-10", "vern9  rtol = 1e-10"} {
		m, err := odes.Parse("m.ode", fmt.Sprintf(`
time t from 0 to 2
param c = 1.5376
state y = 0.3
y' = tan(3.141592653589793/(2*c)*t)
objective J = integral(y)
solver { method = %s }
`, how), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			continue // it does not cross
		}
		if s.Status == "ok" || s.Values[0].Trust != odes.Lost {
			t.Errorf("%s: J is %v, %v, status %s", how, s.Values[0].Value, s.Values[0].Trust, s.Status)
		}
	}
}
