package ast_test

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

func parse(t *testing.T, text string) *ast.File {
	t.Helper()
	var l diag.List
	f := parser.Parse(source.NewFile("f.ode", text), &l)
	if err := l.Err(); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f
}

// TestFormat gives, for each rule of the layout, a text and its normal form.
func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"operators", "let a=b+c*d-e/f^2", "let a = b + c*d - e/f^2\n"},
		{"products as the writer spaced them", "let a = b * c*d @e", "let a = b * c*d @ e\n"},
		{"signs", "let a = - b ^ - 2 - - c + ( - d )", "let a = -b^-2 - -c + (-d)\n"},
		{
			"tight in brackets", "let a = x[i+1,j] + x[i + 1, j] + f(i+1, j)",
			"let a = x[i+1,j] + x[i + 1, j] + f(i+1, j)\n",
		},
		{"loose outside of brackets", "let a = (i+1)", "let a = (i + 1)\n"},
		{"units", "param a = 3[ m / s ], b:[kg]=[1,2][m]", "param a = 3 [m/s], b : [kg] = [1, 2] [m]\n"},
		{"calls", "let a = f (x ,y, key=1)", "let a = f(x, y, key = 1)\n"},
		{
			"ranges", "let a[i] = sum( x[ 1 : 2 : n ] for j in 1 : n ) for i in 1 : n",
			"let a[i] = sum(x[1:2:n] for j in 1:n) for i in 1:n\n",
		},
		{
			"words", "let a=if not(b<c)and d then(1)else 2 as[m]",
			"let a = if not (b < c) and d then (1) else 2 as [m]\n",
		},
		{"equations", "x ' = 1", "x' = 1\n"},
		{"one item a line", "let a = 1; let b = 2;; x' = 3 y' = 4", "let a = 1\nlet b = 2\nx' = 3\ny' = 4\n"},
		{"semicolons in blocks", "event when x>1{a=1;b=2;}", "event when x > 1 { a = 1; b = 2 }\n"},
		{
			"semicolons on lines of their own", "event when x > 1 { a = 1 # one\n; b = 2\n;c = 3 }",
			"event when x > 1 { a = 1  # one\n  b = 2\n  c = 3\n}\n",
		},
		{
			"blocks over lines", "event when x > 1\n{\na=1;\n\n\n  let b = 2\nstop }",
			"event when x > 1 {\n  a = 1\n\n  let b = 2\n  stop\n}\n",
		},
		{"settings", "solver {rtol=1e-6 atol=1e-9}", "solver { rtol = 1e-6  atol = 1e-9 }\n"},
		{"blank lines", "\n\nlet a = 1\n\n\n\nlet b = 2\n\n", "let a = 1\n\nlet b = 2\n"},
		{"continued lines", "let a = b\n+ c\n      + d", "let a = b\n  + c\n      + d\n"},
		{
			"columns", "param a = 1 in [0, 1] # one\nparam long : [m] = 2.5 [m] ~ normal(0, 1)\n" +
				"param c = 3 [s] in [0, 1] ~ normal(0, 1)",
			"param a          = 1        in [0, 1]  # one\nparam long : [m] = 2.5 [m]             ~ normal(0, 1)\n" +
				"param c          = 3   [s]  in [0, 1]  ~ normal(0, 1)\n",
		},
		{
			"comments", "#!/usr/bin/env odes\n\n# alone\nlet a = 1# behind\nlet bb = 2   ## doc\n  # indented\n" +
				"\n# last",
			"#!/usr/bin/env odes\n\n# alone\nlet a  = 1  # behind\nlet bb = 2  ## doc\n# indented\n\n# last\n",
		},
		{
			"comments in blocks", "event when x > 1 { # first\n# second\na = 1 # third\n# fourth\n}",
			"event when x > 1 {  # first\n  # second\n  a = 1  # third\n  # fourth\n}\n",
		},
		{"comments in expressions", "let a = b # one\n  + # two\n  c", "let a = b  # one\n  +        # two\n  c\n"},
		{
			"tables", "let a = [[1.0,   2.0],\n         [10.0, -2.0]]",
			"let a = [[1.0,   2.0],\n         [10.0, -2.0]]\n",
		},
		{"data", "data d {\ntime = [1]\nlonger = [2]\n}", "data d {\n  time   = [1]\n  longer = [2]\n}\n"},
		{
			"reactions", "reaction r:A+2 B->C rate k*A\nreaction long: -> A rate 1",
			"reaction r   : A + 2 B -> C  rate k*A\nreaction long:         -> A  rate 1\n",
		},
		{"names", "let `a b` = `time` + \u00b5", "let `a b` = `time` + \u03bc\n"},
		{"time", "time t:[s] from(a)to -1", "time t : [s] from (a) to -1\n"},
		{"empty", "", ""},
		{"comment only", "  # text  ", "# text\n"},
		{
			"experiments", "experiment e{x=1 equilibrate{} at 0{y=1} use d where a==\"b\"}",
			"experiment e { x = 1  equilibrate { }  at 0 { y = 1 }  use d where a == \"b\" }\n",
		},
	} {
		if got := ast.Format(parse(t, c.in)); got != c.want {
			t.Errorf("%s:\n%q is formatted to\n%s\nwant\n%s", c.name, c.in, got, c.want)
		} else if twice := ast.Format(parse(t, got)); twice != got {
			t.Errorf("%s: a second run changes\n%s\nto\n%s", c.name, got, twice)
		}
	}
}

// TestFormatBroken checks that a file that did not parse is left unchanged.
func TestFormatBroken(t *testing.T) {
	const text = "let  a = \nlet b=1"
	var l diag.List
	if got := ast.Format(parser.Parse(source.NewFile("f", text), &l)); got != text {
		t.Errorf("got %q", got)
	}
}

// TestFormatMade checks that a tree made by a program, without a source, can be written.
func TestFormatMade(t *testing.T) {
	number := func(text string) ast.Expr { return &ast.Number{Text: text} }
	name := func(n string) ast.Expr { return &ast.Name{Ident: ast.Ident{Name: n}} }
	f := &ast.File{Items: []ast.Item{
		&ast.Model{Name: ast.Ident{Name: "M"}, Title: &ast.String{Value: `a "b"`}, Doc: "one\ntwo"},
		&ast.Decl{Kind: ast.Param, Vars: []*ast.Var{{
			Name: ast.Ident{Name: "a.b"}, Value: number("1"),
			Doc: "odd name",
		}}},
		&ast.Let{Target: &ast.LValue{Name: ast.Ident{Name: "c"}}, Value: &ast.Binary{
			Op: ast.Mul, X: &ast.Binary{Op: ast.Add, X: name("a.b"), Y: number("1")},
			Y: &ast.Unary{Op: ast.Neg, X: &ast.Binary{
				Op: ast.Pow, X: &ast.Unary{Op: ast.Neg, X: number("2")},
				Y: number("3"),
			}},
		}},
	}}
	const want = "## one\n## two\nmodel M \"a \\\"b\\\"\"\n## odd name\nparam `a.b` = 1\nlet c = (`a.b` + 1)*-(-2)^3\n"
	got := ast.Format(f)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	parse(t, got)
}

// TestParentheses writes trees whose operators need parentheses and parses the result.
func TestParentheses(t *testing.T) {
	leaf := []ast.Expr{&ast.Name{Ident: ast.Ident{Name: "a"}}, &ast.Number{Text: "2"}}
	var level func(depth int) []ast.Expr
	level = func(depth int) []ast.Expr {
		if depth == 0 {
			return leaf
		}
		below := level(depth - 1)
		out := append([]ast.Expr{}, below...)
		for i, x := range below {
			y := below[(i*7+3)%len(below)]
			for op := ast.Add; op <= ast.Or; op++ {
				out = append(out, &ast.Binary{Op: op, X: x, Y: y})
			}
			for op := ast.Not; op <= ast.Plus; op++ {
				out = append(out, &ast.Unary{Op: op, X: x})
			}
			out = append(out, &ast.If{Conds: []ast.Expr{x}, Thens: []ast.Expr{y}, Else: x})
		}
		return out
	}
	trees := level(2)
	if len(trees) < 500 {
		t.Fatalf("only %d trees", len(trees))
	}
	for _, x := range trees {
		text := ast.ExprString(x)
		var l diag.List
		back := parser.ParseExpr(source.NewFile("f", text), &l)
		if err := l.Err(); err != nil {
			t.Fatalf("%s, written %q: %v", ast.DumpNode(x), text, err)
		}
		without := strings.NewReplacer("(paren ", "", ")", "").Replace(ast.DumpNode(back))
		if want := strings.ReplaceAll(ast.DumpNode(x), ")", ""); without != want {
			t.Fatalf("%s, written %q, is read as %s", ast.DumpNode(x), text, ast.DumpNode(back))
		}
	}
}

func TestWalk(t *testing.T) {
	f := parse(t, "let a[i] = f(x, k = -2 [m/s]) + x[1:2] for i in 1:n")
	var seen []string
	depth, deepest := 0, 0
	ast.Walk(f, func(n ast.Node) bool {
		seen = append(seen, strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."))
		depth++
		deepest = max(deepest, depth)
		return true
	}, func(ast.Node) { depth-- })
	const want = "File Let LValue Ident Sub Name Binary Call Name Arg Name Arg Ident Unary Number Unit UnitFactor " +
		"UnitFactor Index Name Sub Number Number Binder Ident Number Name"
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("visited %s\nwant %s", got, want)
	}
	if depth != 0 || deepest != 9 {
		t.Errorf("left %d nodes open, deepest %d", depth, deepest)
	}
	count := 0
	ast.Inspect(f, func(n ast.Node) bool {
		count++
		_, call := n.(*ast.Binary)
		return !call
	})
	if count != 11 {
		t.Errorf("visited %d nodes without the sum's, want 11", count)
	}
}
