package stdlib

import (
	"testing"

	"odes.dev/odes/parser"
)

func TestTable(t *testing.T) {
	type key struct {
		name  string
		class Class
	}
	seen := map[key]bool{}
	for _, f := range Funcs() {
		k := key{f.Name, f.Class}
		if seen[k] {
			t.Errorf("two rows %s of one class", f.Name)
		}
		seen[k] = true
		if Find(f.Name, f.Class) != f {
			t.Errorf("%s is not found", f.Name)
		}
		for _, a := range f.Args {
			// Parameters with a definition are names of the language.
			if f.Body != "" && parser.Reserved(a) {
				t.Errorf("%s: parameter %q is a reserved word", f.Name, a)
			}
		}
		if f.MinArgs > len(f.Args) {
			t.Errorf("%s: at least %d of %d arguments", f.Name, f.MinArgs, len(f.Args))
		}
		if f.Body != "" {
			f.Definition() // panics when it does not parse
		}
		if f.Below != "" {
			f.BelowDefinition()
		}
	}
	if len(seen) < 70 {
		t.Errorf("found %d rows", len(seen))
	}
	for _, f := range Operators {
		if Operator(f.Name) != f {
			t.Errorf("operator %s is not found", f.Name)
		}
	}
}

func TestModules(t *testing.T) {
	if n := len(Modules()); n < 4 {
		t.Errorf("found %d modules", n)
	}
	for _, path := range Modules() {
		if text, ok := Module(path); !ok || text == "" {
			t.Errorf("%s is empty", path)
		}
	}
	if _, ok := Module("std/../func.go"); ok {
		t.Error("a path leads out of the modules")
	}
}

func TestParseUnit(t *testing.T) {
	if u := ParseUnit("[mg/L]"); u == nil || len(u.Factors) != 2 {
		t.Errorf("[mg/L]: %v", u)
	}
	for _, bad := range []string{"", "mg", "[mg//L]", "[x] let y = 2", "+ 2"} {
		if ParseUnit(bad) != nil {
			t.Errorf("%q is a unit", bad)
		}
	}
}
