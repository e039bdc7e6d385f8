package compose_test

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	odes "odes.dev/odes"
)

// run returns values and derivatives of a model in files.
func run(t *testing.T, files fs.FS, name string) (values []float64, derivatives []float64) {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse(name, string(text), odes.ParseOptions{Files: files})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{
		Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-11"}, {Key: "solver.atol", Value: "1e-13"}},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, v := range s.Values {
		values = append(values, v.Value)
	}
	return values, s.Gradient
}

// TestBeside runs models with components beside the same models in one file.
func TestBeside(t *testing.T) {
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := fstest.MapFS{}
			for _, f := range a.Files {
				files[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			values, by := run(t, files, "main.ode")
			wantValues, wantBy := run(t, files, "flat.ode")
			near(t, "values", values, wantValues, 1e-9)
			near(t, "derivatives", by, wantBy, 1e-7)
		})
	}
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d %s, want %d", len(got), what, len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Errorf("%s %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}
