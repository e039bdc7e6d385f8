package kernel

import "math"

// Axpy4 sets d[i] to the chain of fused multiply-adds
// d[i] + s0·a0[i] + s1·a1[i] + s2·a2[i] + s3·a3[i], in this order.
func Axpy4(d, a0, a1, a2, a3 []float64, s0, s1, s2, s3 float64) {
	a0, a1, a2, a3 = a0[:len(d)], a1[:len(d)], a2[:len(d)], a3[:len(d)]
	for i, x := range d {
		x = math.FMA(s0, a0[i], x)
		x = math.FMA(s1, a1[i], x)
		x = math.FMA(s2, a2[i], x)
		d[i] = math.FMA(s3, a3[i], x)
	}
}

// Axpy sets d[i] = s·a[i] + d[i], fused.
func Axpy(d, a []float64, s float64) {
	a = a[:len(d)]
	for i, x := range d {
		d[i] = math.FMA(s, a[i], x)
	}
}

// Combine sets d to Σ s[k·ss]·rows[k·rs : k·rs+len(d)] over k < n: for each
// element one chain of fused multiply-adds from 0, in the order of k.
func Combine(d []float64, n int, s []float64, ss int, rows []float64, rs int) {
	switch len(d) {
	case 4:
		combine4((*[4]float64)(d), n, s, ss, rows, rs)
		return
	case 8:
		combine8((*[8]float64)(d), n, s, ss, rows, rs)
		return
	}
	clear(d)
	k, w := 0, len(d)
	for ; k+4 <= n; k += 4 {
		r := k * rs
		Axpy4(d, rows[r:r+w], rows[r+rs:r+rs+w], rows[r+2*rs:r+2*rs+w], rows[r+3*rs:r+3*rs+w],
			s[k*ss], s[(k+1)*ss], s[(k+2)*ss], s[(k+3)*ss])
	}
	for ; k < n; k++ {
		Axpy(d, rows[k*rs:k*rs+w], s[k*ss])
	}
}

// combine4 and combine8 are Combine with the result in registers.
func combine4(d *[4]float64, n int, s []float64, ss int, rows []float64, rs int) {
	var x0, x1, x2, x3 float64
	for k := range n {
		c := s[k*ss]
		r := (*[4]float64)(rows[k*rs:])
		x0 = math.FMA(c, r[0], x0)
		x1 = math.FMA(c, r[1], x1)
		x2 = math.FMA(c, r[2], x2)
		x3 = math.FMA(c, r[3], x3)
	}
	*d = [4]float64{x0, x1, x2, x3}
}

func combine8(d *[8]float64, n int, s []float64, ss int, rows []float64, rs int) {
	var x0, x1, x2, x3, x4, x5, x6, x7 float64
	for k := range n {
		c := s[k*ss]
		r := (*[8]float64)(rows[k*rs:])
		x0 = math.FMA(c, r[0], x0)
		x1 = math.FMA(c, r[1], x1)
		x2 = math.FMA(c, r[2], x2)
		x3 = math.FMA(c, r[3], x3)
		x4 = math.FMA(c, r[4], x4)
		x5 = math.FMA(c, r[5], x5)
		x6 = math.FMA(c, r[6], x6)
		x7 = math.FMA(c, r[7], x7)
	}
	*d = [8]float64{x0, x1, x2, x3, x4, x5, x6, x7}
}

// CombineEach is Combine for w lanes that each have their own factors:
// d[l] = Σ s[k·ss+l]·rows[k·rs+l].
func CombineEach(d []float64, n int, s []float64, ss int, rows []float64, rs int) {
	clear(d)
	w := len(d)
	for k := range n {
		a, b := s[k*ss:k*ss+w], rows[k*rs:k*rs+w]
		a, b = a[:len(d)], b[:len(d)]
		for l, x := range d {
			d[l] = math.FMA(a[l], b[l], x)
		}
	}
}

// MatVec sets d[i·ds] = Σ a[i·n+k]·x[k·xs] over k < n, for i < rows. It takes four rows at a time.
// Each sum is one chain in the order of k, from 0.
func MatVec(d []float64, ds, rows, n int, a, x []float64, xs int) {
	i := 0
	for ; i+4 <= rows; i += 4 {
		r0, r1, r2, r3 := a[i*n:(i+1)*n], a[(i+1)*n:(i+2)*n], a[(i+2)*n:(i+3)*n], a[(i+3)*n:(i+4)*n]
		r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
		var s0, s1, s2, s3 float64
		if xs == 1 {
			v := x[:len(r0)]
			for k, y := range v {
				s0 = math.FMA(r0[k], y, s0)
				s1 = math.FMA(r1[k], y, s1)
				s2 = math.FMA(r2[k], y, s2)
				s3 = math.FMA(r3[k], y, s3)
			}
		} else {
			for k := range r0 {
				y := x[k*xs]
				s0 = math.FMA(r0[k], y, s0)
				s1 = math.FMA(r1[k], y, s1)
				s2 = math.FMA(r2[k], y, s2)
				s3 = math.FMA(r3[k], y, s3)
			}
		}
		d[i*ds], d[(i+1)*ds], d[(i+2)*ds], d[(i+3)*ds] = s0, s1, s2, s3
	}
	for ; i < rows; i++ {
		var s float64
		for k, y := range a[i*n : (i+1)*n] {
			s = math.FMA(y, x[k*xs], s)
		}
		d[i*ds] = s
	}
}

// Outers sets d[i] = Σ a[k·as+i]·rows[k·rs : k·rs+w] over k < inner, for the n rows d[i] of w
// elements. It sums the outer products in the order of k, so that a is read along its rows.
func Outers(d []float64, w, n, inner int, a []float64, as int, rows []float64, rs int) {
	clear(d[:n*w])
	k := 0
	for ; k+4 <= inner; k += 4 {
		a0, a1, a2, a3 := a[k*as:k*as+n], a[(k+1)*as:(k+1)*as+n], a[(k+2)*as:(k+2)*as+n], a[(k+3)*as:(k+3)*as+n]
		r := k * rs
		y0, y1, y2, y3 := rows[r:r+w], rows[r+rs:r+rs+w], rows[r+2*rs:r+2*rs+w], rows[r+3*rs:r+3*rs+w]
		if w == 8 {
			outers8(d, (*[8]float64)(y0), (*[8]float64)(y1), (*[8]float64)(y2), (*[8]float64)(y3), a0, a1, a2, a3)
			continue
		}
		for i := range n {
			Axpy4(d[i*w:(i+1)*w], y0, y1, y2, y3, a0[i], a1[i], a2[i], a3[i])
		}
	}
	for ; k < inner; k++ {
		for i := range n {
			Axpy(d[i*w:(i+1)*w], rows[k*rs:k*rs+w], a[k*as+i])
		}
	}
}

// outers8 is four steps of Outers for rows of 8 elements.
func outers8(d []float64, y0, y1, y2, y3 *[8]float64, a0, a1, a2, a3 []float64) {
	a1, a2, a3 = a1[:len(a0)], a2[:len(a0)], a3[:len(a0)]
	for i, s0 := range a0 {
		s1, s2, s3 := a1[i], a2[i], a3[i]
		r := (*[8]float64)(d[8*i:])
		for l := range r {
			x := math.FMA(s0, y0[l], r[l])
			x = math.FMA(s1, y1[l], x)
			x = math.FMA(s2, y2[l], x)
			r[l] = math.FMA(s3, y3[l], x)
		}
	}
}
