package main

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOverview: odes --help lists every command once, on one screen of 80 columns.
func TestOverview(t *testing.T) {
	p, err := newParser(allCommands(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	text := overview(p.Model.Node, 80)
	if n := strings.Count(text, "\n"); n > 40 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than 80 columns: %s", line)
		}
	}
	listed, last, _ := strings.Cut(text, "\ntools\n")
	names := map[string]int{}
	for line := range strings.Lines(listed) {
		if strings.HasPrefix(line, "  ") && line[2] != ' ' && !strings.HasPrefix(line, "  odes") {
			names[strings.Fields(line)[0]]++
		}
	}
	for name := range strings.SplitSeq(last, ",") {
		names[strings.TrimSpace(name)]++
	}
	for _, n := range p.Model.Children {
		if names[n.Name] != 1 {
			t.Errorf("%s stands there %d times:\n%s", n.Name, names[n.Name], text)
		}
	}
}
