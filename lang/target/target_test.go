package target

import (
	"slices"
	"testing"
)

// TestParse: what the forms of a target stand for, and what of texts that have another form.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, name string
		initial    bool
		index      []int
		written    string // as String writes it
	}{
		{"k", "k", false, nil, "k"},
		{"A[1,2]", "A", false, []int{1, 2}, "A[1,2]"},
		{"initial(x)", "x", true, nil, "initial(x)"},
		{"initial(x)[2]", "x", true, []int{2}, "initial(x)[2]"},
		{"initial(x[2])", "x", true, []int{2}, "initial(x)[2]"},
		{"`a b`", "a b", false, nil, "a b"},
		{"`a b`[3]", "a b", false, []int{3}, "a b[3]"},
		{"initial(`a b`[3])", "a b", true, []int{3}, "initial(a b)[3]"},
		{"initial(x (g))[2]", "x (g)", true, []int{2}, "initial(x (g))[2]"},
	} {
		for _, text := range []string{c.text, c.written} {
			got, ok := Parse(text)
			index, numbers := got.Index()
			if !ok || !numbers || got.Name != c.name || got.Initial != c.initial || !slices.Equal(index, c.index) {
				t.Errorf("%s: %+v, %v", text, got, ok)
			}
			if got.Text != text || got.String() != c.written {
				t.Errorf("%s is written %s", text, got)
			}
		}
	}
	for _, c := range []struct {
		text, name string
		initial    bool
	}{
		{"", "", false},
		{"[1]", "", false},
		{"A[", "A", false},
		{"A[k]", "A", false},
		{"A[1][2]", "A", false},
		{"`[Ca]`", "[Ca]", false},
		{"initial(x", "x", true},
		{"initial(x)y", "x)y", true},
		{"initial(x[1])[2]", "x", true},
		{"initial(x[y])", "x", true},
	} {
		got, ok := Parse(c.text)
		_, numbers := got.Index()
		if ok && numbers || got.Name != c.name || got.Initial != c.initial {
			t.Errorf("%s: %+v, %v", c.text, got, ok)
		}
	}
}
