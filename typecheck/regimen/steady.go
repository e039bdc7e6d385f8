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
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// How records of steady states (SS) are modelled. Before the run, as for `equilibrate { } every II`, an event finds the
// state that repeats under doses at lag, lag + II, … of a clock that begins anew with each II. That is the state at the
// time of the record under doses at TIME + lag − k·II. Meanwhile the discrete that counts lives is so large that no
// other dose gives anything.
//
// Where the run begins with the only record of this kind, the states themselves are sought. Otherwise each such record
// has a hidden copy of the states, which stands still from the start of the run on and is read at the record; and the
// states themselves stand still while the copies are sought. Copies with different II repeat after a multiple of these.
//
// Courses in time of rows of tables, as of covariates, are held at what they are at the record while its steady state
// is sought.
//
// What began before the record and is not over then, infusions that run and doses that wait for their lag, are doses of
// the run itself.

// whileSteady is what the discrete that counts lives is while steady states are sought.
const whileSteady = 1e9

// mostPeriods is up to how many II of a record the time may be after which all records of steady states repeat.
const mostPeriods = 1000

// steadyRecord is a record with SS.
type steadyRecord struct {
	records.Dose
	takes  []*steadyDose
	states map[*model.Symbol]*model.Symbol // the copies; nil where the states themselves are sought
	rates  map[*model.Symbol]*model.Symbol // by state: what infuses while the state is sought
}

// steadyDose is what one state takes of such a record.
type steadyDose struct {
	line         *Line
	lag, amount  model.Expr
	flow, length model.Expr // nil for a bolus
	running      model.Expr // the rate of the infusions that run at the record; nil for a bolus
}

// steadyRecords lists the records with SS.
func (g *giver) steadyRecords() (list []*steadyRecord) {
	for _, d := range g.course.Doses {
		if d.Steady > 0 {
			list = append(list, &steadyRecord{Dose: d})
		}
	}
	return list
}

// steady makes the events of records with SS.
func (g *giver) steady(list []*steadyRecord) {
	if len(list) == 0 {
		return
	}
	from, known := g.model.From.(*model.Const)
	direct := len(list) == 1 && list[0].Row == g.course.First && known && from.Data[0] == list[0].Time
	period, ok := g.commonPeriod(list)
	if !ok || !g.steadyFits(list, direct) {
		return
	}
	for i, r := range list {
		r.rates = map[*model.Symbol]*model.Symbol{}
		if direct {
			r.rates = g.rates
		} else {
			r.states = map[*model.Symbol]*model.Symbol{}
			for _, s := range g.model.Differential() {
				r.states[s] = g.copy(fmt.Sprintf("steady.%d.%s", i+1, s.Name), s)
			}
		}
		for _, l := range g.table.Lines {
			if l.Rows[r.Row] {
				g.steadyDose(r, l, i)
			}
		}
	}
	g.steadyOnes = list
	g.settle(list, direct, period)
	for _, r := range list {
		for _, t := range r.takes {
			g.steadyDoses(r, t, period)
			g.unfinished(r, t)
		}
	}
	if direct {
		g.began = list[0].Row
	}
}

// steadyFits reports what a model may not have for records with SS.
func (g *giver) steadyFits(list []*steadyRecord, direct bool) bool {
	at := list[0].Row
	fail := func(format string, args ...any) bool {
		g.DataErrorf(g.at(), "%srow %d of %q: SS: %s", g.table.In, at+1, g.table.Name,
			fmt.Sprintf(format, args...)).Relate(g.table.Span, "declared here")
		return false
	}
	if g.Equilibrated() {
		return fail("the run is equilibrated already; leave `equilibrate` out")
	}
	for _, r := range list {
		at = r.Row
		for _, s := range g.model.Differential() {
			if r.Steady == 2 && !terms.Zero(s.Value) {
				return fail("with SS = 2 the steady state is added to what is there, and %q does not begin at 0; "+
					"write SS = 1", s.Name)
			}
		}
	}
	switch {
	case direct:
		return true
	case g.model.Algebraic() || len(g.model.States) > len(g.model.Rates):
		return fail("a steady state that is not the start of the run is not available for models with algebraic " +
			"equations")
	case len(g.table.Occasions) > 0:
		return fail("a steady state that is not the start of the run is not available for models with random effects " +
			"of occasions")
	case slices.ContainsFunc(g.model.Events, func(e *model.Event) bool { return !g.own[e] }):
		return fail("a steady state that is not the start of the run is not available for models with events of " +
			"their own")
	}
	return true
}

// commonPeriod returns the time after which all records repeat; 0 for constant infusions alone.
func (g *giver) commonPeriod(list []*steadyRecord) (float64, bool) {
	longest := 0.0
	for _, r := range list {
		longest = max(longest, r.Period)
	}
	for k := 1; k <= mostPeriods; k++ {
		period := float64(float64(k) * longest)
		if !slices.ContainsFunc(list, func(r *steadyRecord) bool {
			return r.Period > 0 && (math.Abs(math.RoundToEven(period/r.Period)-period/r.Period) > 1e-9 ||
				period/r.Period > mostPeriods)
		}) {
			return period, true
		}
	}
	g.DataErrorf(g.at(), "%sthe II of the records of %q with SS have no common multiple of at most %d of the "+
		"shortest; round them, or write the doses before as records with ADDL", g.table.In, g.table.Name, mostPeriods)
	return 0, false
}

// copy declares a hidden state that begins as s does.
func (g *giver) copy(name string, s *model.Symbol) *model.Symbol {
	c := &model.Symbol{
		Name: g.table.Name + "." + name, Kind: model.StateSymbol, Type: s.Type, Span: g.at(), Value: s.Value,
		Hidden: true,
	}
	g.copies = append(g.copies, c)
	return c
}

// steadyDose elaborates what a state takes of a record. Its numbers are scalars.
func (g *giver) steadyDose(r *steadyRecord, l *Line, i int) {
	d := &Rows{List: []int{r.Row}, Read: map[int]model.Expr{}}
	t := &steadyDose{line: l, lag: g.said(l, d, Lag)}
	if t.lag == nil {
		t.lag = terms.Number(0, g.unitOfTime(), g.at())
	}
	t.amount = g.amount(l, d, []float64{r.Amount})
	if r.Form != records.Bolus {
		t.flow, t.length = g.flow(l, d, r.Form, t.amount, []float64{max(r.Rate, r.Length)})
		if r.rates[l.Sym] == nil {
			if r.states == nil {
				g.infuses(l.Sym)
			} else {
				u := l.Sym.Type
				u.Unit = u.Unit.Div(g.unitOfTime())
				r.rates[l.Sym] = g.discrete(fmt.Sprintf("steady.%d.into.%s", i+1, l.Sym.Name), u)
				g.infuses(l.Sym)
			}
		}
		t.running = t.flow
		if !r.Constant() {
			more := g.op("-", g.whole(g.op("+", t.lag, t.length), r.Period), g.whole(t.lag, r.Period))
			t.running = g.op("*", more, t.flow)
		}
	}
	r.takes = append(r.takes, t)
}

// whole is how many whole periods x holds.
func (g *giver) whole(x model.Expr, period float64) model.Expr {
	n := g.op("/", x, terms.Number(period, g.unitOfTime(), g.at()))
	return g.Quietly(func() model.Expr { return g.Apply(stdlib.Find("floor", stdlib.Elementwise), g.at(), n) })
}

// within is what is left of x without whole periods.
func (g *giver) within(x model.Expr, period float64) model.Expr {
	return g.op("-", x, g.op("*", g.whole(x, period), terms.Number(period, g.unitOfTime(), g.at())))
}

// settle makes the events that find the steady states and that begin the run with them.
func (g *giver) settle(list []*steadyRecord, direct bool, period float64) {
	e := &model.Event{
		Name: g.table.Name + ".steady", Span: g.at(), Trigger: model.Trigger{Times: []model.Expr{g.model.From}},
		Policy: policy.Policy{Priority: math.Inf(1)}, Settles: true,
	}
	if period > 0 {
		e.Period = terms.Number(period, g.unitOfTime(), g.at())
	}
	after := &model.Event{
		Name: g.table.Name + ".after", Span: g.at(), Trigger: model.Trigger{Times: []model.Expr{g.model.From}},
		Policy: policy.Policy{Priority: math.MaxFloat64}, Hidden: true, Resumes: true,
	}
	one := func(x float64) model.Expr { return terms.Number(x, units.One, g.at()) }
	e.Body = append(e.Body, g.set(g.life, one(whileSteady)))
	first := 0.0
	if direct && slices.Contains(g.course.Ends, g.course.First) {
		first = 1
	}
	after.Body = append(after.Body, g.set(g.life, one(first)))
	g.keepFirst(e)
	sums := map[*model.Symbol][]*model.Assign{}
	for _, r := range list {
		for _, t := range r.takes {
			if t.running == nil {
				continue
			}
			sym := r.rates[t.line.Sym]
			sums[sym] = append(sums[sym], g.add(sym, t.line.Subs, "+", t.running))
			if e.Body = append(e.Body, sums[sym][len(sums[sym])-1]); r.Constant() && direct {
				after.Body = append(after.Body, g.add(sym, t.line.Subs, "-", t.running))
			}
		}
	}
	if !direct {
		g.standing = g.discrete("standing", types.Type{Kind: types.Real, Unit: units.One})
		e.Body = append(e.Body, g.set(g.standing, one(1)))
		after.Body = append(after.Body, g.set(g.standing, one(0)))
		for _, s := range g.model.Differential() {
			after.Body = append(after.Body, g.set(s, g.ref(g.first[s])))
		}
	}
	g.Resumed(after)
	g.model.Events = append(g.model.Events, e, after)
	g.own[e], g.own[after] = true, true
}

// keepFirst has an event at the start keep what the states begin with.
func (g *giver) keepFirst(e *model.Event) {
	g.first = map[*model.Symbol]*model.Symbol{}
	for _, s := range g.model.Differential() {
		g.first[s] = g.discrete("first."+s.Name, s.Type)
		e.Body = append(e.Body, g.set(g.first[s], g.ref(s)))
	}
}

// steadyDoses makes the events of the doses of a record while its steady state is sought.
func (g *giver) steadyDoses(r *steadyRecord, t *steadyDose, period float64) {
	if r.Constant() {
		return
	}
	n := int(math.RoundToEven(period / r.Period))
	shifts := make([]float64, n)
	for i := range shifts {
		shifts[i] = float64(float64(i) * r.Period)
	}
	d := g.elements(slices.Repeat([]int{r.Row}, n))
	begins := g.op("+", g.model.From, g.given(d, "at", shifts, g.unitOfTime()))
	seeks := g.less(terms.Number(whileSteady/2, units.One, g.at()), g.ref(g.life))
	gate := func(v model.Expr) model.Expr { return g.choose(seeks, v, terms.Number(0, v.Type().Unit, g.at())) }
	rank := terms.Number(lateDoses, units.One, g.at())
	l := t.line
	add := func(name string, after model.Expr, s *model.Symbol, sign string, v model.Expr) {
		if terms.IsBad(v) || terms.IsBad(after) {
			return
		}
		g.event(name, d, g.op("+", begins, g.within(after, r.Period)), rank,
			[]*model.Assign{g.add(s, l.Subs, sign, gate(v))})
		g.model.Events[len(g.model.Events)-1].Hidden = true
	}
	if t.flow == nil {
		into := l.Sym
		if r.states != nil {
			into = r.states[l.Sym]
		}
		add("steady."+l.Sym.Name, t.lag, into, "+", t.amount)
		return
	}
	add("steady."+l.Sym.Name+".on", t.lag, r.rates[l.Sym], "+", t.flow)
	add("steady."+l.Sym.Name+".off", g.op("+", t.lag, t.length), r.rates[l.Sym], "-", t.flow)
}

// unfinished makes the events of the doses before a record that are not over then.
func (g *giver) unfinished(r *steadyRecord, t *steadyDose) {
	if r.Constant() || terms.IsBad(t.lag) || terms.IsBad(t.amount) {
		return
	}
	over := t.lag
	if t.length != nil {
		over = g.op("+", t.lag, t.length)
	}
	if terms.IsBad(over) {
		return
	}
	most := g.atMost(over, r.Period)
	if most == 0 {
		return
	}
	if !model.Static(over) {
		limit := terms.Number(float64(float64(most+1)*r.Period), g.unitOfTime(), g.at())
		g.demandOf(nil, g.less(over, limit), fmt.Sprintf("row %d of %q: SS: more than %d doses before the record are "+
			"not over at it; the lag and the duration of an infusion may be so many II at most", r.Row+1,
			g.table.Name, most))
	}
	before := make([]float64, most)
	for k := range before {
		before[k] = float64(float64(k+1) * r.Period)
	}
	d := g.elements(slices.Repeat([]int{r.Row}, most))
	ago := g.given(d, "before", before, g.unitOfTime())
	alive := g.less(g.ref(g.life), terms.Number(float64(r.Life)+0.5, units.One, g.at()))
	zero := terms.Number(0, g.unitOfTime(), g.at())
	add := func(name string, after model.Expr, s *model.Symbol, sign string, v model.Expr) {
		left := g.op("-", after, ago)
		none := terms.Number(0, v.Type().Unit, g.at())
		v = g.choose(alive, g.choose(g.less(left, zero), none, v), none)
		at := g.op("+", terms.Number(r.Time, g.unitOfTime(), g.at()), g.choose(g.less(left, zero), zero, left))
		rank := g.choose(g.less(zero, left), terms.Number(lateDoses, units.One, g.at()),
			terms.Number(g.rank(r.Row)+0.2, units.One, g.at()))
		g.event(name, d, at, rank, []*model.Assign{g.add(s, t.line.Subs, sign, v)})
	}
	l := t.line
	name := "before." + l.Target.Span.Text()
	if t.flow == nil {
		add(name, t.lag, l.Sym, "+", t.amount)
		return
	}
	add(name+".on", t.lag, g.infuses(l.Sym), "+", t.flow)
	add(name+".off", over, g.infuses(l.Sym), "-", t.flow)
}

// atMost returns how many periods before a record a dose may have been given that takes so long; where that hangs on
// params, with room around their defaults.
func (g *giver) atMost(over model.Expr, period float64) int {
	const room, unknown, most = 4, 12, 1000
	depth := 0
	var value func(r *model.Ref) model.Expr
	value = func(r *model.Ref) model.Expr {
		if depth++; depth > 1000 || r.Sym.Kind != model.ParamSymbol || r.Sym.Value == nil {
			return nil
		}
		return model.Replace(r.Sym.Value, value)
	}
	x, ok := g.Constant(model.Replace(over, value))
	switch {
	case !ok || !(x >= 0):
		return unknown
	case model.Static(over):
		return int(math.Floor(x / period))
	}
	return int(min(2*math.Ceil(x/period)+room, most))
}

// steadyArrives makes the event by which a steady state becomes that of the run.
func (g *giver) steadyArrives(r *steadyRecord) {
	var body []*model.Assign
	for _, s := range g.model.Differential() {
		if r.Steady == 1 {
			body = append(body, g.set(s, g.ref(r.states[s])))
		} else {
			body = append(body, g.add(s, nil, "+", g.ref(r.states[s])))
		}
	}
	for _, s := range g.model.Differential() {
		if g.rates[s] == nil {
			continue
		}
		sum := g.ref(g.rates[s])
		if r.Steady == 1 {
			sum = g.rates[s].Value
		}
		if its := r.rates[s]; its != nil && !r.Constant() { // at the border of a period it is what runs then
			sum = g.op("+", sum, g.ref(its))
		}
		body = append(body, g.set(g.rates[s], sum))
	}
	if r.Steady == 1 && !slices.Contains(g.course.Resets, r.Row) {
		body = append(body, g.add(g.life, nil, "+", terms.Number(1, units.One, g.at())))
	}
	for i, a := range body {
		body[i] = g.inRun(a)
	}
	d := g.elements([]int{r.Row})
	g.event("steady.state", d, g.given(d, "at", []float64{r.Time}, g.unitOfTime()),
		terms.Number(g.rank(r.Row)+0.4, units.One, g.at()), body)
}

// holdCourses has covariates be what they are at the record, where the states themselves are sought.
func (g *giver) holdCourses() {
	for _, r := range g.steadyOnes {
		seeks := g.less(terms.Number(whileSteady/2, units.One, g.at()), g.ref(g.life))
		courses := g.CoursesAt(terms.Number(r.Time, g.unitOfTime(), g.at()))
		for v, then := range courses {
			courses[v] = g.choose(seeks, then, v)
		}
		for i, x := range g.model.Rates {
			g.model.Rates[i] = model.ReplaceNodes(x, courses)
		}
	}
}

// copyRates gives the copies of states their rates, and lets the states stand still while these are sought.
func (g *giver) copyRates(period float64) {
	if g.standing == nil {
		g.holdCourses()
		return
	}
	const fast = 40 // e-folds in a period, so that nothing of a deviation is left after one
	if period == 0 {
		period = 1
	}
	stands := g.ref(g.standing)
	back := terms.Number(fast/period, units.One.Div(g.unitOfTime()), g.at())
	states := g.model.Differential()
	n := len(states)
	rates := slices.Clone(g.model.Rates)
	for i, s := range states {
		runs := g.op("*", g.op("-", terms.Number(1, units.One, g.at()), stands), rates[i])
		held := g.op("*", g.op("*", stands, back), g.op("-", g.ref(g.first[s]), g.ref(s)))
		g.model.Rates[i] = g.op("+", runs, held)
	}
	for _, r := range g.steadyOnes {
		courses := g.CoursesAt(terms.Number(r.Time, g.unitOfTime(), g.at()))
		for i, s := range states[:n] {
			own := model.Replace(model.ReplaceNodes(rates[i], courses), func(x *model.Ref) model.Expr {
				if c := r.states[x.Sym]; c != nil {
					return g.ref(c)
				}
				for s, is := range g.rates {
					if is != x.Sym {
						continue
					}
					if its := r.rates[s]; its != nil {
						return g.ref(its)
					}
					return is.Value
				}
				return nil
			})
			g.model.States = append(g.model.States, r.states[s])
			g.model.Rates = append(g.model.Rates, g.op("*", stands, own))
		}
	}
}
