package typecheck

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
)

// eventOptions are what the options of an event, `, delay = 2`, say.
type eventOptions struct {
	at         map[string]source.Span // of those that are written
	delay      model.Expr             // nil without a delay
	execution  bool                   // values of the execution, not of the trigger
	transient  bool                   // not persistent
	pending    int
	defaultMax bool            // pending is not written
	kept       []*model.Assign // what the trigger keeps for the body
}

// How many executions of an element may be pending where the model does not say.
const manyPending = 16

// eventOption is a row of the table of options: how the value is read, and the words that it takes, if any.
type eventOption struct {
	name  string
	words []string
	set   func(c *checker, x context, e *model.Event, o *eventOptions, v ast.Expr) bool
}

var eventOptionTable = []eventOption{
	{name: "delay", set: func(c *checker, x context, e *model.Event, o *eventOptions, a ast.Expr) bool {
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
	}},
	{name: "values", words: []string{"trigger", "execution"}, set: func(
		_ *checker, _ context, _ *model.Event, o *eventOptions, a ast.Expr,
	) bool {
		o.execution = strip(a).(*ast.Name).Name == "execution"
		return true
	}},
	{name: "persistent", words: []string{"true", "false"}, set: func(
		_ *checker, _ context, _ *model.Event, o *eventOptions, a ast.Expr,
	) bool {
		o.transient = strip(a).(*ast.Name).Name == "false"
		return true
	}},
	{name: "pending", set: func(c *checker, _ context, _ *model.Event, o *eventOptions, a ast.Expr) (ok bool) {
		o.pending, ok = c.integer(context{place: placeConst}, a, "the number of pending executions", 1, 1<<20)
		o.defaultMax = false
		return ok
	}},
	{name: "tol", set: func(c *checker, _ context, e *model.Event, _ *eventOptions, a ast.Expr) bool {
		tol, v, ok := c.constant(context{place: placeConst}, a, "the tolerance of an event")
		if !ok {
			return false
		}
		c.timeUnit("the tolerance of event "+e.Name, v)
		if !(tol >= 0) {
			c.errorf(CodeRange, v.Span(), "the tolerance of an event is not negative, and this is %g", tol)
			return false
		}
		e.Tol = tol
		return true
	}},
}

// OptionWords returns the words that are values of an option of events; nil if its value is an expression.
func OptionWords(option string) []string {
	for _, o := range eventOptionTable {
		if o.name == option {
			return o.words
		}
	}
	return nil
}

// options reads the options of an event.
func (c *checker) options(x context, e *model.Event, it *ast.Event) (*eventOptions, bool) {
	o := &eventOptions{at: map[string]source.Span{}, pending: manyPending, defaultMax: true}
	ok := true
	fail := func(format string, at source.Span, args ...any) {
		c.errorf(CodeEventOption, at, format, args...)
		ok = false
	}
	for _, a := range it.Options {
		k := slices.IndexFunc(eventOptionTable, func(o eventOption) bool { return o.name == a.Key.Name })
		if k < 0 {
			text := "an event has no option %q; its options are " + strings.Join(parser.EventOptions, ", ")
			text += diag.DidYouMean(a.Key.Name, parser.EventOptions)
			fail(text, a.Key.Span, a.Key.Name)
			continue
		}
		row := &eventOptionTable[k]
		if first, twice := o.at[row.name]; twice {
			c.errorf(CodeEventOption, a.Key.Span, "this event has two options %s", row.name).Relate(first, "first here")
			ok = false
			continue
		}
		o.at[row.name] = a.Span
		if row.words != nil {
			if n, is := strip(a.Value).(*ast.Name); !is || !slices.Contains(row.words, n.Name) {
				fail("the option %s is %s", a.Value.Pos(), row.name, strings.Join(row.words, " or "))
				continue
			}
		}
		ok = row.set(c, x, e, o, a.Value) && ok
	}
	condition := it.When != nil && e.Crossing == nil
	for _, name := range []string{"values", "pending"} {
		if at, is := o.at[name]; is && o.at["delay"] == (source.Span{}) {
			fail("the option %s belongs to an event with a delay", at, name)
		}
	}
	if o.transient && !condition {
		fail("only the condition of `when` can cease to hold; this event is always persistent", o.at["persistent"])
	}
	if at, is := o.at["tol"]; is && it.When == nil {
		fail("the times of this event are known, so they have no tolerance", at)
	}
	if it.Start && !condition {
		fail("`at start` belongs to a condition: event e when x > 1 at start { … }", e.Span)
	}
	if o.transient && o.defaultMax {
		o.pending = 2
	}
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

// slotted returns the type of a value that each slot of each element of an event holds.
func slotted(e *model.Event, t types.Type, more ...int) types.Type {
	t.Kind = types.Real
	shape := types.Shape{}
	for _, ix := range e.Axes() {
		shape = append(shape, ix.Count)
	}
	t.Shape = append(append(shape, more...), t.Shape...)
	return t
}
