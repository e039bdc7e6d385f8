package typecheck

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/data"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// dataTable is a table with the units of its columns. Columns of texts serve
// only to choose rows.
type dataTable struct {
	*Table
	units []units.Unit
	texts []textColumn
}

// textColumn is a column of texts.
type textColumn struct {
	name  string
	cells []string
	why   error // of a file: what kept it from being numbers
}

// text returns the position of a column of texts, or -1.
func (t *dataTable) text(name string) int {
	return slices.IndexFunc(t.texts, func(col textColumn) bool { return col.name == name })
}

// rows is the number of rows.
func (t *dataTable) rows() int { return len(t.Data[slices.Index(t.Columns, "time")]) }

// anyColumn names a column for an example, one of texts if there is one.
func (t *dataTable) anyColumn() string {
	if len(t.texts) > 0 {
		return t.texts[0].name
	}
	return t.Columns[0]
}

func (t *dataTable) has(name string) bool {
	return slices.Contains(t.Columns, name) || t.text(name) >= 0
}

// names lists the columns, those of numbers first.
func (t *dataTable) names() string {
	all := slices.Clone(t.Columns)
	for _, col := range t.texts {
		all = append(all, col.name)
	}
	return strings.Join(all, ", ")
}

// resolveData reads a data item.
func (c *checker) resolveData(e *entity) {
	t := &dataTable{Table: &Table{Name: e.name, Span: e.span}}
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
		c.errorf(CodeData, e.span, "data table %q has no column `time`; it is required", e.name)
		return
	}
	for i, d := range t.Data {
		if len(d) != len(t.Data[k]) {
			c.errorf(CodeData, e.span, "column %q of %q has %d rows, but `time` has %d", t.Columns[i], e.name, len(d), len(t.Data[k]))
			return
		}
	}
	for _, col := range t.texts {
		if len(col.cells) != len(t.Data[k]) {
			c.errorf(CodeData, e.span, "column %q of %q has %d rows, but `time` has %d", col.name, e.name, len(col.cells), len(t.Data[k]))
			return
		}
	}
	for i, x := range t.Data[k] {
		if math.IsNaN(x) {
			c.errorf(CodeData, e.span, "row %d of %q has no time", i+1, e.name)
			return
		}
	}
	if c.model.Time != nil && !t.units[k].Same(c.model.Time.Type.Unit) {
		c.unitErrorf(e.span, "column `time` of %q has unit %s, the time of the model %s", e.name, bracketed(t.units[k]), bracketed(c.model.Time.Type.Unit))
	}
	e.table = t
}

func (t *dataTable) add(name string, d []float64, u units.Unit) {
	t.Columns = append(t.Columns, name)
	t.Data = append(t.Data, d)
	t.units = append(t.units, u)
}

// dataColumn reads one column of a table in the file.
func (c *checker) dataColumn(t *dataTable, s *ast.Setting) bool {
	name := s.Key.Name
	if t.has(name) {
		c.errorf(CodeDuplicate, s.Key.Span, "column %q is given twice", name)
		return false
	}
	if a, ok := strip(s.Value).(*ast.Array); ok && len(a.Elems) > 0 {
		if _, ok := strip(a.Elems[0]).(*ast.String); ok {
			return c.textColumn(t, name, a)
		}
	}
	v := c.expr(context{place: placeConst}, s.Value)
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
		c.errorf(CodeFile, file.Span, "%s", fileError(file.Value, err))
		return false
	}
	read := func(name, header string, at source.Span) bool {
		if t.has(name) {
			c.errorf(CodeDuplicate, at, "column %q is given twice", name)
			return false
		}
		bare, unit := splitHeader(header)
		k := slices.Index(table.Columns, header)
		if k < 0 {
			k = slices.IndexFunc(table.Columns, func(h string) bool { b, _ := splitHeader(h); return b == bare })
		}
		if k < 0 {
			d := c.errorf(CodeData, at, "%s has no column %q; it has %s", file.Value, bare, strings.Join(table.Columns, ", "))
			if best := nearest(bare, table.Columns); best != "" {
				d.Message = d.Message + "; did you mean \"" + best + "\"?"
			}
			return false
		}
		if unit == "" {
			_, unit = splitHeader(table.Columns[k])
		}
		var u units.Unit
		if unit != "" {
			tree := stdlib.ParseUnit(unit)
			if tree == nil {
				c.errorf(CodeUnknownUnit, at, "%q is not a unit", unit)
				return false
			}
			u = c.unitAt(tree, at)
		}
		d, err := table.Numbers(k)
		if err != nil {
			t.texts = append(t.texts, textColumn{name, table.Cells[k], err})
			return true
		}
		t.add(name, d, u)
		return true
	}
	if len(call.Args) == 1 {
		// Every column, by the names in the header.
		for _, h := range table.Columns {
			name, _ := splitHeader(h)
			if !read(name, h, file.Span) {
				return false
			}
		}
		return true
	}
	for _, a := range call.Args[1:] {
		header, is := strip(a.Value).(*ast.String)
		if a.Key == nil || !is {
			c.errorf(CodeData, a.Span, "name the columns: %s", `time = "t [h]", y = "conc [mg/L]"`)
			return false
		}
		if !read(a.Key.Name, header.Value, a.Span) {
			return false
		}
	}
	return true
}

// splitHeader splits "conc [mg/L]" into name and unit.
func splitHeader(h string) (name, unit string) {
	if i := strings.IndexByte(h, '['); i > 0 && strings.HasSuffix(h, "]") {
		return strings.TrimSpace(h[:i]), h[i:]
	}
	return strings.TrimSpace(h), ""
}

// unitAt evaluates a unit read from a text; errors point at the text's place.
func (c *checker) unitAt(u *ast.Unit, at source.Span) units.Unit {
	var move func(u *ast.Unit)
	move = func(u *ast.Unit) {
		u.Span = at
		for i := range u.Factors {
			u.Factors[i].Span = at
			if g := u.Factors[i].Group; g != nil {
				move(g)
			}
		}
	}
	move(u)
	return c.unit(u)
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
	d := c.errorf(CodeUndefined, name.Span, "table %q has no column %q; it has %s", t.Name, name.Name, t.names())
	d.Relate(t.Span, "declared here")
	return -1
}

// observation is a checked observe item.
type observation struct {
	name  string
	span  source.Span
	table *Table // as declared
	term  Expr   // the functional that sums -log density over the rows
}

// checkObserves elaborates observe items.
func (c *checker) checkObserves() {
	for _, it := range c.observes {
		c.observation(it)
	}
}

func (c *checker) observation(it *ast.Observe) {
	x := context{place: placeRun, limits: true}
	value := c.expr(x, it.Value)
	if isBad(value) || !c.numeric(value, "observe", value.Span()) {
		return
	}
	if len(value.Type().Shape) > 0 {
		c.errorf(CodeShape, value.Span(), "an observation is a single number, and this has shape %s", value.Type().Shape)
		return
	}
	if it.Unit != nil {
		u := c.unit(it.Unit)
		if !bare(value) {
			c.expectUnit("observation "+it.Name.Name, value, u, it.Unit.Span)
		}
	}
	inner := x.with(it.Name.Name, value, it.Name.Span)
	row, args, below, ok := c.distribution(inner, it.Noise)
	if !ok {
		return
	}
	if it.From == nil {
		c.list.Warnf(CodeData, it.Span, "observation %q has no data; add: from D.column", it.Name.Name)
		return
	}
	m, is := strip(it.From).(*ast.Member)
	var n *ast.Name
	if is {
		n, is = strip(m.X).(*ast.Name)
	}
	if !is {
		c.errorf(CodeData, it.From.Pos(), "`from` names the column of a data table: from D.y")
		return
	}
	g := c.globals[n.Name]
	if g == nil || g.kind != dataName {
		c.errorf(CodeUndefined, n.Span, "there is no data table %q; add: data %s { time = […] %s = […] }", n.Name, n.Name, m.Name.Name)
		return
	}
	c.resolve(g)
	if g.table == nil {
		return
	}
	k := c.column(g.table, m.Name)
	if k < 0 {
		return
	}
	times := slices.Index(g.table.Columns, "time")
	for _, t := range g.table.Data[times] {
		if math.IsInf(t, 0) {
			c.unavailable(it.From.Pos(), "an observation at the steady state (time = inf)")
			return
		}
	}
	var chosen []bool
	if c.variant != nil {
		if chosen = c.variant.rows[g.name]; !slices.Contains(chosen, true) {
			return // the experiment does not use this table
		}
	}
	table := present(g.table.Table, k, chosen)
	if len(table.Data[k]) == 0 && c.variant != nil {
		return
	}
	if len(table.Data[k]) == 0 {
		c.list.Warnf(CodeData, it.From.Pos(), "column %q of %q holds only missing values", m.Name.Name, n.Name)
		return
	}
	if !value.Type().Unit.Same(g.table.units[k]) && !bare(value) {
		c.unitErrorf(it.From.Pos(), "the data have unit %s, the observed quantity %s%s", bracketed(g.table.units[k]), bracketed(value.Type().Unit), c.mixHint(g.table.units[k], value.Type().Unit))
	}
	y := seal(&Row{Base: at(types.Type{Kind: types.Real, Unit: g.table.units[k]}, it.From.Pos()), Table: table, Column: k})
	var limit Expr
	if below != nil {
		if limit = c.censorLimit(inner, below, g.table, table); isBad(limit) {
			return
		}
	}
	body := c.quietly(func() Expr {
		d := c.density(row, it.Noise.Pos(), value, args, y)
		if limit == nil || isBad(d) {
			return d
		}
		return c.censored(row, it.Noise.Pos(), value, args, y, limit, d)
	})
	if isBad(body) {
		return
	}
	f := &Functional{Base: at(types.Type{Kind: types.Real, Unit: units.One}, it.Name.Span), Kind: SumAt, Body: body, Table: table}
	f.Times = seal(&Const{Base: at(types.Type{Kind: types.Real, Shape: types.Shape{len(table.Data[times])}, Unit: g.table.units[times]}, it.From.Pos()), Data: table.Data[times]})
	c.observed = append(c.observed, &observation{name: it.Name.Name, span: it.Name.Span, table: g.table.Table, term: seal(f)})
}

// present returns the chosen rows of t (nil: all) whose column k is not missing.
func present(t *Table, k int, chosen []bool) *Table {
	if !slices.ContainsFunc(t.Data[k], math.IsNaN) && !slices.Contains(chosen, false) {
		return t
	}
	out := &Table{Name: t.Name, Columns: t.Columns, Data: make([][]float64, len(t.Data)), Span: t.Span}
	for i, d := range t.Data {
		for r, x := range d {
			if !math.IsNaN(t.Data[k][r]) && (chosen == nil || chosen[r]) {
				out.Data[i] = append(out.Data[i], x)
			}
		}
	}
	return out
}

// distribution elaborates `normal(sd)`: the row and its arguments by name,
// without the location, which the observed expression gives, and the limit of
// censoring.
func (c *checker) distribution(x context, e ast.Expr) (row *stdlib.Func, args map[string]Expr, below ast.Expr, ok bool) {
	call, row, ok := c.noise(e)
	if !ok {
		return nil, nil, nil, false
	}
	want := slices.Clone(row.Args)
	switch row.Name {
	case "normal", "lognormal", "laplace", "loglaplace", "poisson", "negbin":
		want = want[1:]
	case "student":
		want = []string{"nu", "s"}
	default:
		c.errorf(CodeArguments, e.Pos(), "%s is a prior; observations are normal, lognormal, laplace, loglaplace, student, poisson or negbin", row.Name)
		return nil, nil, nil, false
	}
	args = map[string]Expr{}
	n := 0
	for i := range call.Args {
		a := &call.Args[i]
		if a.Key != nil && a.Key.Name == "below" && below == nil {
			if row.Name != "normal" && row.Name != "lognormal" {
				c.unavailable(a.Span, "censoring of "+row.Name)
				return nil, nil, nil, false
			}
			below = a.Value
			continue
		}
		key := ""
		if a.Key != nil {
			key = a.Key.Name
		} else if n < len(want) {
			key = want[n]
			n++
		}
		if !slices.Contains(want, key) || args[key] != nil {
			c.errorf(CodeArguments, call.Span, "write %s(%s): the observed expression is its centre", row.Name, strings.Join(want, ", "))
			return nil, nil, nil, false
		}
		v := c.expr(x, a.Value)
		if isBad(v) || !c.numeric(v, row.Name, v.Span()) {
			return nil, nil, nil, false
		}
		if len(v.Type().Shape) > 0 {
			c.errorf(CodeShape, v.Span(), "the %s of %s is a single number, and this has shape %s", key, row.Name, v.Type().Shape)
			return nil, nil, nil, false
		}
		args[key] = v
	}
	if len(args) != len(want) {
		c.errorf(CodeArguments, call.Span, "write %s(%s): the observed expression is its centre", row.Name, strings.Join(want, ", "))
		return nil, nil, nil, false
	}
	return row, args, below, true
}

// censorLimit elaborates the limit of quantification: a number, or a column of
// the same table.
func (c *checker) censorLimit(x context, e ast.Expr, from *dataTable, rows *Table) Expr {
	if m, ok := strip(e).(*ast.Member); ok && isName(m.X, from.Name) {
		k := c.column(from, m.Name)
		if k < 0 {
			return bad(e.Pos())
		}
		return seal(&Row{Base: at(types.Type{Kind: types.Real, Unit: from.units[k]}, e.Pos()), Table: rows, Column: k})
	}
	v := c.expr(x, e)
	if isBad(v) || !c.numeric(v, "below", v.Span()) {
		return bad(e.Pos())
	}
	if len(v.Type().Shape) > 0 {
		c.errorf(CodeShape, v.Span(), "`below` is a number or a column of the table, and this has shape %s", v.Type().Shape)
		return bad(e.Pos())
	}
	return v
}

// censored is the negative log likelihood of a row that may lie below the
// limit: there only that it does is known, with probability Φ((limit - centre)/sd).
func (c *checker) censored(row *stdlib.Func, s source.Span, value Expr, args map[string]Expr, y, limit, density Expr) Expr {
	x := context{place: &place{name: "a distribution", allow: usesRun | UsesRow | UsesLimit}, module: builtin}
	from := limit
	if row.Name == "lognormal" {
		log := stdlib.Find("log", stdlib.Elementwise)
		from, value = c.apply(log, s, limit), c.apply(log, s, value)
	}
	x = x.with("from", from, s).with("centre", value, s).with("sd", args["sd"], s)
	mass := c.expr(x, stdlib.CensoredNormal.Definition())
	cond := c.elementwise(stdlib.Operator("<"), s, types.Bool, y, limit)
	if anyBad(mass, cond) {
		return bad(s)
	}
	return seal(&If{Base: at(types.Type{Kind: types.Real, Unit: units.One}, s), Cond: cond, Then: mass, Else: density})
}

// noise finds the row of a distribution call.
func (c *checker) noise(e ast.Expr) (*ast.Call, *stdlib.Func, bool) {
	call, ok := strip(e).(*ast.Call)
	if !ok {
		if _, is := strip(e).(*ast.BadExpr); !is {
			c.errorf(CodeArguments, e.Pos(), "after `~` stands a distribution, such as normal(sd)")
		}
		return nil, nil, false
	}
	n, is := strip(call.Fun).(*ast.Name)
	var row *stdlib.Func
	if is {
		row = stdlib.Find(n.Name, stdlib.Noise)
	}
	if row == nil {
		var known []string
		for _, f := range stdlib.Funcs() {
			if f.Class == stdlib.Noise {
				known = append(known, f.Name)
			}
		}
		d := c.errorf(CodeUndefined, call.Fun.Pos(), "%q is not a distribution", call.Fun.Pos().Text())
		if is {
			if best := nearest(n.Name, known); best != "" {
				d.Message += "; did you mean \"" + best + "\"?"
				return nil, nil, false
			}
		}
		d.Message += "; there are " + strings.Join(known, ", ")
		return nil, nil, false
	}
	return call, row, true
}

// density is the negative logarithm of a density at y with its centre at value.
func (c *checker) density(row *stdlib.Func, s source.Span, value Expr, args map[string]Expr, y Expr) Expr {
	x := context{place: &place{name: "a distribution", allow: usesRun | UsesRow | UsesLimit}, module: builtin}
	switch row.Name {
	case "lognormal", "loglaplace":
		value = c.apply(stdlib.Find("log", stdlib.Elementwise), s, value) // value is the median
	}
	for _, name := range row.Args {
		v, ok := args[name]
		if !ok {
			v = value
		}
		x = x.with(name, v, s)
	}
	x = x.with("y", y, s)
	return c.at(s, c.expr(x, row.Definition()))
}

// nll elaborates nll() and nll(D).
func (c *checker) nll(e *ast.Call) Expr {
	var want *Table
	switch {
	case len(e.Args) > 1 || len(e.For) > 0 || len(e.Args) == 1 && e.Args[0].Key != nil:
		c.errorf(CodeArguments, e.Span, "write nll() for all observations, or nll(D) for those in table D")
		return bad(e.Span)
	case len(e.Args) == 1:
		n, ok := strip(e.Args[0].Value).(*ast.Name)
		if !ok {
			c.errorf(CodeArguments, e.Args[0].Span, "nll takes the name of a data table")
			return bad(e.Span)
		}
		g := c.globals[n.Name]
		if g == nil || g.kind != dataName {
			if g == nil || g.kind != laterName {
				c.errorf(CodeUndefined, n.Span, "there is no data table %q", n.Name)
			}
			return bad(e.Span)
		}
		if g.table == nil {
			return bad(e.Span)
		}
		want = g.table.Table
	}
	if len(c.experiments) > 0 {
		name := ""
		if want != nil {
			name = want.Name
		}
		if !slices.ContainsFunc(c.observed, func(o *observation) bool { return want == nil || o.table == want }) {
			return c.nothingObserved(e)
		}
		return c.total(e.Span, name)
	}
	var total Expr
	for _, o := range c.observed {
		if want != nil && o.table != want {
			continue
		}
		if total == nil {
			total = o.term
		} else {
			total = c.apply(stdlib.Operator("+"), e.Span, total, o.term)
		}
	}
	if total == nil {
		return c.nothingObserved(e)
	}
	return total
}

// nothingObserved reports an nll without observations, unless one failed and was reported.
func (c *checker) nothingObserved(e *ast.Call) Expr {
	if len(c.observes) == len(c.observed) {
		c.errorf(CodeData, e.Span, "no observation reads this data; add: observe y = … ~ normal(sd) from D.y")
	}
	return bad(e.Span)
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
