package typecheck

import (
	"fmt"
	"slices"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
)

// tie is measurements that stand before a record of the same time, and read what was before it.
type tie struct {
	rows   []int // of measurements
	before int   // the row of the record
	set    int   // from 1: another number for each of several at one time
}

// early is what measurements before a record of their time read: the states that an event kept. There are as many sets
// as the most records at one time have measurements before them.
type early struct {
	table *doseTable
	g     *giver
	set   []int // by row of the table; 0 for none
	kept  []map[*model.Symbol]*model.Symbol
	from  []*model.Event
}

// findTies finds the measurements that stand before a record of their time.
func (g *giver) findTies() (list []*tie) {
	t := g.course
	records := map[int]bool{}
	for _, d := range t.Doses {
		records[d.Row] = true
	}
	for _, i := range slices.Concat(t.Resets, t.Ends) {
		records[i] = true
	}
	kinds := g.table.records
	for i := t.First; i <= t.Last; i++ {
		if kinds.KindOf(i) != measurement {
			continue
		}
		next := i + 1
		for next <= t.Last && !records[next] {
			next++
		}
		if next > t.Last || t.Times[next] != t.Times[i] {
			continue
		}
		if n := len(list); n > 0 && list[n-1].before == next {
			list[n-1].rows = append(list[n-1].rows, i)
			continue
		}
		set := 1
		if n := len(list); n > 0 && t.Times[list[n-1].before] == t.Times[i] {
			set = list[n-1].set + 1
		}
		list = append(list, &tie{rows: []int{i}, before: next, set: set})
	}
	return list
}

const measurement = records.Measurement

// keepTies makes the events that keep states for measurements before a record of their time.
func (g *giver) keepTies(list []*tie) {
	if len(list) == 0 {
		return
	}
	e := &early{table: g.table, g: g, set: make([]int, g.table.from.rows())}
	for _, t := range list {
		for _, i := range t.rows {
			e.set[i] = t.set
		}
	}
	for set := 1; ; set++ {
		var rows []int
		var times, ranks []float64
		for _, t := range list {
			if t.set == set {
				rows, times = append(rows, t.before), append(times, g.course.Times[t.before])
				ranks = append(ranks, g.rank(t.before)+0.75)
			}
		}
		if len(rows) == 0 {
			break
		}
		d := g.elements(rows)
		n := len(g.model.Events)
		g.event(fmt.Sprintf("before.%d", set), d, g.given(d, "at", times, g.unitOfTime()),
			g.given(d, "order", ranks, units.One), nil)
		if len(g.model.Events) == n {
			return
		}
		g.model.Events[n].Hidden = true
		e.from, e.kept = append(e.from, g.model.Events[n]), append(e.kept, map[*model.Symbol]*model.Symbol{})
	}
	g.early = append(g.early, e)
}

// earlyRows adds a column to the rows of a table that says which of them are read before a record of their time. It
// returns the table itself where there is nothing to say.
func earlyRows(c *checker, from *dataTable, t *model.Table) *model.Table {
	for _, e := range c.early {
		if e.table.from != from {
			continue
		}
		sets := make([]float64, len(t.Data[0]))
		some := false
		for i := range sets {
			sets[i] = float64(e.set[t.Row(i)-1])
			some = some || sets[i] > 0
		}
		if !some {
			return t
		}
		out := *t
		out.Columns = append(slices.Clone(t.Columns), "before")
		out.Data = append(slices.Clone(t.Data), sets)
		return &out
	}
	return t
}

// early returns v as the rows of a table read it: those before a record of their time read what an event kept.
func readEarly(c *checker, rows *rowsOf, v model.Expr) model.Expr {
	k := len(rows.from.Columns)
	if isBad(v) || rows.fixed > 0 || k >= len(rows.rows.Columns) || rows.rows.Columns[k] != "before" {
		return v
	}
	for _, e := range c.early {
		if e.table.from != rows.from {
			continue
		}
		column := model.Seal(&model.Row{
			Base:  model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, v.Span()),
			Table: rows.rows, Column: k,
		})
		read := v
		for set := range e.from {
			cond := e.g.less(number(float64(set)+0.5, units.One, v.Span()), column)
			v = e.choose(read, v, cond, set)
		}
	}
	return v
}

// choose returns v with all that changes in a run being what set keeps, where cond holds, and elsewhere another value.
func (e *early) choose(v, elsewhere, cond model.Expr, set int) model.Expr {
	kept := model.Replace(v, func(r *model.Ref) model.Expr {
		switch r.Sym.Kind {
		case model.AlgSymbol:
			e.g.errorf(CodeData, v.Span(), "%q is an alg, and what it is between two records of one time is not "+
				"known; a measurement of %q stands before a record of the same time: let its time differ", r.Sym.Name,
				e.table.from.Name)
		case model.StateSymbol, model.DiscreteSymbol:
			return e.g.ref(e.keep(r.Sym, set))
		}
		return nil
	})
	if kept == v {
		return elsewhere
	}
	t := v.Type()
	t.Kind = types.Real
	return model.Seal(&model.If{Base: model.NewBase(t, v.Span()), Cond: cond, Then: kept, Else: elsewhere})
}

// keep returns the discrete that holds what a symbol was before a record.
func (e *early) keep(s *model.Symbol, set int) *model.Symbol {
	if e.kept[set][s] == nil {
		k := e.g.discrete(fmt.Sprintf("before.%d.%s", set+1, s.Name), s.Type)
		e.kept[set][s] = k
		e.from[set].Body = append(e.from[set].Body, e.g.inRun(e.g.set(k, e.g.ref(s))))
	}
	return e.kept[set][s]
}
