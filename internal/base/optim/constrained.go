package optim

import (
	"context"
	"math"
	"slices"
)

// sequence is a search by sequential quadratic programming. All but the evaluations is in scaled variables.
type sequence struct {
	search
	p          ConstrainedProblem
	at, trial  Point
	c, to      Constraints
	d          []float64 // inverse sizes of the variables
	b          []float64 // of the Lagrangian, n × n
	weights    []float64 // of violations in the penalty function
	terms      []float64 // sizes of the constraints: of their values and the largest terms of these
	multiplier []float64 // of the constraints: derivatives of the minimum by their limits
	cuts       []*cut
	left       []float64 // the parts of violations, in [0, 1], that the last program left
}

// visited is a point that a search came through.
type visited struct {
	value float64
	c     []float64
}

func constrained(ctx context.Context, p ConstrainedProblem, x0 []float64, o Options) (Result, error) {
	n, k := p.Variables, p.Constraints
	room := func() (Point, Constraints) {
		return Point{Gradient: make([]float64, n)}, Constraints{C: make([]float64, k), J: make([]float64, k*n)}
	}
	s := &sequence{
		search: search{o: o, n: n, b: p.Bounds}, p: p, d: make([]float64, n), b: make([]float64, n*n),
		weights: make([]float64, k), terms: make([]float64, k),
		multiplier: make([]float64, k), left: make([]float64, k),
	}
	s.at, s.c = room()
	s.trial, s.to = room()
	return s.run(ctx, x0)
}

// evaluate evaluates at x on trial.
func (s *sequence) evaluate(ctx context.Context, x []float64, want Want) error {
	s.res.Evaluations++
	s.trial.Noise, s.to.Noise = 0, 0
	err := s.p.Evaluate(ctx, x, want, &s.trial, &s.to)
	if err == nil && !(finite([]float64{s.trial.Value}) && finite(s.to.C)) {
		err = errNotFinite
	}
	if err == nil && want > Values {
		s.res.Slopes++
		if !finite(s.trial.Gradient) || !finite(s.to.J) {
			err = errNotFinite
		}
	}
	if err != nil {
		if ctx.Err() == nil {
			s.res.Failures++
		}
		return err
	}
	s.trial.Noise = math.Max(s.trial.Noise, float64(4*epsilon*math.Abs(s.trial.Value)))
	if want > Values {
		for j, d := range s.d {
			s.trial.Gradient[j] /= d
			for i := range s.to.C {
				s.to.J[i*s.n+j] /= d
			}
		}
	}
	return nil
}

// accept makes the point on trial, x, the current one, which was from.
func (s *sequence) accept(from, x []float64) {
	s.at, s.trial = s.trial, s.at
	s.c, s.to = s.to, s.c
	if from != nil {
		s.remember(from, &s.to)
	}
	for i, c := range s.c.C {
		// The size of a constraint is that of what it adds up, which may cancel.
		row := s.c.J[i*s.n : (i+1)*s.n]
		size := math.Max(math.Abs(c), 1e-3*norm(row))
		for j, v := range row {
			size = math.Max(size, math.Abs(float64(v*s.d[j]*x[j])))
		}
		s.terms[i] = size
	}
}

// excess returns by how much constraint i with the value c is violated, negative below its lower limit.
func (s *sequence) excess(i int, c float64) float64 {
	return math.Min(c-s.p.Lo[i], 0) + math.Max(c-s.p.Hi[i], 0)
}

// extent returns what violations of constraint i are relative to.
func (s *sequence) extent(i int) float64 {
	size := math.Max(s.terms[i], math.SmallestNonzeroFloat64)
	for _, limit := range []float64{s.p.Lo[i], s.p.Hi[i]} {
		if !math.IsInf(limit, 0) {
			size = math.Max(size, math.Abs(limit))
		}
	}
	return size
}

// violation returns the largest violation, relative to the size of its constraint.
func (s *sequence) violation(c []float64) float64 {
	most := 0.0
	for i, v := range c {
		if e := math.Abs(s.excess(i, v)); e > 0 {
			most = math.Max(most, e/s.extent(i))
		}
	}
	return most
}

// penalty returns the weighted sum of violations.
func (s *sequence) penalty(c []float64) float64 {
	sum := 0.0
	for i, v := range c {
		sum += float64(s.weights[i] * math.Abs(s.excess(i, v)))
	}
	return sum
}

// lagrangian sets out to the gradient of the Lagrangian f − yᵀC.
func (s *sequence) lagrangian(g, jacobian, out []float64) {
	transposed(jacobian, s.multiplier, out)
	for _, k := range s.cuts {
		add(out, k.multiplier, k.row)
	}
	for j := range out {
		out[j] = g[j] - out[j]
	}
}

// identity makes b a multiple of the identity.
func (s *sequence) identity(f float64) {
	clear(s.b)
	for i := range s.n {
		s.b[i*s.n+i] = f
	}
}

// update is a BFGS update by a step p and the difference y of the Lagrangian's gradients.
func (s *sequence) update(p, y []float64, fresh bool) {
	if py := dot(p, y); fresh && py > 1e-8*norm(p)*norm(y) {
		s.identity(dot(y, y) / py)
	}
	damped(s.b, p, y)
}

// damped is a BFGS update of b by a step p and the difference y of gradients, damped so that b remains positive
// definite (M. J. D. Powell, Lecture Notes in Math. 630 (1978) 144–157, doi:10.1007/BFb0067703). It changes y.
func damped(b, p, y []float64) {
	n := len(p)
	bp := make([]float64, n)
	multiply(b, p, bp)
	bend, py := dot(p, bp), dot(p, y)
	if bend <= 0 || !finite(bp) {
		return
	}
	if py < 0.2*bend {
		t := 0.8 * bend / (bend - py)
		for i := range y {
			y[i] = float64(t*y[i]) + float64((1-t)*bp[i])
		}
		py = dot(p, y)
	}
	if py <= 0 {
		return
	}
	for i := range n {
		for j := range n {
			b[i*n+j] += y[i]*y[j]/py - bp[i]*bp[j]/bend
		}
	}
}

// program sets p to the step that the quadratic program around x takes; c are the values of the constraints with which
// it is made. It sets s.left to the parts of the violations that the step leaves, and reports whether there is a step.
func (s *sequence) program(x, c, p []float64) (ok bool) {
	n, k := s.n, len(c)
	q := program{
		n: n, k: k, g: s.b, a: s.at.Gradient, lo: make([]float64, n), hi: make([]float64, n),
		c: s.c.J, cLo: make([]float64, k), cHi: make([]float64, k),
	}
	for i := range n {
		lo, hi := s.p.Bounds.limits(i)
		q.lo[i], q.hi[i] = float64((lo-x[i])*s.d[i]), float64((hi-x[i])*s.d[i])
	}
	for i, v := range c {
		q.cLo[i], q.cHi[i] = s.p.Lo[i]-v, s.p.Hi[i]-v
	}
	values := slices.Clone(c)
	if len(s.cuts) > 0 {
		q.c = slices.Clone(q.c)
	}
	for _, k := range s.cuts {
		v := s.cutAt(k, x)
		values = append(values, v)
		q.c = append(q.c, k.row...)
		q.cLo, q.cHi = append(q.cLo, s.p.Lo[k.i]-v), append(q.cHi, s.p.Hi[k.i]-v)
	}
	q.k = len(values)
	clear(s.left)
	if ok = q.solve(); !ok {
		if !s.relax(&q, values) {
			return false
		}
	}
	copy(p, q.x)
	copy(s.multiplier, q.y)
	for j, k := range s.cuts {
		k.multiplier = q.y[len(c)+j]
	}
	return true
}

// relax solves a program that has no solution with one more variable for each violated constraint: the part of its
// violation that is left, from 0 to 1. Parts have a price, which grows with the multipliers that it leads to.
// The values of cuts follow those of the constraints; their violations have the same parts left.
func (s *sequence) relax(q *program, values []float64) bool {
	c := values[:len(s.c.C)]
	n, k := q.n, q.k
	var violated []int
	price := math.Max(norm(s.at.Gradient), 1e-10)
	for i, v := range c {
		if s.excess(i, v) != 0 {
			violated = append(violated, i)
		}
		price = math.Max(price, s.weights[i])
	}
	price *= 10
	m := n + len(violated)
	w := program{
		n: m, k: k, g: make([]float64, m*m), a: make([]float64, m), c: make([]float64, k*m), cLo: q.cLo, cHi: q.cHi,
		lo: append(append([]float64{}, q.lo...), make([]float64, m-n)...), hi: append([]float64{}, q.hi...),
	}
	copy(w.a, q.a)
	for i := range n {
		copy(w.g[i*m:], q.g[i*n:(i+1)*n])
	}
	for i := range k {
		copy(w.c[i*m:], q.c[i*n:(i+1)*n])
	}
	for j, i := range violated {
		e := s.excess(i, c[i])
		w.a[n+j] = float64(price * math.Abs(e))
		w.g[(n+j)*m+n+j] = float64(1e-3 * w.a[n+j])
		w.c[i*m+n+j] = -e
		for l, other := range s.cuts {
			if row := len(c) + l; other.i == i {
				w.c[row*m+n+j] = -s.excess(i, values[row])
			}
		}
		w.hi = append(w.hi, 1)
	}
	if !w.solve() {
		return false
	}
	q.x, q.y = w.x[:n], w.y
	for j, i := range violated {
		s.left[i] = w.x[n+j]
	}
	return true
}

// projected returns the largest component of the Lagrangian's projected gradient, each times the size of its variable.
func (s *sequence) projectedLagrangian(x, g []float64) float64 {
	most := 0.0
	for i, v := range g {
		lo, hi := s.p.Bounds.limits(i)
		if !presses(v, lo-x[i], hi-x[i]) {
			most = math.Max(most, math.Abs(v)*s.d[i]*s.size(i, x[i]))
		}
	}
	return most
}

// run searches from x0.
func (s *sequence) run(ctx context.Context, x0 []float64) (Result, error) {
	n := s.n
	x, next := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = s.p.Bounds.clip(i, x0[i])
	}
	s.sizes = sizes(x, s.p.Bounds, s.o)
	for i, v := range s.sizes {
		s.d[i] = 1 / v
	}
	s.res = Result{X: x, AtBound: make([]int8, n), Gradient: make([]float64, n)}
	if err := s.evaluate(ctx, x, Slopes); err != nil {
		s.res.Status, s.res.Failure = Failed, err
		if ctx.Err() != nil {
			s.res.Status = Stopped
		}
		return s.res, startError(err)
	}
	s.accept(nil, x)
	limit, least, feasible := s.o.Iterations, s.o.Step, s.o.Feasible
	if limit == 0 {
		limit = 1000
	}
	if least == 0 {
		least = 1e-14
	}
	if feasible == 0 {
		feasible = 1e-10
	}
	start := func() { s.identity(math.Max(norm(s.at.Gradient)/math.Sqrt(float64(n)), 1e-10)) }
	start()
	fresh := true
	quiet, stuck := 0, 0
	var failure error
	var recent []visited
	p, second, old, after := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	shifted, linear := make([]float64, len(s.c.C)), make([]float64, len(s.c.C))

	end := func(status Status) (Result, error) {
		s.res.Value, s.res.Noise, s.res.Status = s.at.Value, s.at.Noise, status
		for i := range x {
			s.res.Gradient[i] = s.at.Gradient[i] * s.d[i]
			switch lo, hi := s.p.Bounds.limits(i); {
			case lo == hi:
			case x[i] == lo:
				s.res.AtBound[i] = -1
			case x[i] == hi:
				s.res.AtBound[i] = 1
			}
		}
		s.lagrangian(s.at.Gradient, s.c.J, old)
		s.res.Projected = s.projectedLagrangian(x, old)
		s.res.Constraints, s.res.Sizes = slices.Clone(s.c.C), make([]float64, len(s.c.C))
		for i := range s.res.Sizes {
			s.res.Sizes[i] = s.extent(i)
		}
		s.res.Violation, s.res.Multipliers = s.violation(s.c.C), s.total()
		if status == Stuck {
			s.res.Failure = failure
		}
		s.res.Violated = s.res.Violation > math.Max(feasible, s.c.Noise)
		if (status.Converged() || status == Stuck) && s.res.Violated {
			s.res.Status = Unsatisfiable
		}
		return s.res, nil
	}
	place := func(p []float64, t float64) (short bool) {
		short = true
		for i := range next {
			next[i] = s.p.Bounds.clip(i, x[i]+float64(t*p[i])/s.d[i])
			if lo, hi := s.p.Bounds.limits(i); t == 1 && p[i] != 0 {
				switch p[i] {
				case float64((lo - x[i]) * s.d[i]):
					next[i] = lo
				case float64((hi - x[i]) * s.d[i]):
					next[i] = hi
				}
			}
			short = short && math.Abs(next[i]-x[i]) <= least*s.size(i, x[i])
		}
		return short
	}

	settled, rounds := math.Inf(1), 0
	again := func() bool { // without what held it, a search goes on until that gains nothing
		gained := settled - s.at.Value
		settled = s.at.Value
		if rounds++; !s.forget(x) || rounds > 3 && gained <= float64(1e-9*math.Abs(settled))+4*s.at.Noise {
			return false
		}
		quiet, stuck = 0, 0
		return true
	}

	first := s.at.Value
search:
	for {
		if !s.program(x, s.c.C, p) {
			if fresh {
				return end(Stuck)
			}
			start()
			fresh = true
			continue
		}
		s.lagrangian(s.at.Gradient, s.c.J, old)
		projected, violation := s.projectedLagrangian(x, old), s.violation(s.c.C)
		if s.o.Progress != nil {
			s.o.Progress(Progress{
				X: x, Value: s.at.Value, Projected: projected, Violation: violation, Reduction: s.res.Reduction,
				Iterations: s.res.Iterations, Evaluations: s.res.Evaluations,
			})
		}
		if projected <= s.o.Gradient && violation <= feasible {
			return end(ByGradient)
		}
		if isUnbounded(first, s.at.Value) {
			return end(Unbounded)
		}
		if s.res.Iterations >= limit {
			return end(Iterations)
		}
		s.res.Iterations++
		for i, y := range s.total() {
			y = math.Abs(y)
			s.weights[i] = math.Max(1.1*y, 0.5*(s.weights[i]+y))
		}
		multiply(s.b, p, second)
		bend := dot(p, second)
		mended, left := 0.0, 0.0
		for i, v := range s.c.C {
			mended += float64(s.weights[i] * (1 - s.left[i]) * math.Abs(s.excess(i, v)))
			left = math.Max(left, s.left[i])
		}
		slope := dot(s.at.Gradient, p) - mended
		s.res.Reduction = 0.5*bend + mended
		short := place(p, 1)
		if short {
			if again() {
				continue
			}
			return end(ByStep)
		}
		if left > 1-1e-8 && violation > math.Max(feasible, s.c.Noise) && norm(p) < 1e-8 {
			return end(Unsatisfiable)
		}
		// Constraints are rounded like the objective. At a vertex, where nothing curves, their last digits would be
		// chased forever.
		noise := s.at.Noise + float64(1e-12*math.Abs(s.at.Value))
		for i, w := range s.weights {
			noise += float64(1e-12 * w * s.terms[i])
		}
		satisfied := violation <= math.Max(feasible, s.c.Noise)
		if s.res.Reduction <= noise && satisfied {
			quiet++
		} else {
			quiet = 0
		}
		// A step need only be better than the worst of the last points: the way along curved constraints is not a way
		// down.
		recent = append(recent[max(0, len(recent)-4):], visited{s.at.Value, slices.Clone(s.c.C)})
		merit := math.Inf(-1)
		for _, v := range recent {
			merit = math.Max(merit, v.value+s.penalty(v.c))
		}
		accepted := false
		corrected := false
		t := 1.0
		for tries := 0; tries < 40 && !accepted; tries++ {
			if ctx.Err() != nil {
				return end(Stopped)
			}
			if s.o.Evaluations > 0 && s.res.Evaluations >= s.o.Evaluations {
				return end(Evaluations)
			}
			if place(p, t) {
				break
			}
			err := s.evaluate(ctx, next, Slopes)
			if err != nil {
				if ctx.Err() != nil {
					return end(Stopped)
				}
				failure = err
				t *= 0.25
				continue
			}
			if quiet > 0 {
				s.lagrangian(s.trial.Gradient, s.to.J, after)
				if quiet > 8 || s.projectedLagrangian(next, after) > 0.5*projected && quiet > 2 {
					if again() {
						continue search
					}
					return end(ByNoise)
				}
			}
			slack := 2 * noise
			now := s.trial.Value + s.penalty(s.to.C)
			if now <= merit+float64(1e-4*t*math.Min(slope, 0))+slack {
				accepted = true
				break
			}
			if t == 1 && !corrected && s.penalty(s.to.C) > 0 {
				// The correction moves back onto the constraints as they are after the step.
				corrected = true
				multiply(s.c.J, p, linear)
				for i := range shifted {
					shifted[i] = s.to.C[i] - linear[i]
				}
				keep, cuts := slices.Clone(s.multiplier), s.cuts
				s.cuts = nil
				ok := s.program(x, shifted, second) && largest(s.left) == 0
				copy(s.multiplier, keep)
				s.cuts = cuts
				if ok {
					place(second, 1)
					if s.evaluate(ctx, next, Slopes) == nil &&
						s.trial.Value+s.penalty(s.to.C) <= merit+float64(1e-4*math.Min(slope, 0))+slack {
						accepted = true
						break
					}
				}
			}
			s.remember(next, &s.to)
			rise := now - merit
			part := 0.5
			if slope < 0 {
				part = math.Max(0.1, math.Min(-0.5*slope*t/(rise-float64(slope*t)), 0.5))
			}
			t *= part
		}
		if !accepted {
			if stuck++; stuck > 1 || fresh {
				if again() {
					continue
				}
				if quiet > 0 || math.Abs(slope) <= float64(1e3*(noise+epsilon*merit)) && satisfied {
					return end(ByNoise)
				}
				return end(Stuck)
			}
			start()
			fresh = true
			continue
		}
		stuck, failure = 0, nil
		for j := range after {
			after[j] = s.trial.Gradient[j] - s.at.Gradient[j]
			old[j] = (next[j] - x[j]) * s.d[j]
		}
		for i, y := range s.multiplier {
			// A jump of derivatives is no curvature.
			if row, to := s.c.row(i, n), s.to.row(i, n); !s.largest(i) || cosine(row, to) > distinct {
				add(after, y, row)
				add(after, -y, to)
			}
		}
		if quiet == 0 || fresh {
			s.update(old, after, fresh)
			fresh = false
		}
		s.accept(x, next)
		copy(x, next)
	}
}
