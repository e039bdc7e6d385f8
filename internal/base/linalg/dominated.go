package linalg

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
)

// dominated solves systems whose diagonal D is larger than all other entries N of its row together, and of its column,
// as those of short steps on grids. No factors are needed then: x = D⁻¹(b - N x) is iterated (C. G. J. Jacobi,
// Astronomische Nachrichten 22, 1845). An error becomes smaller by the ratio with each iteration, so that their number
// is known before. No norm is taken: scales of states do not matter, beside those of the sums, and small elements of a
// solution are as accurate as large ones but for what comes from farther than there are iterations.
type dominated struct {
	p      *Pattern
	runs   *diagonals // nil where they are short
	values []float64  // in the order of the pattern, or of the runs
	recip  []float64  // of the diagonal
	sums   []float64
	x, b   []float64 // one lane
	ratio  float64   // of the other entries to the diagonal, the largest
}

// dominant is the largest ratio that is used.
const dominant = 0.35

func newDominated(p *Pattern, runs *diagonals) *dominated {
	n := p.N
	return &dominated{
		p: p, runs: runs, values: make([]float64, len(p.Rows)), recip: make([]float64, n), sums: make([]float64, n),
		x: make([]float64, n), b: make([]float64, n),
	}
}

// take takes the values of a matrix. It reports whether the diagonal dominates.
func (d *dominated) take(values []float64) bool {
	d.ratio = 0
	clear(d.sums) // of rows
	for j := range d.recip {
		diagonal, sum := 0.0, 0.0
		for e := d.p.Start[j]; e < d.p.Start[j+1]; e++ {
			v := math.Abs(values[e])
			if i := int(d.p.Rows[e]); i == j {
				diagonal, d.recip[j] = v, 1/values[e]
			} else {
				sum += v
				d.sums[i] += v
			}
		}
		if diagonal == 0 || !(sum <= float64(dominant*diagonal)) {
			return false
		}
		d.ratio = max(d.ratio, sum/diagonal)
	}
	for i, sum := range d.sums {
		ratio := float64(sum * math.Abs(d.recip[i]))
		if !(ratio <= dominant) {
			return false
		}
		d.ratio = max(d.ratio, ratio)
	}
	d.hold(values)
	return true
}

// hold takes the values for products, and give gives them back in the order of the pattern.
func (d *dominated) hold(values []float64) {
	if d.runs == nil {
		copy(d.values, values)
		return
	}
	for k, e := range d.runs.place {
		d.values[k] = values[e]
	}
}

func (d *dominated) give(to []float64) {
	if d.runs == nil {
		copy(to, d.values)
		return
	}
	for k, e := range d.runs.place {
		to[e] = d.values[k]
	}
}

// iterations returns how many make an error smaller by the tolerance.
func (d *dominated) iterations(tolerance float64) int {
	if d.ratio == 0 {
		return 0
	}
	return int(math.Ceil(elem.Log(tolerance) / elem.Log(d.ratio)))
}

// product and productT set y[N] to A·x and Aᵀ·x.
func (d *dominated) product(y, x []float64) {
	if d.runs != nil {
		d.runs.product(y, d.values, x)
	} else {
		d.p.Product(y, d.values, x, 1)
	}
}

func (d *dominated) productT(y, x []float64) {
	if d.runs != nil {
		d.runs.productT(y, d.values, x)
	} else {
		d.p.ProductT(y, d.values, x, 1)
	}
}

// solve replaces x[N][lanes] by the solution of the system, or of the transposed one.
func (d *dominated) solve(x []float64, lanes int, transposed bool, tolerance float64) {
	for lane := range lanes {
		to, b := x, d.b
		if lanes > 1 {
			to = d.x
		}
		for i := range b {
			b[i] = x[i*lanes+lane]
		}
		simd.Binary(simd.Mul, to, b, d.recip)
		for range d.iterations(tolerance) {
			if w := d.sums; transposed {
				d.productT(w, to)
			} else {
				d.product(w, to)
			}
			simd.Binary(simd.Sub, d.sums, b, d.sums)
			simd.Ternary(simd.FMA, to, d.sums, d.recip, to)
		}
		if lanes > 1 {
			for i, v := range to {
				x[i*lanes+lane] = v
			}
		}
	}
}

// hybrid is a sparse factorisation that is not made where iterations cost less: where the diagonal dominates, or where
// solutions by incomplete factors are refined in a few iterations. The second way is tried before factors are made if
// these take long. Where the pivots of the pattern do not serve, solutions by them are refined, too: new pivots would
// be sought for each matrix, and fill more (X. S. Li and J. W. Demmel, ACM Trans. Math. Softw. 29, 2003). What the
// matrix is decides all that, and nothing that came before.
type hybrid struct {
	*sparse
	easy    *dominated
	refined *refined
	filled  *filled // nil where factors are made before anything is refined
	way     hybridWay
	spare   *sparse // factors in whose place others approximate; nil before they are needed
	tried   bool    // to factor a matrix that refined solves
	none    bool    // that could not be done
}

// hybridWay is what solves the equations.
type hybridWay uint8

const (
	byFactors hybridWay = iota
	byDiagonal
	byRefinement
)

func (f *hybrid) Factor(values []float64) error { return f.FactorServed(values, NothingServes) }

// FactorServed implements Trial.
func (f *hybrid) FactorServed(values []float64, by Serving) error {
	f.way, f.tried = byFactors, false
	if f.easy.take(values) {
		work := f.easy.iterations(exactly) * len(f.easy.values)
		if f.easy.runs != nil {
			work /= kernelFaster
		}
		if work < f.NonZeros() {
			f.way = byDiagonal
			return nil
		}
	}
	if f.filled != nil && f.filled.factor(values) == nil {
		for _, c := range f.filled.trials() {
			f.filled.short = c.by == ShortServes
			if c.by == by {
				f.refined.hold(values, f.filled)
				f.way = byRefinement
				return nil
			}
			if by == NothingServes && f.refines(values, f.filled, c.left, c.refinements) {
				return nil
			}
		}
	}
	if good, err := f.sparse.try(values); good || err != nil {
		return err
	}
	if f.sparse.force(values) && f.refines(values, f.sparse, forcedLeft, forcedRefinements) {
		return nil
	}
	return f.sparse.repivot(values)
}

// refines reports whether so many refinements with the approximation leave no more of a residual. Then it solves.
func (f *hybrid) refines(values []float64, by approximation, left float64, refinements int) bool {
	f.refined.hold(values, by)
	if !f.refined.converges(left, refinements) {
		return false
	}
	f.way = byRefinement
	return true
}

const (
	// exactly is how much smaller an error becomes that is rounding then.
	exactly = 0x1p-54
	// kernelFaster is how much faster products along diagonals are than single entries.
	kernelFaster = 4
	// easyFrom is the number of operations of a factorisation from which on it is looked whether one is needed.
	easyFrom = codeFlops
)

func (f *hybrid) Solve(x []float64, lanes int) { f.SolveTo(x, lanes, exactly) }

func (f *hybrid) SolveTo(x []float64, lanes int, tolerance float64) {
	switch f.way {
	case byDiagonal:
		f.easy.solve(x, lanes, false, tolerance)
	case byRefinement:
		f.refine(x, lanes, false, tolerance)
	default:
		f.sparse.Solve(x, lanes)
	}
}

func (f *hybrid) SolveT(x []float64, lanes int) {
	switch f.way {
	case byDiagonal:
		f.easy.solve(x, lanes, true, exactly)
	case byRefinement:
		f.refine(x, lanes, true, exactly)
	default:
		f.sparse.SolveT(x, lanes)
	}
}

// refine solves lane by lane. Where refinements do not converge, factors are made for that lane; if there are none, its
// solution is NaN, and the step cannot be made.
func (f *hybrid) refine(x []float64, lanes int, transposed bool, tolerance float64) {
	for a := range lanes {
		if f.Served() == ShortServes {
			if f.refined.solve(x, a, lanes, transposed, tolerance, shortMost) {
				continue
			}
			f.filled.short = false // the trial was of one right-hand side, and not of the transposed system
			good := f.refined.solve(x, a, lanes, transposed, tolerance, refineMost)
			if f.filled.short = true; good {
				continue
			}
		} else if f.refined.solve(x, a, lanes, transposed, tolerance, refineMost) {
			continue
		}
		if !f.tried {
			if f.spare == nil {
				f.spare = newSparse(f.s, f.first, f.sparse.memory)
			}
			f.spare.SetOrder(f.first)
			f.tried, f.none = true, f.spare.Factor(f.refined.values) != nil
		}
		if f.none {
			for i := range f.refined.b {
				x[i*lanes+a] = math.NaN()
			}
			continue
		}
		w := f.refined.b
		for i := range w {
			w[i] = x[i*lanes+a]
		}
		if transposed {
			f.spare.SolveT(w, 1)
		} else {
			f.spare.Solve(w, 1)
		}
		for i, v := range w {
			x[i*lanes+a] = v
		}
	}
}

// Exact implements Inexact.
func (f *hybrid) Exact() bool { return f.way == byFactors }

// Tries implements Trial.
func (f *hybrid) Tries() bool { return f.filled != nil }

// Served implements Trial.
func (f *hybrid) Served() Serving {
	switch {
	case f.filled == nil || f.way != byRefinement || f.refined.by != approximation(f.filled):
		return NothingServes
	case f.filled.short:
		return ShortServes
	}
	return IncompleteServes
}

// Kept is 0 where incomplete factors are tried first: to make these again takes no longer than to write what they are
// made of to fresh memory, and to read it.
func (f *hybrid) Kept() int {
	if f.filled != nil {
		return 0
	}
	return f.sparse.Kept()
}

func (f *hybrid) Keep(to []float64) bool {
	return f.filled == nil && f.way == byFactors && f.sparse.Keep(to)
}

func (f *hybrid) Restore(from []float64) {
	f.way = byFactors
	f.sparse.Restore(from)
}

func (f *hybrid) Memory() int {
	n := f.sparse.Memory() + 8*(len(f.easy.values)+4*f.easy.p.N) + f.refined.memory()
	if f.filled != nil {
		n += f.filled.memory()
	}
	if f.spare != nil {
		n += f.spare.Memory()
	}
	return n
}
