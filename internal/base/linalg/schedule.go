package linalg

import "math"

// Schedule is a factorisation or a solve as straight-line arithmetic: steps in order, on places in one
// vector. It begins with the values of the matrix. Then come the factors, as a sparse factorisation
// keeps them, the right-hand side or solution x[N], and N places for what a solve keeps in between.
//
// Where the tail of the places of a solve is factored densely, the steps of an elimination compute what is
// factored, and those of a solve come in two parts, between which the tail is solved.
type Schedule struct {
	Values, Factors, N int // numbers of places
	Pivots             int // the first of N places where an elimination leaves its pivots
	Part               int // steps before the tail; all if there is none
	Steps              []Step
	Terms              []Term
}

// Step sets Width places from To on. Each begins with the place as far behind From, or with 0 where From
// is None. It adds its Terms in order, each by one fused multiply-add. The result is negated before
// that (Negate), replaced by −1 over it (Invert), or multiplied by place Scale, where that is not None.
type Step struct {
	To, From       int32
	First, Last    int32 // of Schedule.Terms, without Last
	Scale          int32
	Width          int8
	Negate, Invert bool
}

// Term is place A times place B. In a step of some width the place A advances from element to element.
type Term struct{ A, B int32 }

// None is no place.
const None int32 = -1

// Schedules returns a factorisation in the given order, which is nil for that of the pattern, and both
// solves as straight-line arithmetic with steps of width 1: for programs that contain them. They have the
// bits of an LU with the method Sparse. A program has to see to its pivots itself: an LU gives up the order
// where a pivot is small beside other entries of its column or a column grows. ok is false if there is no
// such order, or if its tail is factored densely.
func (a *Analysis) Schedules(o *Order) (factor, solve, solveT *Schedule, ok bool) {
	if o == nil {
		o = a.order
	}
	if s := a.structure; o == nil || s.tail < s.tailEnd {
		return nil, nil, nil, false
	}
	plan := func() *planner { return a.structure.planner(o, 1) }
	return plan().elimination(), plan().solve(false), plan().solve(true), true
}

// layout says where the parts of the factors are in their memory, which begins with L.
type layout struct {
	u, off, recip, pivot, tail, end int
}

// extra is what machine code leaves behind the factors: vectors of four words that are not zero where
// a bound is exceeded, and the magnitude of the largest value.
const extra = 16

func (o *Order) layout() layout {
	n := len(o.rows)
	l := layout{u: o.lSize}
	l.off = l.u + len(o.uRows)
	l.recip = l.off + len(o.offRows)
	l.pivot = l.recip + n
	l.tail = l.pivot + n
	l.end = l.tail + o.tailSize + extra
	return l
}

// planner makes schedules of a sparse factorisation.
type planner struct {
	Schedule
	layout
	o      *Order
	s      *structure
	start  []int32 // of blocks
	cols   []int32
	widest int
	rows   [][]Term // by place in the order: the terms of a chain that is being collected
	groups []group
	early  []Step // what comes before all others, so that vectors can be loaded that it stores one by one
}

func (s *structure) planner(o *Order, widest int) *planner {
	p := &planner{o: o, s: s, layout: o.layout(), start: s.start, cols: s.cols, widest: widest}
	p.rows = make([][]Term, s.p.N)
	p.Values, p.Factors, p.N = len(s.p.Rows), p.end, s.p.N
	p.Pivots = p.Values + p.layout.pivot
	return p
}

// Places of the parts.
func (p *planner) factor(at int) int32        { return int32(p.Values + at) }
func (p *planner) lower(k, q int) int32       { return p.factor(int(p.o.lValue[k]) + q) }
func (p *planner) upper(e int) int32          { return p.factor(p.u + e) }
func (p *planner) inverse(k int) int32        { return p.factor(p.recip + k) }
func (p *planner) x(i int32) int32            { return int32(p.Values+p.Factors) + i }
func (p *planner) w(k int) int32              { return p.x(int32(p.N + k)) }
func (p *planner) step(s Step, terms ...Term) { p.add(s, terms) }

func (p *planner) add(s Step, terms []Term) {
	s.First = int32(len(p.Terms))
	p.Terms = append(p.Terms, terms...)
	s.Last = int32(len(p.Terms))
	s.Width = max(s.Width, 1)
	p.Steps = append(p.Steps, s)
}

// elimination is the numeric phase of a factorisation.
func (p *planner) elimination() *Schedule {
	o := p.o
	from := make([]int32, p.N) // where chains of the column begin
	for i := range from {
		from[i] = None
	}
	tail := identity(p.N)[p.s.tail:p.s.tailEnd]
	for e, at := range o.offValues {
		p.step(Step{To: p.factor(p.off + e), From: at, Scale: None})
	}
	for k := range p.N {
		in := o.inRows[o.inStart[k]:o.inStart[k+1]]
		for e, i := range in {
			from[i] = o.inValues[int(o.inStart[k])+e]
		}
		for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
			m := o.uRows[e]
			for q, i := range o.lRows[o.lStart[m]:o.lEnd[m]] {
				p.rows[i] = append(p.rows[i], Term{A: p.lower(int(m), q), B: p.upper(int(e))})
			}
		}
		u0 := int(o.uStart[k])
		p.chains(o.uRows[u0:o.uStart[k+1]], from, p.upper(u0), None)
		below := o.lRows[o.lStart[k]:o.lEnd[k]]
		if p.s.inTail(k) {
			below = tail
			p.chains(below, from, p.factor(p.layout.tail+(k-int(tail[0]))*len(tail)), None)
		} else {
			pivot := p.factor(p.pivot + k)
			p.step(Step{To: pivot, From: from[k], Scale: None}, p.rows[k]...)
			p.step(Step{To: p.inverse(k), From: pivot, Scale: None, Invert: true})
			p.chains(below, from, p.lower(k, 0), p.inverse(k))
		}
		for _, i := range in {
			from[i] = None
		}
		for _, i := range o.uRows[u0:o.uStart[k+1]] {
			p.rows[i] = p.rows[i][:0]
		}
		p.rows[k] = p.rows[k][:0]
		for _, i := range below {
			p.rows[i] = p.rows[i][:0]
		}
	}
	p.Steps = append(p.early, p.Steps...)
	p.Part = len(p.Steps)
	return &p.Schedule
}

// chains adds the steps of the given rows of a column, whose elements follow each other from place to
// on. Neighbours that have terms in common are a step of some width, for these terms. What comes before
// them is computed first, one by one, and what comes behind last.
func (p *planner) chains(rows, from []int32, to, scale int32) {
	groups := p.groups[:0]
	for q := 0; q < len(rows); {
		g := p.together(rows[q:], to+int32(q))
		if scale != None { // all that the terms need is there
			p.before(&g, rows[q:], from, to+int32(q))
		}
		groups = append(groups, g)
		q += g.width
	}
	p.groups = groups
	q := 0
	for i := range groups {
		g := &groups[i]
		at := to + int32(q)
		if g.width == 1 {
			i := rows[q]
			p.add(Step{To: at, From: from[i], Scale: scale}, p.rows[i])
			q++
			continue
		}
		if scale == None {
			p.before(g, rows[q:], from, at)
		}
		s := Step{To: at, From: None, Scale: scale, Width: int8(g.width)}
		if !g.zero {
			s.From = at
		}
		first := p.rows[rows[q]]
		p.add(s, first[int(g.end[0])-g.common:g.end[0]])
		for d, i := range rows[q : q+g.width] {
			if t := p.rows[i][g.end[d]:]; len(t) > 0 {
				p.add(Step{To: at + int32(d), From: at + int32(d), Scale: None}, t)
			}
		}
		q += g.width
	}
}

// group is a number of neighbouring elements of a column with common terms.
type group struct {
	width, common int
	end           [8]int32 // of each element: the number of terms up to the last of the common ones
	zero          bool     // nothing comes before the common terms
}

// before adds what comes before the common terms of a group.
func (p *planner) before(g *group, rows, from []int32, to int32) {
	if g.width == 1 {
		return
	}
	rows = rows[:g.width]
	g.zero = true
	for d, i := range rows {
		g.zero = g.zero && from[i] == None && int(g.end[d]) == g.common
	}
	if g.zero {
		return
	}
	for d, i := range rows {
		s := Step{To: to + int32(d), From: from[i], Scale: None, Width: 1}
		if t := p.rows[i][:int(g.end[d])-g.common]; len(t) > 0 {
			p.add(s, t)
		} else {
			p.early = append(p.early, s)
		}
	}
}

// together returns the group that the first of the rows should belong to, whose element is at place at. A
// term whose factor B is an element of the group is not common.
func (p *planner) together(rows []int32, at int32) group {
	best, gain := group{width: 1}, 0.0
	for width := p.widest; width > 1; width /= 2 {
		if width > len(rows) {
			continue
		}
		g := group{width: width, common: math.MaxInt}
		last := p.rows[rows[0]]
		for d, i := range rows[:width] {
			t := p.rows[i]
			n := len(t)
			for n > 0 && t[n-1].B >= at && t[n-1].B < at+int32(width) {
				n--
			}
			g.end[d] = int32(n)
			same := 0
			for same < min(n, g.common) {
				a, b := last[int(g.end[0])-1-same], t[n-1-same]
				if a.B != b.B || a.A+int32(d) != b.A {
					break
				}
				same++
			}
			g.common = same
		}
		// Instructions that are saved, by element.
		if s := (float64(g.common*(width-1)) - float64(2*width+2)) / float64(width); s > gain {
			best, gain = g, s
		}
	}
	return best
}

// solve is a solve, or one with the transpose. Beginnings are read from x before they are overwritten.
func (p *planner) solve(transposed bool) *Schedule {
	if transposed {
		p.transposed()
	} else {
		p.plain()
	}
	if p.s.tail == p.s.tailEnd {
		p.Part = len(p.Steps)
	}
	return &p.Schedule
}

// plain adds what is found to the rows below as soon as it is found, so that L is read in the order of memory. Rows
// above have fewer terms in common with their neighbours, and wait.
func (p *planner) plain() {
	o := p.o
	begun := make([]bool, p.N)   // rows that something was added to
	upper := make([][]Term, p.N) // terms of U of each row
	row := func(i int32, terms ...Term) {
		s := Step{To: p.w(int(i)), From: p.w(int(i)), Scale: None}
		if !begun[i] {
			begun[i], s.From = true, p.x(o.rows[i])
		}
		p.add(s, terms)
	}
	for b := len(p.start) - 2; b >= 0; b-- {
		k0, k1 := int(p.start[b]), int(p.start[b+1])
		for k := k0; k < k1; k++ {
			if !begun[k] {
				row(int32(k))
			}
			for q, i := range o.lRows[o.lStart[k]:o.lEnd[k]] {
				row(i, Term{A: p.lower(k, q), B: p.w(k)})
			}
		}
		for k := k1 - 1; k >= k0; k-- {
			for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
				i := o.uRows[e]
				upper[i] = append(upper[i], Term{A: p.upper(int(e)), B: p.w(k)})
			}
		}
		if p.s.sparseEnd(k1) < k1 {
			p.Part = len(p.Steps)
		}
		for k := k1 - 1; k >= k0; k-- { // −x
			if p.s.inTail(k) {
				p.step(Step{To: p.w(k), From: p.w(k), Scale: None, Negate: true})
			} else {
				p.add(Step{To: p.w(k), From: p.w(k), Scale: p.inverse(k)}, upper[k])
			}
			if b == 0 {
				p.step(Step{To: p.x(p.cols[k]), From: p.w(k), Scale: None, Negate: true})
			}
		}
		for k := k0; k < k1; k++ {
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				row(o.offRows[e], Term{A: p.factor(p.off + int(e)), B: p.w(k)})
			}
		}
	}
	for k := int(p.start[1]); k < p.N; k++ {
		p.step(Step{To: p.x(p.cols[k]), From: p.w(k), Scale: None, Negate: true})
	}
}

func (p *planner) transposed() {
	o := p.o
	var terms []Term
	for b := range len(p.start) - 1 {
		k0, k1 := int(p.start[b]), int(p.start[b+1])
		for k := k0; k < k1; k++ {
			terms = terms[:0]
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				terms = append(terms, Term{A: p.factor(p.off + int(e)), B: p.w(int(o.offRows[e]))})
			}
			for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
				terms = append(terms, Term{A: p.upper(int(e)), B: p.w(int(o.uRows[e]))})
			}
			if p.s.inTail(k) {
				p.add(Step{To: p.w(k), From: p.x(p.cols[k]), Scale: None, Negate: true}, terms)
				p.step(Step{To: p.w(k), From: p.w(k), Scale: None, Negate: true})
			} else {
				p.add(Step{To: p.w(k), From: p.x(p.cols[k]), Scale: p.inverse(k), Negate: true}, terms)
			}
		}
		if p.s.sparseEnd(k1) < k1 {
			p.Part = len(p.Steps)
		}
		last := b == len(p.start)-2
		for k := k1 - 1; k >= k0; k-- {
			terms = terms[:0]
			rows := o.lRows[o.lStart[k]:o.lEnd[k]]
			for q := len(rows) - 1; q >= 0; q-- {
				terms = append(terms, Term{A: p.lower(k, q), B: p.w(int(rows[q]))})
			}
			if !p.s.inTail(k) {
				p.add(Step{To: p.w(k), From: p.w(k), Scale: None}, terms)
			}
			if last {
				p.step(Step{To: p.x(o.rows[k]), From: p.w(k), Scale: None})
			}
		}
	}
	for k := range int(p.start[len(p.start)-2]) {
		p.step(Step{To: p.x(o.rows[k]), From: p.w(k), Scale: None})
	}
}
