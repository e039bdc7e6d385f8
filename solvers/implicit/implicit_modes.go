package implicit

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
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
func newBlockModes(jac *matrices.Jacobian, z solvers.Size, a []float64, size, lanes, flops int) (*blockModes, error) {
	if size < 2 || flops < modesFrom {
		return nil, nil
	}
	plan, err := blockOf(jac, z, 1)
	if err != nil {
		return nil, err
	}
	m := &blockModes{n: z.N, size: size, plan: plan}
	work := 0
	for _, value := range linalg.SimpleEigenvalues(a, size) {
		if imag(value) < 0 {
			continue
		}
		mode := blockMode{
			value: value,
			right: linalg.Eigenvector(a, size, value, false), left: linalg.Eigenvector(a, size, value, true),
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
