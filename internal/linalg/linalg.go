// Package linalg solves systems of linear equations whose matrix has a fixed pattern and changing
// values: W = M/(hγ) − J of implicit methods.
//
// A Pattern says where a square matrix has entries. Analyze does all that depends on the pattern
// alone, once: it chooses a method, dense, band or sparse, finds irreducible blocks and orders them.
// Analysis.New returns an LU, which holds the numbers: it factors the matrix for given values, and
// solves with it and with its transpose for any number of right-hand sides, which lie in lanes:
// x[N][lanes], the lane fastest. The exact transpose is what discrete adjoints need.
//
// Every method pivots. A matrix that is singular, or cannot be told from a singular one by its
// rounded elimination, is an error that names a row and a column, so that the caller can name
// equations and states. Solutions are not refined behind the caller's back: what Solve returns is
// one pass through the factors.
//
// All elements of factors and solutions are chains of fused multiply-adds in an order that depends
// on the pattern and the pivots only. They have the same bits on every processor, on every backend
// of internal/simd and for any number of lanes. The sources of algorithms stand at their functions.
package linalg

import "fmt"

// Method is a way to factor a matrix.
type Method uint8

// The methods.
const (
	Auto Method = iota // the one that should be fastest for the pattern
	Dense
	Band
	Sparse
)

func (m Method) String() string { return [...]string{"auto", "dense", "band", "sparse"}[m] }

// LU is a factorisation of a matrix A[N][N] with a fixed pattern. It belongs to one goroutine.
//
// Right-hand sides are x[N][lanes], and solutions take their place. A lane has the same bits
// whatever the others are. Factor and the solves allocate memory only when they are called for the
// first time, with more lanes than before, or when new pivots have to be found.
type LU interface {
	// Factor factors the matrix that has the given values, in the order of the pattern. Its errors
	// are a *SingularError or a *NotFiniteError, and there is nothing to solve with then.
	Factor(values []float64) error

	// Solve replaces x by A⁻¹·x.
	Solve(x []float64, lanes int)

	// SolveT replaces x by A⁻ᵀ·x.
	SolveT(x []float64, lanes int)

	// Order returns the order of pivots with which the next Factor begins, and SetOrder sets it. A
	// Factor whose matrix needs other pivots changes it. The bits of a factorisation depend on the
	// values and on the order with which it begins: who repeats one, in another worker or from a
	// record, sets the order with which it began. Where every Factor chooses pivots anew the order
	// is nil.
	Order() *Order
	SetOrder(o *Order)

	Method() Method
	NonZeros() int // elements of the factors
	Flops() int    // operations of a Factor without exchanges of rows, a fused multiply-add being two
	Memory() int   // bytes, with what other factorisations of the Analysis share
}

// Analysis is what the pattern alone decides. It is not changed once it is made, and serves any
// number of factorisations in any number of goroutines.
type Analysis struct {
	p         *Pattern
	method    Method
	structure *structure
	order     *Order
	band      *bandwidths
}

// Analyze analyses a pattern for the given method. The error is a *SingularError if all matrices
// with this pattern are singular.
func Analyze(p *Pattern, method Method) (*Analysis, error) {
	p.check()
	a := &Analysis{p: p, method: method}
	var err error
	if a.structure, err = newStructure(p); err != nil {
		return nil, err
	}
	if a.order, err = a.structure.order(nil); err != nil {
		return nil, err
	}
	if method == Auto || method == Band {
		a.band = newBandwidths(p, identity(p.N))
		if b := newBandwidths(p, cuthillMcKee(p)); b.flops() < a.band.flops() {
			a.band = b
		}
	}
	if method == Auto {
		a.method = a.choose()
	}
	switch a.method {
	case Dense, Sparse:
		a.band = nil
	case Band:
	default:
		return nil, fmt.Errorf("linalg: there is no method %d", method)
	}
	return a, nil
}

// choose returns the method that should be fastest. The prices of an operation, and of an element of
// the factors, are relative to those of the sparse method; they are ratios of measured times.
func (a *Analysis) choose() Method {
	n := a.p.N
	sparse := a.order.flops + 8*(len(a.order.lRows)+len(a.order.uRows)+len(a.p.Rows)) + 20*n
	band := a.band.flops() + 2*n*a.band.stride() + 20*n
	dense := denseFlops(n) + 2*n*n + 20*n
	if n > 24 {
		dense /= 4 // kernels
	}
	if a.band.lower*(a.band.lower+a.band.upper) >= kernelFrom {
		band /= 2
	}
	if dense <= min(sparse, band) {
		return Dense
	}
	if band <= sparse {
		return Band
	}
	return Sparse
}

// identity returns 0, …, n−1.
func identity(n int) []int32 {
	order := make([]int32, n)
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// New returns a factorisation with memory of its own.
func (a *Analysis) New() LU {
	switch a.method {
	case Dense:
		return newDense(a.p)
	case Band:
		return newBand(a.band)
	}
	return newSparse(a.structure, a.order)
}

// Method returns the method of the factorisations.
func (a *Analysis) Method() Method { return a.method }
