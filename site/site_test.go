package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository writes files and returns their folder.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestRewrite: links lead to pages where there are such, to copies of files
// otherwise; code stays as it is; what is not there is told with its line.
func TestRewrite(t *testing.T) {
	files := map[string]string{
		"README.md": "# r\n", "docs/a.md": "# a\n", "bench/x.ode": "model\n",
	}
	code := "`[x](y)` and\n```\n[x](y)\n```\n    [x](y)\n"
	for _, c := range []struct{ from, text, want, err string }{
		{"docs/a.md", "see [it](../README.md#run), [b](a.md).", "see [it](readme.md#run), [b](a.md).", ""},
		{"README.md", "![f](bench/x.ode)", "![f](../bench/x.ode)", ""},
		{"README.md", "[g](https://go.dev) [h](#here)", "[g](https://go.dev) [h](#here)", ""},
		{"docs/a.md", "[x[1]](../bench/x.ode)", "[x[1]](../bench/x.ode)", ""},
		{"docs/a.md", "the [folder](../bench)", "the folder", ""},
		{"docs/a.md", code, code, ""},
		{"docs/a.md", "one\n[two](b.md)", "", "docs/a.md:2: link to b.md, which is not there"},
		{"docs/a.md", "[out](../../etc/passwd)", "", "which is not there"},
	} {
		root := repository(t, files)
		s, err := newSite(root, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.addDocuments(); err != nil {
			t.Fatal(err)
		}
		target := strings.ReplaceAll(c.from, "README", "docs/readme")
		got, err := s.rewrite(&page{c.from, target, c.text})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v", c.text, err)
			}
		case err != nil || got != c.want:
			t.Errorf("%q becomes %q, %v", c.text, got, err)
		}
	}
}

// TestNavigation: documents that no list names are found.
func TestNavigation(t *testing.T) {
	root := repository(t, map[string]string{"README.md": "# r\n", "docs/new.md": "# n\n", "docs/repl.md": "# s\n"})
	s, err := newSite(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.addDocuments(); err != nil {
		t.Fatal(err)
	}
	text := s.navigation()
	for entry, want := range map[string]int{"docs/new\n": 1, "docs/repl\n": 1, "docs/methods\n": 0} {
		if got := strings.Count(text, entry); got != want {
			t.Errorf("%q stands there %d times:\n%s", entry, got, text)
		}
	}
}

// TestManualPage: every macro that odes man writes has its Markdown; another is an error.
func TestManualPage(t *testing.T) {
	text := `.TH ODES\-SENS 1 "" "odes 1" "odes"
.SH EXIT STATUS
.B odes sens
.RI [ flags ]
.I model
.TP
\fB\-\-set\fR=\fINAME=VALUE\fR
A_b: \(aqk\(aq.
.BR odes (1),
`
	want := `# odes sens

## Exit status

**odes sens**
\[*flags*\]
*model*

**--set**=*NAME=VALUE*
: A\_b: 'k'.
[odes](odes.md)(1),
`
	got, err := manualPage(text)
	if err != nil || got != want {
		t.Errorf("%q\n%v", got, err)
	}
	if _, err := manualPage(".XX what\n"); err == nil {
		t.Error("an unknown macro is no error")
	}
}

// TestPackages: declarations, comments with links, and examples with their output.
func TestPackages(t *testing.T) {
	one := "// Package m is one. See [Run] and [example.org/m/p.T.Go].\npackage m\n\n// Run runs.\nfunc Run() {}\n"
	two := "// Package p is two.\npackage p\n\n// T is it.\ntype T struct {\n\tA int // seen\n\tb int\n}\n\n" +
		"// Go goes.\nfunc (*T) Go() {}\n"
	root := repository(t, map[string]string{
		"README.md": "# r\n", "go.mod": "module example.org/m\n",
		"m.go":                   one,
		"m_test.go":              "package m_test\n\nfunc ExampleRun() {\n\tm.Run()\n\t// Output: ran\n}\n",
		"p/p.go":                 two,
		"internal/secret/s.go":   "package secret\n",
		"q/q_test.go":            "package q\n",
		"p/ptest/ptest.go":       "package ptest\n",
		"cmd/c/main.go":          "package main\n",
		"nested/go.mod":          "module nested\n",
		"nested/n.go":            "package nested\n",
		"testdata/wrong/none.go": "package",
	})
	s, err := newSite(root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.addPackages(); err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, p := range s.pages {
		text[p.target] = p.text
	}
	if len(text) != 3 {
		t.Errorf("%d pages", len(text))
	}
	for name, pieces := range map[string][]string{
		"api/m.md": {
			"[Run](m.md#func-run)", "[example.org/m/p.T.Go](p.md#func-t-go)",
			"```go\nfunc Run()\n```", "```go\nm.Run()\n```", "```text\nran\n```",
		},
		"api/p.md": {"## type T\n", "A int // seen", "contains filtered or unexported fields", "### func (\\*T) Go\n"},
	} {
		for _, piece := range pieces {
			if !strings.Contains(text[name], piece) {
				t.Errorf("%s lacks %q:\n%s", name, piece, text[name])
			}
		}
	}
}

// TestFirstSentence: what a card of the gallery says.
func TestFirstSentence(t *testing.T) {
	text := "# Head\n\nOf order 1.5 (R. A. Fisher) it\nis é. Next one.\n\nMore.\n"
	if got := firstSentence(firstParagraph(text)); got != "Of order 1.5 (R. A. Fisher) it is é." {
		t.Error(got)
	}
}
