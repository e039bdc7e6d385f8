package typecheck

import (
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/regimen"
)

// Tables at other times than those of the data (Env.Times): where data are to be simulated, not read.

// atTimes gives a table a row for each time and each combination of texts that it has; where its rows are records of
// doses, for each subject and each kind that observations choose, besides the records. The column of times is k.
func (t *dataTable) atTimes(c *checker, k int) {
	ratio := math.NaN() // of times as they are written
	for i, x := range t.times {
		if r := x / t.Data[k][i]; r-r == 0 {
			ratio = r
		}
	}
	w := &regimen.Times{Own: t.Data[k], Kinds: make([]string, len(t.Data[k]))}
	for _, text := range t.texts {
		for i := range w.Kinds {
			w.Kinds[i] += "\x00" + text.cells[i]
		}
	}
	named := recordsAtTimes(c, t, w)
	data, cells, written := make([][]float64, len(t.Data)), make([][]string, len(t.texts)), []float64(nil)
	for _, p := range w.Picks(c.env.Times) {
		for i, name := range t.Columns {
			value := p.Time
			if i != k {
				value = p.Number(t.Data[i], named[name] != "")
			}
			data[i] = append(data[i], value)
		}
		for i := range cells {
			cells[i] = append(cells[i], t.texts[i].cells[p.Rows[p.At]])
		}
		if t.times != nil {
			written = append(written, p.Time*ratio)
		}
	}
	table := *t.Table
	table.Data, table.Rows = data, nil
	t.Table, t.times = &table, written
	for i := range cells {
		t.texts[i].cells = cells[i]
	}
}

// recordsAtTimes tells w of records of doses in a table, and returns which columns are theirs.
func recordsAtTimes(c *checker, t *dataTable, w *regimen.Times) map[string]string {
	at := slices.IndexFunc(c.doses, func(it *ast.Doses) bool { return it.Table.Name == t.Name })
	if at < 0 {
		return nil
	}
	named := regimen.Named(c.doses[at], t.Columns)
	w.Subjects, w.Records = make([]string, len(w.Own)), &records.Table{Times: w.Own, Columns: map[string][]float64{}}
	for i, name := range t.Columns {
		if named[name] != "" {
			w.Records.Columns[named[name]] = t.Data[i]
		}
	}
	add := func(to []string, name string) {
		if i := slices.Index(t.Columns, name); i >= 0 {
			for row, x := range t.Data[i] {
				to[row] += "\x00" + strconv.FormatFloat(x, 'g', -1, 64)
			}
		}
		if i := t.text(name); i >= 0 {
			for row, x := range t.texts[i].cells {
				to[row] += "\x00" + x
			}
		}
	}
	subjects, kinds := regimen.Reading(c.file, t.Name)
	for _, name := range subjects {
		add(w.Subjects, name)
	}
	for _, name := range kinds {
		add(w.Kinds, name)
	}
	return named
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
