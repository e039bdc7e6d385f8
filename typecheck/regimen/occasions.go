package regimen

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// Occasions are the values that a random effect has by the entries of a column. The run reads the discrete Held, which
// an event sets where a row with another entry comes. Rows of the table, its measurements and its records of doses,
// read the value of their own entry, also at times at which entries change.
type Occasions struct {
	Table   *model.Table
	Column  int
	At      source.Span
	Param   *model.Symbol // its first axis is that of the entries
	Held    *model.Symbol
	Entries []float64 // in rising order
	Present []bool    // which of them the rows of the experiment have; nil in the model itself
	// Switched tells that there is the event that sets Held.
	Switched bool
}

// EntriesOf returns the different entries of a column in rising order, or says why it has no occasions.
func EntriesOf(t *model.Table, column int) (list []float64, why string) {
	times := t.Data[slices.Index(t.Columns, "time")]
	for i, x := range t.Data[column] {
		switch {
		case math.IsNaN(x):
			return nil, fmt.Sprintf("has no %s in row %d", t.Columns[column], t.Row(i))
		case math.IsInf(times[i], 1):
			return nil, "has rows at steady states (time inf), which have no occasion"
		}
		list = append(list, x)
	}
	if len(list) == 0 {
		return nil, "has no rows"
	}
	slices.Sort(list)
	return slices.Compact(list), ""
}

// of returns the position of the entry of a row, from 1.
func (o *Occasions) of(row int) int {
	return sort.SearchFloat64s(o.Entries, o.Table.Data[o.Column][row]) + 1
}

// PresentIn tells which entries some rows have.
func (o *Occasions) PresentIn(rows []bool) []bool {
	list := make([]bool, len(o.Entries))
	for i, in := range rows {
		if in {
			list[o.of(i)-1] = true
		}
	}
	return list
}

// Value returns what an entry has, by its position.
func (o *Occasions) Value(entry int) model.Expr {
	whole := model.Seal(&model.Ref{Base: model.NewBase(o.Param.Type, o.At), Sym: o.Param})
	return o.element(whole, terms.Number(float64(entry), units.One, o.At))
}

// element returns a value among several.
func (o *Occasions) element(whole, at model.Expr) model.Expr {
	subs := []model.Sub{{At: at}}
	for _, n := range o.Held.Type.Shape {
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: n})
	}
	return model.Seal(&model.Access{Base: model.NewBase(o.Held.Type, o.At), X: whole, Subs: subs})
}

// First returns the value at the first of some rows in time; nil for all rows.
func (o *Occasions) First(rows []bool) model.Expr {
	if order := o.inTime(rows); len(order) > 0 {
		return o.Value(o.of(order[0]))
	}
	return o.Value(1)
}

// inTime lists some rows in the order of their times; nil for all.
func (o *Occasions) inTime(rows []bool) (order []int) {
	times := o.Table.Data[slices.Index(o.Table.Columns, "time")]
	for i := range times {
		if (rows == nil || rows[i]) && !math.IsInf(times[i], 1) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return times[order[a]] < times[order[b]] })
	return order
}

// OfRows returns v as rows of a table read it.
func (o *Occasions) OfRows(c terms.Checker, from, rows *model.Table, v model.Expr) model.Expr {
	if from != o.Table || terms.IsBad(v) {
		return v
	}
	return o.replaced(v, func() model.Expr {
		entry := model.Seal(&model.Row{
			Base:  model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, o.At),
			Table: rows, Column: o.Column,
		})
		value := o.Value(len(o.Entries))
		for k := len(o.Entries) - 2; k >= 0; k-- {
			border := o.Entries[k] + float64(0.5*(o.Entries[k+1]-o.Entries[k]))
			cond := terms.Less(c, o.At, entry, terms.Number(border, units.One, o.At))
			value = model.Seal(&model.If{
				Base: model.NewBase(o.Held.Type, o.At), Cond: cond, Then: o.Value(k + 1), Else: value,
			})
		}
		return value
	})
}

// OfRecords returns v as the elements of an event of records read it: each dose has the value of its record.
func (o *Occasions) OfRecords(c terms.Checker, from *model.Table, d *Rows, v model.Expr) model.Expr {
	if from != o.Table || terms.IsBad(v) {
		return v
	}
	return o.replaced(v, func() model.Expr {
		return o.among(c, d)
	})
}

// among returns the value of the entry of an element of an event with an element for each row.
func (o *Occasions) among(c terms.Checker, d *Rows) model.Expr {
	t := o.Held.Type
	t.Shape = append(types.Shape{len(d.List)}, t.Shape...)
	all := &model.Stack{Base: model.NewBase(t, o.At)}
	for _, row := range d.List {
		all.Elems = append(all.Elems, o.Value(o.of(row)))
	}
	return o.element(model.Seal(all), d.Position(c, o.At))
}

// replaced returns v with another value in the place of the discrete.
func (o *Occasions) replaced(v model.Expr, value func() model.Expr) model.Expr {
	var made model.Expr
	return model.Replace(v, func(r *model.Ref) model.Expr {
		if r.Sym != o.Held {
			return nil
		}
		if made == nil {
			made = value()
		}
		return made
	})
}

// Switch makes the event that sets the discrete where the entries of some rows change, before all else that happens
// there.
func (o *Occasions) Switch(c Checker, rows []bool) {
	g := &giver{Checker: c, model: c.Model(), table: &Table{Table: o.Table, At: o.At}}
	g.occasion(o, rows)
}

// occasion is Switch among the events of doses.
func (g *giver) occasion(o *Occasions, rows []bool) {
	if o.Table != g.table.Table {
		return
	}
	o.Switched = true
	times := o.Table.Data[slices.Index(o.Table.Columns, "time")]
	order := o.inTime(rows)
	var first []int
	var when []float64
	for k, row := range order {
		if k+1 < len(order) && times[order[k+1]] == times[row] {
			continue // the last row of a time says what goes on from there
		}
		last := o.of(order[0])
		if len(first) > 0 {
			last = o.of(first[len(first)-1])
		}
		if o.of(row) != last {
			first, when = append(first, row), append(when, times[row])
		}
	}
	if len(first) == 0 {
		return
	}
	d := g.elements(first)
	g.model.Events = append(g.model.Events, &model.Event{
		Name: model.OfDoses + g.table.Name + "." + o.Param.Name, Span: o.At, Indices: []*model.Index{d.Index},
		Hidden: true, Trigger: model.Trigger{Times: []model.Expr{g.given(d, "occasion", when, g.unitOfTime())}},
		Policy: policy.Policy{Priority: math.MaxFloat64 / 2},
		Body:   []*model.Assign{g.inRun(g.set(o.Held, o.among(g, d)))},
	})
}
