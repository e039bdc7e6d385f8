package typecheck

import (
	"math"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// How steady states are modelled: as events, whose bodies end with the state that the run would lead to.
//
//   - `equilibrate { … }` is an event at the start, before all others. A second event after it gives the params that
//     the first one set their own values back: such params are discretes wherever a run reads them.
//   - steady(e), and the rows of data with time = inf, are read at an event after the end of the run, which nothing
//     else sees.
//
// So whatever runs, repeats or differentiates events knows of steady states.

// steadyOfPass is the steady states of a pass over the file.
type steadyOfPass struct {
	equilibration *ast.Equilibrate // nil for none
	resumed       *model.Event     // where the run goes on after it; nil for none
	settled       *model.Event     // the steady state after the end; nil where nothing reads it
	lags          lagging
}

// equilibrate keeps an `equilibrate` item of this pass. That of an experiment takes the place of the model's.
func (c *checker) equilibrate(it *ast.Equilibrate) {
	old := c.equilibration
	if old != nil && (c.variant == nil || within(old.Span, c.variant.item.Span)) {
		c.errorf(CodeDuplicate, it.Span, "a run is equilibrated once; put all assignments into one `equilibrate`").
			Relate(old.Span, "first here")
		return
	}
	c.equilibration = it
}

// conditions notes the params that `equilibrate` sets.
func (c *checker) conditions() {
	if c.equilibration == nil {
		return
	}
	for _, a := range c.equilibration.Body {
		if a.Let != nil || a.Stop {
			continue
		}
		if e := c.globals[a.Target.Name.Name]; e != nil && e.kind == paramName && e.home == nil {
			e.condition = true
		}
	}
}

// holdParam declares the discrete that stands for param e while the run reads it.
func (c *checker) holdParam(e *entity) {
	e.held = &model.Symbol{
		Name: e.name + "°", Kind: model.DiscreteSymbol, Type: e.sym.Type, Span: e.sym.Span, Doc: e.sym.Doc,
		Value: e.current(e.sym.Span), Hidden: true, Lo: math.Inf(-1), Hi: math.Inf(1),
	}
	for c.globals[e.held.Name] != nil { // the user has a name like this in backquotes
		e.held.Name += "°"
	}
}

// checkEquilibration makes the events of `equilibrate`.
func (c *checker) checkEquilibration() {
	it := c.equilibration
	if it == nil || c.model.From == nil {
		return
	}
	e := &model.Event{
		Name: "equilibrate", Span: it.Span, Trigger: model.Trigger{Times: []model.Expr{c.model.From}},
		Policy: policy.Policy{Priority: math.Inf(1)}, Settles: true,
	}
	x := context{place: placeEvent}
	if c.variant != nil && within(it.Span, c.variant.item.Span) {
		x.group = c.variant.group
	}
	c.body(x, e, it.Body)
	for _, a := range it.Body {
		if a.Stop {
			c.errorf(CodeTarget, a.Span, "`stop` ends a run, and `equilibrate` is before it; leave it out")
		}
	}
	if it.Every != nil {
		x.place = placePeriod
		if e.Period = c.expr(x, it.Every); isBad(e.Period) {
			return
		}
		switch k, is := e.Period.(*model.Const); {
		case !c.numeric(e.Period, "every", e.Period.Span()):
			return
		case len(e.Period.Type().Shape) > 0:
			c.errorf(CodeShape, e.Period.Span(), "the period is a single number, and this has shape %s",
				e.Period.Type().Shape)
			return
		case is && !(k.Data[0] > 0):
			c.errorf(CodeRange, e.Period.Span(), "the period is positive, and this is %g", k.Data[0])
		}
		c.timeUnit("the period", e.Period)
	}
	c.resumed = &model.Event{
		Name: "after equilibrate", Span: it.Span, Trigger: model.Trigger{Times: []model.Expr{c.model.From}},
		Policy: policy.Policy{Priority: math.MaxFloat64}, Hidden: true, Resumes: true,
	}
	for _, g := range c.order {
		if g.held != nil {
			c.resumed.Body = append(c.resumed.Body, &model.Assign{
				Target: g.held, Value: g.current(it.Span),
				Span: it.Span,
			})
		}
	}
	c.model.Events = append(c.model.Events, e, c.resumed)
}

// afterwards returns the event of the steady state after the end of the run.
func (c *checker) afterwards(at source.Span) *model.Event {
	if c.settled == nil {
		c.settled = &model.Event{
			Name: "steady state", Span: at, Trigger: model.Trigger{After: true}, Hidden: true, Settles: true,
		}
		c.model.Events = append(c.model.Events, c.settled)
	}
	return c.settled
}

// steadyRows returns the sum of a term over the rows of a table at its steady state, those with time = inf, and the
// table of the others. The sum is nil where there are none. row makes the term of a row, with its columns as numbers.
func (c *checker) steadyRows(from *dataTable, t *model.Table, s source.Span,
	row func(r *rowsOf) model.Expr,
) (model.Expr, *model.Table) {
	times := t.Data[slices.Index(t.Columns, "time")]
	if !slices.ContainsFunc(times, isInf) {
		return nil, t
	}
	var sum model.Expr
	finite := make([]bool, len(times))
	for i, x := range times {
		if finite[i] = !isInf(x); finite[i] {
			continue
		}
		term := row(&rowsOf{from: from, rows: t, fixed: i + 1})
		if term == nil || isBad(term) {
			return nil, t
		}
		if sum == nil {
			sum = term
		} else {
			sum = c.quietly(func() model.Expr { return c.apply(stdlib.Operator("+"), s, sum, term) })
		}
	}
	f := model.Seal(&model.Functional{
		Base: model.NewBase(types.Type{Kind: types.Real, Unit: units.One}, s), Kind: model.Steady, Body: sum,
		Event: c.afterwards(s),
	})
	return f, t.Keep(finite)
}

func isInf(x float64) bool { return math.IsInf(x, 1) }
