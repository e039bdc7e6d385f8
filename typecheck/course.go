package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/typecheck/course"
	"odes.dev/odes/typecheck/terms"
)

// interp(D.time, D.WT, t) is the course in time of what rows of a table say. A run reads the rows that are its own:
// those that its experiment is made from, or those of the table that it uses. A table of which it uses none is read
// whole, as an input that all runs have in common.

// courseOf returns the knots and values that interp reads of rows of g: those of this run, without rows in which the
// value is missing. It reports false after an error.
func courseOf(c *checker, e *ast.Call, g *entity, t, y model.Expr) (knots, values model.Expr, ok bool) {
	at, back, left := course.Read(rowsRead(c, g), t, y)
	switch d := g.table.Data[slices.Index(g.table.Columns, "time")]; {
	case back[0] != back[1]:
		c.errorf(CodeData, e.Args[0].Span, "interp reads rows in the order of their times, but row %d of %q%s is at "+
			"%g, after %g in row %d", back[1]+1, g.name, ofGroup(c, g), d[back[1]], d[back[0]], back[0]+1).
			Relate(g.span, "declared here")
	case len(at) == 0:
		c.errorf(CodeData, e.Args[1].Span, "no row of %q%s holds a value that interp could read", g.name,
			ofGroup(c, g)).Relate(g.span, "declared here")
	default:
		if left && c.variant != nil && c.variant.group == nil {
			c.list.Warnf(CodeData, e.Span, "of %q, interp reads the rows that an experiment uses; to have it read all "+
				"rows in all experiments, put them into a table of their own, as a second `data` item", g.name).
				Relate(g.span, "declared here")
		}
		return terms.Among(writer{c}, t, at), terms.Among(writer{c}, y, at), true
	}
	return nil, nil, false
}

// ofGroup says in a message which rows of a table a run has; "" where it has all.
func ofGroup(c *checker, g *entity) string {
	switch {
	case c.variant == nil:
		return ""
	case c.variant.group.of(g):
		return " with " + c.variant.group.is
	}
	return " in experiment " + c.variant.name
}

// rowsRead returns the rows of a table that interp reads in this run.
func rowsRead(c *checker, g *entity) []bool {
	if rows := c.courses[g]; rows != nil {
		return rows
	}
	if c.courses == nil {
		c.courses = map[*entity][]bool{}
	}
	c.courses[g] = slices.Repeat([]bool{true}, g.table.rows()) // for what chooses the rows
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
		if list := groupsOf(c, it); it.From != nil && it.From.Name == g.name && len(list) > 0 {
			rows, last := list[0].rows, math.Inf(-1)
			for i := range rows {
				if rows[i] = rows[i] && !(times[i] < last); rows[i] {
					last = times[i]
				}
			}
			return rows
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
	cells, _ := c.cells(g.table, by)
	at := map[string]*group{}
	for i, cell := range cells {
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
		for i := range chosen {
			chosen[i] = ok && chosen[i] || rows != nil && rows[i]
		}
		rows = chosen
	}
	return rows
}
