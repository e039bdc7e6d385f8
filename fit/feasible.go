package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/certify"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/sample"
)

// reach searches from other points where the only search that was asked for has come to no feasible point: a point
// where violations can be no smaller nearby says nothing of what is far away. It ends where one of them comes to a
// feasible point, which is the best one then. What is drawn depends on the seed alone, and the elements of an array,
// the pieces of a control among them, begin at the same part of their ranges.
func (p judge) reach(ctx context.Context, out *Result) {
	const tries = 8
	e, err := p.borrow()
	if err != nil {
		return
	}
	defer p.giveBack(e)
	kind, _ := sample.KindNamed("lhs")
	cube, err := kind.New(tries, len(p.settings.Over), p.settings.Seed)
	if err != nil {
		return
	}
	within, end := p.within(ctx)
	defer end()
	from, u := p.ranges(), make([]float64, len(p.settings.Over))
	found := false
	for i := range tries {
		if within.Err() != nil || found {
			break
		}
		cube.At(i, u)
		x := append([]float64(nil), p.start...)
		for k, d := range from {
			c := &p.coords[k]
			if v := c.of(d.Quantile(u[c.variable])); v-v == 0 {
				x[k] = v
			}
		}
		s := p.from(within, e, len(out.Starts), x)
		out.Stats.add(&s)
		out.Stats.Seconds.Searches += s.Seconds
		if math.IsNaN(s.Value) || s.Why == optim.Unbounded.Words() {
			continue
		}
		s.Why = "from elsewhere, as there is no feasible point near the start; " + s.Why
		found = !s.Violated
		out.Starts = append(out.Starts, s)
	}
	p.sort(out.Starts)
	out.Clusters = nil
	p.cluster(out)
}

// A search ends where constraints hold to what it asks for, and a steep objective gains by what they are violated by.
// So do errors of constraints. Where the objective is a likelihood, both are measured in its unit, as all gains are;
// elsewhere they are as small a part of the objective as they are of the constraints.

// byConstraints returns what errors of constraints hide of the objective, and what it owes to their violations, both
// relative to the size of c.
func (p judge) byConstraints(
	s *odes.Sensitivities, c *certify.Problem, found *certify.Certificate,
) (hidden, owed float64) {
	if !p.squares || len(p.constraints) == 0 {
		return 0, 0
	}
	errors := make([]float64, len(p.constraints))
	for i := range errors {
		if by := s.Values[i+1].Error; by > 0 && by-by == 0 {
			errors[i] = by
		}
	}
	return c.Relaxed(errors, found), c.Relaxed(c.Violations(), found)
}

// owes reports whether violations of constraints are more of what a certificate lacks than errors of runs are.
func (c *certificate) owes() bool { return c.owed > math.Max(mostNoise, c.Noise)/2 }

// restored moves the end of a search to where constraints hold, by the shortest way to first order, if the objective
// owes much to their violations, and less than it did before. It reports whether it has.
func (p judge) restored(best *Start, c *certificate, before *float64) bool {
	const (
		much = mostNoise / 10
		near = 1e-6 // of how far a constraint moves: it stays at its limit
	)
	if !c.known() || !(c.owed > much) || !(c.owed < *before/2) {
		return false
	}
	*before = c.owed
	q := c.problem
	n := len(q.X)
	step := func(near float64) []float64 {
		var rows [][]float64
		var by []float64
		for i, v := range q.At.Constraints.C {
			row := make([]float64, n)
			size := 0.0
			for k, a := range q.At.Constraints.J[i*n : (i+1)*n] {
				if q.X[k] > q.Lo[k] && q.X[k] < q.Hi[k] {
					row[k] = float64(a * q.Sizes[k])
					size += math.Abs(row[k])
				}
			}
			for _, limit := range [2]float64{q.Min[i], q.Max[i]} {
				if off := limit - v; math.Abs(off) <= float64(near*size) || off > 0 == (limit == q.Min[i]) && off != 0 {
					rows, by = append(rows, row), append(by, off)
					break
				}
			}
		}
		return shortest(rows, by)
	}
	d := step(near)
	if d == nil {
		if d = step(0); d == nil {
			return false
		}
	}
	x := slices.Clone(q.X)
	for i := range x {
		x[i] = max(q.Lo[i], min(x[i]+float64(d[i]*q.Sizes[i]), q.Hi[i]))
	}
	best.x, best.To = x, p.values(x)
	return true
}

// shortest returns the shortest vector whose products with rows are by; nil where rows depend on one another.
func shortest(rows [][]float64, by []float64) []float64 {
	k := len(rows)
	if k == 0 {
		return nil
	}
	inverse := invertProducts(rows)
	if inverse == nil {
		return nil
	}
	d := make([]float64, len(rows[0]))
	for i := range rows {
		y := dot(inverse[i*k:(i+1)*k], by)
		for j, a := range rows[i] {
			d[j] += float64(y * a)
		}
	}
	return d
}
