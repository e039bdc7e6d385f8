package stages

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
)

// Form is a sparse linear form Σ_j c_j k_{row_j}: the nonzero entries of a row
// of a tableau, in ascending order of the stages.
type Form struct {
	Row []int
	C   []float64
}

// Sparse returns the terms of a row whose coefficients are not zero.
func Sparse(row []float64) Form {
	var t Form
	for j, x := range row {
		if x != 0 {
			t.Row = append(t.Row, j)
			t.C = append(t.C, x)
		}
	}
	return t
}

// Combine writes out[i] = base[i] + h Σ_j c_j k[row_j·stride + i], the only arithmetic of a step besides the
// right-hand side.
//
// The inner sum is one chain of fused multiply-adds, in the order of the terms, that begins with the product of the
// first term. The step size comes last, so that the increment is rounded against base once. What is computed for an
// element depends on its column alone: not on how many columns there are, nor on how the loops below split the chain.
// out may be base.
func (t *Form) Combine(out, base []float64, h float64, k []float64, stride int) {
	c, row := t.C, t.Row
	n := len(out)
	if n >= 8 || len(c) > 7 {
		simd.Combine(out, base, h, c, row, k, stride)
		return
	}
	// A few states: the call would cost more than the arithmetic.
	base = base[:n]
	switch len(c) {
	case 0:
		copy(out, base)
	case 1:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, float64(c0*k0[i]), base[i])
		}
	case 2:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c1, k1[i], float64(c0*k0[i])), base[i])
		}
	case 3:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		c2, k2 := c[2], column(k, row[2]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c2, k2[i], math.FMA(c1, k1[i], float64(c0*k0[i]))), base[i])
		}
	case 4:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		c2, k2 := c[2], column(k, row[2]*stride, n)
		c3, k3 := c[3], column(k, row[3]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c3, k3[i],
				math.FMA(c2, k2[i], math.FMA(c1, k1[i], float64(c0*k0[i])))), base[i])
		}
	case 5:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		c2, k2 := c[2], column(k, row[2]*stride, n)
		c3, k3 := c[3], column(k, row[3]*stride, n)
		c4, k4 := c[4], column(k, row[4]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c4, k4[i],
				math.FMA(c3, k3[i], math.FMA(c2, k2[i], math.FMA(c1, k1[i], float64(c0*k0[i]))))), base[i])
		}
	case 6:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		c2, k2 := c[2], column(k, row[2]*stride, n)
		c3, k3 := c[3], column(k, row[3]*stride, n)
		c4, k4 := c[4], column(k, row[4]*stride, n)
		c5, k5 := c[5], column(k, row[5]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c5, k5[i], math.FMA(c4, k4[i],
				math.FMA(c3, k3[i], math.FMA(c2, k2[i], math.FMA(c1, k1[i], float64(c0*k0[i])))))), base[i])
		}
	case 7:
		c0, k0 := c[0], column(k, row[0]*stride, n)
		c1, k1 := c[1], column(k, row[1]*stride, n)
		c2, k2 := c[2], column(k, row[2]*stride, n)
		c3, k3 := c[3], column(k, row[3]*stride, n)
		c4, k4 := c[4], column(k, row[4]*stride, n)
		c5, k5 := c[5], column(k, row[5]*stride, n)
		c6, k6 := c[6], column(k, row[6]*stride, n)
		for i := range out {
			out[i] = math.FMA(h, math.FMA(c6, k6[i], math.FMA(c5, k5[i], math.FMA(c4, k4[i],
				math.FMA(c3, k3[i], math.FMA(c2, k2[i], math.FMA(c1, k1[i], float64(c0*k0[i]))))))), base[i])
		}
	}
}

func column(k []float64, at, n int) []float64 { return k[at : at+n : at+n] }

// CombineComplex is combine with a complex step size, in the same order.
func (t *Form) CombineComplex(out, base []complex128, h complex128, k []complex128, stride int) {
	for i := range out {
		var re, im float64
		for j, c := range t.C {
			v := k[t.Row[j]*stride+i]
			if j == 0 {
				re, im = float64(c*real(v)), float64(c*imag(v))
				continue
			}
			re, im = math.FMA(c, real(v), re), math.FMA(c, imag(v), im)
		}
		var b complex128
		if base != nil {
			b = base[i]
		}
		out[i] = elem.CFMA(h, complex(re, im), b)
	}
}
