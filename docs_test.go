package odes_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/report"
)

// blocks returns the fenced blocks of a document that are marked as language.
func blocks(t *testing.T, path, language string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	parts := strings.Split("\n"+string(data), "\n```")
	for i := 1; i < len(parts); i += 2 {
		head, body, _ := strings.Cut(parts[i], "\n")
		if head == language {
			list = append(list, body+"\n")
		}
	}
	return list
}

// TestDocumentsModels compiles and differentiates every model that stands in a
// document; what is only a piece of one must be right syntax.
func TestDocumentsModels(t *testing.T) {
	documents, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	models, pieces := 0, 0
	for _, path := range append(documents, "README.md") {
		for _, text := range blocks(t, path, "odes") {
			if !strings.Contains(text, "model ") {
				pieces++
				if _, err := odes.Format(path, text); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
				continue
			}
			models++
			m, err := odes.Parse(path, text, odes.ParseOptions{})
			if err != nil {
				t.Errorf("%v\n%s", err, text)
				continue
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{})
			if err != nil || s.Status != "ok" {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if models < 2 || pieces < 2 {
		t.Fatalf("found %d models and %d pieces: the test checks nothing", models, pieces)
	}
}

// TestGrammarInManual holds the grammar in the manual against the parser's.
func TestGrammarInManual(t *testing.T) {
	shown := blocks(t, filepath.Join("docs", "language.md"), "ebnf")
	if len(shown) != 1 || shown[0] != odes.Grammar() {
		t.Errorf("docs/language.md does not show what odes doc grammar prints:\n%s", odes.Grammar())
	}
}

// TestReadme compares the model and the table of the README with the example's.
func TestReadme(t *testing.T) {
	path := filepath.Join("examples", "bounce", "bounce.ode")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	shown := blocks(t, "README.md", "odes")
	if len(shown) != 1 || shown[0] != string(text) {
		t.Errorf("the README does not show %s", path)
	}
	m, err := odes.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{EventTimes: true})
	if err != nil {
		t.Fatal(err)
	}
	info := m.Info()
	var table bytes.Buffer
	h := report.Heading{Model: info.Name, File: filepath.ToSlash(info.File), Time: info.Time, TimeUnit: info.TimeUnit}
	if err := report.SensTable(&table, h, s, report.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	tables := blocks(t, "README.md", "")
	if len(tables) != 1 || tables[0] != table.String() {
		t.Errorf("the README shows\n%s\nbut odes prints\n%s", strings.Join(tables, "\n"), table.String())
	}
}
