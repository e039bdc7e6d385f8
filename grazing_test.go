package odes_test

import (
	"testing"

	"odes.dev/odes"
)

// TestGrazingScales holds that neither units nor states that a condition does not read make an event graze it, and that
// what does graze its condition does so in any units.
func TestGrazingScales(t *testing.T) {
	const ball = "\nstate v = 0\ny' = v\nv' = -9.81\nevent bounce when y < 0 { v = -0.8*v }\nobjective J = final(y)\n"
	for text, want := range map[string]bool{
		"time t from 0 to 9\nparam a = 1\nstate x = 0, q = 0\nx' = a\nq' = 1e9\n" +
			"event e when x > 5 { x = 0 }\nobjective J = final(x)\n": false,
		"time t from 0 to 0.0039\nstate y = 1e-6" + ball: false,
		"time t from 0 to 3.9\nstate y = 1" + ball:       false,
		"time t from 0 to 2\nparam top = 1\nstate x = 0, y = 1\nx' = y\ny' = -x\n" +
			"event e when x >= top - 1e-7 { y += 1 }\nobjective J = final(x)\n" +
			"solver { rtol = 1e-10  atol = 1e-12  hmax = 1e-3 }\n": true,
		"time t from 0 to 2\nparam top = 1e9\nstate x = 0, y = 1e9, q = 0\nx' = y\ny' = -x\nq' = 1e-9\n" +
			"event e when x >= top - 1e2 { y += 1 }\nobjective J = final(x)\n" +
			"solver { rtol = 1e-10  atol = 1e-3  hmax = 1e-3 }\n": true,
	} {
		m, err := odes.Parse("graze.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), odes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Events) == 0 || warned(s, odes.CodeGrazing) != want {
			t.Errorf("%s: %d events, warnings %v, want grazing %v", text, len(s.Events), s.Warnings, want)
		}
	}
}
