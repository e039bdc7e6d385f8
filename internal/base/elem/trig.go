package elem

import (
	"math"
	"math/bits"
)

// trigBig is the magnitude from which the reduction by three words of π/2 gives way to the exact
// one.
const trigBig = 0x1p27

// trigReduce returns q and r with x = n·π/2 + r, q = n mod 4 and |r| ≤ π/4 (slightly more), for a
// finite x. The error of r is below 2⁻⁷⁰ of r, and below 2⁻⁵³ of r.lo.
func trigReduce(x float64) (q int, r dd) {
	if math.Abs(x) >= trigBig {
		return trigReduceBig(x)
	}
	n := math.FMA(x, twoOverPi, toInteger) - toInteger
	t := math.FMA(-n, halfPiHi, x) // exact: a multiple of 2⁻⁵³ below 1
	w := twoMul(n, halfPiLo)
	r = twoSum(t, -w.hi)
	r = quickTwoSum(r.hi, r.lo-math.FMA(n, halfPiLo2, w.lo))
	return int(int64(n) & 3), r
}

// trigReduceBig is trigReduce by the method of Payne and Hanek (ACM SIGNUM Newsletter 18(1):19,
// 1983): the product of the 53-bit integer M in x = M·2ᴱ with the 256 bits of 2/π that matter
// modulo 4. At least 120 bits of the fraction are significant for every double.
func trigReduceBig(x float64) (q int, r dd) {
	b := math.Float64bits(math.Abs(x))
	m := b&fractionMask | 1<<52
	e := int(b>>52) - 1075
	// Bit i of 2/π has weight 2⁻ⁱ; with i < e-1 it contributes multiples of 4.
	var p [4]uint64 // p[0] most significant
	var carry uint64
	for i := 3; i >= 0; i-- {
		hi, lo := bits.Mul64(m, twoOverPiAt(e-1+64*i))
		var c uint64
		p[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	q = int(p[0] >> 62)
	// The fraction as a signed number of 256 bits.
	for i := range 3 {
		p[i] = p[i]<<2 | p[i+1]>>62
	}
	p[3] <<= 2
	sign := 1.0
	if p[0]>>63 == 1 {
		q++
		sign = -1
		var c uint64 = 1
		for i := 3; i >= 0; i-- {
			p[i], c = bits.Add64(^p[i], 0, c)
		}
	}
	// Drop leading zeros. Then 53 and 64 bits make the two words.
	z := 0
	for p[0] == 0 && z < 128 {
		p[0], p[1], p[2], p[3] = p[1], p[2], p[3], 0
		z += 64
	}
	s := bits.LeadingZeros64(p[0])
	a := p[0]<<s | p[1]>>(64-s)
	c := p[1]<<s | p[2]>>(64-s)
	z += s
	f := dd{
		float64(float64(a>>11) * pow2(-53-z)),
		float64(float64(a<<53|c>>11) * pow2(-117-z)),
	}
	if x < 0 {
		sign, q = -sign, -q
	}
	return q & 3, quickTwoSum(f.hi, f.lo).mul(dd{halfPiHi, halfPiLo}).scale(sign)
}

// twoOverPiAt returns the 64 bits of 2/π from bit i on (bit 1 is the first
// after the point); i > -64.
func twoOverPiAt(i int) uint64 {
	i += 63
	w, s := i/64-1, uint(i%64)
	var a, b uint64
	if w >= 0 {
		a = twoOverPiBits[w]
	}
	if w+1 < len(twoOverPiBits) {
		b = twoOverPiBits[w+1]
	}
	return a<<s | b>>(64-s)
}

// sinKernel returns sin(r) in two words, |r| ≤ π/4, to about 2⁻⁵⁷ of it.
func sinKernel(r dd) dd {
	z := float64(r.hi * r.hi)
	p := sinCoef[6]
	p = math.FMA(p, z, sinCoef[5])
	p = math.FMA(p, z, sinCoef[4])
	p = math.FMA(p, z, sinCoef[3])
	p = math.FMA(p, z, sinCoef[2])
	p = math.FMA(p, z, sinCoef[1])
	p = math.FMA(p, z, sinCoef[0])
	v := float64(z * r.hi)
	t := math.FMA(v, p, math.FMA(float64(-0.5*z), r.lo, r.lo))
	s := r.hi + t
	return dd{s, (r.hi - s) + t}
}

// cosKernel returns cos(r) in two words, |r| ≤ π/4, to about 2⁻⁵⁸ of it.
func cosKernel(r dd) dd {
	z := float64(r.hi * r.hi)
	zl := math.FMA(r.hi, r.hi, -z)
	p := cosCoef[6]
	p = math.FMA(p, z, cosCoef[5])
	p = math.FMA(p, z, cosCoef[4])
	p = math.FMA(p, z, cosCoef[3])
	p = math.FMA(p, z, cosCoef[2])
	p = math.FMA(p, z, cosCoef[1])
	p = math.FMA(p, z, cosCoef[0])
	h := float64(0.5 * z)
	w := 1 - h
	l := (1 - w) - h
	l -= math.FMA(r.hi, r.lo, float64(0.5*zl))
	t := math.FMA(float64(z*z), p, l)
	s := w + t
	return dd{s, (w - s) + t}
}

// sinCos returns sin(x) or cos(x), according to the quadrant q to start from.
func sinCos(x float64, q int) float64 {
	if !(math.Abs(x) <= math.MaxFloat64) {
		return math.NaN()
	}
	n, r := trigReduce(x)
	n += q
	s, c := sinKernel(r), cosKernel(r)
	v := s.hi
	if n&1 == 1 {
		v = c.hi
	}
	if n&2 == 2 {
		v = -v
	}
	return v
}

// Sin returns the sine; NaN for ±Inf. Error ≤ 0.8 ULP.
func Sin(a float64) float64 {
	if math.Abs(a) < 0x1p-27 { // a²/6 is below a quarter ulp
		return a
	}
	return sinCos(a, 0)
}

// Cos returns the cosine; NaN for ±Inf. Error ≤ 0.8 ULP.
func Cos(a float64) float64 { return sinCos(a, 1) }

// Tan returns the tangent; NaN for ±Inf. Error ≤ 0.9 ULP.
func Tan(a float64) float64 {
	x := math.Abs(a)
	switch {
	case x < 0x1p-28: // a²/3 is below half an ulp
		return a
	case !(x <= math.MaxFloat64):
		return math.NaN()
	}
	n, r := trigReduce(a)
	num, den := sinKernel(r), cosKernel(r)
	if n&1 == 1 {
		num, den = den.neg(), num
	}
	return num.quotient(den)
}
