package run_test

import (
	"testing"

	"odes.dev/odes"
)

// TestLanesAreNoMoreThanNeeded asks for a billion lanes, which would take more memory than there is.
func TestLanesAreNoMoreThanNeeded(t *testing.T) {
	const model = `
time t from 0 to 1
param k = 1, b = 2, c = 3
state x = 1
x' = -k*b*x + c
objective J = final(x)
objective K = integral(x)
`
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]int{"adjoint": 2, "tangent": 4, "forward": 4} {
		for _, order := range []string{"1", "2"} {
			if order == "2" && mode == "forward" {
				continue
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Lanes:    1e9,
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}, {Key: "sens.order", Value: order}},
			})
			if err != nil {
				t.Fatal(mode, err)
			}
			if s.Settings.Lanes != want {
				t.Errorf("%s: %d lanes, want %d", mode, s.Settings.Lanes, want)
			}
		}
	}
}
