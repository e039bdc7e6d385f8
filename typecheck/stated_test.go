package typecheck

import (
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// TestStatedUnits: numbers with a unit are converted to the unit of their declaration, expressions are not.
func TestStatedUnits(t *testing.T) {
	const text = `time t : [h] from 0 to 1 [day]
const c : [m] = 30 [cm]
param lag : [h] = 30 [min] in [6 [min], 2 [day]], v[2] : [h] = [30, 60] [min], w[2] : [h] = [-(90 [min]), 15 [min]]
state x : [g] = 100 [mg]
x' = -x/lag*c/(1 [m])*v[1]/w[1]
experiment a { lag = 45 [min] }
`
	check := func(text string) (*model.Model, *diag.List) {
		var l diag.List
		return Check(parser.Parse(source.NewFile("m.ode", text), &l), Env{}, &l), &l
	}
	m, l := check(text)
	if l.HasErrors() {
		t.Fatal(l.Err())
	}
	values := func(e model.Expr) []float64 {
		k, ok := e.(*model.Const)
		if !ok {
			t.Fatalf("%v is no constant", e)
		}
		return k.Data
	}
	near := func(what string, got []float64, want ...float64) {
		for i := range want {
			if got[min(i, len(got)-1)] != want[i] {
				t.Errorf("%s = %v, want %v", what, got, want)
			}
		}
	}
	near("to", values(m.To), 24)
	near("lag", values(m.Params[0].Value), 0.5)
	near("v", values(m.Params[1].Value), 0.5, 1)
	near("w", values(m.Params[2].Value), -1.5, 0.25)
	near("x", values(m.States[0].Value), 0.1)
	near("bounds of lag", []float64{m.Params[0].Lo, m.Params[0].Hi}, 0.1, 48)
	var b strings.Builder
	if err := model.Dump(&b, m.Experiments[0].Model); err != nil || !strings.Contains(b.String(), "0.75") {
		t.Errorf("the experiment takes another lag: %v\n%s", err, b.String())
	}
	for _, wrong := range []string{
		"param lag : [h] = 30 [kg]",                             // another dimension
		"const c : [min] = 30\nparam lag : [h] = c",             // an expression
		"param lag : [h] = 20 [min] + 10 [min]",                 // another one
		"param lag : [h] = 1\nlet y : [h] = lag + 30 [min]",     // nor within one
		"param lag : [h] = 30 [min] in [0, 1]\nlet y = lag + 1", // a number is still no time
	} {
		if _, l := check("time t : [h] from 0 to 1\nstate x = 1\nx' = -x/(1 [h])\n" + wrong + "\n"); !l.HasErrors() {
			t.Errorf("no error in %q", wrong)
		}
	}
}
