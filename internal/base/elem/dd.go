package elem

import "math"

// dd is a number as an unevaluated sum hi + lo with |lo| ≤ ulp(hi)/2, which has some 106 bits. The
// formulas are Dekker's and Knuth's (D. E. Knuth, The Art of Computer Programming 2, 4.2.2; T. J.
// Dekker, Numer. Math. 18:224, 1971), with the error of a product by fused multiply-add.
type dd struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) dd {
	s := a + b
	t := s - a
	return dd{s, (a - (s - t)) + (b - t)}
}

// quickTwoSum returns a + b exactly where |a| ≥ |b| or a = 0.
func quickTwoSum(a, b float64) dd {
	s := a + b
	return dd{s, (a - s) + b}
}

// twoMul returns a·b exactly, barring underflow.
func twoMul(a, b float64) dd {
	p := float64(a * b)
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) neg() dd { return dd{-a.hi, -a.lo} }

// add returns a + b to about 2⁻¹⁰⁴, also under cancellation.
func (a dd) add(b dd) dd {
	s := twoSum(a.hi, b.hi)
	t := twoSum(a.lo, b.lo)
	v := quickTwoSum(s.hi, s.lo+t.hi)
	return quickTwoSum(v.hi, t.lo+v.lo)
}

func (a dd) addFloat(b float64) dd {
	s := twoSum(a.hi, b)
	return quickTwoSum(s.hi, s.lo+a.lo)
}

// mul returns a·b to about 2⁻¹⁰³.
func (a dd) mul(b dd) dd {
	p := twoMul(a.hi, b.hi)
	return quickTwoSum(p.hi, p.lo+math.FMA(a.hi, b.lo, a.lo*b.hi))
}

func (a dd) mulFloat(b float64) dd {
	p := twoMul(a.hi, b)
	return quickTwoSum(p.hi, math.FMA(a.lo, b, p.lo))
}

// scale returns a·s for s a power of two.
func (a dd) scale(s float64) dd { return dd{float64(a.hi * s), float64(a.lo * s)} }

// div returns a/b to about 2⁻¹⁰³.
func (a dd) div(b dd) dd {
	q := a.hi / b.hi
	r := math.FMA(-q, b.hi, a.hi) + math.FMA(-q, b.lo, a.lo)
	return quickTwoSum(q, r/b.hi)
}

// quotient returns a/b, rounded once from about 2⁻¹⁰⁰.
func (a dd) quotient(b dd) float64 {
	inv := 1 / b.hi
	q := float64(a.hi * inv)
	r := math.FMA(-q, b.hi, a.hi) + math.FMA(-q, b.lo, a.lo)
	return math.FMA(r, inv, q)
}

// sqrt returns √a to about 2⁻¹⁰²; a > 0.
func (a dd) sqrt() dd {
	s := math.Sqrt(a.hi)
	return quickTwoSum(s, (math.FMA(-s, s, a.hi)+a.lo)/(2*s))
}

// float returns the nearest float.
func (a dd) float() float64 { return a.hi + a.lo }

// horner returns Σ c[i]·xⁱ by Horner's rule.
func horner(c []float64, x float64) float64 {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = math.FMA(p, x, c[i])
	}
	return p
}

// pow2 returns 2ᵏ for -1022 ≤ k ≤ 1023.
func pow2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }
