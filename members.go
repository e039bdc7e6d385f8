package odes

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/limits"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
)

// Draw says from which distribution of the language a value is drawn.
type Draw struct {
	Name   string // what is drawn, as Assignment.Name: "k", "A[2]" or "initial(x)"
	Unit   string // "" when unknown or dimensionless
	Dist   string
	Args   []float64 // in the order of the distribution's arguments, in units of what is drawn
	Lo, Hi float64   // cut the distribution off; ±Inf where nothing does
	Mass   float64   // the probability of what is between Lo and Hi, by which its density is divided
	// Of are the params that the arguments are functions of, where they are not constants. Then Args and Mass are those
	// of no point: At gives them.
	Of []string
	// Blocks are the rows of the blocks of a matrix of covariances, whose correlations are drawn together: see
	// MatrixPriors. It is nil for what is drawn number by number.
	Blocks [][]int

	numbers func(value func(name string) []float64) [][]float64
}

// Each returns the distributions of the elements of what is drawn, where these differ or depend on params; value gives
// the values of params, and may be nil where Of is empty. It returns nil where Args are those of all elements.
func (d *Draw) Each(value func(name string) []float64) []Draw {
	if d.numbers == nil {
		return nil
	}
	var list []Draw
	for _, args := range d.numbers(value) {
		one := Draw{Name: d.Name, Unit: d.Unit, Dist: d.Dist, Args: args, Lo: d.Lo, Hi: d.Hi, Mass: math.NaN()}
		if dist, err := sample.NewDist(d.Dist, args, d.Lo, d.Hi); err == nil {
			one.Mass = dist.Mass()
		}
		list = append(list, one)
	}
	return list
}

// Members is what the ensemble blocks of a model say of the members of an ensemble.
type Members struct {
	keys.Ensemble // how many there are, and how their points are chosen
	// Draws are those of the block, or the priors of the model where it has none.
	Draws []Draw
	// Names and Rows are those of a table whose rows are members; nil for none.
	Names []string
	Rows  [][]float64
	// Notes tell that none of the model's ensemble blocks holds, where each has a name and none was chosen.
	Notes []diag.Diagnostic
}

// Members reads the ensemble block without a name and, if block is not "", the one of that name. Settings override keys
// of the block: {"ensemble.n", "100"}.
func (m *Model) Members(block string, list []Setting) (*Members, error) {
	choice := settings.Choice{Ensemble: block}
	for _, o := range list {
		choice.Overrides = append(choice.Overrides, settings.Override(o))
	}
	var l diag.List
	s := settings.Resolve(m.engine.Checked, choice, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	e := s.Ensemble
	out := &Members{Ensemble: e.Ensemble}
	if names := settings.Unchosen(m.engine.Checked, "ensemble"); names != nil && block == "" {
		out.Notes = append(out.Notes, settings.NoneChosen("ensemble", names))
	}
	if out.Draws = drawsOf(e.Draws); e.Draws == nil && e.Rows == nil {
		out.Draws = m.Priors()
	}
	if e.Rows != nil {
		out.Names = e.Rows.Columns
		for i := range e.Rows.Data[0] {
			row := make([]float64, len(out.Names))
			for k, column := range e.Rows.Data {
				row[k] = column[i]
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out, nil
}

// Outside warns of params that are outside of their bounds in some of n members: once for each param. Members set what
// member returns, after set, and all of them the same names.
func (m *Model) Outside(set []Assignment, n int, member func(i int) []Assignment) []diag.Diagnostic {
	bounded := limits.Bounded(m.engine.System)
	if len(bounded) == 0 || n == 0 {
		return nil
	}
	var ignored, l diag.List // mistakes in assignments are told by those who run members
	counts, found, last := make([]int, len(bounded)), make([]float64, len(bounded)), make([]bool, len(bounded))
	for i := range n {
		own := member(i)
		if i == 0 || !m.within(bounded, own, last) {
			pt := m.point(slices.Concat(set, own), &ignored)
			if ignored.Err() != nil {
				return nil
			}
			for k, s := range bounded {
				x, ok := limits.Beyond(m.engine.System, pt, s)
				if last[k] = ok; ok && counts[k] == 0 {
					found[k] = x
				}
			}
		}
		for k, outside := range last {
			if outside {
				counts[k]++
			}
		}
	}
	for k, s := range bounded {
		if counts[k] > 0 {
			m.engine.Explain.MembersBounds(s, found[k], counts[k], n, &l)
		}
	}
	return l.All()
}

// within reports whether what a member sets is plainly within bounds, as it was for the member before: so the params
// are not worked out, which would take a tenth of the time of small members.
func (m *Model) within(bounded []*model.Symbol, own []Assignment, before []bool) bool {
	for k, s := range bounded {
		if limits.Made(s) || m.engine.System.Follows(s) {
			return false
		}
		for _, a := range own {
			switch {
			case a.Name == s.Name:
				if before[k] || a.Unit != "" || slices.ContainsFunc(a.Values, func(x float64) bool {
					return !(x >= s.Lo && x <= s.Hi)
				}) {
					return false
				}
			case strings.HasPrefix(a.Name, s.Name+"["):
				return false
			}
		}
	}
	return true
}

// Priors lists the priors of the params, in file order.
func (m *Model) Priors() []Draw { return drawsOf(m.engine.Checked.Priors) }

// MatrixPriors returns the priors of the correlations of matrices of covariances, lkj(eta).
func MatrixPriors(m *Model) []Draw { return drawsOf(m.engine.Checked.Matrices) }

func drawsOf(list []model.Draw) (out []Draw) {
	for _, d := range list {
		w := Draw{
			Name: d.Target.String(), Dist: d.Dist, Args: d.Args, Lo: d.Lo, Hi: d.Hi, Mass: d.Mass, Of: d.Of,
			numbers: d.Numbers, Blocks: d.Blocks,
		}
		if d.Unit.Known() && !d.Unit.Plain() {
			w.Unit = d.Unit.String()
		}
		out = append(out, w)
	}
	return out
}
