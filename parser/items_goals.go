package parser

import "odes.dev/odes/lang/ast"

// The items below are what is asked of a run, and how it is made: objectives, conditions and settings.

type (
	objectiveItem struct {
		Target part[*ast.LValue]  `parser:"'objective' @@"`
		Unit   part[*ast.Unit]    `parser:"(':' @@)?"`
		Value  ast.Expr           `parser:"'=' @@"`
		For    part[[]ast.Binder] `parser:"@@?"`
	}
	constraintItem struct {
		Name part[newName]      `parser:"'constraint' @@"`
		Cond ast.Expr           `parser:"':' @@"`
		For  part[[]ast.Binder] `parser:"@@?"`
	}
	invariantItem struct {
		Cond ast.Expr `parser:"'invariant' @@"`
	}
	assertItem struct {
		Cond ast.Expr          `parser:"'assert' @@"`
		Text part[*ast.String] `parser:"(',' @@)?"`
	}
	settingsItem struct {
		Word part[blockWord] `parser:"@@"`
		Name part[optName]   `parser:"@@?"`
		List []*setting      `parser:"'{' @@* '}'"`
	}
	setting struct {
		place
		Drawn part[drawn]   `parser:"( @@"`
		Noise ast.Expr      `parser:"'~' @@"`
		Key   part[keyName] `parser:"| @@"`
		Value ast.Expr      `parser:"'=' @@ ) ';'?"`
	}
)

// goalsRules are the rules of these items, in the order of the manual.
func goalsRules() []itemRule {
	return []itemRule{
		rule(objectiveTree, "objective"),
		rule(constraintTree, "constraint"),
		rule(invariantTree, "invariant"),
		rule(assertTree, "assert"),
		rule(settingsTree, Blocks()...),
	}
}

// goalsWords are the words that these items start with, and words of their own.
var goalsWords = []Word{
	{
		Name: "objective", Kind: ItemWord, gives: one, foreign: "minimize loss",
		Form: "objective J = final(x)^2 + integral(u)",
		Text: "A value that is computed and differentiated: an expression of functionals of the run and of params.",
	},
	{
		Name: "constraint", Kind: ItemWord,
		Form: "constraint c: final(x) <= 1",
		Text: "Reported like an objective: left minus right.",
	},
	{
		Name: "invariant", Kind: ItemWord,
		Form: "invariant x + y == 1",
		Text: "Checked along the run.",
	},
	{
		Name: "assert", Kind: ItemWord,
		Form: `assert n > 1, "too few"`,
		Text: "Checked before a run.",
	},
}

func objectiveTree(_ *parse, n *objectiveItem) ast.Item {
	return &ast.Objective{Target: n.Target.get(), Unit: value(n.Unit), Value: n.Value, For: value(n.For)}
}

func constraintTree(_ *parse, n *constraintItem) ast.Item {
	return &ast.Constraint{Name: n.Name.get().Ident, Cond: n.Cond, For: value(n.For)}
}

func invariantTree(_ *parse, n *invariantItem) ast.Item { return &ast.Invariant{Cond: n.Cond} }

func assertTree(_ *parse, n *assertItem) ast.Item {
	return &ast.Assert{Cond: n.Cond, Text: value(n.Text)}
}

func settingsTree(p *parse, n *settingsItem) ast.Item {
	return &ast.Settings{Block: ast.Ident{Name: string(n.Word.get())}, Name: optional(n.Name), List: p.list(n.List)}
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
