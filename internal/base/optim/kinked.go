package optim

import (
	"context"
	"math"
	"slices"
)

// Kinks are functions of which absolute values are part of an objective, and their derivatives, at one point.
type Kinks struct {
	U []float64 // m
	J []float64 // m × n, by rows
	W []float64 // m: weights of |U|, at least 0
}

// KinkedProblem is a function with kinks, F + Σ W|U|, to be minimised within bounds, where Lo ≤ C ≤ Hi holds. F, U and
// C are smooth.
type KinkedProblem struct {
	Variables, Kinks, Constraints int
	Bounds                        Bounds
	Lo, Hi                        []float64 // of the constraints, as those of a ConstrainedProblem
	Largest                       []bool
	// Evaluate fills in at, k and c; see Problem. Value is that of the whole objective, with its kinks, and Gradient
	// and Hessian are those of F. The Hessian may be any positive semidefinite matrix that stands for it, or zero.
	Evaluate func(ctx context.Context, x []float64, want Want, at *Point, k *Kinks, c *Constraints) error
}

// Folded searches a minimum of p from x0, which is moved into the bounds and need not satisfy the constraints. The
// error is one of the start (ErrStart); the result then has status Failed.
//
// A linear program, of which kinks and violations of constraints are parts, within a box around the point, says which
// kinks, constraints and bounds hold the minimum (R. Fletcher, E. Sainz de la Maza, Math. Program. 43 (1989) 235–256,
// doi:10.1007/BF01582292). A quadratic program along these, with a damped BFGS approximation of the Lagrangian's
// Hessian, says how far to go (R. H. Byrd, N. I. M. Gould, J. Nocedal, R. A. Waltz, Math. Program. 100 (2004) 27–48,
// doi:10.1007/s10107-003-0485-4).
func Folded(ctx context.Context, p KinkedProblem, x0 []float64, o Options) (Result, error) {
	n, m, k := p.Variables, p.Kinks, p.Constraints
	room := func() foldedPoint {
		return foldedPoint{
			at:    Point{Gradient: make([]float64, n), Hessian: make([]float64, n*n)},
			kinks: Kinks{U: make([]float64, m), J: make([]float64, m*n), W: make([]float64, m)},
			c:     Constraints{C: make([]float64, k), J: make([]float64, k*n)},
		}
	}
	f := &folded{o: o, p: p, n: n, now: room(), trial: room(), b: make([]float64, n*n)}
	return f.run(ctx, x0)
}

// foldedPoint is what is known of a point. All is in scaled variables.
type foldedPoint struct {
	at    Point
	kinks Kinks
	c     Constraints
}

// folded is a search for a minimum of a function with kinks.
type folded struct {
	o          Options
	p          KinkedProblem
	n          int
	x          []float64
	s          []float64 // sizes of the variables, of which derivatives and steps are multiples
	now, trial foldedPoint
	b          []float64 // of the Lagrangian, n × n
	extents    []float64 // sizes of the constraints
	penalty    float64   // of a violation of size 1
	cuts       []*cut
	radius     float64
	first      float64 // value
	quiet      int     // steps that promised nothing that could be noticed
	fresh      bool    // the curvature is that of the point alone
	res        Result
}

// line is a row of the model around a point: a kink of the objective, or of the penalty of a constraint. Its value is
// v + aᵀd, and it costs below·(−value) or above·value.
type line struct {
	v            float64
	a            []float64
	below, above float64
	kink         int // of the problem; −1 for none
	constraint   int // −1 for none
	limit        float64
	cut          bool // it is what the constraint was like at another point
}

func (l *line) cost(v float64) float64 {
	if v < 0 {
		return float64(-l.below * v)
	}
	return float64(l.above * v)
}

// lines returns those of the model at the current point.
func (f *folded) lines() []line {
	var list []line
	n := f.n
	for i, u := range f.now.kinks.U {
		w := f.now.kinks.W[i]
		list = append(list, line{v: u, a: f.now.kinks.J[i*n : (i+1)*n], below: w, above: w, kink: i, constraint: -1})
	}
	limited := func(i int, v float64, a []float64, cut bool) {
		w := f.penalty / f.extents[i]
		lo, hi := f.p.Lo[i], f.p.Hi[i]
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
	for i, c := range f.now.c.C {
		limited(i, c, f.now.c.row(i, n), false)
	}
	for _, k := range f.cuts {
		v := k.value
		for j := range k.row {
			v += float64(k.row[j] * (f.x[j] - k.x[j]) / f.s[j])
		}
		if c := f.now.c.C[k.i]; math.IsInf(f.p.Hi[k.i], 1) {
			v = math.Max(v, c)
		} else {
			v = math.Min(v, c)
		}
		limited(k.i, v, k.row, true)
	}
	return list
}

// excess returns the sum of violations, each relative to the size of its constraint, and the largest.
func (f *folded) excess(c []float64) (sum, most float64) {
	for i, v := range c {
		e := (math.Max(f.p.Lo[i]-v, 0) + math.Max(v-f.p.Hi[i], 0)) / f.extents[i]
		sum += e
		most = math.Max(most, e)
	}
	return sum, most
}

// merit is the objective with the penalty of violations.
func (f *folded) merit(p *foldedPoint) float64 {
	sum, _ := f.excess(p.c.C)
	return p.at.Value + float64(f.penalty*sum)
}

// box returns the bounds of a scaled step.
func (f *folded) box(radius float64) (lo, hi []float64) {
	lo, hi = make([]float64, f.n), make([]float64, f.n)
	for i := range lo {
		l, h := f.p.Bounds.limits(i)
		lo[i] = math.Max(math.Min((l-f.x[i])/f.s[i], 0), -radius)
		hi[i] = math.Min(math.Max((h-f.x[i])/f.s[i], 0), radius)
	}
	return lo, hi
}

// linear solves the linear program of the model within a radius. It returns the step, how much the model falls and the
// lines that rest at their kinks. Without an objective only violations count.
func (f *folded) linear(lines []line, radius float64, objective bool) (step []float64, falls float64, rests []int) {
	lo, hi := f.box(radius)
	p := Linear{C: make([]float64, f.n), Lo: make([]float64, f.n), Hi: make([]float64, f.n)}
	for i := range p.C {
		if objective {
			p.C[i] = float64(radius * f.now.at.Gradient[i])
		}
		p.Lo[i], p.Hi[i] = lo[i]/radius, hi[i]/radius
	}
	var of []int
	for i, l := range lines {
		size := 0.0
		for _, a := range l.a {
			size += math.Abs(a)
		}
		size *= radius
		if size == 0 || !objective && l.constraint < 0 {
			continue
		}
		r := LinearRow{Min: math.Inf(-1), Max: math.Inf(1), A: make([]float64, f.n), Kink: -l.v / size}
		if math.Abs(r.Kink) > 1 { // out of reach
			slope := l.above
			if l.v < 0 {
				slope = -l.below
			}
			add(p.C, float64(slope*radius), l.a)
			continue
		}
		add(r.A, radius/size, l.a)
		r.Below, r.Above = float64(l.below*size), float64(l.above*size)
		p.Rows, of = append(p.Rows, r), append(of, i)
	}
	s := p.Solve()
	for i := range s.X {
		s.X[i] *= radius
	}
	for _, v := range s.Rests {
		if v >= f.n {
			rests = append(rests, of[v-f.n])
		}
	}
	return s.X, -s.Value, rests
}

// change returns by how much the model changes along a step, without and with its curvature.
func (f *folded) change(lines []line, d []float64) (linear, curved float64) {
	linear = dot(f.now.at.Gradient, d)
	for i := range lines {
		l := &lines[i]
		linear += l.cost(l.v+dot(l.a, d)) - l.cost(l.v)
	}
	bd := make([]float64, f.n)
	multiply(f.b, d, bd)
	return linear, linear + float64(0.5*dot(d, bd))
}

// least returns the part, from 0 to 1, of the way from a to b at which the model is least.
func (f *folded) least(lines []line, a, b []float64) []float64 {
	at := func(t float64) []float64 {
		d := make([]float64, f.n)
		for i := range d {
			d[i] = a[i] + float64(t*(b[i]-a[i]))
		}
		return d
	}
	value := func(t float64) float64 {
		_, v := f.change(lines, at(t))
		return v
	}
	if end := value(1); end <= value(1-1e-6) {
		return at(1)
	}
	lo, hi := 0.0, 1.0
	for range 60 { // the model is convex
		x, y := lo+float64((hi-lo)/3), hi-float64((hi-lo)/3)
		if value(x) <= value(y) {
			hi = y
		} else {
			lo = x
		}
	}
	if t := (lo + hi) / 2; value(t) < value(0) {
		return at(t)
	}
	return at(0)
}

// quadratic returns the step along the lines that rest, within a radius; nil if there is none. off are the values of
// the lines that are to become 0. The multipliers are those of the lines.
func (f *folded) quadratic(
	lines []line, rests []int, off []float64, gradient []float64, b []float64, radius float64,
) (step, multipliers []float64) {
	q := program{n: f.n, k: len(rests), g: b, a: slices.Clone(gradient)}
	q.lo, q.hi = f.box(radius)
	resting := make([]bool, len(lines))
	for k, i := range rests {
		resting[i] = true
		q.c = append(q.c, lines[i].a...)
		q.cLo, q.cHi = append(q.cLo, -off[k]), append(q.cHi, -off[k])
	}
	multipliers = make([]float64, len(lines))
	for i := range lines {
		l := &lines[i]
		if resting[i] {
			continue
		}
		slope := -l.below
		if l.v > 0 {
			slope = l.above
		}
		if multipliers[i] = slope; l.constraint < 0 || f.p.Lo[l.constraint] == f.p.Hi[l.constraint] || slope*l.v > 0 {
			add(q.a, slope, l.a)
		} else {
			multipliers[i] = 0
		}
	}
	if !q.solve() {
		return nil, multipliers
	}
	for k, i := range rests {
		multipliers[i] = math.Max(-lines[i].below, math.Min(-q.y[k], lines[i].above))
	}
	return q.x, multipliers
}

// evaluate evaluates at x on trial.
func (f *folded) evaluate(ctx context.Context, x []float64) error {
	f.res.Evaluations++
	f.res.Slopes++
	t := &f.trial
	t.at.Noise, t.c.Noise = 0, 0
	clear(t.at.Hessian)
	err := f.p.Evaluate(ctx, x, Slopes, &t.at, &t.kinks, &t.c)
	if err == nil && !(finite([]float64{t.at.Value}) && finite(t.at.Gradient) && finite(t.at.Hessian) &&
		finite(t.kinks.U) && finite(t.kinks.J) && finite(t.c.C) && finite(t.c.J)) {
		err = errNotFinite
	}
	if err != nil {
		if ctx.Err() == nil {
			f.res.Failures++
		}
		return err
	}
	t.at.Noise = math.Max(t.at.Noise, float64(4*epsilon*math.Abs(t.at.Value)))
	n := f.n
	for j, s := range f.s {
		t.at.Gradient[j] *= s
		for i := range t.kinks.U {
			t.kinks.J[i*n+j] *= s
		}
		for i := range t.c.C {
			t.c.J[i*n+j] *= s
		}
		for i := range n {
			t.at.Hessian[i*n+j] *= float64(s * f.s[i])
		}
	}
	return nil
}

// curve makes the curvature that of the current point, with a little more of it.
func (f *folded) curve() {
	copy(f.b, f.now.at.Hessian)
	most := 0.0
	for i := range f.n {
		most = math.Max(most, f.b[i*f.n+i])
	}
	if most == 0 {
		slopes := norm(f.now.at.Gradient)
		for i, w := range f.now.kinks.W {
			slopes += float64(w * norm(f.now.kinks.J[i*f.n:(i+1)*f.n]))
		}
		if most = slopes; most == 0 {
			most = 1
		}
	}
	for i := range f.n {
		f.b[i*f.n+i] += float64(1e-8 * most)
	}
}

// remember keeps the constraints at x that are the largest of several functions.
func (f *folded) remember(x []float64, c *Constraints) {
	const most = 200
	for i, v := range c.C {
		if f.p.Largest == nil || !f.p.Largest[i] || f.p.Lo[i] == f.p.Hi[i] {
			continue
		}
		f.cuts = append(f.cuts, &cut{i: i, value: v, x: slices.Clone(x), row: slices.Clone(c.row(i, f.n))})
	}
	f.cuts = f.cuts[max(0, len(f.cuts)-most):]
}

// near drops the cuts of points from which the search has gone away.
func (f *folded) near() {
	const far = 10 // radii
	f.cuts = slices.DeleteFunc(f.cuts, func(k *cut) bool {
		for j, s := range f.s {
			if math.Abs(f.x[j]-k.x[j]) > far*f.radius*s {
				return true
			}
		}
		return false
	})
}

// end returns the result at the current point.
func (f *folded) end(status Status) (Result, error) {
	r := &f.res
	r.X, r.Value, r.Noise, r.Status = f.x, f.now.at.Value, f.now.at.Noise, status
	r.Gradient, r.AtBound = make([]float64, f.n), make([]int8, f.n)
	for i, x := range f.x {
		r.Gradient[i] = f.now.at.Gradient[i] / f.s[i]
		switch lo, hi := f.p.Bounds.limits(i); {
		case lo == hi:
		case x == lo:
			r.AtBound[i] = -1
		case x == hi:
			r.AtBound[i] = 1
		}
	}
	r.Constraints, r.Sizes = slices.Clone(f.now.c.C), slices.Clone(f.extents)
	_, r.Violation = f.excess(f.now.c.C)
	feasible := f.o.Feasible
	if feasible == 0 {
		feasible = 1e-10
	}
	if r.Violated = r.Violation > math.Max(feasible, f.now.c.Noise); r.Violated && (status.Converged() ||
		status == Stuck) {
		r.Status = Unsatisfiable
	}
	return *r, nil
}

// measure finds the sizes of the constraints: how far they move where all variables do by their sizes.
func (f *folded) measure() {
	f.extents = make([]float64, len(f.now.c.C))
	for i := range f.extents {
		for _, a := range f.now.c.row(i, f.n) {
			f.extents[i] += math.Abs(a)
		}
		if f.extents[i] == 0 {
			f.extents[i] = math.Max(math.Abs(f.now.c.C[i]), 1)
		}
	}
}

// steer solves the linear program, with a penalty that is enough to make violations as small as they may be.
func (f *folded) steer() (lines []line, step []float64, falls float64, rests []int) {
	const most = 1e15
	violations := func(lines []line, d []float64) (sum float64) {
		for i := range lines {
			if l := &lines[i]; l.constraint >= 0 {
				sum += l.cost(l.v + dot(l.a, d))
			}
		}
		return sum / f.penalty
	}
	least := -1.0
	for {
		lines = f.lines()
		step, falls, rests = f.linear(lines, f.radius, true)
		if len(f.now.c.C) == 0 {
			return lines, step, falls, rests
		}
		left := violations(lines, step)
		if left <= 1e-9 || f.penalty >= most {
			return lines, step, falls, rests
		}
		if least < 0 {
			d, _, _ := f.linear(lines, f.radius, false)
			least = violations(lines, d)
		}
		if now := violations(lines, make([]float64, f.n)); left <= least+float64(0.1*math.Max(now-least, 0))+1e-9 {
			return lines, step, falls, rests
		}
		f.penalty *= 10
	}
}

// harder makes the penalty of violations greater, and reports that, where there are violations that could be less and
// the search has come to an end.
func (f *folded) harder() bool {
	const most = 1e15
	_, largest := f.excess(f.now.c.C)
	if largest <= math.Max(1e-10, f.now.c.Noise) || f.penalty >= most {
		return false
	}
	radius := math.Max(f.radius, math.Min(1, 10*largest))
	_, falls, _ := f.linear(f.lines(), radius, false)
	if falls <= float64(1e-3*f.penalty*math.Min(largest, radius)) {
		return false
	}
	f.penalty *= 10
	f.radius = radius
	return true
}

// corrected returns a step that moves back to where the lines that rest were to be, as they are at the trial after d.
func (f *folded) corrected(lines []line, rests []int, d []float64) []float64 {
	q := program{n: f.n, k: len(rests), g: make([]float64, f.n*f.n), a: make([]float64, f.n)}
	q.lo, q.hi = f.box(math.Inf(1))
	for i := range f.n {
		q.g[i*f.n+i] = 1
		q.lo[i], q.hi[i] = math.Min(q.lo[i]-d[i], 0), math.Max(q.hi[i]-d[i], 0)
	}
	for _, i := range rests {
		l := &lines[i]
		off := l.v + dot(l.a, d)
		switch {
		case l.kink >= 0:
			off = f.trial.kinks.U[l.kink] - off
		default:
			off = f.trial.c.C[l.constraint] - l.limit - off
		}
		q.c, q.cLo, q.cHi = append(q.c, l.a...), append(q.cLo, -off), append(q.cHi, -off)
	}
	if !q.solve() {
		return nil
	}
	for i := range q.x {
		q.x[i] += d[i]
	}
	return q.x
}

// place returns the point after a scaled step, within the bounds.
func (f *folded) place(d []float64) []float64 {
	next := make([]float64, f.n)
	lo, hi := f.box(math.Inf(1))
	for i := range next {
		l, h := f.p.Bounds.limits(i)
		switch {
		case d[i] != 0 && d[i] == lo[i]:
			next[i] = l
		case d[i] != 0 && d[i] == hi[i]:
			next[i] = h
		default:
			next[i] = f.p.Bounds.clip(i, f.x[i]+float64(d[i]*f.s[i]))
		}
	}
	return next
}

// run searches from x0.
func (f *folded) run(ctx context.Context, x0 []float64) (Result, error) {
	n := f.n
	f.x = make([]float64, n)
	for i := range f.x {
		f.x[i] = f.p.Bounds.clip(i, x0[i])
	}
	f.s = sizes(f.x, f.p.Bounds, f.o)
	f.res = Result{X: f.x}
	if err := f.evaluate(ctx, f.x); err != nil {
		f.res.Status, f.res.Failure = Failed, err
		f.res.AtBound, f.res.Gradient = make([]int8, n), make([]float64, n)
		if ctx.Err() != nil {
			f.res.Status = Stopped
		}
		return f.res, startError(err)
	}
	f.now, f.trial = f.trial, f.now
	f.measure()
	f.curve()
	f.radius = 0.5
	f.penalty = math.Max(largest(f.now.at.Gradient), 1e-6*math.Abs(f.now.at.Value))
	if f.penalty == 0 {
		f.penalty = 1
	}
	limit := f.o.Iterations
	if limit == 0 {
		limit = 1000
	}
	f.first, f.fresh = f.now.at.Value, true
	for {
		if isUnbounded(f.first, f.now.at.Value) {
			return f.end(Unbounded)
		}
		if f.res.Iterations >= limit {
			return f.end(Iterations)
		}
		f.res.Iterations++
		status, over := f.step(ctx)
		if !over {
			continue
		}
		if (status.Converged() || status == Stuck) && f.harder() {
			f.quiet = 0
			continue
		}
		return f.end(status)
	}
}

// step makes one, or makes the next one shorter. It reports that the search is over, and why.
func (f *folded) step(ctx context.Context) (status Status, over bool) {
	lines, d, falls, rests := f.steer()
	f.res.Projected = falls / math.Min(1, f.radius)
	if f.res.Projected <= float64(4*epsilon*math.Abs(f.now.at.Value)) {
		return ByGradient, true
	}
	d, falls, multipliers := f.direction(lines, rests, d)
	f.res.Reduction = falls
	length, noise := largest(d), f.now.at.Noise
	if !(falls > 0) || length < 1e-15 {
		if f.fresh {
			return ByStep, true
		}
		f.curve()
		f.fresh = true
		return 0, false
	}
	if falls <= 1e-3*noise {
		if f.quiet++; f.quiet > 5 {
			return ByNoise, true
		}
	}
	switch {
	case ctx.Err() != nil:
		return Stopped, true
	case f.o.Evaluations > 0 && f.res.Evaluations >= f.o.Evaluations:
		return Evaluations, true
	case slices.Equal(f.place(d), f.x):
		return ByStep, true
	}
	slack := 2 * noise
	next, ratio, err := f.try(ctx, lines, rests, d, falls, slack)
	switch {
	case ctx.Err() != nil:
		return Stopped, true
	case err != nil:
		f.res.Failure = err
		f.radius = float64(0.25 * math.Min(f.radius, length))
	case ratio < 0.25:
		f.radius = float64(math.Min(0.5*f.radius, math.Max(0.5*length, 0.1*f.radius)))
	case ratio > 0.75 && length > 0.8*f.radius:
		f.radius = math.Min(4*f.radius, 1e6)
	}
	if f.radius < 1e-13 {
		if falls <= float64(1e3*slack) {
			return ByNoise, true
		}
		return Stuck, true
	}
	if err == nil && ratio >= 1e-4 {
		f.res.Failure = nil
		f.accept(next, lines, multipliers)
		f.fresh = false
	}
	return 0, false
}

// direction returns the step on which the model falls most, of the ways along the solution of the linear program, d,
// and from there to that of a quadratic one along the lines that rest, with how much the model falls and the
// multipliers of the lines.
func (f *folded) direction(lines []line, rests []int, d []float64) (best []float64, falls float64,
	multipliers []float64,
) {
	off := make([]float64, len(rests))
	for k, i := range rests {
		off[k] = lines[i].v
	}
	d = f.least(lines, make([]float64, f.n), d)
	step, multipliers := f.quadratic(lines, rests, off, f.now.at.Gradient, f.b, f.radius)
	_, value := f.change(lines, d)
	if step != nil {
		d = f.least(lines, d, step)
		_, value = f.change(lines, d)
		if _, v := f.change(lines, step); v < value {
			d, value = step, v
		}
	}
	return d, -value, multipliers
}

// try evaluates after a step, and after one that is corrected if that is bad. It returns the point, and which part
// there is of what the model promised, both with slack.
func (f *folded) try(
	ctx context.Context, lines []line, rests []int, d []float64, falls, slack float64,
) (next []float64, ratio float64, err error) {
	next = f.place(d)
	if err := f.evaluate(ctx, next); err != nil {
		return next, 0, err
	}
	before := f.merit(&f.now)
	if ratio = (before - f.merit(&f.trial) + slack) / (falls + slack); ratio >= 0.1 {
		return next, ratio, nil
	}
	f.remember(next, &f.trial.c)
	back := f.corrected(lines, rests, d)
	if back == nil || largest(back) > 2*largest(d) {
		return next, ratio, nil
	}
	if next, ratio = f.place(back), 0; f.evaluate(ctx, next) == nil {
		ratio = (before - f.merit(&f.trial) + slack) / (falls + slack)
	}
	return next, ratio, nil
}

// accept makes the trial at next the current point, and learns what the Lagrangian's curvature is.
func (f *folded) accept(next []float64, lines []line, multipliers []float64) {
	n := f.n
	p, y := make([]float64, n), make([]float64, n)
	for j := range p {
		p[j] = (next[j] - f.x[j]) / f.s[j]
		y[j] = f.trial.at.Gradient[j] - f.now.at.Gradient[j]
	}
	for i := range lines {
		l := &lines[i]
		switch {
		case l.kink >= 0:
			add(y, multipliers[i], f.trial.kinks.J[l.kink*n:(l.kink+1)*n])
			add(y, -multipliers[i], l.a)
		case !l.cut && (f.p.Largest == nil || !f.p.Largest[l.constraint]): // a jump of derivatives is no curvature
			add(y, multipliers[i], f.trial.c.row(l.constraint, n))
			add(y, -multipliers[i], l.a)
		}
	}
	f.remember(f.x, &f.now.c)
	f.now, f.trial = f.trial, f.now
	f.x = next
	damped(f.b, p, y)
	f.near()
}
