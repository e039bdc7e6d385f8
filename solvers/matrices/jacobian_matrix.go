package matrices

import (
	"errors"
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// Plan is what follows from the places of a Jacobian alone: the pattern of W = M/γ - h ∂f/∂y and where its
// Entries go.
type Plan struct {
	n, q    int
	Entries int
	Pattern *linalg.Pattern
	First   *linalg.Analysis
	Order   *linalg.Order // with which every factorisation begins

	Mass     *Mass        // nil for the identity
	Diagonal []int32      // places in the pattern of the ones of M
	Beside   []int32      // and of its other entries
	States   []EntryPlace // those of ∂f/∂y
	Outer    []Entry      // those of ∂r/∂y
	Times    []Entry      // those of ∂(f, r)/∂t; the column is not used
	All      []Entry      // every one; column n is time
	Runs     []EntryRun   // those of all that are parts of long runs
	Single   []simd.Place // and the others: of columns X and rows Y

	Matrix *StepMatrix // nil where whole steps would be too long
}

// EntryRun is a number of entries that follow each other, each a row, a column or both after the one before it. Those
// of grids do, where a point has the same neighbours as the next one, and those of integrals over them.
type EntryRun struct {
	Entry
	N          int
	Rows, Cols int32 // 0 or 1: what each is after the one before it
}

// longRun is a number of entries of a run from which on a kernel is faster.
const longRun = 16

// WholeStates is the most states of a step that can be made as a whole.
const WholeStates = 64

// Plan returns the plan for fields of the given size. All goroutines get the same one.
func (j *Jacobian) Plan(z solvers.Size) (*Plan, error) {
	j.once.Do(func() { j.planned, j.failed = newJacobianPlan(j, z) })
	return j.planned, j.failed
}

func newJacobianPlan(j *Jacobian, z solvers.Size) (*Plan, error) {
	p := &Plan{n: z.N, q: z.Q, Entries: len(j.Rows)}
	var rows, cols []int
	for e, row := range j.Rows {
		col := j.Cols[e]
		at := Entry{int32(e), row, col}
		p.All = append(p.All, at)
		switch {
		case int(col) == z.N:
			p.Times = append(p.Times, at)
		case int(row) >= z.N:
			p.Outer = append(p.Outer, at)
		default:
			p.States = append(p.States, EntryPlace{E: int32(e)})
			rows, cols = append(rows, int(row)), append(cols, int(col))
		}
	}
	for i := range z.N {
		if j.Mass == nil || j.Mass.of[i] == 0 {
			rows, cols = append(rows, i), append(cols, i)
		}
	}
	last := len(rows)
	if j.Mass != nil {
		for e, row := range j.Mass.Rows {
			rows, cols = append(rows, int(row)), append(cols, int(j.Mass.Cols[e]))
		}
	}
	pattern, places := linalg.NewPattern(z.N, rows, cols)
	for k := range p.States {
		p.States[k].Place = places[k]
	}
	p.findRuns()
	p.Pattern, p.Mass = pattern, j.Mass
	p.Diagonal, p.Beside = places[len(p.States):last], places[last:]
	// A step as a whole gains more than the factors of a band.
	opts := linalg.Options{Method: linalg.MethodOf(j.Linear), Straight: p.Mass == nil}
	var err error
	if p.First, err = linalg.Analyze(pattern, opts); err != nil {
		return nil, ErrorOf(err)
	}
	p.Order = p.First.Order()
	if z.N <= WholeStates && p.Mass == nil && p.First.HasStraight() {
		lu := p.First.New()
		p.Matrix = &StepMatrix{
			Analysis: p.First, NonZeros: pattern.NonZeros(), Flops: lu.Flops(), Factors: lu.NonZeros(),
			Kept:     lu.Kept() - p.First.Exchanges(),
			Diagonal: p.Diagonal, States: p.States, Outer: p.Outer, Times: p.Times, All: p.All,
		}
	}
	return p, nil
}

// findRuns finds the long runs among the entries.
func (p *Plan) findRuns() {
	for list := p.All; len(list) > 0; {
		x := EntryRun{Entry: list[0], N: 1}
		if len(list) > 1 {
			x.Rows, x.Cols = list[1].Row-x.Row, list[1].Col-x.Col
		}
		for k := int32(1); int(k) < len(list) && list[k] == (Entry{x.E + k, x.Row + k*x.Rows, x.Col + k*x.Cols}); k++ {
			x.N++
		}
		steps := uint32(x.Rows|x.Cols) == 1
		if ends := int(x.Col)+x.N > p.n; x.N >= longRun && steps && !(ends && x.Cols == 1) { // time is no state
			p.Runs = append(p.Runs, x)
		} else {
			for _, x := range list[:x.N] {
				p.Single = append(p.Single, simd.Place{To: x.E, X: x.Col, Y: x.Row})
			}
		}
		list = list[x.N:]
	}
}

// Assemble writes w = M/γ - h ∂f/∂y for the entries j.
func (p *Plan) Assemble(w []float64, inverse, h float64, j []float64) {
	clear(w)
	for _, at := range p.Diagonal {
		w[at] = inverse
	}
	for e, at := range p.Beside {
		w[at] = math.FMA(inverse, p.Mass.Values[e], w[at])
	}
	for _, s := range p.States {
		w[s.Place] = math.FMA(-h, j[s.E], w[s.Place])
	}
}

// Radius estimates the size of the largest eigenvalue of ∂f/∂y with the entries j by the power method, with work space
// x[n] and y[n]. The mean growth over several products leaves out that the first ones depend on the direction and on
// units.
func (p *Plan) Radius(j, x, y []float64) float64 {
	const before, counted = 4, 4
	for i := range x {
		x[i] = 1 + float64(0.25*float64(i%3))
	}
	grown := 0.0 // log₂
	for k := range before + counted {
		clear(y)
		for _, s := range p.States {
			at := &p.All[s.E]
			y[at.Row] = math.FMA(j[s.E], x[at.Col], y[at.Row])
		}
		most := 0.0
		for _, v := range y {
			most = max(most, math.Abs(v))
		}
		if !(most > 0 && most <= math.MaxFloat64) {
			return most
		}
		if k >= before {
			grown += elem.QuickLog2(most)
		}
		for i, v := range y {
			x[i] = v / most
		}
	}
	return elem.QuickExp2(grown / counted)
}

// FaultOf returns why a step with the entries j could not be made: err as an error of this package or, where that is
// nil, the first entry that is not finite; nil for neither.
func (p *Plan) FaultOf(err error, j []float64) error {
	var inconsistent *ConsistencyError
	switch {
	case errors.As(err, &inconsistent):
		return inconsistent
	case err != nil:
		return ErrorOf(err)
	}
	for e, v := range j {
		if !simd.Finite(j[e : e+1]) {
			at := p.All[e]
			return &solvers.MatrixError{
				Kind: solvers.MatrixNotFinite, Rows: []int{int(at.Row)},
				Cols: []int{int(at.Col)}, Value: v,
			}
		}
	}
	return nil
}

// ErrorOf translates an error of a factorisation.
func ErrorOf(err error) error {
	var singular *linalg.SingularError
	var infinite *linalg.NotFiniteError
	var large *linalg.MemoryError
	switch {
	case errors.As(err, &singular):
		return &solvers.MatrixError{Kind: solvers.MatrixSingular, Rows: singular.Rows, Cols: singular.Cols}
	case errors.As(err, &infinite):
		return &solvers.MatrixError{
			Kind: solvers.MatrixNotFinite, Rows: []int{infinite.Row}, Cols: []int{infinite.Col}, Value: infinite.Value,
			Overflow: infinite.Overflow,
		}
	case errors.As(err, &large):
		return &solvers.MatrixError{
			Kind: solvers.MatrixTooLarge, Bytes: large.Bytes, Limit: large.Limit,
			Iterative: large.Iterative,
		}
	}
	return err
}

// Prices are in units of about a nanosecond, as those of all steps.
const (
	PriceFactor = 0.5  // an operation of a factorisation, or of a solution
	priceKernel = 0.12 // one beyond the first priceSmall of a factorisation, which kernels do many of at once
	priceSmall  = 4e5
)

// PriceOf returns the operations of a factorisation, those of its kernels as so many fewer as they are faster.
func PriceOf(operations int) float64 {
	factor := float64(operations)
	if factor > priceSmall {
		factor = math.FMA(priceKernel/PriceFactor, factor-priceSmall, priceSmall)
	}
	return factor
}
