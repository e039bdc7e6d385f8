package onesided

import (
	"fmt"
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// TestKinksOfControls looks at a linear control at its knots, where its pieces have kinks. What is looked at beside a
// knot does not grow with the control, whose values and times are params.
func TestKinksOfControls(t *testing.T) {
	work := func(n int) (work int) {
		var l diag.List
		text := fmt.Sprintf(`time t from 0 to 10
param k = 2
control u = 0 piecewise linear on grid(0, 5*k, %d)
state x = 1
x' = u - x
objective J = final(x)
`, n)
		checked := typecheck.Check(parser.Parse(source.NewFile("m.ode", text), &l), typecheck.Env{}, &l)
		if l.HasErrors() {
			t.Fatal(l.Err())
		}
		m := compiled.New(checked, &l)
		p := compiled.NewTask(m, m.NewPoint(nil, &l), nil, nil)
		p.Differentiate([]string{"k"})
		k := NewKinks(&p)
		k.Begin(1e-6, false, 10)
		sides := func() (n int) {
			for _, way := range k.tapes[p.Model.Compiled.Rates].sides {
				for _, side := range way {
					n += side.Work()
				}
			}
			return n
		}
		began := 0
		for i := range 4 {
			m := solvers.Mark{
				Kind: solvers.MarkRemode, Guard: -1,
				T: float64(i) * 10 / float64(n-1), Yp: []float64{1}, Ym: []float64{1},
			}
			if i == 0 {
				m.Kind = solvers.MarkStart
			}
			if k.AtMark(&m, 10); i == 1 {
				began = sides()
			}
		}
		return sides() - began
	}
	few, many := work(101), work(1001)
	if few == 0 || many > few {
		t.Errorf("%d elements beside the knots of 101, %d beside those of 1001", few, many)
	}
}
