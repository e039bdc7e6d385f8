package optim

import (
	"context"
	"math"
)

// squares is a sum of squares as an objective of a search.
type squares struct {
	p          LeastSquaresProblem
	now, trial Residuals
	slope, to  []float64 // gradients
	rows       int       // of the triangle
	a, side    []float64 // the triangle of the scaled Jacobian and the residuals that go with it
	rest       []float64 // the scaled gradient of the rest; nil: none
	product    []float64
	// rounding is the estimated error of the value that rounding of the residuals makes, at the current point and at
	// the one on trial, where its derivatives were evaluated.
	rounding, roundingTo float64
}

func leastSquares(ctx context.Context, p LeastSquaresProblem, x0 []float64, o Options) (Result, error) {
	n, m := p.Variables, p.Residuals
	room := func() Residuals {
		r := Residuals{R: make([]float64, m), J: make([]float64, m*n)}
		if p.HasRest {
			r.Gradient, r.Curvature = make([]float64, n), make([]float64, n*n)
		}
		return r
	}
	f := &squares{p: p, now: room(), trial: room(), slope: make([]float64, n), to: make([]float64, n)}
	s := search{o: o, n: n, b: p.Bounds, f: f, radius: 1}
	return s.run(ctx, x0)
}

func (f *squares) full() (Want, bool) { return Slopes, false }

func (f *squares) evaluate(ctx context.Context, x []float64, want Want) (value, noise float64, err error) {
	at := &f.trial
	at.Rest, at.Noise = 0, 0
	if err := f.p.Evaluate(ctx, x, want, at); err != nil {
		return 0, 0, err
	}
	if want > Values {
		transposed(at.J, at.R, f.to)
		if f.p.HasRest {
			add(f.to, 1, at.Gradient)
		}
		// A residual is rounded like the terms that the variables contribute to it.
		n, sum := len(x), 0.0
		for i, r := range at.R {
			terms := math.Abs(r)
			for j, v := range at.J[i*n : (i+1)*n] {
				terms += math.Abs(float64(v * x[j]))
			}
			sum += float64(r * terms * (r * terms))
		}
		f.roundingTo = float64(epsilon * math.Sqrt(sum))
	}
	rounding := f.rounding
	if want > Values {
		rounding = f.roundingTo
	}
	half := float64(0.5 * dot(at.R, at.R))
	return half + at.Rest, at.Noise + rounding + float64(2*epsilon*(half+math.Abs(at.Rest))), nil
}

func (f *squares) accept() {
	f.now, f.trial = f.trial, f.now
	f.slope, f.to = f.to, f.slope
	f.rounding = f.roundingTo
}

// gain adds differences of squares, which keep digits that the difference of sums does not.
func (f *squares) gain() float64 {
	s := 0.0
	for i, r := range f.now.R {
		t := f.trial.R[i]
		s += float64((r - t) * (r + t))
	}
	return float64(0.5*s) + (f.now.Rest - f.trial.Rest)
}

func (f *squares) slopes(trial bool) []float64 {
	if trial {
		return f.to
	}
	return f.slope
}

// measure lets sizes grow with the columns of the Jacobian.
func (f *squares) measure(d []float64) {
	n := f.p.Variables
	first := f.a == nil
	column := make([]float64, f.p.Residuals)
	for j := range d {
		for i := range column {
			column[i] = f.now.J[i*n+j]
		}
		length := norm(column)
		if f.p.HasRest {
			length = hypot(length, math.Sqrt(math.Max(f.now.Curvature[j*n+j], 0)))
		}
		if length > 0 && (first || length > d[j]) {
			d[j] = length
		}
	}
}

func (f *squares) model(d []float64) quadratic {
	n, m := f.p.Variables, f.p.Residuals
	rows := m
	if f.p.HasRest {
		rows += n
	}
	if f.a == nil {
		f.a, f.side, f.product = make([]float64, rows*n), make([]float64, rows), make([]float64, n)
	}
	f.a, f.side = f.a[:rows*n], f.side[:rows]
	clear(f.a)
	clear(f.side)
	copy(f.a, f.now.J)
	copy(f.side, f.now.R)
	if f.p.HasRest {
		f.rest = make([]float64, n)
		for j := range d {
			f.rest[j] = f.now.Gradient[j] / d[j]
		}
		if rank := root(f.now.Curvature, n, f.a[m*n:]); m+rank < n { // the other rows are zero
			rows = m + rank
		}
	}
	for i := range rows {
		for j := range d {
			f.a[i*n+j] /= d[j]
		}
	}
	f.rows = triangle(f.a, rows, n, f.side, nil)
	return f
}

// apply multiplies by the transpose of the triangle times the triangle.
func (f *squares) apply(z, out []float64) {
	p := f.product[:f.rows]
	multiply(f.a[:f.rows*len(z)], z, p)
	transposed(f.a[:f.rows*len(z)], p, out)
}

func (f *squares) minimize(_ []float64, free []int, z []float64, radius float64) bool {
	n, k := len(z), len(free)
	m, b := make([]float64, f.rows*k), make([]float64, f.rows)
	held := make([]float64, n)
	copy(held, z)
	for _, j := range free {
		held[j] = 0
	}
	multiply(f.a[:f.rows*n], held, b)
	add(b, 1, f.side[:f.rows])
	for i := range f.rows {
		for c, j := range free {
			m[i*k+c] = f.a[i*n+j]
		}
	}
	var h []float64
	if f.rest != nil {
		h = make([]float64, k)
		for c, j := range free {
			h[c] = f.rest[j]
		}
	}
	v := make([]float64, k)
	least := levenberg
	if f.rows+1 < k {
		least = wide
	}
	bounded := least(m, f.rows, k, b, h, within(radius, held), v)
	for c, j := range free {
		z[j] = v[c]
	}
	return bounded
}

// within returns the radius that is left for the other components of a step, some of which are held.
func within(radius float64, held []float64) float64 {
	length := norm(held)
	return math.Sqrt(math.Max((radius-length)*(radius+length), 1e-20*radius*radius))
}

// root sets the rows of out to those of a matrix L with LᵀL = c, which is symmetric and positive semidefinite: a
// Cholesky factorisation with pivots. What rounding made negative is left out. It returns how many rows are not zero.
func root(c []float64, n int, out []float64) (rank int) {
	w := make([]float64, n*n)
	copy(w, c)
	most := 0.0
	for i := range n {
		most = math.Max(most, w[i*n+i])
	}
	for k := range n {
		p := 0
		for i := range n {
			if w[i*n+i] > w[p*n+p] {
				p = i
			}
		}
		pivot := w[p*n+p]
		if pivot <= float64(float64(n)*epsilon*most) {
			return k
		}
		row := out[k*n : (k+1)*n]
		r := math.Sqrt(pivot)
		for j := range row {
			row[j] = w[p*n+j] / r
		}
		for i := range n {
			for j := range n {
				w[i*n+j] -= float64(row[i] * row[j])
			}
		}
		for j := range n { // it is done with
			w[p*n+j], w[j*n+p] = 0, 0
		}
	}
	return n
}
