package system

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// trace notes where the number comes from that element j of the functionals has of output i of c, at a site.
func (w *sites) trace(c *compiled.Call, i, j int, s *sens.Site) {
	w.problem.Notes.First(j, func() origin.Origin {
		e := w.Evaluator(c)
		from, _ := w.model.OriginIn(e, c.Tape.Outputs[i].Value)
		f := &w.model.Compiled.Functionals[w.model.FunctionalAt(j)]
		if s.Kind != sens.SiteTime || f.Table == nil {
			return from
		}
		row := w.model.Compiled.InstantList[s.Index].Row
		from.Row = fmt.Sprintf(" in row %d of %q (%s = %s)", f.Table.Row(row), f.Table.Name,
			w.model.Checked.Time.Name, diag.Number(w.T[0]))
		for _, x := range w.model.Checked.Observations {
			if x.Table != f.Table || f.Span.Start < x.Span.Start || f.Span.End > x.Span.End {
				continue
			}
			if v, ok := origin.ValueAt(e, x.As); ok {
				name := strings.Join(strings.Fields(x.As.Text()), " ")
				from.Row += fmt.Sprintf(", where %q is %s", origin.Short(name), diag.Number(v))
			}
			if from.Span.File != x.Span.File { // in the density
				from.Needs = "; " + x.Needs
			}
		}
		return from
	})
}

// origin returns where an output of c, as it would run now, has its first number from that is not finite.
func (w *outputs) origin(c *compiled.Call, output tape.Value) (origin.Origin, bool) {
	return w.model.OriginIn(w.Evaluator(c), output)
}

// OutputOf returns which output element i of all outputs belongs to.
func (w *outputs) OutputOf(i int) int {
	return slices.IndexFunc(w.Primals.Get(tapec.PartOutputs).Outs, func(b compiled.Binding) bool {
		return b.Lo <= i && i < b.Hi
	})
}

// OutputOrigin returns where output i at (t, y, d) has its first number from that is not finite.
func (w *outputs) OutputOrigin(t float64, y, d []float64, i int) (from origin.Origin, found bool) {
	c := w.Primals.Get(tapec.PartOutputs)
	w.T[0] = t
	saved := w.In[tapec.Primal][vec.D]
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.D] = y, d
	from, found = w.origin(c, c.Tape.Outputs[i].Value)
	w.In[tapec.Primal][vec.D] = saved
	return from, found
}
