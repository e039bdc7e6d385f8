package parser

import (
	"sort"
	"strconv"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/source"
)

// The routines below make trees of what the grammar has matched. The caller sets the place of the item itself.

// value returns the value of a part, or the zero T where the part is absent.
func value[T any](x part[T]) (v T) {
	if x != nil {
		v = x.get()
	}
	return v
}

// of returns the place of a struct of the grammar: participle tells where the
// token after it starts.
func (p *parse) of(at place) source.Span {
	n := sort.Search(len(p.tokens), func(i int) bool { return p.tokens[i].Start >= at.EndPos.Offset })
	for n > 0 && p.tokens[n-1].Text == ";" && p.tokens[n-1].Kind == ast.SignToken {
		n--
	}
	if n == 0 {
		return p.span(at.Pos.Offset, at.Pos.Offset)
	}
	return p.span(at.Pos.Offset, max(at.Pos.Offset, p.tokens[n-1].End))
}

func optional(x part[optName]) *ast.Ident {
	if x == nil {
		return nil
	}
	name := x.get().Ident
	return &name
}

func optionalDotted(x part[dotName]) *ast.Ident {
	if x == nil {
		return nil
	}
	name := x.get().Ident
	return &name
}

// readDotted reads a name, or that of a param of a component: c.k.
func readDotted(p *parse) dotName {
	name := p.ident(p.next())
	for p.is(".") && isName(p.ahead(1)) {
		p.next()
		t := p.next()
		name.Name, name.Quoted = name.Name+"."+t.Text, false
		name.Span.End = t.End
	}
	return dotName{name}
}

func (p *parse) model(n *modelItem) ast.Item {
	return &ast.Model{Name: n.Name.get().Ident, Title: value(n.Title)}
}

func (p *parse) imports(n *importItem) ast.Item {
	item := &ast.Import{Model: n.Model}
	if n.Path != nil {
		item.Path = *n.Path.get()
	} else {
		item.Path = *n.From.get()
	}
	if n.As != nil {
		name := n.As.get().Ident
		item.As = &name
	}
	for _, name := range n.Names {
		item.Names = append(item.Names, name.get().Ident)
	}
	return item
}

func (p *parse) use(n *useItem) ast.Item {
	u := &ast.Use{
		Component: n.Component.get().Ident, Target: n.Target.get(), For: value(n.For), Data: n.Data,
	}
	for _, s := range n.List {
		u.List = append(u.List, &ast.UseSet{At: ast.At{Span: p.of(s.place)}, Key: s.Key.get().Expr, Value: s.Value})
	}
	return u
}

func (p *parse) unitDecl(n *unitItem) ast.Item {
	return &ast.UnitDecl{Name: n.Name.get().Ident, Value: n.Value.get().Expr}
}

func (p *parse) time(n *timeItem) ast.Item {
	return &ast.Time{Name: n.Name.get().Ident, Unit: value(n.Unit), From: n.From, To: n.To}
}

var declKinds = map[string]ast.DeclKind{
	"const": ast.Const, "param": ast.Param, "state": ast.State, "alg": ast.Alg, "discrete": ast.Discrete,
}

func (p *parse) decl(n *declItem) ast.Item {
	d := &ast.Decl{Kind: declKinds[n.Kind]}
	for _, v := range n.Vars {
		d.Vars = append(d.Vars, p.variable(v))
	}
	return d
}

func random(p *parse, n *randomItem) ast.Item {
	d := &ast.Decl{Kind: ast.Random}
	for _, v := range n.Vars {
		d.Vars = append(d.Vars, &ast.Var{
			At: ast.At{Span: p.of(v.place)}, Name: v.Name.get().Ident, Dims: value(v.Dims), Unit: value(v.Unit),
			Prior: v.Dist, By: value(v.By).Expr,
		})
	}
	return d
}

// readOccasions parses `by D.OCC`, unless a state of this name has its equation here.
func readOccasions(p *parse) (occasions, bool) {
	if t := p.peek(); t.Kind != ast.IdentToken || t.Text != "by" || p.startsItem(p.i) {
		return occasions{}, false
	}
	p.i++
	return occasions{p.expr(0)}, true
}

func (p *parse) variable(n *varDecl) *ast.Var {
	b := value(n.Bounds)
	return &ast.Var{
		At: ast.At{Span: p.of(n.place)}, Name: n.Name.get().Ident, Dims: value(n.Dims), Unit: value(n.Unit),
		Value: n.Value, Lo: b.lo, Hi: b.hi, Prior: n.Prior,
	}
}

func (p *parse) control(n *controlItem) ast.Item {
	return &ast.Control{Var: p.variable(n.Var), Linear: n.Linear, Grid: n.Grid}
}

func (p *parse) let(n *letItem) *ast.Let {
	return &ast.Let{
		At: ast.At{Span: p.of(n.place)}, Target: n.Target.get(), Unit: value(n.Unit),
		Value: n.Value, For: value(n.For),
	}
}

// output is the definition of a quantity that is reported, or a list of names that are reported.
func (p *parse) output(n *outputItem) ast.Item {
	target := n.Target.get()
	if n.Value != nil {
		return &ast.Let{Output: true, Target: target, Unit: value(n.Unit), Value: n.Value, For: value(n.For)}
	}
	whole, ok := dotted(target)
	report := &ast.Report{Names: []ast.Ident{whole}}
	for _, name := range n.More {
		more, whole := dotted(name.get())
		if report.Names = append(report.Names, more); ok && !whole {
			target, ok = name.get(), false
		}
	}
	if !ok {
		p.fail(CodeUnexpected, target.Span, "an output of one element needs a name, as in: output first = x[1]")
	}
	return report
}

func (p *parse) fn(n *fnItem) ast.Item {
	f := &ast.Fn{Name: n.Name.get().Ident, Unit: value(n.Unit), Result: n.Value}
	for _, x := range n.Params {
		f.Params = append(f.Params, &ast.FnParam{
			At: ast.At{Span: p.of(x.place)}, Name: x.Name.get().Ident, Dims: value(x.Dims), Unit: value(x.Unit),
		})
	}
	if n.Result != nil {
		f.Braced, f.Result = true, n.Result
		for _, x := range n.Lets {
			f.Lets = append(f.Lets, p.let(x))
		}
	}
	return f
}

func (p *parse) event(n *eventItem) ast.Item {
	e := &ast.Event{
		Name: optional(n.Name), When: n.When, Times: n.Times, Every: n.Every, From: n.From, To: n.To, Count: n.Count,
		For: value(n.For), Body: p.body(n.Body),
	}
	for _, t := range n.More {
		e.Times = append(e.Times, t.get().Expr)
	}
	for _, w := range n.Words {
		twice := false
		switch {
		case w.Priority != nil:
			e.Priority, twice = w.Priority, e.Priority != nil
		case w.Once:
			e.Once, twice = true, e.Once
		case w.Start:
			e.Start, twice = true, e.Start
		default:
			e.Options = append(e.Options, w.Option.get())
		}
		if twice {
			at := p.of(w.place)
			p.complain(CodeUnexpected, at, "this event says %q twice", at.Text())
		}
	}
	return e
}

// startsOption reports whether an option of an event, such as `, delay = 2`, starts at the next token.
func (p *parse) startsOption() bool {
	return p.is(",") && isName(p.ahead(1)) && isToken(p.ahead(2), "=")
}

// moreTime parses a further time of an event.
func (p *parse) moreTime() (t moreTime, ok bool) {
	if !p.is(",") || p.startsOption() {
		return t, false
	}
	p.i++
	return moreTime{p.expr(0)}, true
}

// option parses an option of an event.
func (p *parse) option() (*ast.Option, bool) {
	if !p.startsOption() {
		return nil, false
	}
	p.i++
	start := p.peek().Start
	s := &ast.Option{Key: p.ident(p.next())}
	p.i++
	s.Value = p.expr(0)
	s.At = ast.At{Span: p.since(start)}
	return s, true
}

var assignOps = map[string]ast.AssignOp{
	"=": ast.Set, "+=": ast.AddTo, "-=": ast.SubFrom, "*=": ast.MulBy,
	"/=": ast.DivBy,
}

func (p *parse) body(list []*affect) []*ast.Affect {
	var body []*ast.Affect
	for _, n := range list {
		a := &ast.Affect{At: ast.At{Span: p.of(n.place)}, Stop: n.Stop}
		switch {
		case n.Let != nil:
			a.Let = p.let(n.Let)
		case n.Target != nil:
			a.Target, a.Op, a.Value, a.For = n.Target.get(), assignOps[n.Op], n.Value, value(n.For)
		}
		body = append(body, a)
	}
	return body
}

func (p *parse) reaction(n *reactionItem) ast.Item {
	r := &ast.Reaction{Name: n.Name.get().Ident, Net: n.Arrow == "<->", Rate: n.Rate}
	for _, s := range n.Left {
		r.Left = append(r.Left, s.get())
	}
	for _, s := range n.Right {
		r.Right = append(r.Right, s.get())
	}
	return r
}

func (p *parse) equilibrate(n *equilibrateItem) *ast.Equilibrate {
	return &ast.Equilibrate{At: ast.At{Span: p.of(n.place)}, Body: p.body(n.Body), Every: n.Every}
}

func (p *parse) experiment(n *experimentItem) ast.Item {
	e := &ast.Experiment{Name: n.Name.get().Ident, By: n.By}
	if n.From != nil {
		name := n.From.get().Ident
		e.From = &name
	}
	for _, x := range append(n.Some, n.Items...) {
		item := &ast.ExpItem{
			At: ast.At{Span: p.of(x.place)}, Time: x.Time, Body: p.body(x.Body), Where: x.Where,
			Priority: x.First, Name: optionalDotted(x.Name), Value: x.Value, Use: optionalDotted(x.Use),
		}
		if x.Rows != nil {
			item.Where = x.Rows
		}
		if x.Equil != nil {
			item.Equil = p.equilibrate(x.Equil)
		}
		e.Items = append(e.Items, item)
	}
	return e
}

func (p *parse) data(n *dataItem) ast.Item {
	return &ast.Data{Name: n.Name.get().Ident, Value: n.Value, Settings: p.list(n.List)}
}

func (p *parse) list(list []*setting) []*ast.Setting {
	var out []*ast.Setting
	for _, s := range list {
		at := ast.At{Span: p.of(s.place)}
		if s.Noise != nil {
			what := s.Drawn.get()
			out = append(out, &ast.Setting{At: at, Key: what.first, Drawn: what.Expr, Value: s.Noise})
			continue
		}
		out = append(out, &ast.Setting{At: at, Key: s.Key.get().Ident, Value: s.Value})
	}
	return out
}

func (p *parse) observe(n *observeItem) ast.Item {
	return &ast.Observe{
		Name: n.Name.get().Ident, Unit: value(n.Unit), Value: n.Value, Noise: n.Noise, From: n.From,
		Where: value(n.Where).Expr,
	}
}

func doses(p *parse, n *dosesItem) ast.Item {
	d := &ast.Doses{Table: n.Table.get().Ident}
	for _, x := range n.Items {
		item := &ast.DoseItem{At: ast.At{Span: p.of(x.place)}, Target: value(x.Target), Where: value(x.Where).Expr}
		if x.Key != nil {
			name := x.Key.get().Ident
			item.Key, item.Value = &name, x.Value
		}
		d.Items = append(d.Items, item)
	}
	return d
}

// readDoseKey parses the name before `=` in `doses`, which may be the word `rate`.
func readDoseKey(p *parse) (doseKey, bool) {
	t := p.peek()
	if !isToken(p.ahead(1), "=") || !isName(t) && t.Kind != ast.KeywordToken {
		return doseKey{}, false
	}
	p.i++
	return doseKey{p.ident(t)}, true
}

// readChosen parses `where c`, unless a state of this name has its equation here.
func readChosen(p *parse) (chosen, bool) {
	if t := p.peek(); t.Kind != ast.IdentToken || t.Text != "where" || p.startsItem(p.i) || isToken(p.ahead(1), "=") {
		return chosen{}, false
	}
	p.i++
	return chosen{p.expr(0)}, true
}

func (p *parse) objective(n *objectiveItem) ast.Item {
	return &ast.Objective{Target: n.Target.get(), Unit: value(n.Unit), Value: n.Value, For: value(n.For)}
}

func (p *parse) constraint(n *constraintItem) ast.Item {
	return &ast.Constraint{Name: n.Name.get().Ident, Cond: n.Cond, For: value(n.For)}
}

func invariant(_ *parse, n *invariantItem) ast.Item { return &ast.Invariant{Cond: n.Cond} }

func (p *parse) assert(n *assertItem) ast.Item {
	return &ast.Assert{Cond: n.Cond, Text: value(n.Text)}
}

func (p *parse) settings(n *settingsItem) ast.Item {
	return &ast.Settings{Block: ast.Ident{Name: string(n.Word.get())}, Name: optional(n.Name), List: p.list(n.List)}
}

func (p *parse) algEq(n *algItem) ast.Item { return &ast.AlgEq{Value: n.Value, For: value(n.For)} }

func mass(_ *parse, n *massItem) ast.Item {
	return &ast.Mass{Name: n.Name.get().Ident, Value: n.Value}
}

func (p *parse) equation(n *equationItem) ast.Item {
	return &ast.Equation{Target: n.Target.get(), Add: n.Op == "+=", Value: n.Value, For: value(n.For)}
}

// lvalue parses a name with optional subscripts. Reserved words match only
// where an assignment shows that a name was meant.
func (p *parse) lvalue() (*ast.LValue, bool) {
	t := p.peek()
	if t.Kind == ast.KeywordToken {
		if a := p.ahead(1); p.startsItem(p.i) || !isToken(a, "=") && !isToken(a, "+=") && !isToken(a, "'") &&
			!isToken(a, "[") && !isToken(a, ":") {
			return nil, false
		}
		p.reserved(t)
	} else if !isName(t) {
		return nil, false
	}
	p.i++
	v := &ast.LValue{Name: p.ident(t)}
	p.subscripts(v)
	for !p.failed && p.is(".") && isName(p.ahead(1)) {
		at := ast.At{Span: p.since(t.Start)}
		v.Of = component(v, at)
		p.i++
		v.Name, v.Subs = p.ident(p.next()), nil
		p.subscripts(v)
	}
	v.At = ast.At{Span: p.since(t.Start)}
	return v, true
}

// subscripts parses those of v, if there are any.
func (p *parse) subscripts(v *ast.LValue) {
	if open := p.peek(); isToken(open, "[") {
		p.i++
		v.Subs = p.subs(open)
	}
}

// component returns what v names as an expression: what it is part of, at a place.
func component(v *ast.LValue, at ast.At) ast.Expr {
	var e ast.Expr = &ast.Name{Ident: v.Name}
	if v.Of != nil {
		e = &ast.Member{At: at, X: v.Of, Name: v.Name}
	}
	if v.Subs != nil {
		e = &ast.Index{At: at, X: e, Subs: v.Subs}
	}
	return e
}

// dotted returns the name of what v names in a component, such as c.V; ok is false where v is one element.
func dotted(v *ast.LValue) (name ast.Ident, ok bool) {
	name, ok = v.Name, v.Subs == nil
	for of := v.Of; of != nil; {
		switch e := of.(type) {
		case *ast.Member:
			name.Name, of = e.Name.Name+"."+name.Name, e.X
		case *ast.Name:
			name.Name, of = e.Name+"."+name.Name, nil
		default:
			return name, false
		}
		name.Span = v.Span
	}
	return name, ok
}

// drawn parses what stands before `~` in an ensemble block: k, A[2] or initial(x). It matches where `~` follows.
func (p *parse) drawn() (drawn, bool) {
	if !isName(p.peek()) {
		return drawn{}, false
	}
	depth := 0
	for n := 1; ; n++ {
		t := p.ahead(n)
		switch {
		case isToken(t, "[") || isToken(t, "("):
			depth++
		case isToken(t, "]") || isToken(t, ")"):
			depth--
		case depth == 0 && isToken(t, "~"):
			return drawn{p.ident(p.peek()), p.expr(0)}, true
		case depth == 0 || t.Kind == ast.EOF || isToken(t, "{") || isToken(t, "}"):
			return drawn{}, false
		}
	}
}

// key parses the key of a setting, which may be a reserved word.
func (p *parse) key() (keyName, bool) {
	t := p.peek()
	if !isName(t) && (t.Kind != ast.KeywordToken || p.startsItem(p.i)) {
		return keyName{}, false
	}
	p.i++
	return keyName{p.ident(t)}, true
}

// isArrow reports whether a reaction goes to its right side with t.
func isArrow(t *ast.Token) bool { return isToken(t, "->") || isToken(t, "<->") }

// specie parses `A`, `2 A` or `2 A[i]` on a side of a reaction. There the word `rate` begins the rate, unless an arrow
// follows.
func (p *parse) specie() (*ast.Specie, bool) {
	start := p.peek()
	s := &ast.Specie{}
	if start.Kind == ast.NumberToken {
		s.Coeff = p.literal()
		if t := p.peek(); t.Start == start.End && isName(t) {
			p.complain(CodeCoefficient, s.Coeff.Span.To(p.at(t)),
				"a coefficient is separated from the species by a space: write %s %s", s.Coeff.Text, t.Text).
				Fix(p.span(t.Start, t.Start), " ", "write a space")
		}
		if isToken(p.peek(), "*") {
			p.fail(CodeCoefficient, p.gap(),
				"a coefficient stands before its species without an operator: 2 A + B -> C")
			return s, true
		}
	}
	var name *ast.LValue
	ok := false
	if t := p.peek(); t.Kind != ast.IdentToken || t.Text != "rate" || isArrow(p.ahead(1)) {
		name, ok = p.lvalue()
	}
	if !ok && s.Coeff != nil {
		if s.Coeff.Value == 0 {
			p.fail(CodeUnexpected, s.Coeff.Span, "a side without species stays empty: reaction r: A -> rate k*A").
				Fix(s.Coeff.Span, "", "leave it out")
		} else {
			p.fail(CodeUnexpected, p.gap(), "expected a species after the coefficient %s, found %s",
				s.Coeff.Text, p.found())
		}
	}
	s.Name = name
	s.At = ast.At{Span: p.since(start.Start)}
	return s, ok || s.Coeff != nil
}

// dims parses the shape behind a declared name.
func (p *parse) dims() []ast.Expr {
	open := p.next()
	var dims []ast.Expr
	for !p.failed {
		dims = append(dims, p.expr(0))
		if !p.got(",") {
			break
		}
	}
	p.closeBracket("]", open, "shape")
	return dims
}

// fnDims parses the shape of a function's parameter.
func (p *parse) fnDims() []ast.FnDim {
	open := p.next()
	var dims []ast.FnDim
	for !p.failed {
		t := p.peek()
		d := ast.FnDim{At: ast.At{Span: p.at(t)}}
		switch size, err := strconv.Atoi(t.Text); {
		case isToken(t, ":"):
			d.All = true
		case isName(t):
			d.Name = t.Text
		case t.Kind == ast.NumberToken && err == nil && isInteger(t.Text):
			d.Size = size
		default:
			p.fail(CodeUnexpected, p.gap(), "a dimension of a function's parameter is a name, a whole number or "+
				"\":\", found %s", p.found())
			return nil
		}
		p.i++
		dims = append(dims, d)
		if !p.got(",") {
			break
		}
	}
	p.closeBracket("]", open, "shape")
	return dims
}

// bounds parses `in [lo, hi]`.
func (p *parse) bounds() (b bounds) {
	p.next()
	open := p.peek()
	if !p.got("[") {
		d := p.fail(CodeBounds, p.gap(), "bounds are written in [lo, hi]")
		if inner, end := p.parenthesised(); end > 0 {
			d.Fix(p.span(open.Start, end), "["+inner+"]", "write brackets")
		}
		return b
	}
	b.lo = p.expr(0)
	if !p.failed && !p.got(",") {
		p.fail(CodeBounds, p.gap(), "bounds are written in [lo, hi], with a comma between them")
	}
	if !p.failed {
		b.hi = p.expr(0)
	}
	if p.is(",") {
		p.fail(CodeBounds, p.gap(), "there are two bounds, in [lo, hi]; write -inf or inf for an open side")
	}
	p.closeBracket("]", open, "bounds")
	return b
}

// parenthesised returns what stands in the parentheses that open here, and
// where they end, 0 if they do not end on the line.
func (p *parse) parenthesised() (inner string, end int) {
	depth := 0
	for i := p.i; p.tokens[i].Kind != ast.EOF && (i == p.i || !p.tokens[i].NewLine); i++ {
		t := &p.tokens[i]
		if isToken(t, "(") {
			depth++
		} else if isToken(t, ")") {
			depth--
		}
		if depth == 0 {
			if i == p.i {
				return "", 0
			}
			return p.file.Text()[p.peek().End:t.Start], t.End
		}
	}
	return "", 0
}
