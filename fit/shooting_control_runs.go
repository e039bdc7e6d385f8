package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
)

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
		} else if s.linked == 0 {
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
		if len(c.node.Labels) > 0 || s.linked > 0 { // each takes what the one before leaves
			jobs = append(jobs, job{i, 0, last})
			continue
		}
		for k := range last {
			jobs = append(jobs, job{i, k, k + 1})
		}
	}
	q.before = make([][]float64, len(s.courses))
	one := func(i, k int) error {
		s.link(q, i, k)
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
		if s.linked > 0 {
			break
		}
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
	return c.legs[k].give(q.z[:len(s.p.coords)], s.nodeAt(q, i, k), left, before)
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
