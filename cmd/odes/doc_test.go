package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	ode "odes.dev/odes/parser"
	"odes.dev/odes/solvers"
	"odes.dev/odes/stdlib"
)

// TestCodesAreExplained holds the help on codes against what the packages
// declare: constants of type diag.Code, wherever they stand.
func TestCodesAreExplained(t *testing.T) {
	declared := map[string]bool{"usage": true, "file": true}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata") {
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

// TestDoc asks for everything there is help on.
func TestDoc(t *testing.T) {
	names := helped()
	if len(names) < 150 {
		t.Fatalf("there is help on %d names only", len(names))
	}
	for _, name := range names {
		var out, errs bytes.Buffer
		if status := run(t.Context(), []string{"doc", name}, strings.NewReader(""), &out, &errs); status != exitDone || out.Len() == 0 {
			t.Errorf("odes doc %s: status %d: %s", name, status, &errs)
		}
	}
	explained := map[string]bool{}
	for _, w := range words {
		explained[w.name] = true
		if !ode.Reserved(w.name) {
			t.Errorf("%q is explained as a word of the language but is none", w.name)
		}
	}
	for _, quoted := range regexp.MustCompile(`"[a-z]+"`).FindAllString(ode.Grammar(), -1) {
		if w := strings.Trim(quoted, `"`); ode.Reserved(w) && !explained[w] {
			t.Errorf("there is no help on the word %q", w)
		}
	}
}

// TestSettingsInManual finds the help on every setting in the manual, as it is.
func TestSettingsInManual(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "language.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range settingBlocks {
		for _, r := range odes.SettingRows(block) {
			n++
			if row := "| `" + strings.Join(r.Keys, "`, `") + "` | " + r.Text + " |\n"; !strings.Contains(string(text), row) {
				t.Errorf("docs/language.md lacks the row\n%s", row)
			}
		}
	}
	if n < 20 {
		t.Fatalf("found %d rows", n)
	}
}

// TestManual finds every method and every function in the documents.
func TestManual(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	methods, language := read("methods.md"), read("language.md")
	for _, m := range solvers.Methods() {
		if !strings.Contains(methods, "`"+m.Name+"`") {
			t.Errorf("docs/methods.md does not mention %s", m.Name)
		}
	}
	for _, f := range stdlib.Funcs() {
		if !strings.Contains(language, "`"+f.Name) && !strings.Contains(language, " "+f.Name+" ") && !strings.Contains(language, " "+f.Name+"`") {
			t.Errorf("docs/language.md does not mention %s", f.Name)
		}
	}
}

// TestManualTellsWhatIsMissing holds the sentence of docs/language.md about what
// this version does not have against the checker.
func TestManualTellsWhatIsMissing(t *testing.T) {
	const base = "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\n"
	for name, text := range map[string]string{
		"equilibrate": "equilibrate { }",
		"control":     "control u = 0 piecewise constant on grid(0, 1, 3)",
		"alg":         "alg z = 1\n0 = z - x",
		"steady":      "objective J = steady(x)",
		"max_over":    "objective J = max_over(x)",
	} {
		path := filepath.Join(t.TempDir(), name+".ode")
		if err := os.WriteFile(path, []byte(base+text), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, errs := command(t, "sens", path); status != exitModel || !strings.Contains(errs, "[not-available]") {
			t.Errorf("%s: the manual says that it is missing, but: status %d\n%s", name, status, errs)
		}
	}
}
