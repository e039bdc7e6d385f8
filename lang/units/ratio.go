package units

import "math"

// Ratio is an exact rational exponent in lowest terms, with Den > 0. The zero value is 0.
type Ratio struct{ Num, Den int32 }

// MakeRatio returns num/den in lowest terms. The result ok is false when den is 0 or the ratio does
// not fit.
func MakeRatio(num, den int64) (r Ratio, ok bool) {
	if den == 0 || num == math.MinInt64 || den == math.MinInt64 {
		return Ratio{}, false
	}
	if den < 0 {
		num, den = -num, -den
	}
	if num == 0 {
		return Ratio{}, true
	}
	a, b := max(num, -num), den
	for b != 0 {
		a, b = b, a%b
	}
	num, den = num/a, den/a
	if num > math.MaxInt32 || num < -math.MaxInt32 || den > math.MaxInt32 {
		return Ratio{}, false
	}
	return Ratio{int32(num), int32(den)}, true
}

func (r Ratio) parts() (int64, int64) {
	if r.Den == 0 {
		return 0, 1
	}
	return int64(r.Num), int64(r.Den)
}

// Add returns r + s. The result ok is false when the sum does not fit.
func (r Ratio) Add(s Ratio) (sum Ratio, ok bool) {
	a, b := r.parts()
	c, d := s.parts()
	x, y := a*d, c*b // each is below 2^62
	return MakeRatio(x+y, b*d)
}

// Mul returns r·s. The result ok is false when the product does not fit.
func (r Ratio) Mul(s Ratio) (product Ratio, ok bool) {
	a, b := r.parts()
	c, d := s.parts()
	return MakeRatio(a*c, b*d)
}
