package linalg

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// TestRobertson solves with W = I/hγ − J of Robertson's problem as the steps grow, and compares each
// state with rational arithmetic. The columns of J add up to zero: I/hγ, a vanishing part of W, decides
// the solution. So the error may be that of rounding times hγ and the slowest rate, but no more, also
// for the state that is 10⁵ times smaller than the others.
func TestRobertson(t *testing.T) {
	y := []float64{0.7158, 9.185e-6, 0.2842}
	j := []float64{ // by columns
		-0.04, 0.04, 0,
		1e4 * y[2], -1e4*y[2] - 6e7*y[1], 6e7 * y[1],
		1e4 * y[1], -1e4 * y[1], 0,
	}
	f := -0.04*y[0] + 1e4*y[1]*y[2]
	g := 3e7 * y[1] * y[1]
	for _, hγ := range []float64{1e-6, 1e-3, 1, 1e3, 1e6, 1e9} {
		m := matrix{name: fmt.Sprintf("hγ %g", hγ), p: Full(3), values: make([]float64, 9)}
		for e, v := range j {
			m.values[e] = -v
		}
		for i := range 3 {
			m.values[4*i] += 1 / hγ
		}
		b := []float64{f, -f - g, g}
		for _, transposed := range []bool{false, true} {
			want := exact(m, b, transposed)
			for _, method := range methods {
				l := analyzed(t, m, method)
				if err := l.Factor(m.values); err != nil {
					t.Fatal(m.name, err)
				}
				x := slices.Clone(b)
				if transposed {
					l.SolveT(x, 1)
				} else {
					l.Solve(x, 1)
				}
				for i := range x {
					if d := math.Abs(x[i]/want[i] - 1); !(d <= 1e-15+1e-17*hγ) {
						t.Errorf("%s, %v, transposed %t, state %d: %g, not %g: differs by %.2g",
							m.name, method, transposed, i, x[i], want[i], d)
					}
				}
			}
		}
	}
}

// exact solves in rational arithmetic.
func exact(m matrix, b []float64, transposed bool) []float64 {
	n := m.p.N
	a := make([][]*big.Rat, n)
	for i := range a {
		a[i] = make([]*big.Rat, n+1)
		for j := range a[i] {
			a[i][j] = new(big.Rat)
		}
		a[i][n].SetFloat64(b[i])
	}
	for j := range n {
		for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
			i, k := int(m.p.Rows[e]), j
			if transposed {
				i, k = k, i
			}
			a[i][k].SetFloat64(m.values[e])
		}
	}
	for k := range n {
		at := k
		for a[at][k].Sign() == 0 {
			at++
		}
		a[k], a[at] = a[at], a[k]
		for i := range n {
			if i == k {
				continue
			}
			f := new(big.Rat).Quo(a[i][k], a[k][k])
			for j := k; j <= n; j++ {
				a[i][j].Sub(a[i][j], new(big.Rat).Mul(f, a[k][j]))
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i], _ = new(big.Rat).Quo(a[i][n], a[i][i]).Float64()
	}
	return x
}
