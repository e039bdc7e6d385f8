package typecheck

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
)

// Tables at other times than those of the data (Env.Times): where data are to be simulated, not read.

// atTimes gives a table a row for each time and each combination of texts that it has. The numbers in it are those of
// the last row of the same texts up to then, or of the first; a missing one is the nearest of its column, or 1. The
// column of times is k.
func (t *dataTable) atTimes(times []float64, k int) {
	ratio := math.NaN() // of times as they are written
	for i, x := range t.times {
		if r := x / t.Data[k][i]; r-r == 0 {
			ratio = r
		}
	}
	groups := map[string][]int{}
	var order []string
	for i := range t.Data[k] {
		var cells []string
		for _, c := range t.texts {
			cells = append(cells, c.cells[i])
		}
		key := strings.Join(cells, "\x00")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	data, cells, written := make([][]float64, len(t.Data)), make([][]string, len(t.texts)), []float64(nil)
	for _, key := range order {
		rows := groups[key]
		slices.SortStableFunc(rows, func(a, b int) int {
			switch x, y := t.Data[k][a], t.Data[k][b]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		for _, at := range times {
			from := 0
			for i, row := range rows {
				if t.Data[k][row] <= at {
					from = i
				}
			}
			for c := range data {
				value := at
				if c != k {
					value = nearestNumber(t.Data[c], rows, from)
				}
				data[c] = append(data[c], value)
			}
			for c := range cells {
				cells[c] = append(cells[c], t.texts[c].cells[rows[from]])
			}
			if t.times != nil {
				written = append(written, at*ratio)
			}
		}
	}
	table := *t.Table
	table.Data, table.Rows = data, nil
	t.Table, t.times = &table, written
	for c := range cells {
		t.texts[c].cells = cells[c]
	}
}

// nearestNumber returns the number of rows[from], or one before it, or after it; 1 where all are missing.
func nearestNumber(column []float64, rows []int, from int) float64 {
	for i := from; i >= 0; i-- {
		if x := column[rows[i]]; !math.IsNaN(x) {
			return x
		}
	}
	for _, row := range rows[from:] {
		if x := column[row]; !math.IsNaN(x) {
			return x
		}
	}
	return 1
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
		units: []units.Unit{c.model.Time.Type.Unit},
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
