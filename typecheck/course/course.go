// Package course has what interp reads of rows of a table, the course in time of a covariate or of an input: which
// values have an element for each row, which rows make the knots, and what measurements read where several rows have
// one time.
package course

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// Pass is what a pass over a file knows of courses.
type Pass struct {
	columns map[model.Expr]*model.Table
	leaps   []*leap
	timed   []timed
}

// timed is a value of interp at the time of the run, of rows of a table, and what it is at any time.
type timed struct {
	v  model.Expr
	at func(q model.Expr) model.Expr
}

// InTime notes that v is the value of interp at q, of rows of a table, if that is the time and values are not all the
// same. at returns it at any time.
func (p *Pass) InTime(v, values, q model.Expr, at func(q model.Expr) model.Expr) {
	now, is := q.(*model.Ref)
	if !is || now.Sym.Kind != model.TimeSymbol {
		return
	}
	if y, known := values.(*model.Const); known && slices.Min(y.Data) == slices.Max(y.Data) {
		return
	}
	p.timed = append(p.timed, timed{v, at})
}

// At returns what courses in time of rows of tables are at q.
func (p *Pass) At(q model.Expr) map[model.Expr]model.Expr {
	all := map[model.Expr]model.Expr{}
	for _, x := range p.timed {
		all[x.v] = x.at(q)
	}
	return all
}

// leap is what interp reads of a table in which several rows have one time. Measurements in these rows read the value
// of their own row, whatever the run has there.
type leap struct {
	from   *model.Table
	value  []model.Expr // that of interp, and what has it with another unit
	own    []float64    // by row: the value, where the run has another one at that time
	other  []bool
	column string
}

// Column notes that v is a column of a table.
func (p *Pass) Column(v model.Expr, of *model.Table) {
	if p.columns == nil {
		p.columns = map[model.Expr]*model.Table{}
	}
	p.columns[v] = of
}

// Follows notes that v has what others have in another form: an element for each row of a table, and as the only one
// the values of interp.
func (p *Pass) Follows(v model.Expr, others ...model.Expr) {
	if len(p.columns) == 0 || terms.IsBad(v) {
		return
	}
	for _, o := range others {
		for _, l := range p.leaps {
			if len(others) == 1 && slices.Contains(l.value, o) {
				l.value = append(l.value, v)
			}
		}
		if of := p.columns[o]; of != nil && len(v.Type().Shape) == 1 && o.Type().Shape.Equal(v.Type().Shape) {
			p.columns[v] = of
			return
		}
	}
}

// Table returns the table for whose rows a value has an element each; nil for none.
func (p *Pass) Table(v model.Expr) (of *model.Table) {
	if len(p.columns) == 0 || terms.IsBad(v) {
		return nil
	}
	model.Walk(func(e model.Expr) bool {
		if t := p.columns[e]; of == nil && t != nil && e.Type().Shape.Equal(v.Type().Shape) {
			of = t
		}
		return of == nil
	}, v)
	return of
}

// every returns the value of row i.
func every(k *model.Const, i int) float64 { return k.Data[min(i, len(k.Data)-1)] }

// Read lists, of some rows, those in which the value is not missing. It returns the first two in which time goes back,
// from 0, or else equal numbers. Left tells that there are values in other rows, and that the times of all ascend, so
// that all could be meant.
func Read(rows []bool, t, y model.Expr) (at []int, back [2]int, left bool) {
	k, fixed := t.(*model.Const)
	v, known := y.(*model.Const)
	ascend, last := fixed && known, math.Inf(-1)
	for i, in := range rows {
		if known && math.IsNaN(every(v, i)) {
			continue
		}
		left = left || !in
		if fixed {
			ascend = ascend && every(k, i) > last
			last = every(k, i)
		}
		if !in {
			continue
		}
		if n := len(at); fixed && n > 0 && every(k, i) < every(k, at[n-1]) {
			return nil, [2]int{at[n-1], i}, false
		}
		at = append(at, i)
	}
	return at, back, left && ascend
}

// Leap notes that v, a value of interp at q of all of t and y, has several values at some times of rows of a table: at
// these, the run has that of the first row, for `next`, or that of the last.
func (p *Pass) Leap(v model.Expr, of *model.Table, rows []bool, t, y, q model.Expr, kind string) {
	now, is := q.(*model.Ref)
	k, fixed := t.(*model.Const)
	own, known := y.(*model.Const)
	if !is || now.Sym.Kind != model.TimeSymbol || !fixed || !known || len(own.Data) == 1 ||
		p.columns[t] != of || len(k.Data) != len(own.Data) {
		return
	}
	l := &leap{
		from: of, value: []model.Expr{v}, own: own.Data, other: make([]bool, len(own.Data)),
		column: fmt.Sprintf("leap %d", len(p.leaps)+1),
	}
	times := of.Data[slices.Index(of.Columns, "time")]
	at, _, _ := Read(rows, t, y)
	for len(at) > 0 {
		n := 1
		for n < len(at) && k.Data[at[n]] == k.Data[at[0]] {
			n++
		}
		run := at[n-1]
		if kind == "next" {
			run = at[0]
		}
		for _, i := range at[:n] {
			if k.Data[i] != times[i] {
				return
			}
			l.other[i] = own.Data[i] != own.Data[run]
		}
		at = at[n:]
	}
	if slices.Contains(l.other, true) {
		p.leaps = append(p.leaps, l)
	}
}

// Mark adds to some rows of a table the values that they read in the place of those of the run: for each leap a column
// that says which rows do, and one of the values.
func (p *Pass) Mark(of, rows *model.Table) *model.Table {
	for _, l := range p.leaps {
		if l.from != of {
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

// OfRows returns v as rows that Mark returned read it.
func (p *Pass) OfRows(c terms.Checker, of, rows *model.Table, v model.Expr) model.Expr {
	for _, l := range p.leaps {
		k := slices.Index(rows.Columns, l.column)
		if l.from != of || k < len(of.Columns) || terms.IsBad(v) {
			continue
		}
		with := map[model.Expr]model.Expr{}
		for _, e := range l.value {
			s := e.Span()
			cell := func(k int, t types.Type) model.Expr {
				return model.Seal(&model.Row{Base: model.NewBase(t, s), Table: rows, Column: k})
			}
			other := cell(k, types.Type{Kind: types.Real, Unit: units.One})
			with[e] = model.Seal(&model.If{
				Base: model.NewBase(e.Type(), s), Cond: terms.Less(c, s, terms.Number(0.5, units.One, s), other),
				Then: cell(k+1, e.Type()), Else: e,
			})
		}
		v = model.ReplaceNodes(v, with)
	}
	return v
}
