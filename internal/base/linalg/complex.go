package linalg

import "math"

// ComplexLU is an LU of a complex matrix. It is dense where the Analysis chose Dense, and sparse
// otherwise.
type ComplexLU interface {
	// Factor factors the matrix that has the given values, in the order of the pattern. See LU.
	Factor(values []complex128) error

	// Solve replaces x[N][lanes] by A⁻¹·x.
	Solve(x []complex128, lanes int)

	// SolveT replaces x[N][lanes] by A⁻ᵀ·x, without conjugation.
	SolveT(x []complex128, lanes int)

	// Order and SetOrder are those of LU.
	Order() *Order
	SetOrder(o *Order)

	NonZeros() int // elements of the factors
	Flops() int    // complex operations of a Factor
	Memory() int   // bytes, with what other factorisations of the Analysis share
}

// NewComplex returns a factorisation of complex matrices with memory of its own. The error is a
// *MemoryError: a band whose sparse factors have no room.
func (a *Analysis) NewComplex() (ComplexLU, error) {
	if a.options.Method == Dense {
		return newComplexDense(a.p), nil
	}
	order, err := a.ordered()
	if err != nil {
		return nil, err
	}
	return newComplexSparse(a.structure, order, a.options.Memory), nil
}

// complexFMA returns a·b + c, in four fused multiply-adds.
func complexFMA(a, b, c complex128) complex128 {
	return complex(math.FMA(real(a), real(b), math.FMA(-imag(a), imag(b), real(c))),
		math.FMA(real(a), imag(b), math.FMA(imag(a), real(b), imag(c))))
}

// complexMul returns a·b.
func complexMul(a, b complex128) complex128 {
	return complex(math.FMA(real(a), real(b), float64(-imag(a)*imag(b))),
		math.FMA(real(a), imag(b), float64(imag(a)*real(b))))
}

// complexMagnitude returns the sum of the magnitudes of both parts, by which LAPACK chooses pivots.
func complexMagnitude(a complex128) float64 { return math.Abs(real(a)) + math.Abs(imag(a)) }

// complexNegativeInverse returns −1/a (R. L. Smith, Algorithm 116, Commun. ACM 5, 1962).
func complexNegativeInverse(a complex128) complex128 {
	re, im := real(a), imag(a)
	if math.Abs(re) >= math.Abs(im) {
		r := im / re
		d := math.FMA(im, r, re)
		return complex(-1/d, r/d)
	}
	r := re / im
	d := math.FMA(re, r, im)
	return complex(-r/d, 1/d)
}

// complexScaled returns a times a power of two.
func complexScaled(a complex128, by float64) complex128 {
	return complex(float64(real(a)*by), float64(imag(a)*by))
}

// complexLargest returns the greatest magnitude of the values and whether all are finite.
func complexLargest(values []complex128) (most float64, finite bool) {
	for _, v := range values {
		m := complexMagnitude(v)
		if !(m <= math.MaxFloat64) {
			return m, false
		}
		most = max(most, m)
	}
	return most, true
}

// complexNotFinite returns the error that names the first value that is infinite or NaN.
func (p *Pattern) complexNotFinite(values []complex128) error {
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			if v := complexMagnitude(values[e]); !(v <= math.MaxFloat64) {
				return &NotFiniteError{Row: int(p.Rows[e]), Col: j, Value: v}
			}
		}
	}
	return nil
}

// groups returns no columns: complex ones are computed one by one.
func (f *complexSparse) groups() []columnGroup { return nil }

// eliminateGroup would eliminate the columns of a group.
func (f *complexSparse) eliminateGroup([]complex128, *columnGroup, float64, bool) (good bool, err error) {
	return true, nil
}

// tailColumns computes the columns of the tail. It returns false if watch is set and one of U grows.
func (f *complexSparse) tailColumns(values []complex128, _ []columnGroup, watch bool) bool {
	for k := int(f.s.tail); k < int(f.s.tailEnd); k++ {
		if !f.tailColumn(values, k, watch) {
			return false
		}
	}
	return true
}

// fast would factor with machine code.
func (f *complexSparse) fast([]complex128) bool { return false }

func (f *complexSparse) forget() {}

func (f *complexSparse) Solve(x []complex128, lanes int) {
	x = x[:f.s.p.N*lanes]
	for l := range lanes {
		f.solve(x[l:], lanes)
	}
}

func (f *complexSparse) SolveT(x []complex128, lanes int) {
	x = x[:f.s.p.N*lanes]
	for l := range lanes {
		f.solveT(x[l:], lanes)
	}
}

func (f *complexSparse) Memory() int {
	values := cap(f.own) + len(f.x) + len(f.w)
	return 16*values + f.o.memory()
}
