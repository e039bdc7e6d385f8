package tapec_test

import (
	"slices"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tapec"
	"odes.dev/odes/typecheck"
)

// TestEven tells states that move evenly from others.
func TestEven(t *testing.T) {
	var list diag.List
	m := typecheck.Check(parser.Parse(source.NewFile("test.ode", `time t from 0 to 10
param k = 2
state a = 0, b = 0, c = 0, d = 0, e[3] = 1, f = 0
discrete u = 1
a' = 1
b' = k*u + (if t > 3 then 1 else 0)
c' = t
d' = a
e' = k
f' = if d > 1 then 1 else 2
event x at 2 { u = 3 }
objective J = final(a)
`), &list), typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	states, makes := tapec.Even(tapec.Compile(m, &list).Rates)
	var names []string
	for _, n := range states {
		names = append(names, n.Of)
	}
	if want := []string{"a", "b", "e", "f"}; !slices.Equal(names, want) {
		t.Errorf("even are %v, want %v", names, want)
	}
	for _, in := range makes.Inputs {
		if n := tapec.MustName(in.Name); n.Role == tapec.State || n == tapec.Time.Name() {
			t.Errorf("rates read %s", in.Name)
		}
	}
}
