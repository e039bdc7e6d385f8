package parser

import "odes.dev/odes/lang/ast"

// The items below are what is measured: tables, doses, observations and experiments.

type (
	experimentItem struct {
		Name  part[newName] `parser:"'experiment' @@"`
		From  part[newName] `parser:"( 'from' @@"`
		By    ast.Expr      `parser:"'by' @@"`
		Some  []*expItem    `parser:"('{' @@* '}')?"`
		Items []*expItem    `parser:"| '{' @@* '}' )"`
	}
	expItem struct {
		place
		Equil *equilibrateItem `parser:"( @@"`
		Time  ast.Expr         `parser:"| 'at' @@"`
		Rows  ast.Expr         `parser:"('where' @@)?"`
		First ast.Expr         `parser:"('priority' @@)?"`
		Body  []*affect        `parser:"'{' @@* '}'"`
		Use   part[dotName]    `parser:"| 'use' @@"`
		Where ast.Expr         `parser:"('where' @@)?"`
		Name  part[dotName]    `parser:"| @@"`
		Value ast.Expr         `parser:"'=' @@ ) ';'?"`
	}
	dataItem struct {
		Name  part[newName] `parser:"'data' @@"`
		Value ast.Expr      `parser:"( '=' @@"`
		List  []*setting    `parser:"| '{' @@* '}' )"`
	}
	dosesItem struct {
		Table part[newName] `parser:"'doses' @@"`
		Items []*doseItem   `parser:"'{' @@* '}'"`
	}
	doseItem struct {
		place
		Key    part[doseKey]     `parser:"( @@"`
		Value  ast.Expr          `parser:"'=' @@"`
		Target part[*ast.LValue] `parser:"| @@"`
		Where  part[chosen]      `parser:"@@? ) ';'?"`
	}
	observeItem struct {
		Name  part[newName]   `parser:"'observe' @@"`
		Unit  part[*ast.Unit] `parser:"(':' @@)?"`
		Value ast.Expr        `parser:"'=' @@"`
		Noise ast.Expr        `parser:"'~' @@"`
		From  ast.Expr        `parser:"('from' @@"`
		Where part[chosen]    `parser:"@@?)?"`
	}
)

// dataRules are the rules of these items, in the order of the manual.
func dataRules() []itemRule {
	return []itemRule{
		rule(experimentTree, "experiment"),
		rule(dataTree, "data"),
		rule(dosesTree, "doses").after(followsDoses),
		rule(observeTree, "observe"),
	}
}

// dataWords are the words that these items start with, and words of their own.
var dataWords = []Word{
	{
		Name: "data", Kind: ItemWord, body: aSetting,
		Form: "data D { time = [1, 2] [h]  dv = [0.9, 1.7] [mg/L] }",
		Text: `A table of data, or one from a file: data D = csv("file.csv", time = "t [h]").`,
	},
	{
		Name: "observe", Kind: ItemWord, gives: one, foreign: "observable",
		Form: "observe y = C ~ normal(sd) from D.dv",
		Text: "Says what a column of data measures, and with what noise.",
	},
	{
		Name: "experiment", Kind: ItemWord, body: "a part of an experiment",
		Form: `experiment high { dose = 20 [mg]  at 24 [h] { A += 5 [mg] }  use D where arm == "high" }`,
		Text: "A run of the model under changes: other values of consts and params, further events at known " +
			"times, and the rows of data it is compared with. nll adds up over the experiments; everything else " +
			"in an objective is read from the run without changes. `experiment subject from D by D.id { … }` is one " +
			"for each value of a column.",
	},
	{
		Name: "equilibrate", Kind: ItemWord, body: "an assignment",
		Form: "equilibrate { S = 0 }",
		Text: "Makes assignments, and starts the run from the steady state to which they lead; at the " +
			"top level or in " +
			"an experiment. A param that is set has that value until the run proper begins. Time is fixed before " +
			"that. With `every T`, the run starts from the state that repeats after each T: dosing at steady state.",
	},
	{
		Name: "use", Kind: ItemWord, body: "a value that the component is given",
		Form: `use Cell as c[i] { k = kk[i] } for i in 1:10`,
		Text: "Makes copies of a component, a model that `import model` brings: its states are c[3].V, those of all " +
			"copies c.V. In an experiment, `use D where dose > 5` says which rows of a table it is compared with.",
	},
}

func experimentTree(p *parse, n *experimentItem) ast.Item {
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
			item.Equil = equilibrateTree(p, x.Equil)
		}
		e.Items = append(e.Items, item)
	}
	return e
}

func dataTree(p *parse, n *dataItem) ast.Item {
	return &ast.Data{Name: n.Name.get().Ident, Value: n.Value, Settings: p.list(n.List)}
}

func dosesTree(p *parse, n *dosesItem) ast.Item {
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

func observeTree(_ *parse, n *observeItem) ast.Item {
	return &ast.Observe{
		Name: n.Name.get().Ident, Unit: value(n.Unit), Value: n.Value, Noise: n.Noise, From: n.From,
		Where: value(n.Where).Expr,
	}
}

// followsDoses reports whether `D {` stands behind `doses`.
func followsDoses(c *cursor, i int) bool { return isName(&c.tokens[i]) && isToken(&c.tokens[i+1], "{") }
