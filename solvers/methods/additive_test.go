package methods

import (
	"math"
	"math/big"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/implicit"
	"odes.dev/odes/solvers/tableau"
)

// colouredTree is a rooted tree whose vertices belong to parts of the rates.
type colouredTree struct {
	order    int
	colour   solvers.RatesPart
	density  float64
	children []int
}

// colouredTrees returns all rooted trees with vertices of two colours up to the given order.
func colouredTrees(order int) (all []colouredTree) {
	for n := 1; n <= order; n++ {
		known := len(all)
		var grow func(rest, least int, children []int)
		grow = func(rest, least int, children []int) {
			if rest == 0 {
				density := float64(n)
				for _, c := range children {
					density *= all[c].density
				}
				for _, colour := range []solvers.RatesPart{solvers.ImplicitRates, solvers.ExplicitRates} {
					all = append(all, colouredTree{n, colour, density, append([]int(nil), children...)})
				}
				return
			}
			for c := least; c < known && all[c].order <= rest; c++ {
				grow(rest-all[c].order, c, append(children, c))
			}
		}
		grow(n-1, 0, nil)
	}
	return all
}

// TestAdditiveOrders proves the orders of the solutions, estimates and dense outputs by the conditions of trees of two
// colours: A. L. Araújo, A. Murua, J. M. Sanz-Serna, SIAM Journal on Numerical Analysis 34 (1997) 1926–1947. Figures
// of the tables have 24 digits and more, the weights here 16.
func TestAdditiveOrders(t *testing.T) {
	all := colouredTrees(6)
	if len(all) != 2+4+14+52+214+916 { // sequence A000151
		t.Fatalf("%d trees", len(all))
	}
	for _, m := range implicit.Additive.Methods {
		x := implicitOf(t, m)
		parts := m.New(solvers.Size{}, 0).(interface{ Parts() []solvers.RatesPart }).Parts()
		rows := len(x.A)
		phi := make([][]float64, len(all)) // of each tree, by rows: what hangs below a vertex there
		for k, tr := range all {
			phi[k] = make([]float64, rows)
			for i, row := range x.A {
				for j, v := range row {
					if parts[j] != tr.colour {
						continue
					}
					u := tableau.Round(v)
					for _, c := range tr.children {
						u *= phi[c][j]
					}
					phi[k][i] += u
				}
			}
		}
		// order returns the order of the weights b at θ.
		order := func(b []*big.Rat, theta float64) int {
			least := len(all)
			for k := len(all) - 1; k >= 0; k-- {
				tr, sum := &all[k], 0.0
				for j, v := range b {
					if parts[j] != tr.colour {
						continue
					}
					u := tableau.Round(v)
					for _, c := range tr.children {
						u *= phi[c][j]
					}
					sum += u
				}
				if math.Abs(sum-math.Pow(theta, float64(tr.order))/tr.density) > 1e-13 {
					least = k
				}
			}
			if least == len(all) {
				return 7
			}
			return all[least].order - 1
		}
		if got := order(x.B, 1); got != m.Order {
			t.Errorf("%s: order %d, claimed %d", m.Name, got, m.Order)
		}
		hat := make([]*big.Rat, rows)
		for i := range hat {
			hat[i] = new(big.Rat).Sub(x.B[i], x.E[i])
		}
		if got := order(hat, 1); got != m.Embedded {
			t.Errorf("%s: embedded order %d, claimed %d", m.Name, got, m.Embedded)
		}
		lowest := 7
		for k := range 9 {
			theta := big.NewRat(int64(k), 8)
			at, _ := theta.Float64()
			lowest = min(lowest, order(atTheta(x.Beta, theta), at))
		}
		if want := m.Info().DenseOrder; lowest != want {
			t.Errorf("%s: dense output of order %d, claimed %d", m.Name, lowest, want)
		}
	}
}

func atTheta(beta [][]*big.Rat, theta *big.Rat) []*big.Rat {
	return at(&tableau.Coefficients{DenseB: beta}, theta)
}
