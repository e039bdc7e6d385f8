package sens_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"odes.dev/odes/sens"
)

var update = flag.Bool("update", false, "rewrite the table of modes in docs/methods-derivatives.md")

// TestModesTable holds the table of docs/methods-derivatives.md against the modes.
func TestModesTable(t *testing.T) {
	const path, from, to = "../docs/methods-derivatives.md", "<!-- modes -->\n", "<!-- end modes -->\n"
	lanes := map[sens.Lanes]string{
		sens.LanesNone: "one at a time", sens.LanesObjectives: "objectives", sens.LanesColumns: "variables",
	}
	var b strings.Builder
	b.WriteString("| mode | derivatives of | side by side in a sweep |\n|---|---|---|\n")
	for _, m := range sens.Modes() {
		what := "the equations"
		if m.Exact {
			what = "the computed solution"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, what, lanes[m.Lanes])
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), from)
	_, after, closed := strings.Cut(rest, to)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", path)
	}
	want := before + from + b.String() + to + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the modes; go test ./sens -run TestModesTable -update rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}
