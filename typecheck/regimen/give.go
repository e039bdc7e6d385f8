package regimen

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// lateDoses is the priority of what comes later than its record: a lag, ADDL, the end of an infusion.
const lateDoses = 1e9

// fits reports records that no state takes, or several without a word about it, or that the run does not reach.
func fits(c Checker, t *Table, course *records.Course) bool {
	from, ok1 := c.Model().From.(*model.Const)
	to, ok2 := c.Model().To.(*model.Const)
	fail := func(row int, format string, args ...any) bool {
		c.DataErrorf(t.At, "%srow %d of %q: %s", t.In, row+1, t.Name,
			fmt.Sprintf(format, args...)).Relate(t.Span, "declared here")
		return false
	}
	rows := slices.Clone(course.Resets)
	for _, d := range course.Doses {
		rows = append(rows, d.Row)
	}
	for _, i := range rows {
		if x := course.Times[i]; ok1 && ok2 && !terms.IsBad(from) && !terms.IsBad(to) &&
			!(x >= from.Data[0] && x <= to.Data[0]) {
			return fail(i, "a record at %v, outside of the run from %v to %v", x, from.Data[0], to.Data[0])
		}
	}
	for _, d := range course.Doses {
		var takes []*Line
		split := true
		for _, l := range t.Lines {
			if l.Rows[d.Row] {
				takes = append(takes, l)
				split = split && l.Says[F] != nil
			}
		}
		switch {
		case len(takes) == 0:
			where := ""
			for k, name := range t.Columns {
				if strings.EqualFold(name, "CMT") {
					where = fmt.Sprintf(" (%s = %v)", name, t.Data[k][d.Row])
				}
			}
			return fail(d.Row, "no state takes this dose%s; say which rows a state takes: gut where CMT == 1", where)
		case len(takes) > 1 && !split:
			return fail(d.Row, "both %s and %s take this dose; say which rows each takes (gut where CMT == 1), or "+
				"what part of it each gets, by `f`", takes[0].Target.Name.Name, takes[1].Target.Name.Name)
		}
		for _, l := range takes {
			switch {
			case d.Form == records.ModelRate && l.Says[Rate] == nil:
				return fail(d.Row, "RATE is -1, so the model gives the rate of the infusion: %s … rate = R1",
					l.Target.Name.Name)
			case d.Form == records.ModelLength && l.Says[Length] == nil:
				return fail(d.Row, "RATE is -2, so the model gives the duration of the infusion: %s … dur = D1",
					l.Target.Name.Name)
			}
		}
	}
	return true
}

// giver makes the events of the records of one course.
type giver struct {
	Checker
	model   *model.Model
	table   *Table
	course  *records.Course
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
	early      *Early
}

// give makes all events.
func (g *giver) give() {
	g.reached()
	ties, steady := g.findTies(), g.steadyRecords()
	g.own, g.began = map[*model.Event]bool{}, -1
	g.ordered = len(g.course.Ends)+len(ties)+len(steady) > 0
	if len(g.course.Ends)+len(steady) > 0 {
		g.life = g.discrete("life", types.Type{Kind: types.Real, Unit: units.One})
	}
	period, _ := g.commonPeriod(steady)
	g.steady(steady)
	for _, l := range g.table.Lines {
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
		if r := g.rates[s]; r != nil && !terms.IsBad(g.model.Rates[i]) {
			g.model.Rates[i] = g.op("+", g.model.Rates[i], g.ref(r))
		}
	}
	g.copyRates(period)
}

// at is where messages about the doses point.
func (g *giver) at() source.Span { return g.table.At }

// discrete declares a hidden discrete that begins at 0.
func (g *giver) discrete(name string, t types.Type) *model.Symbol {
	t.Kind = types.Real
	var zeros model.Expr = terms.Number(0, t.Unit, g.at())
	if len(t.Shape) > 0 {
		zeros = model.Seal(&model.Const{Base: model.NewBase(t, g.at()), Data: []float64{0}})
	}
	s := &model.Symbol{
		Name: g.table.Name + "." + name, Kind: model.DiscreteSymbol, Type: t, Span: g.at(), Literal: true,
		Hidden: true, Value: zeros,
	}
	g.model.Discretes = append(g.model.Discretes, s)
	return s
}

// op applies an operator, whose units are known to fit.
func (g *giver) op(name string, a, b model.Expr) model.Expr {
	return g.Quietly(func() model.Expr { return g.Apply(stdlib.Operator(name), g.at(), a, b) })
}

func (g *giver) less(a, b model.Expr) model.Expr {
	return terms.Less(g, g.at(), a, b)
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
func (g *giver) given(d *Rows, name string, values []float64, u units.Unit) model.Expr {
	t := types.Type{Kind: types.Real, Shape: types.Shape{len(values)}, Unit: u}
	whole := g.Literals(g.table.Name+"."+name, t, values, g.table.Span, g.at())
	t.Shape = nil
	return model.Seal(&model.Access{
		Base: model.NewBase(t, g.at()), X: whole, Subs: []model.Sub{{At: d.Position(g, g.table.Span)}},
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
func (g *giver) event(name string, d *Rows, times model.Expr, rank model.Expr, body []*model.Assign) {
	e := &model.Event{
		Name: model.OfDoses + g.table.Name + "." + name, Span: g.at(), Indices: []*model.Index{d.Index},
		Trigger: model.Trigger{Times: []model.Expr{times}}, Policy: policy.Policy{Priority: 1}, Body: body,
	}
	for n := 2; slices.ContainsFunc(g.model.Events, func(o *model.Event) bool { return o.Name == e.Name }); n++ {
		e.Name = fmt.Sprintf(model.OfDoses+"%s.%s.%d", g.table.Name, name, n)
	}
	if g.ordered {
		e.Rank = rank
	}
	if !terms.IsBad(times) && !slices.ContainsFunc(body, func(a *model.Assign) bool { return terms.IsBad(a.Value) }) {
		g.model.Events = append(g.model.Events, e)
		g.own[e] = true
	}
}

// elements makes the dose of an event with an element for each row.
func (g *giver) elements(rows []int) *Rows {
	d := &Rows{List: rows, Read: map[int]model.Expr{}}
	d.Index = &model.Index{Name: "row", Lo: 1, Step: 1, Count: len(rows), Span: g.at()}
	return d
}

// said elaborates what a line says of its doses. It returns nil where it says nothing.
func (g *giver) said(l *Line, d *Rows, word string) model.Expr {
	e := l.Says[word]
	if e == nil {
		return nil
	}
	what := "the " + word + " of doses into " + l.Target.Name.Name
	v, good := g.Said(l, d, word, what)
	if !good {
		return terms.Bad(e.Pos())
	}
	u := map[string]units.Unit{
		F: units.One, Rate: l.Unit.Div(g.unitOfTime()), Lag: g.unitOfTime(), Length: g.unitOfTime(),
	}[word]
	t := v.Type()
	t.Unit = u
	v = terms.Retype(v, t)
	zero := terms.Number(0, u, e.Pos())
	cond, bound := g.less(zero, v), "positive"
	if word == Lag || word == F {
		cond, bound = terms.Not(g.less(v, zero), true), "not negative"
	}
	g.demandOf(d, cond, fmt.Sprintf("%s must be %s", what, bound))
	return v
}

// demandOf asserts a condition for all elements of an event.
func (g *giver) demandOf(d *Rows, cond model.Expr, text string) {
	if terms.IsBad(cond) {
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
			Base: model.NewBase(types.Type{Kind: types.Bool, Shape: types.Shape{d.Index.Count}}, g.at()),
			Pieces: []model.Piece{{
				Indices: []*model.Index{d.Index}, Subs: []model.Sub{{At: g.Position(d.Index)}}, Value: cond,
				Span: g.at(),
			}},
		})
	}
	g.model.Asserts = append(g.model.Asserts, &model.Assert{Cond: cond, Span: g.at(), Implied: true, Text: text})
}

// line makes the events of the doses of one form that a state takes.
func (g *giver) line(l *Line, form records.Form) {
	last := g.end()
	var rows []int
	var times, amounts, flows, ranks, lives []float64
	for _, o := range g.course.Doses {
		if o.Form != form || !l.Rows[o.Row] || o.Constant() {
			continue
		}
		for k := range o.More + 1 {
			at := o.Time + float64(float64(k)*o.Period)
			if at > last {
				break
			}
			if len(rows) == terms.MostElements {
				g.SizeErrorf(g.at(), "row %d of %q: ADDL gives more than %d doses", o.Row+1, g.table.Name,
					terms.MostElements)
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
	if lag := g.said(l, d, Lag); lag != nil {
		when = g.op("+", when, lag)
		late := terms.Number(lateDoses, units.One, g.at())
		rank = g.choose(g.less(terms.Number(0, g.unitOfTime(), g.at()), lag), late, rank)
	}
	amount := g.amount(l, d, amounts)
	gate := func(v model.Expr) model.Expr {
		if g.life == nil || terms.IsBad(v) {
			return v
		}
		alive := g.less(g.ref(g.life), g.given(d, "life", lives, units.One))
		return g.choose(alive, v, terms.Number(0, v.Type().Unit, g.at()))
	}
	name := l.Target.Span.Text()
	if form == records.Bolus {
		g.event(name, d, when, rank, []*model.Assign{g.add(l.Sym, l.Subs, "+", gate(amount))})
		return
	}
	flow, length := g.flow(l, d, form, amount, flows)
	infuses := g.infuses(l.Sym)
	g.event(name+".on", d, when, rank, []*model.Assign{g.add(infuses, l.Subs, "+", gate(flow))})
	g.event(name+".off", d, g.op("+", when, length), terms.Number(lateDoses, units.One, g.at()),
		[]*model.Assign{g.add(infuses, l.Subs, "-", gate(flow))})
}

// amount is F·AMT of the elements of an event.
func (g *giver) amount(l *Line, d *Rows, amounts []float64) model.Expr {
	u := g.table.Units[records.Amount]
	if u.Known() && !u.Same(l.Unit) && !u.Plain() {
		g.UnitErrorf(g.at(), "AMT of %q has unit %s, and %s has %s", g.table.Name, terms.Bracketed(u),
			l.Target.Name.Name, terms.Bracketed(l.Unit)).Relate(l.Sym.Span, "declared here")
	}
	amount := g.given(d, "amount", amounts, l.Unit)
	if f := g.said(l, d, F); f != nil {
		amount = g.op("*", f, amount)
	}
	return amount
}

// flow returns the rate of infusions and how long they last.
func (g *giver) flow(l *Line, d *Rows, form records.Form, amount model.Expr, given []float64) (flow,
	length model.Expr,
) {
	u := l.Unit.Div(g.unitOfTime())
	switch form {
	case records.WithRate:
		its := g.table.Units[records.Rate]
		if its.Known() && !its.Same(u) && !its.Plain() {
			g.UnitErrorf(g.at(), "RATE of %q has unit %s, and the rate of %s has %s", g.table.Name,
				terms.Bracketed(its), l.Target.Name.Name, terms.Bracketed(u)).Relate(l.Sym.Span, "declared here")
		}
		flow = g.given(d, "rate", given, u)
		return flow, g.op("/", amount, flow)
	case records.WithLength:
		length = g.given(d, "duration", given, g.unitOfTime())
		return g.op("/", amount, length), length
	case records.ModelRate:
		flow = g.said(l, d, Rate)
		return flow, g.op("/", amount, flow)
	}
	length = g.said(l, d, Length)
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
	runs := g.less(g.ref(g.life), terms.Number(whileSteady/2, units.One, g.at()))
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
			Name: model.OfDoses + g.table.Name + ".begin", Span: g.at(), Hidden: true,
			Trigger: model.Trigger{Times: []model.Expr{g.model.From}},
			Policy:  policy.Policy{Priority: terms.BeforeOthers / 2},
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
	set(g.life, g.op("+", g.ref(g.life), terms.Number(1, units.One, g.at())))
	d := g.elements(rows)
	g.event("reset", d, g.given(d, "at", times, g.unitOfTime()), g.given(d, "order", ranks, units.One), body)
}
