// Package residue computes with whole numbers modulo the prime 2⁶¹ - 1.
//
// A rational function that is zero at some random residues is zero everywhere, but for a chance of its degree over
// 2⁶¹ (J. T. Schwartz, Journal of the ACM 27 (1980) 701–717, doi:10.1145/322217.322225). So identities between
// expressions are found without any rounding. Functions that are not rational take part as tables of random numbers:
// equal arguments give equal values, and nothing else is known of them.
package residue

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Number is a residue, from 0 to Prime - 1.
type Number uint64

// Prime is the modulus.
const Prime = 1<<61 - 1

// reduce returns x modulo Prime, for x < 2⁶⁴ - 1.
func reduce(x uint64) Number {
	x = x&Prime + x>>61
	if x >= Prime {
		x -= Prime
	}
	return Number(x)
}

// Add returns a + b.
func Add(a, b Number) Number { return reduce(uint64(a) + uint64(b)) }

// Neg returns -a.
func Neg(a Number) Number { return reduce(Prime - uint64(a)) }

// Sub returns a - b.
func Sub(a, b Number) Number { return reduce(uint64(a) + Prime - uint64(b)) }

// Mul returns a·b.
func Mul(a, b Number) Number {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return Add(reduce(lo&Prime), reduce(hi<<3|lo>>61))
}

// Power returns a to the power n; that of 0 is 0 for negative n.
func Power(a Number, n int) Number {
	if n < 0 {
		return Inverse(Power(a, -n))
	}
	r := Number(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			r = Mul(r, a)
		}
		a = Mul(a, a)
	}
	return r
}

// Inverse returns 1/a, and 0 for 0.
func Inverse(a Number) Number { return Power(a, Prime-2) }

// Of returns the residue of the number that x is written as: that of 0.1 is the inverse of that of 10. An infinity and
// NaN are numbers that nothing is known of.
func Of(x float64) Number {
	if x-x != 0 {
		return Hash(Number(math.Float64bits(x) >> 4))
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	whole, part, _ := strings.Cut(digits, ".")
	power, _ := strconv.Atoi(exponent)
	n, _ := strconv.ParseUint(whole+part, 10, 64)
	r := Mul(reduce(n), Power(10, power-len(part)))
	if x < 0 {
		r = Neg(r)
	}
	return r
}

// Hash returns a number that follows from a list of numbers and looks random. It is the finaliser of SplitMix64
// (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
func Hash(list ...Number) Number {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range list {
		h += uint64(v) + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return reduce(h >> 2)
}

// Fraction returns the fraction num/den of least size whose residue is a, and whether there is one with both below
// 2²⁰: the only one there is then. It is found by Euclid's algorithm (P. S. Wang, SYMSAC 1981, 212–217).
func Fraction(a Number) (num, den int64, ok bool) {
	const limit = 1 << 20
	r0, r1, s0, s1 := int64(Prime), int64(a), int64(0), int64(1)
	for r1 >= limit {
		q := r0 / r1
		r0, r1 = r1, r0-q*r1
		s0, s1 = s1, s0-q*s1
	}
	if s1 < 0 {
		r1, s1 = -r1, -s1
	}
	return r1, s1, s1 > 0 && s1 < limit
}
