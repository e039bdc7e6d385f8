// Package spd writes symmetric positive definite matrices by numbers without bounds: the logarithms of the standard
// deviations, and the elements below the diagonal of the Cholesky factor, divided by that of their row. A search over
// these comes upon no other matrices. A variance is a function of one number alone, so it can have bounds, or be held.
//
// Elements that are zero stay zero. In a row of the factor, an element below the diagonal is free where that of the
// matrix is not zero; otherwise it follows from those before it. Every positive definite matrix with these zeros has
// one such row of numbers, in any order of the rows of the matrix. Reference: Pinheiro and Bates, Stat Comput 6:289
// (1996), who have the logarithm of the diagonal of the factor in place of that of the standard deviations.
package spd

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Pattern says which elements of a matrix are not zero, and in which order of its rows the factor is taken.
type Pattern struct {
	N      int
	order  []int // the rows of the matrix, as the factor has them
	row    []int // of each number: its element of the lower triangle in that order, by rows
	column []int
	at     []int // [N][N], in that order: the number of an element; -1 for none
}

// New returns the pattern of a symmetric positive definite matrix.
func New(n int, w []float64) (*Pattern, error) {
	order := make([]int, n)
	for i := range n {
		order[i] = i
		for j := range i {
			if a, b := w[i*n+j], w[j*n+i]; math.Abs(a-b) > 1e-12*(math.Abs(a)+math.Abs(b)) {
				return nil, fmt.Errorf("it is not symmetric: [%d,%d] is %g, and [%d,%d] is %g", i+1, j+1, a, j+1,
					i+1, b)
			}
		}
	}
	p := arranged(order, func(i, j int) bool { return w[i*n+j] != 0 })
	if p.Of(w) == nil {
		return nil, fmt.Errorf("it is not positive definite")
	}
	return p, nil
}

// arranged returns the pattern with the rows of a matrix in some order.
func arranged(order []int, full func(i, j int) bool) *Pattern {
	n := len(order)
	p := &Pattern{N: n, order: order, at: make([]int, n*n)}
	for i := range n {
		for j := range n {
			p.at[i*n+j] = -1
			if j < i && full(order[i], order[j]) || i == j {
				p.at[i*n+j] = len(p.row)
				p.row, p.column = append(p.row, i), append(p.column, j)
			}
		}
	}
	return p
}

// Led returns the pattern of the same matrices with the rows of an element, which is not zero, at the head of the
// factor: their correlation is that of a number alone.
func (p *Pattern) Led(row, column int) *Pattern {
	order := []int{column, row}
	for i := range p.N {
		if i != row && i != column {
			order = append(order, i)
		}
	}
	full := map[[2]int]bool{}
	for k := range p.row {
		i, j := p.Element(k)
		full[[2]int{i, j}], full[[2]int{j, i}] = true, true
	}
	return arranged(order, func(i, j int) bool { return full[[2]int{i, j}] })
}

// Size is how many numbers there are.
func (p *Pattern) Size() int { return len(p.row) }

// Element is where number k belongs to, in the lower triangle.
func (p *Pattern) Element(k int) (row, column int) {
	i, j := p.order[p.row[k]], p.order[p.column[k]]
	return max(i, j), min(i, j)
}

// Alone reports whether a correlation is that of number k alone, which then is r/√(1 − r²) of it: where nothing else is
// in its row of the factor, nor in the row of its column.
func (p *Pattern) Alone(k int) bool {
	for j := range p.row {
		if j != k && p.row[j] != p.column[j] && (p.row[j] == p.row[k] || p.row[j] == p.column[k]) {
			return false
		}
	}
	return p.row[k] != p.column[k]
}

// Of returns the numbers of a matrix; nil where it is not positive definite.
func (p *Pattern) Of(w []float64) []float64 {
	n := p.N
	c, x := make([]float64, n*n), make([]float64, len(p.row))
	for i := range n {
		for j := range i + 1 {
			s := w[p.order[i]*n+p.order[j]]
			for k := range j {
				s -= float64(c[i*n+k] * c[j*n+k])
			}
			if i != j {
				c[i*n+j] = s / c[j*n+j]
				continue
			}
			if !(s > 0) || math.IsInf(s, 1) {
				return nil
			}
			c[i*n+i] = math.Sqrt(s)
			x[p.at[i*n+i]] = elem.Log(math.Sqrt(w[p.order[i]*n+p.order[i]]))
			for l := range i {
				if k := p.at[i*n+l]; k >= 0 {
					x[k] = c[i*n+l] / c[i*n+i]
				}
			}
		}
	}
	return x
}

// Matrix returns the matrix of some numbers.
func (p *Pattern) Matrix(x []float64) []float64 {
	w, _, _ := p.expand(x, 0)
	return w
}

// Derivatives returns the matrix with the derivatives of its elements by the numbers, [N][N][Size], and second ones,
// [N][N][Size][Size].
func (p *Pattern) Derivatives(x []float64) (w, slopes, curves []float64) { return p.expand(x, len(x)) }

// jet is a number with its first and second derivatives.
type jet struct {
	v float64
	g []float64
	h []float64
}

// add adds by·a·b to j.
func (j *jet) add(by float64, a, b *jet) {
	n := len(j.g)
	j.v += float64(by * a.v * b.v)
	for i := range n {
		j.g[i] += float64(by * (float64(a.g[i]*b.v) + float64(a.v*b.g[i])))
		for k := range n {
			j.h[i*n+k] += float64(by * (float64(a.h[i*n+k]*b.v) + float64(a.v*b.h[i*n+k]) +
				float64(a.g[i]*b.g[k]) + float64(a.g[k]*b.g[i])))
		}
	}
}

// over divides j by a.
func (j *jet) over(a *jet) {
	n := len(j.g)
	one := jet{v: 1 / a.v, g: make([]float64, n), h: make([]float64, n*n)}
	for i := range n {
		one.g[i] = -a.g[i] / (a.v * a.v)
		for k := range n {
			one.h[i*n+k] = float64(2*a.g[i]*a.g[k])/(a.v*a.v*a.v) - a.h[i*n+k]/(a.v*a.v)
		}
	}
	out := jet{g: make([]float64, n), h: make([]float64, n*n)}
	out.add(1, j, &one)
	*j = out
}

// norm makes j, which is a sum of squares, 1/√j.
func (j *jet) norm() {
	n := len(j.g)
	v := 1 / math.Sqrt(j.v)
	first, second := float64(-0.5*v)/j.v, float64(0.75*v)/(j.v*j.v)
	for i := range n {
		for k := range n {
			j.h[i*n+k] = float64(first*j.h[i*n+k]) + float64(second*j.g[i]*j.g[k])
		}
	}
	for i := range n {
		j.g[i] *= first
	}
	j.v = v
}

// expand makes the matrix, with derivatives by n of the numbers: all or none.
func (p *Pattern) expand(x []float64, n int) (w, slopes, curves []float64) {
	m := p.N
	fresh := func() jet { return jet{g: make([]float64, n), h: make([]float64, n*n)} }
	c := make([]jet, m*m) // the factor of the correlations, whose rows have length 1
	sd := make([]jet, m)
	for i := range m {
		square := fresh()
		for j := range i + 1 {
			e := fresh()
			k := p.at[i*m+j]
			switch {
			case i == j:
				e.v = 1
				sd[i] = fresh()
				sd[i].v = elem.Exp(x[k])
				if n > 0 {
					sd[i].g[k], sd[i].h[k*n+k] = sd[i].v, sd[i].v
				}
			case k >= 0:
				e.v = x[k]
				if n > 0 {
					e.g[k] = 1
				}
			default: // the element of the matrix is zero
				for l := range j {
					e.add(-1, &c[i*m+l], &c[j*m+l])
				}
				e.over(&c[j*m+j])
			}
			c[i*m+j] = e
			square.add(1, &e, &e)
		}
		square.norm()
		for j := range i + 1 {
			e := fresh()
			e.add(1, &c[i*m+j], &square)
			c[i*m+j] = e
		}
	}
	w = make([]float64, m*m)
	slopes, curves = make([]float64, m*m*n), make([]float64, m*m*n*n)
	for i := range m {
		for j := range i + 1 {
			if p.at[i*m+j] < 0 {
				continue
			}
			e, both := fresh(), fresh()
			both.add(1, &sd[i], &sd[j])
			if i == j {
				e = both
			} else {
				r := fresh()
				for l := range j + 1 {
					r.add(1, &c[i*m+l], &c[j*m+l])
				}
				e.add(1, &r, &both)
			}
			a, b := p.order[i], p.order[j]
			for _, at := range [2]int{a*m + b, b*m + a} {
				w[at] = e.v
				copy(slopes[at*n:(at+1)*n], e.g)
				copy(curves[at*n*n:(at+1)*n*n], e.h)
			}
		}
	}
	return w, slopes, curves
}
