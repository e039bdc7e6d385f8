package typecheck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// TestLeftOut checks every case and every example without each of its items: what reads an item must not take it for
// granted. A model with nothing left out is checked at other times as well, which has paths of its own.
func TestLeftOut(t *testing.T) {
	check := func(name, text string, files fstest.MapFS) {
		items := len(parser.Parse(source.NewFile(name, text), &diag.List{}).Items)
		for i := range items {
			for _, times := range [][]float64{nil, {0.5, 0.25}} {
				tree := parser.Parse(source.NewFile(name, text), &diag.List{})
				left := fmt.Sprintf("%s without item %d at times %v", name, i+1, times)
				tree.Items = slices.Delete(tree.Items, i, i+1)
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Errorf("%s: %v", left, r)
						}
					}()
					var l diag.List
					m := Check(tree, Env{Files: files, MaxElements: 10000, Times: times}, &l)
					if (m == nil) != l.HasErrors() {
						t.Errorf("%s: model %v, errors %v", left, m != nil, l.HasErrors())
					}
				}()
			}
		}
	}
	for _, file := range archives(t) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		for _, f := range a.Files {
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
		check(file, string(a.Files[0].Data), files)
	}
	models, _ := filepath.Glob("../examples/*/*.ode")
	for _, file := range models {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		names, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil {
				files[filepath.Base(name)] = &fstest.MapFile{Data: data}
			}
		}
		check(file, string(text), files)
	}
}
