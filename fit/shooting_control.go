package fit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
)

// Multiple shooting for what is no likelihood: problems of optimal control above all. What separates a part of a run
// from the next is a condition, as the constraints of the model are, and all of them are kept by sequential quadratic
// programming. Each part has the constraints of its own; what parts add to integrals and sums the last one is told, and
// it computes the objective and the other constraints. See docs/control.md.

// legs is such a search. It belongs to one goroutine, and shares its runs out among others.
type legs struct {
	p       *problem
	e       *evaluator
	courses []*course // of the experiments, and last that of the model itself
	n       int       // unknowns: coordinates of the fit, then nodes
	lo, hi  []float64 // of the former
	rows    []limited // the constraints of the model as the search has them, then gaps
	// linked is into how many parts runs are divided of which each begins where the one before ends; 0: nodes are
	// unknowns.
	linked     int
	workers    int
	iterations int
	stages     []Stage
	last       [2]*passing // the last points
}

// course is the run of an experiment, or that of the model itself, in parts.
type course struct {
	chain
	division *odes.Division
	legs     []*leg
	start    *leg // a moment, from where the run begins; nil where that is not divided
	at       int  // where its nodes begin among the unknowns
}

// leg is a part of a run.
type leg struct {
	stretch
	s      *odes.Section
	inputs int // of set: where what the parts before contribute begins
	// columns are those of the inputs, in their order.
	columns []int
}

// limited is a constraint of the search: a goal of the model, of a part where each has its own, or a gap.
type limited struct {
	lo, hi  float64
	largest bool
	goal    int // -1 for a gap
	leg     int // of the main course; or of a gap, the one before it
	course  int // of a gap
	element int // likewise: of the node
}

// passing is a point of the search with all that was computed there.
type passing struct {
	z     []float64
	found [][]found // [course][leg]
	// moves are the unknowns by which the columns of a leg move.
	moves  [][][][]moving
	before [][]float64 // [course]: what the inputs of the last leg are
	most   float64     // the largest gap, relative to the size of a state
}

// found is what came of a leg.
type found struct{ ends, shares, each, whole odes.Rows }

// moving is an unknown that moves something, and by which factor.
type moving struct {
	of int
	by float64
}

// mostUnknowns is how many unknowns searches by parts have at most: their programs are dense.
const mostUnknowns = 1500

// legs divides the runs of a fit whose objective is no likelihood; linked is that of legs.
func (p afar) legs(e *evaluator, otherwise bool, linked int) (*legs, error) {
	s := &legs{p: p.problem, e: e, workers: p.partsAtOnce(), n: len(p.coords), linked: linked}
	b := p.bounds()
	s.lo, s.hi = b.Lo, b.Hi
	of := []string{p.settings.Objective}
	for _, c := range p.constraints {
		of = append(of, c.Name)
	}
	main, err := odes.Divide(p.model, -1, of)
	if err != nil {
		return nil, err
	}
	if len(main.Totals) > 0 {
		for i, name := range p.model.Experiments() {
			d, err := odes.Divide(p.model, i, nil)
			if err != nil {
				return nil, err
			}
			s.courses = append(s.courses, &course{chain: chain{experiment: i, name: name}, division: d})
		}
	}
	s.courses = append(s.courses, &course{chain: chain{experiment: -1}, division: main})
	divided := false
	for _, c := range s.courses {
		if err := s.divide(c, otherwise); err != nil {
			return nil, err
		}
		divided = divided || len(c.legs) > 1
	}
	if !divided {
		return nil, noneWithin
	}
	s.list()
	return s, nil
}

// divide chooses where the parts of a course begin, and prepares their runs.
func (s *legs) divide(c *course, otherwise bool) (err error) {
	const auto = 10 // parts
	p := s.p
	if c.node, err = p.model.Node(c.experiment); err != nil {
		return err
	}
	for _, n := range c.node.Sizes {
		c.size += n
	}
	span, err := p.model.Span(c.experiment, p.runOptions())
	if err != nil {
		return err
	}
	stretched := span.Moved != ""
	if stretched && len(span.Due) > 0 {
		return undivided(fmt.Sprintf("%s moves the start or the end of the run, and the parts with it, so an "+
			"event at a fixed time could pass from one part to another", span.Moved))
	}
	at := &cutter{from: span.From, to: span.To, near: 1e-9 * (span.To - span.From), due: span.Due}
	asked := p.settings.Shooting
	n := cmp.Or(asked.Segments, len(asked.Times)+1)
	switch {
	case !c.division.Reads: // there is nothing to divide
	case s.linked > 0:
		at.between(s.linked)
	case len(asked.Times) > 0 && !otherwise:
		at.given(asked.Times)
	default:
		if n == 1 {
			n = auto
		}
		if otherwise {
			n = max(2, (3*n+2)/4)
		}
		at.even(n, nil)
	}
	from := span.From
	ends := append(at.list, span.To)
	if n := s.n + len(at.list)*c.size; n > mostUnknowns && s.linked == 0 {
		return undivided(fmt.Sprintf("the parts and the estimates would have %d unknowns, more than %d; take fewer "+
			"parts", n, mostUnknowns))
	}
	place := func(t float64) float64 {
		switch {
		case !stretched:
			return t
		case t == span.To:
			return 1
		}
		return (t - span.From) / (span.To - span.From)
	}
	c.at = s.n
	if len(ends) > 1 {
		const moment = 1e-9 // of the first part
		c.start = &leg{}
		c.start.window = odes.Window{
			Experiment: c.experiment, From: place(from), To: place(from + float64(moment*(ends[0]-from))), First: true,
			Stretched: stretched,
		}
		if err := s.prepare(c, c.start, false); err != nil {
			return err
		}
	}
	for k, end := range ends {
		x := &leg{}
		x.window = odes.Window{
			Experiment: c.experiment, From: place(from), To: place(end), First: k == 0, Stretched: stretched,
		}
		if err := s.prepare(c, x, k+1 == len(ends)); err != nil {
			return err
		}
		c.legs = append(c.legs, x)
		from = end
		if k > 0 && s.linked == 0 {
			s.n += c.size
		}
	}
	return nil
}

// prepare makes the runs of a part.
func (s *legs) prepare(c *course, x *leg, last bool) (err error) {
	p := s.p
	o := x.lay(p, &c.node)
	x.inputs = len(x.set)
	input := func(name string, n int) {
		a := odes.Assignment{Name: name, Values: make([]float64, n)}
		x.set, o.Set, o.Wrt = append(x.set, a), append(o.Set, a), append(o.Wrt, name)
	}
	if last {
		for _, in := range c.division.Inputs {
			input(in.Name, in.Size)
		}
		for _, name := range c.division.Totals {
			input(name, 1)
		}
	}
	if x.s, err = c.division.Section(x.window, last, o); err != nil {
		return err
	}
	x.place(p, &c.node, x.s.Variables)
	for _, a := range x.set[x.inputs:] {
		for _, v := range x.s.Variables {
			if v.String() == a.Name {
				for j := range v.Size() {
					x.columns = append(x.columns, v.Offset+j)
				}
			}
		}
	}
	return nil
}

// list makes the list of the constraints.
func (s *legs) list() {
	main := s.main()
	for i, c := range s.p.constraints {
		g := main.division.Goals[i+1]
		r := limited{largest: g.Largest, goal: i + 1, leg: len(main.legs) - 1}
		r.lo, r.hi = limits(c.Relation)
		if !g.Each {
			s.rows = append(s.rows, r)
			continue
		}
		for r.leg = range main.legs {
			s.rows = append(s.rows, r)
		}
	}
	if s.linked > 0 {
		return
	}
	for i, c := range s.courses {
		for k := range len(c.legs) - 1 {
			for j := range c.size {
				s.rows = append(s.rows, limited{goal: -1, course: i, leg: k, element: j})
			}
		}
	}
}

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
