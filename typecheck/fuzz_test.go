package typecheck

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// FuzzCheck checks any text that parses. Checking must not panic, must end in bounded time, and
// must give a sane model or none.
func FuzzCheck(f *testing.F) {
	for _, file := range archives(f) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(a.Files[0].Data))
	}
	models, _ := filepath.Glob("../examples/*/*.ode")
	for _, file := range models {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	const market = "%%MatrixMarket matrix coordinate real general\n"
	files := fstest.MapFS{
		"A.mtx": {Data: []byte(market + "12 12 2\n1 2 0.5\n12 1 2\n")},
		"L.mtx": {Data: []byte(market + "2000 2000 2\n1 2000 0.5\n2000 1 2\n")}, "a.csv": {Data: []byte("1,2\n3,4\n")},
		"d.csv": {Data: []byte("time,y\n0,1\n1,2\n")},
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			t.Skip()
		}
		var l diag.List
		tree := parser.Parse(source.NewFile("fuzz.ode", text), &l)
		broken := l.HasErrors()
		start := time.Now()
		m := Check(tree, Env{Files: files, MaxElements: 10000}, &l)
		if d := time.Since(start); d > time.Minute {
			t.Fatalf("took %v", d)
		}
		if !broken && (m == nil) != l.HasErrors() {
			t.Fatalf("model %v, errors %v", m != nil, l.HasErrors())
		}
		if m != nil && !broken {
			sane(t, m)
			if err := model.Dump(discard{}, m); err != nil {
				t.Fatal(err)
			}
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
