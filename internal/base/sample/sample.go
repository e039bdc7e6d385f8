// Package sample makes points to look at a space with: random ones, Latin hypercubes, Sobol sequences and grids. It
// also turns them into draws from distributions.
//
// A point depends on its number and on what its sequence was made with, and on nothing else. Whoever makes point 7 need
// not make those before it, so that points can be shared out among threads and machines. The same numbers come out on
// every machine.
package sample

import (
	"fmt"
	"math"
	"math/bits"

	"odes.dev/odes/internal/base/elem"
)

// Points is a sequence of points of the unit cube. Goroutines may share it.
type Points interface {
	// Dim returns the number of coordinates.
	Dim() int
	// At writes the coordinates of point i, from 0 on, to u[Dim()]. They are in (0, 1), or in [0, 1] for a grid.
	At(i int, u []float64)
}

// Kind is a way to choose points.
type Kind struct {
	Name string // as models and command lines write it
	Doc  string
	// New returns n points of dim coordinates; seed changes which.
	New func(n, dim int, seed uint64) (Points, error)
}

// Kinds lists the ways to choose points, but for grids, which need to know how many values there are along each axis.
func Kinds() []Kind {
	return []Kind{
		{"random", "independent points", func(_, dim int, seed uint64) (Points, error) {
			return Random(dim, seed), nil
		}},
		{"lhs", "a Latin hypercube: each of n equal parts of every axis has one point", Latin},
		{"sobol", "a Sobol sequence, scrambled: even in every projection, best for n = 2^k", func(
			_, dim int, seed uint64,
		) (Points, error) {
			return Sobol(dim, seed)
		}},
	}
}

// KindNamed returns the way to choose points of that name, and whether there is one.
func KindNamed(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// mix returns 64 bits that look independent for every pair of numbers: the finaliser of splitmix64 (G. L. Steele,
// D. Lea, C. H. Flood, OOPSLA 2014, doi:10.1145/2660193.2660195), twice.
func mix(a, b uint64) uint64 {
	return scatter(scatter(a+0x9e3779b97f4a7c15) + b*0xd1342543de82ef95)
}

func scatter(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// open returns a number in (0, 1): the middle of one of 2⁵² equal parts.
func open(x uint64) float64 { return float64((float64(x>>12) + 0.5) * 0x1p-52) }

type random struct {
	dim  int
	seed uint64
}

// Random returns independent points.
func Random(dim int, seed uint64) Points { return &random{dim, seed} }

func (r *random) Dim() int { return r.dim }

func (r *random) At(i int, u []float64) {
	g := elem.NewRand(mix(r.seed, uint64(i)))
	for k := range r.dim {
		u[k] = open(g.Uint64())
	}
}

type latin struct {
	n, dim int
	seed   uint64
}

// Latin returns a Latin hypercube of n points: each of n equal parts of every axis has one of them, at a random place
// within the part (M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21:239, 1979,
// doi:10.1080/00401706.1979.10489755). Points from n on are an error of the caller.
func Latin(n, dim int, seed uint64) (Points, error) {
	if n < 1 {
		return nil, fmt.Errorf("a Latin hypercube needs a number of points from 1, not %d", n)
	}
	return &latin{n, dim, seed}, nil
}

func (l *latin) Dim() int { return l.dim }

func (l *latin) At(i int, u []float64) {
	for k := range l.dim {
		key := mix(l.seed, uint64(k))
		part := Permute(uint64(i), uint64(l.n), key)
		u[k] = (float64(part) + open(mix(key+1, uint64(i)))) / float64(l.n)
		if u[k] >= 1 { // rounding, for very many points
			u[k] = 1 - 0x1p-53
		}
	}
}

// Permute returns where the permutation of 0 … n-1 that belongs to key takes i. It is a Feistel network on as many bits
// as n-1 has, which is walked until it comes back below n (J. Black, P. Rogaway, CT-RSA 2002,
// doi:10.1007/3-540-45760-7_9). So no permutation is ever kept.
func Permute(i, n, key uint64) uint64 {
	half := max((bits.Len64(n-1)+1)/2, 1)
	mask := uint64(1)<<half - 1
	for {
		l, r := i>>half, i&mask
		for round := range uint64(6) {
			l, r = r, l^(mix(key+round, r)&mask)
		}
		if i = l<<half | r; i < n {
			return i
		}
	}
}

type grid struct{ counts []int }

// Grid returns the points of a grid with counts[k] values along axis k, ends included. The last axis changes fastest.
// An axis with one value has it in the middle.
func Grid(counts []int) Points { return &grid{counts} }

// GridSize returns how many points a grid has, or an error where these are too many to count.
func GridSize(counts []int) (int, error) {
	n := 1
	for _, c := range counts {
		if c < 1 || n > math.MaxInt/max(c, 1) {
			return 0, fmt.Errorf("a grid of %v values along its axes has more points than can be counted", counts)
		}
		n *= c
	}
	return n, nil
}

func (g *grid) Dim() int { return len(g.counts) }

func (g *grid) At(i int, u []float64) {
	for k := len(g.counts) - 1; k >= 0; k-- {
		c := g.counts[k]
		if u[k] = 0.5; c > 1 {
			u[k] = float64(i%c) / float64(c-1)
		}
		i /= c
	}
}
