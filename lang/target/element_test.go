package target

import "testing"

// TestElement: elements of copies of components, and how they are read back.
func TestElement(t *testing.T) {
	copies := map[string]int{"c": 1, "c.m": 2, "b.x": 1}
	for _, x := range []struct {
		name    string
		shape   []int
		k       int
		written string
		element string
		flat    string
	}{
		{"k", nil, 0, "", "k", "k"},
		{"A", []int{2, 3}, 4, "", "A[2,2]", "A[2,2]"},
		{"c.V", []int{4}, 2, "c[].V", "c[3].V", "c.V[3]"},
		{"c.x", []int{4, 2}, 5, "c[].x", "c[3].x[2]", "c.x[3,2]"},
		{"c.m.x", []int{4, 2, 3}, 11, "c[].m[,].x", "c[2].m[2,3].x", "c.m.x[2,2,3]"},
		{"d.V", []int{4}, 2, "", "d.V[3]", "d.V[3]"},
		{"b.x.y", []int{4}, 0, "b.x[].y", "b.x[1].y", "b.x.y[1]"},
		{"c", []int{2}, 0, "", "c[1]", "c[1]"},
	} {
		written := Written(x.name, copies)
		if written != x.written {
			t.Errorf("%s: written %q, want %q", x.name, written, x.written)
		}
		if written == "" {
			written = x.name
		}
		element := Element(written, x.shape, x.k)
		if element != x.element {
			t.Errorf("%s: %q, want %q", x.name, element, x.element)
		}
		if r, ok := Parse(element); !ok || r.String() != x.flat || Array(element) != x.name {
			t.Errorf("%q is read as %q of %q, want %q", element, r, Array(element), x.flat)
		}
	}
	if got := Subscripted("c[2].x", []string{"1"}); got != "c[2].x[1]" {
		t.Error(got) // what is written out is no form
	}
}
