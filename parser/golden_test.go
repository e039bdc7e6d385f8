package parser

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

var update = flag.Bool("update", false, "write what the parser makes into the golden files")

// models are the files that must parse without a word.
func models(t testing.TB) []string {
	t.Helper()
	own, _ := filepath.Glob("testdata/models/*.ode")
	examples, _ := filepath.Glob("../examples/*/*.ode")
	if len(own) < 8 {
		t.Fatalf("found %d models, want at least 8", len(own))
	}
	return append(own, examples...)
}

func cases(t testing.TB) []string {
	t.Helper()
	files, _ := filepath.Glob("testdata/cases/*.txtar")
	if len(files) < 30 {
		t.Fatalf("found %d cases, want at least 30", len(files))
	}
	return files
}

// TestCases runs every archive: in.ode is parsed; errors, ast and format are
// what the reader is told, the tree, and the normal layout of a file without errors.
func TestCases(t *testing.T) {
	for _, file := range cases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			var l diag.List
			tree := Parse(source.NewFile(in.Name, string(in.Data)), &l)
			var told bytes.Buffer
			if err := diag.Write(&told, l.All(), diag.Plain); err != nil {
				t.Fatal(err)
			}
			got := []txtar.File{in, {Name: "errors", Data: told.Bytes()}, {Name: "ast", Data: []byte(ast.Dump(tree))}}
			if !l.HasErrors() {
				out, err := format(tree)
				if err != nil {
					t.Error(err)
				}
				got = append(got, txtar.File{Name: "format", Data: []byte(out)})
			}
			checkSpans(t, tree, &l)
			if *update {
				archive.Files = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(archive.Files) != len(got) {
				t.Fatalf("the archive has %d sections, want %d: run with -update and look",
					len(archive.Files), len(got))
			}
			for i, f := range got[1:] {
				want := archive.Files[i+1]
				if want.Name != f.Name || !bytes.Equal(want.Data, f.Data) &&
					!bytes.Equal(want.Data, append(f.Data, '\n')) {
					t.Errorf("%s:\n%s\nwant:\n%s", f.Name, f.Data, want.Data)
				}
			}
		})
	}
}

// checkSpans verifies that diagnostics and nodes have places inside the text,
// and that parts lie in their wholes.
func checkSpans(t *testing.T, f *ast.File, l *diag.List) {
	t.Helper()
	n := len(f.Source.Text())
	for _, d := range l.All() {
		if d.Code == "" || d.Message == "" || d.Span.File != f.Source || d.Span.Start < 0 ||
			d.Span.End < d.Span.Start || d.Span.End > n {
			t.Errorf("diagnostic without code, message or place: %+v", d)
		}
	}
	var open []source.Span
	ast.Walk(f, func(node ast.Node) bool {
		at := node.Pos()
		if at.File != f.Source || at.Start < 0 || at.End < at.Start || at.End > n {
			t.Errorf("%T has the place [%d, %d)", node, at.Start, at.End)
		} else if len(open) > 0 {
			if outer := open[len(open)-1]; at.Start < outer.Start || at.End > outer.End {
				t.Errorf("%T [%d, %d) %q is not inside [%d, %d) %q", node, at.Start, at.End, at.Text(),
					outer.Start, outer.End, outer.Text())
			}
		}
		open = append(open, at)
		return true
	}, func(ast.Node) { open = open[:len(open)-1] })
}

func TestModels(t *testing.T) {
	for _, file := range models(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var l diag.List
		tree := Parse(source.NewFile(file, string(text)), &l)
		for _, d := range l.All() {
			t.Errorf("%s", d.String())
		}
		checkSpans(t, tree, &l)
		if err := checkFormat(file, string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
