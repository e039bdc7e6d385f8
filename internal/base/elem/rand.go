package elem

import (
	"math"
	"math/bits"
)

// Rand is the random generator of the language's rand and randn: the same seed
// gives the same numbers on every machine and in every version of odes.
//
// The generator is xoshiro256** 1.0 (D. Blackman, S. Vigna, "Scrambled linear
// pseudorandom number generators", ACM TOMS 47:36, 2021, doi:10.1145/3460772),
// its state filled by splitmix64 from the seed, as its authors advise. Uniform
// numbers are the upper 53 bits of an output times 2⁻⁵³. Normal numbers come in
// pairs from the polar method (G. Marsaglia, T. A. Bray, SIAM Review 6:260,
// 1964, doi:10.1137/1006063) with this package's Log.
type Rand struct {
	s        [4]uint64
	spare    float64
	hasSpare bool
}

// NewRand returns a generator for seed.
func NewRand(seed uint64) *Rand {
	r := new(Rand)
	for i := range r.s {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		r.s[i] = z ^ z>>31
	}
	return r
}

// Uint64 returns the next 64 bits.
func (r *Rand) Uint64() uint64 {
	s := &r.s
	out := bits.RotateLeft64(s[1]*5, 7) * 9
	t := s[1] << 17
	s[2] ^= s[0]
	s[3] ^= s[1]
	s[1] ^= s[2]
	s[0] ^= s[3]
	s[2] ^= t
	s[3] = bits.RotateLeft64(s[3], 45)
	return out
}

// Float64 returns a multiple of 2⁻⁵³ in [0, 1).
func (r *Rand) Float64() float64 {
	return float64(float64(r.Uint64()>>11) * 0x1p-53)
}

// Norm returns a number of the standard normal distribution.
func (r *Rand) Norm() float64 {
	if r.hasSpare {
		r.hasSpare = false
		return r.spare
	}
	for {
		u := float64(2*r.Float64()) - 1
		v := float64(2*r.Float64()) - 1
		q := math.FMA(u, u, float64(v*v))
		if q >= 1 || q == 0 {
			continue
		}
		f := math.Sqrt(-2 * Log(q) / q)
		r.spare, r.hasSpare = float64(v*f), true
		return float64(u * f)
	}
}
