package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/regimen"
)

// Tables at other times than those of the data (Env.Times): where data are to be simulated, not read.

// atTimes has a table observed at the given times, for each subject and each kind of measurements. The column of times
// is k.
func (t *dataTable) atTimes(c *checker, k int) {
	ratio := math.NaN() // of times as they are written
	for i, x := range t.times {
		if r := x / t.Data[k][i]; r-r == 0 {
			ratio = r
		}
	}
	w := &regimen.Times{
		File: c.file, Name: t.Name, Times: c.env.Times, Clock: k, Columns: t.Columns, Data: t.Data,
		Choose: func(e ast.Expr) ([]bool, bool) {
			told := c.list
			c.list = &diag.List{} // what is wrong with it is reported where it counts
			rows, ok := c.where(t, e)
			c.list = told
			return rows, ok
		},
	}
	if c.variant != nil {
		w.File = c.variant.file
	}
	for _, text := range t.texts {
		w.Texts = append(w.Texts, regimen.Texts{Name: text.name, Cells: text.cells})
	}
	data, from, added, ok := w.Move()
	if !ok {
		return
	}
	table := *t.Table
	t.own, t.added, t.Table = t.Data, added, &table
	table.Data, table.Rows = data, nil
	for i := range t.texts {
		cells := make([]string, len(from))
		for row, of := range from {
			cells[row] = t.texts[i].cells[of]
		}
		t.texts[i].cells = cells
	}
	if t.times != nil {
		t.times = nil
		for _, x := range data[k] {
			t.times = append(t.times, x*ratio)
		}
	}
}

// undrawn is the table of observations that name none, of a model that is to be simulated at Env.Times.
const undrawn = "simulated"

// ownTable returns a table with a column for an observation that has no data, and the observation as if it named it.
// A model with experiments would have to say which of them it belongs to.
func ownTable(c *checker, it *ast.Observe, u units.Unit) (*ast.Observe, *dataTable) {
	if len(c.env.Times) == 0 || c.variant != nil || len(c.experiments) > 0 || c.globals[undrawn] != nil {
		return it, nil
	}
	t := &dataTable{
		Table: &model.Table{
			Name: undrawn, Columns: []string{"time"}, Data: [][]float64{c.env.Times}, Span: it.Name.Span,
		},
		units: []units.Unit{c.timeUnitKnown()},
	}
	for _, o := range c.observes {
		if o.From == nil {
			t.Columns, t.units = append(t.Columns, o.Name.Name), append(t.units, u)
			t.Data = append(t.Data, slices.Repeat([]float64{1}, len(c.env.Times)))
		}
	}
	own := *it
	own.From = it.Value
	return &own, t
}
