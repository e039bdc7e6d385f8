package simd

import "math"

// Combine sets out[i] = base[i] + h Σ_j c[j]·k[row[j]·stride + i] for all of out, which is a stage
// of a Runge–Kutta step. The sum is one chain of fused multiply-adds in the order of j that begins
// with the rounded product of the first term. The factor h comes last, fused as well. Without terms
// out is base. The slice out may be base, but not a part of k; row has the length of c.
func Combine(out, base []float64, h float64, c []float64, row []int, k []float64, stride int) {
	n := len(out)
	base, row = base[:n], row[:len(c)]
	if len(c) == 0 {
		copy(out, base)
		return
	}
	for _, r := range row {
		_ = k[r*stride : r*stride+n]
	}
	if n == 0 {
		return
	}
	if !useAVX2 {
		combineGeneric(out, base, h, c, row, k, stride)
		return
	}
	step := max(32, (8*chunk/len(c))&^7)
	if useAVX512 {
		for i := 0; i < n; i += step {
			combineWide(&out[i], &base[i], h, &c[0], &row[0], len(c), &k[i], stride, min(step, n-i))
		}
		return
	}
	for i := 0; i < n; i += step {
		combine(&out[i], &base[i], h, &c[0], &row[0], len(c), &k[i], stride, min(step, n-i))
	}
}

func combineGeneric(out, base []float64, h float64, c []float64, row []int, k []float64, stride int) {
	n := len(out)
	i := 0
	for ; i+4 <= n; i += 4 {
		s := c[0]
		v := k[row[0]*stride+i:][:4:4]
		x0, x1, x2, x3 := float64(s*v[0]), float64(s*v[1]), float64(s*v[2]), float64(s*v[3])
		for j := 1; j < len(c); j++ {
			s, v := c[j], k[row[j]*stride+i:][:4:4]
			x0 = math.FMA(s, v[0], x0)
			x1 = math.FMA(s, v[1], x1)
			x2 = math.FMA(s, v[2], x2)
			x3 = math.FMA(s, v[3], x3)
		}
		b, o := base[i:][:4:4], out[i:][:4:4]
		o[0], o[1], o[2], o[3] = math.FMA(h, x0, b[0]), math.FMA(h, x1, b[1]), math.FMA(h, x2, b[2]),
			math.FMA(h, x3, b[3])
	}
	for ; i < n; i++ {
		x := float64(c[0] * k[row[0]*stride+i])
		for j := 1; j < len(c); j++ {
			x = math.FMA(c[j], k[row[j]*stride+i], x)
		}
		out[i] = math.FMA(h, x, base[i])
	}
}
