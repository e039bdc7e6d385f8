package fit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/diag"
)

// What an active constraint decides, the data need not tell: the Fisher information counts along it alone. Its inverse
// there is the covariance of estimates that keep constraints (J. Aitchison, S. D. Silvey, Ann. Math. Statist. 29 (1958)
// 813–828, doi:10.1214/aoms/1177706538).

// active is a constraint that leaves no room at a minimum. An inequality at which a search stopped by chance, as it may
// where nothing else tells an estimate, is none.
type active struct {
	name     string
	equality bool
	side     float64   // in which direction its value has no room: 1 or -1
	gradient []float64 // by the coordinates
}

// activate finds the constraints that are active at the minimum: of data, those without which the objective could be
// less by more than least.
func (p *problem) activate(ctx context.Context, e *evaluator, m *minimum, least float64) error {
	m.active = nil
	if len(p.constraints) == 0 {
		return nil
	}
	s, err := e.run(ctx, m.x, false)
	if err != nil {
		return err
	}
	sizes, near := p.sizes(m.x), max(1e-6, 10*s.Settings.RTol)
	m.keep = m.free()
	var extents []float64 // changes of constraints where one coordinate changes by its size
	for i, c := range p.constraints {
		a := active{name: c.Name, equality: c.Relation == "==", gradient: make([]float64, len(m.x))}
		e.gather(s, i+1, 1, m.x, a.gradient)
		size := 0.0
		for k, g := range a.gradient {
			size = max(size, math.Abs(g)*sizes[k])
		}
		lo, hi := limits(c.Relation)
		v := s.Values[i+1].Value
		if min(v-lo, hi-v) <= near*size {
			if a.side = 1; v-lo < hi-v {
				a.side = -1
			}
			m.active, extents = append(m.active, a), append(extents, size)
		}
	}
	gradient := make([]float64, len(m.x))
	e.gather(s, 0, p.sign(), m.x, gradient)
	held := multipliers(pick(gradient, m.keep), m.gradients())
	var list []active
	var rows [][]float64
	for i, a := range m.active {
		presses := held == nil || a.equality || !p.squares && -a.side*held[i]*extents[i] > p.agree(s.Values[0].Value)
		if !presses && p.squares {
			if rows == nil {
				if rows, _, err = e.information(ctx, m.x, m.keep); err != nil {
					return err
				}
			}
			gain, err := judge{p}.beyond(ctx, m, i, pick(gradient, m.keep), rows, s.Settings.RTol)
			if err != nil {
				return err
			}
			presses = gain > least
		}
		if presses {
			list = append(list, a)
		}
	}
	m.active = list
	return nil
}

// beyond returns how much less the objective could be without constraint i of those that leave no room, given its
// gradient and the rows of the Fisher information: a step as long as the data ask for tells, whatever the sizes of
// estimates are. It is none if that step does not lead beyond the constraint.
func (p judge) beyond(
	ctx context.Context, m *minimum, i int, gradient []float64, rows [][]float64, rtol float64,
) (float64, error) {
	all, sizes := m.gradients(), pick(p.sizes(m.x), m.keep)
	k := len(m.keep)
	// fall returns by how much the objective falls where nothing with these gradients changes, and the step.
	fall := func(kept [][]float64) (float64, []float64, error) {
		s, err := decompose(ctx, rows, sizes, kept)
		if err != nil {
			return 0, nil, err
		}
		inverse, step := s.inverse(p.blind(rtol)), make([]float64, k)
		for a := range step {
			step[a] = -dot(inverse[a*k:(a+1)*k], gradient)
		}
		return -dot(step, gradient) / 2, step, nil
	}
	most, step, err := fall(slices.Delete(slices.Clone(all), i, i+1))
	if err != nil || !(float64(m.active[i].side*dot(all[i], step)) > 0) {
		return 0, err
	}
	within, _, err := fall(all)
	return most - within, err
}

// invertProducts returns the inverse of the matrix of products of rows with one another, [len(rows)·len(rows)]; nil if
// rows depend on one another.
func invertProducts(rows [][]float64) []float64 {
	products := make([]float64, 0, len(rows)*len(rows))
	for _, a := range rows {
		for _, b := range rows {
			products = append(products, dot(a, b))
		}
	}
	return invert(products, len(rows))
}

// multipliers returns the coefficients of rows of which the sum is nearest to g; nil if rows depend on one another.
func multipliers(g []float64, rows [][]float64) []float64 {
	k := len(rows)
	inverse := invertProducts(rows)
	if inverse == nil {
		return nil
	}
	out := make([]float64, k)
	for i := range out {
		for j, row := range rows {
			out[i] += float64(inverse[i*k+j] * dot(row, g))
		}
	}
	return out
}

// gradients returns those of the active constraints by the coordinates of keep.
func (m *minimum) gradients() (list [][]float64) {
	for _, a := range m.active {
		list = append(list, pick(a.gradient, m.keep))
	}
	return list
}

// pick returns the elements of list that keep lists.
func pick(list []float64, keep []int) []float64 {
	out := make([]float64, len(keep))
	for a, i := range keep {
		out[a] = list[i]
	}
	return out
}

// constrained says what constraints make of errors and intervals.
func (p *problem) constrained(m *minimum, out *Result, note func(diag.Level, string, ...any)) {
	if !p.squares || m.cov == nil || len(p.constraints) == 0 {
		return
	}
	var names []string
	for _, a := range m.active {
		if !a.equality {
			names = append(names, a.name)
		}
	}
	if n := len(names); n > 0 {
		which, it := fmt.Sprintf("constraint %s is", names[0]), "it is"
		if n > 1 {
			which, it = fmt.Sprintf("constraints %s are", join(names)), "they are"
		}
		note(diag.Warning, "%s active: the data want more than %s, and standard errors and intervals hold only "+
			"if %s true", which, map[bool]string{true: "it allows", false: "they allow"}[n == 1], it)
	}
	if p.settings.Intervals == "profile" && !math.IsNaN(out.Factor) {
		note(diag.Note, "the intervals are Wald's: profiles are not followed where a model has constraints")
	}
}
