package typecheck

import (
	"slices"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/typecheck/regimen"
)

// tiesOfEvents has measurements that stand before the row of an event of the same time, `at D.time`, read what was
// before it. Those between two such rows are left for tied to warn of.
func tiesOfEvents(c *checker) {
	v := c.variant
	if v == nil || v.group == nil || doseItem(c, v.group.from) || c.list.HasErrors() {
		return
	}
	var from *dataTable
	var at eventRows
	for _, d := range v.doses {
		if !d.exact || d.of.Name != v.group.from {
			continue
		}
		if from == nil {
			from, at = d.of, eventRows{rows: make([]bool, len(d.rows)), span: d.span}
		}
		for i, in := range d.rows {
			at.rows[i] = at.rows[i] || in
		}
	}
	if from == nil {
		return
	}
	times := from.Data[slices.Index(from.Columns, "time")]
	tied := records.Tied(v.rows[from.Name], at.rows, times)
	for i := range at.rows {
		at.rows[i] = at.rows[i] && v.group.rows[i]
	}
	t := &regimen.Table{Table: from.Table, At: at.span, Records: &records.Table{Times: times}}
	if e := regimen.Keep(giver{writer{c}, from, at.span}, t, tied, at.rows); e != nil {
		c.early = append(c.early, e)
	}
}
