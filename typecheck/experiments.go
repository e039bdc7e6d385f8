package typecheck

import (
	"fmt"
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

// How experiments are modelled. Each is a checked model of its own, made from the same text.
// Overridden consts and params have other values, the events of `at` come after those of the file,
// and tables hold the rows that `use` chose. Its objectives are the negative log likelihoods that
// the file asks for, in the order of Model.Totals.
//
// In the model itself (the run without any experiment's changes) nll() and nll(D) are Totals:
// inputs that stand for the sums over the experiments. So an objective may be any smooth expression
// of them, of log_prior() and of functionals of the unchanged run. Whoever runs the model solves
// the experiments first and applies the chain rule.

// variant is the subject of one pass over the file: the model, or one of its experiments.
type variant struct {
	*trial
	file      *ast.File // with all experiments
	overrides map[string]*ast.ExpItem
	rows      map[string][]bool // per table in use: the chosen rows
	// events has those whose elements are rows of a table, with the items that they were made from.
	events map[*ast.Event]*ast.ExpItem
	doses  []eventRows
	early  []*regimen.Early
	totals []string // tables whose nll is asked for, "" for all tables
	alone  bool     // the pass has the objectives of the file, not the totals
}

// checkExperiments checks the file once more for every experiment, or for that which Env names.
func (c *checker) checkExperiments() {
	if len(c.experiments) == 0 {
		return
	}
	chosen := map[string][]bool{}
	var failed *ast.Experiment
	var passes []*variant
	for _, t := range c.trials() {
		it := t.item
		if it == failed {
			continue // the others from this table would say the same
		}
		if c.env.Experiment != "" && t.name != c.env.Experiment {
			continue // a picture asks for each in turn
		}
		x := c.pass(t)
		for _, t := range c.totals {
			x.variant.totals = append(x.variant.totals, t.table)
		}
		x.run()
		passes = append(passes, x.variant)
		c.sameShapes(x)
		for _, d := range x.list.All() {
			if !within(d.Span, it.Span) {
				d.Related = append(slices.Clone(d.Related), diag.Related{
					Span:    it.Name.Span,
					Message: fmt.Sprintf("in experiment %q", t.name),
				})
			}
			c.list.Add(d)
		}
		x.variant.early = x.early
		for name, rows := range x.variant.rows {
			mark(chosen, name, rows)
		}
		for _, d := range x.variant.doses { // rows of events are in use as well
			if chosen[d.of.Name] != nil {
				mark(chosen, d.of.Name, d.rows)
			}
		}
		if x.list.HasErrors() {
			failed = it
			continue
		}
		c.model.Experiments = append(c.model.Experiments,
			&model.Experiment{Name: t.name, Doc: it.Doc, Span: it.Name.Span, Model: x.model})
	}
	tied(c, passes)
	if !c.lost["experiment"] && c.env.Experiment == "" {
		c.dataInUse(chosen, failed == nil)
	}
}

// mark enters rows of a table that are in use.
func mark(chosen map[string][]bool, table string, rows []bool) {
	if chosen[table] == nil {
		chosen[table] = make([]bool, len(rows))
	}
	for i, r := range rows {
		chosen[table][i] = chosen[table][i] || r
	}
}

// ofFile returns the rows of a table that are in use, by it or by another one from the same file.
func ofFile(c *checker, table string, chosen map[string][]bool) []bool {
	all := slices.Clone(chosen[table])
	for name, rows := range chosen {
		if name != table && len(rows) == len(all) && c.globals[name] != nil && c.globals[table] != nil &&
			c.globals[name].table != nil && c.globals[table].table != nil &&
			fileOf(c, c.globals[name].table) == fileOf(c, c.globals[table].table) &&
			fileOf(c, c.globals[name].table) != "" {
			for i, r := range rows {
				all[i] = all[i] || r
			}
		}
	}
	return all
}

// pass returns a checker for a pass over the file with the changes of an experiment.
func (c *checker) pass(t *trial) *checker {
	if c.plain == nil {
		c.plain, c.others = new(*c.file), map[string]*entity{}
		c.plain.Items = slices.DeleteFunc(slices.Clone(c.file.Items), func(item ast.Item) bool {
			it, is := item.(*ast.Experiment)
			if is {
				c.others[it.Name.Name] = c.globals[it.Name.Name]
			}
			return is
		})
	}
	x := newChecker(c.plain, c.env)
	x.list.While(c.list.Done())
	x.others = c.others
	x.read, x.inferred, x.unparsed = c.read, c.inferred, c.unparsed
	x.tables = c.tables
	x.variant = &variant{
		trial: t, file: c.file, overrides: map[string]*ast.ExpItem{}, rows: map[string][]bool{},
		events: map[*ast.Event]*ast.ExpItem{},
	}
	return x
}

// alone makes the model that of one experiment. Its errors were reported by checkExperiments.
func (c *checker) alone(name string) {
	trials := c.trials()
	at := slices.IndexFunc(trials, func(t *trial) bool { return t.name == name })
	if at < 0 {
		var known []string
		for _, t := range trials {
			known = append(known, t.name)
		}
		const most = 10
		more := diag.DidYouMean(name, known)
		switch n := len(known); {
		case more != "":
		case n == 0:
			more = "; the model has none"
		case n <= most:
			more = "; there is " + strings.Join(known, ", ")
		default:
			more = fmt.Sprintf("; there are %s and %d more", strings.Join(known[:most], ", "), n-most)
		}
		c.errorf(CodeUndefined, source.Span{}, "there is no experiment %q%s", name, more)
		return
	}
	x := c.pass(trials[at])
	x.variant.alone = true
	x.run()
	for _, d := range x.list.All() {
		if d.Level == diag.Error && !c.list.HasErrors() {
			c.list.Add(d)
		}
	}
	c.model, c.chosen = x.model, x.variant
	c.model.Alone = name
	for _, t := range trials {
		c.model.Among = append(c.model.Among, t.name)
	}
	tellIndividual(c)
}

func within(s, outer source.Span) bool {
	return s.File == outer.File && s.Start >= outer.Start && s.End <= outer.End
}

// dataInUse reports observed data that no experiment reads. Rows are complete where every experiment could be read to
// its end.
func (c *checker) dataInUse(chosen map[string][]bool, complete bool) {
	for _, o := range c.observed {
		name := o.table.Name
		_, used := chosen[name]
		if !used {
			if c.uses(name) || c.list.HasErrors() && doseItem(c, name) {
				continue // reported as an error of `use`, or of `doses`
			}
			c.errorf(CodeData, o.span, "no experiment uses the data of %q, so observation %q would not count; write "+
				"`use %s` in an experiment (an experiment without changes is the model as it stands)", name, o.name,
				name).
				Relate(o.table.Span, "declared here")
			continue
		}
		if complete {
			rowsLeft(c, o.table, chosen)
		}
	}
	for _, t := range c.dosed {
		if complete && chosen[t.from.Name] != nil {
			rowsLeft(c, t.from.Table, chosen)
		}
	}
}

// rowsLeft notes that rows of a table are in no experiment.
func rowsLeft(c *checker, table *model.Table, chosen map[string][]bool) {
	left := 0
	for _, r := range ofFile(c, table.Name, chosen) {
		if !r {
			left++
		}
	}
	if left > 0 {
		c.list.Notef(CodeData, table.Span, "%s of %q %s used by no experiment", plural(left, "row", "rows"), table.Name,
			map[bool]string{true: "is", false: "are"}[left == 1])
	}
}

// uses reports whether some experiment names the table.
func (c *checker) uses(table string) bool {
	for _, it := range c.experiments {
		for _, x := range it.Items {
			if x.Use != nil && x.Use.Name == table {
				return true
			}
		}
	}
	return false
}

// sameShapes reports an experiment that changes the shape of a param or state, because derivatives
// by it could not be added.
func (c *checker) sameShapes(x *checker) {
	same := func(mine, its []*model.Symbol, what string) {
		for i, s := range mine {
			if i < len(its) && its[i].Name == s.Name && !its[i].Type.Shape.Equal(s.Type.Shape) {
				x.errorf(CodeShape, x.variant.item.Span, "%s %q has shape %s here and %s in the model; an experiment "+
					"changes values, not shapes", what, s.Name, its[i].Type.Shape, s.Type.Shape).
					Relate(s.Span, "declared here")
			}
		}
	}
	same(c.model.Params, x.model.Params, "param")
	same(c.model.States, x.model.States, "state")
}

// enterExperiment reads the items of the experiment that this pass is for.
func (c *checker) enterExperiment() {
	v := c.variant
	for _, it := range v.item.Items {
		switch {
		case it.Equil != nil:
			c.equilibrate(it.Equil)
		case it.Time != nil:
			e := &ast.Event{At: it.At, Times: []ast.Expr{it.Time}, Priority: it.Priority, Body: it.Body}
			c.events = append(c.events, e)
			v.events[e] = it
		case it.Name != nil:
			if old := v.overrides[it.Name.Name]; old != nil {
				c.errorf(CodeDuplicate, it.Name.Span, "%q is set twice in this experiment", it.Name.Name).
					Relate(old.Name.Span, "first here")
				continue
			}
			if c.overridable(*it.Name) {
				v.overrides[it.Name.Name] = it
			}
		}
	}
}

// overridable reports a name that an experiment cannot set.
func (c *checker) overridable(id ast.Ident) bool {
	e, ok := c.globals[id.Name]
	switch {
	case id.Name == "":
		return false
	case !ok:
		c.undefined(context{place: placeOverride}, id)
		return false
	case e.kind == laterName:
		return false
	case c.randoms[e] != nil:
		c.errorf(CodeTarget, id.Span, "%q is a random effect, which the likelihood is integrated over; one that an "+
			"experiment knows is a param", id.Name).Relate(e.span, "declared here")
		return false
	case e.home != nil:
		c.errorf(CodeTarget, id.Span, "%q is imported; an experiment sets the consts and params of the file", id.Name)
		return false
	case e.kind == stateName || e.kind == discreteName:
		c.errorf(CodeTarget, id.Span, "%q is %s; an experiment sets consts and params, and changes states at a time: "+
			"at t0 { %s = … }", id.Name, e.kind, id.Name).Relate(e.span, "declared here")
		return false
	case e.kind != constName && e.kind != paramName && e.kind != controlName:
		c.errorf(CodeTarget, id.Span, "%q is %s; an experiment sets consts, params and controls", id.Name, e.kind).
			Relate(e.span, "declared here")
		return false
	}
	return true
}

// override returns the item by which the experiment sets e, or nil.
func (c *checker) override(e *entity) *ast.ExpItem {
	if c.variant == nil || e.home != nil {
		return nil
	}
	return c.variant.overrides[e.name]
}

// overrideConst returns the value that an experiment gives to a const.
func (c *checker) overrideConst(it *ast.ExpItem, e *entity, t types.Type, value float64) []float64 {
	if len(t.Shape) > 0 {
		c.errorf(CodeArguments, it.Name.Span, "const %q has shape %s; an experiment sets only a scalar const", e.name,
			t.Shape).Relate(e.span, "declared here")
		return nil
	}
	x := context{place: placeConst, group: c.variant.group}.
		with(e.name, number(value, t.Unit, it.Name.Span), it.Name.Span)
	v, node, ok := c.constant(x, it.Value, "the value of "+e.name)
	if !ok {
		return nil
	}
	if node = c.written(t.Unit, node, it.Value, e.span); !bare(node) {
		c.expectUnit("the value of "+e.name, node, t.Unit, e.span)
	}
	if d, ok := c.static(node, nil); ok {
		v = d[0]
	}
	return []float64{v}
}

// overrideParam returns the expression that an experiment gives to a param. In it, the param's own
// name is its value outside the experiment.
func (c *checker) overrideParam(it *ast.ExpItem, e *entity, sym *model.Symbol) model.Expr {
	own := model.Seal(&model.Ref{Base: model.NewBase(sym.Type, it.Name.Span), Sym: sym})
	x := context{place: placeOverride, group: c.variant.group}
	if ofRecords(c, it, e) {
		g := *x.group
		g.any, x.group = true, &g
	}
	v := c.expr(x.with(e.name, own, it.Name.Span), it.Value)
	if isBad(v) || !c.numeric(v, "=", v.Span()) {
		return bad(it.Value.Pos())
	}
	if !c.fill("the value of "+e.name, v, sym.Type.Shape, sym.Span) {
		return bad(it.Value.Pos())
	}
	v = c.written(sym.Type.Unit, v, it.Value, sym.Span)
	if !bare(v) {
		c.expectUnit("the value of "+e.name, v, sym.Type.Unit, sym.Span)
	}
	if k, is := v.(*model.Const); is {
		for _, x := range k.Data {
			if x < sym.Lo || x > sym.Hi {
				c.list.Warnf(CodeBounds, v.Span(), "the value %g of %q is outside its bounds [%g, %g]", x, e.name,
					sym.Lo, sym.Hi).Relate(sym.Span, "declared here")
				break
			}
		}
		return model.Seal(&model.Const{Base: model.NewBase(sym.Type, v.Span()), Data: k.Data})
	}
	return c.filling(v, sym)
}

// filling returns v, which has the shape of sym or fills it, with the type of sym.
func (c *checker) filling(v model.Expr, sym *model.Symbol) model.Expr {
	if !v.Type().Shape.Equal(sym.Type.Shape) {
		ones := model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real, Shape: sym.Type.Shape, Unit: units.One}, v.Span()),
			Data: []float64{1},
		})
		v = c.quietly(func() model.Expr { return c.apply(stdlib.Operator("*"), v.Span(), ones, v) })
	}
	t := sym.Type
	t.Kind = types.Real
	return retype(v, t)
}

// beforeExperiment returns the value that e has without the experiment, if that is another one; otherwise nil.
func (c *checker) beforeExperiment(e *entity) model.Expr {
	switch {
	case c.override(e) != nil && e.kind == constName:
		return e.before
	case c.override(e) != nil && e.sym != nil:
		return model.Seal(&model.Ref{Base: model.NewBase(e.sym.Type, e.span), Sym: e.sym})
	case !c.readsOverridden(e, map[*entity]bool{}):
		return nil
	case e.kind == paramName && e.sym != nil:
		v := c.expr(context{place: placeParam, before: true}, e.variable.Value)
		if isBad(v) {
			return v
		}
		return c.filling(c.stated(e.variable.Unit, v, e.variable.Value), e.sym)
	case e.kind == letName:
		return c.letValue(context{place: placeLet, before: true}, e.lets)
	}
	return nil
}

// readsOverridden reports whether the value of e follows from something that the experiment sets.
func (c *checker) readsOverridden(e *entity, seen map[*entity]bool) bool {
	var from []ast.Expr
	switch {
	case seen[e] || e.home != nil:
		return false
	case e.kind == paramName || e.kind == constName:
		from = append(from, e.variable.Value)
	case e.kind == letName:
		for _, l := range e.lets {
			from = append(from, l.Value)
		}
	}
	seen[e] = true
	found := false
	for _, v := range from {
		ast.Inspect(v, func(n ast.Node) bool {
			if n, ok := n.(*ast.Name); ok {
				if g := c.globals[n.Name]; g != nil {
					found = found || c.override(g) != nil || c.readsOverridden(g, seen)
				}
			}
			return !found
		})
	}
	return found
}

// stand returns a param that no user knows of, with the value that the experiment gives to sym. What reads it is then
// the same for all experiments that set sym, and is compiled once.
func (c *checker) stand(e *entity, sym *model.Symbol) *model.Symbol {
	s := &model.Symbol{
		Name: e.name + "'", Kind: model.ParamSymbol, Type: sym.Type, Span: sym.Span, Value: e.value,
		Literal: model.Static(e.value),
		Lo:      math.Inf(-1), Hi: math.Inf(1),
	}
	for c.globals[s.Name] != nil { // the user has a name like this in backquotes
		s.Name += "'"
	}
	return s
}

// total is a sum over the experiments that objectives read.
type total struct {
	table string // "" for all tables
	sym   *model.Symbol
}

// total returns nll() or nll(D) as an input of the model.
func (c *checker) total(s source.Span, table string) model.Expr {
	c.reads++
	t := types.Type{Kind: types.Real, Unit: units.One}
	for _, o := range c.totals {
		if o.table == table {
			return model.Seal(&model.Ref{Base: model.NewBase(t, s), Sym: o.sym})
		}
	}
	sym := &model.Symbol{
		Name: "nll(" + table + ")", Kind: model.ParamSymbol, Type: t, Value: number(0, units.One, s),
		Literal: true,
	}
	for c.globals[sym.Name] != nil { // the user has a name like this in backquotes
		sym.Name += "'"
	}
	c.totals = append(c.totals, &total{table, sym})
	c.model.Totals = append(c.model.Totals, sym)
	return model.Seal(&model.Ref{Base: model.NewBase(t, s), Sym: sym})
}

// checkTotals makes the objectives of an experiment: its contribution to each total.
func (c *checker) checkTotals() {
	v := c.variant
	if len(c.observed) == 0 && len(c.observes) > 0 && !c.list.HasErrors() {
		if g := v.group; g != nil {
			c.list.Warnf(CodeData, v.item.Name.Span, "experiment %q compares nothing with data: no row of %q with %s "+
				"holds an observation", v.name, g.from, g.is)
		} else if len(v.rows) > 0 {
			c.list.Warnf(CodeData, v.item.Name.Span, "experiment %q compares nothing with data: the rows that it uses "+
				"hold no observation", v.name)
		} else {
			c.list.Warnf(CodeData, v.item.Name.Span, "experiment %q compares nothing with data; add: use D", v.name)
		}
	}
	for i, table := range v.totals {
		var sum model.Expr
		for _, o := range c.observed {
			switch {
			case table != "" && o.table.Name != table:
			case sum == nil:
				sum = o.term
			default:
				sum = c.apply(stdlib.Operator("+"), sum.Span(), sum, o.term)
			}
		}
		if sum == nil {
			sum = number(0, units.One, v.item.Span)
		}
		// The place is that of an observation, not of the experiment: experiments share what is alike.
		c.model.Objectives = append(c.model.Objectives, &model.Objective{
			Name: fmt.Sprintf("nll%d", i+1), Value: sum, Span: sum.Span(),
		})
	}
}

// chooseRows works out which rows of which tables the experiment uses. Those of the table that it is made from are
// in use without `use`, which can leave some of them out.
func (c *checker) chooseRows() {
	if g := c.variant.group; g != nil {
		defer func() {
			if c.variant.rows[g.from] == nil {
				c.variant.rows[g.from] = slices.Clone(g.rows)
			}
		}()
	}
	for _, it := range c.variant.item.Items {
		if it.Use == nil {
			continue
		}
		g := c.globals[it.Use.Name]
		if g == nil || g.kind != dataName {
			if g != nil && g.kind == laterName || it.Use.Name == "" {
				continue
			}
			var known []string
			for n, o := range c.globals {
				if o.kind == dataName {
					known = append(known, n)
				}
			}
			c.errorf(CodeUndefined, it.Use.Span, "there is no data table %q%s", it.Use.Name,
				diag.DidYouMean(it.Use.Name, known))
			continue
		}
		c.resolve(g)
		if g.table == nil {
			continue
		}
		rows, ok := c.where(g.table, it.Where)
		if !ok {
			continue
		}
		if it.Where != nil && !slices.Contains(rows, true) {
			c.list.Warnf(CodeData, it.Where.Pos(), "no row of %q is like that", g.name).Relate(g.span, "declared here")
		}
		c.variant.group.among(g.name, rows)
		old := c.variant.rows[g.name]
		for i := range old {
			rows[i] = rows[i] || old[i]
		}
		c.variant.rows[g.name] = rows
	}
}

// where evaluates a condition on the columns of a table for every row.
func (c *checker) where(t *dataTable, e ast.Expr) ([]bool, bool) {
	if c.variant != nil {
		return whereIn(c, c.variant.group, t, e)
	}
	return whereIn(c, nil, t, e)
}

// whereIn is where in an experiment that is made from a group of rows; nil for none.
func whereIn(c *checker, of *group, t *dataTable, e ast.Expr) ([]bool, bool) {
	n := t.rows()
	rows := make([]bool, n)
	if e == nil {
		for i := range rows {
			rows[i] = true
		}
		return rows, true
	}
	x := context{place: placeWhere, table: t, group: of}
	for k, name := range t.Columns {
		d, u := t.written(k)
		x = x.with(name, model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{n}, Unit: u}, t.Span),
			Data: d,
		}), t.Span)
	}
	for _, col := range t.texts {
		x = x.with(col.name, c.text(col.cells, types.Shape{n}, t.Span), t.Span)
	}
	v := c.expr(x, e)
	if isBad(v) {
		return nil, false
	}
	if v.Type().Kind != types.Bool {
		c.errorf(CodeType, e.Pos(), "`where` takes a condition on the columns of %q, such as %s == …", t.Name,
			t.anyColumn())
		return nil, false
	}
	d, ok := c.static(v, nil)
	if !ok {
		return nil, false
	}
	for i := range rows {
		rows[i] = d[min(i, len(d)-1)] != 0
	}
	return rows, true
}

// text makes a value that consists of texts. The texts are stored beside the node.
func (c *checker) text(cells []string, shape types.Shape, s source.Span) model.Expr {
	e := model.Seal(&model.Const{
		Base: model.NewBase(types.Type{Kind: types.String, Shape: shape}, s),
		Data: []float64{nan},
	})
	if c.textOf == nil {
		c.textOf = map[model.Expr][]string{}
	}
	c.textOf[e] = cells
	return e
}

// compareTexts elaborates a == b or a != b of texts in `where`.
func (c *checker) compareTexts(e *ast.Binary, a, b model.Expr) model.Expr {
	x, ok1 := c.textOf[a]
	y, ok2 := c.textOf[b]
	if !ok1 || !ok2 {
		c.errorf(CodeType, e.Span, "a text is compared with a number; write texts in double quotes and numbers without")
		return bad(e.Span)
	}
	n := max(len(x), len(y))
	d := make([]float64, n)
	for i := range d {
		if (x[i%len(x)] == y[i%len(y)]) == (e.Op == ast.Equal) {
			d[i] = 1
		}
	}
	t := types.Type{Kind: types.Bool}
	if len(a.Type().Shape)+len(b.Type().Shape) > 0 {
		t.Shape = types.Shape{n}
	}
	return model.Seal(&model.Const{Base: model.NewBase(t, e.Span), Data: d})
}
