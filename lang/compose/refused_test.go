package compose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	odes "odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/stdlib"
)

// TestRefused: the first error of each file that begins with `#!` has that place and these words.
func TestRefused(t *testing.T) {
	a, err := txtar.ParseFile("testdata/refused/refused.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range a.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	for _, f := range a.Files {
		text := string(f.Data)
		head, _, _ := strings.Cut(text, "\n")
		want, refused := strings.CutPrefix(head, "#! ")
		if !refused {
			continue
		}
		place, words, _ := strings.Cut(want, " ")
		t.Run(f.Name, func(t *testing.T) {
			_, err := odes.Parse(f.Name, text, odes.ParseOptions{Files: files})
			var told []string
			for _, d := range diag.Of(err) {
				at := d.Span.Begin()
				d.Complete()
				told = append(told, fmt.Sprintf("%s:%d:%d %s", d.Span.File.Name(), at.Line, at.Column, d.Message))
			}
			if !slices.ContainsFunc(told, func(s string) bool {
				return strings.HasPrefix(s, place+" ") && strings.Contains(s, words)
			}) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), want)
			}
		})
	}
}

// TestStandardComponents: each is a model by itself, and two of its copies are what it is alone.
func TestStandardComponents(t *testing.T) {
	for _, path := range stdlib.Components() {
		t.Run(path, func(t *testing.T) {
			text, _ := stdlib.Module(path)
			if !strings.HasPrefix(text, "# ") {
				t.Error("no line says what it is, and where it is from")
			}
			m, err := odes.Parse(path, text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := m.Symbols(nil)
			if err != nil {
				t.Fatal(err)
			}
			var state string
			for _, s := range symbols {
				if s.Kind == "state" && len(s.Shape) == 0 {
					state = s.Name
				}
			}
			if state == "" {
				state = "transit[2]"
			}
			files := fstest.MapFS{
				"one.ode": &fstest.MapFile{Data: []byte(text + "objective J = final(" + state + ")\n")},
				"two.ode": &fstest.MapFile{Data: fmt.Appendf(nil, "import model %q as C\nuse C as c[2]\nuse C as d\n"+
					"objective J = final(c[2].%[2]s)\nobjective K = final(d.%[2]s)\n%s\n", path, state, timeOf(text))},
			}
			alone, _ := run(t, files, "one.ode")
			both, _ := run(t, files, "two.ode")
			near(t, "values", both, []float64{alone[0], alone[0]}, 1e-9)
		})
	}
}

func timeOf(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "time ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
