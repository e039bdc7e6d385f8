package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManPages holds docs/man against what the command line is: go generate ./cmd/odes writes them.
func TestManPages(t *testing.T) {
	made := t.TempDir()
	if status, errs := command(t, "man", "--write", made); status != exitDone {
		t.Fatal(errs)
	}
	pages, err := filepath.Glob(filepath.Join(made, "*.1"))
	if err != nil || len(pages) < 14 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	docs := filepath.Join("..", "..", "docs", "man")
	for _, page := range pages {
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(docs, filepath.Base(page)))
		if err != nil || string(got) != string(want) {
			t.Errorf("docs/man/%s is not what the command makes: go generate ./cmd/odes (%v)", filepath.Base(page), err)
		}
		for line := range strings.Lines(string(want)) {
			if strings.TrimSpace(line) == "" {
				t.Errorf("%s: an empty line", page)
			}
		}
	}
	kept, _ := filepath.Glob(filepath.Join(docs, "*.1"))
	if len(kept) != len(pages) {
		t.Errorf("%d pages in docs/man, %d commands", len(kept), len(pages))
	}
}

// TestExamples parses the examples of --help and of the manual pages.
func TestExamples(t *testing.T) {
	p, err := newParser(allCommands(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Model.Children {
		if len(examples[n.Name]) == 0 && n.Name != "version" {
			t.Errorf("odes %s has no example", n.Name)
		}
		if len(examples[n.Name]) > 0 && !strings.Contains(n.Detail, examples[n.Name][0].line) {
			t.Errorf("odes %s --help does not show its examples", n.Name)
		}
		for _, e := range examples[n.Name] {
			_, line, _ := strings.Cut(e.line, "odes ")
			line, _, _ = strings.Cut(line, " > ")
			line, _, _ = strings.Cut(line, " < ")
			line, _, _ = strings.Cut(line, " | ")
			var args []string
			for i, part := range strings.Split(strings.TrimSuffix(line, ")"), "'") {
				if i%2 == 1 {
					args = append(args, part)
				} else {
					args = append(args, strings.Fields(part)...)
				}
			}
			args, _, err := splitSettings(args)
			if err != nil {
				t.Errorf("%s: %v", e.line, err)
			}
			asked, err := parse(p, args)
			if err != nil || commandName(asked) != n.Name {
				t.Errorf("%s: %v", e.line, err)
			}
		}
	}
}
