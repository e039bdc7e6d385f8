// Package bernstein holds polynomials on [0, 1]: by their values at the nodes of Chebyshev and Lobatto, and by their
// coefficients in Bernstein's basis, between which they lie.
package bernstein

import (
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/base/elem"
)

// Basis is what all polynomials of a degree share.
type Basis struct {
	N        int          // degree
	Nodes    []float64    // [N+1] on [0, 1]
	Rows     []float64    // [N+1][N+1]: values at the nodes → coefficients, a row for each
	Amplify  float64      // the largest sum of magnitudes of a row
	Probes   [2]float64   // points far from the nodes
	AtProbes [2][]float64 // [N+1] Lagrange's polynomials there
	Before   []float64    // [N+1] values → the last coefficient but one, in Chebyshev's basis
	Last     []float64    // [N+1] values → the last coefficient, but for its sign
	binomial []float64    // [N+1] N over j
}

// bases keeps the bases by their degree: int → *Basis.
var bases sync.Map

// Of returns the basis of a degree, which everybody shares.
func Of(n int) *Basis {
	if b, ok := bases.Load(n); ok {
		return b.(*Basis)
	}
	b := newBasis(n)
	bases.Store(n, b)
	return b
}

func newBasis(n int) *Basis {
	p := &Basis{
		N: n, Nodes: make([]float64, n+1), Before: make([]float64, n+1), Last: make([]float64, n+1),
		binomial: make([]float64, n+1),
	}
	p.binomial[0] = 1
	for j := range n {
		p.binomial[j+1] = float64(p.binomial[j]*float64(n-j)) / float64(j+1)
	}
	for k := range p.Nodes {
		sine := elem.Sin(float64(math.Pi*float64(k)) / float64(2*n))
		p.Nodes[k] = float64(sine * sine)
	}
	p.Nodes[n] = 1
	for k, x := range p.Nodes {
		p.Last[k] = 1 / float64(n)
		p.Before[k] = float64(2*math.FMA(-2, x, 1)) / float64(n)
		if k%2 == 1 {
			p.Last[k], p.Before[k] = -p.Last[k], -p.Before[k]
		}
		if k == 0 || k == n {
			p.Last[k] *= 0.5
			p.Before[k] *= 0.5
		}
	}
	p.Rows = toBernstein(p.Nodes)
	for r := range n + 1 {
		sum := 0.0
		for _, c := range p.Rows[r*(n+1) : (r+1)*(n+1)] {
			sum += math.Abs(c)
		}
		p.Amplify = max(p.Amplify, sum)
	}
	p.Probes[0] = float64(0.4*p.Nodes[n/2]) + float64(0.6*p.Nodes[n/2+1])
	p.Probes[1] = float64(0.55*p.Nodes[3*n/4]) + float64(0.45*p.Nodes[3*n/4+1])
	for i, at := range p.Probes {
		p.AtProbes[i] = make([]float64, n+1)
		for j, x := range p.Nodes {
			p.AtProbes[i][j] = 1
			for k, z := range p.Nodes {
				if k != j {
					p.AtProbes[i][j] *= (at - z) / (x - z)
				}
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

// At evaluates the polynomial with coefficients b in Bernstein's basis, by a scheme like Horner's.
func (p *Basis) At(b []float64, x float64) float64 {
	v, power, rest := float64(0), 1.0, 1-x
	for j, c := range b {
		v = math.FMA(v, rest, float64(float64(p.binomial[j]*power)*c))
		power = float64(power * x)
	}
	return v
}

// Root returns where a polynomial with coefficients b in Bernstein's basis, and values f0 and f1 at x0 and x1, is zero
// between these, and the magnitude of its slope there. It takes a few secants. The slope is 0 where these do not serve.
func (p *Basis) Root(b []float64, x0, x1, f0, f1 float64) (x, slope float64) {
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
		x0, f0, x1, f1 = x1, f1, x, p.At(b, x)
	}
	return 0, 0
}

// Coefficients writes those of the polynomial with these values at the nodes to b; both are of length N+1.
func (p *Basis) Coefficients(values, b []float64) {
	for r := range b {
		sum := 0.0
		for j, c := range p.Rows[r*(p.N+1) : (r+1)*(p.N+1)] {
			sum = math.FMA(c, values[j], sum)
		}
		b[r] = sum
	}
}

// Within makes of the coefficients b of a polynomial those of its part over [lo, hi], in place.
func Within(b []float64, lo, hi float64) {
	n := len(b) - 1
	if hi < 1 { // what is left of hi: b[n] becomes the value there
		for k := 1; k <= n; k++ {
			for j := n; j >= k; j-- {
				b[j] = math.FMA(hi, b[j]-b[j-1], b[j-1])
			}
		}
		lo = min(lo/hi, 1)
	}
	if lo > 0 && hi > 0 {
		for k := n; k >= 1; k-- {
			for j := range k {
				b[j] = math.FMA(lo, b[j+1]-b[j], b[j])
			}
		}
	}
}

// Halve makes of the coefficients right of a polynomial those of its left half, and of its right half in place, by de
// Casteljau's scheme.
func Halve(left, right []float64) {
	for k := range left {
		left[k] = right[0]
		for j := range len(right) - 1 - k {
			right[j] = float64(0.5 * (right[j] + right[j+1]))
		}
	}
}

// Extremes returns bounds of a polynomial of degree n with coefficients b, and of its slope over n.
func Extremes(b []float64) (least, most, up, down float64) {
	least, most = b[0], b[0]
	up, down = math.Inf(1), math.Inf(-1)
	for j := 1; j < len(b); j++ {
		d := b[j] - b[j-1]
		least, most = min(least, b[j]), max(most, b[j])
		up, down = min(up, d), max(down, d)
	}
	return least, most, up, down
}

// Path is how some values move along a step, as far as a polynomial tells.
type Path struct {
	T, H, T1 float64 // start, length and end
	*Basis
	Values [][]float64 // [N+1][values] at its nodes

	values, coeffs []float64 // scratch
}

// Bounds bounds the values along the path, which may turn between the nodes.
func (p *Path) Bounds(least, most []float64) {
	p.values, p.coeffs = slices.Grow(p.values[:0], p.N+1)[:p.N+1], slices.Grow(p.coeffs[:0], p.N+1)[:p.N+1]
	for j := range least {
		for k := range p.values {
			p.values[k] = p.Values[k][j]
		}
		p.Coefficients(p.values, p.coeffs)
		least[j], most[j] = slices.Min(p.coeffs), slices.Max(p.coeffs)
	}
}

// Between bounds what moves from a to b within h by a slope that stays between low and high.
func Between(a, b, h, low, high float64) (least, most float64) {
	least, most = min(a, b), max(a, b)
	if low < 0 && high > 0 { // between lines of these slopes through both ends
		most = max(most, math.FMA(high/(high-low), b-a-float64(low*h), a))
		least = min(least, math.FMA(low/(high-low), float64(high*h)-(b-a), a))
	}
	return least, most
}
