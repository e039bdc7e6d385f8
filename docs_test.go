package odes_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
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

// TestDocumentsModels compiles and differentiates every model in a document. Pieces of models must
// have the right syntax.
//
//odes:goroutines
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
				if _, err := parser.Format(path, text); err != nil {
					t.Errorf("%v\n%s", err, text)
				}
				continue
			}
			models++
			files := os.DirFS(filepath.Join("docs", "tutorial"))
			m, err := odes.Parse(path, text, odes.ParseOptions{Files: files})
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

var updateGrammar = flag.Bool("update-grammar", false, "write the grammar into docs/language-grammar.md")

// TestGrammarInManual compares the grammar in the manual with the parser's.
func TestGrammarInManual(t *testing.T) {
	page := filepath.Join("docs", "language-grammar.md")
	shown := blocks(t, page, "ebnf")
	if *updateGrammar && len(shown) == 1 {
		text, err := os.ReadFile(page)
		if err == nil {
			err = os.WriteFile(page, []byte(strings.Replace(string(text), shown[0], parser.Grammar(), 1)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if len(shown) != 1 || shown[0] != parser.Grammar() {
		t.Errorf("docs/language-grammar.md does not show what odes doc grammar prints:\n%s", parser.Grammar())
	}
}

// TestReadme compares the model and the table of the README with the example's.
//
//odes:goroutines
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

// TestReadmeGo runs the Go code of the README. Each line of it must appear below.
func TestReadmeGo(t *testing.T) {
	bounce, err := os.ReadFile(filepath.Join("examples", "bounce", "bounce.ode"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("docs_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := blocks(t, "README.md", "go")
	if len(shown) != 1 {
		t.Fatalf("the README has %d blocks of Go", len(shown))
	}
	lines := 0
	for line := range strings.Lines(shown[0]) {
		line = strings.TrimSpace(line)
		if line == "…" || strings.HasPrefix(line, "//") {
			continue
		}
		lines++
		if !strings.Contains(string(source), "\t"+line+"\n") {
			t.Errorf("this line of the README is not run: %s", line)
		}
	}
	if lines < 2 {
		t.Fatalf("only %d lines of Go", lines)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("model.ode", bounce, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	m, err := odes.ParseFile("model.ode")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(ctx, odes.Options{Set: []odes.Assignment{{Name: "g", Values: []float64{1.62}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Prepare(odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Set(odes.Assignment{Name: "g", Values: []float64{1.62}}); err != nil {
		t.Fatal(err)
	}
	moved, err := r.Sensitivities(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if moved.Values[0].Value != s.Values[0].Value {
		t.Errorf("%g and %g", moved.Values[0].Value, s.Values[0].Value)
	}
}

// TestMessageInManual compares the message that docs/language-units.md shows with the one that its model
// gets.
func TestMessageInManual(t *testing.T) {
	shown := blocks(t, filepath.Join("docs", "language-units.md"), "")
	_, _, err := odes.Check("drug.ode", `model Drug
time t : [h] from 0 to 24
param k = 0.01 [1/min]
state A = 100 [mg]
A' = -k*A
objective left = final(A)
`, odes.ParseOptions{})
	if len(shown) != 1 || err == nil || !strings.HasPrefix(diag.Of(err)[0].String(),
		strings.TrimRight(shown[0], "\n")) {
		t.Errorf("docs/language-units.md shows\n%s\nbut the message is\n%v", strings.Join(shown, "\n"), err)
	}
}

// TestEveryBlockIsRun checks that some test runs every kind of block in the documents.
func TestEveryBlockIsRun(t *testing.T) {
	run := map[string]string{ // document and language: where
		"README.md odes": "TestReadme", "README.md ": "TestReadme", "README.md go": "TestReadmeGo",
		"docs/go.md go":         "rhs: Example and TestDocument",
		"docs/language.md odes": "TestDocumentsModels", "docs/language-grammar.md ebnf": "TestGrammarInManual",
		"docs/language-units.md ":    "TestMessageInManual",
		"docs/language-data.md odes": "TestDocumentsModels", "docs/language-functions.md odes": "TestDocumentsModels",
		"docs/events.md odes": "TestDocumentsModels", "docs/steady.md odes": "TestDocumentsModels",
		"docs/from-stan.md odes": "TestDocumentsModels", "docs/from-copasi.md odes": "TestDocumentsModels",
		"docs/from-amici.md odes": "TestDocumentsModels", "docs/from-casadi.md odes": "TestDocumentsModels",
		"docs/from-sciml.md odes":  "TestDocumentsModels",
		"docs/delays.md odes":      "TestDocumentsModels",
		"docs/dosing.md odes":      "TestDocumentsModels",
		"docs/populations.md odes": "TestDocumentsModels",
		"docs/composition.md odes": "TestDocumentsModels",
		"docs/python.md odes":      "TestDocumentsModels",
		"docs/ensembles.md odes":   "TestDocumentsModels",
		"docs/cluster.md sh":       "cmd/odes: TestScripts/workers and TestSlurmScript",
		"docs/python.md python":    "python/tests: test_docs.py", "README.md python": "python/tests: test_docs.py",
		"docs/fit.md odes": "TestDocumentsModels", "docs/why.md odes": "TestDocumentsModels",
		"docs/sample.md odes":    "TestDocumentsModels",
		"docs/control.md odes":   "TestDocumentsModels",
		"docs/networks.md odes":  "TestDocumentsModels",
		"docs/python.md console": "how to install the package: .ci/run",
		"docs/r.md r":            "r/tests/odes.R", "docs/r.md console": "how to install the package",
		"docs/tutorial.md odes": "cmd/odes: TestTutorial", "docs/tutorial.md ": "cmd/odes: TestTutorial",
		"docs/tutorial-fit.md odes": "cmd/odes: TestTutorial", "docs/tutorial-fit.md ": "cmd/odes: TestTutorial",
		"docs/tutorial-fit.md text":       "cmd/odes: TestTutorial",
		"docs/tutorial-posterior.md odes": "cmd/odes: TestTutorial",
		"docs/tutorial-posterior.md ":     "cmd/odes: TestTutorial",
		"docs/tutorial-posterior.md text": "cmd/odes: TestTutorial",
		"docs/repl.md ":                   "repl: TestDocument",
		"docs/architecture.md ":           "a drawing",
		"docs/editors.md lua":             "editors: TestSnippets", "docs/editors.md vim": "editors: TestSnippets",
		"docs/editors.md toml":  "editors: TestSnippets",
		"docs/editors.md elisp": "editors: TestSnippets",
	}
	documents, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range append(documents, "README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		inside := false
		for line := range strings.Lines(string(text)) {
			language, fence := strings.CutPrefix(line, "```")
			if !fence {
				continue
			}
			if inside = !inside; !inside {
				continue
			}
			found++
			if key := filepath.ToSlash(path) + " " + strings.TrimSpace(language); run[key] == "" {
				t.Errorf("%s: no test runs blocks of %q", path, strings.TrimSpace(language))
			}
		}
	}
	if found < 10 {
		t.Fatalf("found %d blocks", found)
	}
}

// TestDocumentsLength holds that a page has at most 400 lines. Only pages that a program writes may be longer.
func TestDocumentsLength(t *testing.T) {
	written := regexp.MustCompile(`(?m)^Written by .*; do not edit\.`)
	checked := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/how/*.md"} {
		paths, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			checked++
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Count(string(text), "\n")
			if lines > 400 && !written.Match(text) {
				t.Errorf("%s has %d lines, more than 400: make two pages of it", filepath.ToSlash(path), lines)
			}
		}
	}
	if checked < 90 {
		t.Fatalf("found %d pages", checked)
	}
}

// linkTarget is the address of a link or a picture, which cannot be wrapped.
var linkTarget = regexp.MustCompile(`\]\([^)]*\)`)

// longLines returns the numbers of the lines of prose that are longer than 120 characters. Tables, code, and the
// addresses of links do not count.
func longLines(text string) (long []int) {
	fenced, indented, blank := false, false, true
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		// Indented code follows an empty line; other indented lines continue an item of a list.
		indented = strings.HasPrefix(line, "    ") && (indented || blank)
		blank = line == ""
		if fenced || indented || strings.HasPrefix(line, "|") {
			continue
		}
		if utf8.RuneCountInString(linkTarget.ReplaceAllString(line, "]()")) > 120 {
			long = append(long, number)
		}
	}
	return long
}

// TestLineLength checks that lines of prose in documents are at most 120 characters long.
func TestLineLength(t *testing.T) {
	full, word := strings.Repeat("é", 120), strings.Repeat("é", 121)
	sample := full + "\n" + word + "\n| " + word + " |\n```\n" + word + "\n```\n\n    " + word + "\n\n- a\n    " +
		word + "\n[a](" + word + ")\n![" + word + "](b)\n"
	if got, want := longLines(sample), []int{2, 11, 13}; !slices.Equal(got, want) {
		t.Fatalf("of the sample, lines %v are too long, not %v", want, got)
	}
	checked := 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/how/*.md", "examples/*.md", "examples/*/*.md"} {
		paths, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			checked++
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, number := range longLines(string(text)) {
				t.Errorf("%s:%d: the line is longer than 120 characters", filepath.ToSlash(path), number)
			}
		}
	}
	if checked < 30 {
		t.Fatalf("checked %d documents", checked)
	}
}
