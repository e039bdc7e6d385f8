package stdlib

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/parser"
)

// TestNamed: a function is found by its name, alone or among those of its name, and operators are not functions.
func TestNamed(t *testing.T) {
	for _, f := range Funcs() {
		if !slices.Contains(Named(f.Name), f) {
			t.Errorf("%s is not among those of its name", f.Name)
		}
		if f.Doc == "" {
			t.Errorf("%s has no text", f.Name)
		}
	}
	if len(Named("no_such_name")) > 0 || Find("no_such_name", Elementwise) != nil {
		t.Error("a name that is none is found")
	}
	defer func() {
		if recover() == nil {
			t.Error("an operator that is none is found")
		}
	}()
	defer Operator("no_such_sign") // a mistake of the code, which panics
	if Find("sqrt", Reduction) != nil || Find("sqrt", Elementwise) == nil {
		t.Error("sqrt is no reduction")
	}
}

// TestModuleDocs: every module begins with a text, and every name in it has a head that begins with the name, and a
// definition; most have a text; a function has examples that call it.
func TestModuleDocs(t *testing.T) {
	functions := 0
	for _, path := range Modules() {
		if doc := ModuleDoc(path); len(doc) < 20 || strings.Contains(doc, "#") || strings.Contains(doc, "\n") {
			t.Errorf("%s: %q", path, doc)
		}
		own, texts := 0, 0
		for _, n := range ModuleNames() {
			if n.Module != path {
				continue
			}
			own++
			if !strings.HasPrefix(n.Head, n.Name) || !strings.Contains(n.Definition, n.Name) ||
				strings.Contains(n.Doc, "example:") {
				t.Errorf("%+v", n)
			}
			if n.Doc != "" {
				texts++
			}
			if !strings.HasPrefix(n.Definition, "fn ") {
				continue
			}
			functions++
			if len(n.Examples) == 0 {
				t.Errorf("%s.%s has no example", path, n.Name)
			}
			for _, e := range n.Examples {
				if !strings.Contains(e, n.Name+"(") || !strings.Contains(e, " = ") {
					t.Errorf("%s.%s: example %q", path, n.Name, e)
				}
			}
		}
		if texts == 0 || texts < own/2 { // a text may stand for several that follow
			t.Errorf("%s explains %d of %d names", path, texts, own)
		}
	}
	if functions < 10 {
		t.Errorf("%d functions", functions)
	}
	if doc := ModuleDoc("std/none.ode"); doc != "" {
		t.Errorf("a module that is none: %q", doc)
	}
	prose, examples := splitExamples("the first\n  example: f(1) = 2\nthe second\nexample: f(2) = 3")
	if prose != "the first the second" || !slices.Equal(examples, []string{"f(1) = 2", "f(2) = 3"}) {
		t.Errorf("%q, %q", prose, examples)
	}
}

// TestUnitDocs: every predefined unit is explained, and with every prefix that it takes; nothing else is.
func TestUnitDocs(t *testing.T) {
	names, prefixes := UnitNames()
	if len(names) < 20 || len(prefixes) < 10 {
		t.Fatalf("%d units, %d prefixes", len(names), len(prefixes))
	}
	for _, name := range names {
		si, doc, ok := UnitDoc(name)
		if !ok || doc == "" {
			t.Errorf("%s: %q, %q, %v", name, si, doc, ok)
		}
		for _, p := range prefixes {
			if !units.Prefixed(name) {
				continue
			}
			_, long, ok := UnitDoc(p + name)
			if slices.Contains(names, p+name) { // a unit of its own, such as kg
				continue
			}
			if !ok || !strings.Contains(long, "with the prefix") {
				t.Errorf("%s%s: %q, %v", p, name, long, ok)
			}
		}
	}
	for _, wrong := range []string{"", "furlong", "kkm", "k"} {
		if _, _, ok := UnitDoc(wrong); ok {
			t.Errorf("%q is a unit", wrong)
		}
	}
}

// TestDefinitions: what is defined in the language has the parameters of its row, and what is differentiable says by
// which rule.
func TestDefinitions(t *testing.T) {
	defined, ruled := 0, 0
	for _, f := range Funcs() {
		if f.Body != "" {
			defined++
			def := f.Definition()
			if def != f.Definition() {
				t.Errorf("%s is parsed twice", f.Name)
			}
			for i, p := range def.Params {
				if i < len(f.Args) && p.Name.Name != f.Args[i] {
					t.Errorf("%s: parameter %d is %s, not %s", f.Name, i, p.Name.Name, f.Args[i])
				}
			}
			if ast.DumpNode(def) == "" {
				t.Errorf("%s has no tree", f.Name)
			}
		}
		for _, rule := range f.Derivatives() {
			ruled++
			var l diag.List
			ast.Inspect(parser.ParseExpr(source.NewFile(f.Name, rule), &l), func(n ast.Node) bool {
				// A rule speaks of the arguments, and of nothing else that has no value of its own.
				id, ok := n.(*ast.Name)
				if ok && !slices.Contains(f.Args, id.Name) && id.Name != "pi" && id.Name != "digamma" &&
					len(Named(id.Name)) == 0 {
					t.Errorf("%s: the rule %q is about %s", f.Name, rule, id.Name)
				}
				return true
			})
			if err := l.Err(); err != nil {
				t.Errorf("%s: the rule %q: %v", f.Name, rule, err)
			}
		}
	}
	if defined < 5 || ruled < 20 {
		t.Errorf("%d definitions, %d rules", defined, ruled)
	}
	if u := ParseUnit("[m/s^2]"); ast.UnitString(u) != "[m/s^2]" {
		t.Errorf("%s", ast.UnitString(u))
	}
}
