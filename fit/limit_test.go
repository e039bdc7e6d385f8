package fit_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// TestFlatControls minimises a quadratic function of 62 controls that it hardly curves with, so that searches come to
// their limits far from the minimum: what is certified is one. The minimum is that of the linear equations of Lagrange,
// from the Hessian at zero.
func TestFlatControls(t *testing.T) {
	const text = `time t from 0 to 2
control u = 0 piecewise constant on grid(0, 2, 32)
control w = 0 piecewise constant on grid(0, 2, 32)
state x = -0.97, y = -0.1, z = 0.75
x' = -0.19*x + 0.75*y + 0.21*z + 1.07*u - 1.15*w
y' = 0.66*x + 0.24*y + 0.36*z + 0.16*u + 0.02*w
z' = 0.08*x + 0.4*y - 0.62*z - 0.6*u + 0.34*w
objective J = integral(0.66*x^2 + 0.69*x + 0.72*y^2 - 0.5*y + 0.77*z^2 + 0.46*z) + 1.44*final(x)^2 + 1.84*final(y)^2
constraint c: final(x) == -1.407
solver { rtol = 1e-9  atol = 1e-11 }
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{Of: []string{"J", "c"}, Wrt: []string{"u", "w"}}
	whole, err := m.Prepare(o.SecondOrder())
	if err != nil {
		t.Fatal(err)
	}
	s, err := whole.Sensitivities(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// [H a; aᵀ 0] [d; y] = −[g; c]
	n := s.Columns
	g, a, off := s.Gradient[:n], s.Gradient[n:], s.Values[1].Value
	rows := make([][]float64, n+1)
	for i := range n {
		rows[i] = append(append([]float64(nil), s.Second(0)[i*n:(i+1)*n]...), a[i], -g[i])
	}
	rows[n] = append(append([]float64(nil), a...), 0, -off)
	d := lagrange(rows)
	want := s.Values[0].Value
	for i := range n {
		want += g[i] * d[i] / 2
	}
	want += d[n] * off / 2
	first := s.Values[0].Value
	for _, limit := range []string{"", "max_iter = 20", "max_iter = 300"} {
		m, err := odes.Parse("m.ode", fmt.Sprintf(
			"%sfit { minimize = J  over = [u, w]  intervals = none  %s }\n", text, limit), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := fit.Run(context.Background(), m, fit.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		above := (r.Objective.Value - want) / (first - want)
		t.Logf("%s: %s, %.9g, above %.9g by %.2g of the gain, %+v", limit, r.Status, r.Objective.Value, want, above,
			r.KKT)
		if r.KKT.Certified && !(math.Abs(above) <= 4e-6) {
			t.Errorf("%s: certified with %.9g, the minimum is %.9g: %+v", limit, r.Objective.Value, want, r.KKT)
		} else if limit == "" && !r.KKT.Certified {
			t.Errorf("no certificate: %+v", r.KKT)
		}
	}
}

// lagrange solves equations whose right sides are behind their rows.
func lagrange(rows [][]float64) []float64 {
	n := len(rows)
	for k := range rows {
		p := k
		for i := k; i < n; i++ {
			if math.Abs(rows[i][k]) > math.Abs(rows[p][k]) {
				p = i
			}
		}
		rows[k], rows[p] = rows[p], rows[k]
		for i := k + 1; i < n; i++ {
			by := rows[i][k] / rows[k][k]
			for j := k; j <= n; j++ {
				rows[i][j] -= by * rows[k][j]
			}
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = rows[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= rows[i][j] * x[j]
		}
		x[i] /= rows[i][i]
	}
	return x
}
