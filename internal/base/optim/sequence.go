package optim

import (
	"context"
	"math"
	"slices"
)

// sequence is a search by sequential quadratic programming in a trust region, for functions with kinks and
// constraints. All but the points that are evaluated is in scaled variables: multiples of their sizes.
//
// A step is the solution of a convex quadratic program with kinks, in a box (R. Fletcher, Practical Methods of
// Optimization, 2nd ed., Wiley 1987, 14.4). The violation of a constraint is a kink, whose price is the penalty. So a
// program has a solution wherever a search is, and without an objective it finds the way to the constraints. The price
// grows where the way to the constraints is not as good as it could be (R. H. Byrd, J. Nocedal, R. A. Waltz, Optim.
// Methods Softw. 23 (2008) 197–213, doi:10.1080/10556780701394169). The curvature is the Hessian of the Lagrangian, or
// what steps tell of it.
type sequence struct {
	o          Options
	p          KinkedProblem
	n          int
	x          []float64
	s          []float64 // sizes of the variables
	now, trial sample
	model      curvature
	extents    []float64 // sizes of the constraints: how far they move where variables do by their sizes
	penalty    float64   // of a violation of size 1
	began      float64   // the first penalty
	relented   int       // how often the penalty was made less
	recent     []visited // the last points, the current one among them
	cuts       []*cut
	pieces     []*cut // of the objective, where it is the largest of several functions
	radius     float64
	ratio      float64 // of what the last step brought to what was promised
	first      float64 // value
	quiet      int     // steps in a row that promised nothing that could be noticed
	settled    float64 // the value when the curvature was made anew last
	rounds     int     // how often it was
	plan       plan
	over       func() bool // whether the search is to end
	res        Result
}

// sample is what is known of a point.
type sample struct {
	at    Point
	kinks Kinks
	c     Constraints
}

// plan is a step and what is expected of it.
type plan struct {
	lines  []line
	d      []float64
	slopes []float64 // of the lines
	held   []float64 // multipliers of the bounds
	falls  float64   // how much less the penalty function will be
	left   float64   // violations after it, to first order
}

// visited is a point that a search came through.
type visited struct {
	value float64
	c     []float64
}

// Folded searches a minimum of p from x0, which is moved into the bounds and need not satisfy the constraints. The
// error is one of the start (ErrStart); the result then has status Failed.
func Folded(ctx context.Context, p KinkedProblem, x0 []float64, o Options) (Result, error) {
	n, m, k := p.Variables, p.Kinks, p.Constraints
	square := n * n
	if p.Many {
		square = 0
	}
	room := func() sample {
		return sample{
			at:    Point{Gradient: make([]float64, n), Hessian: make([]float64, square)},
			kinks: Kinks{U: make([]float64, m), J: make([]float64, m*n), W: make([]float64, m)},
			c:     Constraints{C: make([]float64, k), J: make([]float64, k*n)},
		}
	}
	s := &sequence{o: o, p: p, n: n, now: room(), trial: room(), radius: 0.5}
	s.over = func() bool { return ctx.Err() != nil }
	return s.run(ctx, x0)
}

// evaluate evaluates at x on trial.
func (s *sequence) evaluate(ctx context.Context, x []float64) error {
	s.res.Evaluations++
	s.res.Slopes++
	t := &s.trial
	t.at.Noise, t.c.Noise = 0, 0
	clear(t.at.Hessian)
	err := s.p.Evaluate(ctx, x, Slopes, &t.at, &t.kinks, &t.c)
	if err == nil && !(finite([]float64{t.at.Value}) && finite(t.at.Gradient) && finite(t.at.Hessian) &&
		finite(t.kinks.U) && finite(t.kinks.J) && finite(t.c.C) && finite(t.c.J)) {
		err = errNotFinite
	}
	if err != nil {
		if ctx.Err() == nil {
			s.res.Failures++
		}
		return err
	}
	t.at.Noise = math.Max(t.at.Noise, float64(4*epsilon*math.Abs(t.at.Value)))
	n := s.n
	for j, size := range s.s {
		t.at.Gradient[j] *= size
		for i := range t.kinks.U {
			t.kinks.J[i*n+j] *= size
		}
		for i := range t.c.C {
			t.c.J[i*n+j] *= size
		}
	}
	if !s.p.Many {
		s.scale(t.at.Hessian)
	}
	return nil
}

// scale makes a Hessian one by scaled variables.
func (s *sequence) scale(h []float64) {
	for i, a := range s.s {
		for j, b := range s.s {
			h[i*s.n+j] *= float64(a * b)
		}
	}
}

// run searches from x0.
func (s *sequence) run(ctx context.Context, x0 []float64) (Result, error) {
	s.x = make([]float64, s.n)
	for i := range s.x {
		s.x[i] = s.p.Bounds.clip(i, x0[i])
	}
	s.s = sizes(s.x, s.p.Bounds, s.o)
	s.res = Result{X: s.x}
	if err := s.evaluate(ctx, s.x); err != nil {
		s.res.Status, s.res.Failure = Failed, err
		s.res.AtBound, s.res.Gradient = make([]int8, s.n), make([]float64, s.n)
		if ctx.Err() != nil {
			s.res.Status = Stopped
		}
		return s.res, startError(err)
	}
	s.now, s.trial = s.trial, s.now
	s.first, s.settled = s.now.at.Value, math.Inf(1)
	s.extents = make([]float64, len(s.now.c.C))
	s.measure()
	s.model.begin(ctx, s)
	s.penalty = math.Max(largest(s.now.at.Gradient), 1e-6*math.Abs(s.now.at.Value))
	if s.penalty == 0 {
		s.penalty = 1
	}
	s.began = s.penalty
	limit := s.o.Iterations
	if limit == 0 {
		limit = 1000
	}
	for {
		s.steer()
		s.tell()
		switch {
		case isUnbounded(s.first, s.now.at.Value):
			return s.end(Unbounded), nil
		case s.res.Projected <= s.o.Gradient && s.res.Violation <= s.feasible():
			return s.end(ByGradient), nil
		case s.res.Iterations >= limit:
			return s.end(Iterations), nil
		}
		s.res.Iterations++
		if status, over := s.step(ctx); over && !s.goesOn(ctx, status) {
			if s.over() { // what its last programs say is of no worth
				status = Stopped
			}
			return s.end(status), nil
		}
	}
}

// feasible returns how far constraints may be violated.
func (s *sequence) feasible() float64 {
	if s.o.Feasible == 0 {
		return 1e-10
	}
	return s.o.Feasible
}

// measure finds the sizes of the constraints, as far as they have moved at any point so far.
func (s *sequence) measure() {
	for i := range s.extents {
		sum := 0.0
		for _, a := range s.now.c.row(i, s.n) {
			sum += math.Abs(a)
		}
		if s.extents[i] = math.Max(s.extents[i], sum); sum == 0 && s.extents[i] == 0 {
			s.extents[i] = math.Max(math.Abs(s.now.c.C[i]), 1)
		}
	}
}

// tell sets the numbers of the current point in the result, and passes them on.
func (s *sequence) tell() {
	_, s.res.Violation = s.excess(s.now.c.C)
	s.res.Projected, s.res.Reduction = s.projected(), s.plan.falls
	if s.o.Progress == nil {
		return
	}
	s.o.Progress(Progress{
		X: s.x, Value: s.now.at.Value, Projected: s.res.Projected, Violation: s.res.Violation,
		Reduction: s.plan.falls, Radius: s.radius, Iterations: s.res.Iterations, Evaluations: s.res.Evaluations,
	})
}

// projected returns the largest component of the Lagrangian's gradient that bounds do not hold.
func (s *sequence) projected() float64 {
	g := slices.Clone(s.now.at.Gradient)
	for i := range s.plan.lines {
		add(g, s.plan.slopes[i], s.plan.lines[i].a)
	}
	most := 0.0
	for i, v := range g {
		lo, hi := s.p.Bounds.limits(i)
		if !presses(v, lo-s.x[i], hi-s.x[i]) {
			most = math.Max(most, math.Abs(v))
		}
	}
	return most
}

// step makes one, or makes the next one shorter. It reports that the search is over, and why.
func (s *sequence) step(ctx context.Context) (status Status, over bool) {
	d, falls := s.plan.d, s.plan.falls
	length, slack := largest(d), s.slack()
	next := s.place(d)
	switch {
	case ctx.Err() != nil:
		return Stopped, true
	case s.o.Evaluations > 0 && s.res.Evaluations >= s.o.Evaluations:
		return Evaluations, true
	case s.p.Many && falls < 0 && s.radius > 1e-8: // rounding has spoiled the step
		s.radius *= 0.1
		return 0, false
	case !(falls > float64(epsilon*math.Abs(s.now.at.Value))):
		return ByGradient, true
	case length < s.shortest() || slices.Equal(next, s.x):
		return ByStep, true
	}
	if falls > math.Max(1e-3*s.now.at.Noise, 16*(slack-2*s.now.at.Noise)+float64(64*epsilon*math.Abs(s.now.at.Value))) {
		s.quiet = 0
	} else if s.quiet++; s.quiet > 5 {
		return ByNoise, true
	}
	next, ratio, err := s.try(ctx, next, slack)
	switch {
	case ctx.Err() != nil:
		return Stopped, true
	case err != nil:
		s.res.Failure = err
		s.radius = float64(0.25 * math.Min(s.radius, length))
	case s.astray():
		ratio = 0
		s.penalty *= 10
		s.radius = float64(0.25 * length)
	case ratio < 0.25:
		s.radius = math.Min(0.5*s.radius, math.Max(0.5*length, 0.1*s.radius))
	case ratio > 0.75 && length > 0.8*s.radius:
		s.radius = math.Min(4*s.radius, 1e20)
	}
	if s.ratio = ratio; err == nil && ratio >= 1e-4 {
		s.res.Failure = nil
		s.accept(ctx, next)
	}
	if s.radius >= 1e-13 {
		return 0, false
	}
	if falls <= float64(1e3*slack) {
		return ByNoise, true
	}
	return Stuck, true
}

// astray reports whether the objective falls without end at the trial where constraints do not hold: it may be bounded
// where they do.
func (s *sequence) astray() bool {
	_, most := s.excess(s.trial.c.C)
	return most > math.Max(s.feasible(), s.trial.c.Noise) && isUnbounded(s.first, s.trial.at.Value)
}

// shortest returns the length of steps that change nothing.
func (s *sequence) shortest() float64 {
	if s.o.Step == 0 {
		return 1e-15
	}
	return s.o.Step
}

// slack is how much of the penalty function is noise.
func (s *sequence) slack() float64 {
	sum := s.now.at.Noise
	for i, c := range s.now.c.C {
		sum += float64(4 * epsilon * s.penalty * math.Max(math.Abs(c)/s.extents[i], 1))
	}
	return 2 * sum
}

// try evaluates at a point, after the planned step, and after one that is corrected if that is bad. It returns the
// point, and which part there is of what was promised, with slack.
func (s *sequence) try(ctx context.Context, next []float64, slack float64) ([]float64, float64, error) {
	if err := s.evaluate(ctx, next); err != nil {
		return next, 0, err
	}
	ratio := s.kept(slack)
	if ratio >= 0.25 {
		return next, ratio, nil
	}
	s.remember(next, &s.trial)
	back := s.corrected(s.merit(&s.now) - s.plan.falls)
	if back == nil || largest(back) > 2*largest(s.plan.d) {
		return next, ratio, nil
	}
	if to := s.place(back); !slices.Equal(to, next) {
		if s.evaluate(ctx, to) != nil {
			return to, 0, nil
		}
		return to, s.kept(slack), nil
	}
	return next, ratio, nil
}

// kept returns which part there is at the trial of what was promised, since the current point or since the worst of the
// last ones: the way along curved constraints is not a way down (P. L. Toint, Math. Program. 77 (1997) 69–94,
// doi:10.1007/BF02614518).
func (s *sequence) kept(slack float64) float64 {
	now, then := s.merit(&s.now), s.merit(&s.trial)
	ratio := (now - then + slack) / (s.plan.falls + slack)
	worst := now
	if len(s.cuts)+len(s.pieces) > 0 {
		return ratio // ways along folds are straight, and pieces are met step by step
	}
	for _, v := range s.recent {
		sum, _ := s.excess(v.c)
		worst = math.Max(worst, v.value+float64(s.penalty*sum))
	}
	return math.Max(ratio, (worst-then+slack)/(s.plan.falls+worst-now+slack))
}

// goesOn reports whether a search that has come to an end goes on all the same: at a higher price of violations, or
// with another curvature.
func (s *sequence) goesOn(ctx context.Context, status Status) bool {
	if !status.Converged() && status != Stuck {
		return false
	}
	if s.harder() {
		s.quiet = 0
		return true
	}
	const most = 10
	gained := math.Abs(s.settled - s.now.at.Value)
	nothing := gained <= float64(1e-10*math.Abs(s.now.at.Value))+s.now.at.Noise
	s.settled, s.quiet = s.now.at.Value, 0
	// A piece that was met far away is not known well here: it is looked for again, nearer.
	if far := s.forget(); far {
		if s.rounds++; s.rounds > most || nothing && s.rounds > 5 {
			return false
		}
		s.radius = math.Pow(10, -2-0.5*float64(s.rounds))
		return true
	}
	if s.model.fresh || s.rounds >= most || nothing && s.rounds > 0 && !s.model.exact {
		return false
	}
	s.rounds++
	s.radius = math.Max(s.radius, 1e-2)
	s.model.renew(ctx, s)
	return true
}

// end returns the result at the current point.
func (s *sequence) end(status Status) Result {
	r := &s.res
	if deep := 1e15; status == Iterations && s.now.at.Value < -float64(deep*math.Max(1, math.Abs(s.first))) {
		status = Unbounded // slowly, as where constraints are in the way
	}
	r.X, r.Value, r.Noise, r.Status = s.x, s.now.at.Value, s.now.at.Noise, status
	r.Gradient, r.AtBound = make([]float64, s.n), make([]int8, s.n)
	for i, x := range s.x {
		r.Gradient[i] = s.now.at.Gradient[i] / s.s[i]
		switch lo, hi := s.p.Bounds.limits(i); {
		case lo == hi:
		case x == lo:
			r.AtBound[i] = -1
		case x == hi:
			r.AtBound[i] = 1
		}
	}
	r.Constraints, r.Sizes = slices.Clone(s.now.c.C), slices.Clone(s.extents)
	r.Multipliers = make([]float64, len(r.Constraints))
	for j := range s.plan.lines {
		if i := s.plan.lines[j].constraint; i >= 0 {
			r.Multipliers[i] -= s.plan.slopes[j]
		}
	}
	_, r.Violation = s.excess(s.now.c.C)
	if status != Stuck {
		r.Failure = nil
	}
	if r.Violated = r.Violation > math.Max(s.feasible(), s.now.c.Noise); r.Violated && (status.Converged() ||
		status == Stuck) {
		r.Status = Unsatisfiable
	}
	return *r
}

// accept makes the trial at next the current point, and learns what the Lagrangian's curvature is.
func (s *sequence) accept(ctx context.Context, next []float64) {
	s.model.learn(s, next)
	s.remember(s.x, &s.now)
	const memory = 5
	s.recent = append(s.recent[max(0, len(s.recent)+1-memory):], visited{s.now.at.Value, slices.Clone(s.now.c.C)})
	s.now, s.trial = s.trial, s.now
	s.x = next
	s.measure()
	s.relent()
	s.near()
	s.model.look(ctx, s)
}
