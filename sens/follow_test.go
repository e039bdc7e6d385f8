package sens_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestFollowers differentiates through defaults that use other params, with some elements set from outside.
func TestFollowers(t *testing.T) {
	const model = `
time t from 0 to 1
param a = 0.5
param q[3] = [2*a, 3*a, 1]
param s[2,2] = 4*a
param r = sum(q)
state x = 0
x' = q[1] + 10*q[2] + 100*s[1,2] + 1000*s[2,1] + 1e4*r
objective J = final(x)
`
	m, err := odes.Parse("follow.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set := func(list ...any) (out []odes.Assignment) {
		for i := 0; i < len(list); i += 2 {
			out = append(out, odes.Assignment{Name: list[i].(string), Values: []float64{list[i+1].(float64)}})
		}
		return out
	}
	for _, c := range []struct {
		set  []odes.Assignment
		want float64
	}{
		{nil, 2 + 30 + 400 + 4000 + 5e4},
		{set("q[2]", 0.7), 2 + 400 + 4000 + 2e4},
		{set("q[1]", 0.7, "q[2]", 0.3, "q[3]", 0.1), 400 + 4000},
		{set("q", 0.7), 400 + 4000},
		{set("s[1,2]", 0.7), 2 + 30 + 4000 + 5e4},
		{set("r", 1.0, "s[1,2]", 0.7), 2 + 30 + 4000},
		{set("q[2]", 0.7, "a", 0.6), 2 + 400 + 4000 + 2e4},
	} {
		for _, mode := range []string{"adjoint", "tangent", "complex", "differences"} {
			s, err := m.Sensitivities(context.Background(), odes.Options{
				Set:      c.set,
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Gradient[0]; math.Abs(got-c.want) > 1e-7*c.want {
				t.Errorf("%v, %s: dJ/da = %v, want %v", c.set, mode, got, c.want)
			}
		}
		v, err := m.Verify(context.Background(), odes.Options{Set: c.set}, odes.VerifyOptions{})
		if err != nil || v.Wrong() {
			t.Errorf("%v: %+v, %v", c.set, v, err)
		}
	}
	r, err := m.Prepare(odes.Options{Set: set("q[2]", 0.7)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(set("q[2]", 0.8)...); err != nil {
		t.Error(err)
	}
	if err := r.Set(set("q[1]", 0.8)...); err == nil {
		t.Error("a link was cut after Prepare")
	}
}
