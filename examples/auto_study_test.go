package examples_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestAutoTable requires of `mode = auto` the choices that docs/methods-derivatives.md lists, where the other
// mode would take at least twice as long.
func TestAutoTable(t *testing.T) {
	text, err := os.ReadFile("../docs/methods-derivatives.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- auto -->\n")
	table, _, found := strings.Cut(rest, "<!-- end auto -->")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if !found || len(rows) < 20 {
		t.Fatalf("docs/methods-derivatives.md has no table of choices: %d rows", len(rows))
	}
	checked := 0
	for _, row := range rows[2:] {
		cells := strings.Split(strings.ReplaceAll(row, "`", ""), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		name, of, wrt, mode := cells[1], cells[2], cells[3], cells[5]
		if times, err := strconv.ParseFloat(cells[6], 64); err != nil {
			t.Fatal(err)
		} else if times < 2 {
			continue
		}
		checked++
		paths, _ := filepath.Glob("*/" + name + ".ode")
		if len(paths) != 1 {
			t.Fatalf("%s: files %v", name, paths)
		}
		m, err := odes.ParseFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		opts := odes.Options{Settings: []odes.Setting{
			{Key: "sens.mode", Value: "auto"}, {Key: "sens.trust", Value: "off"},
		}}
		if of != "" {
			opts.Of = []string{of}
		}
		if wrt != "" {
			opts.Wrt = []string{wrt}
		}
		r, err := m.Prepare(opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Settings().Mode; got != mode {
			t.Errorf("%s of %q by %q: auto takes %s, the table has %s", name, of, wrt, got, mode)
		}
	}
	if checked < 10 {
		t.Errorf("only %d rows were checked", checked)
	}
}
