package typecheck

import (
	"fmt"
	"slices"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// functionals is the table of what a call of a functional becomes, which may also be made of other functionals. Those
// that read data are not in it.
var functionals map[string]func(c *checker, r *reading) model.Expr

func init() { // expressions lead back to the table
	functionals = map[string]func(c *checker, r *reading) model.Expr{
		"final": func(c *checker, r *reading) model.Expr { return r.body(c, &model.Functional{Kind: model.Final}) },
		"initial": func(c *checker, r *reading) model.Expr {
			if c.resumed != nil { // the run begins there
				return r.body(c, &model.Functional{Kind: model.AtEvent, Event: c.resumed})
			}
			return r.body(c, &model.Functional{Kind: model.Initial})
		},
		"steady": func(c *checker, r *reading) model.Expr {
			return r.body(c, &model.Functional{Kind: model.Steady, Event: c.afterwards(r.call.Span)})
		},
		"max_over": func(c *checker, r *reading) model.Expr {
			return r.body(c, &model.Functional{Kind: model.MaxOver})
		},
		"integral":   integral,
		"sum_at":     sumAt,
		"at_event":   atEvent,
		"event_time": eventTime,
	}
}

// reading is a call of a functional that is elaborated.
type reading struct {
	call *ast.Call
	row  *stdlib.Func
	args map[string]ast.Expr
	at   context // where the call stands
	run  context // where its expression stands
	ok   bool    // its other arguments are right
}

// functional elaborates final(e), integral(e, from = a), at_event(ev, e) …
func (c *checker) functional(x context, e *ast.Call, row *stdlib.Func) model.Expr {
	name := row.Name
	if x.place != placeGoal {
		switch {
		case x.place == placeRun || x.place == placeLet || x.place == placeEvent || x.place == placeInitial ||
			x.place == placeParam:
			c.errorf(CodeFunctional, e.Span, "%s reads the whole run and stands only in an objective or constraint",
				name)
		default:
			c.errorf(CodeFunctional, e.Span, "%s cannot stand here; functionals are not nested", name)
		}
		return bad(e.Span)
	}
	switch name {
	case "nll":
		return c.nll(e)
	case "log_prior":
		return c.logPrior(e)
	}
	if len(e.For) > 0 {
		c.errorf(CodeArguments, e.Span, "%s takes no `for`; write sum(%s(…) for i in 1:n), or %s(sum(… for i in 1:n))",
			name, name, name)
		return bad(e.Span)
	}
	args, ok := named(c, e, row)
	if !ok {
		return bad(e.Span)
	}
	r := &reading{call: e, row: row, args: args, at: x, run: x, ok: true}
	r.run.place = &place{name: "the argument of " + name, knows: "everything but functionals", allow: usesRun}
	return functionals[name](c, r)
}

// body gives f the expression that is read of the run, and the type of that.
func (r *reading) body(c *checker, f *model.Functional) model.Expr {
	f.Body = c.expr(r.run, r.args["e"])
	if !r.ok || isBad(f.Body) || !c.numeric(f.Body, r.row.Name, f.Body.Span()) {
		return bad(r.call.Span)
	}
	t := f.Body.Type()
	if f.Kind == model.Integral && c.model.Time != nil {
		t.Unit = t.Unit.Mul(c.model.Time.Type.Unit)
	}
	t.Kind = types.Real
	f.Base = model.NewBase(t, r.call.Span)
	return model.Seal(f)
}

func integral(c *checker, r *reading) model.Expr {
	f := &model.Functional{Kind: model.Integral}
	var from, to bool
	f.From, from = bound(c, r.at, r.args["from"], "the lower bound of the integral")
	f.To, to = bound(c, r.at, r.args["to"], "the upper bound of the integral")
	r.ok = from && to
	return r.body(c, f)
}

func sumAt(c *checker, r *reading) model.Expr {
	f := &model.Functional{Kind: model.SumAt}
	r.run.limits = true
	f.Times = c.expr(r.at.at(placeInterval), r.args["times"])
	switch {
	case isBad(f.Times) || !c.numeric(f.Times, r.row.Name, f.Times.Span()):
		r.ok = false
	case len(f.Times.Type().Shape) > 1:
		c.errorf(CodeShape, f.Times.Span(), "the times of sum_at are a number or a vector, and this has shape %s",
			f.Times.Type().Shape)
		r.ok = false
	default:
		c.timeUnit("a time of sum_at", f.Times)
	}
	return r.body(c, f)
}

// atEvent elaborates at_event(ev, e, nth = k).
func atEvent(c *checker, r *reading) model.Expr {
	f, ok := firing(c, r, model.AtEvent, "nth")
	if !ok {
		return bad(r.call.Span)
	}
	r.run.limits, r.run.body = true, f.Event
	for _, ix := range f.Event.Indices {
		r.run = r.run.with(ix.Name, terms.LoopVar(ix, ix.Span), ix.Span)
	}
	return r.body(c, f)
}

func eventTime(c *checker, r *reading) model.Expr {
	f, ok := firing(c, r, model.EventTime, "k")
	if !ok {
		return bad(r.call.Span)
	}
	t := types.Type{Kind: types.Real}
	if c.model.Time != nil {
		t.Unit = c.model.Time.Type.Unit
	}
	f.Base = model.NewBase(t, r.call.Span)
	return model.Seal(f)
}

// firing elaborates which firing of which event is read.
func firing(c *checker, r *reading, kind model.FunctionalKind, number string) (*model.Functional, bool) {
	ev, elem, ok := eventOf(c, r.at, r.args["event"], r.row.Name)
	if !ok {
		return nil, false
	}
	f := &model.Functional{Kind: kind, Event: ev, Elem: elem}
	if kind == model.EventTime && len(ev.Indices) > 0 && elem == nil {
		c.errorf(CodeSubscript, r.call.Span, "event %q has %s; say which: event_time(%s[1], …)", ev.Name,
			plural(tabulate.Counts(ev.Indices), "element", "elements"), ev.Name)
		return nil, false
	}
	if nth := r.args[number]; nth != nil {
		f.Nth, ok = c.integer(r.at, nth, "the number of a firing", 1, 1<<31-1)
	}
	return f, ok
}

// named sorts the arguments of a functional by parameter name.
func named(c *checker, e *ast.Call, row *stdlib.Func) (map[string]ast.Expr, bool) {
	args := map[string]ast.Expr{}
	least := len(row.Args)
	if row.MinArgs > 0 {
		least = row.MinArgs
	}
	n := 0
	for i := range e.Args {
		a := &e.Args[i]
		key := ""
		if a.Key != nil {
			key = a.Key.Name
			if !slices.Contains(row.Args, key) {
				d := c.errorf(CodeArguments, a.Span, "%s takes no argument %q; write %s", row.Name, key, signature(row))
				if best := nearest(key, row.Args); best != "" {
					d.Message = fmt.Sprintf("%s takes no argument %q; did you mean %q?", row.Name, key, best)
				}
				return nil, false
			}
		} else {
			if n >= len(row.Args) {
				c.arity(e.Span, row, len(e.Args))
				return nil, false
			}
			key = row.Args[n]
			n++
		}
		if args[key] != nil {
			c.errorf(CodeArguments, a.Span, "argument %q of %s is given twice", key, row.Name)
			return nil, false
		}
		args[key] = a.Value
	}
	for _, k := range row.Args[:least] {
		if args[k] == nil {
			c.errorf(CodeArguments, e.Span, "%s needs the argument %q; write %s", row.Name, k, signature(row))
			return nil, false
		}
	}
	return args, true
}

// bound elaborates a time of an integral. It returns nil when there is none.
func bound(c *checker, x context, e ast.Expr, what string) (model.Expr, bool) {
	if e == nil {
		return nil, true
	}
	v := c.expr(x.at(placeInterval), e)
	if isBad(v) || !c.numeric(v, what, v.Span()) {
		return nil, false
	}
	if len(v.Type().Shape) > 0 {
		c.errorf(CodeShape, v.Span(), "%s is a single number, and this has shape %s", what, v.Type().Shape)
		return nil, false
	}
	c.timeUnit(what, v)
	return v, true
}

// eventOf resolves `bounce` or `dose[2]`.
func eventOf(c *checker, x context, e ast.Expr, what string) (*model.Event, []model.Expr, bool) {
	e = strip(e)
	var subs []*ast.Sub
	if ix, ok := e.(*ast.Index); ok {
		subs = ix.Subs
		e = strip(ix.X)
	}
	n, ok := e.(*ast.Name)
	if !ok {
		c.errorf(CodeArguments, e.Pos(), "%s takes the name of an event first", what)
		return nil, nil, false
	}
	g := c.globals[n.Name]
	if g == nil || g.kind != eventName {
		if g != nil && g.kind == laterName {
			return nil, nil, false
		}
		c.errorf(CodeUndefined, n.Span, "there is no event %q", n.Name).Later(func(d *diag.Diagnostic) {
			if best := nearest(n.Name, namesOf(c, eventName)); best != "" {
				d.Message += fmt.Sprintf("; did you mean %q?", best)
			} else if g != nil {
				d.Message = fmt.Sprintf("%q is %s, not an event", n.Name, g.kind)
				d.Relate(g.span, "declared here")
			}
		})
		return nil, nil, false
	}
	ev := g.event
	if ev == nil {
		return nil, nil, false // reported with the event
	}
	if subs == nil {
		return ev, nil, true
	}
	if len(subs) != len(ev.Indices) {
		c.errorf(CodeSubscript, e.Pos(), "event %q has %s, but %d %s", ev.Name,
			plural(len(ev.Indices), "index", "indices"), len(subs), was(len(subs)))
		return nil, nil, false
	}
	var elem []model.Expr
	for k, s := range subs {
		ix := ev.Indices[k]
		if s.All || s.Hi != nil {
			c.errorf(CodeSubscript, s.Span, "one element of an event is selected: %s[1]; without an index all "+
				"are summed", ev.Name)
			return nil, nil, false
		}
		y := x
		y.end = ix.Lo + (ix.Count-1)*ix.Step
		v := c.subscript(y, s.Lo)
		if isBad(v) {
			return nil, nil, false
		}
		if len(v.Type().Shape) > 0 {
			c.errorf(CodeSubscript, s.Span, "an index is a single number")
			return nil, nil, false
		}
		// The user counts in values of the loop variable, and the model in positions.
		v = c.positionOf(v, ix, s.Span)
		if !c.inBounds(x, v, ix.Count, k, len(subs)) {
			return nil, nil, false
		}
		elem = append(elem, v)
	}
	return ev, elem, true
}
