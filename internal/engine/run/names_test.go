package run_test

import (
	"testing"

	"odes.dev/odes"
)

// TestNamesWithBlanks: objectives are found by their names, of which blanks may be a part, and elements whatever the
// blanks between their indices.
func TestNamesWithBlanks(t *testing.T) {
	m, err := odes.Parse("test.ode", `
time t from 0 to 1
state x[2,2] = [[1, 2], [3, 4]]
x[i,j]' = 0 for i in 1:2, j in 1:2
objective `+"`end value`"+` = final(x[1,1])
objective `+"`a, b`"+`[i] = final(x[i,2]) for i in 1:2
objective all_of[i,j] = final(x[i,j]) for i in 1:2, j in 1:2
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of   string
		want []float64
	}{
		{"end value", []float64{1}},
		{"a, b", []float64{2, 4}},
		{"a, b[2]", []float64{4}},
		{"all_of[2, 1]", []float64{3}},
		{" all_of[2,1]", []float64{3}},
	} {
		s, err := m.Sensitivities(t.Context(), odes.Options{Of: []string{c.of}})
		if err != nil {
			t.Errorf("%q: %v", c.of, err)
			continue
		}
		if len(s.Values) != len(c.want) {
			t.Errorf("%q: %d values, want %d", c.of, len(s.Values), len(c.want))
			continue
		}
		for i, v := range s.Values {
			if v.Value != c.want[i] {
				t.Errorf("%q: %s is %g, want %g", c.of, v.Name, v.Value, c.want[i])
			}
		}
	}
}
