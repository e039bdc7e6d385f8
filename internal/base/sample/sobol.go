package sample

import (
	_ "embed" // the table below
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// joeKuo has a line for each dimension from the second on: a primitive polynomial, as the bits of a number, and the
// first direction numbers m. It is the beginning of new-joe-kuo-6.21201 (S. Joe, F. Y. Kuo, SIAM J. Sci. Comput.
// 30:2635, 2008, doi:10.1137/070709359; copyright 2008 by the authors, who let anyone use it with this notice).
//
//go:embed joe_kuo.txt
var joeKuo string

// MaxSobol is the largest dimension of a Sobol sequence.
const MaxSobol = 1000

const sobolBits = 32

type sobol struct {
	v     [][sobolBits]uint32
	seeds []uint32 // of the scrambling of each coordinate; 0 for none
}

// Sobol returns a Sobol sequence in at most MaxSobol dimensions. It has 2³² points; the first 2ᵏ are even in every
// projection. Its digits are scrambled as by A. B. Owen (J. Complexity 14:466, 1998, doi:10.1006/jcom.1998.0487), with
// a hash of the seed in place of random trees (B. Burley, J. Comput. Graph. Tech. 9(4), 2020). So sequences of
// different seeds are independent, and each point by itself is uniform. Seed 0 leaves the digits as they are.
func Sobol(dim int, seed uint64) (Points, error) {
	if dim > MaxSobol {
		return nil, fmt.Errorf("Sobol sequences have at most %d dimensions, not %d; choose lhs", MaxSobol, dim)
	}
	s := &sobol{v: make([][sobolBits]uint32, dim), seeds: make([]uint32, dim)}
	rest := joeKuo
	for k := range s.v {
		if seed != 0 {
			s.seeds[k] = uint32(mix(seed, uint64(k)))
		}
		if k == 0 {
			for b := range sobolBits {
				s.v[0][b] = 1 << (sobolBits - 1 - b)
			}
			continue
		}
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		s.v[k] = directions(strings.Fields(line))
	}
	return s, nil
}

// directions makes the direction numbers of a line of the table.
func directions(fields []string) (v [sobolBits]uint32) {
	number := func(i int) uint32 {
		x, _ := strconv.ParseUint(fields[i], 10, 32) // a test reads the whole table
		return uint32(x)
	}
	poly, degree := number(0), len(fields)-1
	for b := range sobolBits {
		if b < degree {
			v[b] = number(1+b) << (sobolBits - 1 - b)
			continue
		}
		v[b] = v[b-degree] ^ v[b-degree]>>degree
		for j := 1; j < degree; j++ {
			if poly>>(degree-j)&1 != 0 {
				v[b] ^= v[b-j]
			}
		}
	}
	return v
}

func (s *sobol) Dim() int { return len(s.v) }

func (s *sobol) At(i int, u []float64) {
	for k := range s.v {
		var x uint32
		for left := uint32(i); left != 0; left &= left - 1 {
			x ^= s.v[k][bits.TrailingZeros32(left)]
		}
		if s.seeds[k] != 0 {
			x = scramble(x, s.seeds[k])
		}
		u[k] = float64((float64(x) + 0.5) * 0x1p-32)
	}
}

// scramble permutes the digits of x, each depending on those before it. The hash of S. Laine and T. Karras (Comput.
// Graph. Forum 30:1295, 2011) lets each bit depend on lower ones, so the bits are reversed around it.
func scramble(x, seed uint32) uint32 {
	x = bits.Reverse32(x)
	x ^= x * 0x3d20adea
	x += seed
	x *= seed>>16 | 1
	x ^= x * 0x05526c56
	x ^= x * 0x53a22864
	return bits.Reverse32(x)
}
