package fit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/optim"
)

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
	s.passNodes(q, weights)
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
		last := len(s.courses[i].legs) - 1
		return s.worth(q, weights, i, last, s.courses[i].legs[last].columns, false)
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

// worth returns the derivatives by some columns of a leg of what it came to, each number times its weight; largest
// values are among these if all are.
func (s *legs) worth(q *passing, weights [][][]float64, i, k int, columns []int, all bool) []float64 {
	f, l := &q.found[i][k], s.courses[i].legs[k]
	out := make([]float64, len(columns))
	row := 0
	for _, r := range []*odes.Rows{&f.ends, &f.shares, &f.each, &f.whole} {
		for at := range r.Values {
			if w := weights[i][k][row]; w != 0 && (all || l.s.Smooth()[row]) {
				for j, column := range columns {
					out[j] += float64(w * r.Slopes[at*l.s.Columns+column])
				}
			}
			row++
		}
	}
	return out
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
		c.scale = make([]float64, c.size)
		for _, list := range values {
			for j := range c.scale {
				c.scale[j] = max(c.scale[j], math.Abs(list[j]))
			}
		}
		c.someScale()
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

// search moves from x until the parts join, and returns where. First all nodes are the values with which the run
// begins: where errors grow along the run, what it leads to is far from all that it is to be. Else they are what it
// leads to.
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
