package solvers

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/simd"
)

// jacobianPlan is what follows from the places of a Jacobian alone: the pattern of W = M/γ - h ∂f/∂y and where its
// entries go.
type jacobianPlan struct {
	n, q    int
	entries int
	pattern *linalg.Pattern
	first   *linalg.Analysis
	order   *linalg.Order // with which every factorisation begins

	mass     *Mass        // nil for the identity
	diagonal []int32      // places in the pattern of the ones of M
	beside   []int32      // and of its other entries
	states   []EntryPlace // those of ∂f/∂y
	outer    []Entry      // those of ∂r/∂y
	times    []Entry      // those of ∂(f, r)/∂t; the column is not used
	all      []Entry      // every one; column n is time
	runs     []entryRun   // those of all that are parts of long runs
	single   []simd.Place // and the others: of columns X and rows Y

	matrix *StepMatrix // nil where whole steps would be too long
}

// entryRun is a number of entries that follow each other, each a row, a column or both after the one before it. Those
// of grids do, where a point has the same neighbours as the next one, and those of integrals over them.
type entryRun struct {
	Entry
	n          int
	rows, cols int32 // 0 or 1: what each is after the one before it
}

// longRun is a number of entries of a run from which on a kernel is faster.
const longRun = 16

// wholeStates is the most states of a step that can be made as a whole.
const wholeStates = 64

// plan returns the plan for fields of the given size. All goroutines get the same one.
func (j *Jacobian) plan(z Size) (*jacobianPlan, error) {
	j.once.Do(func() { j.planned, j.failed = newJacobianPlan(j, z) })
	return j.planned, j.failed
}

func newJacobianPlan(j *Jacobian, z Size) (*jacobianPlan, error) {
	p := &jacobianPlan{n: z.N, q: z.Q, entries: len(j.Rows)}
	var rows, cols []int
	for e, row := range j.Rows {
		col := j.Cols[e]
		at := Entry{int32(e), row, col}
		p.all = append(p.all, at)
		switch {
		case int(col) == z.N:
			p.times = append(p.times, at)
		case int(row) >= z.N:
			p.outer = append(p.outer, at)
		default:
			p.states = append(p.states, EntryPlace{E: int32(e)})
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
	for k := range p.states {
		p.states[k].Place = places[k]
	}
	p.findRuns()
	p.pattern, p.mass = pattern, j.Mass
	p.diagonal, p.beside = places[len(p.states):last], places[last:]
	// A step as a whole gains more than the factors of a band.
	opts := linalg.Options{Method: linalg.MethodOf(j.Linear), Straight: p.mass == nil}
	var err error
	if p.first, err = linalg.Analyze(pattern, opts); err != nil {
		return nil, matrixError(err)
	}
	p.order = p.first.Order()
	if z.N <= wholeStates && p.mass == nil && p.first.HasStraight() {
		lu := p.first.New()
		p.matrix = &StepMatrix{
			Analysis: p.first, NonZeros: pattern.NonZeros(), Flops: lu.Flops(), Factors: lu.NonZeros(),
			Kept:     lu.Kept() - p.first.Exchanges(),
			Diagonal: p.diagonal, States: p.states, Outer: p.outer, Times: p.times, All: p.all,
		}
	}
	return p, nil
}

// findRuns finds the long runs among the entries.
func (p *jacobianPlan) findRuns() {
	for list := p.all; len(list) > 0; {
		x := entryRun{Entry: list[0], n: 1}
		if len(list) > 1 {
			x.rows, x.cols = list[1].Row-x.Row, list[1].Col-x.Col
		}
		for k := int32(1); int(k) < len(list) && list[k] == (Entry{x.E + k, x.Row + k*x.rows, x.Col + k*x.cols}); k++ {
			x.n++
		}
		steps := uint32(x.rows|x.cols) == 1
		if ends := int(x.Col)+x.n > p.n; x.n >= longRun && steps && !(ends && x.cols == 1) { // time is no state
			p.runs = append(p.runs, x)
		} else {
			for _, x := range list[:x.n] {
				p.single = append(p.single, simd.Place{To: x.E, X: x.Col, Y: x.Row})
			}
		}
		list = list[x.n:]
	}
}

// assemble writes w = M/γ - h ∂f/∂y for the entries j.
func (p *jacobianPlan) assemble(w []float64, inverse, h float64, j []float64) {
	clear(w)
	for _, at := range p.diagonal {
		w[at] = inverse
	}
	for e, at := range p.beside {
		w[at] = math.FMA(inverse, p.mass.Values[e], w[at])
	}
	for _, s := range p.states {
		w[s.Place] = math.FMA(-h, j[s.E], w[s.Place])
	}
}

// radius estimates the size of the largest eigenvalue of ∂f/∂y with the entries j by the power method, with work space
// x[n] and y[n]. The mean growth over several products leaves out that the first ones depend on the direction and on
// units.
func (p *jacobianPlan) radius(j, x, y []float64) float64 {
	const before, counted = 4, 4
	for i := range x {
		x[i] = 1 + float64(0.25*float64(i%3))
	}
	grown := 0.0 // log₂
	for k := range before + counted {
		clear(y)
		for _, s := range p.states {
			at := &p.all[s.E]
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
