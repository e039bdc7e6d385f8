package fit_test

import (
	"slices"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestReadEstimates: estimates are read by their names, without those that are no numbers; what is no result is
// refused.
func TestReadEstimates(t *testing.T) {
	got, err := fit.ReadEstimates([]byte(`{"estimates": [{"name": "k", "index": null, "value": 0.5, "unit": "1/h"},
		{"name": "A", "index": [1, 2], "value": "nan"}, {"name": "initial(x)", "index": [3], "value": 2}]}`))
	if err != nil || len(got) != 2 || got[0].Name != "k" || got[0].Unit != "1/h" || got[0].Values[0] != 0.5 ||
		got[1].Name != "initial(x)[3]" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "{}", `{"estimates": 3}`, `{"estimates": [{"name": "k", "value": "nan"}]}`} {
		if got, err := fit.ReadEstimates([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestOnward: each piece of a control begins with the value of a later one, the last ones with that of the last; other
// params stay. Where the horizon moves with them, the search begins at the optimum.
func TestOnward(t *testing.T) {
	m := parse(t, `
time t from 0 to 3
param k = 1
control u[2] = [[1, 2, 3], [4, 5, 6]] in [-9, 9] piecewise constant on grid(0, 3, 4)
control w = [1, 2, 3, 4] piecewise linear on grid(0, 3, 4)
state x = 1
x' = -k*x + u[1] + u[2] + w
objective J = final(x)
`)
	set := []odes.Assignment{{Name: "u[1,3]", Values: []float64{7}}, {Name: "k", Values: []float64{2}}}
	for pieces, want := range map[int][2][]float64{
		0: {{1, 2, 7, 4, 5, 6}, {1, 2, 3, 4}}, 1: {{2, 7, 7, 5, 6, 6}, {2, 3, 4, 4}},
		9: {{7, 7, 7, 6, 6, 6}, {4, 4, 4, 4}},
	} {
		moved, err := fit.Onward(m, set, pieces)
		if err != nil {
			t.Fatal(err)
		}
		symbols, err := m.Symbols(moved)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range symbols {
			switch {
			case s.Name == "k" && s.Kind == "param" && s.Values[0] != 2,
				s.Name == "u" && s.Control && !slices.Equal(s.Values, want[0]),
				s.Name == "w" && s.Control && !slices.Equal(s.Values, want[1]):
				t.Errorf("%d pieces: %s = %v", pieces, s.Name, s.Values)
			}
		}
	}
}
