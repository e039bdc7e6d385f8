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
	if n < 35 {
		t.Errorf("only %d functions have derivatives", n)
	}
}
