package typecheck

import (
	"bytes"
	"flag"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

var update = flag.Bool("update", false, "write what the checker makes into the golden files")

// checkArchive checks the first file of an archive. The others are the files of its folder.
func checkArchive(t testing.TB, a *txtar.Archive) (*model.Model, []diag.Diagnostic) {
	t.Helper()
	files := fstest.MapFS{}
	for _, f := range a.Files[1:] {
		if f.Name != "errors" && f.Name != "model" {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	var l diag.List
	tree := parser.Parse(source.NewFile(a.Files[0].Name, string(a.Files[0].Data)), &l)
	if l.HasErrors() {
		t.Fatalf("does not parse: %v", l.Err())
	}
	m := Check(tree, Env{Files: files, CheckOnly: strings.HasPrefix(string(a.Comment), "check only")}, &l)
	if (m == nil) != l.HasErrors() {
		t.Errorf("model %v, errors %v", m != nil, l.HasErrors())
	}
	return m, l.All()
}

func archives(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("testdata/cases/*.txtar")
	if len(files) < 20 {
		t.Fatalf("found %d cases, want at least 20", len(files))
	}
	return files
}

// TestCases runs every archive. The first file is checked in the folder of the others; errors holds
// the diagnostics, and model the dump of a correct one. A comment that starts with "check only"
// makes warnings of what is not available.
func TestCases(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, ds := checkArchive(t, a)
			var told, dump bytes.Buffer
			if err := diag.Write(&told, ds, diag.Plain); err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: a.Comment}
			for _, f := range a.Files {
				if f.Name != "errors" && f.Name != "model" {
					got.Files = append(got.Files, f)
				}
			}
			got.Files = append(got.Files, txtar.File{Name: "errors", Data: told.Bytes()})
			if m != nil {
				if err := model.Dump(&dump, m); err != nil {
					t.Fatal(err)
				}
				got.Files = append(got.Files, txtar.File{Name: "model", Data: dump.Bytes()})
				sane(t, m)
			}
			text := txtar.Format(got)
			if *update {
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := txtar.Format(a); !bytes.Equal(text, want) {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
		})
	}
}

// TestEveryCodeHasAnExample fails for a code that no case produces.
func TestEveryCodeHasAnExample(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, file := range archives(t) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, ds := checkArchive(t, a)
		for _, d := range ds {
			seen[d.Code] = true
			if d.Message == "" || strings.HasSuffix(d.Message, ".") || strings.Contains(d.Message, "%!") {
				t.Errorf("%s: message %q", file, d.Message)
			}
		}
	}
	f, err := goparser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(f, func(node ast.Node) bool {
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			code, _ := strconv.Unquote(lit.Value)
			if strings.Contains(code, "/") {
				return true
			}
			n++
			if !seen[diag.Code(code)] {
				t.Errorf("no case produces %q", code)
			}
		}
		return true
	})
	if n < 20 {
		t.Fatalf("found %d codes", n)
	}
}

// TestModels checks the models of the examples. They use nothing of a later version.
func TestModels(t *testing.T) {
	files, _ := filepath.Glob("../examples/*/*.ode")
	if len(files) < 5 {
		t.Fatalf("found %d examples", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var l diag.List
		m := Check(parser.Parse(source.NewFile(file, string(text)), &l), Env{Files: os.DirFS(filepath.Dir(file))}, &l)
		if l.Len() > 0 {
			var b bytes.Buffer
			_ = diag.Write(&b, l.All(), diag.Plain)
			t.Errorf("%s", b.String())
		}
		if m != nil {
			sane(t, m)
		}
	}
}

// TestReferenceModels checks the models of the language reference. Those that use what is not
// available are checked as well, and must say so and nothing else.
func TestReferenceModels(t *testing.T) {
	want := map[string]int{}
	files, _ := filepath.Glob("../parser/testdata/models/*.ode")
	if len(files) < 8 {
		t.Fatalf("found %d models", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var l diag.List
		m := Check(parser.Parse(source.NewFile(file, string(text)), &l), Env{CheckOnly: true}, &l)
		n := 0
		for _, d := range l.All() {
			n++
			if d.Code != CodeUnavailable {
				t.Errorf("%s: %s", file, d.Message)
			}
		}
		if m == nil {
			t.Errorf("%s: %v", file, l.Err())
			continue
		}
		sane(t, m)
		if n != want[filepath.Base(file)] || (len(m.Later) > 0) != (n > 0) {
			t.Errorf("%s: %d diagnostics, want %d; %d places", file, n, want[filepath.Base(file)], len(m.Later))
		}
		var strict diag.List
		if n > 0 && Check(parser.Parse(source.NewFile(file, string(text)), &strict), Env{}, &strict) != nil {
			t.Errorf("%s: there is a model to solve", file)
		}
	}
}

// TestConstOverride checks that an environment replaces scalar consts only.
func TestConstOverride(t *testing.T) {
	text := "const n = 3, v[2] = 1\ntime t from 0 to 1\nstate x[n] = 1\nx' = -x*v[1]\n"
	check := func(consts map[string]float64) (*model.Model, *diag.List) {
		var l diag.List
		return Check(parser.Parse(source.NewFile("m.ode", text), &l), Env{Consts: consts}, &l), &l
	}
	m, l := check(map[string]float64{"n": 5})
	if m == nil || m.States[0].Type.Shape[0] != 5 {
		t.Errorf("override has no effect: %v", l.Err())
	}
	if m, _ := check(map[string]float64{"v": 5}); m != nil {
		t.Error("an array const was overridden")
	}
}

// sane verifies what every user of a model relies on.
func sane(t testing.TB, m *model.Model) {
	t.Helper()
	if len(m.Rates) != len(m.Differential()) {
		t.Fatalf("%d rates for %d states", len(m.Rates), len(m.Differential()))
	}
	for i, r := range m.Rates {
		if !r.Type().Shape.Equal(m.States[i].Type.Shape) {
			t.Errorf("rate of %s has shape %v", m.States[i].Name, r.Type().Shape)
		}
	}
	roots := []model.Expr{m.From, m.To}
	roots = append(roots, m.Rates...)
	for _, list := range [][]*model.Symbol{m.Params, m.States, m.Discretes} {
		for _, s := range list {
			roots = append(roots, s.Value)
		}
	}
	for _, e := range m.Events {
		roots = append(roots, e.When, e.Crossing, e.Every, e.From, e.To, e.Count)
		roots = append(roots, e.Times...)
		for _, a := range e.Body {
			roots = append(roots, a.Value)
		}
	}
	for _, o := range m.Objectives {
		roots = append(roots, o.Value)
		for _, ix := range model.Free(o.Value) {
			ok := false
			for _, b := range o.Indices {
				ok = ok || b == ix
			}
			if !ok {
				t.Errorf("objective %s: %s is free", o.Name, ix.Name)
			}
		}
	}
	model.Walk(func(e model.Expr) bool {
		if isBad(e) {
			t.Errorf("a bad node at %v survived", e.Span().Begin())
		}
		switch e := e.(type) {
		case *model.Const:
			if n := e.T.Shape.Size(); len(e.Data) != n && len(e.Data) != 1 {
				t.Errorf("const of shape %v with %d numbers", e.T.Shape, len(e.Data))
			}
		case *model.Call:
			if e.Fn.Class <= 2 {
				for _, a := range e.Args {
					if s := a.Type().Shape; len(s) > 0 && !s.Equal(e.T.Shape) {
						t.Errorf("%s: argument of shape %v, result %v", e.Fn.Name, s, e.T.Shape)
					}
				}
				if e.Fn.Op == 0 {
					t.Errorf("%s has no op", e.Fn.Name)
				}
			}
		case *model.Access:
			if len(e.Subs) != len(e.X.Type().Shape) {
				t.Errorf("%d subscripts of shape %v", len(e.Subs), e.X.Type().Shape)
			}
			k := 0
			for _, s := range e.Subs {
				if s.At != nil {
					if !model.Static(s.At) {
						t.Error("a subscript is not static")
					}
					continue
				}
				if e.T.Shape[k] != s.Count {
					t.Errorf("access of shape %v, slice of %d", e.T.Shape, s.Count)
				}
				k++
			}
			if k != len(e.T.Shape) {
				t.Errorf("access of shape %v with %d slices", e.T.Shape, k)
			}
		}
		return true
	}, roots...)
}
