package analysis

import (
	"testing"

	"odes.dev/odes"
)

// TestDrawnName: columns of a file of draws are params, or follow from runs of them.
func TestDrawnName(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 1
param k = 1, w[2] = 1
state x = 1
x' = -k*x*w[1]*w[2]
objective left = final(x)
objective both[i] = final(x)*w[i] for i in 1:2
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := m.Symbols(nil)
	if err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]string{
		"k": "k", "w.2": "w[2]", "left": "", "both.1": "", "lp__": "",
	} {
		name, is := drawnName(m, column, symbols)
		if is != (want != "") || is && name != want {
			t.Errorf("%s: %s, %v", column, name, is)
		}
	}
}
