package run

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"odes.dev/odes/internal/engine/explain"
)

// TestGivenUp: whenever its context ends, a run of a large model is interrupted, and its Runner has the bits of another
// one afterwards.
func TestGivenUp(t *testing.T) {
	m, err := Parse("model.ode", `time t from 0 to 1
param a = 1e-13
state x = 1
x' = a*sum(sum(sin(i*j*a)*x^2 for i in 1:1000) for j in 1:1000)
objective J = final(x)
solver { method = rk4  fixed_step = 0.5 }
sens { trust = off }`, ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	prepared := func() *Runner {
		r, err := m.Prepare(Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	start := time.Now()
	s, err := prepared().Sensitivities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	took, want := time.Since(start), s.Gradient[0]
	r := prepared()
	given := 0
	for k := range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), took*time.Duration(k)/10)
		_, err := r.Sensitivities(ctx)
		if cancel(); err != nil {
			if given++; !explain.Interrupted(err) {
				t.Fatal(err)
			}
		}
		s, err := r.Sensitivities(t.Context())
		if err != nil || s.Gradient[0] != want {
			t.Fatalf("given up after %d tenths: %v then, want %v (%v)", k, s.Gradient, want, err)
		}
	}
	if given == 0 {
		t.Error("no run was given up")
	}
}

// TestPrepareGivenUp: what prepares runs ends with Setup.Done, and a Runner forgets it then.
func TestPrepareGivenUp(t *testing.T) {
	m, err := Parse("model.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)",
		ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept, err := m.Prepare(Options{Done: ctx.Done(), Settings: []Setting{{Key: "sens.order", Value: "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	implicit := []Setting{{Key: "solver.method", Value: "radau5"}}
	other, err := m.Prepare(Options{Done: ctx.Done(), Settings: implicit})
	if other != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("prepared for nobody: %v", err)
	}
	s, err := kept.Sensitivities(t.Context())
	if err != nil || math.Abs(s.Hessian[0]-math.Exp(-1)) > 1e-5 {
		t.Errorf("a Runner whose Done is over: %v", err)
	}
}
