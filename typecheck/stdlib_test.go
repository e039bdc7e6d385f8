package typecheck

import (
	"math"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// TestFunctionCases evaluates the cases of every row of the function table. An
// elementwise row without a case checks nothing and fails.
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
			c := &checker{list: &diag.List{}, env: Env{MaxElements: 1000}, file: &ast.File{}, globals: map[string]*entity{}, model: &Model{}}
			args := make([]Expr, len(k.In))
			for i, x := range k.In {
				kind := types.Real
				if f.Class == stdlib.Logic {
					kind = types.Bool
				}
				args[i] = seal(&Const{Base: at(types.Type{Kind: kind}, source.Span{}), Data: []float64{x}})
			}
			var v Expr
			if f.Class == stdlib.Logic {
				v = c.logic(f.Name, source.Span{}, args...)
			} else {
				v = c.applyRow(context{place: placeRun}, source.Span{}, f, args)
			}
			got := Tabulate(v, nil)[0]
			if err := c.list.Err(); err != nil {
				t.Errorf("%s%v: %v", f.Name, k.In, err)
			}
			if math.Abs(got-k.Out) > 4e-16*math.Max(math.Abs(k.Out), math.Abs(got)) {
				t.Errorf("%s%v = %.17g, want %.17g", f.Name, k.In, got, k.Out)
			}
		}
		if f.Body != "" {
			f.Definition()
		}
	}
}

// TestModulesParse: the embedded modules parse without a word and declare functions.
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
