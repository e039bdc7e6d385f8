package run_test

import (
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestKeptOtherReaders checks what reads a run besides gradients: adjoint states, and what verifies gradients.
//
//odes:goroutines
func TestKeptOtherReaders(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/pk/pk.ode"))
	if err != nil {
		t.Fatal(err)
	}
	var want *odes.Costates
	for _, way := range []string{"all", "binomial(5)", "states(4)"} {
		o := odes.Options{Settings: modeltest.Settings("solver.checkpoint", way)}
		c, err := m.Costates(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = c
		}
		for i := range c.Of {
			for k := range c.Of[i] {
				for j, v := range c.Of[i][k].Values {
					if v != want.Of[i][k].Values[j] {
						t.Fatalf("%s: adjoint state %v, want %v", way, v, want.Of[i][k].Values[j])
					}
				}
			}
		}
		v, err := m.Verify(t.Context(), o, odes.VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range v.Objectives {
			if o.Outcome != "ok" && o.Outcome != "no value" {
				t.Errorf("%s: %+v", way, o)
			}
		}
	}
}
