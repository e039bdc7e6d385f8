package ensemble

import (
	"cmp"
	"math"
	"slices"
)

// sketchSize is how many numbers each level of a Sketch holds. As many numbers are kept exactly.
const sketchSize = 4096

// Sketch estimates quantiles of numbers that come one by one. It keeps levels of numbers, each of which stands for
// twice as many as one of the level below. A level that is full is sorted, and every other number of it goes one level
// up: the odd and the even ones by turns, so that errors cancel, and the same numbers give the same sketch (J. I.
// Munro, M. S. Paterson, Theor. Comput. Sci. 12:315, 1980, doi:10.1016/0304-3975(80)90061-4). The zero value is empty.
type Sketch struct {
	levels [][]float64
	odd    []bool
	n      int
	wrong  float64 // bound on how many ranks a quantile is off
}

// Add adds a number, which is not NaN.
func (s *Sketch) Add(x float64) {
	s.n++
	s.push(0, x)
}

func (s *Sketch) push(level int, x float64) {
	if level == len(s.levels) {
		s.levels, s.odd = append(s.levels, nil), append(s.odd, false)
	}
	if s.levels[level] = append(s.levels[level], x); len(s.levels[level]) >= sketchSize {
		s.compact(level)
	}
}

// compact empties a level into the one above.
func (s *Sketch) compact(level int) {
	list := s.levels[level]
	slices.Sort(list)
	from := 0
	if s.odd[level] {
		from = 1
	}
	s.odd[level] = !s.odd[level]
	s.wrong += math.Ldexp(0.5, level)
	s.levels[level] = list[:0]
	for i := from; i < len(list); i += 2 {
		s.push(level+1, list[i])
	}
}

// Merge adds what o holds. Sketches that are merged in the same order give the same sketch.
func (s *Sketch) Merge(o *Sketch) {
	s.n += o.n
	s.wrong += o.wrong
	for level, list := range o.levels {
		for _, x := range list {
			for len(s.levels) < level {
				s.levels, s.odd = append(s.levels, nil), append(s.odd, false)
			}
			s.push(level, x)
		}
	}
}

// Exact tells whether quantiles are those of all numbers.
func (s *Sketch) Exact() bool { return s.wrong == 0 }

// Error bounds how far the rank of a quantile may be off, as a share of all numbers.
func (s *Sketch) Error() float64 {
	if s.n == 0 {
		return 0
	}
	return s.wrong / float64(s.n)
}

// Quantiles returns the numbers below which the shares at, ascending, of all numbers are. Between two numbers it
// interpolates, as NumPy does. All are NaN where there is no number.
func (s *Sketch) Quantiles(at ...float64) []float64 {
	type weighted struct {
		x float64
		n int
	}
	var list []weighted
	total := 0
	for level, xs := range s.levels {
		for _, x := range xs {
			list = append(list, weighted{x, 1 << level})
			total += 1 << level
		}
	}
	slices.SortFunc(list, func(a, b weighted) int { return cmp.Compare(a.x, b.x) })
	out := make([]float64, len(at))
	for i, q := range at {
		if out[i] = math.NaN(); total == 0 {
			continue
		}
		rank := float64(q * float64(total-1))
		down := math.Floor(rank)
		lo, hi, seen := math.NaN(), math.NaN(), 0
		for _, w := range list {
			seen += w.n
			if lo != lo && float64(seen) > down {
				lo = w.x
			}
			if float64(seen) > down+1 {
				hi = w.x
				break
			}
		}
		if hi != hi || hi == lo {
			hi = lo
			out[i] = lo
			continue
		}
		out[i] = lo + float64((rank-down)*(hi-lo))
	}
	return out
}
