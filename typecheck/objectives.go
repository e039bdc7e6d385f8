package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck/terms"
)

// checkObjectives elaborates objectives and constraints in file order.
func (c *checker) checkObjectives() {
	for _, item := range c.objectives {
		switch it := item.(type) {
		case *ast.Objective:
			c.objective(it)
		case *ast.Constraint:
			c.constraint(it)
		}
	}
}

func (c *checker) objective(it *ast.Objective) {
	x, indices, ok := c.binders(context{place: placeGoal}, it.For)
	if !ok {
		return
	}
	name := it.Target.Name.Name
	if empty(indices) {
		c.errorf(CodeRange, it.For[0].Span, "objective %q has no elements: its range is empty", name)
		return
	}
	if len(it.Target.Subs) != len(indices) {
		if len(indices) > 0 {
			c.errorf(CodeSubscript, it.Target.Span, "objective %q has %s for %s; write %s", name,
				plural(len(it.Target.Subs), "index", "indices"),
				plural(len(indices), "loop variable", "loop variables"), suggestIndices(name, indices))
		} else {
			c.errorf(CodeSubscript, it.Target.Span, "an index of an objective is a loop variable: objective %s[i] = "+
				"… for i in 1:n", name)
		}
		return
	}
	// The subscripts must be the loop variables in order, because these number the elements of the
	// objective.
	for k, s := range it.Target.Subs {
		n, is := strip(orEmpty(s.Lo)).(*ast.Name)
		if !is || s.All || s.Hi != nil || n.Name != indices[k].Name {
			c.errorf(CodeSubscript, s.Span, "the indices of an objective are its loop variables in order; write %s",
				suggestIndices(name, indices))
			return
		}
	}
	reads := c.reads
	v := c.expr(x, it.Value)
	if isBad(v) || !c.numeric(v, "objective", v.Span()) {
		return
	}
	c.influences(v, reads, "objective "+fmt.Sprintf("%q", name), it.Value.Pos())
	sum := c.terms(v)
	rises := sum == nil && c.weighted(v, -1) != nil
	if it.Unit != nil {
		u := c.unit(it.Unit)
		if !bare(v) {
			c.expectUnit("objective "+name, v, u, it.Unit.Span)
		}
		t := v.Type()
		t.Unit = u
		v = retype(v, t)
	}
	c.model.Objectives = append(c.model.Objectives, &model.Objective{
		Name: name, Indices: indices, Value: v, Terms: sum, Rises: rises, Joint: isJoint(c, v), Doc: it.Doc,
		Span: it.Target.Span,
	})
}

func orEmpty(e ast.Expr) ast.Expr {
	if e == nil {
		return &ast.BadExpr{}
	}
	return e
}

func suggestIndices(name string, indices []*model.Index) string {
	var names []string
	for _, x := range indices {
		names = append(names, x.Name)
	}
	return name + "[" + strings.Join(names, ",") + "]"
}

// influences reports an objective that does not depend on the run. The times of a run may be looked for; under
// constraints, a cost of params, such as the least dose that suffices; and of draws, any function of params.
func (c *checker) influences(v model.Expr, reads int, what string, s source.Span) {
	bounds := func(p *model.Symbol) bool {
		same := func(q *model.Symbol) bool { return p == q }
		return c.model.Time != nil && (model.FindSymbol(c.model.From, same) != nil ||
			model.FindSymbol(c.model.To, same) != nil)
	}
	free := len(c.priors) > 0 || slices.ContainsFunc(c.objectives, func(it ast.Item) bool {
		_, is := it.(*ast.Constraint)
		return is
	})
	drawn := func(b *ast.Settings) bool { return b.Block.Name == "sample" }
	free = free || slices.ContainsFunc(c.settings, drawn) || model.FindSymbol(v, bounds) != nil
	if model.Depends(v)&model.UsesFunctional == 0 && c.reads == reads && !free {
		c.list.Warnf(CodeNoInfluence, s, "%s does not depend on the run; did you mean final(…) or integral(…)?", what)
	}
}

func (c *checker) constraint(it *ast.Constraint) {
	x, indices, ok := c.binders(context{place: placeGoal}, it.For)
	if !ok {
		return
	}
	b, is := strip(it.Cond).(*ast.Binary)
	if !is || b.Op != ast.Equal && b.Op != ast.LessEq && b.Op != ast.GreaterEq {
		c.errorf(CodeCondition, it.Cond.Pos(), "a constraint is a == b, a <= b or a >= b")
		return
	}
	l, r := c.expr(x, b.X), c.expr(x, b.Y)
	if anyBad(l, r) || !c.numeric(l, b.Op.String(), l.Span()) || !c.numeric(r, b.Op.String(), r.Span()) {
		return
	}
	c.sameUnitAll(b.Op.String(), b.Span, []model.Expr{l, r})
	v := c.quietly(func() model.Expr { return c.apply(stdlib.Operator("-"), b.Span, l, r) })
	if isBad(v) || empty(indices) {
		return
	}
	c.model.Objectives = append(c.model.Objectives, &model.Objective{
		Name: it.Name.Name, Indices: indices, Value: v,
		Relation: b.Op.String(), Doc: it.Doc, Span: it.Name.Span,
	})
}

// checkOutputs lists the outputs, in file order: those that are defined, and names of other items that are reported.
func (c *checker) checkOutputs() {
	seen := map[string]source.Span{}
	add := func(name, doc string, value model.Expr, at source.Span) {
		if value == nil || isBad(value) {
			return
		}
		if value.Type().Kind == types.Bool {
			if c.variant == nil {
				c.errorf(CodeType, at, "output %q is a condition; write: if … then 1 else 0", name)
			}
			return
		}
		if first, twice := seen[name]; twice {
			if c.variant == nil {
				c.errorf(CodeDuplicate, at, "%q is an output already; remove this one", name).
					Relate(first, "first output")
			}
			return
		}
		seen[name] = at
		c.model.Outputs = append(c.model.Outputs, &model.Output{Name: name, Value: value, Doc: doc, Span: at})
	}
	for _, e := range c.order {
		if e.output {
			add(e.name, e.doc, e.value, e.span)
		}
	}
	for _, it := range c.reports {
		for _, name := range it.Names {
			value := c.expr(context{place: placeLet}, &ast.Name{Ident: name})
			if e := c.globals[name.Name]; e != nil {
				add(name.Name, e.doc, value, name.Span)
			}
		}
	}
	slices.SortStableFunc(c.model.Outputs, func(a, b *model.Output) int { return a.Span.Start - b.Span.Start })
}

// checkConditions elaborates asserts and invariants.
func (c *checker) checkConditions() {
	for _, it := range c.asserts {
		v := c.expr(context{place: placeAssert}, it.Cond)
		if isBad(v) {
			continue
		}
		if k := v.Type().Kind; k != types.Bool || len(v.Type().Shape) > 0 {
			c.errorf(CodeCondition, v.Span(), "an assertion is a comparison, as in: assert n > 1, \"too few cells\"")
			continue
		}
		text := ""
		if it.Text != nil {
			text = it.Text.Value
		}
		if k, is := v.(*model.Const); is {
			if k.Data[0] == 0 {
				if text == "" {
					text = it.Cond.Pos().Text()
				}
				c.errorf(CodeAssert, it.Span, "assertion failed: %s", text)
			}
			continue
		}
		c.model.Asserts = append(c.model.Asserts, &model.Assert{Cond: v, Text: text, Span: it.Span})
	}
	for _, it := range c.invariants {
		b, is := strip(it.Cond).(*ast.Binary)
		if !is || b.Op != ast.Equal {
			c.errorf(CodeCondition, it.Cond.Pos(), "an invariant is an equality: invariant a + b == 1")
			continue
		}
		l, r := c.expr(context{place: placeRun}, b.X), c.expr(context{place: placeRun}, b.Y)
		if anyBad(l, r) || !c.numeric(l, "==", l.Span()) || !c.numeric(r, "==", r.Span()) {
			continue
		}
		c.sameUnitAll("==", b.Span, []model.Expr{l, r})
		if _, ok := c.broadcastShape("==", b.Span, l, r); ok {
			c.model.Invariants = append(c.model.Invariants, &model.Invariant{Left: l, Right: r, Span: it.Span})
		}
	}
}

// notes reports what is correct but may not be meant.
func (c *checker) notes() {
	used := map[string]bool{}
	c.model.Reads(used)
	for _, x := range c.model.Experiments {
		x.Model.Reads(used)
	}
	for _, e := range c.order {
		if u, ok := c.inferred[e.name]; ok && !u.unit.Plain() && e.sym != nil && e.sym.Value != nil &&
			bare(e.sym.Value) {
			d := c.list.Notef(CodeInferred, e.span, "%q has no unit; from its use it is taken to be in %s; write it "+
				"if that is meant", e.name, bracketed(u.unit)).
				Relate(u.use, "used here")
			if v := e.sym.Value; terms.LiteralNumber(v) {
				d.Fix(v.Span(), v.Span().Text()+" "+bracketed(u.unit), "write the unit")
			}
		}
	}
	for _, it := range c.doses { // of a record, whose covariate it may be
		ast.Inspect(it, func(n ast.Node) bool {
			if name, is := n.(*ast.Name); is {
				used[name.Name] = true
			}
			return true
		})
	}
	if c.chosen != nil { // what it sets is not read
		for name := range c.chosen.overrides {
			used[name] = true
		}
	}
	for _, p := range c.model.Params {
		if !used[p.Name] {
			c.list.Notef(CodeNoInfluence, p.Span, "param %q is not used; its derivatives are 0", p.Name)
		}
	}
}
