package typecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/course"
	"odes.dev/odes/typecheck/regimen"
)

// Rows of a table are records of doses by `doses D { … }`. This reads the item; package regimen makes the events.

// placeDose is what `lag`, `f`, `dur` and `rate` may read.
var placeDose = &place{
	name: "a dose", knows: "consts, params and columns of the table of the doses", allow: model.UsesParam,
}

// dosesOfPass is what a pass over the file knows of doses.
type dosesOfPass struct {
	doses []*ast.Doses
	dosed []*doseTable     // the tables whose rows are records
	early []*regimen.Early // what measurements before a record of their time read

	course  course.Pass
	courses map[*entity][]bool // by table: the rows that interp reads
}

// doseTable is a table whose rows are records.
type doseTable struct {
	*regimen.Table
	item *ast.Doses
	from *dataTable
}

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
		t := &doseTable{item: it, from: g.table, Table: &regimen.Table{
			Table: g.table.Table, In: inFile(c, g.table), At: it.Table.Span, Units: map[string]units.Unit{},
			Records: &records.Table{
				Times: g.table.Data[slices.Index(g.table.Columns, "time")], Columns: map[string][]float64{},
			},
		}}
		if doseColumns(c, t) && doseLines(c, t) {
			c.dosed = append(c.dosed, t)
			givenToNone(c, t)
		}
	}
}

// givenToNone reports doses that no experiment has, since none is made from their table or uses it.
func givenToNone(c *checker, t *doseTable) {
	if use := regimen.Unused(c.experiments, t.from.Name, t.from.columns()); use != "" && c.variant == nil &&
		!c.lost["experiment"] {
		c.errorf(CodeData, t.item.Table.Span, "no experiment uses table %q, so its doses would not be given; write "+
			"`%s` in the experiments that have them", t.from.Name, use).Relate(t.from.Span, "declared here")
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
		if !slices.Contains(records.Columns, key) || lines && slices.Contains(regimen.Words, it.Key.Name) {
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
		t.Records.Columns[name], t.Units[name] = t.from.Data[k], t.from.units[k]
		if name == records.Period || name == records.Length {
			ok = doseTimes(c, t, name, t.from.Columns[k]) && ok
		}
		if t.from.times != nil && t.Unclocked(name) {
			c.list.Warnf(CodeUnit, t.item.Table.Span, regimen.OtherClock, t.from.Columns[k], t.from.Name,
				bracketed(c.model.Time.Type.Unit), bracketed(t.from.timeUnit))
		}
	}
	if t.Records.Columns[records.Amount] == nil && ok {
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
	u := t.Units[name]
	if c.model.Time == nil || !u.Known() || u.Same(c.model.Time.Type.Unit) {
		return true
	}
	to := c.model.Time.Type.Unit
	if !u.SameDimension(to) {
		c.unitErrorf(t.item.Table.Span, "column %q of %q has unit %s, the time of the model %s", column, t.from.Name,
			bracketed(u), bracketed(to))
		return c.unitMode == "off" || c.unitMode == "warn"
	}
	t.Convert(name, to)
	return true
}

// doseLines reads the states that take doses, and what is said of these.
func doseLines(c *checker, t *doseTable) bool {
	ok := true
	var line *regimen.Line
	for _, it := range t.item.Items {
		if it.Target == nil {
			key := it.Key.Name
			switch {
			case line != nil && slices.Contains(regimen.Words, key):
				if line.Says[key] != nil {
					c.errorf(CodeDuplicate, it.Key.Span, "`%s` of %q is given twice", key, line.Target.Name.Name)
					ok = false
				}
				line.Says[key] = it.Value
			case slices.Contains(records.Columns, strings.ToUpper(key)):
			case line == nil && slices.Contains(regimen.Words, key):
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
		line = &regimen.Line{Target: it.Target, Says: map[string]ast.Expr{}}
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
			line.Sym, line.Unit = g.sym, g.sym.Type.Unit
		}
		subs, out, good := c.target(context{place: placeDose}, it.Target, line.Sym.Type.Shape)
		if !good {
			ok = false
			continue
		}
		if len(out) > 0 {
			c.errorf(CodeShape, it.Target.Span, "%q has shape %s; a dose goes into one element: %[1]s[1]", name.Name,
				line.Sym.Type.Shape)
			ok = false
			continue
		}
		if line.Subs = subs; c.massOf[line.Sym] != nil {
			c.errorf(CodeTarget, name.Span, "%q has a mass matrix, and takes no doses", name.Name)
			ok = false
			continue
		}
		rows, good := c.where(t.from, it.Where)
		if ok = ok && good; good {
			line.Rows = rows
			t.Lines = append(t.Lines, line)
		}
	}
	if ok && len(t.Lines) == 0 {
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
		pieces, why := t.Records.Occasions(o.group.rows, len(c.randoms) > 0)
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
	rows := slices.Clone(from.added)
	if t := doseOf(c, from); rows == nil && t != nil {
		rows = t.Records.Measured()
	}
	if rows == nil {
		return chosen
	}
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
		if !slices.Contains(rows, true) || c.list.HasErrors() || c.model.Time == nil {
			continue
		}
		pieces, why := t.Records.Occasions(rows, false)
		if len(pieces) > 1 {
			why = "a record with EVID 3 or 4 begins another occasion, whose clock starts anew"
		}
		if why != "" {
			c.errorf(CodeData, t.At, "the rows of %q that are used are not one course in time: %s; make "+
				"an experiment of each subject: experiment subject from %[1]s by %[1]s.%[3]s", t.Name, why,
				t.from.anyColumn()).Relate(t.Span, "declared here")
			continue
		}
		t.Occasions = c.occasions
		if e := regimen.Give(giver{writer{c}, t.from, t.At}, t.Table, rows); e != nil {
			c.early = append(c.early, e)
		}
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
