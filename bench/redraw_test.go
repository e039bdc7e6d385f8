package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRedraw: the figures of four pages are what their tables draw, in the colours of today, with a title and roles.
func TestRedraw(t *testing.T) {
	const docs = "../docs/figures"
	folder := filepath.Join(t.TempDir(), "figures")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"precision.csv", "stiff.csv", "families.csv", "../benchmarks.md"} {
		text, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := redraw(folder); err != nil {
		t.Fatal(err)
	}
	drawn, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil || len(drawn) < 30 {
		t.Fatalf("%d figures: %v", len(drawn), err)
	}
	for _, path := range drawn {
		name := filepath.Base(path)
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		// Numbers in the tables are rounded, so that figures which were drawn as they were measured differ a little.
		if !bytes.Contains(kept, []byte(`role="img"`)) || texts(got) != texts(kept) ||
			!slices.Equal(colours(got), colours(kept)) {
			t.Errorf("docs/figures/%s is out of date: go run ./bench -draw", name)
		}
	}
}

// colours returns the colours of a figure, each once.
func colours(svg []byte) []string {
	list := regexp.MustCompile(`#[0-9a-f]{6}`).FindAllString(string(svg), -1)
	slices.Sort(list)
	return slices.Compact(list)
}

// texts returns what is written in a figure.
func texts(svg []byte) string {
	var list []string
	for part := range strings.SplitSeq(string(svg), "</text>") {
		if at := strings.LastIndexByte(part, '>'); at >= 0 {
			list = append(list, part[at+1:])
		}
	}
	return strings.Join(list, "|")
}
