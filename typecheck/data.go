package typecheck

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/data"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/unitexpr"
)

// dataTable is a table with the units of its columns. Columns of texts serve only to choose rows.
type dataTable struct {
	*model.Table
	units []units.Unit
	texts []textColumn
	said  map[string]said // by columns without a unit
	// times and timeUnit are the column `time` as it is written, where that is converted to the time of the model; nil
	// where it is not.
	times    []float64
	timeUnit units.Unit
	// own is the columns as they are written, where the table is observed at other times: in the rows added alone.
	own   [][]float64
	added []bool
}

// written returns column k as it is written: conditions on rows, in which numbers need no units, are about that.
func (t *dataTable) written(k int) ([]float64, units.Unit) {
	if t.times != nil && t.Columns[k] == "time" {
		return t.times, t.timeUnit
	}
	return t.Data[k], t.units[k]
}

// declared returns the table as it is written.
func (t *dataTable) declared() *model.Declared {
	d := &model.Declared{Name: t.Name}
	for k, name := range t.Columns {
		values, unit := t.written(k)
		d.Columns = append(d.Columns, model.DeclaredColumn{Name: name, Unit: unit, Values: values})
	}
	for _, c := range t.texts {
		d.Columns = append(d.Columns, model.DeclaredColumn{Name: c.name, Texts: c.cells})
	}
	return d
}

// textColumn is a column of texts.
type textColumn struct {
	name  string
	cells []string
	why   error // for a column in a file: why it does not hold numbers
}

// said is a unit in round brackets at the end of a heading without another, as in "conc (ng/mL)". It is a part of the
// name: the numbers count in the unit of what they are compared with.
type said struct {
	heading, text string
	unit          units.Unit
}

// say keeps what the heading of a column says in round brackets.
func (t *dataTable) say(c *checker, column, heading, unit string, at source.Span) {
	if text, u := unitexpr.Round(heading, c.isUnit); unit == "" && u != nil {
		if t.said == nil {
			t.said = map[string]said{}
		}
		t.said[column] = said{heading, text, c.unit(unitexpr.Move(u, at))}
	}
}

// counts warns where a heading says another unit than that in which its numbers count.
func (t *dataTable) counts(c *checker, column string, in units.Unit, at source.Span) {
	s, ok := t.said[column]
	if ok && c.variant == nil && c.unitMode != "off" && in.Known() && s.unit.SameDimension(in) && !s.unit.Same(in) {
		c.list.Warnf(CodeUnit, at, "the numbers under %q count in %s, though the heading says (%s): only square "+
			"brackets give a unit; write csv(\"…\", %s = \"%s [%s]\")", s.heading, bracketed(in), s.text, column,
			s.heading, s.text)
	}
}

// text returns the position of a column of texts, or -1.
func (t *dataTable) text(name string) int {
	return slices.IndexFunc(t.texts, func(col textColumn) bool { return col.name == name })
}

// rows returns the number of rows.
func (t *dataTable) rows() int { return len(t.Data[slices.Index(t.Columns, "time")]) }

// anyColumn names a column for an example, a column of texts if there is one.
func (t *dataTable) anyColumn() string {
	if len(t.texts) > 0 {
		return t.texts[0].name
	}
	return t.Columns[0]
}

func (t *dataTable) has(name string) bool {
	return slices.Contains(t.Columns, name) || t.text(name) >= 0
}

// columns lists the names of all columns, those of numbers first.
func (t *dataTable) columns() []string {
	all := slices.Clone(t.Columns)
	for _, col := range t.texts {
		all = append(all, col.name)
	}
	return all
}

func (t *dataTable) names() string { return diag.Some(t.columns()) }

// resolveData reads a data item.
func (c *checker) resolveData(e *entity) {
	if e.table = c.tables[e.data]; e.table != nil {
		return
	}
	t := &dataTable{Table: &model.Table{Name: e.name, Span: e.span}}
	ok := true
	if e.data.Value != nil {
		ok = c.csvTable(t, e.data.Value)
	} else {
		for _, s := range e.data.Settings {
			ok = c.dataColumn(t, s) && ok
		}
	}
	if !ok {
		return
	}
	k := slices.Index(t.Columns, "time")
	if k < 0 {
		if i := t.text("time"); i >= 0 {
			c.column(t, ast.Ident{At: ast.At{Span: e.span}, Name: "time"})
			return
		}
		d := c.errorf(CodeData, e.span, "data table %q has no column `time`; it is required", e.name)
		if e.data.Value == nil && c.model.Time != nil && slices.Contains(t.columns(), c.model.Time.Name) {
			d.Message += "; rename " + strconv.Quote(c.model.Time.Name) + " to time"
		}
		if e.data.Value != nil {
			meant := "t"
			for _, name := range t.columns() {
				if strings.EqualFold(name, "time") {
					meant = name
				}
			}
			d.Message += ", and is named if the file calls it otherwise: csv(\"file.csv\", time = \"" + meant +
				"\", …); the file has " + t.names()
		}
		return
	}
	for i, d := range t.Data {
		if len(d) != len(t.Data[k]) {
			c.errorf(CodeData, e.span, "column %q of %q has %d rows, but `time` has %d", t.Columns[i], e.name, len(d),
				len(t.Data[k]))
			return
		}
	}
	for _, col := range t.texts {
		if len(col.cells) != len(t.Data[k]) {
			c.errorf(CodeData, e.span, "column %q of %q has %d rows, but `time` has %d", col.name, e.name,
				len(col.cells), len(t.Data[k]))
			return
		}
	}
	for i, x := range t.Data[k] {
		if math.IsNaN(x) {
			c.errorf(CodeData, e.span, "row %d of %q has no time", i+1, e.name)
			return
		}
	}
	if !c.modelTime(e, t, k) {
		return
	}
	if e.table = t; len(c.env.Times) > 0 {
		e.stage = 2 // for conditions on its rows
		t.atTimes(c, k)
	}
	if c.variant == nil && (common(e.data) || len(c.env.Times) > 0 && doseItem(c, e.name)) {
		c.tables[e.data] = t
	}
}

// modelTime converts the times of a table, column k, to the unit of the time of the model, as numbers with a unit are.
// It returns false after an error.
func (c *checker) modelTime(e *entity, t *dataTable, k int) bool {
	if c.model.Time == nil || t.units[k].Same(c.model.Time.Type.Unit) {
		if c.model.Time != nil {
			t.counts(c, "time", c.model.Time.Type.Unit, e.span)
		}
		return true
	}
	from, to := t.units[k], c.model.Time.Type.Unit
	if !from.SameDimension(to) {
		c.unitErrorf(e.span, "column `time` of %q has unit %s, the time of the model %s", e.name, bracketed(from),
			bracketed(to))
		return c.unitMode == "off" || c.unitMode == "warn" // else what follows from these times is no news
	}
	t.times, t.timeUnit = t.Data[k], from
	t.Data[k], t.units[k] = slices.Clone(t.times), to
	factor, inverse := units.Factor(from, to), units.Factor(to, from)
	for i, x := range t.Data[k] {
		if t.Data[k][i] = float64(x * factor); factor < 1 && whole(inverse) { // which rounds once
			t.Data[k][i] = x / inverse
		}
	}
	return true
}

// common reports whether a table is the same in all experiments: it names columns of a file, nan and such alone.
func common(d *ast.Data) bool {
	if call, ok := strip(d.Value).(*ast.Call); ok && isName(call.Fun, "csv") {
		return true
	}
	same := d.Value == nil
	for _, s := range d.Settings {
		ast.Inspect(s.Value, func(n ast.Node) bool {
			name, is := n.(*ast.Name)
			_, call := n.(*ast.Call)
			same = same && !call && (!is || !name.Ident.Quoted && predefined(name.Ident.Name))
			return same
		})
	}
	return same
}

func (t *dataTable) add(name string, d []float64, u units.Unit) {
	t.Columns = append(t.Columns, name)
	t.Data = append(t.Data, d)
	t.units = append(t.units, u)
}

// dataColumn reads one column of a table in the file.
func (c *checker) dataColumn(t *dataTable, s *ast.Setting) bool {
	name := s.Key.Name
	if s.Drawn != nil {
		c.errorf(CodeData, s.Span, "a column is written %s = [1, 2, 3]", name)
		return false
	}
	if t.has(name) {
		c.errorf(CodeDuplicate, s.Key.Span, "column %q is given twice", name)
		return false
	}
	if a, ok := strip(s.Value).(*ast.Array); ok && len(a.Elems) > 0 {
		if _, ok := strip(a.Elems[0]).(*ast.String); ok {
			return c.textColumn(t, name, a)
		}
	}
	v := c.expr(context{place: placeColumn}, s.Value)
	if isBad(v) || !c.numeric(v, "data", v.Span()) {
		return false
	}
	if len(v.Type().Shape) != 1 {
		c.errorf(CodeData, v.Span(), "a column is a vector, and this is %s", shapeOf(v))
		return false
	}
	d, ok := c.static(v, nil)
	if !ok {
		return false
	}
	u := v.Type().Unit
	if bare(v) {
		u = units.Unit{}
	}
	t.add(name, d, u)
	return true
}

// textColumn reads a column of texts in the file.
func (c *checker) textColumn(t *dataTable, name string, a *ast.Array) bool {
	col := textColumn{name: name}
	for _, e := range a.Elems {
		s, ok := strip(e).(*ast.String)
		if !ok {
			c.errorf(CodeType, e.Pos(), "column %q holds texts, and this is none; write it in double quotes", name)
			return false
		}
		col.cells = append(col.cells, s.Value)
	}
	t.texts = append(t.texts, col)
	return true
}

// csvTable reads data D = csv("file", time = "t [h]", y = "conc").
func (c *checker) csvTable(t *dataTable, e ast.Expr) bool {
	call, ok := strip(e).(*ast.Call)
	if !ok || !isName(call.Fun, "csv") || len(call.Args) == 0 || call.Args[0].Key != nil {
		c.errorf(CodeData, e.Pos(), "a data table is csv(\"file.csv\", time = \"header\", …) or { time = […] … }")
		return false
	}
	file, ok := strip(call.Args[0].Value).(*ast.String)
	if !ok {
		c.errorf(CodeData, call.Args[0].Span, "csv takes the name of a file in double quotes")
		return false
	}
	table, err := c.csv(file.Value)
	if err != nil {
		c.fileError(file.Span, file.Value, err)
		return false
	}
	taken := map[int]bool{}
	read := func(name, header string, at source.Span) bool {
		if t.has(name) {
			c.errorf(CodeDuplicate, at, "column %q is given twice", name)
			return false
		}
		bare, unit := unitexpr.SplitHeading(header)
		k := slices.Index(table.Columns, header)
		if k < 0 {
			k = slices.IndexFunc(table.Columns, func(h string) bool { return unitexpr.Name(h) == bare })
		}
		if k < 0 {
			if len(table.Columns) == 1 && strings.Contains(table.Columns[0], " ") {
				c.errorf(CodeData, at, "%s has one column, %q; commas, semicolons or tabs separate columns", file.Value,
					table.Columns[0])
				return false
			}
			c.errorf(CodeData, at, "%s has no column %q; it has %s%s", file.Value, bare,
				diag.Some(table.Columns), diag.DidYouMean(bare, table.Columns))
			return false
		}
		taken[k] = true
		_, its := unitexpr.SplitHeading(table.Columns[k])
		if unit == "" {
			unit = its
		}
		var u units.Unit
		if unit != "" {
			tree := stdlib.ParseUnit(unit)
			if tree == nil {
				c.errorf(CodeUnknownUnit, at, "%q is not a unit", unit)
				return false
			}
			u = c.unit(unitexpr.Move(tree, at))
			if !c.headingAgrees(u, unit, its, at) {
				c.unitErrorf(at, "%s has column %q in %s, and this says %s; write \"%s\", or leave the unit out",
					file.Value, bare, its, unit, table.Columns[k])
			}
		}
		d, err := table.Numbers(k)
		if err != nil {
			t.texts = append(t.texts, textColumn{name, table.Cells[k], err})
			return true
		}
		t.add(name, d, u)
		t.say(c, name, bare, unit, at)
		return true
	}
	if len(call.Args) == 1 {
		// Every column, by the names in the header.
		for _, h := range table.Columns {
			if !read(unitexpr.Name(h), h, file.Span) {
				return false
			}
		}
		return true
	}
	for _, a := range call.Args[1:] {
		header, is := strip(a.Value).(*ast.String)
		if a.Key == nil || !is {
			c.errorf(CodeData, a.Span, "name the columns: %s; %s has %s", `time = "t [h]", y = "conc [mg/L]"`,
				file.Value, strings.Join(table.Columns, ", "))
			return false
		}
		if !read(a.Key.Name, header.Value, a.Span) {
			return false
		}
	}
	// The others keep their names, unless these are given to other columns.
	for k, h := range table.Columns {
		name, unit := unitexpr.SplitHeading(h)
		if taken[k] || t.has(name) {
			continue
		}
		if unit != "" && !unitexpr.Known(stdlib.ParseUnit(unit), c.isUnit) {
			continue // nobody asked for it
		}
		if !read(name, h, file.Span) {
			return false
		}
	}
	return true
}

// headingAgrees reports whether a unit, written as said, is that which the heading of a column has; true for none.
func (c *checker) headingAgrees(u units.Unit, said, its string, at source.Span) bool {
	if its == "" || its == said {
		return true
	}
	tree := stdlib.ParseUnit(its)
	// One that nobody knows may be spelled in another way.
	return !unitexpr.Known(tree, c.isUnit) || c.unit(unitexpr.Move(tree, at)).Same(u)
}

// column finds a column of numbers, or reports why there is none.
func (c *checker) column(t *dataTable, name ast.Ident) int {
	if k := slices.Index(t.Columns, name.Name); k >= 0 {
		return k
	}
	if k := t.text(name.Name); k >= 0 {
		d := c.errorf(CodeType, name.Span, "column %q of %q holds texts", name.Name, t.Name)
		if why := t.texts[k].why; why != nil {
			d.Message += ": " + why.Error()
		}
		return -1
	}
	d := c.errorf(CodeUndefined, name.Span, "table %q has no column %q; it has %s%s", t.Name, name.Name, t.names(),
		unitexpr.Headed(name.Name, t.columns()))
	d.Relate(t.Span, "declared here")
	return -1
}

// csv reads a file once for all passes.
func (c *checker) csv(name string) (*data.Table, error) {
	f, ok := c.read[name]
	if !ok {
		f.table, f.err = data.ReadTable(c.env.Files, name)
		c.read[name] = f
	}
	return f.table, f.err
}
