package methods

import (
	"math/big"
	"testing"

	"odes.dev/odes/solvers/tableau"
)

// decimals names the tables with decimals, with the largest defect of
// an order condition that their last figures leave, of the step and of the
// continuous extension. All others hold exactly.
var decimals = map[string]struct{ step, dense float64 }{
	"tsit5":  {step: 2e-38, dense: 2.5e-17},
	"vern7":  {dense: 2e-37},
	"vern8":  {dense: 1e-33},
	"vern9":  {step: 2e-39, dense: 3e-36},
	"rkc2":   {step: 1e-53, dense: 1e-53},
	"dop853": {step: 5e-28, dense: 1e-27},
	"rkf78":  {dense: 1e-39},
	"dopri8": {dense: 1e-39},
}

// exact returns the coefficients of a table. Those of tables with decimals are
// rounded to a power of two far below their defects: that keeps integers short.
func exact(t *testing.T, tab *tableau.Tableau) *tableau.Coefficients {
	t.Helper()
	x, err := tab.Coefficients()
	if err != nil {
		t.Fatal(err)
	}
	if d := decimals[tab.Name]; d.step == 0 && d.dense == 0 {
		return x
	}
	scale := new(big.Int).Lsh(big.NewInt(1), 180)
	shorten := func(row []*big.Rat) {
		for _, v := range row {
			n := new(big.Int).Mul(v.Num(), scale)
			v.SetFrac(n.Quo(n, v.Denom()), scale)
		}
	}
	for _, row := range x.DenseA {
		shorten(row)
	}
	if decimals[tab.Name].step > 0 {
		for _, row := range x.A {
			shorten(row)
		}
		for _, row := range [][]*big.Rat{x.B, x.E, x.E3} {
			shorten(row)
		}
	}
	return x
}

var one = big.NewRat(1, 1)

// orderOf returns the number of orders whose conditions all hold within tol.
func orderOf(worst []float64, tol float64) int {
	for p := 1; p < len(worst); p++ {
		if worst[p] > tol {
			return p - 1
		}
	}
	return len(worst) - 1
}

func hat(x *tableau.Coefficients, e []*big.Rat) []*big.Rat {
	b := make([]*big.Rat, len(x.B))
	for i := range b {
		b[i] = new(big.Rat).Sub(x.B[i], e[i])
	}
	return b
}

func TestOrders(t *testing.T) {
	eachTable(t, func(t *testing.T, tab *tableau.Tableau) {
		x := exact(t, tab)
		tol := decimals[tab.Name].step
		c := newConditions(x.A, trees(max(tab.Order, tab.Embedded)+1))
		w := c.worst(x.B, one)
		if got := orderOf(w, tol); got != tab.Order {
			t.Errorf("order %d, claimed %d; defects %.3g", got, tab.Order, w)
		}
		if x.E != nil && x.E3 == nil {
			w := c.worst(hat(x, x.E), one)
			if got := orderOf(w, tol); got != tab.Embedded {
				t.Errorf("embedded order %d, claimed %d; defects %.3g", got, tab.Embedded, w)
			}
		}
		if x.E3 != nil {
			if got := orderOf(c.worst(hat(x, x.E), one), tol); got != 5 {
				t.Errorf("first estimate of order %d, not 5; defects %.3g", got, c.worst(hat(x, x.E), one))
			}
			if got := orderOf(c.worst(hat(x, x.E3), one), tol); got != 3 {
				t.Errorf("second estimate of order %d, not 3", got)
			}
		}
	})
}

// TestDenseOrders proves the order of the continuous extensions: for θ at more
// points than their degree, so that the conditions hold as polynomials, and
// that they meet the step at both ends.
func TestDenseOrders(t *testing.T) {
	eachTable(t, func(t *testing.T, tab *tableau.Tableau) {
		x := exact(t, tab)
		tol := decimals[tab.Name].dense
		a := append(append([][]*big.Rat(nil), x.A...), x.DenseA...)
		c := newConditions(a, trees(x.DenseOrder+1))
		degree := 0
		for _, p := range x.DenseB {
			degree = max(degree, len(p))
		}
		order := 99
		for k := range degree + 2 {
			theta := big.NewRat(int64(k), int64(degree+1))
			b := at(x, theta)
			w := c.worst(b, theta)
			got := orderOf(w, tol)
			if got < x.DenseOrder {
				t.Errorf("order %d at θ = %v, claimed %d; defects %.3g", got, theta, x.DenseOrder, w)
			}
			order = min(order, got)
			if k == degree+1 {
				for i, v := range b {
					want := new(big.Rat)
					if i < len(x.B) {
						want = x.B[i]
					}
					d, _ := new(big.Rat).Sub(v, want).Float64()
					if max(d, -d) > tol {
						t.Errorf("β_%d(1) = b_%d + %g", i+1, i+1, d)
					}
				}
			}
		}
		if order != x.DenseOrder {
			t.Errorf("order %d everywhere, claimed %d", order, x.DenseOrder)
		}
	})
}

// TestDenseSmooth proves that the dense output of every method is differentiable
// from step to step: β'(0) has the slope at the start alone and β'(1) that at the end, both
// with weight one, the values at the ends being those of the step. And it is as accurate as the method: an order
// less than the method's leaves an error of the order of the solution's.
func TestDenseSmooth(t *testing.T) {
	eachTable(t, func(t *testing.T, tab *tableau.Tableau) {
		x := exact(t, tab)
		if x.DenseOrder < tab.Order-1 {
			t.Errorf("dense output of order %d for a method of order %d", x.DenseOrder, tab.Order)
		}
		if tab.Order == 1 {
			return // a straight line
		}
		tol := decimals[tab.Name].dense
		claimed, err := tab.Coefficients() // to the last figure, as the solvers look for it
		if err != nil {
			t.Fatal(err)
		}
		end := claimed.End()
		if end < 0 {
			t.Fatal("no stage has the slope at the end")
		}
		for i, p := range x.DenseB {
			left, right := new(big.Rat), new(big.Rat)
			for k, c := range p {
				if k == 0 {
					left.Set(c)
				}
				right.Add(right, new(big.Rat).Mul(c, big.NewRat(int64(k+1), 1)))
			}
			for _, s := range []struct {
				at    int
				slope *big.Rat
				stage int
			}{{0, left, 0}, {1, right, end}} {
				if i == s.stage {
					s.slope.Sub(s.slope, one)
				}
				if d, _ := s.slope.Float64(); max(d, -d) > float64(len(p))*tol {
					t.Errorf("β'_%d(%d) is off by %g", i+1, s.at, d)
				}
			}
		}
	})
}

// at returns the weights β(θ).
func at(x *tableau.Coefficients, theta *big.Rat) []*big.Rat {
	b := make([]*big.Rat, len(x.DenseB))
	for i, p := range x.DenseB {
		v := new(big.Rat)
		for k := len(p) - 1; k >= 0; k-- {
			v.Add(v, p[k])
			v.Mul(v, theta)
		}
		b[i] = v
	}
	return b
}

// TestMutation changes every coefficient that is not zero by a little and
// requires that the conditions of the claimed order notice.
func TestMutation(t *testing.T) {
	eachTable(t, func(t *testing.T, tab *tableau.Tableau) {
		x := exact(t, tab)
		nudge := big.NewRat(1, 1000003)
		all := trees(min(tab.Order, 4)) // enough to see a change, and fast
		tol := decimals[tab.Name].step
		check := func(what string, i, j int) {
			if got := orderOf(newConditions(x.A, all).worst(x.B, one), tol); got == min(tab.Order, 4) {
				t.Errorf("a change of %s[%d][%d] passes", what, i, j)
			}
		}
		for i, v := range x.B {
			v.Add(v, nudge)
			check("b", 0, i)
			v.Sub(v, nudge)
		}
		if tab.Order == 1 {
			return // A does not matter
		}
		for i, row := range x.A {
			if x.B[i].Sign() == 0 {
				continue
			}
			for j, v := range row {
				v.Add(v, nudge)
				check("a", i, j)
				v.Sub(v, nudge)
			}
		}
	})
}
