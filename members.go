package odes

import (
	"odes.dev/odes/internal/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// Draw says from which distribution of the language a value is drawn.
type Draw struct {
	Name   string // what is drawn, as Assignment.Name: "k", "A[2]" or "initial(x)"
	Unit   string // "" when unknown or dimensionless
	Dist   string
	Args   []float64 // in the order of the distribution's arguments, in units of what is drawn
	Lo, Hi float64   // cut the distribution off; ±Inf where nothing does
	Mass   float64   // the probability of what is between Lo and Hi, by which its density is divided
}

// Members is what the ensemble blocks of a model say of the members of an ensemble.
type Members struct {
	N        int    // 0: not said
	Points   string // how points are chosen: "sobol", "lhs" or "random"
	Seed     uint64
	Gradient bool
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
	s := settings.Resolve(m.checked, choice, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	e := s.Ensemble
	out := &Members{N: e.N, Points: e.Points, Seed: e.Seed, Gradient: e.Gradient}
	if names := settings.Unchosen(m.checked, "ensemble"); names != nil && block == "" {
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

// Priors lists the priors of the params, in file order.
func (m *Model) Priors() []Draw { return drawsOf(m.checked.Priors) }

func drawsOf(list []typecheck.Draw) (out []Draw) {
	for _, d := range list {
		w := Draw{Name: d.Target.String(), Dist: d.Dist, Args: d.Args, Lo: d.Lo, Hi: d.Hi, Mass: d.Mass}
		if d.Unit.Known() && !d.Unit.Plain() {
			w.Unit = d.Unit.String()
		}
		out = append(out, w)
	}
	return out
}
