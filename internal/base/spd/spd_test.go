package spd

import (
	"math"
	"testing"
)

// TestPatterns: matrices come back from their numbers with their zeros, and derivatives are those of differences.
func TestPatterns(t *testing.T) {
	for _, w := range [][]float64{
		{0.3},
		{0.09, 0.01, 0.01, 0.04},
		{0.0625, -0.01875, 0.02, -0.01875, 0.0625, 0.03, 0.02, 0.03, 0.16},
		{1, 0.3, 0.4, 0.3, 2, 0, 0.4, 0, 3}, // a zero that the factor does not have
		{1, 0.3, 0, 0, 0.3, 2, 0.5, 0.1, 0, 0.5, 3, 0, 0, 0.1, 0, 4},
		{1, 0, 0, 0, 2, 0, 0, 0, 3},
	} {
		n := int(math.Sqrt(float64(len(w))))
		p, err := New(n, w)
		if err != nil {
			t.Fatal(err)
		}
		free := 0
		for i := range n {
			for j := range i + 1 {
				if w[i*n+j] != 0 {
					free++
				}
			}
		}
		orders := []*Pattern{p}
		for k := range free {
			row, column := p.Element(k)
			if row == column {
				continue
			}
			q := p.Led(row, column)
			orders = append(orders, q)
			for a, y := range q.Of(w) {
				if i, j := q.Element(a); i == row && j == column {
					r := w[i*n+j] / math.Sqrt(w[i*n+i]*w[j*n+j])
					if !q.Alone(a) || math.Abs(y-r/math.Sqrt(1-r*r)) > 1e-14 {
						t.Errorf("the correlation of %d and %d of %v is %g, and its number %g", i, j, w, r, y)
					}
				}
			}
		}
		for _, p := range orders {
			checkPattern(t, p, w, free)
		}
	}
	for _, w := range [][]float64{{1, 2, 2, 1}, {1, 0.1, 0.2, 1}, {0}, {-1}, {math.NaN()}} {
		if _, err := New(int(math.Sqrt(float64(len(w)))), w); err == nil {
			t.Errorf("%v is taken", w)
		}
	}
}

func checkPattern(t *testing.T, p *Pattern, w []float64, free int) {
	t.Helper()
	n, x := p.N, p.Of(w)
	if p.Size() != free || len(x) != free {
		t.Errorf("%v has %d numbers, not %d", w, p.Size(), free)
	}
	for i := range x { // elsewhere
		x[i] += 0.1 * math.Sin(float64(i+1))
	}
	value, slopes, curves := p.Derivatives(x)
	for i := range value {
		if (w[i] == 0) != (value[i] == 0) || value[i] != value[i%n*n+i/n] {
			t.Errorf("element %d of %v is %g", i, w, value[i])
		}
	}
	for i, y := range p.Of(value) {
		if math.Abs(y-x[i]) > 1e-14 {
			t.Errorf("number %d of %v is %g, not %g", i, w, y, x[i])
		}
	}
	const h = 1e-4
	k := len(x)
	for a := range x {
		up, down := append([]float64(nil), x...), append([]float64(nil), x...)
		up[a] += h
		down[a] -= h
		wUp, up1, _ := p.Derivatives(up)
		wDown, down1, _ := p.Derivatives(down)
		for e := range value {
			if d := (wUp[e] - wDown[e]) / (2 * h); math.Abs(d-slopes[e*k+a]) > 1e-7 {
				t.Errorf("slope of %d by %d: %g, not %g", e, a, slopes[e*k+a], d)
			}
			for b := range x {
				d := (up1[e*k+b] - down1[e*k+b]) / (2 * h)
				if math.Abs(d-curves[(e*k+a)*k+b]) > 1e-6 {
					t.Errorf("second derivative of %d by %d, %d: %g, not %g", e, a, b, curves[(e*k+a)*k+b], d)
				}
			}
		}
	}
}
