package sens_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/diag"
)

// TestSecondDerivativesRefused has each question for memory refused in turn. Errors say what can be done, those of
// second derivatives as well.
func TestSecondDerivativesRefused(t *testing.T) {
	const text = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x^2\nobjective J = final(x)\n"
	errors := 0
	for n := 1; ; n++ {
		m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		restore := memory.Refusal.At(n)
		_, err = m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{{Key: "sens.order", Value: "2"}}})
		met := memory.Refusal.Met()
		restore()
		if !met {
			break
		}
		if err != nil {
			errors++
			if list := diag.Of(err); len(list) == 0 || list[0].Code != odes.CodeMemory {
				t.Errorf("question %d: no diagnostic: %v", n, err)
			}
		}
	}
	if errors < 10 {
		t.Errorf("%d errors", errors)
	}
}
