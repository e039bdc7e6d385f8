package typecheck

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/typecheck/regimen"
)

// `experiment subject from D by D.id { … }` is one experiment for each value in the column id, in the order in which
// they first come. It is compared with the rows of D that have the value. In its items a column of D is a covariate:
// the one value that it has in these rows. `at D.time where amt > 0 { depot += D.amt }` is an event with an element for
// each of the rows that are chosen, and D.amt the value in the row.

// trial is one experiment: an item and, if that is made from a table, the rows of one value.
type trial struct {
	item  *ast.Experiment
	name  string
	group *group
}

// group is the rows of a table that hold one value in a column.
type group struct {
	from string // the table
	is   string // what the rows have in common, for messages: "id = 3"
	rows []bool // of all rows of the table
	any  bool   // a column whose values differ has its first one
}

// of reports whether e is the table of the group.
func (g *group) of(e *entity) bool { return g != nil && g.from == e.name }

// among leaves only rows of the group, if they are those of its table.
func (g *group) among(table string, rows []bool) {
	if g != nil && g.from == table {
		for i := range rows {
			rows[i] = rows[i] && i < len(g.rows) && g.rows[i]
		}
	}
}

// trials lists all experiments in the order of the file. The names in the model are resolved.
func (c *checker) trials() []*trial {
	if c.listed != nil {
		return c.listed
	}
	for _, it := range c.experiments {
		if it.From == nil {
			c.listed = append(c.listed, &trial{item: it, name: it.Name.Name})
			continue
		}
		c.listed = append(c.listed, c.trialsFrom(it)...)
	}
	return c.listed
}

// trialsFrom makes the experiments of `experiment e from D by D.id`.
func (c *checker) trialsFrom(it *ast.Experiment) []*trial {
	g := c.globals[it.From.Name]
	if g == nil || g.kind != dataName {
		if g == nil || g.kind != laterName {
			c.errorf(CodeUndefined, it.From.Span, "there is no data table %q", it.From.Name)
		}
		return nil
	}
	c.resolve(g)
	t := g.table
	if t == nil {
		return nil // reported
	}
	of, by := memberOf(it.By)
	if of == nil || of.Name != it.From.Name {
		c.errorf(CodeData, it.By.Pos(), "`by` names the column of %q whose values are the experiments: by %s.%s",
			it.From.Name, it.From.Name, t.anyColumn())
		return nil
	}
	cells, ok := c.cells(t, by)
	if !ok {
		return nil
	}
	var list []*trial
	at := map[string]*trial{}
	names := map[string]bool{}
	for _, o := range c.experiments {
		names[o.Name.Name] = true
	}
	for i, cell := range cells {
		if cell == "" {
			c.errorf(CodeData, it.By.Pos(), "row %d of %q has no %s, so it belongs to no experiment", i+1, t.Name,
				by.Name).Relate(t.Span, "declared here")
			return nil
		}
		o := at[cell]
		if o == nil {
			o = &trial{item: it, name: it.Name.Name + "_" + records.Plain(cell)}
			for base, n := o.name, 2; names[o.name]; n++ {
				o.name = base + "_" + strconv.Itoa(n)
			}
			names[o.name] = true
			o.group = &group{from: t.Name, is: by.Name + " = " + cell, rows: make([]bool, len(cells))}
			at[cell] = o
			list = append(list, o)
		}
		o.group.rows[i] = true
	}
	if doseItem(c, t.Name) {
		return occasions(c, it, t, list, names)
	}
	times := slices.Index(t.Columns, "time")
	for _, x := range it.Items {
		if x.Time == nil || times < 0 || tableOf(c, x.Time) != g {
			continue
		}
		for _, o := range list {
			if why := records.Broken(o.group.rows, slices.Clone(t.Data[times])); why != "" {
				c.errorf(CodeData, it.By.Pos(),
					"%s of %q is not one course in time: %s; give each course a value of its "+
						"own in the column, or sort the rows by time", o.group.is, t.Name, why).Relate(t.Span,
					"declared here")
				return nil
			}
		}
		break
	}
	return list
}

// eventRows is rows of a table at whose times an experiment has an event.
type eventRows struct {
	rows  []bool
	of    *dataTable
	span  source.Span
	exact bool // at these times, not a lag later
}

// tied warns of measurements that stand before a dose of the same time, and are read after it.
func tied(c *checker, passes []*variant) {
	var doses []eventRows
	rows := map[source.Span][]int{}
	for _, v := range passes {
		for _, d := range v.doses {
			if !d.exact {
				continue
			}
			list := records.Tied(v.rows[d.of.Name], d.rows, d.of.Data[slices.Index(d.of.Columns, "time")])
			list = slices.DeleteFunc(list, func(i int) bool {
				return v.readEarly(d.of.Name, i) || d.rows[i] && !holds(c, d.of, i)
			})
			if len(list) > 0 && rows[d.span] == nil {
				doses = append(doses, d)
			}
			rows[d.span] = append(rows[d.span], list...)
		}
	}
	for _, d := range doses {
		moment := "1e-9"
		if u := c.timeUnitKnown(); u.Known() && !u.Plain() {
			moment += " " + bracketed(u)
		}
		c.list.Warnf(CodeData, d.span,
			"measured before an event of the same time, and read after it: %s of %q; to have "+
				"them read before it, let the times of the rows differ, or the event come a moment later: at "+
				"%[2]s.time + %s", records.List(rows[d.span]),
			d.of.Name, moment)
	}
}

// holds reports whether a row has a value of an observation.
func holds(c *checker, t *dataTable, row int) bool {
	return slices.ContainsFunc(c.observes, func(it *ast.Observe) bool {
		of, name := memberOf(it.From)
		k := slices.Index(t.Columns, name.Name)
		return of != nil && of.Name == t.Name && k >= 0 && !math.IsNaN(t.Data[k][row])
	})
}

// readEarly reports whether a row reads what was before an event of its time.
func (v *variant) readEarly(table string, row int) bool {
	return slices.ContainsFunc(v.early, func(e *regimen.Early) bool {
		return e.Reads(table, row)
	})
}

// cells returns a column of numbers or texts as texts. A missing value is "".
func (c *checker) cells(t *dataTable, name ast.Ident) ([]string, bool) {
	if k := t.text(name.Name); k >= 0 {
		cells := slices.Clone(t.texts[k].cells)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		return cells, true
	}
	k := c.column(t, name)
	if k < 0 {
		return nil, false
	}
	cells := make([]string, len(t.Data[k]))
	for i, x := range t.Data[k] {
		if !math.IsNaN(x) {
			cells[i] = strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	return cells, true
}

// covariate elaborates D.column in an item of an experiment that is made from D: the value that the rows have in
// common. A row without a value says nothing.
func (c *checker) covariate(x context, t *dataTable, name ast.Ident) model.Expr {
	g := x.group
	if k := t.text(name.Name); k >= 0 && x.texts() {
		cell, ok := oneOf(c, g, t, name, t.texts[k].cells, func(s string) bool { return s == "" }, strconv.Quote)
		if !ok {
			return bad(name.Span)
		}
		return c.text([]string{cell}, nil, name.Span)
	}
	k := c.column(t, name)
	if k < 0 {
		return bad(name.Span)
	}
	v, ok := oneOf(c, g, t, name, t.Data[k], math.IsNaN, func(v float64) string { return fmt.Sprintf("%g", v) })
	if !ok {
		return bad(name.Span)
	}
	return c.given(x, t, k, nil, []float64{v}, name.Span)
}

// oneOf returns what the rows of a group have in common in a column, or reports that they do not.
func oneOf[T comparable](c *checker, g *group, t *dataTable, name ast.Ident, column []T, missing func(T) bool,
	text func(T) string,
) (value T, ok bool) {
	first := -1
	for i, v := range column {
		switch {
		case i >= len(g.rows) || !g.rows[i] || missing(v):
		case first < 0:
			first, value = i, v
		case v != value && !g.any:
			c.errorf(CodeData, name.Span, "%q of %q changes within %s: it is %s in row %d and %s in row %d; what "+
				"changes in time is read at the times of the rows: at %s.time { … }",
				name.Name, t.Name, g.is, text(value), first+1,
				text(v), i+1, t.Name).Relate(t.Span, "declared here")
			return value, false
		}
	}
	if first < 0 {
		c.errorf(CodeData, name.Span, "%sno row of %q with %s has a value of %q", inFile(c, t), t.Name, g.is,
			name.Name).Relate(t.Span, "declared here")
	}
	return value, first >= 0
}

// given returns values of column k of t. Where a run reads them, they are those of a param that no user knows of: what
// reads them is then the same for all experiments, and is compiled once.
func (c *checker) given(x context, t *dataTable, k int, shape types.Shape, values []float64, s source.Span) model.Expr {
	typ := types.Type{Kind: types.Real, Shape: shape, Unit: t.units[k]}
	return literals(c, x, t.Name+"."+t.Columns[k], typ, values, t.Span, s)
}

// literals returns numbers of a table, by a name for those who read the model.
func literals(c *checker, x context, name string, typ types.Type, values []float64, declared,
	s source.Span,
) model.Expr {
	value := model.Expr(model.Seal(&model.Const{Base: model.NewBase(typ, s), Data: values}))
	if c.variant == nil || c.variant.alone || x.place != placeEvent && !ofDose(x.place) {
		return value
	}
	for c.globals[name] != nil || slices.ContainsFunc(c.model.Params,
		func(p *model.Symbol) bool { return p.Name == name }) {
		name += "'"
	}
	sym := &model.Symbol{
		Name: name, Kind: model.ParamSymbol, Type: typ, Span: declared, Value: value, Literal: true,
		Lo: math.Inf(-1), Hi: math.Inf(1), Still: ofDose(x.place),
	}
	c.model.Params = append(c.model.Params, sym)
	return model.Seal(&model.Ref{Base: model.NewBase(typ, s), Sym: sym})
}

// dose is what an event with an element for each row of a table reads of it.
type dose struct {
	*regimen.Rows
	from   *dataTable
	chosen bool // some rows were left out by `where`
}

// inRow elaborates D.column in an event with an element for each row of D.
func (c *checker) inRow(x context, k int, s source.Span) model.Expr {
	d := x.dose
	whole, known := d.Read[k]
	if !known || x.place != placeEvent && !ofDose(x.place) {
		values := make([]float64, len(d.List))
		for i, r := range d.List {
			if values[i] = d.from.Data[k][r]; math.IsNaN(values[i]) {
				said := c.errorf(CodeData, s, "%srow %d of %q has no %s", inFile(c, d.from), r+1, d.from.Name,
					d.from.Columns[k]).Relate(d.from.Span, "declared here")
				if !d.chosen {
					said.Message += fmt.Sprintf("; choose rows that have one: at %s.time where %s > 0 { … }",
						d.from.Name, d.from.Columns[k])
				}
				return bad(s)
			}
		}
		whole = c.given(x, d.from, k, types.Shape{len(values)}, values, s)
		if x.place == placeEvent || ofDose(x.place) {
			d.Read[k] = whole
		}
	}
	t := whole.Type()
	t.Shape = nil
	at := d.Position(writer{c}, d.from.Span)
	return model.Seal(&model.Access{Base: model.NewBase(t, s), X: whole, Subs: []model.Sub{{At: at}}})
}

// tableOf returns the table that an expression reads; nil for none.
func tableOf(c *checker, e ast.Expr) (from *entity) {
	ast.Inspect(e, func(n ast.Node) bool {
		if m, ok := n.(*ast.Member); ok && from == nil {
			if n, ok := strip(m.X).(*ast.Name); ok && c.globals[n.Name] != nil && c.globals[n.Name].kind == dataName {
				from = c.globals[n.Name]
			}
		}
		return true
	})
	return from
}

// experimentEvent prepares an event of an experiment. With `where`, and if the experiment is made from the table whose
// column its time reads, it has an element for each row that is chosen. It reports false for an event without rows,
// and after an error.
func (c *checker) experimentEvent(x context, e *model.Event, it *ast.ExpItem) (context, bool) {
	x.group = c.variant.group
	from := tableOf(c, it.Time)
	switch {
	case from == nil && it.Where != nil:
		c.errorf(CodeData, it.Where.Pos(), "`where` chooses rows of the table whose times these are: at D.time where "+
			"… { … }")
		return x, false
	case from == nil || it.Where == nil && !x.group.of(from):
		return x, true
	}
	c.resolve(from)
	if from.table == nil {
		return x, false
	}
	chosen, ok := c.where(from.table, it.Where)
	if !ok {
		return x, false
	}
	x.group.among(from.name, chosen)
	of, at := memberOf(it.Time)
	exact := of != nil && at.Name == "time" && x.group.of(from)
	c.variant.doses = append(c.variant.doses, eventRows{chosen, from.table, it.Time.Pos(), exact})
	d := &dose{Rows: &regimen.Rows{Read: map[int]model.Expr{}}, from: from.table, chosen: it.Where != nil}
	for i, in := range chosen {
		if in && (from.table.added == nil || !from.table.added[i]) {
			d.List = append(d.List, i)
		}
	}
	if len(d.List) == 0 {
		return x, false
	}
	d.Index = &model.Index{Name: "row", Lo: 1, Step: 1, Count: len(d.List), Span: it.Span}
	e.Indices = append(e.Indices, d.Index)
	x.dose = d
	return x, true
}
