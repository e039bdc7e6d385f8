package system

import (
	"fmt"
	"testing"

	"odes.dev/odes/solvers"
)

// TestKinksOfControls looks at a linear control at its knots, where its pieces have kinks. What is looked at beside a
// knot does not grow with the control, whose values and times are params.
func TestKinksOfControls(t *testing.T) {
	work := func(n int) (work int) {
		p := problemOf(t, fmt.Sprintf(`time t from 0 to 10
param k = 2
control u = 0 piecewise linear on grid(0, 5*k, %d)
state x = 1
x' = u - x
objective J = final(x)
`, n))
		k := p.Kinks()
		k.Begin(1e-6, false)
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
