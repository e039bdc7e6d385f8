package fit

import (
	"context"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
)

// A largest value that stays at its limit over a stretch of time is as many constraints as the control has pieces
// there, and a run tells the derivatives of one of them. A search that sees one at a time takes as many runs to learn
// of them all, again and again as it moves. So such runs are made in parts, one for each piece of a control, and each
// part has its own largest value. A part begins where the one before it ends: nodes are no unknowns, and derivatives by
// them are chained. What comes out is the whole run, with all its limits.

// between adds the middles of n even pieces. A largest value is reached where pieces of a control meet, mostly: so each
// part has one such time, and none has two, at its ends, that are as large.
func (c *cutter) between(n int) {
	for k := range n {
		c.add(c.from + float64((c.to-c.from)*((float64(k)+0.5)/float64(n))))
	}
}

// link has leg k of a course begin where the one before it ends.
func (s *legs) link(q *passing, i, k int) {
	if s.linked == 0 || k == 0 {
		return
	}
	l, to := s.courses[i].legs[k], make([]float64, s.n)
	for j, column := range l.nodeColumns() {
		clear(to)
		spread(&q.found[i][k-1].ends, j, q.moves[i][k-1], 1, to)
		var by []moving
		for of, d := range to {
			if d != 0 {
				by = append(by, moving{of, d})
			}
		}
		q.moves[i][k][column] = by
	}
}

// nodeColumns are the columns of the elements of a leg's node.
func (x *leg) nodeColumns() (list []int) {
	for _, c := range x.q.coords[len(x.of):] {
		list = append(list, c.column)
	}
	return list
}

// nodeAt returns the values with which a leg begins at q; nil for the first.
func (s *legs) nodeAt(q *passing, i, k int) []float64 {
	c := s.courses[i]
	if s.linked == 0 || k == 0 {
		return c.nodeAt(q.z, k)
	}
	return q.found[i][k-1].ends.Values[:c.size]
}

// passNodes adds to the weights of the ends of linked parts what these are worth to the parts behind, from the last one
// backwards: so the Hessians of parts add up to that of the whole run.
func (s *legs) passNodes(q *passing, weights [][][]float64) {
	for i, c := range s.courses {
		for k := len(c.legs) - 1; k > 0 && s.linked > 0; k-- {
			for j, v := range s.worth(q, weights, i, k, c.legs[k].nodeColumns(), true) {
				weights[i][k-1][j] += v
			}
		}
	}
}

// leastLinked is of how many pieces a control has at least for runs to be linked: few limits are soon known.
const leastLinked = 24

// linked returns the run in linked parts, one for each piece of the control that has most of them; nil for none.
func (p afar) linked(e *evaluator) *legs {
	if e.sought {
		return e.links
	}
	e.sought = true
	wide := 0
	for _, v := range p.settings.Over {
		wide = max(wide, v.Size())
	}
	largest := slices.ContainsFunc(p.constraints, func(c odes.Value) bool {
		return c.Relation != "==" && p.model.ReadsLargest(c.Name)
	})
	if !largest || wide < leastLinked || len(p.coords) > dense || e.comparison != nil || p.settings.Warm ||
		p.model.ReadsLargest(p.settings.Objective) {
		return nil
	}
	s, err := p.legs(e, false, wide)
	if err == nil && slices.ContainsFunc(s.rows, func(r limited) bool { return s.each(&r) }) {
		e.links = s
	}
	return e.links
}

// constrained searches from x under constraints: by whole runs, which take the least time, and if these come to no end,
// by linked parts from where they came to.
func (p afar) constrained(
	ctx context.Context, e *evaluator, x []float64, b optim.Bounds, o optim.Options,
) (optim.Result, error) {
	const most = 400 // evaluations: of more pieces, each takes longer
	links := p.linked(e)
	plain := e.constrained()
	plain.Bounds = b
	if links == nil {
		return optim.Constrained(ctx, plain, x, o)
	}
	before := optim.Result{X: x}
	if !e.linking {
		first := o
		first.Evaluations = most
		var err error
		before, err = optim.Constrained(ctx, plain, x, first)
		if err != nil || ctx.Err() != nil || before.Status.Converged() || before.Status == optim.Unbounded ||
			before.Status == optim.Unsatisfiable || before.Status == optim.Iterations {
			return before, err
		}
		e.linking = true
	}
	q := links.constrained()
	q.Bounds = b
	r, err := optim.Constrained(ctx, q, before.X, o)
	if err != nil && ctx.Err() == nil { // parts may fail where the whole run does not
		e.linking = false
		r, err = optim.Constrained(ctx, plain, before.X, o)
	}
	r.Iterations += before.Iterations
	return r, err
}

// each reports whether a row is the limit of one part.
func (s *legs) each(r *limited) bool { return r.goal >= 0 && s.main().division.Goals[r.goal].Each }

// limitsAt are the constraints of a point as a certificate has them: of which constraint of the model each is a part.
type limitsAt struct {
	optim.Constraints
	of []int
}

// limitsAt returns the constraints at x, from a run there: those of linked parts if searches see these.
func (e *evaluator) limitsAt(ctx context.Context, s *odes.Sensitivities, x []float64) (at limitsAt, err error) {
	n, k := len(x), len(e.p.constraints)
	room := func(k int) optim.Constraints {
		return optim.Constraints{C: make([]float64, k), J: make([]float64, k*n)}
	}
	whole := room(k)
	e.constraints(s, x, optim.Slopes, &whole)
	l := e.links
	if !e.linking {
		at.Constraints = whole
		for i := range k {
			at.of = append(at.of, i)
		}
		return at, nil
	}
	q := l.constrained()
	at.Constraints = room(len(l.rows))
	to := optim.Point{Gradient: make([]float64, n)}
	if err := q.Evaluate(ctx, x, optim.Slopes, &to, &at.Constraints); err != nil {
		return at, err
	}
	for i := range l.rows {
		r := &l.rows[i]
		at.of = append(at.of, r.goal-1)
		if !l.each(r) {
			at.C[i] = whole.C[r.goal-1]
			copy(at.J[i*n:(i+1)*n], whole.J[(r.goal-1)*n:r.goal*n])
		}
	}
	return at, nil
}
