package solvers

import (
	"math"
	"sync"

	"odes.dev/odes/internal/elem"
)

// Polynomials on [0, 1] by their values at the nodes of Chebyshev and Lobatto, and by their coefficients in Bernstein's
// basis, between which they lie.

// basis is what all polynomials of a degree share.
type basis struct {
	n         int       // degree
	nodes     []float64 // [n+1] on [0, 1]
	bernstein []float64 // [n+1][n+1]: values at the nodes → coefficients, a row for each
	amplify   float64   // the largest sum of magnitudes of a row
	probe     float64   // a point far from the nodes
	atProbe   []float64 // [n+1] Lagrange's polynomials there
	binomial  []float64 // [n+1] n over j
	before    []float64 // [n+1] values → the last coefficient but one, in Chebyshev's basis
	last      []float64 // [n+1] values → the last coefficient, but for its sign
}

// guardDegree returns the degree of the polynomials through the samples of guards.
func guardDegree(info Info) int { return max(info.DenseDegree, info.DenseOrder, 2) + 1 }

// bases keeps the bases by their degree: int → *basis.
var bases sync.Map

func basisOf(n int) *basis {
	if b, ok := bases.Load(n); ok {
		return b.(*basis)
	}
	b := newBasis(n)
	bases.Store(n, b)
	return b
}

func newBasis(n int) *basis {
	p := &basis{
		n: n, nodes: make([]float64, n+1), before: make([]float64, n+1), last: make([]float64, n+1),
		atProbe: make([]float64, n+1), binomial: make([]float64, n+1),
	}
	p.binomial[0] = 1
	for j := range n {
		p.binomial[j+1] = float64(p.binomial[j]*float64(n-j)) / float64(j+1)
	}
	for k := range p.nodes {
		sine := elem.Sin(float64(math.Pi*float64(k)) / float64(2*n))
		p.nodes[k] = float64(sine * sine)
	}
	p.nodes[n] = 1
	for k, x := range p.nodes {
		p.last[k] = 1 / float64(n)
		p.before[k] = float64(2*math.FMA(-2, x, 1)) / float64(n)
		if k%2 == 1 {
			p.last[k], p.before[k] = -p.last[k], -p.before[k]
		}
		if k == 0 || k == n {
			p.last[k] *= 0.5
			p.before[k] *= 0.5
		}
	}
	p.bernstein = toBernstein(p.nodes)
	for r := range n + 1 {
		sum := 0.0
		for _, c := range p.bernstein[r*(n+1) : (r+1)*(n+1)] {
			sum += math.Abs(c)
		}
		p.amplify = max(p.amplify, sum)
	}
	p.probe = float64(0.4*p.nodes[n/2]) + float64(0.6*p.nodes[n/2+1])
	for j, x := range p.nodes {
		p.atProbe[j] = 1
		for k, z := range p.nodes {
			if k != j {
				p.atProbe[j] *= (p.probe - z) / (x - z)
			}
		}
	}
	return p
}

// toBernstein returns the matrix that makes the coefficients of a polynomial in Bernstein's basis on [0, 1] of its
// values at the nodes.
func toBernstein(nodes []float64) []float64 {
	m := len(nodes)
	a, inv := make([]float64, m*m), make([]float64, m*m)
	for k, x := range nodes {
		binomial := 1.0
		for j := range m {
			v := binomial
			for range j {
				v = float64(v * x)
			}
			for range m - 1 - j {
				v = float64(v * (1 - x))
			}
			a[k*m+j] = v
			binomial = float64(binomial*float64(m-1-j)) / float64(j+1)
		}
		inv[k*m+k] = 1
	}
	for k := range m { // the matrix is totally positive: no pivots are needed
		d := 1 / a[k*m+k]
		for j := range m {
			a[k*m+j], inv[k*m+j] = float64(a[k*m+j]*d), float64(inv[k*m+j]*d)
		}
		for i := range m {
			if c := -a[i*m+k]; i != k && c != 0 {
				for j := range m {
					a[i*m+j] = math.FMA(c, a[k*m+j], a[i*m+j])
					inv[i*m+j] = math.FMA(c, inv[k*m+j], inv[i*m+j])
				}
			}
		}
	}
	return inv
}

// polynomialAt evaluates the polynomial with coefficients b in Bernstein's basis, by a scheme like Horner's.
func (p *basis) polynomialAt(b []float64, x float64) float64 {
	v, power, rest := float64(0), 1.0, 1-x
	for j, c := range b {
		v = math.FMA(v, rest, float64(float64(p.binomial[j]*power)*c))
		power = float64(power * x)
	}
	return v
}

// root returns where a polynomial with coefficients b in Bernstein's basis, and values f0 and f1 at x0 and x1, is zero
// between these, and the magnitude of its slope there. It takes a few secants. The slope is 0 where these do not serve.
func (p *basis) root(b []float64, x0, x1, f0, f1 float64) (x, slope float64) {
	lo, hi := x0, x1
	for range 10 {
		by := (f1 - f0) / (x1 - x0)
		x = x1 - f1/by
		switch {
		case !(x >= lo && x <= hi):
			return 0, 0
		case math.Abs(x-x1) < 1e-8: // as the error is about the square of that
			return x, math.Abs(by)
		}
		x0, f0, x1, f1 = x1, f1, x, p.polynomialAt(b, x)
	}
	return 0, 0
}

// halve makes of the coefficients right of a polynomial those of its left half, and of its right half in place, by de
// Casteljau's scheme.
func halve(left, right []float64) {
	for k := range left {
		left[k] = right[0]
		for j := range len(right) - 1 - k {
			right[j] = float64(0.5 * (right[j] + right[j+1]))
		}
	}
}

// extremes returns bounds of a polynomial of degree n with coefficients b, and of its slope over n.
func extremes(b []float64) (least, most, up, down float64) {
	least, most = b[0], b[0]
	up, down = math.Inf(1), math.Inf(-1)
	for j := 1; j < len(b); j++ {
		d := b[j] - b[j-1]
		least, most = min(least, b[j]), max(most, b[j])
		up, down = min(up, d), max(down, d)
	}
	return least, most, up, down
}
