package typecheck

import (
	"math"
	"slices"
	"strconv"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// An event with a delay is several events, which share hidden discretes:
//
//   - its trigger, with the condition or the times of the event, writes the time of an execution, t + delay, into a
//     slot that is free, and beside it the values that the body needs of the trigger;
//   - the execution is at the times of the slots. Its body is that of the event, and frees the slot;
//   - the lapse, of an event that is not persistent, frees all slots when the condition ceases to hold. Where nothing
//     is pending, which another discrete tells, it does not fire.
//
// Times and values are discretes, so whatever keeps, repeats or differentiates a run knows of them.

// Never is what a slot holds while no execution is pending there: the largest number.
const Never = math.MaxFloat64

// maxSlotted is the largest number of axes of an array of what slots hold.
const maxSlotted = 4

// delayed makes e the execution of an event with a delay. It returns its trigger, which comes before it in the model,
// and the lapse, or nil.
func (c *checker) delayed(e *model.Event, o *eventOptions) (trigger, lapse *model.Event, ok bool) {
	trigger = &model.Event{
		Name: e.Name + ".trigger", Span: e.Span, Hidden: true, Indices: e.Indices, Slot: e.Slot, Trigger: e.Trigger,
		Execution: e,
	}
	trigger.Policy, e.Policy = e.Delayed()
	trigger.Priority = terms.BeforeOthers
	t := types.Type{Kind: types.Real}
	if c.model.Time == nil {
		return nil, nil, false // reported
	}
	t.Unit = c.model.Time.Type.Unit
	now := model.Seal(&model.Ref{Base: model.NewBase(c.model.Time.Type, e.Span), Sym: c.model.Time})
	never := model.Expr(model.Seal(&model.Const{Base: model.NewBase(t, e.Span), Data: []float64{Never}}))
	when := c.hold(e, "when", e.Slotted(t), never)
	due := c.quietly(func() model.Expr { return c.apply(stdlib.Operator("+"), o.delay.Span(), now, o.delay) })
	if isBad(due) {
		return nil, nil, false
	}
	slot := c.slotOf(e, e.Slot)
	trigger.Body = []*model.Assign{{Target: when, Subs: slot, Value: due, Span: o.delay.Span()}}
	if !e.Late {
		for _, a := range e.Body {
			if !c.capture(e, a, o) {
				return nil, nil, false
			}
		}
	}
	trigger.Body = append(trigger.Body, o.kept...)
	e.Body = append(e.Body, &model.Assign{Target: when, Subs: slot, Value: never, Span: e.Span})
	if e.Transient {
		free := &model.Index{Name: "slot", Lo: 1, Step: 1, Count: e.Most, Span: e.Span}
		pending, element, waits := c.waits(e)
		number := func(x float64) model.Expr { return number(x, units.One, e.Span) }
		count := func(op string, x float64) *model.Assign {
			return &model.Assign{
				Target: pending, Subs: element, Span: e.Span,
				Value: c.apply(stdlib.Operator(op), e.Span, waits, number(x)),
			}
		}
		trigger.Body = append(trigger.Body, count("+", 1))
		e.Body = append(e.Body, count("-", 1))
		some := c.elementwise(stdlib.Operator("<"), e.Span, types.Bool, number(0.5), waits)
		lapse = &model.Event{
			Name: e.Name + ".lapse", Span: e.Span, Hidden: true, Indices: e.Indices,
			Trigger: model.Trigger{
				When: c.elementwise(stdlib.Operator("and"), e.Span, types.Bool, terms.Not(e.When, true), some),
			},
			Policy: policy.Policy{Priority: terms.BeforeOthers, Tol: trigger.Tol},
			Body: []*model.Assign{
				{Target: when, Indices: []*model.Index{free}, Subs: c.slotOf(e, free), Value: never, Span: e.Span},
				{Target: pending, Subs: element, Value: number(0), Span: e.Span},
			},
		}
		e.If = trigger
	}
	e.Pending = true
	e.Trigger = model.Trigger{Times: []model.Expr{c.held(when, slot, t, e.Span)}}
	return trigger, lapse, true
}

// waits declares the number of executions of e that are pending, of each element. It also returns the subscripts of an
// element, and its number.
func (c *checker) waits(e *model.Event) (sym *model.Symbol, element []model.Sub, n model.Expr) {
	t := types.Type{Kind: types.Real, Unit: units.One}
	whole := t
	for _, i := range e.Indices {
		whole.Shape = append(whole.Shape, i.Count)
	}
	sym = c.hold(e, "waits", whole, number(0, units.One, e.Span))
	if len(e.Indices) == 0 {
		return sym, nil, model.Seal(&model.Ref{Base: model.NewBase(t, e.Span), Sym: sym})
	}
	element = c.elementOf(e)
	return sym, element, c.held(sym, element, t, e.Span)
}

// elementOf returns the subscripts of an element of e.
func (c *checker) elementOf(e *model.Event) (subs []model.Sub) {
	for _, i := range e.Indices {
		subs = append(subs, model.Sub{At: c.position(i)})
	}
	return subs
}

// slotOf returns the subscripts of what slot ix of an element of e holds.
func (c *checker) slotOf(e *model.Event, ix *model.Index) (subs []model.Sub) {
	return append(c.elementOf(e), model.Sub{At: c.position(ix)})
}

// hold declares a hidden discrete of e.
func (c *checker) hold(e *model.Event, name string, t types.Type, value model.Expr) *model.Symbol {
	s := &model.Symbol{
		Name: e.Name + "." + name, Kind: model.DiscreteSymbol, Type: t, Span: e.Span, Value: value, Literal: true,
		Hidden: true,
	}
	c.model.Discretes = append(c.model.Discretes, s)
	return s
}

// held is the part of type t of a hidden discrete that subs select.
func (c *checker) held(sym *model.Symbol, subs []model.Sub, t types.Type, span source.Span) model.Expr {
	return model.Seal(&model.Access{
		Base: model.NewBase(t, span),
		X:    model.Seal(&model.Ref{Base: model.NewBase(sym.Type, span), Sym: sym}), Subs: subs,
	})
}

// keeper is what the expressions of a body need to keep values of the trigger.
type keeper struct {
	event   *model.Event
	options *eventOptions
}

// atTrigger is the value that v had at the trigger of an event with a delay.
func atTrigger(c *checker, x context, v model.Expr, span source.Span) model.Expr {
	switch k := x.keeper; {
	case k == nil:
		c.errorf(CodePlace, span, "at_trigger stands only in the body of an event with a delay")
		return bad(span)
	case !k.event.Late:
		return v // as all of the body is
	case len(x.guards) > 0 && len(model.Free(v)) > 0:
		c.errorf(CodePlace, span, "the trigger keeps this for all elements: write at_trigger around the `if`")
		return bad(span)
	default:
		return keep(c, k.event, v, k.options, span)
	}
}

// capture makes a, of the body of e, one of what the trigger kept. Of `x += v` and the like v is kept.
func (c *checker) capture(e *model.Event, a *model.Assign, o *eventOptions) bool {
	if a.Change == nil {
		a.Value = keep(c, e, a.Value, o, a.Span)
	} else if v := keep(c, e, a.Change, o, a.Span); isBad(v) {
		return false
	} else {
		a.Value = c.quietly(func() model.Expr { return c.apply(stdlib.Operator(a.Operator), a.Span, a.Old, v) })
	}
	return !isBad(a.Value)
}

// keep has the trigger of e keep a value for the body, which may be in loops, and returns what the body reads instead.
func keep(c *checker, e *model.Event, value model.Expr, o *eventOptions, span source.Span) model.Expr {
	if model.Static(value) && len(model.Free(value)) == 0 {
		return value // it is the same at any time
	}
	t := value.Type()
	t.Kind = types.Real
	var indices []*model.Index
	var loops []int
	subs := c.slotOf(e, e.Slot)
	for _, ix := range model.Free(value) {
		if !slices.Contains(e.Indices, ix) {
			indices = append(indices, ix)
			loops = append(loops, ix.Count)
			subs = append(subs, model.Sub{At: c.position(ix)})
		}
	}
	for _, n := range t.Shape {
		subs = append(subs, model.Sub{Lo: 1, Step: 1, Count: n})
	}
	whole := e.Slotted(t, loops...)
	if len(whole.Shape) > maxSlotted {
		c.errorf(CodeShape, span, "the trigger would have to keep an array of %d axes for this assignment, and there "+
			"are at most %d; write `values = execution`", len(whole.Shape), maxSlotted)
		return bad(span)
	}
	zero := model.Expr(model.Seal(&model.Const{
		Base: model.NewBase(types.Type{Kind: types.Real, Unit: t.Unit}, span),
		Data: []float64{0},
	}))
	sym := c.hold(e, "value"+strconv.Itoa(len(o.kept)+1), whole, zero)
	o.kept = append(o.kept, &model.Assign{Target: sym, Indices: indices, Subs: subs, Value: value, Span: span})
	return c.held(sym, subs, t, span)
}
