package linalg

import (
	"math"
	"testing"

	"odes.dev/odes/internal/elem"
)

// TestResidual compares residuals, and the largest of them beside the terms of its equation, with sums one by one. A
// sum that overflows is no number to compare with.
func TestResidual(t *testing.T) {
	m := random(200, 1500, 3, 4)
	r := elem.NewRand(9)
	b, x := make([]float64, 200), make([]float64, 201)
	for i := range b {
		b[i], x[i] = r.Norm(), r.Norm()
	}
	b[7] = 0
	for _, transposed := range []bool{false, true} {
		f := m.p.byRows(transposed)
		values := make([][4]float64, len(f.At))
		put(f, values, m.values, -1)
		want, size := append([]float64(nil), b...), make([]float64, len(b))
		for i, v := range b {
			size[i] = math.Abs(v)
		}
		for j := range b {
			for e := m.p.Start[j]; e < m.p.Start[j+1]; e++ {
				i, k := int(m.p.Rows[e]), j
				if transposed {
					i, k = k, i
				}
				want[i] -= float64(m.values[e] * x[k])
				size[i] += math.Abs(float64(m.values[e] * x[k]))
			}
		}
		got := make([]float64, len(b))
		left, most := f.Residual(got, b, x, values, tiny), 0.0
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-14*size[i]) {
				t.Errorf("transposed %t: residual %d is %v, not %v", transposed, i, got[i], v)
			}
			most = max(most, math.Abs(got[i])/size[i])
		}
		if !(math.Abs(left-most) <= 1e-14*most) {
			t.Errorf("transposed %t: the largest is %v, not %v", transposed, left, most)
		}
		for _, v := range []float64{math.Inf(1), math.NaN(), math.MaxFloat64} {
			wrong := append([]float64(nil), x...)
			wrong[3], wrong[4] = v, v
			if left := f.Residual(got, b, wrong, values, tiny); left == left {
				t.Errorf("transposed %t: with %v the largest is %v", transposed, v, left)
			}
		}
	}
}
