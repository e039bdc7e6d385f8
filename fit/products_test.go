package fit_test

import (
	"context"
	"math"
	"testing"

	"odes.dev/odes"
)

// TestProductsOfRunner compares products of Hessians, several at one point, with the Hessians themselves.
func TestProductsOfRunner(t *testing.T) {
	m, err := odes.Parse("m.ode", `time t from 0 to 3
control u = 0.3 piecewise constant on grid(0, 3, 6)
state x = 1, v = 0
x' = v
v' = -sin(x) + u*x
objective J = integral(x^2 + u^2)
objective C = final(x*v)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := odes.Options{Of: []string{"J", "C"}, Wrt: []string{"u"}}
	whole, err := m.Prepare(o.SecondOrder())
	if err != nil {
		t.Fatal(err)
	}
	s, err := whole.Sensitivities(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(o.ProductsOnly(5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sensitivities(context.Background()); err != nil {
		t.Fatal(err)
	}
	for k := range 5 {
		v := make([]float64, 5)
		v[k] = 2
		got, err := r.Products(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		for row := range 2 {
			for j := range 5 {
				want := 2 * s.Second(row)[k*5+j]
				if g := got[row*5+j]; math.Abs(g-want) > 1e-10*(1+math.Abs(want)) {
					t.Errorf("objective %d, %d %d: %g, want %g", row, k, j, g, want)
				}
			}
		}
	}
}
