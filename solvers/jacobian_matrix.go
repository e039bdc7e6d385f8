package solvers

import (
	"math"

	"odes.dev/odes/internal/linalg"
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
	leading  []Entry      // those of all that no other one of ∂f/∂y at the same place comes before
	copies   [][2]int32   // the others, each after the leading one at its place

	matrix *StepMatrix // nil where whole steps would be too long
}

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
	p.gather(pattern.NonZeros())
	p.pattern, p.mass = pattern, j.Mass
	p.diagonal, p.beside = places[len(p.states):last], places[last:]
	var err error
	if p.first, err = linalg.Analyze(pattern, linalg.Options{Method: linalg.MethodOf(j.Linear)}); err != nil {
		return nil, matrixError(err)
	}
	lu := p.first.New()
	p.order = lu.Order()
	if z.N <= wholeStates && p.mass == nil && p.first.HasStraight() {
		p.matrix = &StepMatrix{
			Analysis: p.first, NonZeros: pattern.NonZeros(), Flops: lu.Flops(), Factors: lu.NonZeros(),
			Diagonal: p.diagonal, States: p.states, Outer: p.outer, Times: p.times, All: p.all,
		}
	}
	return p, nil
}

// gather finds the entries at the same place of a pattern with so many.
func (p *jacobianPlan) gather(places int) {
	first := make([]int32, places) // by place: the entry, + 1
	states := p.states
	for e, at := range p.all {
		if len(states) > 0 && int(states[0].E) == e {
			to := &first[states[0].Place]
			states = states[1:]
			if *to > 0 {
				p.copies = append(p.copies, [2]int32{*to - 1, int32(e)})
				continue
			}
			*to = int32(e) + 1
		}
		p.leading = append(p.leading, at)
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
			grown += log2(most)
		}
		for i, v := range y {
			x[i] = v / most
		}
	}
	return exp2(grown / counted)
}
