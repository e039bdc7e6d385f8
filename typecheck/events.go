package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// checkEvents elaborates the events in file order.
func (c *checker) checkEvents() {
	for _, it := range c.events {
		e, o := c.oneEvent(it)
		if e == nil {
			continue
		}
		if o.delay != nil {
			trigger, lapse, ok := c.delayed(e, o)
			if !ok {
				continue
			}
			if c.model.Events = append(c.model.Events, trigger); lapse != nil {
				c.model.Events = append(c.model.Events, lapse)
			}
		} else if e.Transient {
			e.If = e
		}
		c.model.Events = append(c.model.Events, e)
		if it.Name != nil {
			if g := c.globals[it.Name.Name]; g != nil && g.kind == eventName && g.span == it.Name.Span {
				g.event = e
			}
		}
	}
}

func (c *checker) oneEvent(it *ast.Event) (*model.Event, *eventOptions) {
	e := &model.Event{Span: it.Span, Doc: it.Doc}
	e.Once, e.Start = it.Once, it.Start
	if it.Name != nil {
		e.Name, e.Span = it.Name.Name, it.Name.Span
	} else {
		e.Name = fmt.Sprintf("event@%d", it.Span.File.LineAt(it.Span.Start))
		for n := 2; slices.ContainsFunc(c.model.Events, func(o *model.Event) bool { return o.Name == e.Name }); n++ {
			e.Name = fmt.Sprintf("event@%d.%d", it.Span.File.LineAt(it.Span.Start), n)
		}
	}
	x, indices, ok := c.binders(context{place: placeEvent}, it.For)
	if !ok {
		return nil, nil
	}
	if empty(indices) {
		c.errorf(CodeRange, it.For[0].Span, "the range of this event is empty")
		return nil, nil
	}
	e.Indices = indices
	if tooMany(c, e, indices) {
		return nil, nil
	}
	if c.variant != nil && c.variant.events[it] != nil {
		if x, ok = c.experimentEvent(x, e, c.variant.events[it]); !ok {
			return nil, nil
		}
	}
	switch {
	case it.When != nil:
		ok = c.condition(x, e, it.When)
	case it.Times != nil:
		ok = c.times(x, e, it)
	default:
		ok = c.every(x, e, it)
	}
	if it.Priority != nil {
		ok = c.priority(x, e, it.Priority) && ok
	}
	o, good := c.options(x, e, it)
	if o.delay != nil {
		e.Slot = &model.Index{Name: "slot", Lo: 1, Step: 1, Count: e.Most, Span: e.Span}
		x.keeper = &keeper{event: e, options: o}
	}
	ok = c.body(x, e, it.Body) && good && ok
	if !ok {
		return nil, nil
	}
	return e, o
}

// tooMany reports an event that would take much memory for more elements than may ever happen.
func tooMany(c *checker, e *model.Event, indices []*model.Index) bool {
	n, most := 1.0, float64(terms.MostElements)
	for _, ix := range indices {
		n *= float64(ix.Count)
	}
	if v := settingOf(c, "solver", "max_events"); n > most && v != nil {
		d, _ := c.staticNumber(c.expr(context{place: placeConst}, v))
		most = max(most, d)
	}
	if n > most {
		c.errorf(CodeSize, e.Span, "event %q has %.0f elements or times, and with this max_events at most %.0f have "+
			"room; write solver { max_events = %[2]g } into the file, if there is memory for each", e.Name, n, most)
	}
	return n > most
}

// condition elaborates `when`. It is a combination of comparisons by and/or, with `not` pushed to
// the leaves, or one `crosses` filtered by others.
func (c *checker) condition(x context, e *model.Event, w ast.Expr) bool {
	var crossing *ast.Binary
	var filters []ast.Expr
	var split func(a ast.Expr, top bool) bool
	split = func(a ast.Expr, top bool) bool {
		b, ok := strip(a).(*ast.Binary)
		switch {
		case ok && b.Op == ast.And && top:
			return split(b.X, true) && split(b.Y, true)
		case ok && b.Op == ast.Crosses:
			if crossing != nil {
				c.errorf(CodeCondition, b.Span, "an event has one `crosses`; write a second event")
				return false
			}
			crossing = b
			return true
		}
		filters = append(filters, a)
		return true
	}
	if ast.HasCrosses(w) {
		if !split(w, true) {
			return false
		}
		for _, f := range filters {
			if ast.HasCrosses(f) {
				c.errorf(CodeCondition, f.Pos(), "`crosses` is joined to other conditions by `and` only; write a "+
					"second event")
				return false
			}
		}
	} else {
		filters = []ast.Expr{w}
	}
	const changing = model.UsesTime | model.UsesState | model.UsesDiscrete
	if crossing != nil {
		a, b := c.expr(x, crossing.X), c.expr(x, crossing.Y)
		if isBad(a) || isBad(b) || !c.numeric(a, "crosses", a.Span()) || !c.numeric(b, "crosses", b.Span()) {
			return false
		}
		c.sameUnit("crosses", crossing.Span, a, b)
		d := c.quietly(func() model.Expr { return c.apply(stdlib.Operator("-"), crossing.Span, a, b) })
		if isBad(d) || !c.scalarCondition(e, d) {
			return false
		}
		e.Crossing = d
		e.Way = map[string]int8{"up": 1, "down": -1}[crossing.Way]
		if model.Depends(d)&changing == 0 {
			c.list.Notef(CodeNeverFires, crossing.Span, "event %q never fires: %s does not change along the run",
				e.Name, crossing.Span.Text())
		}
	}
	for _, f := range filters {
		v := c.expr(x, f)
		if isBad(v) {
			return false
		}
		if k := v.Type().Kind; k != types.Bool {
			c.errorf(CodeCondition, f.Pos(), "an event condition is a comparison: x <= 0, x > 1, or x crosses 0")
			return false
		}
		v = terms.Not(v, false)
		if isBad(v) || !c.scalarCondition(e, v) {
			return false
		}
		if e.When == nil {
			e.When = v
		} else {
			e.When = c.elementwise(stdlib.Operator("and"), w.Pos(), types.Bool, e.When, v)
		}
	}
	if becomes := e.Crossing == nil && !e.Start; becomes && model.Depends(e.When)&changing == 0 {
		c.list.Notef(CodeNeverFires, w.Pos(), "event %q never fires: its condition does not change along the run",
			e.Name)
	} else if _, translated := w.Pos().Origin(); becomes && !translated && c.begun(e.When) {
		c.list.Warnf(CodeNeverFires, w.Pos(), "event %q never fires: its condition holds from the start on, and so "+
			"never becomes true; an event at the start is written event at %s { … }", e.Name,
			c.model.From.Span().Text())
	}
	return true
}

// begun reports a condition that time is past a constant which is not after the start. Where the two are equal, only
// t >= a holds there.
func (c *checker) begun(when model.Expr) bool {
	call, ok := when.(*model.Call)
	from, known := c.model.From.(*model.Const)
	if !ok || !known || isBad(from) || call.Fn.Name != "<" && call.Fn.Name != "<=" {
		return false
	}
	a, isConst := call.Args[0].(*model.Const)
	t, isRef := call.Args[1].(*model.Ref)
	if !isConst || !isRef || t.Sym.Kind != model.TimeSymbol || len(a.Data) != 1 {
		return false
	}
	return a.Data[0] < from.Data[0] || a.Data[0] == from.Data[0] && call.Fn.Name == "<="
}

// quietly builds what was checked already, without reporting it a second time.
func (c *checker) quietly(f func() model.Expr) model.Expr {
	mode := c.unitMode
	c.unitMode = "off"
	defer func() { c.unitMode = mode }()
	return f()
}

func (c *checker) scalarCondition(e *model.Event, v model.Expr) bool {
	if s := v.Type().Shape; len(s) > 0 {
		c.errorf(CodeCondition, v.Span(), "the condition has shape %s; write one event per element: event %s when "+
			"x[i] … for i in 1:%d", s, e.Name, s[0])
		return false
	}
	return true
}

// timeUnit checks that a time has the unit of the time.
func (c *checker) timeUnit(what string, v model.Expr) {
	if c.model.Time != nil && !bare(v) {
		c.assume(c.model.Time, v.Type().Unit, v.Span())
		c.expectUnit(what, v, c.model.Time.Type.Unit, c.model.Time.Span)
	}
}

func (c *checker) times(x context, e *model.Event, it *ast.Event) bool {
	ok := true
	for _, a := range it.Times {
		v := c.expr(x.at(placeWhen), a)
		if isBad(v) || !c.numeric(v, "at", v.Span()) {
			ok = false
			continue
		}
		shape := v.Type().Shape
		if tooMany(c, e, []*model.Index{{Count: shape.Size()}}) {
			return false
		}
		if len(shape) > 1 {
			c.errorf(CodeShape, v.Span(), "the time of an event is a number or a vector, and this has shape %s", shape)
			ok = false
			continue
		}
		c.timeUnit("the time of event "+e.Name, v)
		if d := x.dose; d != nil && !rowsInside(c, d, v) {
			return false
		}
		c.outside(e, v)
		e.Times = append(e.Times, v)
	}
	return ok && len(e.Times) > 0
}

// rowsInside reports a row of a table that would have an event before the run.
func rowsInside(c *checker, d *dose, v model.Expr) bool {
	from, ok := c.model.From.(*model.Const)
	if !ok || isBad(from) || !model.Static(v) {
		return true
	}
	times, ok := c.static(v, []*model.Index{d.Index})
	for i, t := range times {
		if ok && i < len(d.List) && t < from.Data[0] {
			c.errorf(CodeData, v.Span(), "%srow %d of %q has an event at %g, before the run, which begins at %g",
				inFile(c, d.from), d.List[i]+1, d.from.Name, t, from.Data[0]).Relate(d.from.Span, "declared here")
			return false
		}
	}
	return true
}

// outside reports constant times that the run does not reach.
func (c *checker) outside(e *model.Event, v model.Expr) {
	from, ok1 := c.model.From.(*model.Const)
	to, ok2 := c.model.To.(*model.Const)
	if !ok1 || !ok2 || isBad(from) || isBad(to) || !model.Static(v) {
		return
	}
	d, ok := c.static(v, model.Free(v))
	if !ok {
		return
	}
	lo, hi := from.Data[0], to.Data[0]
	text := "event %q does not fire at %g, outside the run from %g to %g"
	if i := slices.IndexFunc(d, func(x float64) bool { return x < lo }); i >= 0 { // the run would be another one
		c.list.Warnf(CodeNeverFires, v.Span(), text, e.Name, d[i], lo, hi)
	} else if i := slices.IndexFunc(d, func(x float64) bool { return x > hi && x-x == 0 }); i >= 0 {
		c.list.Notef(CodeNeverFires, v.Span(), text, e.Name, d[i], lo, hi)
	}
}

func (c *checker) every(x context, e *model.Event, it *ast.Event) bool {
	ok := true
	one := func(a ast.Expr, what string, unit bool) model.Expr {
		if a == nil {
			return nil
		}
		v := c.expr(x.at(placeWhen), a)
		if isBad(v) || !c.numeric(v, what, v.Span()) {
			ok = false
			return nil
		}
		if len(v.Type().Shape) > 0 {
			c.errorf(CodeShape, v.Span(), "%s is a single number, and this has shape %s", what, v.Type().Shape)
			ok = false
			return nil
		}
		if unit {
			c.timeUnit(what, v)
		}
		return v
	}
	e.Every = one(it.Every, "the period of an event", true)
	e.From = one(it.From, "the first time of an event", true)
	e.To = one(it.To, "the last time of an event", true)
	e.Count = one(it.Count, "the number of firings", false)
	if k, is := e.Every.(*model.Const); is && !(k.Data[0] > 0) {
		c.errorf(CodeRange, e.Every.Span(), "the period of an event is positive, and this is %g", k.Data[0])
		ok = false
	}
	if k, is := e.Count.(*model.Const); is && (!whole(k.Data[0]) || k.Data[0] < 0) {
		c.errorf(CodeRange, e.Count.Span(), "the number of firings is a whole number, and this is %g", k.Data[0])
		ok = false
	}
	return ok && e.Every != nil
}

// body elaborates the assignments. All of them read left limits, and each element is assigned once.
func (c *checker) body(x context, e *model.Event, list []*ast.Affect) bool {
	ok := true
	var lets []*ast.Let
	for _, a := range list {
		if a.Let != nil {
			lets = append(lets, a.Let)
		}
	}
	missing := map[string]bool{} // targets that are reported, and read without another error
	for _, a := range list {
		if a.Let == nil && !a.Stop && c.unknownTarget(x, a.Target.Name, lets) {
			name := a.Target.Name
			if !missing[name.Name] {
				c.undefinedTarget(a)
			}
			missing[name.Name] = true
			x = x.with(name.Name, bad(name.Span), name.Span)
		}
	}
	x, ok = c.localLets(x, lets)
	ok = ok && len(missing) == 0
	for _, a := range list {
		switch {
		case a.Stop:
			e.Stop = true
		case a.Let != nil || missing[a.Target.Name.Name]:
		default:
			as := c.assign(x, e, a)
			ok = ok && as != nil
			if as != nil && !empty(as.Indices) {
				e.Body = append(e.Body, as)
			}
		}
	}
	return c.assignedOnce(e) && ok
}

// unknownTarget reports whether nothing declares what a body with these lets assigns to.
func (c *checker) unknownTarget(x context, name ast.Ident, lets []*ast.Let) bool {
	return c.globals[name.Name] == nil && x.scope.find(name.Name) == nil &&
		!slices.ContainsFunc(lets, func(l *ast.Let) bool { return l.Target.Name.Name == name.Name })
}

// undefinedTarget reports an assignment to a name that nothing declares.
func (c *checker) undefinedTarget(a *ast.Affect) {
	name := a.Target.Name
	d := c.undefined(context{place: placeEvent}, name)
	if d == nil || a.Op != ast.Set || a.Target.Subs != nil {
		return
	}
	d.Later(func(d *diag.Diagnostic) {
		if strings.HasSuffix(d.Message, declareIt) {
			d.Message = fmt.Sprintf("%q is not defined; a body changes states and discretes, and a value that only "+
				"the body reads is a let: let %s = …", name.Name, name.Name)
			d.Fix(a.Target.Span, "let "+name.Name, "write let")
		}
	})
}

func (c *checker) assign(x context, e *model.Event, a *ast.Affect) *model.Assign {
	name := a.Target.Name
	if local := x.scope.find(name.Name); local != nil {
		c.errorf(CodeTarget, a.Target.Span, "%q is a local name of this event; a body changes states and discretes",
			name.Name).Relate(local.span, "declared here")
		return nil
	}
	g := c.globals[name.Name]
	switch {
	case g.kind == laterName:
		return nil
	case g.kind == paramName && e.Settles && g.held != nil:
	case g.kind == paramName || g.kind == constName:
		c.errorf(CodeTarget, a.Target.Span, "%q is %s and never changes during a run; declare it with `discrete` to "+
			"change it in an event", name.Name, g.kind).Relate(g.span, "declared here")
		return nil
	case g.kind != stateName && g.kind != discreteName:
		c.errorf(CodeTarget, a.Target.Span, "%q is %s; a body changes states and discretes", name.Name, g.kind).
			Relate(g.span, "declared here")
		return nil
	case g.sym == nil:
		return nil
	}
	y, indices, ok := c.binders(x, a.For)
	if !ok {
		return nil
	}
	sym := g.sym
	if g.held != nil {
		sym = g.held
	}
	subs, out, ok := c.target(y, a.Target, sym.Type.Shape)
	if !ok {
		return nil
	}
	if len(indices) > 0 && subs == nil {
		c.errorf(CodeSubscript, a.Target.Span, "%q has no index for the loop over %q", name.Name, indices[0].Name)
		return nil
	}
	value := c.expr(y, a.Value)
	if isBad(value) || !c.numeric(value, a.Op.String(), value.Span()) {
		return nil
	}
	if !c.fill("the new value of "+a.Target.Span.Text(), value, out, sym.Span) {
		return nil
	}
	var old, change model.Expr
	operator := ""
	if a.Op != ast.Set {
		t := sym.Type
		old = model.Expr(model.Seal(&model.Ref{Base: model.NewBase(t, a.Target.Span), Sym: sym}))
		if subs != nil {
			t.Shape = out
			old = model.Seal(&model.Access{Base: model.NewBase(t, a.Target.Span), X: old, Subs: subs})
		}
		op := map[ast.AssignOp]string{ast.AddTo: "+", ast.SubFrom: "-", ast.MulBy: "*", ast.DivBy: "/"}[a.Op]
		change, operator = value, op
		value = c.apply(stdlib.Operator(op), a.Span, old, value)
		if isBad(value) {
			return nil
		}
	}
	if a.Op != ast.AddTo && a.Op != ast.SubFrom && !zero(value) {
		c.expectUnit("the new value of "+name.Name, value, sym.Type.Unit, sym.Span)
	}
	return &model.Assign{
		Target: sym, Indices: indices, Subs: subs, Value: value, Span: a.Target.Span,
		Old: old, Change: change, Operator: operator,
	}
}

// assignedOnce reports two assignments to one element in the body of one element of the event.
func (c *checker) assignedOnce(e *model.Event) bool {
	ok := true
	var targets []*model.Symbol
	for _, a := range e.Body {
		if !slices.Contains(targets, a.Target) {
			targets = append(targets, a.Target)
		}
	}
	type hit struct{ element, offset, by int }
	for _, sym := range targets {
		if n := slices.IndexFunc(e.Body,
			func(a *model.Assign) bool { return a.Target == sym }); e.Body[n].Subs == nil &&
			!slices.ContainsFunc(e.Body[n+1:], func(a *model.Assign) bool { return a.Target == sym }) {
			continue
		}
		var hits []hit
		shape := sym.Type.Shape
		for n, a := range e.Body {
			if a.Target != sym {
				continue
			}
			inner := tabulate.Counts(a.Indices)
			good := c.eachElement(a.Subs, shape, slices.Concat(e.Indices, a.Indices), a.Span, func(i, o int) {
				hits = append(hits, hit{i / inner, o, n})
			})
			if !good {
				return false
			}
			if len(hits) > c.env.MaxElements {
				c.errorf(CodeSize, a.Span, "this event assigns too many elements")
				return false
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int {
			if a.element != b.element {
				return a.element - b.element
			}
			return a.offset - b.offset
		})
		for i := 1; i < len(hits); i++ {
			a, b := hits[i-1], hits[i]
			if a.element != b.element || a.offset != b.offset {
				continue
			}
			first, second := e.Body[min(a.by, b.by)].Span, e.Body[max(a.by, b.by)].Span
			name := sym.Name
			if sym.Hidden { // what stands for a param while `equilibrate` sets it
				name = strings.TrimRight(name, "°")
			}
			if at := shape.Element(a.offset); at != "" {
				name += "[" + at + "]"
			}
			c.errorf(CodeTwice, second, "%q is assigned twice in this event%s; all assignments happen at once", name,
				source.Lines([]source.Span{first, second})).Relate(first, "first here")
			ok = false
			break
		}
	}
	return ok
}
