package compile_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestSetWithUnit sets values in other units of the same dimension, and refuses those of another one.
func TestSetWithUnit(t *testing.T) {
	const model = `
time t : [h] from 0 to 1 [h]
param lag = 0.5 [h], free = 2, list[2] = [1, 2] [m]
state x : [m] = 1
x' = -x/lag
objective J = final(x)
`
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		values []float64
		unit   string
		want   float64
		err    string
	}{
		{"lag", []float64{30}, "min", 0.5, ""},
		{"lag", []float64{2}, "", 2, ""},
		{"list", []float64{3, 4}, "km", 3000, ""},
		{"list[1]", []float64{3}, "mm", 0.003, ""},
		{"initial(x)", []float64{3}, "km", 3000, ""},
		{"free", []float64{3}, "m", 0, "free has no unit, and cannot be set in [m]"},
		{"lag", []float64{3}, "m", 0, "lag is in [h], and cannot be set in [m]"},
		{"initial(x)", []float64{3}, "s", 0, "initial(x) is in [m], and cannot be set in [s]"},
		{"lag", []float64{3}, "fortnight", 0, `"fortnight" is not a unit`},
		{"lag", []float64{3}, "]", 0, `lag in []]`},
		{"nobody", []float64{3}, "m", 0, "nobody"},
	} {
		set := odes.Assignment{Name: c.name, Values: c.values, Unit: c.unit}
		got, err := m.Convert(set)
		if err == nil && c.err == "" && (got.Values[0] != c.want || got.Unit != "") {
			t.Errorf("%v: %v, want %g", set, got, c.want)
		}
		_, err = m.Solve(t.Context(), odes.Options{Set: []odes.Assignment{set}})
		switch {
		case c.err == "" && err != nil:
			t.Errorf("%v: %v", set, err)
		case c.err != "" && (len(diag.Of(err)) == 0 || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%v: %v, want %q", set, err, c.err)
		}
	}
}
