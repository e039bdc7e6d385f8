package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
)

// evaluator computes the objective at one point after another, in one goroutine.
type evaluator struct {
	p          *problem
	comparison *odes.Comparison // nil for an objective that is not read row by row
	gradient   *odes.Runner     // made when it is needed first
	hessian    *odes.Runner
	curved     *odes.Runner // second derivatives of the objective and of constraints
	batches    *odes.Batches
	searching  int       // the number of the search that is made; −1 for none
	since      time.Time // it began

	set  []odes.Assignment
	last []float64 // where comparison ran last; nil for nowhere
	// ran is where gradient ran last over random effects, and there its result; nil for nowhere. Searches ask for the
	// value of a point first and for derivatives later, and both come from the same long computation.
	ran   []float64
	there *odes.Sensitivities
	// counts are how often each row of each group counts; nil: once.
	counts [][]float64
	rows   int // that are squares
	kinks  int // that are absolute values
	warm   bool
	steady SteadyWork // Confirmed and Repeated
	far    [2]inParts
	// links are whole runs in linked parts, nil for none, if these were sought; linking tells that searches and
	// certificates see them.
	links           *legs
	sought, linking bool
	stages          []Stage // of the search that is made
	n               int     // evaluations, and failures among them
	bad             int
}

func (p *problem) newEvaluator(ctx context.Context) (*evaluator, error) {
	e := &evaluator{p: p, searching: -1}
	for i, v := range p.settings.Over {
		e.set = append(e.set, odes.Assignment{Name: p.names[i], Values: make([]float64, v.Size())})
	}
	if p.settings.Maximize {
		return e, nil
	}
	c, err := p.model.Compare(p.settings.Objective, p.runOptions().While(ctx))
	if err != nil || c == nil {
		return e, err
	}
	e.comparison = c
	for i := range c.Groups {
		for k := range c.Groups[i].T {
			switch g := &c.Groups[i]; {
			case squared(g, k):
				e.rows++
			case absolute(g, k):
				e.kinks++
			}
		}
	}
	if c.PriorWeight > 0 {
		e.rows += p.priorsAmong(squaredPriors)
		e.kinks += p.priorsAmong(absolutePriors)
	}
	return e, nil
}

// runOptions are those of the runs of a search.
func (p *problem) runOptions() odes.Options {
	o := p.opts.Options
	o.Wrt, o.Progress = p.names, nil
	o.Threads = 1
	if p.settings.Starts == 1 || p.opts.workers() == 1 { // experiments are what there is to share out
		o.Threads = p.opts.workers()
	}
	if p.settings.Warm { // where warm runs begin is for searches to say
		o.Settings = append(slices.Clone(o.Settings), odes.Setting{Key: "solver.steady_start", Value: "auto"})
	}
	return o.GradientOnly()
}

// move makes x the point of the runs to come.
func (e *evaluator) move(x []float64) {
	for i := range x {
		if c := &e.p.coords[i]; c.block == nil {
			e.set[c.variable].Values[c.element] = c.value(x[i])
		}
	}
	for _, b := range e.p.blocks {
		copy(e.set[b.variable].Values, b.Matrix(b.part(x)))
	}
}

// at runs the comparison at x.
func (e *evaluator) at(ctx context.Context, x []float64) error {
	if e.last != nil && slices.Equal(e.last, x) {
		return nil
	}
	e.last = nil
	e.n++
	defer e.p.evaluated()
	e.move(x)
	err := e.comparison.Set(e.set...)
	if err == nil {
		err = e.comparison.Run(ctx)
	}
	for i := range e.comparison.Groups {
		if err == nil {
			err = impossible(&e.comparison.Groups[i])
		}
	}
	if err != nil {
		e.bad++
		return err
	}
	e.last = slices.Clone(x)
	return nil
}

// impossible returns an error where the data have no density around what the model says.
func impossible(g *odes.Compared) error {
	at := ""
	if g.Experiment != "" {
		at = " in experiment " + g.Experiment
	}
	terms := g.Terms()
	for k, m := range g.Prediction.Values {
		switch {
		case (g.Noise == "lognormal" || g.Noise == "loglaplace") && !(m > 0):
			return fmt.Errorf("%s is %s at %s%s, and a median of %s noise is positive", g.Observation, diag.Number(m),
				diag.Number(g.T[k]), at, g.Noise)
		case squared(g, k) && !(g.Args[0].Values[k] > 0):
			return fmt.Errorf("the sd of %s is %s at %s%s, and must be positive", g.Observation,
				diag.Number(g.Args[0].Values[k]), diag.Number(g.T[k]), at)
		case terms && math.IsInf(g.Term.Values[k], 0):
			return fmt.Errorf("the value %s of %s at %s%s has no probability", diag.Number(g.Data[k]), g.Observation,
				diag.Number(g.T[k]), at)
		}
	}
	return nil
}

// limits are those of the value of a constraint, which is its left side less the right one.
func limits(relation string) (lo, hi float64) {
	switch relation {
	case "<=":
		lo = math.Inf(-1)
	case ">=":
		hi = math.Inf(1)
	}
	return lo, hi
}

// leastSquares returns the problem for optim.LeastSquares.
func (e *evaluator) leastSquares() optim.LeastSquaresProblem {
	p := optim.LeastSquaresProblem{
		Variables: len(e.p.coords), Residuals: e.rows, HasRest: true,
		Evaluate: func(ctx context.Context, x []float64, want optim.Want, at *optim.Residuals) error {
			if err := e.at(ctx, x); err != nil {
				return err
			}
			e.fill(x, want, at, nil)
			return nil
		},
	}
	return p
}

// fill writes the residuals, the rest of the objective and their derivatives at x. With kinks, absolute values are
// there and not in the rest.
func (e *evaluator) fill(x []float64, want optim.Want, at *optim.Residuals, kinks *optim.Kinks) {
	n := len(x)
	slopes := make([]float64, n) // of values by coordinates
	for i := range x {
		slopes[i] = e.p.coords[i].slope(e.p.coords[i].value(x[i]))
	}
	s := sums{e: e, want: want, at: at, kinks: kinks, slopes: slopes, work: make([]float64, n)}
	at.Rest = e.p.fixed
	if want >= optim.Slopes {
		clear(at.Gradient)
		clear(at.Curvature)
	}
	rtol := e.comparison.RTol
	noise, second := 0.0, 0.0
	for i := range e.comparison.Groups {
		g := &e.comparison.Groups[i]
		for k := range g.T {
			w := g.Weight
			if e.counts != nil {
				w *= e.counts[i][k]
			}
			off := rtol * math.Abs(g.Prediction.Values[k])
			if kinks != nil && absolute(g, k) {
				t := kinkOf(g, k)
				s.fold(g, k, &t, w)
				d := float64(w * t.byCentre * off)
				noise += float64(d * d)
				continue
			}
			t := rowOf(g, k)
			s.add(g, k, &t, w)
			d := math.Abs(t.byCentre) * off * math.Sqrt(w)
			noise += float64(t.square * t.square * w * d * d)
			second += float64(d * d)
		}
	}
	s.priors(x)
	at.Noise = e.p.rough * (math.Sqrt(noise) + second/2)
}

// sums adds rows of the objective to what a search asks for.
type sums struct {
	e      *evaluator
	want   optim.Want
	at     *optim.Residuals
	slopes []float64
	row    int // of at.R
	kinks  *optim.Kinks
	kink   int // of kinks
	work   []float64
}

// by returns the derivative of element k of r by coordinate i.
func (s *sums) by(r *odes.Rows, k, i int) float64 {
	return float64(r.Slopes[k*s.e.comparison.Columns+s.e.p.coords[i].column] * s.slopes[i])
}

// fold adds row k of g, the absolute value of a kink, with weight w.
func (s *sums) fold(g *odes.Compared, k int, t *kink, w float64) {
	n := len(s.slopes)
	s.kinks.U[s.kink], s.kinks.W[s.kink] = t.value, w
	s.at.Rest += float64(w * t.rest)
	if s.want >= optim.Slopes {
		scale := &g.Args[t.scale]
		to := s.kinks.J[s.kink*n : (s.kink+1)*n]
		for i := range to {
			by := s.by(scale, k, i)
			to[i] = float64(t.byCentre*s.by(&g.Prediction, k, i)) + float64(t.byScale*by)
			s.at.Gradient[i] += float64(w * t.restByScale * by)
		}
		if curve := t.restByScale; curve != 0 { // that of its expected value
			for i := range to {
				s.work[i] = s.by(scale, k, i)
			}
			s.outer(float64(w*curve*curve), s.work)
		}
	}
	s.kink++
}

// add adds row k of g, whose terms are t, with weight w.
func (s *sums) add(g *odes.Compared, k int, t *row, w float64) {
	root := math.Sqrt(w)
	n := len(s.slopes)
	by := func(r *odes.Rows, i int) float64 { return s.by(r, k, i) }
	if t.squared {
		s.at.R[s.row] = float64(root * t.square)
		if s.want >= optim.Slopes {
			to := s.at.J[s.row*n : (s.row+1)*n]
			for i := range to {
				d := float64(t.byCentre * by(&g.Prediction, i))
				for a := range g.Args {
					d += float64(t.byArgs[a] * by(&g.Args[a], i))
				}
				to[i] = float64(root * d)
			}
		}
		s.row++
	}
	s.at.Rest += float64(w * t.rest)
	if s.want < optim.Slopes {
		return
	}
	if !t.squared {
		for i := range n {
			s.at.Gradient[i] += float64(w * by(&g.Term, i))
		}
	} else {
		for i := range n {
			for a := range g.Args {
				s.at.Gradient[i] += float64(w * t.restByArgs[a] * by(&g.Args[a], i))
			}
		}
	}
	curve := func(weight float64, r *odes.Rows) {
		if weight == 0 {
			return
		}
		for i := range s.work {
			s.work[i] = by(r, i)
		}
		s.outer(float64(w*weight), s.work)
	}
	curve(t.curveCentre, &g.Prediction)
	for a := range g.Args {
		curve(t.curveArgs[a], &g.Args[a])
	}
	curve(t.curveTerm, &g.Term)
}

// outer adds weight times the product of v with itself to the curvature.
func (s *sums) outer(weight float64, v []float64) {
	n := len(v)
	for i, x := range v {
		if x == 0 {
			continue
		}
		for j, y := range v {
			s.at.Curvature[i*n+j] += float64(weight * x * y)
		}
	}
}

// hasHessian reports whether the model's method makes second derivatives.
func (p *problem) hasHessian() bool {
	_, err := p.curved(p.ctx)
	return err == nil
}

// curved prepares runs with second derivatives of the objective, and of some constraints.
func (p *problem) curved(ctx context.Context, constraints ...string) (*odes.Runner, error) {
	o := p.runOptions().While(ctx)
	o.Of = append([]string{p.settings.Objective}, constraints...)
	return p.model.Prepare(o.SecondOrder())
}

// sign is -1 for an objective that is maximised.
func (p *problem) sign() float64 {
	if p.settings.Maximize {
		return -1
	}
	return 1
}

// run makes a run at x with first derivatives of the objective and the constraints, or with second ones of the former.
func (e *evaluator) run(ctx context.Context, x []float64, second bool) (s *odes.Sensitivities, err error) {
	if !second && e.ran != nil && !e.warm && slices.Equal(x, e.ran) {
		return e.there, nil
	}
	alone := len(e.p.constraints) == 0 // which runs with second derivatives do not have
	defer func() {
		if second && !alone {
			return
		}
		if e.ran = nil; err == nil && !e.warm && integrates(e.p) {
			e.ran, e.there = slices.Clone(x), s
		}
	}()
	if second {
		return e.runOf(ctx, x, &e.hessian, func() (*odes.Runner, error) { return e.p.curved(ctx) })
	}
	if e.hessian != nil && integrates(e.p) && alone { // the integrals at x stay for second derivatives
		e.hessian.CrossProducts(true)
		defer e.hessian.CrossProducts(false)
		return e.runOf(ctx, x, &e.hessian, nil)
	}
	return e.runOf(ctx, x, &e.gradient, func() (*odes.Runner, error) {
		o := e.p.runOptions().While(ctx)
		o.Of = []string{e.p.settings.Objective}
		for _, c := range e.p.constraints {
			o.Of = append(o.Of, c.Name)
		}
		return e.p.model.Prepare(o)
	})
}

// crossed makes a run at x whose second derivatives are an estimate, from the gradients of subjects.
func (e *evaluator) crossed(ctx context.Context, x []float64) (s *odes.Sensitivities, err error) {
	if e.hessian == nil {
		if e.hessian, err = e.p.curved(ctx); err != nil {
			return nil, err
		}
		e.hessian.Warm(e.warm)
	}
	e.hessian.CrossProducts(true)
	defer e.hessian.CrossProducts(false)
	return e.run(ctx, x, true)
}

// integrates reports whether the objective is an integral over random effects: then Hessians are differences of many
// gradients.
func integrates(p *problem) bool { return len(p.model.RandomEffects()) > 0 }

// peopled reports whether there are so many subjects that products of their gradients tell the curvature: of few, they
// lead a search elsewhere.
func peopled(p *problem) bool { return len(p.model.Experiments()) >= 10*len(p.coords) }

// runOf makes a run at x by a Runner, which is made if there is none.
func (e *evaluator) runOf(
	ctx context.Context, x []float64, r **odes.Runner, made func() (*odes.Runner, error),
) (s *odes.Sensitivities, err error) {
	if *r == nil {
		if *r, err = made(); err != nil {
			return nil, err
		}
		(*r).Warm(e.warm)
	}
	e.n++
	defer e.p.evaluated()
	e.move(x)
	if err = (*r).Set(e.set...); err == nil {
		s, err = (*r).Sensitivities(ctx)
	}
	if err == nil {
		err = noValue(s)
	}
	if err != nil {
		e.bad++
	}
	return s, err
}

// noValue returns an error that names the objective or the constraints that have no value.
func noValue(s *odes.Sensitivities) error {
	var said []string
	for i := range s.Values {
		v := &s.Values[i]
		if !math.IsNaN(v.Value) {
			continue
		}
		text := v.Name + " has no value"
		if v.Relation != "" {
			text = "constraint " + text
		}
		if len(v.Warnings) > 0 {
			text += ": " + v.Warnings[0]
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return nil
	}
	return errors.New(strings.Join(said, "; "))
}

// gather writes row i of the gradient of s, by coordinates.
func (e *evaluator) gather(s *odes.Sensitivities, i int, sign float64, x, to []float64) {
	row := s.Gradient[i*s.Columns : (i+1)*s.Columns]
	for k, by := range (matrices{e.p}).moves(x) {
		to[k] = pull(sign, row, by)
	}
}

// curvature writes the Hessian of s by coordinates; grad is its gradient by them.
func (e *evaluator) curvature(s *odes.Sensitivities, sign float64, x, grad, to []float64) {
	n := len(x)
	h := s.Second(0)
	moves := matrices{e.p}.moves(x)
	for i := range n {
		for j := range n {
			to[i*n+j] = pullTwice(sign, h, s.Columns, moves[i], moves[j])
		}
		if e.p.coords[i].log { // the second derivative of exp is exp
			to[i*n+i] += grad[i]
		}
	}
	matrices{e.p}.bend(sign, s.Gradient[:s.Columns], x, to)
}

// noise is the estimated error of a value of the objective.
func (p *problem) noise(s *odes.Sensitivities) float64 {
	return math.Abs(s.Values[0].Value) * s.Settings.RTol * p.rough
}

// smooth returns the problem for optim.Minimize.
func (e *evaluator) smooth() optim.Problem {
	var learnt secant
	learns := integrates(e.p)
	return optim.Problem{
		Variables: len(e.p.coords), HasHessian: e.p.algorithm == "newton",
		Evaluate: func(ctx context.Context, x []float64, want optim.Want, at *optim.Point) error {
			first := want == optim.Curving && learnt.hessian == nil
			var s *odes.Sensitivities
			var err error
			if first && learns && peopled(e.p) {
				s, err = e.crossed(ctx, x)
			} else {
				s, err = e.run(ctx, x, first)
			}
			if err != nil {
				return err
			}
			sign := e.p.sign()
			at.Value, at.Noise = float64(sign*s.Values[0].Value), e.p.noise(s)
			if want >= optim.Slopes {
				e.gather(s, 0, sign, x, at.Gradient)
			}
			if first {
				e.curvature(s, sign, x, at.Gradient, at.Hessian)
			}
			if want == optim.Curving && learns {
				learnt.see(x, at.Gradient, at.Hessian, first)
			}
			return nil
		},
	}
}

// constrained returns the problem for optim.Constrained.
func (e *evaluator) constrained() optim.ConstrainedProblem {
	p := optim.ConstrainedProblem{
		Variables: len(e.p.coords), Constraints: len(e.p.constraints),
		Evaluate: func(ctx context.Context, x []float64, want optim.Want, at *optim.Point, c *optim.Constraints) error {
			s, err := e.run(ctx, x, false)
			if err != nil {
				return err
			}
			sign := e.p.sign()
			at.Value, at.Noise = float64(sign*s.Values[0].Value), e.p.noise(s)
			if want >= optim.Slopes {
				e.gather(s, 0, sign, x, at.Gradient)
			}
			e.constraints(s, x, want, c)
			return nil
		},
	}
	for _, c := range e.p.constraints {
		lo, hi := limits(c.Relation)
		p.Lo, p.Hi = append(p.Lo, lo), append(p.Hi, hi)
		p.Largest = append(p.Largest, e.p.model.ReadsLargest(c.Name))
	}
	p.Peaked = e.p.model.ReadsLargest(e.p.settings.Objective)
	p.Many = len(e.p.coords) > dense
	p.Curve, p.Cheap = e.lagrangian()
	return p
}

// lagrangian returns what computes the Hessian of the objective with multiples of the constraints, as
// optim.ConstrainedProblem has it, and whether it is cheap. Largest values have no second derivatives: where one of
// them counts, there is none.
func (e *evaluator) lagrangian() (curve func(ctx context.Context, x, y, h []float64) error, cheap bool) {
	const (
		numbers = 100 // of more, the Hessian takes far longer than what it saves
		columns = 60  // of Hessians of objective and constraints
	)
	p, n := e.p, len(e.p.coords)
	if n > numbers || p.model.ReadsLargest(p.settings.Objective) || !p.hasHessian() {
		return nil, false
	}
	var names []string
	var of []int
	for i, c := range p.constraints {
		if !p.model.ReadsLargest(c.Name) {
			names, of = append(names, c.Name), append(of, i)
		}
	}
	curve = func(ctx context.Context, x, y, h []float64) error {
		for i, c := range p.constraints {
			if y[i] != 0 && !slices.Contains(of, i) {
				return fmt.Errorf("%s has no second derivatives", c.Name)
			}
		}
		s, err := e.runOf(ctx, x, &e.curved, func() (*odes.Runner, error) { return p.curved(ctx, names...) })
		if err != nil {
			return err
		}
		w, all := s.Columns*s.Columns, make([]float64, s.Columns*s.Columns)
		gradient := make([]float64, s.Columns)
		for row := range len(of) + 1 {
			by := p.sign()
			if row > 0 {
				by = y[of[row-1]]
			}
			for k, v := range s.Hessian[row*w : (row+1)*w] {
				all[k] += float64(by * v)
			}
			for k, v := range s.Gradient[row*s.Columns : (row+1)*s.Columns] {
				gradient[k] += float64(by * v)
			}
		}
		moves := matrices{p}.moves(x)
		for i := range n {
			for j := range n {
				h[i*n+j] = pullTwice(1, all, s.Columns, moves[i], moves[j])
			}
			if p.coords[i].log { // the second derivative of exp is exp
				h[i*n+i] += pull(1, gradient, moves[i])
			}
		}
		matrices{p}.bend(1, gradient, x, h)
		return nil
	}
	return curve, n*(len(of)+1) <= columns
}

// folded returns the problem for optim.Folded: absolute values are kinks.
func (e *evaluator) folded() optim.KinkedProblem {
	if e.linking {
		return e.links.constrained().Kinked()
	}
	n, sign := len(e.p.coords), e.p.sign()
	p := optim.KinkedProblem{Variables: n, Constraints: len(e.p.constraints)}
	for _, c := range e.p.constraints {
		lo, hi := limits(c.Relation)
		p.Lo, p.Hi = append(p.Lo, lo), append(p.Hi, hi)
		p.Largest = append(p.Largest, e.p.model.ReadsLargest(c.Name))
	}
	objective := func(ctx context.Context, x []float64, want optim.Want, at *optim.Point, k *optim.Kinks) error {
		r := optim.Residuals{
			R: make([]float64, e.rows), J: make([]float64, e.rows*n), Gradient: at.Gradient, Curvature: at.Hessian,
		}
		if err := e.at(ctx, x); err != nil {
			return err
		}
		e.fill(x, want, &r, k)
		at.Value, at.Noise = r.Rest, r.Noise
		for i, v := range r.R {
			at.Value += float64(v * v / 2)
			row := r.J[i*n : (i+1)*n]
			for a, d := range row {
				at.Gradient[a] += float64(v * d)
				for b, c := range row {
					at.Hessian[a*n+b] += float64(d * c)
				}
			}
		}
		for i, u := range k.U {
			at.Value += float64(k.W[i] * math.Abs(u))
		}
		return nil
	}
	p.Peaked = e.p.model.ReadsLargest(e.p.settings.Objective)
	if e.comparison != nil {
		p.Kinks = e.kinks
	} else {
		p.Curve, p.Cheap = e.lagrangian()
	}
	p.Evaluate = func(
		ctx context.Context, x []float64, want optim.Want, at *optim.Point, k *optim.Kinks, c *optim.Constraints,
	) error {
		if e.comparison != nil {
			if err := objective(ctx, x, want, at, k); err != nil || p.Constraints == 0 {
				return err
			}
		}
		s, err := e.run(ctx, x, false)
		if err != nil {
			return err
		}
		if e.comparison == nil {
			at.Value, at.Noise = float64(sign*s.Values[0].Value), e.p.noise(s)
			e.gather(s, 0, sign, x, at.Gradient)
		}
		e.constraints(s, x, want, c)
		return nil
	}
	return p
}

// constraints writes the values of the constraints and their derivatives at x, from a run there.
func (e *evaluator) constraints(s *odes.Sensitivities, x []float64, want optim.Want, c *optim.Constraints) {
	c.Noise = s.Settings.RTol
	for i := range c.C {
		c.C[i] = s.Values[i+1].Value
		if want >= optim.Slopes {
			e.gather(s, i+1, 1, x, c.J[i*len(x):(i+1)*len(x)])
		}
	}
}
