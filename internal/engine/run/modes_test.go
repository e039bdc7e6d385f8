package run

import (
	"testing"

	"odes.dev/odes/sens"
)

// TestModeMethods checks that every mode has a constructor, and every constructor a mode.
func TestModeMethods(t *testing.T) {
	m, err := Parse("m.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n",
		ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(modeMethods) != len(sens.Modes()) {
		t.Errorf("%d constructors for %d modes", len(modeMethods), len(sens.Modes()))
	}
	for _, mode := range sens.Modes() {
		r, err := m.Prepare(Options{Settings: []Setting{{"sens.mode", mode.Name}}})
		if err != nil {
			t.Fatal(err)
		}
		method, err := r.differentiator(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if method.Name() != mode.Name {
			t.Errorf("mode %s is made by %s", mode.Name, method.Name())
		}
	}
}
