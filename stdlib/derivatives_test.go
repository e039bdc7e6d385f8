package stdlib

import "testing"

func TestDerivativesFitArguments(t *testing.T) {
	n := 0
	for _, f := range append(append([]*Func{}, Operators...), Funcs()...) {
		d := f.Derivatives()
		if d == nil {
			continue
		}
		n++
		if len(d) != len(f.Args) {
			t.Errorf("%s has %d derivatives for %d parameters", f.Name, len(d), len(f.Args))
		}
	}
	if n < len(derivatives) {
		t.Errorf("%d rows for %d entries: an entry is of no function", n, len(derivatives))
	}
}
