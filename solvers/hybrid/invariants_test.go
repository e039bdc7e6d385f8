package hybrid_test

import (
	"context"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestInvariants checks three invariants. One that holds is silent, one that is lost on the way is a
// warning that says where and by how much, and one that does not hold at the start is an error.
func TestInvariants(t *testing.T) {
	const model = `
time t from 0 to 10
param w = 2, e = 0
state x = 1, v[2] = [0, 1]
x' = w*v[1]
v[1]' = -w*x
v[2]' = 0
discrete n = 1
event kick at 3 { x += e  n = 2 }
event both at 6 { v[2] = n }
invariant x^2 + v[1]^2 == 1
invariant v[2] == if t > 5.9 then n else 1
objective J = final(x)
`
	m, err := odes.Parse("oscillator.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(o odes.Options) ([]diag.Diagnostic, error) {
		s, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			return nil, err
		}
		return s.Warnings, nil
	}
	set := func(name string, x float64) odes.Options {
		return odes.Options{Set: []odes.Assignment{{Name: name, Values: []float64{x}}}}
	}

	// The second is off between 5.9 and the event at 6.
	if ds, err := run(odes.Options{}); err != nil || len(ds) != 1 ||
		!strings.HasPrefix(ds[0].Span.Text(), "invariant v[2]") {
		t.Errorf("%v, %v", ds, err)
	}
	ds, err := run(set("e", 0.25))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, d := range ds {
		if d.Code == odes.CodeInvariant && strings.Contains(d.Message, "lost at t = 3;") {
			found = d.Level == diag.Warning && strings.HasPrefix(d.Span.Text(), "invariant x^2")
		}
	}
	if !found {
		t.Errorf("a kick is not noticed: %v", ds)
	}
	_, err = run(set("initial(x)", 2))
	if err == nil || !strings.Contains(err.Error(), "does not hold at the start, t = 0: its sides differ by 3") {
		t.Errorf("error %v", err)
	}
	if _, err := m.Solve(context.Background(), set("initial(x)", 2)); err == nil {
		t.Error("solve does not check invariants")
	}
}
