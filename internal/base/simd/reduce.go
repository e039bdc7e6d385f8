package simd

import (
	"math"

	"odes.dev/odes/internal/base/elem"
)

// short is the length below which the Go code of a reduction is faster.
const short = 32

// Sum returns the sum of x, as elem.Sum.
func Sum(x []float64) float64 {
	if !useAVX2 || len(x) < short {
		return elem.Sum(x)
	}
	var s [8]float64
	for i := 0; i < len(x); i += chunk {
		sumV(&s[0], &x[i], min(len(x)-i, chunk))
	}
	return elem.Tree(&s)
}

// Dot returns Σ x[i]·y[i], as elem.Dot; y is at least as long as x.
func Dot(x, y []float64) float64 {
	y = y[:len(x)]
	if !useAVX2 || len(x) < short {
		return elem.Dot(x, y)
	}
	var s [8]float64
	for i := 0; i < len(x); i += chunk {
		dotV(&s[0], &x[i], &y[i], min(len(x)-i, chunk))
	}
	return elem.Tree(&s)
}

// SumLanes sets out[l] to the sum of x[n][lanes] over its rows, for each lane as elem.Sum does,
// with lanes = len(out).
func SumLanes(out, x []float64, n int) {
	lanes := len(out)
	x = x[:n*lanes]
	if !useAVX2 || n > most/4 || n == 0 {
		for l := range out {
			var s [8]float64
			for i := range n {
				s[i&7] += x[i*lanes+l]
			}
			out[l] = elem.Tree(&s)
		}
		return
	}
	for l := 0; l < lanes; l += 4 {
		sumLanes(&out[l], &x[l], n, lanes, min(4, lanes-l))
	}
}

// DotLanes sets out[l] to a dot product over n rows, for each lane as elem.Dot does, with lanes =
// len(out). If shared is set it is Σ_i x[i]·y[i][l], otherwise Σ_i x[i][l]·y[i][l]. Arrays with
// lanes are laid out [n][lanes].
func DotLanes(out, x, y []float64, n int, shared bool) {
	lanes, xs := len(out), len(out)
	if shared {
		xs = 1
	}
	x, y = x[:n*xs], y[:n*lanes]
	if !useAVX2 || n > most/4 || n == 0 {
		for l := range out {
			var s [8]float64
			for i := range n {
				v := x[i*xs]
				if !shared {
					v = x[i*xs+l]
				}
				s[i&7] = math.FMA(v, y[i*lanes+l], s[i&7])
			}
			out[l] = elem.Tree(&s)
		}
		return
	}
	for l := 0; l < lanes; l += 4 {
		if shared {
			dotLanesS(&out[l], &x[0], &y[l], n, 1, lanes, min(4, lanes-l))
		} else {
			dotLanes(&out[l], &x[l], &y[l], n, lanes, lanes, min(4, lanes-l))
		}
	}
}

// ScaledSquares measures the errors e of a step from y0 to y1, all of the length of e, by the
// scales sc[i] = abs[i] + rel·max(|y0[i]|, |y1[i]|), fused. It adds the squares of x[i] =
// |e[i]|/sc[i] to square[i mod 8], fused, and returns the greatest x[i], or NaN if one is NaN.
// Where error and scale are both 0, x[i] is 0. The slice abs has one element for all or one for
// each. If a scale is infinite or NaN, finite is false and the numbers mean nothing.
func ScaledSquares(square *[8]float64, e, y0, y1, abs []float64, rel float64) (most float64, finite bool) {
	n := len(e)
	if n == 0 {
		return 0, true
	}
	y0, y1 = y0[:n], y1[:n]
	if len(abs) != 1 {
		abs = abs[:n]
	}
	if !useAVX2 || n < 4 {
		return scaledSquaresGeneric(square, e, y0, y1, abs, rel)
	}
	var m [4]float64
	bad := 0
	for i := 0; i < n; i += chunk {
		k := min(n-i, chunk)
		if len(abs) == 1 {
			bad |= normS(&square[0], &m[0], &e[i], &y0[i], &y1[i], &abs[0], rel, k)
		} else {
			bad |= normV(&square[0], &m[0], &e[i], &y0[i], &y1[i], &abs[i], rel, k)
		}
	}
	return elem.Max(elem.Max(m[0], m[1]), elem.Max(m[2], m[3])), bad == 0
}

func scaledSquaresGeneric(square *[8]float64, e, y0, y1, abs []float64, rel float64) (most float64, finite bool) {
	a := abs[0]
	for i, v := range e {
		if len(abs) > 1 {
			a = abs[i]
		}
		sc := math.FMA(rel, max(math.Abs(y0[i]), math.Abs(y1[i])), a)
		if !(sc <= math.MaxFloat64) {
			return 0, false
		}
		x := math.Abs(v) / sc
		if v == 0 && sc == 0 {
			x = 0
		}
		square[i&7] = math.FMA(x, x, square[i&7])
		most = elem.Max(most, x)
	}
	return most, true
}
