package posterior

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/nuts"
	"odes.dev/odes/lang/diag"
)

// evaluator computes the density at one point after another, in one goroutine.
type evaluator struct {
	p       *problem
	runner  *odes.Runner
	hessian *odes.Runner // made when it is needed
	differs bool         // second derivatives are differences
	set     []odes.Assignment
	value   float64     // of the objective at the last point
	n       int         // evaluations with derivatives
	joint   *odes.Joint // of random effects that are drawn
	// anchored is the anchor of the problem that the runner has.
	anchored []float64
}

func (p *problem) newEvaluator(ctx context.Context) (*evaluator, error) {
	if p.random != nil {
		return p.evaluatorOfEffects(ctx)
	}
	r, err := p.model.Prepare(p.runOptions().While(ctx))
	if err != nil {
		return nil, err
	}
	return p.evaluatorOf(r), nil
}

// evaluatorOfEffects is one for random effects that are drawn.
func (p *problem) evaluatorOfEffects(ctx context.Context) (e *evaluator, err error) {
	o := p.runOptions().While(ctx)
	if o.Of = o.Of[1:]; p.settings.Rest != "" {
		o.Of = append([]string{p.settings.Rest}, o.Of...)
	}
	e = p.evaluatorOf(nil)
	if len(o.Of) > 0 {
		if e.runner, err = p.model.Prepare(o); err != nil {
			return nil, err
		}
	}
	e.joint, err = p.newJoint(ctx, 1)
	return e, err
}

func (p *problem) evaluatorOf(r *odes.Runner) *evaluator {
	e := &evaluator{p: p, runner: r}
	e.begin()
	return e
}

// runOptions are those of the runs.
func (p *problem) runOptions() odes.Options {
	o := p.opts.Options
	o.Wrt, o.Progress, o.Threads = p.names, nil, 1
	o.Of = []string{p.settings.Objective}
	for _, c := range p.constraints {
		o.Of = append(o.Of, c.Name)
	}
	return o.NumbersOnly()
}

func (p *problem) borrow() (*evaluator, error) {
	select {
	case e := <-p.idle:
		return e, nil
	default:
		return p.newEvaluator(context.Background()) // whose programs are there
	}
}

func (p *problem) giveBack(e *evaluator) {
	select {
	case p.idle <- e:
	default:
	}
}

// move makes q the point of the runs to come.
func (e *evaluator) move(q []float64) error {
	for i := range e.p.coords {
		c := &e.p.coords[i]
		x, _, _, _, _, _ := c.place(q[i])
		if x-x != 0 {
			return &nuts.Rejection{Cause: "values that are too large"}
		}
		e.set[c.variable].Values[c.element] = x
	}
	return nil
}

// density is that of package nuts.
func (e *evaluator) density(ctx context.Context, q, g []float64) (float64, error) {
	if e.p.random != nil {
		return e.withEffects(ctx, q, g)
	}
	s, err := e.run(ctx, q, &e.runner)
	if err != nil {
		return 0, err
	}
	lp := -e.value
	for i := range q {
		c := &e.p.coords[i]
		_, dx, _, log, dlog, _ := c.place(q[i])
		lp += log
		g[i] = dlog - float64(s.Gradient[c.column]*dx)
	}
	return lp, nil
}

// height is the logarithm of the density without its slopes, which costs less: minus infinity where there is none.
func (e *evaluator) height(ctx context.Context, q []float64) (float64, error) {
	none := math.Inf(-1)
	e.anchor(ctx)
	if err := e.move(q); err != nil {
		return none, nil
	}
	to := make([]float64, 1+len(e.p.constraints))
	err := e.runner.Set(e.set...)
	if err == nil {
		_, err = e.runner.Values(ctx, to)
	}
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		if err = rejected(err); isRejection(err) {
			return none, nil
		}
		return 0, err
	}
	for i, x := range to[1:] {
		relation := e.p.constraints[i].Relation
		if math.IsNaN(x) || relation == "<=" && x > 0 || relation == ">=" && x < 0 {
			return none, nil
		}
	}
	lp := -to[0]
	for i := range q {
		_, _, _, log, _, _ := e.p.coords[i].place(q[i])
		lp += log
	}
	if lp-lp != 0 {
		return none, nil
	}
	return lp, nil
}

// anchor has searches for the modes of subjects begin near those at a mode of the posterior. So what a point gives
// depends on the problem and the point, and on nothing that was run before.
func (e *evaluator) anchor(ctx context.Context) {
	to := e.p.anchor
	if slices.Equal(e.anchored, to) {
		return
	}
	e.runner.Anchor(false)
	if e.anchored = to; e.move(to) != nil || e.runner.Set(e.set...) != nil {
		return
	}
	if _, err := e.runner.Sensitivities(ctx); err == nil {
		e.runner.Anchor(true)
	} else if ctx.Err() != nil {
		e.anchored = nil
	}
}

// run runs the model at q.
func (e *evaluator) run(ctx context.Context, q []float64, r **odes.Runner) (*odes.Sensitivities, error) {
	if r == &e.runner {
		e.anchor(ctx)
	}
	if err := e.move(q); err != nil {
		return nil, err
	}
	e.n++
	err := (*r).Set(e.set...)
	var s *odes.Sensitivities
	if err == nil {
		s, err = (*r).Sensitivities(ctx)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, rejected(err)
	}
	for i := range s.Values {
		v := &s.Values[i]
		switch {
		case math.IsNaN(v.Value):
			return nil, &nuts.Rejection{Cause: v.Name + " has no value"}
		case v.Relation == "<=" && v.Value > 0, v.Relation == ">=" && v.Value < 0:
			return nil, &nuts.Rejection{Cause: "constraint " + v.Name}
		}
	}
	if e.value = s.Values[0].Value; math.IsInf(e.value, 0) {
		return nil, &nuts.Rejection{Cause: s.Values[0].Name + " is infinite"}
	}
	return s, nil
}

// rejected makes a rejection of a run that failed, whose cause is that of its first diagnostic.
func rejected(err error) error {
	cause := err.Error()
	if list := diag.Of(err); len(list) > 0 {
		cause = string(list[0].Code)
		if list[0].Code == odes.CodeOverride || list[0].Code == odes.CodeSetting {
			return err
		}
	}
	return &nuts.Rejection{Cause: cause, Err: err}
}

// curvature returns the logarithm of the density of coordinates at q, writes its gradient to g, and returns the Hessian
// of minus the logarithm: by second derivatives or, if the method has none or they fail, by differences of first ones.
func (e *evaluator) curvature(ctx context.Context, q, g []float64) (lp float64, h []float64, err error) {
	n := len(q)
	if e.hessian == nil && !e.differs {
		o := e.p.runOptions().While(ctx)
		e.hessian, err = e.p.model.Prepare(o.SecondOrder())
		if ctx.Err() != nil {
			return 0, nil, ctx.Err()
		}
		e.differs = err != nil
	}
	if e.differs {
		return e.differences(ctx, q, g)
	}
	s, err := e.run(ctx, q, &e.hessian)
	if ctx.Err() != nil {
		return 0, nil, ctx.Err()
	}
	if err != nil {
		return e.differences(ctx, q, g)
	}
	e.n += n
	full := s.Second(0)
	h = make([]float64, n*n)
	lp = -e.value
	for i := range n {
		a := &e.p.coords[i]
		_, da, dda, log, dlog, ddlog := a.place(q[i])
		lp += log
		g[i] = dlog - float64(s.Gradient[a.column]*da)
		for j := range n {
			b := &e.p.coords[j]
			_, db, _, _, _, _ := b.place(q[j])
			h[i*n+j] = float64(full[a.column*s.Columns+b.column] * da * db)
		}
		h[i*n+i] += float64(s.Gradient[a.column]*dda) - ddlog
	}
	if slices.ContainsFunc(h, func(x float64) bool { return x-x != 0 }) {
		return e.differences(ctx, q, g)
	}
	return lp, h, nil
}

func (e *evaluator) differences(ctx context.Context, q, g []float64) (lp float64, h []float64, err error) {
	if lp, err = e.density(ctx, q, g); err != nil {
		return 0, nil, err
	}
	n := len(q)
	h, up, down := make([]float64, n*n), make([]float64, n), make([]float64, n)
	at := slices.Clone(q)
	for i := range n {
		step := float64(1e-4 * e.p.coords[i].size)
		at[i] = q[i] + step
		_, err := e.density(ctx, at, up)
		if err == nil {
			at[i] = q[i] - step
			_, err = e.density(ctx, at, down)
		}
		if err != nil {
			return 0, nil, err
		}
		at[i] = q[i]
		for j := range n {
			h[i*n+j] = (down[j] - up[j]) / (2 * step)
		}
	}
	return lp, h, nil
}

// isRejection reports whether err says that there is no density.
func isRejection(err error) bool {
	var no *nuts.Rejection
	return errors.As(err, &no)
}

// progress tells how far the work is.
type progress struct {
	mu        sync.Mutex
	tell      func(odes.Progress)
	phase     string
	done, of  int
	gradients int
}

func (t *progress) begin(phase string, of int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.phase, t.done, t.of, t.gradients = phase, 0, of, 0
}

// more adds parts to the work.
func (t *progress) more(parts int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of += parts
}

// step tells that so many parts more are done, after so many runs.
func (t *progress) step(parts, gradients int) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += parts
	t.gradients += gradients
	t.tell(odes.Progress{Phase: t.phase, Done: float64(t.done) / float64(max(t.of, 1)), Steps: t.gradients})
}
