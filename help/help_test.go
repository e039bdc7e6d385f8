package help

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	language "odes.dev/odes/parser"
	"odes.dev/odes/sens"

	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/stdlib"
)

// TestCodesAreExplained holds the help on codes against what the packages
// declare: constants of type diag.Code, wherever they stand.
func TestCodesAreExplained(t *testing.T) {
	declared := map[string]bool{"usage": true, "file": true}
	root := ".."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") ||
			d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			sel, ok := spec.Type.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Code" {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				code, _ := strconv.Unquote(lit.Value)
				declared[code] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(declared) < 30 {
		t.Fatalf("found only %d codes: the test checks nothing", len(declared))
	}
	for code := range declared {
		if codes[code] == "" {
			t.Errorf("there is no help on the code %q", code)
		}
	}
	for code := range codes {
		if !declared[code] {
			t.Errorf("no package declares the code %q", code)
		}
	}
}

// TestSigns: every word and sign of the grammar is explained.
func TestSigns(t *testing.T) {
	explained := map[string]bool{}
	for _, w := range slices.Concat(words, others, signs, modes) {
		explained[w.Name] = true
	}
	for _, closing := range []string{")", "]", "}", "0"} {
		explained[closing] = true
	}
	for _, quoted := range regexp.MustCompile(`"[^" ]+"`).FindAllString(language.Grammar(), -1) {
		if w := strings.Trim(quoted, `"`); !explained[w] {
			t.Errorf("there is no help on %q", w)
		}
	}
}

// TestManual finds every method, mode and function in the documents.
func TestManual(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	onMethods := read("methods.md") + read("methods-derivatives.md")
	language := read("language.md") + read("language-functions.md") + read("language-data.md")
	for _, m := range methods.All() {
		if !strings.Contains(onMethods, "`"+m.Name+"`") {
			t.Errorf("docs/methods.md does not mention %s", m.Name)
		}
	}
	for _, m := range sens.Modes() {
		if !strings.Contains(onMethods, "`"+m.Name+"`") && !strings.Contains(onMethods, "`--mode "+m.Name+"`") {
			t.Errorf("docs/methods.md does not mention mode %s", m.Name)
		}
	}
	for _, f := range stdlib.Funcs() {
		if !strings.Contains(language, "`"+f.Name) && !strings.Contains(language, " "+f.Name+" ") &&
			!strings.Contains(language, " "+f.Name+"`") {
			t.Errorf("docs/language-functions.md and others do not mention %s", f.Name)
		}
	}
}

// TestNear: of a name without help, what it is called here is told, or what mentions it.
func TestNear(t *testing.T) {
	for name, want := range map[string]string{
		"ln":       "; the natural logarithm is log",
		"paramm":   `; did you mean "param"?`,
		"linspace": "; write grid(a, b, n)",
		"zeroness": "",
	} {
		if got := Near(name, Names()); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for word, name := range map[string]string{
		"profile": "fit.intervals", "Hessian": "sens.order", "infusions": "infusion", "priors": "~",
	} {
		if list := Mentions(word); !slices.Contains(list, name) {
			t.Errorf("%s is mentioned in %v, not in %s", word, list, name)
		}
	}
	if text := Near("event_", Names()); !strings.HasPrefix(text, `; did you mean "event"?`) {
		t.Errorf("%q", text)
	}
	if text := Near("steps", nil); !strings.HasSuffix(text, ", …") || strings.Count(text, ",") != 8 {
		t.Errorf("%q", text)
	}
}
