package typecheck

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/lang/source"
)

// eventOptions are those options of an event that make further events of it.
type eventOptions struct {
	at    map[string]source.Span // of those that are written
	delay model.Expr             // nil without a delay
	kept  []*model.Assign        // what the trigger keeps for the body
}

// delayOf elaborates the option delay.
func delayOf(c *checker, x context, e *model.Event, o *eventOptions, a ast.Expr) bool {
	v := c.expr(x, a)
	if isBad(v) || !c.numeric(v, "delay", v.Span()) {
		return false
	}
	if s := v.Type().Shape; len(s) > 0 {
		c.errorf(CodeShape, v.Span(), "the delay of an event is a single number, and this has shape %s", s)
		return false
	}
	c.timeUnit("the delay of event "+e.Name, v)
	if k, is := v.(*model.Const); is && !(k.Data[0] >= 0) {
		c.errorf(CodeRange, v.Span(), "the delay of an event is not negative, and this is %g", k.Data[0])
		return false
	}
	o.delay = v
	return true
}

// optionValue reads the value of an option that is known at once.
func optionValue(c *checker, e *model.Event, row *policy.Option, a ast.Expr) (v float64, ok bool) {
	alone := context{place: placeConst}
	switch row.Takes {
	case policy.Words:
		if n, is := strip(a).(*ast.Name); is && slices.Contains(row.Words, n.Name) {
			return float64(slices.Index(row.Words, n.Name)), true
		}
		c.errorf(CodeEventOption, a.Pos(), "the option %s is %s", row.Name, strings.Join(row.Words, " or "))
		return 0, false
	case policy.Count:
		n, ok := c.integer(alone, a, row.What, 1, policy.MaxCount)
		return float64(n), ok
	}
	v, written, ok := c.constant(alone, a, row.What)
	if !ok {
		return 0, false
	}
	c.timeUnit(strings.Replace(row.What, "an event", "event "+e.Name, 1), written)
	if !(v >= 0) {
		c.errorf(CodeRange, written.Span(), "%s is not negative, and this is %g", row.What, v)
		return 0, false
	}
	return v, true
}

// options reads the options of an event into its policy.
func (c *checker) options(x context, e *model.Event, it *ast.Event) (*eventOptions, bool) {
	o := &eventOptions{at: map[string]source.Span{}}
	ok := true
	for _, a := range it.Options {
		row := policy.Find(a.Key.Name)
		if row == nil {
			text := "an event has no option %q; its options are " + strings.Join(policy.Names(), ", ")
			text += diag.DidYouMean(a.Key.Name, policy.Names())
			c.errorf(CodeEventOption, a.Key.Span, text, a.Key.Name)
			ok = false
			continue
		}
		if first, twice := o.at[row.Name]; twice {
			c.errorf(CodeEventOption, a.Key.Span, "this event has two options %s", row.Name).Relate(first, "first here")
			ok = false
			continue
		}
		o.at[row.Name] = a.Span
		if row.Takes == policy.Expression {
			ok = delayOf(c, x, e, o, a.Value) && ok
		} else if v, good := optionValue(c, e, row, a.Value); good {
			row.Set(&e.Policy, v)
		} else {
			ok = false
		}
	}
	place := policy.Place{When: it.When != nil, Condition: it.When != nil && e.Crossing == nil}
	_, place.Delayed = o.at["delay"]
	for _, row := range policy.Options() {
		if at, is := o.at[row.Name]; is && row.Misplaced != nil {
			if why := row.Misplaced(place, &e.Policy); why != "" {
				c.errorf(CodeEventOption, at, "%s", why)
				ok = false
			}
		}
	}
	if it.Start && !place.Condition {
		c.errorf(CodeEventOption, e.Span, "`at start` belongs to a condition: event e when x > 1 at start { … }")
		ok = false
	}
	e.Complete()
	return o, ok
}

// priority elaborates the priority of an event: a number, or an expression that is evaluated when events happen at one
// time.
func (c *checker) priority(x context, e *model.Event, a ast.Expr) bool {
	v := c.expr(x, a)
	if isBad(v) || !c.numeric(v, "priority", v.Span()) {
		return false
	}
	if s := v.Type().Shape; len(s) > 0 {
		c.errorf(CodeShape, v.Span(), "the priority of an event is a single number, and this has shape %s", s)
		return false
	}
	if d, ok := c.staticNumber(v); ok {
		e.Priority = d
		return true
	}
	e.Rank = v
	return true
}

// staticNumber returns the value of a scalar that is known at compile time and depends on no loop variable.
func (c *checker) staticNumber(v model.Expr) (float64, bool) {
	if len(v.Type().Shape) > 0 || !model.Static(v) || len(model.Free(v)) > 0 {
		return 0, false
	}
	d, ok := c.static(v, nil)
	if !ok {
		return 0, false
	}
	return d[0], true
}
