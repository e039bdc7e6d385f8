package tapec

import (
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/tape"
)

// What cannot be compiled is reported with a place, and there is no result.
func TestCompileErrors(t *testing.T) {
	for _, c := range []struct {
		name, text, at string
		code           diag.Code
	}{
		{
			"deep", `
time t from 0 to 1
state c[2,2,2] = 1
c' = c
objective J[i,j,k] = final([[1, 2], [3, 4]]*c[i,j,k]) for i in 1:2, j in 1:2, k in 1:2
`, "final([[1, 2], [3, 4]]*c[i,j,k])", CodeDeep,
		},
		{
			"element of two indices", `
time t from 0 to 1
state x = 1
x' = -x
event e at k/10 for k in 1:4 { x = k }
objective J[i,j] = at_event(e[i + j], pre(x)*k) for i in 1:2, j in 1:2
`, "i + j", CodeUnavailable,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := check(t, "model.ode", c.text)
			var l diag.List
			if Compile(m, &l) != nil {
				t.Fatal("compiled")
			}
			all := l.All()
			if len(all) != 1 || all[0].Code != c.code || all[0].Span.Text() != c.at {
				t.Errorf("got %v %q, want %s at %q", l.Err(), all[0].Span.Text(), c.code, c.at)
			}
		})
	}
}

// A node where the checker would not have it is an error, not a crash.
func TestMisplaced(t *testing.T) {
	x := symbol("x", model.StateSymbol)
	table := &model.Table{Name: "D", Columns: []string{"y"}, Data: [][]float64{{1}}}
	for name, e := range map[string]model.Expr{
		"row":        &model.Row{Base: base(types.Real), Table: table},
		"functional": &model.Functional{Base: base(types.Real), Kind: model.Final, Body: ref(x)},
		"index":      access(&model.Const{Base: base(types.Real, 3), Data: []float64{1, 2, 3}}, whole(4)),
	} {
		m := &model.Model{
			Timespan: model.Timespan{Time: symbol("t", model.TimeSymbol), From: num(0), To: num(1)},
			States:   []*model.Symbol{x}, Rates: []model.Expr{e},
		}
		var l diag.List
		if Compile(m, &l) != nil || !l.HasErrors() {
			t.Errorf("%s: no error", name)
		}
	}
}

// Every tape that lowering makes has derivatives.
func TestLoweredTapesDifferentiate(t *testing.T) {
	for _, name := range []string{"array_events", "sites", "modes", "tiles", "deep", "heat2d", "pk"} {
		c := Compile(golden(t, name), &diag.List{})
		n := 0
		for _, x := range c.Tapes() {
			var wrt, of []string
			for _, in := range x.Inputs {
				if in.Name != "fired" && in.Name != "row" && !strings.HasPrefix(in.Name, "m.") {
					wrt = append(wrt, in.Name)
				}
			}
			for _, o := range x.Outputs {
				of = append(of, o.Name)
			}
			if len(wrt) == 0 || len(of) == 0 {
				continue
			}
			for _, derive := range []func(*tape.Tape, []string, []string) (*tape.Tape, error){VJP, JVP} {
				d, err := derive(x, of, wrt)
				if err != nil {
					t.Fatalf("%s %s: %v", name, x.Name, err)
				}
				if err := tape.Check(d); err != nil {
					t.Fatalf("%s %s: %v", name, x.Name, err)
				}
				n++
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing to differentiate", name)
		}
	}
}
