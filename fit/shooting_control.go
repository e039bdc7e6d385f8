package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
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
	p          *problem
	e          *evaluator
	courses    []*course // of the experiments, and last that of the model itself
	n          int       // unknowns: coordinates of the fit, then nodes
	lo, hi     []float64 // of the former
	rows       []limited // the constraints of the model as the search has them, then gaps
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

// legs divides the runs of a fit whose objective is no likelihood.
func (p afar) legs(e *evaluator, otherwise bool) (inParts, error) {
	s := &legs{p: p.problem, e: e, workers: p.partsAtOnce(), n: len(p.coords)}
	b := p.bounds()
	s.lo, s.hi = b.Lo, b.Hi
	of := []string{p.settings.Objective}
	for _, c := range p.constraints {
		of = append(of, c.Name)
	}
	main, err := p.model.Divide(-1, of)
	if err != nil {
		return nil, err
	}
	if len(main.Totals) > 0 {
		for i, name := range p.model.Experiments() {
			d, err := p.model.Divide(i, nil)
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
	switch {
	case !divided:
		return nil, noneWithin
	case s.n > mostUnknowns:
		return nil, undivided(fmt.Sprintf("parts would have %d unknowns with the estimates, more than %d: fewer parts "+
			"have fewer", s.n, mostUnknowns))
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
		return undivided(fmt.Sprintf("%s moves the start or the end of the run, and parts with it, and an event is due at "+
			"a time of its own: none can be told in which part", span.Moved))
	}
	at := &cutter{from: span.From, to: span.To, near: 1e-9 * (span.To - span.From), due: span.Due}
	asked := p.settings.Shooting
	n := cmp.Or(asked.Segments, len(asked.Times)+1)
	switch {
	case !c.division.Reads: // there is nothing to divide
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
		if k > 0 {
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
	if x.s, err = p.model.Section(c.division, x.window, last, o); err != nil {
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
	for i, c := range s.courses {
		for k := range len(c.legs) - 1 {
			for j := range c.size {
				s.rows = append(s.rows, limited{goal: -1, course: i, leg: k, element: j})
			}
		}
	}
}

// main returns the course of the model itself.
func (s *legs) main() *course { return s.courses[len(s.courses)-1] }

// unknown returns where element j of the node of a leg stands among the unknowns.
func (c *course) unknown(leg, j int) int { return c.at + (leg-1)*c.size + j }

// nodeAt returns the values of the node of a leg at z; nil for the first.
func (c *course) nodeAt(z []float64, leg int) []float64 {
	if leg == 0 {
		return nil
	}
	node := make([]float64, c.size)
	for j := range node {
		node[j] = float64(z[c.unknown(leg, j)] * c.scale[j])
	}
	return node
}

// give gives the run of a leg its values; left is what the part before leaves of Node.Labels, and before is
// what all before contribute to its inputs.
func (x *leg) give(border, node, left, before []float64) error {
	x.left = left
	x.move(border, node)
	for _, a := range x.set[x.inputs:] {
		before = before[copy(a.Values, before):]
	}
	return x.s.Set(x.set...)
}

// run makes the run of a leg.
func (x *leg) run(ctx context.Context) (out found, err error) {
	if err := x.s.Run(ctx); err != nil {
		return out, err
	}
	of := func(r *odes.Rows) odes.Rows {
		return odes.Rows{Values: slices.Clone(r.Values), Slopes: slices.Clone(r.Slopes)}
	}
	return found{of(&x.s.Ends), of(&x.s.Shares), of(&x.s.Each), of(&x.s.Whole)}, nil
}

// pulls returns by which unknowns the columns of a leg move, but for those of inputs.
func (s *legs) pulls(c *course, k int, x []float64) [][]moving {
	l := c.legs[k]
	list := make([][]moving, l.s.Columns)
	for i := range l.q.coords {
		co := &l.q.coords[i]
		if i < len(l.of) {
			j := l.of[i]
			list[co.column] = []moving{{j, co.slope(co.value(x[j]))}}
		} else {
			j := i - len(l.of)
			list[co.column] = []moving{{c.unknown(k, j), c.scale[j]}}
		}
	}
	return list
}

// spread adds by times row r of a leg's slopes to a row of derivatives by the unknowns.
func spread(r *odes.Rows, row int, moves [][]moving, by float64, to []float64) {
	n := len(moves)
	for i, d := range r.Slopes[row*n : (row+1)*n] {
		if d == 0 {
			continue
		}
		for _, m := range moves[i] {
			to[m.of] += float64(by * d * m.by)
		}
	}
}

// pass makes the runs of all parts at z, or returns those that were made there.
func (s *legs) pass(ctx context.Context, z []float64) (*passing, error) {
	for i, q := range s.last {
		if q != nil && slices.Equal(q.z, z) {
			s.last[0], s.last[i] = q, s.last[0]
			return q, nil
		}
	}
	s.e.n++
	defer s.p.evaluated()
	q, err := s.passed(ctx, z)
	if err != nil {
		s.e.bad++
		return nil, err
	}
	s.last[1], s.last[0] = s.last[0], q
	return q, nil
}

// passed is pass without memory.
func (s *legs) passed(ctx context.Context, z []float64) (*passing, error) {
	q := &passing{z: slices.Clone(z)}
	border := q.z[:len(s.p.coords)]
	type job struct{ c, from, to int }
	var jobs []job
	for i, c := range s.courses {
		q.found = append(q.found, make([]found, len(c.legs)))
		q.moves = append(q.moves, make([][][]moving, len(c.legs)))
		for k := range c.legs {
			q.moves[i][k] = s.pulls(c, k, border)
		}
		last := len(c.legs) - 1
		if len(c.node.Labels) > 0 { // each takes those of the one before
			jobs = append(jobs, job{i, 0, last})
			continue
		}
		for k := range last {
			jobs = append(jobs, job{i, k, k + 1})
		}
	}
	q.before = make([][]float64, len(s.courses))
	one := func(i, k int) error {
		err := s.set(q, i, k)
		if err == nil {
			q.found[i][k], err = s.courses[i].legs[k].run(ctx)
		}
		return err
	}
	if err := atOnce(s.workers, len(jobs), func(n int) error {
		for k := jobs[n].from; k < jobs[n].to; k++ {
			if err := one(jobs[n].c, k); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var totals []float64
	var moved [][]float64 // their derivatives
	for i, c := range s.courses {
		last := len(c.legs) - 1
		before, slopes := s.before(q, i)
		if i+1 == len(s.courses) {
			before, slopes = append(before, totals...), append(slopes, moved...)
		}
		q.before[i] = before
		if err := one(i, last); err != nil {
			return nil, err
		}
		for j, column := range c.legs[last].columns {
			for at, d := range slopes[j] {
				if d != 0 {
					q.moves[i][last][column] = append(q.moves[i][last][column], moving{at, d})
				}
			}
		}
		if i+1 == len(s.courses) {
			break
		}
		out := &q.found[i][last].whole
		if totals == nil {
			totals, moved = make([]float64, len(out.Values)), make([][]float64, len(out.Values))
			for k := range moved {
				moved[k] = make([]float64, s.n)
			}
		}
		for k, v := range out.Values {
			totals[k] += v
			spread(out, k, q.moves[i][last], 1, moved[k])
		}
	}
	for i, c := range s.courses {
		for k := range len(c.legs) - 1 {
			for j := range c.size {
				q.most = max(q.most, math.Abs(s.gap(q, i, k, j)))
			}
		}
	}
	return q, nil
}

// set gives the run of a leg its values at q.
func (s *legs) set(q *passing, i, k int) error {
	c := s.courses[i]
	var left, before []float64
	if len(c.node.Labels) > 0 && k > 0 {
		left = q.found[i][k-1].ends.Values[c.size:]
	}
	if k+1 == len(c.legs) {
		before = q.before[i]
	}
	return c.legs[k].give(q.z[:len(s.p.coords)], c.nodeAt(q.z, k), left, before)
}

// gap returns what separates a leg from the one behind it, relative to the size of the state.
func (s *legs) gap(q *passing, course, leg, j int) float64 {
	c := s.courses[course]
	return q.found[course][leg].ends.Values[j]/c.scale[j] - q.z[c.unknown(leg+1, j)]
}

// before returns what the parts before the last contribute to its inputs, and the derivatives of that by the unknowns.
func (s *legs) before(q *passing, i int) (values []float64, slopes [][]float64) {
	c := s.courses[i]
	row := 0 // of shares
	for _, in := range c.division.Inputs {
		for range in.Size {
			v, to := 0.0, make([]float64, s.n)
			for k := range len(c.legs) - 1 {
				shares := &q.found[i][k].shares
				switch x := shares.Values[row]; {
				case in.Join == odes.Added:
					v += x
				case k == 0 || in.Join == odes.Largest && x > v:
					v = x
					clear(to)
				default:
					continue
				}
				spread(shares, row, q.moves[i][k], 1, to)
			}
			values, slopes = append(values, v), append(slopes, to)
			row++
		}
	}
	return values, slopes
}

// constrained returns the problem for optim.Constrained.
func (s *legs) constrained() optim.ConstrainedProblem {
	p, main := s.p, len(s.courses)-1
	sign := p.sign()
	c := optim.ConstrainedProblem{Variables: s.n, Constraints: len(s.rows)}
	c.Bounds.Lo, c.Bounds.Hi = slices.Clone(s.lo), slices.Clone(s.hi)
	for range s.n - len(s.lo) {
		c.Bounds.Lo, c.Bounds.Hi = append(c.Bounds.Lo, math.Inf(-1)), append(c.Bounds.Hi, math.Inf(1))
	}
	for _, r := range s.rows {
		c.Lo, c.Hi, c.Largest = append(c.Lo, r.lo), append(c.Hi, r.hi), append(c.Largest, r.largest)
	}
	goals := s.main().division.Goals
	c.Peaked = goals[0].Largest
	c.Evaluate = func(
		ctx context.Context, z []float64, _ optim.Want, at *optim.Point, out *optim.Constraints,
	) error {
		q, err := s.pass(ctx, z)
		if err != nil {
			return err
		}
		clear(at.Gradient)
		clear(out.J)
		last := len(s.main().legs) - 1
		value := func(goal, leg int, by float64, slopes []float64) float64 {
			g, f := goals[goal], &q.found[main][leg]
			r := &f.whole
			if g.Each {
				r = &f.each
			}
			spread(r, g.At, q.moves[main][leg], by, slopes)
			return float64(by * r.Values[g.At])
		}
		rtol := s.main().legs[last].s.RTol
		at.Value = value(0, last, sign, at.Gradient)
		at.Noise, out.Noise = math.Abs(at.Value)*rtol*p.rough, rtol
		for i, r := range s.rows {
			slopes := out.J[i*s.n : (i+1)*s.n]
			if r.goal >= 0 {
				out.C[i] = value(r.goal, r.leg, 1, slopes)
				continue
			}
			c := s.courses[r.course]
			spread(&q.found[r.course][r.leg].ends, r.element, q.moves[r.course][r.leg], 1/c.scale[r.element], slopes)
			slopes[c.unknown(r.leg+1, r.element)]--
			out.C[i] = s.gap(q, r.course, r.leg, r.element)
		}
		return nil
	}
	if !c.Peaked && p.hasHessian() {
		c.Curve, c.Cheap = s.curve, true
	}
	return c
}

// curve sets h to the Hessian of the objective and of y times the constraints at z, part by part: each has a few
// unknowns of its own. Largest values have no second derivatives, and do not count.
func (s *legs) curve(ctx context.Context, z, y, h []float64) error {
	q, err := s.pass(ctx, z)
	if err != nil {
		return err
	}
	clear(h)
	main := s.main()
	// The weights of what legs came to, in the order of Section.Smooth.
	weights := make([][][]float64, len(s.courses))
	for i, c := range s.courses {
		weights[i] = make([][]float64, len(c.legs))
		for k, l := range c.legs {
			weights[i][k] = make([]float64, len(l.s.Smooth()))
		}
	}
	goals := main.division.Goals
	goal := func(i, leg int, by float64) {
		f := &q.found[len(s.courses)-1][leg]
		at := len(f.ends.Values) + len(f.shares.Values) + goals[i].At
		if !goals[i].Each {
			at += len(f.each.Values)
		}
		weights[len(s.courses)-1][leg][at] += by
	}
	goal(0, len(main.legs)-1, s.p.sign())
	for i, r := range s.rows {
		if r.goal >= 0 {
			goal(r.goal, r.leg, y[i])
		} else {
			weights[r.course][r.leg][r.element] += y[i] / s.courses[r.course].scale[r.element]
		}
	}
	s.passBack(q, weights)
	type job struct{ c, k int }
	var jobs []job
	for i, c := range s.courses {
		for k := range c.legs {
			jobs = append(jobs, job{i, k})
		}
	}
	hessians, gradients := make([][]float64, len(jobs)), make([][]float64, len(jobs))
	if err := atOnce(s.workers, len(jobs), func(n int) (err error) {
		j := jobs[n]
		if err = s.set(q, j.c, j.k); err == nil {
			hessians[n], gradients[n], err = s.courses[j.c].legs[j.k].s.Curve(ctx, weights[j.c][j.k])
		}
		return err
	}); err != nil {
		return err
	}
	for n, j := range jobs {
		s.gatherCurve(j.c, j.k, q, hessians[n], gradients[n], h)
	}
	return nil
}

// passBack adds what the inputs of last parts are worth to the weights of what the parts before contribute.
func (s *legs) passBack(q *passing, weights [][][]float64) {
	worth := func(i int) []float64 { // of the inputs
		c := s.courses[i]
		last := len(c.legs) - 1
		f, l := &q.found[i][last], c.legs[last]
		out := make([]float64, len(l.columns))
		row := 0
		for _, r := range []*odes.Rows{&f.ends, &f.shares, &f.each, &f.whole} {
			for k := range r.Values {
				if w := weights[i][last][row]; w != 0 && l.s.Smooth()[row] {
					for j, column := range l.columns {
						out[j] += float64(w * r.Slopes[k*l.s.Columns+column])
					}
				}
				row++
			}
		}
		return out
	}
	back := func(i int, of []float64) {
		c := s.courses[i]
		row := 0
		for _, in := range c.division.Inputs {
			for range in.Size {
				for k := range len(c.legs) - 1 {
					if in.Join == odes.Added || in.Join == odes.OfFirst && k == 0 {
						weights[i][k][len(q.found[i][k].ends.Values)+row] += of[row]
					}
				}
				row++
			}
		}
	}
	main := len(s.courses) - 1
	of := worth(main)
	back(main, of)
	totals := of[len(of)-len(s.courses[main].division.Totals):]
	for i := range main {
		last := len(s.courses[i].legs) - 1
		f := &q.found[i][last]
		at := len(f.ends.Values) + len(f.shares.Values) + len(f.each.Values)
		for k, w := range totals {
			weights[i][last][at+k] += w
		}
		back(i, worth(i))
	}
}

// gatherCurve adds the Hessian of a leg by its columns to that by the unknowns.
func (s *legs) gatherCurve(course, leg int, q *passing, hessian, gradient, h []float64) {
	moves, n := q.moves[course][leg], s.n
	columns := len(moves)
	for a := range columns {
		for b := range columns {
			v := hessian[a*columns+b]
			if v == 0 {
				continue
			}
			for _, x := range moves[a] {
				for _, y := range moves[b] {
					h[x.of*n+y.of] += float64(float64(v*x.by) * y.by)
				}
			}
		}
	}
	l := s.courses[course].legs[leg]
	for i := range l.of {
		if co := &l.q.coords[i]; co.log { // the second derivative of exp is exp
			h[l.of[i]*n+l.of[i]] += float64(gradient[co.column] * co.value(q.z[l.of[i]]))
		}
	}
}

// hides: nodes can begin anywhere.
func (s *legs) hides() bool { return true }

func (s *legs) made() (iterations int, stages []Stage) {
	iterations, s.iterations = s.iterations, 0
	return iterations, s.stages
}

// begin returns the nodes of a course: what the run leads to, part by part, as long as that is within bounds; or all of
// them are the values with which the run begins.
func (c *course) begin(ctx context.Context, x []float64, runs bool) ([][]float64, error) {
	nodes := make([][]float64, len(c.legs))
	var node, left []float64
	to := func(l *leg) error {
		err := l.give(x, node, left, nil)
		if err != nil {
			return err
		}
		out, err := l.run(ctx)
		if ends := out.ends.Values; err == nil && slices.IndexFunc(ends, huge) < 0 {
			node, left = ends[:c.size], ends[c.size:]
			return nil
		}
		return cmp.Or(err, errHuge)
	}
	if err := to(c.start); err != nil {
		return nil, err
	}
	start, marks := node, left
	if runs {
		node, left = nil, nil // the first part has none
	}
	for k, l := range c.legs[:len(c.legs)-1] {
		if runs && to(l) != nil && k == 0 {
			node, left = start, marks
		}
		nodes[k+1] = node
	}
	return nodes, nil
}

// begin returns the unknowns at x; see that of a course.
func (s *legs) begin(ctx context.Context, x []float64, runs bool) (z []float64, err error) {
	z = append(slices.Clone(x), make([]float64, s.n-len(x))...)
	for _, c := range s.courses {
		if len(c.legs) == 1 {
			continue
		}
		nodes, err := c.begin(ctx, x, runs)
		if err != nil {
			return nil, err
		}
		c.scale = slices.Repeat([]float64{1}, c.size)
		for k, node := range nodes {
			for j, v := range node {
				z[c.unknown(k, j)] = v
			}
		}
	}
	_, err = s.rescale(ctx, z)
	return z, err
}

// rescale measures states at z by the sizes that they have there, and reports whether some have become much smaller:
// gaps that were small are not then.
func (s *legs) rescale(ctx context.Context, z []float64) (smaller bool, err error) {
	q, err := s.pass(ctx, z)
	if err != nil {
		return false, err
	}
	for i, c := range s.courses {
		var values [][]float64
		for k := range len(c.legs) - 1 {
			values = append(values, c.nodeAt(z, k+1), q.found[i][k].ends.Values)
		}
		if values == nil {
			continue
		}
		before := c.scale
		c.sizes(values)
		for j, v := range c.scale {
			smaller = smaller || v < before[j]/10
			for k := range len(c.legs) - 1 {
				z[c.unknown(k+1, j)] *= before[j] / v
			}
		}
	}
	s.last = [2]*passing{}
	return smaller, nil
}

// sizes sets the scales of a course: the largest value of each state where parts end and begin; of elements of one kind,
// no less than a part of the largest of them.
func (c *course) sizes(values [][]float64) {
	c.scale = make([]float64, c.size)
	at := 0
	for _, n := range c.node.Sizes {
		largest := 0.0
		for j := at; j < at+n; j++ {
			for _, v := range values {
				c.scale[j] = max(c.scale[j], math.Abs(v[j]))
			}
			largest = max(largest, c.scale[j])
		}
		for j := at; j < at+n; j++ {
			if c.scale[j] = max(c.scale[j], 1e-6*largest); c.scale[j] == 0 {
				c.scale[j] = 1
			}
		}
		at += n
	}
}

// search moves from x until the parts join, and returns where. First all nodes are the values with which the run begins:
// where errors grow along the run, what it leads to is far from all that it is to be. Else they are what it leads to.
func (s *legs) search(ctx context.Context, x []float64, forced bool) (to []float64, err error) {
	s.last, s.stages = [2]*passing{}, nil // a search depends on nothing that was before
	z, err := s.begin(ctx, x, !forced)
	if err != nil {
		return nil, err
	}
	q, err := s.pass(ctx, z)
	if err != nil {
		return nil, err
	}
	s.stages = []Stage{{Gap: q.most}}
	const (
		rounds = 4
		most   = 100 // iterations: one that takes more has begun badly
	)
	for round := range rounds {
		o := s.p.searchOptions(x)
		o.Iterations = cmp.Or(s.p.settings.MaxIter, most)
		if o.Feasible = 1e-11; round == 0 {
			o.Step = 1e-9 // the search by whole runs comes last
		}
		for range s.n - len(x) {
			o.Scale = append(o.Scale, 1)
		}
		o.Progress = s.e.iterated(func(z []float64) float64 {
			if q, err := s.pass(ctx, z); err == nil {
				return q.most
			}
			return math.NaN()
		})
		r, err := optim.Constrained(ctx, s.constrained(), z, o)
		s.iterations += r.Iterations
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		z = slices.Clone(r.X)
		x = z[:len(x)]
		smaller, err := s.rescale(ctx, z)
		if err != nil {
			return nil, err
		}
		if q, err = s.pass(ctx, z); err != nil {
			return nil, err
		}
		if !smaller && (q.most <= joined || r.Violated) {
			break
		}
	}
	s.stages = append(s.stages, Stage{Weight: math.Inf(1), Gap: q.most})
	return slices.Clone(x), nil
}
