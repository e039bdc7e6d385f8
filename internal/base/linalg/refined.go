package linalg

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/team"
)

// refined solves systems by approximate factors, whose solutions are refined (J. H. Wilkinson, Rounding Errors in
// Algebraic Processes, 1963): x grows by P⁻¹(b - A x) until each residual is rounding beside the terms of its own
// equation (M. Arioli, J. W. Demmel and I. S. Duff, SIAM J. Matrix Anal. Appl. 10, 1989). That measure does not depend
// on the units of states.
type refined struct {
	*refinedPlan
	by      approximation
	values  []float64 // of the matrix
	b, x, r []float64 // x and r have a zero behind them
	rows    [2]laid   // of the matrix, and of its transpose

	team  *team.Team // that shares residuals; nil for this goroutine alone
	share sharedResidual
}

// approximation are factors of a matrix, or of nearly that.
type approximation interface {
	// approximate replaces x[N], which has a zero behind it, by about the solution, or that of the transposed system.
	approximate(x []float64, transposed bool)
}

// refinedPlan is what the pattern alone decides.
type refinedPlan struct {
	p    *Pattern
	rows [2]*fours
}

func newRefinedPlan(p *Pattern) *refinedPlan {
	return &refinedPlan{p: p, rows: [2]*fours{p.byRows(false), p.byRows(true)}}
}

func (plan *refinedPlan) new() *refined {
	n := plan.p.N
	return &refined{
		refinedPlan: plan, values: make([]float64, len(plan.p.Rows)),
		b: make([]float64, n), x: make([]float64, n+1), r: make([]float64, n+1),
	}
}

// laid are values as rows of fours have them, of either precision.
type laid struct {
	made, madeShort bool // of the last values
	values          [][4]float64
	short           [][4]float32
}

// as returns the values, times a sign, in the layout of f. It is made once for all solutions with them.
func (w *laid) as(f *fours, values []float64, sign float64) [][4]float64 {
	return lay(&w.made, &w.values, f, values, sign)
}

// asShort is as in single precision.
func (w *laid) asShort(f *fours, values []float64) [][4]float32 {
	return lay(&w.madeShort, &w.short, f, values, 1)
}

func lay[V float64 | float32](made *bool, to *[][4]V, f *fours, values []float64, sign float64) [][4]V {
	if !*made {
		if *made = true; *to == nil {
			*to = make([][4]V, len(f.At))
		}
		put(f, *to, values, sign)
	}
	return *to
}

// forget is for other values.
func (w *laid) forget() { w.made, w.madeShort = false, false }

// memory returns the bytes of w.
func (w *laid) memory() int { return 32*len(w.values) + 16*len(w.short) }

// filled is an incomplete factorisation that keeps fill of a few levels. Networks of reactions fill their factors like
// the square of their size and more, but an incomplete factorisation of a step is close to the whole one. The factors
// do not depend on the units of states.
type filled struct {
	*filledPlan
	ilu    *incomplete
	values []float64 // of the matrix, in the pattern of the factors
	short  bool      // solve with factors of single precision
	rows   [2]laid   // of the factors, and of those of the transpose
}

// filledPlan is what the pattern alone decides.
type filledPlan struct {
	ilu    *incompletePlan
	order  []int32 // of elimination
	places []int32 // of the values of the matrix among those of the factors
	rows   [2]*fours
}

const (
	// fillLevel is the level of fill that is kept, fillMost how many times the entries of the matrix the factors may
	// have, and updatesMost how many updates there may be for each entry of the factors. Where there are more, a lower
	// level is kept. Updates take memory, and rows and columns that are full have many even without fill.
	fillLevel   = 3
	fillMost    = 4
	updatesMost = 8

	// strips is how many parts of the unknowns are eliminated side by side. What is solved one after the other belongs
	// to different parts then, and need not wait, where neighbours in the numbering are what reacts with each other.
	strips = 2

	// refineDone is a residual that is rounding, and refineEnough one that counts where it does not become smaller.
	refineDone   = 0x1p-50
	refineEnough = 0x1p-46
	refineMost   = 24 // refinements

	// Incomplete factors are taken if as many refinements as trialRefinements leave at most trialLeft of a residual.
	trialRefinements = 3
	trialLeft        = 0x1p-16

	// In single precision they have to leave rounding after shortRefinements. A residual that is small says less than
	// one that goes on to become smaller: where species exchange much faster than all else happens, it is small from
	// the beginning, and rounding of the factors may be more than all else. A solution that takes more refinements than
	// shortMost is made with factors as they are.
	shortRefinements = 6
	shortLeft        = refineEnough
	shortMost        = 9

	// Whole factors have to leave rounding, in as many refinements as are needed at that rate. Those of a singular
	// matrix may have rounding for a last pivot: residuals are small beside a solution that is large then, and remain.
	forcedRefinements = 9
	forcedLeft        = refineEnough
)

// newFilledPlan returns nil where factors of no level are small.
func newFilledPlan(p *Pattern) *filledPlan {
	order := sideBySide(p.N, strips)
	at := make([]int, p.N) // of each unknown in the order
	for k, j := range order {
		at[j] = k
	}
	var rows, cols []int
	for j := range p.N {
		for _, i := range p.column(j) {
			rows, cols = append(rows, at[i]), append(cols, at[j])
		}
	}
	ordered, _ := NewPattern(p.N, rows, cols)
	for level := fillLevel; level >= 0; level-- {
		q := ordered.filled(level, fillMost*len(p.Rows))
		if q == nil {
			continue
		}
		ilu, err := newIncompletePlan(q, updatesMost*len(q.Rows))
		if err != nil {
			return nil
		}
		if ilu == nil {
			continue
		}
		plan := &filledPlan{ilu: ilu, order: order}
		for e, j := range cols {
			at, _ := slices.BinarySearch(q.column(j), int32(rows[e]))
			plan.places = append(plan.places, q.Start[j]+int32(at))
		}
		return plan
	}
	return nil
}

// sideBySide returns 0, …, n−1 in an order that takes one number of each of so many parts in turn.
func sideBySide(n, parts int) []int32 {
	order := make([]int32, 0, n)
	for i := range (n + parts - 1) / parts {
		for part := range parts {
			if j := part*n/parts + i; j < (part+1)*n/parts {
				order = append(order, int32(j))
			}
		}
	}
	return order
}

// lay lays out the rows of the factors, which only those need who solve with them.
func (plan *filledPlan) lay() {
	plan.rows = [2]*fours{plan.ilu.substitution(plan.order, false), plan.ilu.substitution(plan.order, true)}
	for _, rows := range plan.rows {
		rows.Shorten(len(plan.order) + 1)
	}
}

// trial is what is tried, and how little of a residual so many refinements have to leave.
type trial struct {
	by          Serving
	left        float64
	refinements int
}

var trials = []trial{
	{ShortServes, shortLeft, shortRefinements},
	{IncompleteServes, trialLeft, trialRefinements},
}

// trials returns what is tried, in this order.
func (plan *filledPlan) trials() []trial {
	if plan.rows[0].Short == nil {
		return trials[1:]
	}
	return trials
}

func (plan *filledPlan) new() *filled {
	return &filled{
		filledPlan: plan, ilu: plan.ilu.new(), values: make([]float64, len(plan.ilu.structure.p.Rows)),
	}
}

// price estimates the time of a factorisation and six solves of one lane in picoseconds, as Analysis.price does.
func (plan *filledPlan) price() int64 {
	p := plan.ilu.structure.p
	n, own, filled := int64(p.N), int64(len(plan.places)), int64(len(p.Rows))
	const refinements = 5
	return 1000*int64(plan.ilu.work) + (6*refinements+trialRefinements)*(900*filled+1000*own+3000*n)
}

// filled returns the pattern of the incomplete factors that keep fill up to the level; nil if it has more entries than
// most, or so many updates that its factors would have too many, however many entries there are. An
// entry has level 0, and fill that of the two entries that it comes from, added up, and one.
func (p *Pattern) filled(level, most int) *Pattern {
	n := p.N
	q := &Pattern{N: n, Start: make([]int32, 1, n+1)}
	diagonal := make([]int, n) // places in q
	var levels []int32         // of q's entries
	of := make([]int32, n)     // of the column, by rows; −1 for no entry
	for i := range of {
		of[i] = -1
	}
	var upper rowHeap // above the diagonal, those not yet looked at
	updates := 0
	for k := range n {
		from := len(q.Rows)
		take := func(i, at int32) {
			if of[i] < 0 {
				q.Rows = append(q.Rows, i)
				if int(i) < k {
					upper.push(i)
				}
			}
			if of[i] < 0 || at < of[i] {
				of[i] = at
			}
		}
		for _, i := range p.column(k) {
			take(i, 0)
		}
		for len(upper) > 0 {
			m := upper.pop()
			if int(of[m]) >= level {
				continue
			}
			for e := diagonal[m] + 1; e < int(q.Start[m+1]); e++ {
				if at := of[m] + levels[e] + 1; int(at) <= level {
					take(q.Rows[e], at)
					updates++
				}
			}
		}
		if len(q.Rows) > most || updates > updatesMost*most {
			return nil
		}
		column := q.Rows[from:]
		slices.Sort(column)
		for e, i := range column {
			if int(i) == k {
				diagonal[k] = from + e
			}
			levels = append(levels, of[i])
			of[i] = -1
		}
		q.Start = append(q.Start, int32(len(q.Rows)))
	}
	return q
}

// rowHeap is a heap of rows, the least first.
type rowHeap []int32

func (h *rowHeap) push(i int32) {
	*h = append(*h, i)
	a := *h
	for k := len(a) - 1; k > 0 && a[k] < a[(k-1)/2]; k = (k - 1) / 2 {
		a[k], a[(k-1)/2] = a[(k-1)/2], a[k]
	}
}

func (h *rowHeap) pop() int32 {
	a := *h
	least, last := a[0], len(a)-1
	a[0] = a[last]
	a = a[:last]
	for k := 0; ; {
		c := 2*k + 1
		if c >= last {
			break
		}
		if c+1 < last && a[c+1] < a[c] {
			c++
		}
		if a[k] <= a[c] {
			break
		}
		a[k], a[c] = a[c], a[k]
		k = c
	}
	*h = a
	return least
}

// factor makes the incomplete factors of the matrix.
func (f *filled) factor(values []float64) error {
	clear(f.values)
	for e, at := range f.places {
		f.values[at] = values[e]
	}
	f.rows[0].forget()
	f.rows[1].forget()
	size, finite := largest(values) // what is filled is 0
	if !finite {
		return f.ilu.s.p.notFinite(f.values)
	}
	return f.ilu.factor(f.values, size)
}

// approximate implements approximation.
func (f *filled) approximate(x []float64, transposed bool) {
	way := direction(transposed)
	rows, values := f.filledPlan.rows[way], f.ilu.m // L and U follow each other
	if laid := &f.rows[way]; f.short {
		solve((*simd.Fours).SubstituteShort, rows, x, laid.asShort(rows, values), f.order, f.ilu.recip, transposed)
	} else {
		solve((*simd.Fours).Substitute, rows, x, laid.as(rows, values, 1), f.order, f.ilu.recip, transposed)
	}
}

// direction is 1 for what is transposed, and 0 otherwise.
func direction(transposed bool) int {
	if transposed {
		return 1
	}
	return 0
}

// hold takes the values of a matrix, and what solves with about that.
func (f *refined) hold(values []float64, by approximation) {
	copy(f.values, values)
	f.by = by
	f.rows[0].forget()
	f.rows[1].forget()
}

// converges reports whether so many refinements of a solution leave no more of a residual. Of that the values and the
// approximation alone decide.
func (f *refined) converges(left float64, refinements int) bool {
	bits := uint32(1)
	for i := range f.b { // signs as if by chance
		bits = bits*1664525 + 1013904223
		f.b[i] = 1
		if bits>>31 == 1 {
			f.b[i] = -1
		}
	}
	return f.refine(false, left, refinements) <= left
}

// refine sets x to a solution for b, or one of the transposed system, in so many refinements or until the residual is
// done. It returns the residual, over the terms of its equation. None is left out: that the first refinements gained
// much does not say that the last does, where fast pairs of unknowns hide what they do together.
func (f *refined) refine(transposed bool, done float64, refinements int) (left float64) {
	most := max(done, 2*refineEnough) // a residual above that is not enough, nor did it help one that is
	way := direction(transposed)
	rows := f.refinedPlan.rows[way]
	values := f.rows[way].as(rows, f.values, -1)
	clear(f.x)
	copy(f.r, f.b)
	x, r := f.x[:len(f.b)], f.r[:len(f.b)]
	last := math.Inf(1)
	for range refinements {
		f.by.approximate(f.r, transposed)
		simd.Binary(simd.Add, x, x, r)
		left = f.residual(rows, values, done, most)
		if left <= done || left <= refineEnough && !(left <= float64(0.5*last)) {
			break
		}
		if last = left; left != left { // it stays so
			break
		}
	}
	return left
}

// residual sets r to the residual of x, and returns the largest over the terms of its equation, as Fours.Residual does.
func (f *refined) residual(rows *fours, values [][4]float64, done, most float64) (left float64) {
	n := len(f.b)
	if f.team == nil || n < 2*residualPart {
		return rows.Residual(f.r, f.b, f.x, values, 0, tiny, done, most)
	}
	s := &f.share
	s.f, s.rows, s.values, s.done, s.most = f, rows, values, done, most
	s.left = slices.Grow(s.left[:0], n/residualPart)[:n/residualPart]
	f.team.Do(len(s.left), s)
	return slices.Max(s.left)
}

// residualPart is how many rows of a residual make a part.
var residualPart = 1 << 10

// sharedResidual is a residual in parts.
type sharedResidual struct {
	f          *refined
	rows       *fours
	values     [][4]float64
	done, most float64
	left       []float64 // of each part
}

// Part implements team.Work.
func (s *sharedResidual) Part(i, _ int) {
	f, n := s.f, len(s.f.b)
	from, to := i*n/len(s.left), (i+1)*n/len(s.left)
	s.left[i] = s.rows.Residual(f.r, f.b[:to], f.x, s.values, from, tiny, s.done, s.most)
}

const (
	// tiny is below what rounding of numbers without an exponent of their own may leave.
	tiny = 0x1p-960

	// Right-hand sides that are small throughout, as of a likelihood, are raised: tiny is to be nothing beside them.
	small = 0x1p-480
	raise = 0x1p480
)

// solve replaces lane a of x[N][lanes] by the solution, with an error of about the tolerance or of rounding. It reports
// whether so many refinements converged, and leaves x as it is otherwise.
func (f *refined) solve(x []float64, a, lanes int, transposed bool, tolerance float64, most int) bool {
	largest := 0.0
	for i := range f.b {
		f.b[i] = x[i*lanes+a]
		largest = max(largest, math.Abs(f.b[i]))
	}
	by := 1.0
	if largest < small {
		by = raise
		for i := range f.b {
			f.b[i] *= by
		}
	}
	done := max(tolerance, refineDone)
	if left := f.refine(transposed, done, most); !(left <= max(done, refineEnough)) {
		return false
	}
	for i := range f.b {
		x[i*lanes+a] = f.x[i] / by
	}
	return true
}

// memory returns the bytes of one refined, with those of its plan.
func (f *refined) memory() int {
	bytes := 8 * (len(f.values) + 3*f.p.N)
	for w, rows := range f.refinedPlan.rows {
		bytes += rows.memory() + f.rows[w].memory()
	}
	return bytes
}

// memory returns the bytes of one filled, with those of its plan.
func (f *filled) memory() int {
	bytes := 8*(len(f.values)*2+len(f.ilu.updates)) + 4*(len(f.order)+len(f.places)+3*len(f.values))
	for w, rows := range f.filledPlan.rows {
		bytes += rows.memory() + f.rows[w].memory()
	}
	return bytes
}
