package compile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

const symbols = `model M "a model"
time t : [s] from 0 to 1
## rate
param k = 2 [1/s] in [0, 5], b[2] : [m] = [1 [m], k * 1 [m*s]]
state x = 1, y[2] = 0
x' = -k*x
y[1]' = x; y[2]' += 2*x
solver fast { rtol = 1e-9 }
event when x < 0.5 { x = 1 }
`

func TestSymbols(t *testing.T) {
	m, err := odes.Parse("m.ode", symbols, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := m.Symbols([]odes.Assignment{{Name: "k", Values: []float64{3}}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprintf("%s %s [%s] %v %v", s.Kind, s.Name, s.Unit, s.Shape, s.Values))
		if s.Name == "k" && (s.Lo != 0 || s.Hi != 5 || s.Doc != "rate") || s.Name == "b" && !math.IsInf(s.Hi, 1) {
			t.Errorf("%s: bounds [%v, %v], doc %q", s.Name, s.Lo, s.Hi, s.Doc)
		}
	}
	if g := strings.Join(got[:3], "; "); g != "time t [s] [] []; param k [1/s] [] [3]; param b [m] [2] [1 3]" {
		t.Error(g)
	}
	if _, err := m.Symbols([]odes.Assignment{{Name: "nothing", Values: []float64{3}}}); err == nil {
		t.Error("an unknown name was set")
	}
}
