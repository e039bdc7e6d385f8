package typecheck

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// interp(D.time, D.WT, t) is the course in time of what rows of a table say. A run reads the rows that are its own:
// those that its experiment is made from, or those of the table that it uses. A table of which it uses none is read
// whole, as an input that all runs have in common.

// coursesOfPass is what a pass over the file knows of courses.
type coursesOfPass struct {
	columns map[model.Expr]*entity // by value: the table whose column it is, or follows from, row by row
	courses map[*entity][]bool     // by table: the rows that this run reads
	leaps   []*leap
}

// leap is what interp reads of a table in which several rows have one time. Measurements in these rows read the value
// of their own row, whatever the run has there.
type leap struct {
	from   *dataTable
	value  []model.Expr // that of interp, and what has it with another unit
	own    []float64    // by row: the value, where the run has another one at that time
	other  []bool
	column string
}

// leapOf notes that v, of a kind of interp, has several values at some times of g: at these, the run has that of the
// first row or that of the last.
func leapOf(c *checker, v model.Expr, g *entity, t, y, q model.Expr, kind string) {
	now, is := q.(*model.Ref)
	k, fixed := t.(*model.Const)
	own, known := y.(*model.Const)
	if !is || now.Sym.Kind != model.TimeSymbol || !fixed || !known || len(own.Data) == 1 ||
		!slices.Equal(k.Data, g.table.Data[slices.Index(g.table.Columns, "time")]) {
		return
	}
	l := &leap{
		from: g.table, value: []model.Expr{v}, own: own.Data, other: make([]bool, len(own.Data)),
		column: fmt.Sprintf("leap %d", len(c.leaps)+1),
	}
	var at []int // the rows of one time
	some := false
	tell := func() {
		for _, i := range at {
			run := at[len(at)-1]
			if kind == "next" {
				run = at[0]
			}
			l.other[i] = own.Data[i] != own.Data[run]
			some = some || l.other[i]
		}
	}
	for i, in := range rowsRead(c, g) {
		if !in || math.IsNaN(own.Data[i]) {
			continue
		}
		if len(at) > 0 && k.Data[at[0]] != k.Data[i] {
			tell()
			at = at[:0]
		}
		at = append(at, i)
	}
	if tell(); some {
		c.leaps = append(c.leaps, l)
	}
}

// sameLeap notes that v has the value of another one.
func sameLeap(c *checker, v, other model.Expr) {
	for _, l := range c.leaps {
		if slices.Contains(l.value, other) {
			l.value = append(l.value, v)
		}
	}
}

// markLeaps adds to some rows of a table the values that they read in the place of those of the run: for each leap a
// column that says which rows do, and one of the values.
func markLeaps(c *checker, from *dataTable, rows *model.Table) *model.Table {
	for _, l := range c.leaps {
		if l.from != from {
			continue
		}
		other, own := make([]float64, len(rows.Data[0])), make([]float64, len(rows.Data[0]))
		for i := range own {
			if r := rows.Row(i) - 1; l.other[r] {
				other[i], own[i] = 1, l.own[r]
			}
		}
		if slices.Contains(other, 1) {
			out := *rows
			out.Columns = append(slices.Clone(rows.Columns), l.column, l.column+" value")
			out.Data = append(slices.Clone(rows.Data), other, own)
			rows = &out
		}
	}
	return rows
}

// readLeaps returns v as the rows of a table read it.
func readLeaps(c *checker, rows *rowsOf, v model.Expr) model.Expr {
	for _, l := range c.leaps {
		k := slices.Index(rows.rows.Columns, l.column)
		if l.from != rows.from || k < len(l.from.Columns) || isBad(v) {
			continue
		}
		with := map[model.Expr]model.Expr{}
		for _, e := range l.value {
			s := e.Span()
			cell := func(k int, t types.Type) model.Expr {
				return model.Seal(&model.Row{Base: model.NewBase(t, s), Table: rows.rows, Column: k})
			}
			cond := terms.Less(writer{c}, s, number(0.5, units.One, s), cell(k, types.Type{Kind: types.Real, Unit: units.One}))
			with[e] = model.Seal(&model.If{Base: model.NewBase(e.Type(), s), Cond: cond, Then: cell(k+1, e.Type()), Else: e})
		}
		v = model.ReplaceNodes(v, with)
	}
	return v
}

// ofTable notes that v has an element for each row of the table that one of the others has an element for each row of.
func ofTable(c *checker, v model.Expr, others ...model.Expr) {
	if len(c.columns) == 0 || isBad(v) || len(v.Type().Shape) != 1 {
		return
	}
	for _, o := range others {
		if g := c.columns[o]; g != nil && o.Type().Shape.Equal(v.Type().Shape) {
			c.columns[v] = g
			return
		}
	}
}

// tableWhose returns the table for whose rows a value has an element each; nil for none.
func tableWhose(c *checker, v model.Expr) (g *entity) {
	if len(c.columns) == 0 || isBad(v) {
		return nil
	}
	model.Walk(func(e model.Expr) bool {
		if of := c.columns[e]; g == nil && of != nil && e.Type().Shape.Equal(v.Type().Shape) {
			g = of
		}
		return g == nil
	}, v)
	return g
}

// courseOf returns the knots and values that interp reads of rows of g: those of this run, without rows in which the
// value is missing. It reports false after an error.
func courseOf(c *checker, e *ast.Call, g *entity, t, y model.Expr) (knots, values model.Expr, ok bool) {
	rows := rowsRead(c, g)
	k, fixed := t.(*model.Const)
	v, known := y.(*model.Const)
	every := func(k *model.Const, i int) float64 { return k.Data[min(i, len(k.Data)-1)] }
	var at []int
	left, previous := 0, -1
	for i, in := range rows {
		switch {
		case known && math.IsNaN(every(v, i)):
			continue
		case !in:
			left++
			continue
		case fixed && previous >= 0 && every(k, i) < every(k, previous):
			c.errorf(CodeArguments, e.Args[0].Span, "interp reads rows in the order of their times, but row %d of %q%s "+
				"is at %g, after %g in row %d", i+1, g.name, ofGroup(c, g), every(k, i), every(k, previous),
				previous+1).Relate(g.span, "declared here")
			return nil, nil, false
		}
		at, previous = append(at, i), i
	}
	if len(at) == 0 {
		c.errorf(CodeData, e.Args[1].Span, "no row of %q%s holds a value that interp could read", g.name, ofGroup(c, g)).
			Relate(g.span, "declared here")
		return nil, nil, false
	}
	if left > 0 && c.variant != nil && c.variant.group == nil && fixed && known && ascending(v, k) {
		c.list.Warnf(CodeData, e.Span, "of %q, interp reads the rows that an experiment uses; to have it read all rows "+
			"in all experiments, put them into a table of their own, as a second `data` item", g.name).
			Relate(g.span, "declared here")
	}
	return terms.Among(writer{c}, t, at), terms.Among(writer{c}, y, at), true
}

// ascending reports whether the knots of all values rise.
func ascending(values, knots *model.Const) bool {
	last := math.Inf(-1)
	for i, x := range knots.Data {
		if y := values.Data[min(i, len(values.Data)-1)]; y == y {
			if x <= last {
				return false
			}
			last = x
		}
	}
	return true
}

// ofGroup says in a message which rows of a table a run has; "" where it has all.
func ofGroup(c *checker, g *entity) string {
	switch {
	case c.variant == nil:
		return ""
	case c.variant.group.of(g):
		return " with " + c.variant.group.is
	}
	return " that experiment " + c.variant.name + " reads"
}

// rowsRead returns the rows of a table that interp reads in this run.
func rowsRead(c *checker, g *entity) []bool {
	if rows := c.courses[g]; rows != nil {
		return rows
	}
	if c.courses == nil {
		c.courses = map[*entity][]bool{}
	}
	all := slices.Repeat([]bool{true}, g.table.rows())
	c.courses[g] = all // for what chooses the rows
	if rows := ownRows(c, g); slices.Contains(rows, true) {
		c.courses[g] = rows
	}
	return c.courses[g]
}

// ownRows returns the rows of a table that are those of this run; none where it has none of its own. The run of the
// model itself has those of the first experiment that is made from the table. With other experiments it has all rows,
// or if their times do not ascend those of the first experiment that uses some.
func ownRows(c *checker, g *entity) []bool {
	if c.variant != nil {
		if c.variant.group.of(g) {
			return c.variant.group.rows
		}
		return usedRows(c, c.variant.item, c.variant.group, g)
	}
	times := g.table.Data[slices.Index(g.table.Columns, "time")]
	for _, it := range c.experiments {
		if it.From == nil || it.From.Name != g.name {
			continue
		}
		for _, o := range groupsOf(c, it) {
			last := math.Inf(-1)
			for i := range o.rows {
				if o.rows[i] = o.rows[i] && !(times[i] < last); o.rows[i] {
					last = times[i]
				}
			}
			return o.rows
		}
	}
	if slices.IsSorted(times) {
		return nil
	}
	for _, it := range c.experiments {
		for _, o := range groupsOf(c, it) {
			if rows := usedRows(c, it, o, g); slices.Contains(rows, true) {
				return rows
			}
		}
	}
	return nil
}

// groupsOf returns the rows of each experiment that an item makes from a table, and one nil for an experiment that is
// made from none.
func groupsOf(c *checker, it *ast.Experiment) (list []*group) {
	if it.From == nil {
		return []*group{nil}
	}
	g := c.globals[it.From.Name]
	of, by := memberOf(it.By)
	if g == nil || g.kind != dataName || of == nil || of.Name != it.From.Name {
		return nil
	}
	if c.resolve(g); g.table == nil || !g.table.has(by.Name) {
		return nil
	}
	cells, ok := c.cells(g.table, by)
	at := map[string]*group{}
	for i, cell := range cells {
		if !ok {
			break
		}
		if at[cell] == nil {
			at[cell] = &group{from: g.name, is: by.Name + " = " + cell, rows: make([]bool, len(cells))}
			list = append(list, at[cell])
		}
		at[cell].rows[i] = true
	}
	return list
}

// usedRows returns the rows of a table that an experiment chooses by `use`; nil for none.
func usedRows(c *checker, it *ast.Experiment, of *group, g *entity) (rows []bool) {
	for _, x := range it.Items {
		if x.Use == nil || x.Use.Name != g.name {
			continue
		}
		chosen, ok := whereIn(c, of, g.table, x.Where)
		if !ok {
			continue
		}
		if rows == nil {
			rows = make([]bool, len(chosen))
		}
		for i := range chosen {
			rows[i] = rows[i] || chosen[i]
		}
	}
	return rows
}
