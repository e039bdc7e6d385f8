package steady

import (
	"errors"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Delayed is a System whose rates read states at earlier times. Eval and EvalJacobian take all that is read of the past
// to be the present, as it is at a steady state.
type Delayed interface {
	System
	// Lags returns the derivatives of the rates at (t, y) by each time at which they read the state.
	Lags(t float64, y []float64) *Lags
}

// Lags are matrices [N·N], by rows: the derivatives of the rates by the present state, and by the state each delay
// earlier.
type Lags struct {
	Now  []float64
	Then [][]float64
	Tau  []float64
}

// characteristic returns the rightmost roots λ of the characteristic equation
//
//	det(λ I - A - Σ B_k exp(-λ τ_k)) = 0,
//
// reduced by the laws. They are eigenvalues of the generator of the semigroup, by collocation at Chebyshev's points on
// the longest delay (D. Breda, S. Maset, R. Vermiglio, SIAM Journal on Scientific Computing 27 (2005) 482–495,
// doi:10.1137/030601600). A root that grows is no larger than the sum R of the norms of the matrices, so the points
// resolve exp(λ θ) for all of these. Each root that is returned solves the equation itself: Newton's method finishes
// it, and must stay beside the eigenvalue.
func (p *Plan) characteristic(g *Lags) (*Spectrum, error) {
	c := &collocation{}
	var place []int
	for k, m := range append([][]float64{g.Now}, g.Then...) {
		if !finite(m) {
			return nil, &Error{Fault: Broken, Cause: errors.New("the derivatives of the rates are not finite")}
		}
		var a []float64
		a, place, c.n = p.reduce(mat.NewDense(p.n, p.n, m))
		if k == 0 {
			c.now = a
		} else {
			c.then = append(c.then, a)
		}
	}
	c.tau, c.longest = g.Tau, slices.Max(g.Tau)
	if c.n == 0 {
		return &Spectrum{All: true}, nil
	}
	c.scale()
	bound := c.bound()
	const most, least = 600, 12 // rows of the matrix, and points
	m := least + int(math.Ceil(min(bound*c.longest, most)))
	for ; c.n*(m+1) <= most; m += m / 2 {
		s := c.roots(m)
		if s == nil {
			continue
		}
		vector := s.vector
		s.vector = func(k int) func(i int) float64 {
			of := vector(k)
			return func(i int) float64 {
				if place[i] < 0 {
					return 0
				}
				return of(place[i])
			}
		}
		s.size = max(s.size, float64(1e3*bound)) // for what counts as rounding
		return s, nil
	}
	return nil, &Error{Fault: Broken, Cause: errors.New("whether it is stable was not found: the " +
		"characteristic roots of this many states and of delays as long as these need too large a matrix; read the " +
		"state after a long run with final(…)")}
}

// collocation is a linear equation with delays.
type collocation struct {
	n       int
	now     []float64
	then    [][]float64
	tau     []float64
	longest float64
}

// scale balances all matrices by the same powers of two, as balance does those of one.
func (c *collocation) scale() {
	n := c.n
	all := append([][]float64{c.now}, c.then...)
	for range 10 {
		done := true
		for i := range n {
			row, col := 0.0, 0.0
			for _, a := range all {
				for k := range n {
					if k != i {
						row += math.Abs(a[i*n+k])
						col += math.Abs(a[k*n+i])
					}
				}
			}
			if row == 0 || col == 0 {
				continue
			}
			_, e := math.Frexp(math.Sqrt(row / col))
			f := math.Ldexp(1, e-1)
			if f <= 1.9 && f >= 0.6 {
				continue
			}
			done = false
			for _, a := range all {
				for k := range n {
					a[i*n+k] /= f
					a[k*n+i] *= f
				}
			}
		}
		if done {
			return
		}
	}
}

// bound returns what no root that grows exceeds: the sum of the norms of the matrices, by the largest sum of a row.
func (c *collocation) bound() (sum float64) {
	for _, a := range append([][]float64{c.now}, c.then...) {
		most := 0.0
		for i := range c.n {
			row := 0.0
			for _, v := range a[i*c.n : (i+1)*c.n] {
				row += math.Abs(v)
			}
			most = max(most, row)
		}
		sum += most
	}
	return sum
}

// roots returns the rightmost roots by m+1 points; nil where the eigenvalues are no roots yet.
func (c *collocation) roots(m int) *Spectrum {
	n, size := c.n, c.n*(m+1)
	x := make([]float64, m+1) // Chebyshev's points on [-1, 1], from 1
	w := make([]float64, m+1) // barycentric weights
	for i := range x {
		x[i] = math.Cos(math.Pi * float64(i) / float64(m))
		w[i] = float64(1 - 2*(i%2))
	}
	w[0], w[m] = w[0]/2, w[m]/2
	a := make([]float64, size*size)
	for i := 1; i <= m; i++ { // the derivative at the points
		diagonal := 0.0
		for j := range x {
			if i == j {
				continue
			}
			d := w[j] / w[i] / (x[i] - x[j]) * 2 / c.longest
			diagonal -= d
			for e := range n {
				a[(i*n+e)*size+j*n+e] = d
			}
		}
		for e := range n {
			a[(i*n+e)*size+i*n+e] = diagonal
		}
	}
	for i := range n {
		copy(a[i*size:i*size+n], c.now[i*n:(i+1)*n])
	}
	for k, tau := range c.tau {
		for j, l := range lagrange(x, w, 1-2*tau/c.longest) {
			for i := range n {
				for e := range n {
					a[i*size+j*n+e] = math.FMA(l, c.then[k][i*n+e], a[i*size+j*n+e])
				}
			}
		}
	}
	var eigen mat.Eigen
	if !eigen.Factorize(mat.NewDense(size, size, a), mat.EigenNone) {
		return nil
	}
	values := eigen.Values(nil)
	slices.SortStableFunc(values, func(a, b complex128) int {
		switch {
		case real(a) > real(b):
			return -1
		case real(a) < real(b):
			return 1
		}
		return 0
	})
	// The roots to the right of the axis, those beside it, and the next one. Further to the left there may be
	// eigenvalues that are no roots, of the border alone.
	s := &Spectrum{All: true}
	beside := float64(-0.01 * c.bound())
	var vectors [][]complex128
	for _, v := range values {
		if len(s.Values) > 0 && !(real(v) >= 0) {
			break
		}
		root, vector, ok := c.finish(v)
		if !ok && real(v) < beside {
			continue
		} else if !ok {
			return nil
		}
		s.Values, vectors = append(s.Values, root), append(vectors, vector)
	}
	if len(s.Values) == 0 {
		return nil
	}
	s.vector = func(k int) func(i int) float64 {
		return func(i int) float64 { return cmplx.Abs(vectors[k][i]) }
	}
	s.order()
	return s
}

// lagrange returns the values at z of the polynomials that are 1 at one of the points x and 0 at the others.
func lagrange(x, w []float64, z float64) []float64 {
	out := make([]float64, len(x))
	sum := 0.0
	for j := range x {
		d := z - x[j]
		if math.Abs(d) < 1e-15 {
			clear(out)
			out[j] = 1
			return out
		}
		out[j] = w[j] / d
		sum += out[j]
	}
	for j := range out {
		out[j] /= sum
	}
	return out
}

// finish is Newton's method for a root and its vector, from an eigenvalue that must lie beside it.
func (c *collocation) finish(from complex128) (root complex128, vector []complex128, ok bool) {
	n := c.n
	v := make([]complex128, n)
	for i := range v {
		v[i] = complex(1+float64((i*2654435761)%1009)/1009, 0)
	}
	unit := func(v []complex128) {
		size := 0.0
		for _, x := range v {
			size = max(size, cmplx.Abs(x))
		}
		for i := range v {
			v[i] /= complex(size, 0)
		}
	}
	near := float64(1e-6 * max(cmplx.Abs(from), 1/c.longest))
	root = from
	for pass := range 20 {
		delta, slope := c.at(root)
		u := make([]complex128, n)
		for i := range n {
			for k := range n {
				u[i] += slope[i*n+k] * v[k]
			}
		}
		solve(delta, u, max(c.bound(), cmplx.Abs(root)))
		largest := 0
		for i := range u {
			if cmplx.Abs(u[i]) > cmplx.Abs(u[largest]) {
				largest = i
			}
		}
		if u[largest] == 0 || cmplx.IsNaN(u[largest]) || cmplx.IsInf(u[largest]) {
			return root, nil, false
		}
		step := v[largest] / u[largest]
		copy(v, u)
		unit(v)
		if pass < 2 { // they turn the vector
			continue
		}
		root -= step
		if !(cmplx.Abs(root-from) <= near) {
			return root, nil, false
		}
		if cmplx.Abs(step) <= float64(1e-13*max(cmplx.Abs(root), c.bound())) {
			if math.Abs(imag(root)) <= float64(1e-12*c.bound()) && imag(from) == 0 {
				root = complex(real(root), 0)
			}
			return root, v, true
		}
	}
	return root, nil, false
}

// at returns λ I - A - Σ B_k exp(-λ τ_k) and its derivative by λ.
func (c *collocation) at(root complex128) (delta, slope []complex128) {
	n := c.n
	delta, slope = make([]complex128, n*n), make([]complex128, n*n)
	for i, v := range c.now {
		delta[i] = complex(-v, 0)
	}
	for i := range n {
		delta[i*n+i] += root
		slope[i*n+i] = 1
	}
	for k, b := range c.then {
		e := cmplx.Exp(-root * complex(c.tau[k], 0))
		for i, v := range b {
			delta[i] -= complex(v, 0) * e
			slope[i] += complex(v*c.tau[k], 0) * e
		}
	}
	return delta, slope
}

// solve solves a x = b by elimination, and overwrites both: a may be singular. Size is that of its terms.
func solve(a, b []complex128, size float64) {
	n := len(b)
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if cmplx.Abs(a[i*n+k]) > cmplx.Abs(a[p*n+k]) {
				p = i
			}
		}
		if p != k {
			for j := range n {
				a[p*n+j], a[k*n+j] = a[k*n+j], a[p*n+j]
			}
			b[p], b[k] = b[k], b[p]
		}
		if tiny := float64(1e-18 * size); cmplx.Abs(a[k*n+k]) < tiny {
			a[k*n+k] = complex(tiny, 0)
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			for j := k; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
			b[i] -= f * b[k]
		}
	}
	for k := n - 1; k >= 0; k-- {
		for j := k + 1; j < n; j++ {
			b[k] -= a[k*n+j] * b[j]
		}
		b[k] /= a[k*n+k]
	}
}
