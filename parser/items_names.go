package parser

import "odes.dev/odes/lang/ast"

// The items below are what a model is made of: its name, imports, components, units, time, quantities and functions.

type (
	modelItem struct {
		Name  part[newName]     `parser:"'model' @@"`
		Title part[*ast.String] `parser:"@@?"`
	}
	importItem struct {
		Model bool              `parser:"'import' @'model'?"`
		Path  part[*ast.String] `parser:"( @@"`
		As    part[newName]     `parser:"('as' @@)?"`
		Names []part[newName]   `parser:"| @@ (',' @@)* 'from'"`
		From  part[*ast.String] `parser:"@@ )"`
	}
	useItem struct {
		Component part[newName]      `parser:"'use' @@ 'as'"`
		Target    part[*ast.LValue]  `parser:"@@"`
		List      []*useSet          `parser:"('{' @@* '}')?"`
		For       part[[]ast.Binder] `parser:"@@?"`
		Data      bool               `parser:"(@'with' 'data')?"`
	}
	useSet struct {
		place
		Key   part[useKey] `parser:"@@"`
		Value ast.Expr     `parser:"'=' @@ ';'?"`
	}
	unitItem struct {
		Name  part[newName]   `parser:"'unit' @@"`
		Value part[unitValue] `parser:"'=' @@"`
	}
	timeItem struct {
		Name part[newName]   `parser:"'time' @@"`
		Unit part[*ast.Unit] `parser:"(':' @@)?"`
		From ast.Expr        `parser:"'from' @@"`
		To   ast.Expr        `parser:"'to' @@"`
	}
	declItem struct {
		Kind string     `parser:"@('const' | 'param' | 'state' | 'alg' | 'discrete')"`
		Vars []*varDecl `parser:"@@ (',' @@)*"`
	}
	varDecl struct {
		place
		Name   part[newName]    `parser:"@@"`
		Dims   part[[]ast.Expr] `parser:"@@?"`
		Unit   part[*ast.Unit]  `parser:"(':' @@)?"`
		Value  ast.Expr         `parser:"('=' @@)?"`
		Bounds part[bounds]     `parser:"@@?"`
		Prior  ast.Expr         `parser:"('~' @@)?"`
	}
	randomItem struct {
		Vars []*randomDecl `parser:"'random' @@ (',' @@)*"`
	}
	randomDecl struct {
		place
		Name part[newName]    `parser:"@@"`
		Dims part[[]ast.Expr] `parser:"@@?"`
		Unit part[*ast.Unit]  `parser:"(':' @@)?"`
		Dist ast.Expr         `parser:"'~' @@"`
		By   part[occasions]  `parser:"@@?"`
	}
	controlItem struct {
		Var    *varDecl `parser:"'control' @@ 'piecewise'"`
		Linear bool     `parser:"('constant' | @'linear')"`
		Grid   ast.Expr `parser:"'on' @@"`
	}
	letItem struct {
		place
		Target part[*ast.LValue]  `parser:"'let' @@"`
		Unit   part[*ast.Unit]    `parser:"(':' @@)?"`
		Value  ast.Expr           `parser:"'=' @@"`
		For    part[[]ast.Binder] `parser:"@@?"`
	}
	outputItem struct {
		Target part[*ast.LValue]   `parser:"'output' @@"`
		Unit   part[*ast.Unit]     `parser:"( (':' @@)?"`
		Value  ast.Expr            `parser:"'=' @@"`
		For    part[[]ast.Binder]  `parser:"@@?"`
		More   []part[*ast.LValue] `parser:"| (',' @@)+ )?"`
	}
	fnItem struct {
		Name   part[newName]   `parser:"'fn' @@"`
		Params []*fnParam      `parser:"'(' (@@ (',' @@)*)? ')'"`
		Unit   part[*ast.Unit] `parser:"(':' @@)?"`
		Value  ast.Expr        `parser:"( '=' @@"`
		Lets   []*letItem      `parser:"| '{' (@@ ';'?)*"`
		Result ast.Expr        `parser:"'return' @@ ';'? '}' )"`
	}
	fnParam struct {
		place
		Name part[newName]     `parser:"@@"`
		Dims part[[]ast.FnDim] `parser:"@@?"`
		Unit part[*ast.Unit]   `parser:"(':' @@)?"`
	}
)

// namesRules are the rules of these items, in the order of the manual.
func namesRules() []itemRule {
	return []itemRule{
		rule(modelTree, "model"),
		rule(importTree, "import"),
		rule(useTree, "use"),
		rule(unitTree, "unit"),
		rule(timeTree, "time"),
		rule(declTree, "const", "param", "state", "alg", "discrete"),
		rule(randomTree, "random").after(followsRandom),
		rule(controlTree, "control"),
		rule(func(p *parse, n *letItem) ast.Item { return letTree(p, n) }, "let"),
		rule(outputTree, "output"),
		rule(fnTree, "fn"),
	}
}

// namesWords are the words that these items start with, and words of their own.
var namesWords = []Word{
	{
		Name: "model", Kind: ItemWord,
		Form: `model Name "title"`,
		Text: "Names the model; optional.",
	},
	{
		Name: "time", Kind: ItemWord,
		Form: "time t : [s] from 0 to T",
		Text: "Names the independent variable and its bounds. The bounds may use params, and are differentiated.",
	},
	{
		Name: "const", Kind: ItemWord, gives: several, foreign: "constant",
		Form: "const n = 200",
		Text: "A number or array known when the model is compiled; shapes and ranges use nothing else.",
	},
	{
		Name: "param", Kind: ItemWord, gives: several, foreign: "parameter parameters params",
		Form: "param k = 0.3 [1/h] in [0, 1] ~ lognormal(0, 1)",
		Text: "A parameter: objectives are differentiated by it. Unit, bounds and prior are optional; the " +
			"default may use other params.",
	},
	{
		Name: "state", Kind: ItemWord, gives: several, foreign: "var variable species states init initial",
		Form: "state x[n] : [m] = x0",
		Text: "An unknown of the system and its initial value.",
	},
	{
		Name: "control", Kind: ItemWord,
		Form: "control u = 0 [N] in [-6, 6] piecewise constant on grid(0, 2, 41)",
		Text: "A function of time that is given on a grid, piecewise constant or linear: the unknown of an optimal " +
			"control problem. Its values are params: `wrt = u`, `over = u`, `--set u[3]=1`.",
	},
	{
		Name: "alg", Kind: ItemWord, gives: several,
		Form: "alg z = 1",
		Text: "An algebraic unknown with a guess. At all times it satisfies equations 0 = g(t, x, z); at the start, " +
			"the search for its value begins at the guess.",
	},
	{
		Name: "discrete", Kind: ItemWord, gives: several,
		Form: "discrete gear = 1",
		Text: "A value that is constant between events and changed by them; it is part of the gradient like a " +
			"state.",
	},
	{
		Name: "let", Kind: ItemWord, gives: one,
		Form: "let w[i] = a[i]*x for i in 1:n",
		Text: "Names an expression. Order does not matter; cycles are errors.",
	},
	{
		Name: "output", Kind: ItemWord, gives: one, foreign: "out aux",
		Form: "output y = a*x",
		Text: "A let that odes run reports. Names of other items alone, as in output x, y, report these. A model " +
			"without outputs reports its states.",
	},
	{
		Name: "fn", Kind: ItemWord, gives: one, foreign: "def function func",
		Form: "fn f(x, A[n,m]) = x*sum(A)",
		Text: "A function: pure, inlined, not recursive. With several steps: fn f(x) { let a = x^2  return a + " +
			"1 }.",
	},
	{
		Name: "unit", Kind: ItemWord,
		Form: "unit uM = 1e-6 [mol/L]",
		Text: "Defines a unit.",
	},
	{
		Name: "return", Kind: PartWord, In: "fn",
		belongs: "it ends the body of a function: fn f(x) { let a = x return a }",
		Form:    "fn f(x) { let a = x^2  return a + 1 }",
		Text:    "Ends the body of a function with its value.",
	},
	{
		Name: "import", Kind: ItemWord, foreign: "include",
		Form: `import "lib/hill.ode" as kin`,
		Text: `Makes fn, const and unit of another file known, as kin.hill; import a, b from "file" takes ` +
			"single names. `import model \"cell.ode\" as Cell` brings a model to make copies of, by `use`. std/ is " +
			"built in.",
	},
}

func modelTree(_ *parse, n *modelItem) ast.Item {
	return &ast.Model{Name: n.Name.get().Ident, Title: value(n.Title)}
}

func importTree(_ *parse, n *importItem) ast.Item {
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

func useTree(p *parse, n *useItem) ast.Item {
	u := &ast.Use{
		Component: n.Component.get().Ident, Target: n.Target.get(), For: value(n.For), Data: n.Data,
	}
	for _, s := range n.List {
		u.List = append(u.List, &ast.UseSet{At: ast.At{Span: p.of(s.place)}, Key: s.Key.get().Expr, Value: s.Value})
	}
	return u
}

func unitTree(_ *parse, n *unitItem) ast.Item {
	return &ast.UnitDecl{Name: n.Name.get().Ident, Value: n.Value.get().Expr}
}

func timeTree(_ *parse, n *timeItem) ast.Item {
	return &ast.Time{Name: n.Name.get().Ident, Unit: value(n.Unit), From: n.From, To: n.To}
}

var declKinds = map[string]ast.DeclKind{
	"const": ast.Const, "param": ast.Param, "state": ast.State, "alg": ast.Alg, "discrete": ast.Discrete,
}

func declTree(p *parse, n *declItem) ast.Item {
	d := &ast.Decl{Kind: declKinds[n.Kind]}
	for _, v := range n.Vars {
		d.Vars = append(d.Vars, p.variable(v))
	}
	return d
}

func randomTree(p *parse, n *randomItem) ast.Item {
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

func controlTree(p *parse, n *controlItem) ast.Item {
	return &ast.Control{Var: p.variable(n.Var), Linear: n.Linear, Grid: n.Grid}
}

func letTree(p *parse, n *letItem) *ast.Let {
	return &ast.Let{
		At: ast.At{Span: p.of(n.place)}, Target: n.Target.get(), Unit: value(n.Unit),
		Value: n.Value, For: value(n.For),
	}
}

// outputTree is the definition of a quantity that is reported, or a list of names that are reported.
func outputTree(p *parse, n *outputItem) ast.Item {
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

func fnTree(p *parse, n *fnItem) ast.Item {
	f := &ast.Fn{Name: n.Name.get().Ident, Unit: value(n.Unit), Result: n.Value}
	for _, x := range n.Params {
		f.Params = append(f.Params, &ast.FnParam{
			At: ast.At{Span: p.of(x.place)}, Name: x.Name.get().Ident, Dims: value(x.Dims), Unit: value(x.Unit),
		})
	}
	if n.Result != nil {
		f.Braced, f.Result = true, n.Result
		for _, x := range n.Lets {
			f.Lets = append(f.Lets, letTree(p, x))
		}
	}
	return f
}

// followsRandom reports whether `e ~`, `e[2] ~` or `e : [m] ~` stands behind `random`.
func followsRandom(c *cursor, i int) bool {
	next := &c.tokens[i+1]
	return isName(&c.tokens[i]) &&
		(isToken(next, "~") || isToken(next, "[") && !c.startsPrimed(i) || isToken(next, ":"))
}
