package typecheck

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/regimen"
)

// observation is a checked observe item.
type observation struct {
	name  string
	span  source.Span
	table *model.Table // as declared
	term  model.Expr   // the functional that sums -log density over the rows
}

// rowsOf is the table that an expression may read row by row. Then D.y is the value in the row, not
// the column.
type rowsOf struct {
	from  *dataTable
	rows  *model.Table // the rows that count
	fixed int          // the number of the row whose columns are numbers, from 1; 0: a row after the other
}

// row reads column k of the row.
func (r *rowsOf) row(k int, s source.Span) model.Expr {
	if r.fixed > 0 {
		return number(r.rows.Data[k][r.fixed-1], r.from.units[k], s)
	}
	return model.Seal(&model.Row{
		Base:  model.NewBase(types.Type{Kind: types.Real, Unit: r.from.units[k]}, s),
		Table: r.rows, Column: k,
	})
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
		c.errorf(CodeShape, value.Span(), "an observation is a single number, and this has shape %s",
			value.Type().Shape)
		return
	}
	if it.Unit != nil {
		u := c.unit(it.Unit)
		if !bare(value) {
			c.expectUnit("observation "+it.Name.Name, value, u, it.Unit.Span)
		}
	}
	own := (*dataTable)(nil)
	if it.From == nil {
		it, own = ownTable(c, it, value.Type().Unit)
	}
	if it.From == nil {
		c.distribution(x.with(it.Name.Name, value, it.Name.Span), it.Noise, value.Type().Unit, value.Span())
		c.list.Warnf(CodeData, it.Span, "observation %q has no data; add: from D.column", it.Name.Name)
		return
	}
	from, k := own, 0
	if own == nil {
		from, k = c.observedColumn(it)
	} else {
		k = slices.Index(own.Columns, it.Name.Name)
	}
	if k < 0 {
		c.distribution(x.with(it.Name.Name, value, it.Name.Span), it.Noise, units.Unit{}, source.Span{})
		return
	}
	var chosen []bool
	if c.variant != nil {
		if chosen = c.variant.rows[from.Name]; !slices.Contains(chosen, true) {
			return // the experiment does not use this table
		}
	}
	chosen, ok := observedRows(c, it, from, chosen)
	if !ok {
		return
	}
	table := c.course.Mark(from.Table, regimen.Mark(c.early, from.Table, from.Table.Present(k, chosen)))
	if len(table.Data[k]) == 0 {
		if c.variant == nil {
			if len(from.Data[k]) == 0 {
				c.list.Warnf(CodeData, it.From.Pos(), "table %q has no rows", from.Name).
					Relate(from.Span, "declared here")
			} else {
				c.list.Warnf(CodeData, it.From.Pos(), "column %q of %q holds only missing values", from.Columns[k],
					from.Name)
			}
			c.empty = append(c.empty, from.Name+"."+from.Columns[k])
		}
		return
	}
	rows := &rowsOf{from: from, rows: table}
	x.rows = rows
	d := c.distribution(x.with(it.Name.Name, value, it.Name.Span), it.Noise, from.units[k], from.Span)
	if d == nil {
		return
	}
	if !value.Type().Unit.Same(from.units[k]) && !bare(value) {
		d := c.unitErrorf(it.From.Pos(), "the data have unit %s, the observed quantity %s%s", bracketed(from.units[k]),
			bracketed(value.Type().Unit), mixHint(from.units[k], value.Type().Unit))
		c.origin(d, value)
		d.Relate(from.Span, "the data are declared here")
	}
	from.counts(c, from.Columns[k], value.Type().Unit, it.From.Pos())
	c.demand(value, from.units[k])
	if c.variant == nil && !c.inSupport(d.row, it, from.Name, table, k, d.censored()) {
		return
	}
	body := c.quietly(func() model.Expr {
		return readEarly(c, rows, d.logLikelihood(c, it.Noise.Pos(), value,
			rows.row(k, it.From.Pos())))
	})
	if isBad(body) {
		return
	}
	times := slices.Index(from.Columns, "time")
	all, allRanges := table, table.Ranges(d.below, d.above)
	steady, table := c.steadyRows(from, table, it.Name.Span, func(rows *rowsOf) model.Expr {
		y := x.with(it.Name.Name, value, it.Name.Span)
		y.rows = rows
		d := c.distribution(y, it.Noise, from.units[k], from.Span)
		if d == nil {
			return nil
		}
		return c.quietly(func() model.Expr {
			return d.logLikelihood(c, it.Noise.Pos(), value,
				rows.row(k, it.From.Pos()))
		})
	})
	if !c.withinRun(it, from, table.Data[times]) {
		return
	}
	if steady != nil { // the table is another one now
		rows.rows = table
		if d = c.distribution(x.with(it.Name.Name, value, it.Name.Span), it.Noise, from.units[k], from.Span); d == nil {
			return
		}
		body = c.quietly(func() model.Expr {
			return readEarly(c, rows, d.logLikelihood(c, it.Noise.Pos(), value,
				rows.row(k, it.From.Pos())))
		})
	}
	byRow := c.rowByRow(x, it, value, from, all, k)
	byRow.Ranges = allRanges
	c.model.Observations = append(c.model.Observations, &model.Observation{
		Name: it.Name.Name, Value: value,
		As: it.Value.Pos(), Table: table, Column: k, Ranges: table.Ranges(d.below, d.above), Doc: it.Doc, Span: it.Span,
		Noise: d.row, Args: d.args, Censored: d.censored(), Rows: byRow,
		Needs: d.row.Name + " needs " + d.row.Domain, From: from.declared(),
	})
	term := steady
	if len(table.Data[k]) > 0 {
		f := &model.Functional{
			Base: model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, it.Name.Span), Kind: model.SumAt,
			Body:  body,
			Table: table,
		}
		f.Times = model.Seal(&model.Const{Base: model.NewBase(types.Type{
			Kind: types.Real, Shape: types.Shape{len(table.Data[times])},
			Unit: from.units[times],
		}, it.From.Pos()), Data: table.Data[times]})
		if term = model.Seal(f); steady != nil {
			timed := term
			term = c.quietly(func() model.Expr { return c.apply(stdlib.Operator("+"), it.Name.Span, timed, steady) })
		}
	}
	c.observed = append(c.observed, &observation{
		name: it.Name.Name, span: it.Name.Span, table: from.Table, term: term,
	})
}

// observedRows leaves among the chosen rows of a table (nil for all) those that an observation is about.
func observedRows(c *checker, it *ast.Observe, from *dataTable, chosen []bool) ([]bool, bool) {
	chosen = measured(c, from, chosen)
	if it.Where == nil {
		return chosen, true
	}
	rows, ok := c.where(from, it.Where)
	for i := range rows {
		rows[i] = rows[i] && (chosen == nil || chosen[i])
	}
	if ok && c.variant == nil && !slices.Contains(rows, true) {
		c.list.Warnf(CodeData, it.Where.Pos(), "no measurement of %q is like that", from.Name).
			Relate(from.Span, "declared here")
	}
	return rows, ok
}

// observedColumn resolves `from D.y`. The column is -1 after an error.
func (c *checker) observedColumn(it *ast.Observe) (*dataTable, int) {
	n, column := memberOf(it.From)
	if n == nil {
		c.errorf(CodeData, it.From.Pos(), "`from` names the column of a data table: from D.y")
		return nil, -1
	}
	g := c.globals[n.Name]
	if g == nil || g.kind != dataName {
		if g == nil || g.kind != laterName {
			c.errorf(CodeUndefined, n.Span, "there is no data table %q; add: data %s { time = […] %s = […] }",
				n.Name, n.Name, column.Name)
		}
		return nil, -1
	}
	c.resolve(g)
	if g.table == nil {
		return nil, -1
	}
	k := c.column(g.table, column)
	if k < 0 {
		return nil, -1
	}
	return g.table, k
}

// memberOf returns the parts of D.y, or nil.
func memberOf(e ast.Expr) (of *ast.Name, name ast.Ident) {
	if m, ok := strip(e).(*ast.Member); ok {
		if of, ok = strip(m.X).(*ast.Name); ok {
			return of, m.Name
		}
	}
	return nil, ast.Ident{}
}

// withinRun reports observations at times that no run reaches, because the likelihood would have no
// value.
func (c *checker) withinRun(it *ast.Observe, from *dataTable, times []float64) bool {
	lo, ok1 := c.model.From.(*model.Const)
	hi, ok2 := c.model.To.(*model.Const)
	if !ok1 || !ok2 || anyBad(lo, hi) {
		return true
	}
	for _, t := range times {
		if t < lo.Data[0] || t > hi.Data[0] {
			c.errorf(CodeData, it.From.Pos(), "%q has a value at %g, but the run goes from %g to %g; let it go "+
				"further, or leave the row out", from.Name, t, lo.Data[0], hi.Data[0]).
				Relate(c.model.Time.Span, "the time is declared here")
			return false
		}
	}
	return true
}

// inSupport reports data that are impossible for a distribution.
func (c *checker) inSupport(row *stdlib.Func, it *ast.Observe, name string, table *model.Table, k int,
	censored bool,
) bool {
	for _, y := range table.Data[k] {
		switch {
		case math.IsInf(y, 0):
			c.errorf(CodeData, it.From.Pos(), "%s.%s holds %g, which nothing can be compared with; write nan for a "+
				"value that is missing", name, table.Columns[k], y)
			return false
		case row.Counts && (!whole(y) || y < 0):
			c.errorf(CodeData, it.From.Pos(), "%s counts: %s.%s holds %g, which is not a whole number from 0", row.Name,
				name, table.Columns[k], y)
			return false
		case row.Log && !(y > 0) && !censored:
			c.errorf(CodeData, it.From.Pos(), "%s gives positive numbers: %s.%s holds %g; a value below the limit of "+
				"quantification is written %s(…, below = limit)", row.Name, name, table.Columns[k], y, row.Name)
			return false
		}
	}
	return true
}

// distribution is a checked `normal(sd, below = limit)`, without its centre, which the observed
// expression gives.
type distribution struct {
	row   *stdlib.Func
	args  map[string]model.Expr
	below model.Expr // nil: not censored from below
	above model.Expr // nil: not censored from above
}

// distribution elaborates the noise of an observation whose unit is of. It returns nil after an
// error.
func (c *checker) distribution(x context, e ast.Expr, of units.Unit, declared source.Span) *distribution {
	call, row, ok := c.noise(e)
	if !ok {
		return nil
	}
	if row.Centre == "" {
		c.errorf(CodeArguments, e.Pos(), "%s is a prior; observations are %s", row.Name,
			strings.Join(stdlib.Observable(), ", "))
		return nil
	}
	want := slices.DeleteFunc(slices.Clone(row.Args), func(a string) bool { return a == row.Centre })
	wrong := func() *distribution {
		c.errorf(CodeArguments, call.Span, "write %s(%s): the observed expression is its centre", row.Name,
			strings.Join(want, ", "))
		return nil
	}
	d := &distribution{row: row, args: map[string]model.Expr{}}
	n := 0
	for i := range call.Args {
		a := &call.Args[i]
		key := ""
		switch {
		case a.Key != nil:
			key = a.Key.Name
		case n < len(want):
			key = want[n]
			n++
		}
		below := d.limits(key)
		if below && row.Below == "" {
			c.unavailable(a.Span, "censoring of "+row.Name)
			return nil
		}
		if !below && a.Key != nil && !slices.Contains(want, key) && key != "below" && key != "above" {
			said := c.errorf(CodeArguments, a.Key.Span, "%s takes no %q", row.Name, key)
			adviseLimit(said, a.Key.Span, key, row, want)
			return nil
		}
		if !below && (!slices.Contains(want, key) || d.args[key] != nil) {
			return wrong()
		}
		v := c.expr(x, a.Value)
		if isBad(v) || !c.numeric(v, row.Name, v.Span()) {
			return nil
		}
		if len(v.Type().Shape) > 0 {
			c.errorf(CodeShape, v.Span(), "the %s of %s is a single number or a column of the table, and this has "+
				"shape %s", key, row.Name, v.Type().Shape)
			return nil
		}
		if u := of; !bare(v) {
			from := declared
			if !below && key != row.Scale {
				u, from = units.One, source.Span{}
			}
			c.expectUnit("the "+key+" of "+row.Name, v, u, from)
		}
		d.set(key, v)
	}
	if len(d.args) != len(want) {
		return wrong()
	}
	if row.Counts {
		if of.Known() && !of.Plain() {
			c.unitErrorf(e.Pos(), "%s counts, and what is observed has unit %s; divide it by the amount of one",
				row.Name, bracketed(of)).Relate(declared, "declared here")
		}
	}
	return d
}

// logLikelihood is the negative logarithm of the density of y around value, or of the probability
// of what is beyond a limit where y lies there.
func (d *distribution) logLikelihood(c *checker, s source.Span, value, y model.Expr) model.Expr {
	log := func(e model.Expr) model.Expr {
		if d.row.Log {
			return c.apply(stdlib.Find("log", stdlib.Elementwise), s, e)
		}
		return e
	}
	x := context{
		place:  &place{name: "a distribution", allow: usesRun | model.UsesRow | model.UsesLimit},
		module: builtin,
	}
	for name, v := range d.args {
		x = x.with(name, v, s)
	}
	centre := log(value)
	x = x.with(d.row.Centre, centre, s)
	if d.below == nil && d.above == nil {
		return c.at(s, c.define(x.with("y", y, s), d.row.Definition()))
	}
	// Neither side may see numbers that are meant for the other. A zero for "nothing found" has no
	// logarithm, and a missing limit has none either. A censored value is often recorded as the
	// limit itself.
	choose := func(cond, then, els model.Expr) model.Expr {
		if anyBad(cond, then, els) {
			return bad(s)
		}
		return model.Seal(&model.If{
			Base: model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, s), Cond: cond,
			Then: then, Else: els,
		})
	}
	one := number(1, units.Unit{}, s)
	seen := y
	out := func(a, b model.Expr) model.Expr {
		cond := c.elementwise(stdlib.Operator("<="), s, types.Bool, a, b)
		seen = choose(cond, one, seen)
		return cond
	}
	minus := func(v model.Expr) model.Expr { return c.apply(stdlib.Operator("neg"), s, v) }
	var conds, masses []model.Expr
	if d.below != nil {
		cond := out(y, d.below)
		conds = append(conds, cond)
		masses = append(masses, c.define(x.with("from", log(choose(cond, d.below, one)), s), d.row.BelowDefinition()))
	}
	if d.above != nil { // these distributions are symmetric
		cond := out(d.above, y)
		conds = append(conds, cond)
		mirrored := x.with(d.row.Centre, minus(centre), s).with("from", minus(log(choose(cond, d.above, one))), s)
		masses = append(masses, c.define(mirrored, d.row.BelowDefinition()))
	}
	sum := c.define(x.with("y", seen, s), d.row.Definition())
	for i, mass := range masses {
		sum = choose(conds[i], mass, sum)
	}
	return sum
}

// adviseLimit says what to write instead of an argument that a distribution does not have.
func adviseLimit(said *diag.Diagnostic, at source.Span, key string, row *stdlib.Func, want []string) {
	limits := []string{"limit", "lloq", "loq", "lod", "censored", "cens", "left"}
	if row.Below != "" && slices.Contains(limits, strings.ToLower(key)) {
		said.Message += "; a limit of quantification is written below = …"
		said.Fix(at, "below", "write below")
		return
	}
	said.Message += "; write " + row.Name + "(" + strings.Join(want, ", ") + ")"
}

// limits reports whether key is a limit of quantification that is not set.
func (d *distribution) limits(key string) bool {
	return key == "below" && d.below == nil || key == "above" && d.above == nil
}

// set sets an argument.
func (d *distribution) set(key string, v model.Expr) {
	switch key {
	case "above":
		d.above = v
	case "below":
		d.below = v
	default:
		d.args[key] = v
	}
}

// censored reports whether the distribution has a limit of quantification.
func (d *distribution) censored() bool { return d.below != nil || d.above != nil }

// foreignNoise maps other names of distributions to ours.
var foreignNoise = map[string]string{
	"gaussian": "normal", "Normal": "normal", "gauss": "normal", "N": "normal", "student_t": "student",
	"exp": "exponential", "inv_gamma": "inverse_gamma", "halfnormal": "half_normal", "halfcauchy": "half_cauchy",
	"logNormal": "lognormal", "double_exponential": "laplace", "neg_binomial_2": "negbin",
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
		if is && foreignNoise[n.Name] != "" {
			d.Message += "; write " + foreignNoise[n.Name]
			return nil, nil, false
		}
		d.Message += "; there are " + strings.Join(known, ", ")
		return nil, nil, false
	}
	return call, row, true
}

// nll elaborates nll() and nll(D).
func (c *checker) nll(e *ast.Call) model.Expr {
	var want *model.Table
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
	if len(c.experiments) > 0 && c.variant == nil {
		name := ""
		if want != nil {
			name = want.Name
		}
		if !slices.ContainsFunc(c.observed, func(o *observation) bool { return want == nil || o.table == want }) {
			return c.nothingObserved(e)
		}
		if len(c.randoms) > 0 { // an integral, and no sum over rows
			return integrated(c, e, name)
		}
		return c.likelihood(c.total(e.Span, name), want)
	}
	var total model.Expr
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
	if total == nil && c.variant != nil {
		total = number(0, units.One, e.Span) // the experiment has no such data
	}
	switch {
	case total == nil:
		return c.nothingObserved(e)
	case len(c.model.Individual) > 0: // no sum over rows
		return jointly(c, total, e.Span)
	}
	return c.likelihood(total, want)
}

// nothingObserved reports an nll without observations, unless an observation failed and was
// reported.
func (c *checker) nothingObserved(e *ast.Call) model.Expr {
	if len(c.empty) > 0 && len(c.empty)+len(c.observed) == len(c.observes) {
		c.errorf(CodeData, e.Span, "there is nothing to compare with: all values of %s are missing",
			strings.Join(c.empty, " and "))
		return bad(e.Span)
	}
	if len(c.observes) == len(c.observed) && !c.lost["observe"] && !c.lost["data"] {
		c.errorf(CodeData, e.Span, "no observation reads this data; add: observe y = … ~ normal(sd) from D.y")
	}
	return bad(e.Span)
}
