package solvers

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
)

// blockModes solves with M ⊗ I - h A ⊗ J, where J is one Jacobian for all rows of a block, by the eigenvalues of A:
//
//	Σ_k v_k ⊗ (M - h λ_k J)⁻¹ (u_kᵀ ⊗ I) b,
//
// with right and left eigenvectors of u_kᵀ v_k = 1. Those that are not real come in pairs, of which one is enough (E.
// Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.8). A matrix of size·n rows becomes one of
// n rows for each real eigenvalue and each pair. Eigenvalues and vectors are rounded, which the iterations that use the
// solution mend.
type blockModes struct {
	n, size int
	plan    *blockPlan // of one row
	modes   []blockMode
}

type blockMode struct {
	value       complex128
	left, right []complex128 // [size]

	lu     linalg.LU // of a real eigenvalue
	matrix []float64
	x      []float64 // [n·max(l, 1)]

	pair    linalg.ComplexLU // of a pair
	complex []complex128
	z       []complex128 // [n·max(l, 1)]
}

// newBlockModes returns nil where a coupled matrix whose factorisation takes so many operations does as well.
func newBlockModes(jac *Jacobian, z Size, a []float64, size, lanes, flops int) (*blockModes, error) {
	if size < 2 || flops < modesFrom {
		return nil, nil
	}
	plan, err := jac.block(z, 1)
	if err != nil {
		return nil, err
	}
	m := &blockModes{n: z.N, size: size, plan: plan}
	work := 0
	for _, value := range eigenvalues(a, size) {
		if imag(value) < 0 {
			continue
		}
		mode := blockMode{
			value: value, right: eigenvector(a, size, value, false), left: eigenvector(a, size, value, true),
		}
		var along complex128
		for i, v := range mode.right {
			along = elem.CFMA(mode.left[i], v, along)
		}
		for i, u := range mode.left {
			mode.left[i] = elem.CDiv(u, along)
		}
		if imag(value) == 0 {
			mode.lu = plan.first.New()
			mode.matrix, mode.x = make([]float64, plan.nonZeros), make([]float64, z.N*max(lanes, 1))
			work += mode.lu.Flops()
		} else {
			if mode.pair, err = plan.first.NewComplex(); err != nil {
				return nil, nil // there is no room for it
			}
			mode.complex, mode.z = make([]complex128, plan.nonZeros), make([]complex128, z.N*max(lanes, 1))
			work += pairWork * mode.pair.Flops()
		}
		m.modes = append(m.modes, mode)
	}
	if work > flops {
		return nil, nil
	}
	return m, nil
}

const (
	// modesFrom is the number of operations of a factorisation below which the coupled matrix is factored.
	modesFrom = 200_000
	// pairWork is what an operation on complex numbers takes, in those on real ones, which kernels do many of at once.
	pairWork = 8
)

// factor factors for the entries j. It reports why it could not.
func (m *blockModes) factor(h float64, j []float64) error {
	for k := range m.modes {
		mode := &m.modes[k]
		if mode.pair == nil {
			m.plan.assemble(mode.matrix, h, []float64{real(mode.value)}, j, 0)
			if m.plan.order != nil {
				mode.lu.SetOrder(m.plan.order)
			}
			if err := mode.lu.Factor(mode.matrix); err != nil {
				return err
			}
			continue
		}
		m.plan.assembleMode(mode.complex, elem.CMul(mode.value, complex(h, 0)), j)
		if m.plan.order != nil {
			mode.pair.SetOrder(m.plan.order)
		}
		if err := mode.pair.Factor(mode.complex); err != nil {
			return err
		}
	}
	return nil
}

// assembleMode writes M - v ∂f/∂y.
func (p *blockPlan) assembleMode(to []complex128, v complex128, j []float64) {
	clear(to)
	for _, at := range p.diagonal {
		to[at] = 1
	}
	for _, places := range p.beside {
		for e, at := range places {
			to[at] += complex(p.mass.Values[e], 0)
		}
	}
	for _, s := range p.states[0] {
		re, im := real(to[s.Place]), imag(to[s.Place])
		to[s.Place] = complex(math.FMA(-real(v), j[s.E], re), math.FMA(-imag(v), j[s.E], im))
	}
}

// solve replaces x[size][n·l] by the solution, or by that of the transposed equations; from has room for as much.
func (m *blockModes) solve(x, from []float64, l int, transposed bool) {
	w := m.n * l
	from = from[:m.size*w]
	copy(from, x)
	clear(x[:m.size*w])
	for k := range m.modes {
		mode := &m.modes[k]
		in, out := mode.left, mode.right
		if transposed {
			in, out = out, in
		}
		if mode.pair == nil {
			z := mode.x[:w]
			clear(z)
			for i, c := range in {
				for e, v := range from[i*w : (i+1)*w] {
					z[e] = math.FMA(real(c), v, z[e])
				}
			}
			if transposed {
				mode.lu.SolveT(z, l)
			} else {
				mode.lu.Solve(z, l)
			}
			for i, c := range out {
				to := x[i*w : (i+1)*w]
				for e, v := range z {
					to[e] = math.FMA(real(c), v, to[e])
				}
			}
			continue
		}
		z := mode.z[:w]
		clear(z)
		for i, c := range in {
			for e, v := range from[i*w : (i+1)*w] {
				z[e] = complex(math.FMA(real(c), v, real(z[e])), math.FMA(imag(c), v, imag(z[e])))
			}
		}
		if transposed {
			mode.pair.SolveT(z, l)
		} else {
			mode.pair.Solve(z, l)
		}
		for i, c := range out { // and of the conjugate one
			to, re, im := x[i*w:(i+1)*w], 2*real(c), -2*imag(c)
			for e, v := range z {
				to[e] = math.FMA(re, real(v), math.FMA(im, imag(v), to[e]))
			}
		}
	}
}

// eigenvalues returns those of a[n·n], which are simple, by the characteristic polynomial (U. J. J. Le
// Verrier's way, as D. K. Faddeev has it) and the iteration of E. Durand and I. O. Kerner for its roots. One
// that is nearly real is real.
func eigenvalues(a []float64, n int) []complex128 {
	poly := make([]float64, n+1) // ascending
	poly[n] = 1
	m := make([]float64, n*n)
	for k := 1; k <= n; k++ {
		for i := range n {
			m[i*n+i] += poly[n-k+1]
		}
		next, trace := make([]float64, n*n), 0.0
		for i := range n {
			for j := range n {
				for e := range n {
					next[i*n+j] = math.FMA(a[i*n+e], m[e*n+j], next[i*n+j])
				}
			}
			trace += next[i*n+i]
		}
		poly[n-k] = -trace / float64(k)
		m = next
	}
	roots := make([]complex128, n)
	at, turn := complex(0.1, 0), complex(0.4, 0.9)
	for i := range roots {
		roots[i] = at
		at = elem.CMul(at, turn)
	}
	for range 400 {
		for i, z := range roots {
			var p complex128
			for k := n; k >= 0; k-- {
				p = elem.CFMA(p, z, complex(poly[k], 0))
			}
			apart := complex(1, 0)
			for j, other := range roots {
				if j != i {
					apart = elem.CMul(apart, z-other)
				}
			}
			roots[i] -= elem.CDiv(p, apart)
		}
	}
	for i, z := range roots {
		if math.Abs(imag(z)) < 1e-6*math.Abs(real(z)) {
			roots[i] = complex(real(z), 0)
		}
	}
	return roots
}

// eigenvector returns the one of a[n·n], or of its transpose, for an eigenvalue: by three steps of inverse iteration.
func eigenvector(a []float64, n int, value complex128, transposed bool) []complex128 {
	v := make([]complex128, n)
	for i := range v {
		v[i] = 1
	}
	near := elem.CMul(value, complex(1+0x1p-30, 0)) // the matrix is singular at the eigenvalue itself
	for range 3 {
		w := make([]complex128, n*(n+1))
		for i := range n {
			for j := range n {
				at := i*n + j
				if transposed {
					at = j*n + i
				}
				w[i*(n+1)+j] = complex(a[at], 0)
			}
			w[i*(n+1)+i] -= near
			w[i*(n+1)+n] = v[i]
		}
		solveSmall(w, n)
		most := 0.0
		for i := range n {
			v[i] = w[i*(n+1)+n]
			most = max(most, math.Abs(real(v[i]))+math.Abs(imag(v[i])))
		}
		for i := range v {
			v[i] = complex(real(v[i])/most, imag(v[i])/most)
		}
	}
	return v
}

// solveSmall solves the equations w[n][n+1], whose last column is the right-hand side and becomes the solution.
func solveSmall(w []complex128, n int) {
	size := func(z complex128) float64 { return math.Abs(real(z)) + math.Abs(imag(z)) }
	row := func(i int) []complex128 { return w[i*(n+1) : (i+1)*(n+1)] }
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if size(row(i)[k]) > size(row(best)[k]) {
				best = i
			}
		}
		for j := range n + 1 {
			row(k)[j], row(best)[j] = row(best)[j], row(k)[j]
		}
		for i := range n {
			if i == k {
				continue
			}
			f := elem.CDiv(row(i)[k], row(k)[k])
			for j := k; j <= n; j++ {
				row(i)[j] -= elem.CMul(f, row(k)[j])
			}
		}
	}
	for i := range n {
		row(i)[n] = elem.CDiv(row(i)[n], row(i)[i])
	}
}
