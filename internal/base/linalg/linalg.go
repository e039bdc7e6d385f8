// Package linalg solves systems of linear equations whose matrix has a fixed pattern and changing
// values: W = M/(hγ) − J of implicit methods.
//
// A Pattern says where a square matrix has entries. Analyze does all that depends on the pattern
// alone, once: it chooses a method, dense, band or sparse, finds irreducible blocks and orders them.
// Analysis.New returns an LU, which holds the numbers: it factors the matrix for given values, and
// solves with it and with its transpose for any number of right-hand sides, which lie in lanes:
// x[N][lanes], the lane fastest. The exact transpose is what discrete adjoints need.
//
// For grids too large to factor there is GMRES, which needs only products with the matrix, with an
// incomplete factorisation or block Jacobi as a preconditioner. Analyze takes it where factors have no
// room, or would take many seconds each time.
//
// A sparse factorisation that is repeated often gets machine code for its pattern, which gives the same
// bits. Schedules list the same arithmetic for programs that are to contain it.
//
// Every factorisation pivots. A matrix that is singular, or cannot be told from a singular one by its
// rounded elimination, is an error that names a row and a column, so that the caller can name
// equations and states; Analysis.Dependent finds all that depend on each other. What solves with other
// factors than whole ones of good pivots is refined until residuals are rounding.
//
// All elements of factors and solutions are chains of fused multiply-adds in an order that depends
// on the pattern and the pivots only. They have the same bits on every processor, on every backend
// of internal/base/simd and for any number of lanes. The sources of algorithms stand at their functions.
package linalg

import (
	"errors"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/base/team"
)

// Method is a way to factor a matrix.
type Method uint8

// The methods.
const (
	Auto Method = iota // the one that should be fastest for the pattern
	Dense
	Band
	Sparse
	Iterative // no factors: GMRES
)

var methodNames = []string{"auto", "dense", "band", "sparse", "gmres"}

func (m Method) String() string { return methodNames[m] }

// Methods returns the names of the methods, Auto first.
func Methods() []string { return slices.Clone(methodNames) }

// MethodOf returns the method with the given name, and Auto for any other.
func MethodOf(name string) Method { return Method(max(0, slices.Index(methodNames, name))) }

// LU is a factorisation of a matrix A[N][N] with a fixed pattern. It belongs to one goroutine.
//
// Right-hand sides are x[N][lanes], and solutions take their place. A lane has the same bits
// whatever the others are. Factor and the solves allocate memory only when they are called for the
// first time, with more lanes than before, when new pivots have to be found, or when machine code is
// made.
type LU interface {
	// Factor factors the matrix that has the given values, in the order of the pattern. Its errors
	// are a *SingularError, a *NotFiniteError, or a *MemoryError if new pivots fill more than the
	// memory holds. There is nothing to solve with then.
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

	// Keep copies the factors of the last Factor, which are Kept numbers; 0 where none are worth keeping. It returns
	// false if they have another order of pivots than the pattern's, and take other room. Restore makes the LU solve as
	// if its last Factor had been that of the LU of the same Analysis that kept them, with its bits. They are not to
	// change until the next Factor or Restore, since large ones are read where they are.
	Kept() int
	Keep(to []float64) bool
	Restore(from []float64)

	Method() Method
	NonZeros() int // elements of the factors
	Flops() int    // operations of a Factor without exchanges of rows, a fused multiply-add being two
	// Work returns the operations of a Factor and of a solution, of one lane, by what is tried first. How many
	// iterations a solution takes depends on the matrix; they are as many as usual.
	Work() (factor, solve int)
	Memory() int // bytes, with what other factorisations of the Analysis share
}

// Analysis is what the pattern alone decides. It is not changed once it is made, and serves any
// number of factorisations in any number of goroutines.
type Analysis struct {
	p         *Pattern
	options   Options
	structure *structure // nil for Dense
	order     *Order     // nil for Dense, if dear, and if it would need too much memory, as tooLarge says
	tooLarge  *MemoryError
	ordered   func() (*Order, error) // finds the order, once; nil for Dense
	band      *bandwidths
	products  *iterativePlan // of Iterative
	easy      bool           // factors are made only where the diagonal does not dominate
	runs      *diagonals     // of these
	refined   *refinedPlan   // of these
	filled    *filledPlan    // of these; nil where factors take less
}

// Options are what may be asked of an Analysis.
type Options struct {
	Method Method

	// Memory is how many bytes a factorisation may take; 0 stands for 2 GB.
	Memory int

	// Straight has Auto leave out Band, which has no Straight, for matrices so small that a dense one has.
	Straight bool
}

// Analyze analyses a pattern. The error is a *SingularError if all matrices with this pattern are
// singular, and a *MemoryError if no factorisation has room in the memory.
func Analyze(p *Pattern, o Options) (*Analysis, error) {
	p.check()
	if o.Memory <= 0 {
		o.Memory = math.MaxInt32
	}
	a := &Analysis{p: p, options: o}
	if n := p.N; o.Method == Auto && n > 60 && 4*len(p.Rows) > n*n {
		a.options.Method = Dense // nothing else would be chosen
	}
	var err error
	if m := a.options.Method; m == Dense {
		if rows, matched := match(p); matched < p.N {
			return nil, unmatched(p, rows)
		}
	} else {
		if a.structure, err = newStructure(p); err != nil {
			return nil, err
		}
		a.band = newBandwidths(p, identity(p.N))
		if b := newBandwidths(p, cuthillMcKee(p)); b.flops() < a.band.flops() {
			a.band = b
		}
		a.ordered = sync.OnceValues(func() (*Order, error) { return a.structure.best(o.Memory) })
		if m == Auto && a.dear() {
			a.options.Method = Iterative
		} else {
			a.order, err = a.ordered()
			if err != nil && !errors.As(err, &a.tooLarge) {
				return nil, err
			}
		}
		if a.options.Method == Auto {
			a.options.Method = a.choose()
		}
	}
	switch bytes := a.bytes(a.options.Method); {
	case a.options.Method == Sparse && a.order == nil:
		a.tooLarge.Iterative = a.iterates()
		return nil, a.tooLarge
	case a.options.Method == Iterative:
		if a.products, err = newIterativePlan(p); err != nil {
			return nil, err
		}
	case bytes > o.Memory:
		if bytes == math.MaxInt { // more places than 32 bits name
			bytes = 8 * a.places(a.options.Method)
		}
		return nil, &MemoryError{Bytes: bytes, Limit: min(o.Memory, 8*math.MaxInt32), Iterative: a.iterates()}
	}
	if a.options.Method != Band {
		a.band = nil
	}
	if o.Method == Auto && a.options.Method == Sparse && a.order.flops > easyFrom && p.hasDiagonal() {
		a.easy, a.runs, a.refined = true, newDiagonals(p), newRefinedPlan(p)
		if f := newFilledPlan(p); f != nil && f.price() < a.price(Sparse)/2 {
			f.lay()
			a.filled = f
		}
	}
	return a, nil
}

// bytes returns about how much memory a factorisation takes. Places are 32 bits long.
func (a *Analysis) bytes(m Method) int {
	switch {
	case m == Dense && a.places(m) <= math.MaxInt32:
		return 8 * a.places(m)
	case m == Band && a.places(m) <= math.MaxInt32:
		return 8*a.places(m) + a.band.memory()
	case m == Iterative:
		return iterativeBytes(a.p)
	case m != Sparse || a.order == nil: // more than there is
		return math.MaxInt
	}
	return 8*a.places(m) + a.order.memory()
}

// places returns how many numbers the factors have. Those of a sparse matrix must have been ordered.
func (a *Analysis) places(m Method) int {
	switch m {
	case Dense:
		return a.p.N * a.p.N
	case Band:
		return a.p.N * a.band.stride()
	}
	return a.order.lSize + len(a.order.uRows)
}

// Bytes returns about how much memory a factorisation takes.
func (a *Analysis) Bytes() int { return a.bytes(a.options.Method) }

// Iterates reports whether Iterative has room, and fewer bytes, where another method was taken.
func (a *Analysis) Iterates() bool {
	return a.options.Method != Iterative && a.iterates() && a.bytes(Iterative) < a.Bytes()
}

// Order returns the pivots with which a factorisation begins, nil for a method that has none of its own.
func (a *Analysis) Order() *Order {
	if a.options.Method != Sparse {
		return nil
	}
	return a.order
}

// iterates reports whether Iterative would have room where another method was asked for.
func (a *Analysis) iterates() bool {
	return a.p.hasDiagonal() && a.bytes(Iterative) <= a.options.Memory
}

// choose returns the method that should be fastest.
func (a *Analysis) choose() Method {
	best, least := Sparse, int64(math.MaxInt64)
	for _, m := range []Method{Dense, Band, Sparse} {
		if m == Band && a.options.Straight && a.p.N <= straightDense {
			continue
		}
		if price := a.price(m); price < least && a.bytes(m) <= a.options.Memory {
			best, least = m, price
		}
	}
	if least > dearest && a.iterates() {
		return Iterative
	}
	return best
}

// dear reports whether choose would take Iterative, as far as that can be told without an order of the pivots. To find
// where large factors have entries takes seconds, which only those who make them are to spend.
func (a *Analysis) dear() bool {
	if min(a.price(Dense), a.price(Band)) <= dearest || !a.iterates() {
		return false
	}
	e, ok := a.structure.count()
	return ok && e.price(a.p.N) > dearest
}

// dearest is the price of a factorisation and its solves, as price has it, from which on GMRES is tried instead. How
// many iterations it needs depends on the values, so factors that take less are preferred.
const dearest = 5e12

// price estimates the time of a factorisation and six solves of one lane, a step of a Rosenbrock
// method, in picoseconds. The numbers are fits to times of BenchmarkLU on one processor of 2024, with
// machine code where a pattern can have it: only their ratios matter. They do not ask what this machine
// can do, because the method decides about bits.
func (a *Analysis) price(m Method) int64 {
	n := int64(a.p.N)
	switch m {
	case Dense:
		return n*n*(3700+8*n) + 6*(12000*n-14000+50*n*n)
	case Band:
		l, u := int64(a.band.lower), int64(a.band.upper)
		return n * (14000 + 500*(2*l+u) + 120*l*u + 6*(6000+600*(l+u)))
	}
	if a.order == nil {
		return math.MaxInt64
	}
	tail := int(a.structure.tailEnd - a.structure.tail)
	return extent{flops: a.order.flops, nonZeros: a.order.nonZeros(), tail: tail}.price(a.p.N)
}

// extent says how large sparse factors are.
type extent struct{ flops, nonZeros, tail int }

// price is that of sparse factors of n columns.
func (e extent) price(columns int) int64 {
	n, tail := int64(columns), int64(e.tail)
	flops, nonZeros := int64(e.flops-denseFlops(e.tail)), int64(e.nonZeros)-tail*tail
	price := tail * tail * (3000 + 4*tail + 6*250)
	if flops > codeFlops {
		price += 240*flops + 7500*nonZeros
	} else {
		price += 40000 + 65*flops + 900*nonZeros + 3000*n
	}
	if nonZeros > codeNonZeros {
		return price + 6*(800*nonZeros+6000*n)
	}
	return price + 6*(25000+200*nonZeros+1500*n)
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
	switch a.options.Method {
	case Dense:
		return newDense(a.p)
	case Band:
		return newBand(a.band)
	case Iterative:
		return newIterative(a.products)
	}
	f := newSparse(a.structure, a.order, a.options.Memory)
	if a.easy {
		h := &hybrid{sparse: f, easy: newDominated(a.p, a.runs), refined: a.refined.new()}
		if a.filled != nil {
			h.filled = a.filled.new()
		}
		return h
	}
	return f
}

// Share lets a team that belongs to the goroutine of lu share what its factorisations do on large dense blocks, and
// residuals of refined solutions, with the same bits; nil for this goroutine alone. lu may be nil.
func Share(lu LU, t *team.Team) {
	switch f := lu.(type) {
	case *dense:
		f.share(t)
	case *sparse:
		if f.tail != nil {
			f.tail.share(t)
		}
	case *hybrid:
		Share(f.sparse, t)
		f.refined.team = t
	}
}

// Grid reports whether the entries of the matrix lie along its diagonals, as they do where states are on a grid.
func (a *Analysis) Grid() bool { return newDiagonals(a.p) != nil }

// Method returns the method of the factorisations.
func (a *Analysis) Method() Method { return a.options.Method }
