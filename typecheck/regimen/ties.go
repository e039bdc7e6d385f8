package regimen

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// tie is measurements that stand before a record of the same time, and read what was before it.
type tie struct {
	rows   []int // of measurements
	before int   // the row of the record
	set    int   // from 1: another number for each of several at one time
}

// Early is what measurements before a record of their time read: the states that an event kept. There are as many sets
// as the most records at one time have measurements before them.
type Early struct {
	table *Table
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
	kinds := g.table.Records
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
	e := &Early{table: g.table, g: g, set: make([]int, len(g.table.Records.Times))}
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
	g.early = e
}

// Keep makes an event that keeps the states for measurements, in the rows tied, that stand before the row of an event
// of the same time: one of the rows at. Those between two such rows are left out. It returns nil for none.
func Keep(c Checker, t *Table, tied []int, at []bool) *Early {
	times := t.Records.Times
	g := &giver{Checker: c, model: c.Model(), table: t, course: &records.Course{Times: times}}
	e := &Early{table: t, g: g, set: make([]int, len(times))}
	var rows []int
	var when []float64
	for _, i := range tied {
		between := false
		for k := 0; k <= i; k++ { // i itself may be the row of an event, which comes before what is measured there
			between = between || at[k] && times[k] == times[i]
		}
		if between {
			continue
		}
		if e.set[i] = 1; !slices.Contains(when, times[i]) {
			rows, when = append(rows, i), append(when, times[i])
		}
	}
	if len(rows) == 0 {
		return nil
	}
	d := g.elements(rows)
	keep := &model.Event{
		Name: model.OfDoses + t.Name + ".before", Span: t.At, Indices: []*model.Index{d.Index}, Hidden: true,
		Trigger: model.Trigger{Times: []model.Expr{g.given(d, "before", when, g.unitOfTime())}},
		Policy:  policy.Policy{Priority: math.MaxFloat64 / 4},
	}
	g.model.Events = append(g.model.Events, keep)
	e.from, e.kept = []*model.Event{keep}, []map[*model.Symbol]*model.Symbol{{}}
	return e
}

// Reads reports whether a row of a table reads what was before an event of its time.
func (e *Early) Reads(table string, row int) bool { return e.table.Name == table && e.set[row] > 0 }

// column is the name of the column that Mark adds.
const column = "before"

// Mark adds a column to some rows of a table that says which of them are read before a record of their time. It
// returns the rows themselves where there is nothing to say.
func Mark(list []*Early, from, rows *model.Table) *model.Table {
	for _, e := range list {
		if e.table.Table != from {
			continue
		}
		sets := make([]float64, len(rows.Data[0]))
		some := false
		for i := range sets {
			sets[i] = float64(e.set[rows.Row(i)-1])
			some = some || sets[i] > 0
		}
		if !some {
			return rows
		}
		out := *rows
		out.Columns = append(slices.Clone(rows.Columns), column)
		out.Data = append(slices.Clone(rows.Data), sets)
		return &out
	}
	return rows
}

// Read returns v as rows of a table read it: those before a record of their time read what an event kept.
func Read(list []*Early, from, rows *model.Table, v model.Expr) model.Expr {
	k := len(from.Columns)
	if terms.IsBad(v) || k >= len(rows.Columns) || rows.Columns[k] != column {
		return v
	}
	for _, e := range list {
		if e.table.Table != from {
			continue
		}
		sets := model.Seal(&model.Row{
			Base:  model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, v.Span()),
			Table: rows, Column: k,
		})
		read := v
		for set := range e.from {
			cond := e.g.less(terms.Number(float64(set)+0.5, units.One, v.Span()), sets)
			v = e.choose(read, v, cond, set)
		}
	}
	return v
}

// choose returns v with all that changes in a run being what set keeps, where cond holds, and elsewhere another value.
func (e *Early) choose(v, elsewhere, cond model.Expr, set int) model.Expr {
	kept := model.Replace(v, func(r *model.Ref) model.Expr {
		switch r.Sym.Kind {
		case model.AlgSymbol:
			e.g.DataErrorf(v.Span(), "%q is an alg, and what it is between two records of one time is not "+
				"known; a measurement of %q stands before a record of the same time: let its time differ", r.Sym.Name,
				e.table.Name)
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
func (e *Early) keep(s *model.Symbol, set int) *model.Symbol {
	if e.kept[set][s] == nil {
		k := e.g.discrete(fmt.Sprintf("before.%d.%s", set+1, s.Name), s.Type)
		e.kept[set][s] = k
		e.from[set].Body = append(e.from[set].Body, e.g.inRun(e.g.set(k, e.g.ref(s))))
	}
	return e.kept[set][s]
}
