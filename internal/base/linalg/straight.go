package linalg

import "slices"

// Straight is a factorisation of a matrix and its solves as Schedules with steps of width 1, for programs that contain
// them. They have the bits of an LU of the Analysis, as long as that keeps its pivots. The places of factors begin with
// what LU.Keep writes, but for the exchanges of rows at its end.
//
// A program must leave a matrix to an LU if a pivot is less than twice what Cancelled says, if an element of Lower
// exceeds Bound, if one of Exchanged is less than Uneven but not zero, if a Minor says that a row came without need, or
// if one of a Growth exceeds its bound; all of them in magnitude.
type Straight struct {
	Factor, Solve, SolveT *Schedule

	Kept      int     // numbers that LU.Keep writes before the exchanges of rows
	Lower     []int32 // places
	Bound     float64
	Exchanged []int32 // places of what pivots took the place of
	Minors    []Minor
	Growth    []Growth
}

// Minor holds the places of entries of the matrix, None for one that is not there. A row came without need unless one
// of Cross, Own and Other is zero, or Cross/Other is at least Foreign times Own/Back.
type Minor struct{ Cross, Other, Own, Back int32 }

// Foreign is for Minors.
const Foreign = foreign

// Uneven is the least magnitude of what a pivot took the place of, beside zero, for which units are not looked at.
const Uneven = uneven

// Growth says that the magnitudes of Places must not exceed Factor times the largest one of the places Of.
type Growth struct {
	Factor     float64
	Places, Of []int32
}

// Cancelled returns the magnitude up to which a pivot may be nothing but rounding: that of a sum of as many products
// whose magnitudes have the given sum. It is a multiple of that sum, or the least pivot of all.
func Cancelled(terms int) (times, least float64) { return 0x1p-51 * float64(terms+1), smallest }

// Exchanges returns how many of the numbers that LU.Keep writes, the last ones, say which rows were exchanged.
func (a *Analysis) Exchanges() int {
	if a.options.Method == Dense {
		return a.p.N
	}
	return 0
}

// Exchanges writes to the end of kept the exchanges of rows of the last Factor of f, as its Keep does.
func Exchanges(f LU, kept []float64) {
	if d, ok := f.(*dense); ok {
		storePivots(kept[len(kept)-len(d.pivot):], d.pivot)
	}
}

// straightDense is the largest dense matrix that has a Straight: one that solves take as a single block.
const straightDense = block

// HasStraight reports whether there is a Straight: of small dense matrices, and of sparse ones without a tail.
func (a *Analysis) HasStraight() bool {
	return a.options.Method == Dense && a.p.N <= straightDense ||
		a.options.Method == Sparse && a.structure.tail == a.structure.tailEnd
}

// Straight returns the factorisation in the order of the pattern, or with the given exchanges of rows.
func (a *Analysis) Straight(exchanges []float64) *Straight {
	if a.options.Method == Dense {
		return a.p.straight(exchanges)
	}
	factor, solve, solveT, _ := a.Schedules(nil)
	o, at := a.order, a.order.layout()
	s := &Straight{Factor: factor, Solve: solve, SolveT: solveT, Kept: at.end - extra, Bound: 1/kept - 1}
	place := func(i int) int32 { return int32(factor.Values + i) }
	for k := range o.rows {
		for q := range o.lEnd[k] - o.lStart[k] {
			s.Lower = append(s.Lower, place(int(o.lValue[k]+q)))
		}
		if o.uStart[k] == o.uStart[k+1] {
			continue
		}
		g := Growth{Factor: growth, Of: o.inValues[o.inStart[k]:o.inStart[k+1]], Places: []int32{place(at.pivot + k)}}
		for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
			g.Places = append(g.Places, place(at.u+int(e)))
		}
		s.Growth = append(s.Growth, g)
	}
	return s
}

// straight is Analysis.Straight for the method Dense: what columns, solve and solveT of dense do.
func (p *Pattern) straight(exchanges []float64) *Straight {
	n := p.N
	rows, before, came := identity(n), make([]int32, n), make([]int32, n) // what each exchange moves away, and there
	for k, e := range exchanges {
		before[k] = rows[k]
		rows[k], rows[int(e)] = rows[int(e)], rows[k]
		came[k] = rows[k]
	}
	from := make([]int32, n*n)
	for i := range from {
		from[i] = None
	}
	for j := range n {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			from[j*n+int(p.Rows[e])] = int32(e)
		}
	}
	values := len(p.Rows)
	list := func() *planner {
		l := &planner{}
		l.Values, l.Factors, l.N = values, n*n+n, n
		return l
	}
	a := func(i, j int) int32 { return int32(values + j*n + i) } // by places of rows
	r := func(k int) int32 { return int32(values + n*n + k) }
	var minors []Minor
	blocks := p.diagonalBlocks()
	at := func(i, j int32) int32 { return int32(p.place(int(i), int(j))) } // None where it is not there
	for k, e := range exchanges {
		r, i := before[k], came[k]
		m := Minor{Cross: at(i, int32(k)), Other: at(i, i), Own: at(r, int32(k)), Back: at(r, i)}
		if k != int(e) && m.Cross >= 0 && m.Own >= 0 && m.Other >= 0 && (m.Back >= 0 || blocks != nil &&
			blocks[r] != blocks[i]) {
			minors = append(minors, m)
		}
	}
	// No |l| is as large as 1 before it is rounded, so there was no other choice of pivots.
	s := &Straight{Kept: n*n + n, Bound: 1 - 0x1p-50, Minors: minors}
	for k, e := range exchanges {
		if k != int(e) {
			s.Exchanged = append(s.Exchanged, a(slices.Index(rows, before[k]), k))
		}
	}
	f := list()
	for j := range n {
		for i := range n {
			var t []Term
			for m := range min(i, j) {
				t = append(t, Term{A: a(i, m), B: a(m, j)})
			}
			step := Step{To: a(i, j), From: from[j*n+int(rows[i])], Scale: None}
			if i > j {
				step.Scale = r(j)
				s.Lower = append(s.Lower, a(i, j))
			}
			f.add(step, t)
			if i == j {
				f.step(Step{To: r(j), From: a(j, j), Scale: None, Invert: true})
			}
		}
	}
	s.Factor = &f.Schedule
	f = list()
	x, w := func(i int) int32 { return f.x(int32(i)) }, f.w
	for i := range n {
		var t []Term
		for k := range i {
			t = append(t, Term{A: a(i, k), B: w(k)})
		}
		f.add(Step{To: w(i), From: x(int(rows[i])), Scale: None}, t)
	}
	for i := n - 1; i >= 0; i-- {
		var t []Term
		for k := i + 1; k < n; k++ {
			t = append(t, Term{A: a(i, k), B: x(k)})
		}
		f.add(Step{To: x(i), From: w(i), Scale: r(i), Negate: true}, t)
	}
	s.Solve = &f.Schedule
	f = list()
	for i := range n {
		var t []Term
		for k := range i {
			t = append(t, Term{A: a(k, i), B: w(k)})
		}
		f.add(Step{To: w(i), From: x(i), Scale: r(i), Negate: true}, t)
	}
	for i := n - 1; i >= 0; i-- {
		var t []Term
		for k := i + 1; k < n; k++ {
			t = append(t, Term{A: a(k, i), B: w(k)})
		}
		f.add(Step{To: w(i), From: w(i), Scale: None}, t)
	}
	for i, row := range rows {
		f.step(Step{To: x(int(row)), From: w(i), Scale: None})
	}
	s.SolveT = &f.Schedule
	for _, f := range []*Schedule{s.Factor, s.Solve, s.SolveT} {
		f.Part = len(f.Steps)
	}
	return s
}
