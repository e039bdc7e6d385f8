package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
)

// tiesOfEvents has measurements that stand before the row of an event of the same time, `at D.time`, read what was
// before it. Those between two such rows are left for tied to warn of.
func tiesOfEvents(c *checker) {
	v := c.variant
	if v == nil || v.group == nil || doseItem(c, v.group.from) || c.list.HasErrors() {
		return
	}
	var from *dataTable
	var at dosing
	for _, d := range v.doses {
		if !d.exact || d.of.Name != v.group.from {
			continue
		}
		if from == nil {
			from, at = d.of, dosing{rows: make([]bool, len(d.rows)), span: d.span}
		}
		for i, in := range d.rows {
			at.rows[i] = at.rows[i] || in
		}
	}
	if from == nil {
		return
	}
	times := from.Data[slices.Index(from.Columns, "time")]
	t := &doseTable{from: from, item: &ast.Doses{Table: ast.Ident{At: ast.At{Span: at.span}}}}
	g := &giver{checker: c, table: t, course: &records.Course{Times: times}, x: context{place: placeDose}}
	e := &early{table: t, g: g, set: make([]int, len(times))}
	var rows []int
	var when []float64
	for _, i := range records.Tied(v.rows[from.Name], at.rows, times) {
		between := false
		for k := 0; k < i; k++ {
			between = between || at.rows[k] && v.group.rows[k] && times[k] == times[i]
		}
		if between {
			continue
		}
		if e.set[i] = 1; !slices.Contains(when, times[i]) {
			rows, when = append(rows, i), append(when, times[i])
		}
	}
	if len(rows) == 0 {
		return
	}
	d := g.elements(rows)
	keep := &model.Event{
		Name: model.OfDoses + from.Name + ".before", Span: at.span, Indices: []*model.Index{d.index}, Hidden: true,
		Times: []model.Expr{g.given(d, "before", when, g.unitOfTime())}, Priority: math.MaxFloat64 / 4,
	}
	c.model.Events = append(c.model.Events, keep)
	e.from, e.kept = []*model.Event{keep}, []map[*model.Symbol]*model.Symbol{{}}
	c.early = append(c.early, e)
}
