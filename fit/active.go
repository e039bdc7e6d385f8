package fit

import (
	"context"
	"fmt"
	"math"

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

// activate finds the constraints that are active at the minimum.
func (p *problem) activate(ctx context.Context, e *evaluator, m *minimum) error {
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
	list := m.active[:0]
	for i, a := range m.active {
		if held == nil || a.equality || -a.side*held[i]*extents[i] > p.agree(s.Values[0].Value) {
			list = append(list, a)
		}
	}
	m.active = list
	return nil
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
