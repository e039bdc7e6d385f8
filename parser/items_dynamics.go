package parser

import "odes.dev/odes/lang/ast"

// The items below are what happens: equations, events, reactions, and where a run starts.

type (
	equationItem struct {
		Target part[*ast.LValue]  `parser:"@@"`
		Op     string             `parser:"Prime @('=' | '+=')"`
		Value  ast.Expr           `parser:"@@"`
		For    part[[]ast.Binder] `parser:"@@?"`
	}
	algItem struct {
		Value ast.Expr           `parser:"'0' '=' @@"`
		For   part[[]ast.Binder] `parser:"@@?"`
	}
	massItem struct {
		Name  part[newName] `parser:"'mass' '(' @@ ')'"`
		Value ast.Expr      `parser:"'=' @@"`
	}
	pastItem struct {
		Name  part[newName] `parser:"'past' @@"`
		Value ast.Expr      `parser:"'=' @@"`
	}
	eventItem struct {
		Name  part[optName]      `parser:"'event' @@?"`
		When  ast.Expr           `parser:"( 'when' @@"`
		Times []ast.Expr         `parser:"| 'at' @@"`
		More  []part[moreTime]   `parser:"@@*"`
		Every ast.Expr           `parser:"| 'every' @@"`
		From  ast.Expr           `parser:"('from' @@)?"`
		To    ast.Expr           `parser:"('to' @@)?"`
		Count ast.Expr           `parser:"('count' @@)? )"`
		For   part[[]ast.Binder] `parser:"@@?"`
		Words []*eventWord       `parser:"@@*"`
		Body  []*affect          `parser:"'{' @@* '}'"`
	}
	eventWord struct {
		place
		Priority ast.Expr          `parser:"( 'priority' @@"`
		Once     bool              `parser:"| @'once'"`
		Start    bool              `parser:"| @('at' 'start')"`
		Option   part[*ast.Option] `parser:"| @@ )"`
	}
	affect struct {
		place
		Stop   bool               `parser:"( @'stop'"`
		Let    *letItem           `parser:"| @@"`
		Target part[*ast.LValue]  `parser:"| @@"`
		Op     string             `parser:"@('=' | '+=' | '-=' | '*=' | '/=')"`
		Value  ast.Expr           `parser:"@@"`
		For    part[[]ast.Binder] `parser:"@@? ) ';'?"`
	}
	reactionItem struct {
		Name  part[newName]       `parser:"'reaction' @@ ':'"`
		Left  []part[*ast.Specie] `parser:"(@@ ('+' @@)*)?"`
		Arrow string              `parser:"@('->' | '<->')"`
		Right []part[*ast.Specie] `parser:"(@@ ('+' @@)*)?"`
		Rate  ast.Expr            `parser:"'rate' @@"`
	}
	equilibrateItem struct {
		place
		Body  []*affect `parser:"'equilibrate' '{' @@* '}'"`
		Every ast.Expr  `parser:"('every' @@)?"`
	}
)

// dynamicsRules are the rules of these items, in the order of the manual.
func dynamicsRules() []itemRule {
	return []itemRule{
		rule(equationTree, "Target"),
		rule(algTree, "0"),
		rule(massTree, "mass").after(followsMass),
		rule(pastTree, "past").after(followsPast),
		rule(eventTree, "event"),
		rule(reactionTree, "reaction"),
		rule(func(p *parse, n *equilibrateItem) ast.Item { return equilibrateTree(p, n) }, "equilibrate"),
	}
}

// dynamicsWords are the words that these items start with, and words of their own.
var dynamicsWords = []Word{
	{
		Name: "event", Kind: ItemWord, body: "an assignment", foreign: "events",
		Form: "event bounce when x <= 0 { v = -e*v }",
		Text: "Changes states and discretes when a condition becomes true (when), at known times (at a, b), or " +
			"periodically (every P from a to b count n). May end in: for i in 1:n, priority p, once. The body " +
			"reads the values just before the event and assigns all at once.",
	},
	{
		Name: "when", Kind: PartWord, In: "event",
		belongs: "an event is written event e when ... { ... }",
		Form:    "event e when x > 1 and y < 2 { stop }",
		Text:    "Begins the condition of an event, which fires when it becomes true.",
	},
	{
		Name: "at", Kind: PartWord, In: "event experiment",
		belongs: "an event is written event e at ... { ... }",
		Form:    "event dose at td[k] + tlag for k in 1:n { depot += amt[k] }",
		Text:    "Begins the times of an event; they may depend on params and discretes.",
	},
	{
		Name: "every", Kind: PartWord, In: "event",
		belongs: "an event is written event e every ... { ... }",
		Form:    "event tick every 24 [h] from 1 [h] count 5 { y = 0 }",
		Text:    "Begins the period of an event.",
	},
	{
		Name: "crosses", Kind: OperatorWord, In: "event",
		Form: "event e when x crosses 1 { n += 1 }",
		Text: "A condition that fires in either direction.",
	},
	{
		Name: "stop", Kind: PartWord, In: "body",
		belongs: "a run is stopped in an event: event when ... { stop }",
		Form:    "event e when y <= 0 { stop }",
		Text:    "Ends the run at the event.",
	},
	{
		Name: "reaction", Kind: ItemWord,
		Form: "reaction r: 2 A + B -> C rate k*A^2*B",
		Text: "Adds the terms of a reaction to the equations of its species; <-> marks a net rate that may be " +
			"negative.",
	},
	{
		Name: "rate", Kind: FreeWord, In: "reaction",
		belongs: "a rate belongs to a reaction: reaction r: A -> B rate k*A",
		Form:    "reaction r: A -> B rate mass_action(k)",
		Text:    "Begins the rate of a reaction.",
	},
}

func equationTree(_ *parse, n *equationItem) ast.Item {
	return &ast.Equation{Target: n.Target.get(), Add: n.Op == "+=", Value: n.Value, For: value(n.For)}
}

func algTree(_ *parse, n *algItem) ast.Item { return &ast.AlgEq{Value: n.Value, For: value(n.For)} }

func massTree(_ *parse, n *massItem) ast.Item {
	return &ast.Mass{Name: n.Name.get().Ident, Value: n.Value}
}

func pastTree(_ *parse, n *pastItem) ast.Item {
	return &ast.Mass{Name: n.Name.get().Ident, Past: true, Value: n.Value}
}

func eventTree(p *parse, n *eventItem) ast.Item {
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
func (c *cursor) startsOption() bool {
	return c.is(",") && isName(c.ahead(1)) && isToken(c.ahead(2), "=")
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
			a.Let = letTree(p, n.Let)
		case n.Target != nil:
			a.Target, a.Op, a.Value, a.For = n.Target.get(), assignOps[n.Op], n.Value, value(n.For)
		}
		body = append(body, a)
	}
	return body
}

func reactionTree(_ *parse, n *reactionItem) ast.Item {
	r := &ast.Reaction{Name: n.Name.get().Ident, Net: n.Arrow == "<->", Rate: n.Rate}
	for _, s := range n.Left {
		r.Left = append(r.Left, s.get())
	}
	for _, s := range n.Right {
		r.Right = append(r.Right, s.get())
	}
	return r
}

func equilibrateTree(p *parse, n *equilibrateItem) *ast.Equilibrate {
	return &ast.Equilibrate{At: ast.At{Span: p.of(n.place)}, Body: p.body(n.Body), Every: n.Every}
}

// followsMass reports whether `(x) =` stands behind `mass`.
func followsMass(c *cursor, i int) bool {
	return i+3 < len(c.tokens) && isToken(&c.tokens[i], "(") && isName(&c.tokens[i+1]) &&
		isToken(&c.tokens[i+2], ")") && isToken(&c.tokens[i+3], "=")
}

// followsPast reports whether `x =` stands behind `past`.
func followsPast(c *cursor, i int) bool { return isName(&c.tokens[i]) && isToken(&c.tokens[i+1], "=") }
