package typecheck

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// TestFunctionCases evaluates the cases of every row of the function table. An elementwise row
// without a case fails, because it would be untested.
func TestFunctionCases(t *testing.T) {
	rows := append(append([]*stdlib.Func{}, stdlib.Operators...), stdlib.Funcs()...)
	if len(rows) < 60 {
		t.Fatalf("found %d rows", len(rows))
	}
	for _, f := range rows {
		if f.Doc == "" || f.Value == "" {
			t.Errorf("%s has no doc or value", f.Name)
		}
		switch f.Class {
		case stdlib.Elementwise, stdlib.Comparison, stdlib.Logic, stdlib.Index:
			if len(f.Cases) == 0 {
				t.Errorf("%s has no case", f.Name)
			}
			if (f.Op == 0) == (f.Body == "") {
				t.Errorf("%s has op %v and body %q; exactly one is wanted", f.Name, f.Op, f.Body)
			}
		}
		for _, k := range f.Cases {
			c := &checker{
				list: &diag.List{}, env: Env{MaxElements: 1000}, file: &ast.File{},
				globals: map[string]*entity{}, model: &model.Model{},
			}
			args := make([]model.Expr, len(k.In))
			for i, x := range k.In {
				kind := types.Real
				if f.Class == stdlib.Logic {
					kind = types.Bool
				}
				args[i] = model.Seal(&model.Const{
					Base: model.NewBase(types.Type{Kind: kind}, source.Span{}),
					Data: []float64{x},
				})
			}
			var v model.Expr
			switch f.Class {
			case stdlib.Logic:
				v = c.logic(f.Name, source.Span{}, args...)
			case stdlib.Noise:
				v = c.define(distributed(f, append(f.Args[:len(f.Args):len(f.Args)], "y"), k.In), f.Definition())
			default:
				v = c.applyRow(context{place: placeRun}, source.Span{}, f, args)
			}
			got := tabulate.Tabulate(v, nil)[0]
			if err := c.list.Err(); err != nil {
				t.Errorf("%s%v: %v", f.Name, k.In, err)
			}
			if got == k.Out {
				continue
			}
			ulps := 4e-16
			if f.Class == stdlib.Noise {
				ulps = 2e-15 // for sums
			}
			if !(math.Abs(got-k.Out) <= ulps*math.Max(math.Abs(k.Out), math.Abs(got))) {
				t.Errorf("%s%v = %.17g, want %.17g", f.Name, k.In, got, k.Out)
			}
		}
		if f.Class == stdlib.Noise && len(f.Cases) == 0 {
			t.Errorf("%s has no case", f.Name)
		}
	}
}

// distributed binds the parameters of a distribution.
func distributed(f *stdlib.Func, names []string, values []float64) context {
	x := context{place: placeConst, module: builtin}
	for i, name := range names {
		x = x.with(name, model.Seal(&model.Const{
			Base: model.NewBase(types.Type{Kind: types.Real}, source.Span{}),
			Data: values[i : i+1],
		}),
			source.Span{})
	}
	return x
}

// TestBelow compares the probabilities of less than a limit with values of 40 digits.
func TestBelow(t *testing.T) {
	for _, k := range []struct {
		name string
		in   []float64 // the parameters, then from
		want float64
	}{
		{"normal", []float64{1, 0.5, 0.8}, 1.06543404918957653},
		{"normal", []float64{1, 0.1, -0.4}, 101.56303440744995},
		{"normal", []float64{1, 0.1, -1}, 203.917155371097242},
		{"normal", []float64{5, 0.1, 0}, 1254.83136113941976},
		{"normal", []float64{1, 1, 40}, 0},
		{"normal", []float64{1, 2, 2}, 0.36894641528865639307},
		{"normal", []float64{1, 2, 3}, 0.17275377902344988953},
		{"normal", []float64{1, 2, 7}, 0.0013508099647481937988},
		{"normal", []float64{0, 0.7071067811865475, 7}, 2.0919128038897071993e-23},
		{"lognormal", []float64{1, 0.5, 0.8}, 1.06543404918957653},
		{"laplace", []float64{1, 0.5, 0.8}, 1.0931471805599453},
		{"laplace", []float64{1, 0.5, 1.8}, 0.10641469221487736},
		{"laplace", []float64{1, 1e-3, -9}, 10000.693147180560},
		{"loglaplace", []float64{1, 0.5, 1.8}, 0.10641469221487736},
	} {
		f := stdlib.Find(k.name, stdlib.Noise)
		c := &checker{
			list: &diag.List{}, env: Env{MaxElements: 1000}, file: &ast.File{}, globals: map[string]*entity{},
			model: &model.Model{},
		}
		v := c.define(distributed(f, append(f.Args[:len(f.Args):len(f.Args)], "from"), k.in), f.BelowDefinition())
		if got := tabulate.Tabulate(v, nil)[0]; !(math.Abs(got-k.want) <= 4e-15*k.want) || c.list.Len() > 0 {
			t.Errorf("%s%v: %.17g, want %.17g (%v)", k.name, k.in, got, k.want, c.list.Err())
		}
	}
}

// TestModulesParse checks that the embedded modules parse without any diagnostic and declare
// functions.
func TestModulesParse(t *testing.T) {
	if len(stdlib.Modules()) == 0 {
		t.Fatal("no modules")
	}
	for _, path := range stdlib.Modules() {
		text, ok := stdlib.Module(path)
		if !ok {
			t.Fatalf("%s: not found", path)
		}
		var l diag.List
		f := parser.Parse(source.NewFile(path, text), &l)
		if l.Len() > 0 || len(f.Items) == 0 {
			t.Errorf("%s: %d items, %v", path, len(f.Items), l.Err())
		}
	}
}

// TestModuleExamples evaluates the examples in the docs of the embedded modules' functions. Each
// function has at least one.
func TestModuleExamples(t *testing.T) {
	n := 0
	for _, path := range stdlib.Modules() {
		text, _ := stdlib.Module(path)
		var l diag.List
		for _, item := range parser.Parse(source.NewFile(path, text), &l).Items {
			fn, ok := item.(*ast.Fn)
			if !ok {
				continue
			}
			some := false
			for line := range strings.Lines(fn.Doc) {
				example, ok := strings.CutPrefix(strings.TrimSpace(line), "example: ")
				if !ok {
					continue
				}
				some = true
				n++
				i := strings.LastIndex(example, " = ")
				if i < 0 {
					t.Errorf("%s: %q", path, example)
					continue
				}
				model := "import \"" + path + "\"\ntime t_ from 0 to 1\nstate x_ = 1\nx_' = 0\nconst got = " +
					example[:i] + "\nconst want = " + example[i+3:] +
					"\noutput o_ = [got, want]\nsolver { units = off }\n"
				var l diag.List
				m := Check(parser.Parse(source.NewFile("example.ode", model), &l), Env{}, &l)
				if m == nil {
					t.Errorf("%s: %s: %v", path, example, l.Err())
					continue
				}
				v := tabulate.Tabulate(m.Outputs[0].Value, nil)
				if !(math.Abs(v[0]-v[1]) <= 1e-14*math.Max(1, math.Abs(v[1]))) {
					t.Errorf("%s: %s, but it is %.17g", path, example, v[0])
				}
			}
			if !some {
				t.Errorf("%s: %s has no example", path, fn.Name.Name)
			}
			if strings.TrimSpace(fn.Doc) == "" || l.Len() > 0 {
				t.Errorf("%s: %s is not documented (%v)", path, fn.Name.Name, l.Err())
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d examples", n)
	}
}

// TestDerivatives compares the derivatives that help shows with differences. They are those from
// which tapec makes transposes and tangents.
func TestDerivatives(t *testing.T) {
	at := map[string][]float64{ // where the general point lies outside of the domain
		"acosh": {1.7}, "asin": {0.3}, "acos": {0.3}, "atanh": {0.3}, "mod": {7.3, 2.2}, "clamp": {0.4, 0.1, 0.9},
		"^": {1.3, 2.7},
	}
	general := []float64{0.7, 1.9, 2.3}
	eval := func(f *stdlib.Func, text string, x []float64) float64 {
		row := &stdlib.Func{Name: "d" + f.Name, Args: f.Args, Body: text}
		c := &checker{
			list: &diag.List{}, env: Env{MaxElements: 1000}, file: &ast.File{}, globals: map[string]*entity{},
			model: &model.Model{},
		}
		v := c.define(distributed(f, f.Args, x), row.Definition())
		if c.list.Len() > 0 {
			t.Fatalf("%s: %v", text, c.list.Err())
		}
		return tabulate.Tabulate(v, nil)[0]
	}
	n := 0
	for _, f := range append(append([]*stdlib.Func{}, stdlib.Operators...), stdlib.Funcs()...) {
		list := f.Derivatives()
		if f.Name == "lgamma" {
			continue // its derivative, digamma, is an op and no function of the language
		}
		x := at[f.Name]
		if x == nil {
			x = general
		}
		for k, text := range list {
			n++
			value := func(h float64) float64 {
				moved := append([]float64(nil), x[:len(f.Args)]...)
				moved[k] += h
				args := make([]model.Expr, len(moved))
				for i := range moved {
					args[i] = model.Seal(&model.Const{Base: at0(), Data: moved[i : i+1]})
				}
				c := &checker{
					list: &diag.List{}, env: Env{MaxElements: 1000}, file: &ast.File{},
					globals: map[string]*entity{}, model: &model.Model{},
				}
				return tabulate.Tabulate(c.applyRow(context{place: placeRun}, source.Span{}, f, args), nil)[0]
			}
			const h = 1e-4
			want := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
			if got := eval(f, text, x); !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
				t.Errorf("d %s/d %s = %s: %.12g, differences give %.12g", f.Name, f.Args[k], text, got, want)
			}
		}
		if list == nil && f.Class == stdlib.Elementwise && f.Name != "smoothstep" {
			t.Errorf("%s has no derivative in the table", f.Name)
		}
	}
	if n < 40 {
		t.Errorf("only %d derivatives", n)
	}
}

func at0() model.Base { return model.NewBase(types.Type{Kind: types.Real}, source.Span{}) }
