package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
)

// courseOf returns the times and the values of a covariate that changes in time, interp(D.time, D.WT, t), where
// experiments are made from D: those of the rows of the experiment, and without one those of the first. Rows without a
// value are left out, and of several at one time the last one counts.
func courseOf(c *checker, args []ast.Arg) (t, y model.Expr, ok bool) {
	const least = 2
	if len(args) < least {
		return nil, nil, false
	}
	of, times := memberOf(args[0].Value)
	from, name := memberOf(args[1].Value)
	if of == nil || from == nil || of.Name != from.Name || times.Name != "time" {
		return nil, nil, false
	}
	g := c.globals[of.Name]
	if g == nil || g.kind != dataName {
		return nil, nil, false
	}
	if c.resolve(g); g.table == nil || !doseItem(c, g.name) {
		return nil, nil, false
	}
	k, rows := slices.Index(g.table.Columns, name.Name), rowsOfOne(c, g)
	if k < 0 || rows == nil {
		return nil, nil, false
	}
	at := slices.Index(g.table.Columns, "time")
	var ts, ys []float64
	for i, x := range g.table.Data[k] {
		when := g.table.Data[at][i]
		switch n := len(ts); {
		case !rows[i] || math.IsNaN(x):
		case n > 0 && ts[n-1] == when:
			ys[n-1] = x
		default:
			ts, ys = append(ts, when), append(ys, x)
		}
	}
	if len(ts) == 0 {
		c.errorf(CodeData, name.Span, "no row of %q that this run has holds a value of %q", g.name, name.Name).
			Relate(g.span, "declared here")
		return bad(args[0].Span), bad(args[1].Span), true
	}
	if len(ts) == 1 { // it does not change
		ts, ys = append(ts, ts[0]+1), append(ys, ys[0])
	}
	vector := func(d []float64, k int, e ast.Expr) model.Expr {
		return model.Seal(&model.Const{
			Base: model.NewBase(types.Type{
				Kind: types.Real, Shape: types.Shape{len(d)}, Unit: g.table.units[k],
			}, e.Pos()),
			Data: d,
		})
	}
	return vector(ts, at, args[0].Value), vector(ys, k, args[1].Value), true
}

// rowsOfOne returns the rows of the experiment of this pass, or of the first one, among those that are made from a
// table; nil where none is.
func rowsOfOne(c *checker, table *entity) []bool {
	if c.variant != nil {
		if g := c.variant.group; g.of(table) {
			return g.rows
		}
		return nil
	}
	for _, it := range c.experiments {
		if it.From == nil || it.From.Name != table.name {
			continue
		}
		if of, by := memberOf(it.By); of != nil && of.Name == table.name && table.table.has(by.Name) {
			cells, ok := c.cells(table.table, by)
			if !ok || len(cells) == 0 {
				return nil
			}
			rows := make([]bool, len(cells))
			at, last := slices.Index(table.table.Columns, "time"), math.Inf(-1)
			for i := range rows {
				if rows[i] = cells[i] == cells[0] && !(table.table.Data[at][i] < last); rows[i] {
					last = table.table.Data[at][i]
				}
			}
			return rows
		}
	}
	return nil
}
