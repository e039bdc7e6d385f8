package main

import (
	"io"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/screen"
)

// TestPlainPages: on a terminal without man, pages are texts that fit, and have every flag and every word of theirs.
func TestPlainPages(t *testing.T) {
	p, err := newParser(allCommands(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	root := p.Model.Node
	for _, n := range root.Children {
		const width = 80
		text := plainPage(manPage(root, n), width)
		for line := range strings.Lines(text) {
			if screen.Width(strings.TrimSuffix(line, "\n")) > width && !strings.Contains(line, "odes "+n.Name) {
				t.Errorf("%s: a line is too wide: %q", n.Name, line)
			}
			if strings.HasPrefix(line, ".") || strings.Contains(line, `\f`) || strings.Contains(line, `\(`) {
				t.Errorf("%s: this is troff: %q", n.Name, line)
			}
		}
		flat := strings.Join(strings.Fields(text), " ")
		for _, f := range flagsOf(n) {
			if !strings.Contains(flat, "--"+f.Name) {
				t.Errorf("%s: the page lacks --%s", n.Name, f.Name)
			}
			if words := strings.Join(strings.Fields(f.Help), " "); !strings.Contains(flat, words) {
				t.Errorf("%s: the page does not say %q", n.Name, words)
			}
		}
		for _, head := range []string{"NAME\n", "\nSYNOPSIS\n", "\nOPTIONS\n", "\nEXIT STATUS\n"} {
			if !strings.Contains(text, head) {
				t.Errorf("%s: no heading %q", n.Name, head)
			}
		}
	}
}
