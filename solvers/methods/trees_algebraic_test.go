package methods

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/implicit"
)

// mixedTree is a rooted tree of the solution of y' = f(y, z), 0 = g(y, z): a meagre vertex is a rate f, a fat one the
// change of unknowns that -g_z⁻¹ makes of the rest of g. No fat vertex is a leaf or has a single fat branch.
//
// Sources: M. Roche, Numerische Mathematik 52 (1988) 45–63, doi:10.1007/BF01401021; E. Hairer, G. Wanner, Solving
// Ordinary Differential Equations II, sections VI.3 and VI.4.
type mixedTree struct {
	fat      bool
	order    int      // meagre vertices
	density  *big.Int // the product of the orders of all trees that hang at meagre vertices
	children []int
}

// mixedTrees returns all trees up to the given order, by order.
func mixedTrees(order int) []mixedTree {
	var all []mixedTree
	for n := 1; n <= order; n++ {
		for _, fat := range []bool{false, true} {
			known := len(all)
			var grow func(rest, least int, children []int)
			grow = func(rest, least int, children []int) {
				if rest == 0 {
					if fat && len(children) == 1 && all[children[0]].fat || fat && len(children) == 0 {
						return
					}
					d := big.NewInt(1)
					if !fat {
						d.SetInt64(int64(n))
					}
					for _, c := range children {
						d.Mul(d, all[c].density)
					}
					all = append(all, mixedTree{fat, n, d, slices.Clone(children)})
					return
				}
				for c := least; c < known; c++ {
					if all[c].order <= rest {
						grow(rest-all[c].order, c, append(children, c))
					}
				}
			}
			if fat {
				grow(n, 0, nil)
			} else {
				grow(n-1, 0, nil)
			}
		}
	}
	return all
}

// TestMixedTreeCounts compares with the terms of y' = f, z' and their derivatives, written out: y” has f_y f and
// f_z (-g_z⁻¹) g_y f; z” has f_y f and f_z z' below g_y, and g_yy, g_yz and g_zz of f and z'.
func TestMixedTreeCounts(t *testing.T) {
	counts := map[bool][]int{false: {0, 0}, true: {0, 0}}
	for _, tr := range mixedTrees(2) {
		counts[tr.fat][tr.order-1]++
	}
	if want := []int{1, 2}; !slices.Equal(counts[false], want) {
		t.Errorf("%v trees of y, want %v", counts[false], want)
	}
	if want := []int{1, 5}; !slices.Equal(counts[true], want) {
		t.Errorf("%v trees of z, want %v", counts[true], want)
	}
}

// inverse returns the inverse of a regular matrix, by Gauss and Jordan's method.
func inverse(t *testing.T, a [][]*big.Float) [][]*big.Float {
	t.Helper()
	n := len(a)
	m := make([][]*big.Float, n)
	for i, row := range a {
		m[i] = make([]*big.Float, 2*n)
		for j := range m[i] {
			m[i][j] = number256(0)
			if j < n {
				m[i][j].Set(row[j])
			} else if j == n+i {
				m[i][j].SetInt64(1)
			}
		}
	}
	for c := range n {
		at := c
		for i := c + 1; i < n; i++ {
			if number256(0).Abs(m[i][c]).Cmp(number256(0).Abs(m[at][c])) > 0 {
				at = i
			}
		}
		m[c], m[at] = m[at], m[c]
		if m[c][c].Sign() == 0 {
			t.Fatal("the matrix is singular")
		}
		pivot := number256(0).Set(m[c][c])
		for _, v := range m[c] {
			v.Quo(v, pivot)
		}
		for i := range n {
			q := number256(0).Set(m[i][c])
			for j := range m[i] {
				if i != c {
					m[i][j].Sub(m[i][j], number256(0).Mul(q, m[c][j]))
				}
			}
		}
	}
	for i := range m {
		m[i] = m[i][n:]
	}
	return m
}

// worstMixed returns the largest defects of the conditions of each order up to most, of y and of z, of weights b at θ.
// A vertex with one branch has the coefficients β = α + γ, others α, and a fat one with several branches β⁻¹ in
// front of them (Hairer, Wanner II, section VI.4).
func (m *rowMethod) worstMixed(t *testing.T, b []*big.Float, theta float64, most int) (y, z []float64) {
	t.Helper()
	beta := make([][]*big.Float, m.s)
	for i := range beta {
		for j := range m.s {
			beta[i] = append(beta[i], number256(0).Add(m.alpha[i][j], m.gamma[i][j]))
		}
	}
	omega := inverse(t, beta)
	along := func(a [][]*big.Float, u []*big.Float) []*big.Float {
		out := make([]*big.Float, m.s)
		for i := range out {
			out[i] = number256(0)
			for j, v := range u {
				out[i].Add(out[i], number256(0).Mul(a[i][j], v))
			}
		}
		return out
	}
	all := mixedTrees(most)
	phi := make([][]*big.Float, len(all))
	below := make([][]*big.Float, len(all)) // α φ
	y, z = make([]float64, most+1), make([]float64, most+1)
	for k, tr := range all {
		u := make([]*big.Float, m.s)
		switch {
		case len(tr.children) == 1 && tr.fat: // β⁻¹ β
			u = phi[tr.children[0]]
		case len(tr.children) == 1:
			u = along(beta, phi[tr.children[0]])
		default:
			for i := range u {
				u[i] = number256(1)
				for _, c := range tr.children {
					u[i].Mul(u[i], below[c][i])
				}
			}
			if tr.fat {
				u = along(omega, u)
			}
		}
		phi[k], below[k] = u, along(m.alpha, u)
		sum := number256(0)
		for i, v := range b {
			sum.Add(sum, number256(0).Mul(v, u[i]))
		}
		want := number256(1)
		for range tr.order {
			want.Mul(want, number256(theta))
		}
		want.Quo(want, number256(0).SetInt(tr.density))
		d, _ := sum.Sub(sum, want).Float64()
		to := y
		if tr.fat {
			to = z
		}
		to[tr.order] = max(to[tr.order], math.Abs(d))
	}
	return y, z
}

// TestAlgebraicOrderConditions proves orders for models with algebraic unknowns, by the conditions of their trees: that
// of the states y and that of what a step makes of the unknowns z, before they are made consistent. A method whose
// stability function vanishes at infinity needs order p - 1 of z for the order p of a run, and one whose steps end with
// consistent unknowns none.
//
// Methods that take such models must have their whole order for y, and so must their estimates and dense outputs.
func TestAlgebraicOrderConditions(t *testing.T) {
	eachRosenbrock(t, func(t *testing.T, m *solvers.Spec, row *rowMethod, tol float64) {
		tol *= 100 // β⁻¹ has elements above 10
		y, z := row.worstMixed(t, row.b, 1, m.Order+1)
		hat := make([]*big.Float, row.s)
		for i := range hat {
			hat[i] = number256(0).Sub(row.b[i], row.e[i])
		}
		lower, _ := row.worstMixed(t, hat, 1, m.Embedded)
		claimed, dense := m.Info().DenseOrder, 99
		for k := range 9 {
			theta := float64(k) / 8
			inside, _ := row.worstMixed(t, row.dense(theta), theta, claimed)
			dense = min(dense, orderOf(inside, 10*tol))
		}
		t.Logf("orders %d of y, %d of z; of the estimate %d, of the dense output %d", orderOf(y, tol), orderOf(z, tol),
			orderOf(lower, tol), dense)
		if !m.Can.Has(solvers.MassMatrix) {
			return
		}
		if got := orderOf(y, tol); got != m.Order {
			t.Errorf("order %d of y, claimed %d; defects %.3g", got, m.Order, y)
		}
		if got := orderOf(z, tol); got < m.Order-1 {
			t.Errorf("order %d of z, want %d; defects %.3g", got, m.Order-1, z)
		}
		if got := orderOf(lower, tol); got != m.Embedded {
			t.Errorf("the estimate has order %d, claimed %d; defects %.3g", got, m.Embedded, lower)
		}
		if dense != claimed {
			t.Errorf("the dense output has order %d, claimed %d", dense, claimed)
		}
	})
}

// TestAlgebraicRungeKutta: with the stages of an implicit Runge–Kutta method, A A⁻¹ takes fat vertices away. So
// the conditions of y are those of y' = f(y, z(y)), and hold as those do. Where a method is stiffly accurate, b A⁻¹
// chooses the last stage, and the conditions of z are products of those of y: it has the same order there. The test
// requires what is said of methods whose matrix is regular to be true of the trees. Where the first stage is the start
// of the step, consistent by assumption, it requires that the last stage is the end.
func TestAlgebraicRungeKutta(t *testing.T) {
	accurate := map[string]bool{}
	eachImplicit(t, func(t *testing.T, m *solvers.Spec, x *implicit.Figures, tol float64) {
		float := func(v *big.Rat) *big.Float { return number256(0).SetRat(v) }
		last := false
		for i := 1; i < len(x.A); i++ {
			same := true
			for j, v := range x.B {
				same = same && v.Cmp(x.A[i][j]) == 0
			}
			last = last || same
		}
		if last {
			accurate[m.Name] = true
		}
		regular := x.B[0].Sign() == 0
		for _, row := range x.A[1:] {
			regular = regular && row[0].Sign() == 0
		}
		var rows []int // of the step
		for i := range x.A {
			used := x.B[i].Sign() != 0
			for _, row := range x.A {
				used = used || i > 0 && row[i].Sign() != 0
			}
			if used {
				rows = append(rows, i)
			}
		}
		if !regular {
			if !last {
				t.Errorf("neither is the matrix regular nor the last stage the end")
			}
			return
		}
		row := &rowMethod{s: len(rows)}
		var b []*big.Float
		for _, i := range rows {
			var a, g []*big.Float
			for _, j := range rows {
				a, g = append(a, float(x.A[i][j])), append(g, number256(0))
			}
			row.alpha, row.gamma = append(row.alpha, a), append(row.gamma, g)
			b = append(b, float(x.B[i]))
		}
		most := min(m.Order, 5)
		y, z := row.worstMixed(t, b, 1, most)
		if got := orderOf(y, 100*tol); got != most {
			t.Errorf("order %d of y, want %d; defects %.3g", got, most, y)
		}
		if got := orderOf(z, 100*tol); last && got != most {
			t.Errorf("order %d of z, want %d; defects %.3g", got, most, z)
		} else if !last && got == most && most > 2 {
			t.Errorf("order %d of z, though the last stage is not the end", got)
		}
	})
	for _, name := range []string{
		"backward_euler", "sdirk4", "trbdf2", "kvaerno3", "kvaerno5", "esdirk32", "esdirk4", "esdirk54", "sdirk2",
		"radau3", "radau5", "radau9", "radau13", "lobatto_iiic4",
	} {
		if !accurate[name] {
			t.Errorf("%s is not stiffly accurate", name)
		}
	}
}
