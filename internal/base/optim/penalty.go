package optim

import (
	"math"
	"slices"
)

// lines returns the kinks and constraints around the current point.
func (s *sequence) lines() []line {
	var list []line
	n := s.n
	for i, u := range s.now.kinks.U {
		w := s.now.kinks.W[i]
		list = append(list, line{v: u, a: s.now.kinks.J[i*n : (i+1)*n], below: w, above: w, kink: i, constraint: -1})
	}
	limited := func(i int, v float64, a []float64, cut bool) {
		w := s.penalty / s.extents[i]
		lo, hi := s.p.Lo[i], s.p.Hi[i]
		l := line{a: a, kink: -1, constraint: i, cut: cut}
		if lo == hi {
			l.v, l.limit, l.below, l.above = v-lo, lo, w, w
			list = append(list, l)
			return
		}
		if !math.IsInf(lo, -1) {
			l.v, l.limit, l.below, l.above = v-lo, lo, w, 0
			list = append(list, l)
		}
		if !math.IsInf(hi, 1) {
			l.v, l.limit, l.below, l.above = v-hi, hi, 0, w
			list = append(list, l)
		}
	}
	for i, c := range s.now.c.C {
		limited(i, c, s.now.c.row(i, n), false)
	}
	for _, k := range s.cuts {
		limited(k.i, s.cutAt(k), k.row, true)
	}
	return list
}

// excess returns the sum of violations, each relative to the size of its constraint, and the largest.
func (s *sequence) excess(c []float64) (sum, most float64) {
	for i, v := range c {
		e := (math.Max(s.p.Lo[i]-v, 0) + math.Max(v-s.p.Hi[i], 0)) / s.extents[i]
		sum += e
		most = math.Max(most, e)
	}
	return sum, most
}

// merit is the objective with the penalty of violations.
func (s *sequence) merit(p *sample) float64 {
	sum, _ := s.excess(p.c.C)
	return p.at.Value + float64(s.penalty*sum)
}

// box returns the bounds of a step.
func (s *sequence) box(radius float64) (lo, hi []float64) {
	lo, hi = make([]float64, s.n), make([]float64, s.n)
	for i := range lo {
		l, h := s.p.Bounds.limits(i)
		lo[i] = math.Max(math.Min((l-s.x[i])/s.s[i], 0), -radius)
		hi[i] = math.Min(math.Max((h-s.x[i])/s.s[i], 0), radius)
	}
	return lo, hi
}

// violations returns the sum of those that lines have after a step. The largest of several functions is violated by as
// much as the worst of them.
func (s *sequence) violations(lines []line, d []float64) (sum float64) {
	worst := make([]float64, len(s.extents))
	for i := range lines {
		if l := &lines[i]; l.constraint >= 0 {
			v := l.v
			if d != nil {
				v += dot(l.a, d)
			}
			worst[l.constraint] = math.Max(worst[l.constraint], l.cost(v))
		}
	}
	for _, v := range worst {
		sum += v
	}
	return sum / s.penalty
}

// steer plans a step, with a penalty that is enough to make violations as small as they may be.
func (s *sequence) steer() {
	const most = 1e15
	least := -1.0
	for {
		s.plan = s.solve(s.lines(), true, true)
		if len(s.now.c.C) == 0 || s.plan.left <= 1e-9 || s.penalty >= most {
			return
		}
		if least < 0 {
			least = s.solve(s.lines(), false, true).left
		}
		now := s.violations(s.plan.lines, nil)
		if s.plan.left <= least+float64(0.1*math.Max(now-least, 0))+1e-9 {
			return
		}
		s.penalty *= 10
	}
}

// harder makes the penalty of violations greater, and reports that, where there are violations that could be less and
// the search has come to an end.
func (s *sequence) harder() bool {
	const most = 1e15
	_, largest := s.excess(s.now.c.C)
	if largest <= math.Max(1e-10, s.now.c.Noise) || s.penalty >= most {
		return false
	}
	before := s.radius
	s.radius = math.Max(s.radius, math.Min(1, 10*largest))
	lines := s.lines()
	falls := s.violations(lines, nil) - s.solve(lines, false, false).left
	if falls <= 1e-3*math.Min(largest, s.radius) {
		s.radius = before
		return false
	}
	s.penalty *= 10
	return true
}

// solve solves the quadratic program of some lines within the radius, with the objective or for violations alone, and
// with the curvature or with little.
func (s *sequence) solve(lines []line, objective, curved bool) plan {
	n, r := s.n, s.radius
	tops := s.tops(lines, objective)
	all := n + len(tops)
	q := program{n: all, a: make([]float64, all), over: s.over}
	q.square(s.p.Many)
	q.lo, q.hi = s.box(r)
	for i := range n {
		q.lo[i], q.hi[i] = q.lo[i]/r, q.hi[i]/r
	}
	size := 0.0 // of what changes, by a step as long as the radius
	if objective && len(s.pieces) == 0 {
		for i, g := range s.now.at.Gradient {
			q.a[i] = float64(g * r)
			size += math.Abs(q.a[i])
		}
	}
	var of []int
	var unit []float64 // of the slopes of lines
	for i, l := range lines {
		if !objective && l.constraint < 0 || tops.have(i) {
			continue
		}
		a := make([]float64, all)
		add(a[:n], r, l.a)
		if objective && l.kink >= 0 {
			size += float64(l.above * norm(a))
		}
		l.a = a
		q.lines, of, unit = append(q.lines, l), append(of, i), append(unit, 1)
	}
	for k := range tops {
		t := &tops[k]
		size = math.Max(size, t.price)
		t.put(&q, n+k, r)
		for _, i := range t.of {
			of, unit = append(of, i), append(unit, t.sign/t.size)
		}
	}
	if curved {
		s.model.fill(s, &q, size)
	} else {
		q.round(n, float64(1e-6*s.penalty*r))
	}
	if !q.solve() { // a step against the slopes is always one
		q.x, q.y, q.z = make([]float64, all), make([]float64, len(q.lines)), make([]float64, all)
	}
	p := plan{lines: lines, d: make([]float64, n), slopes: make([]float64, len(lines)), held: q.z[:n]}
	for i := range p.d {
		p.d[i] = float64(q.x[i] * r)
	}
	for k, i := range of {
		if i >= 0 {
			p.slopes[i] = float64(q.y[k] * unit[k])
		}
	}
	p.left, p.falls = s.violations(lines, p.d), -s.change(lines, p.d)
	return p
}

// top is the largest of several functions, as a variable of a program that is beyond all of them: the objective
// or how much a constraint is violated.
type top struct {
	price  float64 // where it grows by size
	size   float64
	sign   float64 // −1 for the least of several functions
	least  float64 // in units of size
	pieces []line
	of     []int // of these, among the lines; −1 for pieces of the objective
}

type tops []top

// have reports whether line i is of one of them.
func (t tops) have(i int) bool {
	return slices.ContainsFunc(t, func(t top) bool { return slices.Contains(t.of, i) })
}

// tops returns those of which several pieces are known.
func (s *sequence) tops(lines []line, objective bool) (list tops) {
	if objective && len(s.pieces) > 0 {
		t := top{sign: 1, least: -1e3}
		for _, k := range append([]*cut{{value: s.now.at.Value, x: s.x, row: s.now.at.Gradient}}, s.pieces...) {
			t.pieces = append(t.pieces, line{v: s.pieceAt(k) - s.now.at.Value, a: k.row})
			t.of = append(t.of, -1)
			t.size = math.Max(t.size, float64(norm(k.row)*s.radius))
		}
		if t.size == 0 {
			t.size = 1
		}
		t.price = t.size
		list = append(list, t)
	}
	for i := range s.extents {
		if !slices.ContainsFunc(s.cuts, func(k *cut) bool { return k.i == i }) {
			continue
		}
		t := top{sign: 1, size: float64(s.extents[i] * s.radius)}
		if math.IsInf(s.p.Hi[i], 1) {
			t.sign = -1
		}
		for j, l := range lines {
			if l.constraint == i && (l.above > 0) == (t.sign > 0) {
				t.pieces, t.of = append(t.pieces, l), append(t.of, j)
				t.size = math.Max(t.size, t.sign*l.v)
			}
		}
		t.price = float64(s.penalty / s.extents[i] * t.size)
		list = append(list, t)
	}
	return list
}

// put adds to a program that variable j is beyond all pieces.
func (t *top) put(q *program, j int, radius float64) {
	q.a[j], q.lo, q.hi = t.price, append(q.lo, t.least), append(q.hi, 1e3)
	q.set(j, float64(1e-7*t.price))
	for _, l := range t.pieces {
		p := line{v: t.sign * l.v / t.size, a: make([]float64, q.n), kink: -1, constraint: -1, cut: true}
		add(p.a, t.sign*radius/t.size, l.a)
		p.a[j], p.above = -1, math.Inf(1)
		q.lines = append(q.lines, p)
	}
}

// change returns by how much the model of the penalty function changes along a step.
func (s *sequence) change(lines []line, d []float64) float64 {
	sum := dot(s.now.at.Gradient, d)
	for _, k := range s.pieces {
		sum = math.Max(sum, s.pieceAt(k)-s.now.at.Value+dot(k.row, d))
	}
	for i := range lines {
		if l := &lines[i]; l.constraint < 0 {
			sum += l.cost(l.v+dot(l.a, d)) - l.cost(l.v)
		}
	}
	sum += float64(s.penalty * (s.violations(lines, d) - s.violations(lines, nil)))
	return sum + float64(0.5*s.model.along(d))
}

// corrected returns a step that moves back to where kinks and constraints were to be, as they are at the trial after
// the planned one, which was to have the penalty function at promised; nil for none.
func (s *sequence) corrected(promised float64) []float64 {
	n := s.n
	q := program{n: n, a: make([]float64, n), over: s.over}
	q.square(s.p.Many)
	q.round(n, 1)
	q.lo, q.hi = s.box(math.Inf(1))
	for i, v := range s.plan.d {
		q.lo[i], q.hi[i] = math.Min(q.lo[i]-v, 0), math.Max(q.hi[i]-v, 0)
	}
	bent := 0.0 // how much of the penalty function is due to kinks and constraints that curve
	for i := range s.plan.lines {
		l, y := s.plan.lines[i], s.plan.slopes[i]
		v := 0.0
		switch planned := l.v + dot(l.a, s.plan.d); {
		case l.cut:
			continue
		case l.kink >= 0:
			v = s.trial.kinks.U[l.kink]
			bent += l.cost(v) - l.cost(planned)
		default:
			v = s.trial.c.C[l.constraint] - l.limit
			bent += l.cost(v) - l.cost(planned)
		}
		size := norm(l.a)
		if size == 0 || y == 0 || y <= -l.below || y >= l.above {
			continue // it was not to be held
		}
		const much = 1e6
		l.kink, l.v, l.a = -1, v/size, slices.Clone(l.a)
		for j := range l.a {
			l.a[j] /= size
		}
		if l.below > 0 {
			l.below = much
		}
		if l.above > 0 {
			l.above = much
		}
		q.lines = append(q.lines, l)
	}
	if len(q.lines) == 0 || !(bent > 0.3*(s.merit(&s.trial)-promised)) || !q.solve() {
		return nil
	}
	for i, v := range s.plan.d {
		q.x[i] += v
	}
	return q.x
}

// relent makes the penalty less where it is far more than what holds the constraints: steps along constraints that
// curve are short where it is great. It does so a few times only.
func (s *sequence) relent() {
	const often = 10
	if s.relented >= often || len(s.extents) == 0 || s.plan.left > 1e-9 {
		return
	}
	y := make([]float64, len(s.extents))
	for i := range s.plan.lines {
		if k := s.plan.lines[i].constraint; k >= 0 {
			y[k] += s.plan.slopes[i]
		}
	}
	needed := 1e-3 * s.began
	for i, v := range y {
		needed = math.Max(needed, math.Abs(float64(v*s.extents[i])))
	}
	if s.penalty > 10*needed {
		s.penalty = 3 * needed
		s.relented++
	}
}

// place returns the point after a step, within the bounds.
func (s *sequence) place(d []float64) []float64 {
	next := make([]float64, s.n)
	for i := range next {
		l, h := s.p.Bounds.limits(i)
		switch v := d[i]; {
		case v != 0 && v <= float64((l-s.x[i])/s.s[i]*(1-4*epsilon)):
			next[i] = l
		case v != 0 && v >= float64((h-s.x[i])/s.s[i]*(1-4*epsilon)) && v > 0:
			next[i] = h
		default:
			next[i] = s.p.Bounds.clip(i, s.x[i]+float64(v*s.s[i]))
		}
	}
	return next
}
