package typecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Rows of a table are records of doses by `doses D { … }`. What an experiment uses of D becomes events at known times:
//
//   - a bolus adds F·AMT to its state at TIME + lag, and II later for each of ADDL;
//   - an infusion adds its rate, at its start, to a hidden discrete that is part of the rate of its state, and takes it
//     away at its end. Both times may depend on params, by the lag, F, the rate and the duration;
//   - a reset (EVID 3 and 4) sets the states back to what they began with, and what infuses to 0. It begins another
//     life; a dose of a life that is over gives nothing, however late it would come;
//   - before a record that stands behind a measurement of the same time, an event keeps the states, for the measurement
//     to read.
//
// Where the order of rows matters, it is that of priorities. So all that runs, repeats and differentiates events knows
// of doses.

// placeDose is what `lag`, `f`, `dur` and `rate` may read.
var placeDose = &place{
	name: "a dose", knows: "consts, params and columns of the table of the doses", allow: model.UsesParam,
}

// lateDoses is the priority of what comes later than its record: a lag, ADDL, the end of an infusion.
const lateDoses = 1e9

// dosesOfPass is what a pass over the file knows of doses.
type dosesOfPass struct {
	doses []*ast.Doses
	dosed []*doseTable // the tables whose rows are records
	early []*early     // what measurements before a record of their time read
}

// doseTable is a table whose rows are records.
type doseTable struct {
	item    *ast.Doses
	from    *dataTable
	records *records.Table
	units   map[string]units.Unit // of the columns of records
	lines   []*doseLine
}

// doseLine is a state that takes doses.
type doseLine struct {
	target *ast.LValue
	sym    *model.Symbol
	subs   []model.Sub
	unit   units.Unit
	rows   []bool
	says   map[string]ast.Expr // lag, f, dur, rate
}

// Names of what is said of a dose.
const (
	doseLag    = "lag"
	doseF      = "f"
	doseLength = "dur"
	doseRate   = "rate"
)

var doseWords = []string{doseLag, doseF, doseLength, doseRate}

// dosesIn lists the `doses` items of a file.
func dosesIn(f *ast.File) (list []*ast.Doses) {
	for _, item := range f.Items {
		if it, is := item.(*ast.Doses); is {
			list = append(list, it)
		}
	}
	return list
}

// doseOf returns how the rows of a table are doses; nil where they are none.
func doseOf(c *checker, from *dataTable) *doseTable {
	for _, t := range c.dosed {
		if t.from == from {
			return t
		}
	}
	return nil
}

// readDoses reads the `doses` items.
func readDoses(c *checker) {
	for _, it := range c.doses {
		g := c.globals[it.Table.Name]
		if g == nil || g.kind != dataName {
			if g == nil || g.kind != laterName {
				c.errorf(CodeUndefined, it.Table.Span, "there is no data table %q; `doses` names the table whose rows "+
					"are doses: doses D { gut }", it.Table.Name)
			}
			continue
		}
		c.resolve(g)
		if g.table == nil {
			continue
		}
		if old := doseOf(c, g.table); old != nil {
			c.errorf(CodeDuplicate, it.Table.Span, "the doses of %q are given twice; put all states into one `doses`",
				g.name).Relate(old.item.Table.Span, "first here")
			continue
		}
		t := &doseTable{item: it, from: g.table, units: map[string]units.Unit{}}
		t.records = &records.Table{
			Times: g.table.Data[slices.Index(g.table.Columns, "time")], Columns: map[string][]float64{},
		}
		if doseColumns(c, t) && doseLines(c, t) {
			c.dosed = append(c.dosed, t)
		}
	}
}

// doseColumns finds the columns of records: those of these names, or those that the item names.
func doseColumns(c *checker, t *doseTable) bool {
	ok, said := true, map[string]int{}
	lines := false
	for _, it := range t.item.Items {
		if lines = lines || it.Target != nil; it.Key == nil {
			continue
		}
		key := strings.ToUpper(it.Key.Name)
		if !slices.Contains(records.Columns, key) || lines && slices.Contains(doseWords, it.Key.Name) {
			continue
		}
		of, name := memberOf(it.Value)
		if of == nil || of.Name != t.from.Name {
			c.errorf(CodeData, it.Value.Pos(), "`%s` names the column of %q that it is: %[1]s = %[2]s.%[3]s",
				it.Key.Name, t.from.Name, t.from.anyColumn())
			ok = false
			continue
		}
		k := c.column(t.from, name)
		if said[key] = k; k < 0 {
			ok = false
		}
	}
	for _, name := range records.Columns {
		k, is := said[name]
		if !is {
			k = slices.IndexFunc(t.from.Columns, func(s string) bool { return strings.EqualFold(s, name) })
			if k < 0 && t.from.textNamed(name) != "" {
				c.column(t.from, ast.Ident{At: ast.At{Span: t.item.Table.Span}, Name: t.from.textNamed(name)})
				ok = false
			}
		}
		if k < 0 {
			continue
		}
		t.records.Columns[name], t.units[name] = t.from.Data[k], t.from.units[k]
		if name == records.Period || name == records.Length {
			ok = doseTimes(c, t, name, t.from.Columns[k]) && ok
		}
	}
	if t.records.Columns[records.Amount] == nil && ok {
		c.errorf(CodeData, t.item.Table.Span, "table %q has no column AMT, so it has no doses; if the amounts have "+
			"another name, write: doses %s { amt = %[2]s.%[3]s  … }; it has %[4]s", t.from.Name, t.from.Name,
			t.from.anyColumn(), t.from.names()).Relate(t.from.Span, "declared here")
		return false
	}
	return ok
}

// textNamed returns the name of the column of texts that is called so, but for case; "" for none.
func (t *dataTable) textNamed(name string) string {
	for _, col := range t.texts {
		if strings.EqualFold(col.name, name) {
			return col.name
		}
	}
	return ""
}

// doseTimes converts a column of records to the unit of the time of the model.
func doseTimes(c *checker, t *doseTable, name, column string) bool {
	u := t.units[name]
	if c.model.Time == nil || !u.Known() || u.Same(c.model.Time.Type.Unit) {
		return true
	}
	to := c.model.Time.Type.Unit
	if !u.SameDimension(to) {
		c.unitErrorf(t.item.Table.Span, "column %q of %q has unit %s, the time of the model %s", column, t.from.Name,
			bracketed(u), bracketed(to))
		return c.unitMode == "off" || c.unitMode == "warn"
	}
	factor := units.Factor(u, to)
	list := slices.Clone(t.records.Columns[name])
	for i := range list {
		list[i] = float64(list[i] * factor)
	}
	t.records.Columns[name], t.units[name] = list, to
	return true
}

// doseLines reads the states that take doses, and what is said of these.
func doseLines(c *checker, t *doseTable) bool {
	ok := true
	var line *doseLine
	for _, it := range t.item.Items {
		if it.Target == nil {
			key := it.Key.Name
			switch {
			case line != nil && slices.Contains(doseWords, key):
				if line.says[key] != nil {
					c.errorf(CodeDuplicate, it.Key.Span, "`%s` of %q is given twice", key, line.target.Name.Name)
					ok = false
				}
				line.says[key] = it.Value
			case slices.Contains(records.Columns, strings.ToUpper(key)):
			case line == nil && slices.Contains(doseWords, key):
				c.errorf(CodeArguments, it.Key.Span, "`%s` stands behind the state that it is about: doses %s { gut "+
					"%[1]s = … }", key, t.from.Name)
				ok = false
			default:
				c.errorf(CodeArguments, it.Key.Span, "doses have no %q; there are lag, f, dur and rate, behind a "+
					"state, and before all states the columns amt, rate, dur, evid, ii, addl, ss and mdv", key)
				ok = false
			}
			continue
		}
		line = &doseLine{target: it.Target, says: map[string]ast.Expr{}}
		name := it.Target.Name
		switch g := c.globals[name.Name]; {
		case g == nil:
			c.undefined(context{place: placeEvent}, name)
			ok = false
			continue
		case g.kind == laterName || g.kind == stateName && g.sym == nil:
			ok = false
			continue
		case g.kind != stateName:
			c.errorf(CodeTarget, name.Span, "%q is %s; doses are given into states", name.Name, g.kind).
				Relate(g.span, "declared here")
			ok = false
			continue
		default:
			line.sym, line.unit = g.sym, g.sym.Type.Unit
		}
		subs, out, good := c.target(context{place: placeDose}, it.Target, line.sym.Type.Shape)
		if !good {
			ok = false
			continue
		}
		if len(out) > 0 {
			c.errorf(CodeShape, it.Target.Span, "%q has shape %s; a dose goes into one element: %[1]s[1]", name.Name,
				line.sym.Type.Shape)
			ok = false
			continue
		}
		if line.subs = subs; c.massOf[line.sym] != nil {
			c.errorf(CodeTarget, name.Span, "%q has a mass matrix, and takes no doses", name.Name)
			ok = false
			continue
		}
		rows, good := c.where(t.from, it.Where)
		if ok = ok && good; good {
			line.rows = rows
			t.lines = append(t.lines, line)
		}
	}
	if ok && len(t.lines) == 0 {
		c.errorf(CodeData, t.item.Table.Span, "the doses of %q go nowhere; name the state that takes them: doses %s "+
			"{ gut }", t.from.Name, t.from.Name)
		return false
	}
	return ok
}

// doseItem reports whether rows of a table are doses.
func doseItem(c *checker, table string) bool {
	return slices.ContainsFunc(c.doses, func(it *ast.Doses) bool { return it.Table.Name == table })
}

// occasions makes an experiment of each occasion of those in list, in whose table rows are doses.
func occasions(c *checker, it *ast.Experiment, from *dataTable, list []*trial, names map[string]bool) (out []*trial) {
	t := doseOf(c, from)
	if t == nil {
		return nil // reported
	}
	for _, o := range list {
		pieces, why := t.records.Occasions(o.group.rows)
		if why != "" {
			c.errorf(CodeData, it.By.Pos(), "%s%s of %q is not one course in time: %s; a new occasion, whose clock "+
				"starts anew, begins with EVID 3 or 4", inFile(c, from), o.group.is, from.Name, why).
				Relate(from.Span, "declared here")
			return nil
		}
		for i, rows := range pieces {
			p := *o
			p.group = &group{from: o.group.from, is: o.group.is, rows: rows}
			if i > 0 {
				p.name = fmt.Sprintf("%s_occasion_%d", o.name, i+1)
				for names[p.name] {
					p.name += "_"
				}
				names[p.name] = true
				p.group.is = fmt.Sprintf("%s in occasion %d", o.group.is, i+1)
			}
			out = append(out, &p)
		}
	}
	return out
}

// ofRecords reports whether an experiment sets a param, which nothing but doses reads, to a column that changes within
// its rows. Each dose then has the value of its record.
func ofRecords(c *checker, it *ast.ExpItem, e *entity) bool {
	g := c.variant.group
	if g == nil || !doseItem(c, g.from) || !changes(c, it.Value, g) {
		return false
	}
	for _, item := range c.file.Items {
		if _, is := item.(*ast.Doses); is {
			continue
		}
		read := false
		ast.Inspect(item, func(n ast.Node) bool {
			name, is := n.(*ast.Name)
			read = read || is && name.Name == e.name
			return !read
		})
		if read {
			return false
		}
	}
	return true
}

// changes reports whether a column that an expression reads has several values in the rows of a group.
func changes(c *checker, v ast.Expr, g *group) (several bool) {
	ast.Inspect(v, func(n ast.Node) bool {
		m, is := n.(*ast.Member)
		if !is {
			return true
		}
		of, name := memberOf(m)
		if of == nil || of.Name != g.from || c.globals[of.Name] == nil {
			return true
		}
		c.resolve(c.globals[of.Name])
		t := c.globals[of.Name].table
		if t == nil {
			return true
		}
		k := slices.Index(t.Columns, name.Name)
		if k < 0 {
			return true
		}
		first := math.NaN()
		for i, x := range t.Data[k] {
			if g.rows[i] && x == x {
				several = several || x != first && first == first
				first = x
			}
		}
		return true
	})
	return several
}

// measured leaves among the chosen rows of a table (nil for all) those that are measurements.
func measured(c *checker, from *dataTable, chosen []bool) []bool {
	t := doseOf(c, from)
	if t == nil {
		return chosen
	}
	rows := t.records.Measured()
	for i := range rows {
		rows[i] = rows[i] && (chosen == nil || chosen[i])
	}
	return rows
}

// recordRows returns the rows of a table whose doses this run has; nil for none.
func recordRows(c *checker, t *doseTable) []bool {
	switch {
	case c.variant != nil && c.variant.group != nil && c.variant.group.from == t.from.Name:
		return c.variant.group.rows
	case c.variant != nil:
		return c.variant.rows[t.from.Name]
	case len(c.experiments) > 0:
		return nil // they are given in experiments
	}
	rows := make([]bool, t.from.rows())
	for i := range rows {
		rows[i] = true
	}
	return rows
}

// giveDoses makes the events of the records that this run has.
func giveDoses(c *checker) {
	for _, t := range c.dosed {
		rows := recordRows(c, t)
		if !slices.Contains(rows, true) || c.list.HasErrors() {
			continue
		}
		pieces, why := t.records.Occasions(rows)
		if len(pieces) > 1 {
			why = "a record with EVID 3 or 4 begins another occasion, whose clock starts anew"
		}
		if why != "" {
			c.errorf(CodeData, t.item.Table.Span, "the rows of %q that are used are not one course in time: %s; make "+
				"an experiment of each subject: experiment subject from %[1]s by %[1]s.%[3]s", t.from.Name, why,
				t.from.anyColumn()).Relate(t.from.Span, "declared here")
			continue
		}
		course, err := t.records.Read(rows)
		if err != nil {
			c.errorf(CodeData, t.item.Table.Span, "%s%q, %s", inFile(c, t.from), t.from.Name, err).
				Relate(t.from.Span, "declared here")
			continue
		}
		if len(course.Doses)+len(course.Resets) == 0 || !doseRows(c, t, course) {
			continue
		}
		g := &giver{checker: c, table: t, course: course, rates: map[*model.Symbol]*model.Symbol{}}
		g.x = context{place: placeDose}
		if c.variant != nil {
			g.x.group = c.variant.group
		}
		g.give()
	}
}

// inFile names the file of a table before what is said of it; "" for a table of the model.
func inFile(c *checker, t *dataTable) string {
	if file := fileOf(c, t); file != "" {
		return file + ", "
	}
	return ""
}

// fileOf names where a table is written.
func fileOf(c *checker, t *dataTable) string {
	if g := c.globals[t.Name]; g != nil && g.data != nil {
		if call, ok := strip(g.data.Value).(*ast.Call); ok && len(call.Args) > 0 {
			if file, ok := strip(call.Args[0].Value).(*ast.String); ok {
				return file.Value
			}
		}
	}
	return ""
}

// doseRows reports records that no state takes, or several without a word about it, or that the run does not reach.
func doseRows(c *checker, t *doseTable, course *records.Course) bool {
	from, ok1 := c.model.From.(*model.Const)
	to, ok2 := c.model.To.(*model.Const)
	fail := func(row int, format string, args ...any) bool {
		c.errorf(CodeData, t.item.Table.Span, "%srow %d of %q: %s", inFile(c, t.from), row+1, t.from.Name,
			fmt.Sprintf(format, args...)).Relate(t.from.Span, "declared here")
		return false
	}
	rows := slices.Clone(course.Resets)
	for _, d := range course.Doses {
		rows = append(rows, d.Row)
	}
	for _, i := range rows {
		if x := course.Times[i]; ok1 && ok2 && !anyBad(from, to) && !(x >= from.Data[0] && x <= to.Data[0]) {
			return fail(i, "a record at %v, outside of the run from %v to %v", x, from.Data[0], to.Data[0])
		}
	}
	for _, d := range course.Doses {
		var takes []*doseLine
		split := true
		for _, l := range t.lines {
			if l.rows[d.Row] {
				takes = append(takes, l)
				split = split && l.says[doseF] != nil
			}
		}
		switch {
		case len(takes) == 0:
			where := ""
			for k, name := range t.from.Columns {
				if strings.EqualFold(name, "CMT") {
					where = fmt.Sprintf(" (%s = %v)", name, t.from.Data[k][d.Row])
				}
			}
			return fail(d.Row, "no state takes this dose%s; say which rows a state takes: gut where CMT == 1", where)
		case len(takes) > 1 && !split:
			return fail(d.Row, "both %s and %s take this dose; say which rows each takes (gut where CMT == 1), or "+
				"what part of it each gets, by `f`", takes[0].target.Name.Name, takes[1].target.Name.Name)
		}
		for _, l := range takes {
			switch {
			case d.Form == records.ModelRate && l.says[doseRate] == nil:
				return fail(d.Row, "RATE is -1, so the model gives the rate of the infusion: %s … rate = R1",
					l.target.Name.Name)
			case d.Form == records.ModelLength && l.says[doseLength] == nil:
				return fail(d.Row, "RATE is -2, so the model gives the duration of the infusion: %s … dur = D1",
					l.target.Name.Name)
			}
		}
	}
	return true
}

// giver makes the events of the records of one course.
type giver struct {
	*checker
	table   *doseTable
	course  *records.Course
	x       context
	ordered bool                            // the order of rows matters
	rates   map[*model.Symbol]*model.Symbol // by state: what infuses into it
	// life is the number of records so far that ended all that was; nil where there are none.
	life  *model.Symbol
	first map[*model.Symbol]*model.Symbol // what states begin with; nil where nothing reads it

	own        map[*model.Event]bool
	steadyOnes []*steadyRecord
	copies     []*model.Symbol // of states
	standing   *model.Symbol   // 1 while the copies are sought; nil without copies
	began      int             // the row of the record whose steady state the run begins with; -1 for none
}

// give makes all events.
func (g *giver) give() {
	ties, steady := g.findTies(), g.steadyRecords()
	g.own, g.began = map[*model.Event]bool{}, -1
	g.ordered = len(g.course.Ends)+len(ties)+len(steady) > 0
	if len(g.course.Ends)+len(steady) > 0 {
		g.life = g.discrete("life", types.Type{Kind: types.Real, Unit: units.One})
	}
	period, _ := g.commonPeriod(steady)
	g.steady(steady)
	for _, l := range g.table.lines {
		for form := range records.Forms {
			g.line(l, form)
		}
	}
	g.resets()
	if g.began < 0 {
		for _, r := range g.steadyOnes {
			g.steadyArrives(r)
		}
	}
	g.keepTies(ties)
	for i, s := range g.model.Differential() {
		if r := g.rates[s]; r != nil && !isBad(g.model.Rates[i]) {
			g.model.Rates[i] = g.op("+", g.model.Rates[i], g.ref(r))
		}
	}
	g.copyRates(period)
}

// at is where messages about the doses point.
func (g *giver) at() source.Span { return g.table.item.Table.Span }

// discrete declares a hidden discrete that begins at 0.
func (g *giver) discrete(name string, t types.Type) *model.Symbol {
	t.Kind = types.Real
	var zeros model.Expr = number(0, t.Unit, g.at())
	if len(t.Shape) > 0 {
		zeros = model.Seal(&model.Const{Base: model.NewBase(t, g.at()), Data: []float64{0}})
	}
	s := &model.Symbol{
		Name: g.table.from.Name + "." + name, Kind: model.DiscreteSymbol, Type: t, Span: g.at(), Literal: true,
		Hidden: true, Value: zeros,
	}
	g.model.Discretes = append(g.model.Discretes, s)
	return s
}

// op applies an operator, whose units are known to fit.
func (g *giver) op(name string, a, b model.Expr) model.Expr {
	return g.quietly(func() model.Expr { return g.apply(stdlib.Operator(name), g.at(), a, b) })
}

func (g *giver) less(a, b model.Expr) model.Expr {
	return g.quietly(func() model.Expr { return g.elementwise(stdlib.Operator("<"), g.at(), types.Bool, a, b) })
}

// choose is `if cond then a else b`.
func (g *giver) choose(cond, a, b model.Expr) model.Expr {
	t := a.Type()
	t.Kind = types.Real
	return model.Seal(&model.If{Base: model.NewBase(t, g.at()), Cond: cond, Then: a, Else: b})
}

func (g *giver) ref(s *model.Symbol) model.Expr {
	return model.Seal(&model.Ref{Base: model.NewBase(s.Type, g.at()), Sym: s})
}

// given returns the element of an event of a vector of numbers.
func (g *giver) given(d *dose, name string, values []float64, u units.Unit) model.Expr {
	t := types.Type{Kind: types.Real, Shape: types.Shape{len(values)}, Unit: u}
	whole := literals(g.checker, g.x, g.table.from.Name+"."+name, t, values, g.table.from.Span, g.at())
	t.Shape = nil
	return model.Seal(&model.Access{
		Base: model.NewBase(t, g.at()), X: whole, Subs: []model.Sub{{At: rowOf(g.checker, d)}},
	})
}

// unitOfTime is the unit of the time.
func (g *giver) unitOfTime() units.Unit {
	if g.model.Time == nil {
		return units.Unit{}
	}
	return g.model.Time.Type.Unit
}

// rank is the priority of what happens at the time of its record, in row i.
func (g *giver) rank(i int) float64 { return 1 + float64(g.course.Last-i) }

// event adds a hidden event with an element for each of times.
func (g *giver) event(name string, d *dose, times model.Expr, rank model.Expr, body []*model.Assign) {
	e := &model.Event{
		Name: model.OfDoses + g.table.from.Name + "." + name, Span: g.at(), Indices: []*model.Index{d.index},
		Times: []model.Expr{times}, Priority: 1, Body: body,
	}
	for n := 2; slices.ContainsFunc(g.model.Events, func(o *model.Event) bool { return o.Name == e.Name }); n++ {
		e.Name = fmt.Sprintf(model.OfDoses+"%s.%s.%d", g.table.from.Name, name, n)
	}
	if g.ordered {
		e.Rank = rank
	}
	if !isBad(times) && !slices.ContainsFunc(body, func(a *model.Assign) bool { return isBad(a.Value) }) {
		g.model.Events = append(g.model.Events, e)
		g.own[e] = true
	}
}

// elements makes the dose of an event with an element for each row.
func (g *giver) elements(rows []int) *dose {
	d := &dose{from: g.table.from, chosen: true, read: map[int]model.Expr{}, rows: rows}
	d.index = &model.Index{Name: "row", Lo: 1, Step: 1, Count: len(rows), Span: g.at()}
	return d
}

// said elaborates what a line says of its doses. It returns nil where it says nothing.
func (g *giver) said(l *doseLine, d *dose, word string) model.Expr {
	e := l.says[word]
	if e == nil {
		return nil
	}
	x := g.x
	x.dose = d
	if g.variant != nil {
		for _, name := range sortedKeys(g.variant.overrides) {
			it := g.variant.overrides[name]
			p := g.globals[name]
			if p == nil || p.kind != paramName || p.sym == nil || !ofRecords(g.checker, it, p) {
				continue
			}
			own := g.x
			own.dose = d
			v := g.expr(own.with(name, g.ref(p.sym), it.Name.Span), it.Value)
			if !isBad(v) {
				v = retype(v, types.Type{Kind: types.Real, Shape: v.Type().Shape, Unit: p.sym.Type.Unit})
			}
			x = x.with(name, v, it.Name.Span)
		}
	}
	v := g.expr(x, e)
	what := "the " + word + " of doses into " + l.target.Name.Name
	if isBad(v) || !g.numeric(v, word, v.Span()) {
		return bad(e.Pos())
	}
	if s := v.Type().Shape; len(s) > 0 {
		g.errorf(CodeShape, e.Pos(), "%s is a single number, and this has shape %s", what, s)
		return bad(e.Pos())
	}
	switch {
	case bare(v):
	case word == doseF:
		g.expectUnit(what, v, units.One, source.Span{})
	case word == doseRate:
		g.expectUnit(what, v, l.unit.Div(g.unitOfTime()), l.sym.Span)
	default:
		g.timeUnit(what, v)
	}
	u := map[string]units.Unit{
		doseF: units.One, doseRate: l.unit.Div(g.unitOfTime()), doseLag: g.unitOfTime(), doseLength: g.unitOfTime(),
	}[word]
	t := v.Type()
	t.Unit = u
	v = retype(v, t)
	zero := number(0, u, e.Pos())
	cond, bound := g.less(zero, v), "positive"
	if word == doseLag || word == doseF {
		cond, bound = g.pushNot(g.less(v, zero), true), "not negative"
	}
	g.demandOf(d, cond, fmt.Sprintf("%s must be %s", what, bound))
	return v
}

// demandOf asserts a condition for all elements of an event.
func (g *giver) demandOf(d *dose, cond model.Expr, text string) {
	if isBad(cond) {
		return
	}
	if k, is := cond.(*model.Const); is && k.Data[0] != 0 {
		return
	}
	if slices.ContainsFunc(g.model.Asserts, func(a *model.Assert) bool {
		return a.Implied && a.Text == text && len(model.Free(cond)) == 0
	}) {
		return
	}
	if len(model.Free(cond)) > 0 {
		cond = model.Seal(&model.Assemble{
			Base: model.NewBase(types.Type{Kind: types.Bool, Shape: types.Shape{d.index.Count}}, g.at()),
			Pieces: []model.Piece{{
				Indices: []*model.Index{d.index}, Subs: []model.Sub{{At: g.position(d.index)}}, Value: cond,
				Span: g.at(),
			}},
		})
	}
	g.model.Asserts = append(g.model.Asserts, &model.Assert{Cond: cond, Span: g.at(), Implied: true, Text: text})
}

// line makes the events of the doses of one form that a state takes.
func (g *giver) line(l *doseLine, form records.Form) {
	last := lateDoses
	if to, ok := g.model.To.(*model.Const); ok && !isBad(to) {
		last = to.Data[0]
	}
	var rows []int
	var times, amounts, flows, ranks, lives []float64
	for _, o := range g.course.Doses {
		if o.Form != form || !l.rows[o.Row] || o.Constant() {
			continue
		}
		for k := range o.More + 1 {
			at := o.Time + float64(float64(k)*o.Period)
			if at > last {
				break
			}
			if len(rows) == mostElements {
				g.errorf(CodeSize, g.at(), "row %d of %q: ADDL gives more than %d doses", o.Row+1, g.table.from.Name,
					mostElements)
				return
			}
			rank := g.rank(o.Row)
			if k > 0 {
				rank = lateDoses
			}
			rows, times, ranks = append(rows, o.Row), append(times, at), append(ranks, rank)
			amounts, lives = append(amounts, o.Amount), append(lives, float64(o.Life)+0.5)
			flows = append(flows, max(o.Rate, o.Length))
		}
	}
	if len(rows) == 0 {
		return
	}
	d := g.elements(rows)
	when := g.given(d, "at", times, g.unitOfTime())
	rank := g.given(d, "order", ranks, units.One)
	if lag := g.said(l, d, doseLag); lag != nil {
		when = g.op("+", when, lag)
		late := number(lateDoses, units.One, g.at())
		rank = g.choose(g.less(number(0, g.unitOfTime(), g.at()), lag), late, rank)
	}
	amount := g.amount(l, d, amounts)
	gate := func(v model.Expr) model.Expr {
		if g.life == nil || isBad(v) {
			return v
		}
		alive := g.less(g.ref(g.life), g.given(d, "life", lives, units.One))
		return g.choose(alive, v, number(0, v.Type().Unit, g.at()))
	}
	name := l.target.Span.Text()
	if form == records.Bolus {
		g.event(name, d, when, rank, []*model.Assign{g.add(l.sym, l.subs, "+", gate(amount))})
		return
	}
	flow, length := g.flow(l, d, form, amount, flows)
	infuses := g.infuses(l.sym)
	g.event(name+".on", d, when, rank, []*model.Assign{g.add(infuses, l.subs, "+", gate(flow))})
	g.event(name+".off", d, g.op("+", when, length), number(lateDoses, units.One, g.at()),
		[]*model.Assign{g.add(infuses, l.subs, "-", gate(flow))})
}

// amount is F·AMT of the elements of an event.
func (g *giver) amount(l *doseLine, d *dose, amounts []float64) model.Expr {
	u := g.table.units[records.Amount]
	if u.Known() && !u.Same(l.unit) && !u.Plain() {
		g.unitErrorf(g.at(), "AMT of %q has unit %s, and %s has %s", g.table.from.Name, bracketed(u),
			l.target.Name.Name, bracketed(l.unit)).Relate(l.sym.Span, "declared here")
	}
	amount := g.given(d, "amount", amounts, l.unit)
	if f := g.said(l, d, doseF); f != nil {
		amount = g.op("*", f, amount)
	}
	return amount
}

// flow returns the rate of infusions and how long they last.
func (g *giver) flow(l *doseLine, d *dose, form records.Form, amount model.Expr, given []float64) (flow,
	length model.Expr,
) {
	u := l.unit.Div(g.unitOfTime())
	switch form {
	case records.WithRate:
		its := g.table.units[records.Rate]
		if its.Known() && !its.Same(u) && !its.Plain() {
			g.unitErrorf(g.at(), "RATE of %q has unit %s, and the rate of %s has %s", g.table.from.Name, bracketed(its),
				l.target.Name.Name, bracketed(u)).Relate(l.sym.Span, "declared here")
		}
		flow = g.given(d, "rate", given, u)
		return flow, g.op("/", amount, flow)
	case records.WithLength:
		length = g.given(d, "duration", given, g.unitOfTime())
		return g.op("/", amount, length), length
	case records.ModelRate:
		flow = g.said(l, d, doseRate)
		return flow, g.op("/", amount, flow)
	}
	length = g.said(l, d, doseLength)
	return g.op("/", amount, length), length
}

// infuses returns the discrete that is a part of the rate of a state.
func (g *giver) infuses(s *model.Symbol) *model.Symbol {
	r := g.rates[s]
	if r == nil {
		t := s.Type
		t.Unit = t.Unit.Div(g.unitOfTime())
		r = g.discrete("into."+s.Name, t)
		g.rates[s] = r
	}
	return r
}

// add assigns a symbol, or an element of it, plus or minus a value.
func (g *giver) add(s *model.Symbol, subs []model.Sub, sign string, v model.Expr) *model.Assign {
	old := g.ref(s)
	if subs != nil {
		t := s.Type
		t.Shape = nil
		old = model.Seal(&model.Access{Base: model.NewBase(t, g.at()), X: old, Subs: subs})
	}
	return &model.Assign{
		Target: s, Subs: subs, Value: g.op(sign, old, v), Span: g.at(), Old: old, Change: v, Operator: sign,
	}
}

// inRun is an assignment that changes nothing while steady states are sought.
func (g *giver) inRun(a *model.Assign) *model.Assign {
	if len(g.steadyOnes) == 0 {
		return a
	}
	runs := g.less(g.ref(g.life), number(whileSteady/2, units.One, g.at()))
	return g.set(a.Target, g.choose(runs, a.Value, g.ref(a.Target)))
}

// set assigns a value to a symbol.
func (g *giver) set(s *model.Symbol, v model.Expr) *model.Assign {
	return &model.Assign{Target: s, Value: v, Span: g.at()}
}

// resets makes the events of EVID 3 and 4.
func (g *giver) resets() {
	var rows []int
	var times, ranks []float64
	for _, i := range g.course.Resets {
		if i != g.began {
			rows, times, ranks = append(rows, i), append(times, g.course.Times[i]), append(ranks, g.rank(i)+0.5)
		}
	}
	if len(rows) == 0 {
		return
	}
	if g.first == nil {
		begin := &model.Event{
			Name: model.OfDoses + g.table.from.Name + ".begin", Span: g.at(), Hidden: true,
			Times:    []model.Expr{g.model.From},
			Priority: beforeOthers / 2,
		}
		g.keepFirst(begin)
		g.model.Events = append(g.model.Events, begin)
		g.own[begin] = true
	}
	var body []*model.Assign
	set := func(s *model.Symbol, v model.Expr) { body = append(body, g.inRun(g.set(s, v))) }
	for _, s := range g.model.Differential() {
		set(s, g.ref(g.first[s]))
	}
	for _, s := range g.model.Differential() {
		if r := g.rates[s]; r != nil {
			set(r, r.Value)
		}
	}
	set(g.life, g.op("+", g.ref(g.life), number(1, units.One, g.at())))
	d := g.elements(rows)
	g.event("reset", d, g.given(d, "at", times, g.unitOfTime()), g.given(d, "order", ranks, units.One), body)
}
