package main

import (
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
