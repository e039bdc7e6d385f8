package fit_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestBelowTheLimit: of a value below its limit of quantification a prediction tells the limit, wherever the value is.
func TestBelowTheLimit(t *testing.T) {
	m, err := odes.Parse("test.ode", `
time t from 0 to 3
param k = 1
state x = 1
x' = -k*x
data D {
  time  = [1, 2, 3]
  c     = [0.4, 0.1, 0.06]
  limit = [0.1, 0.1, 0.08]
}
observe y = x ~ normal(0.1, below = D.limit) from D.c
experiment e { use D }
objective J = nll()
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := fit.Predict(t.Context(), m, odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		data  float64
		below bool
	}{{0.4, false}, {0.1, true}, {0.08, true}} {
		if list[i].Data != want.data || list[i].Below != want.below {
			t.Errorf("row %d: %+v, want %+v", i, list[i], want)
		}
	}
}
