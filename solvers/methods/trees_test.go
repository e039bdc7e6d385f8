package methods

import (
	"math/big"
	"testing"
)

// tree is a rooted tree: the trees that hang from its root, as indices into
// the list of all trees, ascending.
type tree struct {
	order    int
	density  *big.Int // γ(t) = |t| Π γ(children)
	children []int
}

// trees returns all rooted trees up to the given order, by order; Butcher's
// theory has one order condition Φ(t) = 1/γ(t) for each.
func trees(order int) []tree {
	all := []tree{{order: 1, density: big.NewInt(1)}}
	for n := 2; n <= order; n++ {
		known := len(all)
		var grow func(rest, least int, children []int)
		grow = func(rest, least int, children []int) {
			if rest == 0 {
				d := big.NewInt(int64(n))
				for _, c := range children {
					d.Mul(d, all[c].density)
				}
				all = append(all, tree{n, d, append([]int(nil), children...)})
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

func TestTreeCounts(t *testing.T) {
	// Hairer, Nørsett, Wanner I, table II.2.3.
	want := []int{1, 1, 2, 4, 9, 20, 48, 115, 286, 719}
	got := make([]int, 10)
	for _, tr := range trees(10) {
		got[tr.order-1]++
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("order %d: %d trees, want %d", i+1, got[i], want[i])
		}
	}
}

// conditions evaluates order conditions of a method. All arithmetic is exact:
// with D a common denominator of all coefficients, the elementary weights of a
// tree of order n are integers over D^(n-1), so nothing is ever reduced.
type conditions struct {
	trees []tree
	den   *big.Int
	pow   []*big.Int   // D^k
	u     [][]*big.Int // [tree][stage]: Π over children of (A u_child), times D^(order-1)
}

// integral returns x·den, which is an integer.
func integral(x *big.Rat, den *big.Int) *big.Int {
	v := new(big.Int).Mul(x.Num(), den)
	return v.Quo(v, x.Denom())
}

func lcm(den *big.Int, row []*big.Rat) {
	for _, x := range row {
		g := new(big.Int).GCD(nil, nil, den, x.Denom())
		den.Mul(den, new(big.Int).Quo(x.Denom(), g))
	}
}

// newConditions prepares the weights of the stages with rows a up to the order of the trees.
func newConditions(a [][]*big.Rat, all []tree) *conditions {
	c := &conditions{trees: all, den: big.NewInt(1)}
	for _, row := range a {
		lcm(c.den, row)
	}
	s := len(a)
	m := make([][]*big.Int, s)
	for i, row := range a {
		m[i] = make([]*big.Int, len(row))
		for j, x := range row {
			m[i][j] = integral(x, c.den)
		}
	}
	c.pow = []*big.Int{big.NewInt(1)}
	for range all[len(all)-1].order {
		c.pow = append(c.pow, new(big.Int).Mul(c.pow[len(c.pow)-1], c.den))
	}
	au := make([][]*big.Int, len(all))
	c.u = make([][]*big.Int, len(all))
	var p big.Int
	for k, tr := range all {
		u := make([]*big.Int, s)
		for i := range u {
			u[i] = big.NewInt(1)
			for _, child := range tr.children {
				u[i].Mul(u[i], au[child][i])
			}
		}
		c.u[k] = u
		v := make([]*big.Int, s)
		for i := range v {
			v[i] = new(big.Int)
			for j, x := range m[i] {
				if x.Sign() != 0 && u[j].Sign() != 0 {
					v[i].Add(v[i], p.Mul(x, u[j]))
				}
			}
		}
		au[k] = v
	}
	return c
}

// defect returns Φ(t) - θ^|t|/γ(t) of tree k for the weights b.
func (c *conditions) defect(k int, b []*big.Rat, theta *big.Rat) *big.Rat {
	den := big.NewInt(1)
	lcm(den, b)
	sum := new(big.Int)
	for i, x := range b {
		sum.Add(sum, new(big.Int).Mul(integral(x, den), c.u[k][i]))
	}
	tr := c.trees[k]
	phi := new(big.Rat).SetFrac(sum, den.Mul(den, c.pow[tr.order-1]))
	want := new(big.Rat).SetFrac(big.NewInt(1), tr.density)
	for range tr.order {
		want.Mul(want, theta)
	}
	return phi.Sub(phi, want)
}

// worst returns the largest defect in absolute value among the trees of each
// order, as doubles; an exact zero stays one.
func (c *conditions) worst(b []*big.Rat, theta *big.Rat) []float64 {
	w := make([]float64, c.trees[len(c.trees)-1].order+1)
	for k, tr := range c.trees {
		d := c.defect(k, b, theta)
		v, _ := d.Abs(d).Float64()
		w[tr.order] = max(w[tr.order], v)
	}
	return w
}
