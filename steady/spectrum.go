package steady

import (
	"cmp"
	"errors"
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/solvers/matrices"
)

// Spectrum are eigenvalues of the Jacobian at a state, reduced by the laws and by algebraic equations: those of
// λ M v = J v along what the laws leave free, without those at infinity.
type Spectrum struct {
	// Values are the eigenvalues, those nearest to growing first: all of them, or those near zero where there are many.
	Values []complex128
	All    bool
	size   float64 // of the largest
	// vector returns how much each state takes part in an eigenvalue; 0 for what follows from others.
	vector func(k int) func(i int) float64
}

// Unstable returns how many of the eigenvalues grow.
func (s *Spectrum) Unstable() (n int) {
	for _, v := range s.Values {
		if real(v) > s.rounding() {
			n++
		}
	}
	return n
}

// rounding is how large the real part of an eigenvalue may be by rounding alone.
func (s *Spectrum) rounding() float64 {
	const some = 1e-14
	return float64(some * float64(len(s.Values)) * s.size)
}

// Slowest returns the eigenvalue that is nearest to growing: -∞ where there is none, NaN where it is not known.
func (s *Spectrum) Slowest() complex128 {
	switch {
	case s == nil:
		return cmplx.NaN()
	case len(s.Values) == 0:
		return complex(math.Inf(-1), 0)
	}
	return s.Values[0]
}

// order sorts the eigenvalues.
func (s *Spectrum) order() {
	perm := make([]int, len(s.Values))
	for k := range perm {
		perm[k] = k
	}
	slices.SortStableFunc(perm, func(a, b int) int {
		x, y := s.Values[a], s.Values[b]
		return cmp.Or(-cmp.Compare(real(x), real(y)), -cmp.Compare(imag(x), imag(y)))
	})
	values, vector := slices.Clone(s.Values), s.vector
	for k, from := range perm {
		values[k] = s.Values[from]
		s.size = max(s.size, cmplx.Abs(values[k]))
	}
	s.Values, s.vector = values, func(k int) func(i int) float64 { return vector(perm[k]) }
}

// stability returns the eigenvalues of the Jacobian at y; nil where they did not converge. A state that is unstable or
// marginal is an *Error.
func (s *search) stability(y []float64) (*Spectrum, error) {
	var spectrum *Spectrum
	var err error
	if delayed, is := s.sys.(Delayed); is {
		spectrum, err = s.plan.characteristic(delayed.Lags(s.t, y))
	} else {
		s.sys.EvalJacobian(s.t, y, s.entries)
		spectrum, err = s.plan.Spectrum(s.entries, s.o.eigen)
	}
	if err != nil || spectrum == nil || len(spectrum.Values) == 0 {
		return spectrum, err
	}
	slowest := spectrum.Slowest()
	names := func() []string {
		size := spectrum.vector(0)
		var order []int
		for i := range s.n {
			order = append(order, i)
		}
		slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(size(a), size(b)) })
		for k, i := range order {
			if size(i) < float64(0.1*size(order[0])) {
				order = order[:k]
				break
			}
		}
		return s.names(order)
	}
	switch limit := spectrum.rounding(); {
	case real(slowest) > limit:
		e := &Error{Fault: Unstable, Rate: real(slowest), States: names()}
		if imag(slowest) != 0 {
			e.Period = float64(2 * math.Pi / math.Abs(imag(slowest)))
		}
		return spectrum, e
	case real(slowest) >= -limit && spectrum.All:
		return spectrum, &Error{Fault: Marginal, States: names()}
	}
	return spectrum, nil
}

// Spectrum returns eigenvalues for the entries of the Jacobian at a state: all for up to most states (0: 200), for more
// those near zero. It is nil where they did not converge.
func (p *Plan) Spectrum(entries []float64, most int) (*Spectrum, error) {
	if most == 0 {
		most = eigenvalues
	}
	if !finite(entries) {
		return nil, &Error{Fault: Broken, Cause: errors.New("the derivatives of the rates are not finite")}
	}
	mass := p.jacobian.Mass
	n := p.n - len(p.Laws)
	if mass != nil {
		n -= len(mass.Unknowns)
	}
	switch {
	case n <= 0:
		return &Spectrum{All: true}, nil
	case n > most:
		return p.nearZero(entries)
	}
	return p.spectrum(entries)
}

// eigenvalues is the most states of a system whose eigenvalues are all computed, unless said otherwise.
const eigenvalues = 200

// spectrum computes all eigenvalues.
func (p *Plan) spectrum(entries []float64) (*Spectrum, error) {
	full := mat.NewDense(p.n, p.n, nil)
	for e, v := range entries {
		if row, col := int(p.jacobian.Rows[e]), int(p.jacobian.Cols[e]); row < p.n && col < p.n {
			full.Set(row, col, full.At(row, col)+v)
		}
	}
	free, err := p.withoutUnknowns(full)
	if err != nil || free == nil {
		return nil, err
	}
	reduced, place, n := p.reduce(free)
	balance(reduced, n)
	matrix := mat.NewDense(n, n, reduced)
	var eigen mat.Eigen
	if !eigen.Factorize(matrix, mat.EigenNone) {
		return nil, nil
	}
	s := &Spectrum{Values: eigen.Values(nil), All: true}
	values := s.Values
	s.vector = func(k int) func(i int) float64 { // they cost more than the values, and few are looked at
		var vectors mat.CDense
		at, nearest := -1, 0.0
		if eigen.Factorize(matrix, mat.EigenRight) {
			eigen.VectorsTo(&vectors)
			for j, v := range eigen.Values(nil) {
				if d := cmplx.Abs(v - values[k]); at < 0 || d < nearest {
					at, nearest = j, d
				}
			}
		}
		return func(i int) float64 {
			if place[i] < 0 || at < 0 {
				return 0
			}
			return cmplx.Abs(vectors.At(place[i], at))
		}
	}
	s.order()
	return s, nil
}

// reduce returns the matrix of what the laws leave free, [n·n], and the place of each state in it, -1 for what follows
// from others.
func (p *Plan) reduce(free *mat.Dense) (reduced []float64, place []int, n int) {
	place = make([]int, p.n)
	var states []int
	for i, k := range p.law {
		if place[i] = -1; k < 0 && !p.unknown(i) {
			place[i] = len(states)
			states = append(states, i)
		}
	}
	n = len(states)
	reduced = make([]float64, n*n)
	for row, i := range states {
		to := reduced[row*n : (row+1)*n]
		for col := range p.n {
			v := free.At(i, col)
			switch {
			case v == 0 || p.unknown(col):
				continue
			case place[col] >= 0:
				to[place[col]] += v
				continue
			}
			law := &p.Laws[p.law[col]] // by which the pivot moves with the others
			own := law.Coefs[slices.Index(law.States, col)]
			for k, j := range law.States {
				if j != col && !p.unknown(j) {
					to[place[j]] -= float64(v * law.Coefs[k] / own)
				}
			}
		}
	}
	return reduced, place, n
}

// unknown reports whether state i is an algebraic unknown.
func (p *Plan) unknown(i int) bool {
	m := p.jacobian.Mass
	if m == nil {
		return false
	}
	_, found := slices.BinarySearch(m.Unknowns, int32(i))
	return found
}

// withoutUnknowns eliminates the unknowns z of a system with a Mass from its derivatives. With w = x + C z,
//
//	ẇ = f_x w + (f_z - f_x C) z,   0 = g_x w + (g_z - g_x C) z,
//
// it is f_x - (f_z - f_x C)(g_z - g_x C)⁻¹ g_x: the Schur complement. It is nil where the equations do not determine
// the unknowns.
func (p *Plan) withoutUnknowns(full *mat.Dense) (*mat.Dense, error) {
	m := p.jacobian.Mass
	if m == nil {
		return full, nil
	}
	of := func(row int, z int32) float64 {
		v := full.At(row, int(z))
		for e, c := range m.Values {
			if m.Cols[e] == z {
				v -= float64(full.At(row, int(m.Rows[e])) * c)
			}
		}
		return v
	}
	k := len(m.Unknowns)
	g, gx, fz := mat.NewDense(k, k, nil), mat.NewDense(k, p.n, nil), mat.NewDense(p.n, k, nil)
	for a, row := range m.Unknowns {
		for b, z := range m.Unknowns {
			g.Set(a, b, of(int(row), z))
		}
		for col := range p.n {
			gx.Set(a, col, full.At(int(row), col))
		}
	}
	for row := range p.n {
		for b, z := range m.Unknowns {
			fz.Set(row, b, of(row, z))
		}
	}
	var solved, less mat.Dense
	if solved.Solve(g, gx) != nil {
		var names []int
		for _, z := range m.Unknowns {
			names = append(names, int(z))
		}
		return nil, &SingularError{States: names}
	}
	less.Mul(fz, &solved)
	less.Sub(full, &less)
	return &less, nil
}

// nearZero computes eigenvalues near zero: they are those of the inverse that are largest, which the method of W. E.
// Arnoldi finds (Quarterly of Applied Mathematics 9 (1951) 17–29), with one solution for each product.
func (p *Plan) nearZero(entries []float64) (*Spectrum, error) {
	const (
		size    = 60   // of the space
		settled = 1e-6 // the relative residual of an eigenvalue that counts
	)
	linear, err := p.NewLinear(p.Matrix(entries))
	if err != nil {
		return nil, err
	}
	mass := p.jacobian.Mass
	if mass == nil {
		mass = matrices.NewMass(p.n, nil, nil, nil, nil)
	}
	apply := func(x []float64) []float64 { // M_plan⁻¹ (M x), zero in the rows of laws
		y := make([]float64, p.n)
		mass.Add(y, x)
		for i, k := range p.law {
			if k >= 0 {
				y[i] = 0
			}
		}
		linear.Solve(y, 1)
		return y
	}
	v := make([]float64, p.n)
	for i := range v {
		v[i] = 1 + float64((i*2654435761)%1009)/1009
	}
	v = apply(v) // within the laws
	var space [][]float64
	h := mat.NewDense(size+1, size, nil)
	length := math.Sqrt(dot(v, v))
	m := 0
	for ; m < size && length > 0 && !math.IsInf(length, 0); m++ {
		for i := range v {
			v[i] /= length
		}
		space = append(space, v)
		w := apply(v)
		before := math.Sqrt(dot(w, w))
		for range 2 { // once more for what rounding left
			for k, u := range space {
				c := dot(u, w)
				h.Set(k, m, h.At(k, m)+c)
				for i := range w {
					w[i] = math.FMA(-c, u[i], w[i])
				}
			}
		}
		length = math.Sqrt(dot(w, w))
		if length <= float64(1e-14*before) {
			m, length = m+1, 0
			break
		}
		h.Set(m+1, m, length)
		v = w
	}
	if m == 0 || length-length != 0 {
		return nil, nil
	}
	var eigen mat.Eigen
	if !eigen.Factorize(mat.DenseCopyOf(h.Slice(0, m, 0, m)), mat.EigenRight) {
		return nil, nil
	}
	var vectors mat.CDense
	eigen.VectorsTo(&vectors)
	s := &Spectrum{}
	var of []int
	for k, mu := range eigen.Values(nil) {
		if cmplx.Abs(vectors.At(m-1, k))*length <= float64(settled*cmplx.Abs(mu)) && mu != 0 {
			s.Values, of = append(s.Values, 1/mu), append(of, k)
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	s.vector = func(k int) func(i int) float64 {
		return func(i int) float64 {
			sum := complex(0, 0)
			for j, u := range space {
				sum += complex(u[i], 0) * vectors.At(j, of[k])
			}
			return cmplx.Abs(sum)
		}
	}
	s.order()
	return s, nil
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum = math.FMA(x, b[i], sum)
	}
	return sum
}

// balance scales rows and columns of a[n][n] by powers of two until their sizes are alike: eigenvalues stay what they
// are, and their rounding becomes less (E. E. Osborne, Journal of the ACM 7 (1960) 338–345).
func balance(a []float64, n int) {
	for range 10 {
		done := true
		for i := range n {
			row, col := 0.0, 0.0
			for k := range n {
				if k != i {
					row += math.Abs(a[i*n+k])
					col += math.Abs(a[k*n+i])
				}
			}
			if row == 0 || col == 0 {
				continue
			}
			_, e := math.Frexp(math.Sqrt(row / col))
			if f := math.Ldexp(1, e-1); f > 1.9 || f < 0.6 {
				done = false
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
