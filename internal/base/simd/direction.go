package simd

import "math"

// These are what a power iteration does besides its products: a direction v, all slices of its length, is measured by
// per, one over the sizes of its elements. Sums have four chains, element i in chain i mod 4, fused.

// Turn replaces v by (k - f)·by. It returns Σ a·b and Σ a² of a = v·per, where b is the same of v as it was, and the
// largest |a| that is a number.
func Turn(v, k, f, per []float64, by float64) (dot, square, most float64) {
	n := len(v)
	k, f, per = k[:n], f[:n], per[:n]
	var d, s, m [4]float64
	i := 0
	if useAVX2 && n >= 4 {
		for ; i+4 <= n; i += chunk {
			turn(&d[0], &s[0], &m[0], &v[i], &k[i], &f[i], &per[i], by, min(n-i, chunk)&^3)
		}
		i = n &^ 3
	}
	for ; i < n; i++ {
		b := float64(v[i] * per[i])
		v[i] = float64((k[i] - f[i]) * by)
		a := float64(v[i] * per[i])
		d[i&3], s[i&3] = math.FMA(a, b, d[i&3]), math.FMA(a, a, s[i&3])
		m[i&3] = greater(math.Abs(a), m[i&3])
	}
	return ofChains(&d), ofChains(&s), greatest(&m)
}

// Measure returns Σ a² of a = v·per, and the largest |a| that is a number.
func Measure(v, per []float64) (square, most float64) {
	n := len(v)
	per = per[:n]
	var s, m [4]float64
	i := 0
	if useAVX2 && n >= 4 {
		for ; i+4 <= n; i += chunk {
			measure(&s[0], &m[0], &v[i], &per[i], min(n-i, chunk)&^3)
		}
		i = n &^ 3
	}
	for ; i < n; i++ {
		a := float64(v[i] * per[i])
		s[i&3], m[i&3] = math.FMA(a, a, s[i&3]), greater(math.Abs(a), m[i&3])
	}
	return ofChains(&s), greatest(&m)
}

// Tolerable writes size = abs + rel·max(|y|, |h·f|), fused, and per = 1/size, all of the length of y.
func Tolerable(size, per, y, f []float64, h, rel, abs float64) {
	n := len(y)
	size, per, f = size[:n], per[:n], f[:n]
	i := 0
	if useAVX2 && n >= 4 {
		for ; i+4 <= n; i += chunk {
			tolerable(&size[i], &per[i], &y[i], &f[i], h, rel, abs, min(n-i, chunk)&^3)
		}
		i = n &^ 3
	}
	for ; i < n; i++ {
		size[i] = math.FMA(rel, max(math.Abs(y[i]), math.Abs(float64(h*f[i]))), abs)
		per[i] = 1 / size[i]
	}
}

// splitMix is the step of SplitMix64.
const splitMix = 0x9e3779b97f4a7c15

// Perturb adds u·by, rounded, times size[i] to v[i], fused, with numbers u in [-1, 1) that the finalizer of SplitMix64
// makes of counters: that of element i is count + i.
func Perturb(v, size []float64, by float64, count uint64) {
	n := len(v)
	size = size[:n]
	i := 0
	if useAVX2 && n >= 4 {
		for ; i+4 <= n; i += chunk {
			first := count + uint64(i)
			seeds := [4]uint64{first * splitMix, (first + 1) * splitMix, (first + 2) * splitMix, (first + 3) * splitMix}
			perturb(&v[i], &size[i], by, &seeds[0], min(n-i, chunk)&^3)
		}
		i = n &^ 3
	}
	for ; i < n; i++ {
		x := (count + uint64(i)) * splitMix
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		u := float64(float64(int64(x^x>>31)) * 0x1p-63)
		v[i] = math.FMA(float64(u*by), size[i], v[i])
	}
}

func ofChains(s *[4]float64) float64 { return (s[0] + s[2]) + (s[1] + s[3]) }

func greatest(m *[4]float64) float64 { return greater(greater(m[0], m[1]), greater(m[2], m[3])) } // of numbers

// greater is max, which takes several times as long, for what is a number. Where a is none it returns b.
func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}
