package run

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/stdlib"
)

// A Window is a part of the time of a run: of an experiment, or of the model itself. Multiple shooting makes the run of
// each window as one of its own, which begins with values that are unknowns of the search.
type Window struct {
	Experiment int // -1 for the model itself
	From, To   float64
	First      bool // it begins where the run does, with the initial values of the model
	// Stretched tells that From and To are parts of the span of the run, from 0 to 1: they move where that does.
	Stretched bool
}

// Node says what a window begins and ends with: the elements of states with rates, then those of discretes whose
// values are numbers. Labels are those of discretes that count or choose, and so have no derivatives, then those of
// algebraic unknowns, whose values are where the search for consistent ones begins.
type Node struct {
	Names, Labels []string // of the variables, as Options set them
	Sizes, Marks  []int    // how many elements each has
}

// windows are the models of windows that were compiled so far.
type windows struct {
	mu    sync.Mutex
	first map[int]*compiled.Model // by experiment: what the others share with
	made  map[Window]*comparedPart
}

// nodePrefix begins the names of params that stand for the values of discretes at the start of a window.
const nodePrefix = "node_of_"

// IsNode reports whether one of the names of a Node stands for a discrete.
func IsNode(name string) bool { return strings.HasPrefix(name, nodePrefix) }

// CodeShooting is the code of what multiple shooting cannot do.
const CodeShooting diag.Code = "shooting"

// part returns the model of an experiment, or of the model itself.
func (m *Model) part(experiment int) (of *Model, name string) {
	if experiment < 0 {
		return m, ""
	}
	return m.Experiments[experiment].Model, m.Experiments[experiment].Name
}

// Node says what the windows of an experiment begin with. The error names what windows cannot have.
func (m *Model) Node(experiment int) (n Node, err error) {
	of, _ := m.part(experiment)
	c := of.Checked
	if err := windowless(c); err != nil {
		return n, err
	}
	for _, s := range c.Differential() {
		n.Names, n.Sizes = append(n.Names, "initial("+s.Name+")"), append(n.Sizes, s.Type.Shape.Size())
	}
	label := labels(c)
	for _, s := range assigned(c) {
		if label[s] {
			n.Labels, n.Marks = append(n.Labels, nodePrefix+s.Name), append(n.Marks, s.Type.Shape.Size())
		} else {
			n.Names, n.Sizes = append(n.Names, nodePrefix+s.Name), append(n.Sizes, s.Type.Shape.Size())
		}
	}
	for _, s := range c.States[len(c.Rates):] {
		n.Labels, n.Marks = append(n.Labels, "initial("+s.Name+")"), append(n.Marks, s.Type.Shape.Size())
	}
	return n, nil
}

// windowless returns an error that names what a run in parts cannot have.
func windowless(c *model.Model) error {
	var l diag.List
	refuse := func(at source.Span, format string, args ...any) {
		l.Errorf(CodeShooting, at, "fit.shooting divides runs into parts, and "+format, args...)
	}
	for _, e := range c.Events {
		switch name := e.Name; {
		case e.Hidden && !e.Settles && !e.After: // of another event
		case e.Slot != nil:
			refuse(e.Span, "%s has a delay: it may be triggered in one part and come in the next", name)
		case e.After: // it reads the end of the whole run, and no part does
		case e.Settles, e.Resumes:
			refuse(e.Span, "a steady state belongs to a whole run, not to a part")
		case e.Once:
			refuse(e.Span, "%s fires once in the whole run: a part does not know whether it has fired", name)
		case e.Stop:
			refuse(e.Span, "%s may stop the run, and there would be no parts after it", name)
		}
	}
	for _, r := range c.Randoms {
		refuse(r.Span, "the likelihood is an integral over the random effect %s of whole runs", r.Sym.Name)
	}
	if len(c.Masses) > 0 {
		refuse(c.Time.Span, "where rates stand in sums, values at the start of a part cannot be chosen freely")
	}
	for _, s := range c.Discretes {
		if s.Type.Kind == types.Bool {
			refuse(s.Span, "the discrete %s is true or false: write a number, 0 or 1", s.Name)
		}
	}
	return l.Err()
}

// assigned returns the discretes that events change.
func assigned(c *model.Model) (list []*model.Symbol) {
	for _, s := range c.Discretes {
		if slices.ContainsFunc(c.Events, func(e *model.Event) bool {
			return slices.ContainsFunc(e.Body, func(a *model.Assign) bool { return a.Target == s })
		}) {
			list = append(list, s)
		}
	}
	return list
}

// labels returns the discretes whose values depend on nothing that derivatives know: numbers in the text, and each
// other.
func labels(c *model.Model) map[*model.Symbol]bool {
	is := map[*model.Symbol]bool{}
	values := map[*model.Symbol][]model.Expr{}
	for _, s := range c.Discretes {
		is[s], values[s] = true, []model.Expr{s.Value}
	}
	for _, e := range c.Events {
		for _, a := range e.Body {
			if is[a.Target] {
				values[a.Target] = append(values[a.Target], a.Value)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for s, list := range values {
			if !is[s] {
				continue
			}
			model.Walk(func(e model.Expr) bool {
				ref, ok := e.(*model.Ref)
				if ok && (ref.Sym.Kind != model.DiscreteSymbol || !is[ref.Sym]) {
					is[s], changed = false, true
				}
				return is[s]
			}, list...)
		}
	}
	return is
}

// A Span is when the run of an experiment begins and ends. No window begins at times at which events are Due, which are
// those that do not wait for a condition. Moved names what moves the start or the end among what is differentiated by;
// "" for nothing.
type Span struct {
	From, To float64
	Due      []float64
	Moved    string
}

// Fixed returns an error if what is differentiated by moves the start or the end.
func (s *Span) Fixed() error {
	if s.Moved == "" {
		return nil
	}
	var l diag.List
	l.Errorf(CodeShooting, source.Span{}, "fit.shooting divides runs into parts, and %s moves their start or end",
		s.Moved)
	return l.Err()
}

// Span returns that of an experiment, or of the model itself.
func (m *Model) Span(experiment int, setup Setup) (at Span, err error) {
	of, _ := m.part(experiment)
	if experiment >= 0 {
		setup = setup.part(experiment)
	}
	r, err := of.Begin(setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of = []string{}
	}))
	if err != nil {
		return at, err
	}
	var l diag.List
	list, _ := of.Variables(r.settings.Wrt, &l)
	var plain []compiled.Variable
	for _, v := range list {
		plain = append(plain, compiled.Variable{Name: v.Name, Initial: v.Initial})
	}
	moved := r.problem.Point.Active(plain)
	model.Walk(func(e model.Expr) bool {
		if ref, ok := e.(*model.Ref); ok && slices.Contains(moved, ref.Sym.Name) {
			at.Moved = ref.Sym.Name
		}
		return true
	}, of.Checked.From, of.Checked.To)
	if err := l.Err(); err != nil {
		return at, err
	}
	k, err := r.problem.Kit(1, compiled.Values, false)
	if err != nil {
		return at, r.refused(err)
	}
	w := r.problem.Worker(k)
	times := make([]float64, len(w.Instants()))
	z := w.Size()
	d := make([]float64, z.D)
	w.InstantTimes(d, times)
	w.Start(times[0], make([]float64, z.N), d)
	w.InstantTimes(d, times)
	const most = 100_000 // of one event
	for i, in := range w.Instants() {
		switch in.Kind {
		case solvers.InstantFire:
			at.Due = append(at.Due, times[i])
		case solvers.InstantEvery:
			last, period := times[1], times[in.Period]
			if in.To >= 0 {
				last = min(last, times[in.To])
			}
			for k := 0; k < most && period > 0 && times[i]+float64(k)*period <= last; k++ {
				at.Due = append(at.Due, times[i]+float64(float64(k)*period))
			}
		}
	}
	at.From, at.To = times[0], times[1]
	return at, nil
}

// CompareWithin prepares comparisons with the data in a window that an objective reads; see Compare. Ends are the
// values at its end, of what Node names.
func (m *Model) CompareWithin(objective string, w Window, setup Setup) (*Comparison, error) {
	at := slices.IndexFunc(m.Checked.Objectives, func(o *model.Objective) bool { return o.Name == objective })
	if at < 0 || m.Checked.Objectives[at].Terms == nil {
		return nil, nil
	}
	terms := m.Checked.Objectives[at].Terms
	p, err := m.window(w)
	if err != nil {
		return nil, err
	}
	c := &Comparison{PriorWeight: terms.Prior, threads: 1, answers: &system.Answers{}, ends: p.ends}
	if err := c.add(p, terms, result.NeededTerms, setup); err != nil {
		return nil, err
	}
	return c, nil
}

// window returns the compiled model of a window. All of an experiment share what they have in common.
func (m *Model) window(w Window) (*comparedPart, error) {
	m.windows.mu.Lock()
	defer m.windows.mu.Unlock()
	if p := m.windows.made[w]; p != nil {
		return p, nil
	}
	of, name := m.part(w.Experiment)
	if err := windowless(of.Checked); err != nil {
		return nil, err
	}
	var list diag.List
	checked := within(of.Checked, w, &list)
	if err := list.Err(); err != nil {
		return nil, err
	}
	p := &comparedPart{name: name, at: w.Experiment, ends: rowObjectives(checked, nodeOf(of.Checked))}
	if m.windows.first == nil {
		m.windows.first, m.windows.made = map[int]*compiled.Model{}, map[Window]*comparedPart{}
	}
	first := m.windows.first[w.Experiment]
	if p.of = partOf(&first, checked, &list); p.of == nil {
		return nil, list.Err()
	}
	m.windows.first[w.Experiment], m.windows.made[w] = first, p
	return p, nil
}

// partOf compiles the model of a window. It shares with the first what they have in common; where there is none, it is
// the first. It returns nil where list has errors.
func partOf(first **compiled.Model, checked *model.Model, list *diag.List) *Model {
	var made *compiled.Model
	if *first != nil {
		made = (*first).Experiment(checked, list)
	} else {
		made = compiled.NewFamily(checked, list)
		*first = made
	}
	if made == nil {
		return nil
	}
	return &Model{Checked: checked, System: made, Explain: explain.New(made), Part: true}
}

// rowObjectives makes the rows of observations objectives of a model, and returns the names of those that are the
// values of some symbols at the end.
func rowObjectives(c *model.Model, ends []*model.Symbol) (names []string) {
	c.Objectives, c.Totals, c.Experiments = nil, nil, nil
	if ends == nil {
		addScales(c)
	}
	for i, o := range c.Observations {
		add := func(what string, e model.Expr) {
			c.Objectives = append(c.Objectives, &model.Objective{
				Name: fmt.Sprintf("%s'%d.%s", o.Name, i, what), Value: e, Span: o.Span,
			})
		}
		add("prediction", o.Rows.Prediction)
		for k, e := range o.Rows.Args {
			add(fmt.Sprint(k), e)
		}
		add("term", o.Rows.Term)
	}
	for _, s := range ends {
		name := "end'" + s.Name
		names = append(names, name)
		ref := model.Seal(&model.Ref{Base: model.NewBase(s.Type, s.Span), Sym: s})
		c.Objectives = append(c.Objectives, &model.Objective{Name: name, Span: s.Span, Value: model.Seal(
			&model.Functional{Base: model.NewBase(s.Type, s.Span), Kind: model.Final, Body: ref})})
	}
	return names
}

// nodeOf returns what the values at the end of a window are those of, in the order of Node.
func nodeOf(c *model.Model) []*model.Symbol {
	label := labels(c)
	list := slices.Clone(c.Differential())
	var late []*model.Symbol
	for _, s := range assigned(c) {
		if label[s] {
			late = append(late, s)
		} else {
			list = append(list, s)
		}
	}
	return slices.Concat(list, late, c.States[len(c.Rates):])
}

// within returns the model of a window: its times, its rows of data, and discretes that begin with params.
func within(c *model.Model, w Window, l *diag.List) *model.Model {
	out := *c
	out.Invariants = nil // they need not hold before the parts join
	number := func(like model.Expr, x float64) model.Expr {
		return model.Seal(&model.Const{Base: model.NewBase(like.Type(), like.Span()), Data: []float64{x}})
	}
	if out.From, out.To = number(c.From, w.From), number(c.To, w.To); w.Stretched {
		out.From, out.To = partOfSpan(c, w.From), partOfSpan(c, w.To)
	}
	out.Events = slices.Clone(c.Events)
	for i, e := range out.Events {
		switch {
		case e.Every != nil && e.From == nil: // from the start of the whole run
			changed := *e
			changed.From = c.From
			replaceEvent(&out, i, &changed)
		case e.Start && !w.First:
			changed := *e
			changed.Start = false
			replaceEvent(&out, i, &changed)
		}
	}
	// The hidden params are in the models of all windows, so that these lie in memory alike.
	params := slices.Clone(c.Params)
	starts := map[*model.Symbol]*model.Symbol{}
	for _, s := range assigned(c) {
		p := &model.Symbol{
			Name: nodePrefix + s.Name, Kind: model.ParamSymbol, Type: s.Type, Span: s.Span, Hidden: true,
			Value: model.Seal(&model.Const{Base: model.NewBase(s.Type, s.Span), Data: []float64{0}}), Literal: true,
			Lo: negative, Hi: -negative,
		}
		p.Type.Kind = types.Real
		starts[s] = p
		params = append(params, p)
	}
	out.Params = params
	if !w.First && len(starts) > 0 {
		for _, s := range assigned(c) {
			p := starts[s]
			startAt(&out, s, model.Seal(&model.Ref{Base: model.NewBase(p.Type, s.Span), Sym: p}))
		}
	}
	tables := map[*model.Table]*model.Table{}
	out.Observations = nil
	for _, o := range c.Observations {
		if x := observedWithin(o, w, tables, l); x != nil {
			out.Observations = append(out.Observations, x)
		}
	}
	return &out
}

var negative = math.Inf(-1)

// partOfSpan returns the time that is so much of the way from the start of a run to its end.
func partOfSpan(c *model.Model, part float64) model.Expr {
	switch part {
	case 0:
		return c.From
	case 1:
		return c.To
	}
	t := c.To.Type()
	t.Kind = types.Real
	plain := t
	plain.Unit = units.One
	share := model.Seal(&model.Const{Base: model.NewBase(plain, c.To.Span()), Data: []float64{part}})
	return operation("+", t, c.From, operation("*", t, share, operation("-", t, c.To, c.From)))
}

// operation is that of an operator.
func operation(name string, t types.Type, args ...model.Expr) model.Expr {
	return model.Seal(&model.Call{
		Base: model.NewBase(t, args[0].Span()), Fn: stdlib.Operator(name), Args: args,
	})
}

// replaceEvent puts another event in the place of event i.
func replaceEvent(c *model.Model, i int, e *model.Event) { c.Events[i] = e }

// startAt gives a discrete another value at the start.
func startAt(c *model.Model, s *model.Symbol, value model.Expr) {
	c.Discretes = slices.Clone(c.Discretes)
	i := slices.Index(c.Discretes, s)
	changed := *s
	changed.Value = value
	c.Discretes[i] = &changed
}

// observedWithin returns an observation with its rows in a window alone; nil where it has none. A row at the end of a
// window belongs to it, and so does one at the start of the first.
func observedWithin(
	o *model.Observation, w Window, tables map[*model.Table]*model.Table, l *diag.List,
) *model.Observation {
	refuse := func(what string) *model.Observation {
		l.Errorf(CodeShooting, o.Span, "fit.shooting divides runs into parts, and observe %s reads %s", o.Name, what)
		return nil
	}
	inside := func(t float64) bool { return t <= w.To && (t > w.From || w.First && t >= w.From) }
	table := cutTable(o.Rows.Table, false, inside, tables)
	if slices.ContainsFunc(timesOf(o.Rows.Table), func(t float64) bool { return math.IsInf(t, 0) }) {
		return refuse("a steady state")
	}
	x := *o
	x.Rows = model.Rows{Table: table}
	for i, t := range timesOf(o.Rows.Table) {
		if inside(t) && o.Rows.Ranges != nil {
			x.Rows.Ranges = append(x.Rows.Ranges, o.Rows.Ranges[i])
		}
	}
	cut := func(e model.Expr) model.Expr {
		f, ok := e.(*model.Functional)
		if !ok || f.Kind != model.SumAt || !f.ByRow || model.Depends(f.Body)&model.UsesFunctional != 0 {
			refuse("more than the run at the times of the data")
			return e
		}
		list := timesOf(f.Table)
		at := f.Times.(*model.Const)
		var kept []float64
		for i, t := range list {
			if inside(t) {
				kept = append(kept, at.Data[min(i, len(at.Data)-1)])
			}
		}
		changed := atTimes(f, kept, cutTable(f.Table, true, inside, tables))
		changed.T.Shape = types.Shape{len(table.Data[0])}
		changed.Base = model.NewBase(changed.T, f.S)
		return model.Seal(changed)
	}
	if len(table.Data[0]) == 0 {
		return nil
	}
	x.Rows.Prediction, x.Rows.Term = cut(o.Rows.Prediction), cut(o.Rows.Term)
	x.Rows.Args = nil
	for _, e := range o.Rows.Args {
		x.Rows.Args = append(x.Rows.Args, cut(e))
	}
	return &x
}

// timesOf returns the times of the rows of a table.
func timesOf(t *model.Table) []float64 { return t.Data[slices.Index(t.Columns, "time")] }

// cutTable returns the rows of a table whose times are inside. Where the last column numbers the rows, it numbers those
// that are left.
func cutTable(
	t *model.Table, numbered bool, inside func(float64) bool, made map[*model.Table]*model.Table,
) *model.Table {
	if x := made[t]; x != nil {
		return x
	}
	x := &model.Table{
		Name: t.Name, Columns: t.Columns, Span: t.Span, Data: make([][]float64, len(t.Data)), Rows: []int{},
	}
	for k := range t.Data {
		x.Data[k] = []float64{}
	}
	for i, at := range timesOf(t) {
		if !inside(at) {
			continue
		}
		for k := range t.Data {
			x.Data[k] = append(x.Data[k], t.Data[k][i])
		}
		x.Rows = append(x.Rows, t.Row(i))
	}
	if numbered {
		last := x.Data[len(x.Data)-1]
		for i := range last {
			last[i] = float64(i + 1)
		}
	}
	made[t] = x
	return x
}

// Observed says which element of which state an observation reads, without any arithmetic: a row of Node, with the
// elements before it counted; -1 where it reads anything else.
func (m *Model) Observed(experiment int, observation string) int {
	of, _ := m.part(experiment)
	at := slices.IndexFunc(of.Checked.Observations, func(o *model.Observation) bool { return o.Name == observation })
	if at < 0 {
		return -1
	}
	e, offset := of.Checked.Observations[at].Value, 0
	for {
		x, ok := e.(*model.Access)
		if !ok {
			break
		}
		shape := x.X.Type().Shape
		k := 0
		for i, s := range x.Subs {
			at, ok := s.At.(*model.Const)
			if !ok || len(x.Subs) != len(shape) {
				return -1
			}
			k = k*shape[i] + int(at.Data[0]) - 1
		}
		e, offset = x.X, offset+k
	}
	ref, ok := e.(*model.Ref)
	if !ok || ref.Sym.Type.Shape.Size() <= offset {
		return -1
	}
	for _, s := range of.Checked.Differential() {
		if s == ref.Sym {
			return offset
		}
		offset += s.Type.Shape.Size()
	}
	return -1
}

// atTimes returns a copy of a sum at times that is at some of these, and reads a table of their rows, nil for none. Its
// base is that of the sum, and is to be made anew.
func atTimes(f *model.Functional, kept []float64, table *model.Table) *model.Functional {
	at, changed := f.Times.(*model.Const), *f
	t := at.T
	t.Shape = types.Shape{len(kept)}
	changed.Times, changed.Table = model.Seal(&model.Const{Base: model.NewBase(t, at.S), Data: kept}), table
	if table != nil {
		changed.Body = model.ReplaceRows(f.Body, func(r *model.Row) model.Expr {
			if r.Table != f.Table {
				return nil
			}
			return model.Seal(&model.Row{Base: model.NewBase(r.T, r.S), Table: table, Column: r.Column})
		})
	}
	return &changed
}
