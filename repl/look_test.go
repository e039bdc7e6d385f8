package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/plot"
)

const lookModel = `model m
time t from 0 to 4
param a = 0.5
param b = 2
state x = 1
state y = 1
x' = -a*x
y' = a*x - y
`

// drew enters commands and returns what the session says.
func drew(t *testing.T, entries ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.ode")
	if err := os.WriteFile(path, []byte(lookModel), 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(Config{})
	if err := s.Open(path); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if _, err := Loop(t.Context(), s, Piped(strings.NewReader(strings.Join(entries, "\n")+"\n")), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLook: the options of pictures stand at the end of what draws, in any order, in front of -o and behind it.
func TestLook(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.svg")
	for _, c := range []struct{ entry, want, not string }{
		{`plot x --title "the fall of x"`, "the fall of x", ""},
		{`plot x --title=fall --logy`, "x, log scale", ""},
		{`plot x, y --xrange 0:1 --size 40x4`, "1.0", "4 "},
		{`plot x, y in model --logy`, "log scale", "error"},
		{`plot x, y --facets`, "\n    y\n1.0 ┤", "error"},
		{`sweep a from 0.1 to 1 points 3 of x --title fan`, "fan", "error"},
		{`plot x -o ` + file + ` --size 300x200`, "wrote", ""},
		{`plot x --size 300x200 -o ` + file, "wrote", ""},
		{`plot x --size`, "--size needs a value, and stands at the end: plot x --size WxH", ""},
		{`plot x --logy 3`, "--logy takes no value", ""},
		{`plot x --logyy`, "there is no option --logyy; did you mean \"logy\"?", ""},
		{`plot x --columns 0`, "from 1 to 12", ""},
		{`plot x --logy --yrange 0:1`, "powers of ten are positive", ""},
		{`plot x --y`, "x --y\n", "option"}, // x + y
		{`plot [d(x)/d(a), d(y)/d(a)]`, "b d y / d a", "error"},
		{`plot d(x)/d(a), d(y)/d(a)`, "d y / d a", "error"},
		{`help plot`, "--colours HOW", ""},
	} {
		got := drew(t, c.entry)
		if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: want %q, not %q\n%s", c.entry, c.want, c.not, got)
		}
		if strings.Contains(got, "wrote") {
			text, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(text), `width="225pt" height="150pt"`) {
				t.Errorf("%s: %v %.200s", c.entry, err, text)
			}
			os.Remove(file)
		}
	}
}

// TestLookWords: completion and the manual know every option.
func TestLookWords(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "docs", "repl.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(Config{})
	words, replaced := s.Complete("plot x --")
	if replaced != 2 {
		t.Errorf("%d bytes are replaced", replaced)
	}
	for _, o := range plot.Options() {
		if !slices.Contains(words, "--"+o.Name) {
			t.Errorf("--%s is not completed: %v", o.Name, words)
		}
		row := "| `" + strings.TrimSpace("--"+o.Name+" "+o.Value) + "` | " + o.Doc + " |\n"
		if !strings.Contains(string(manual), row) {
			t.Errorf("docs/repl.md has no row %s", row)
		}
	}
	if len(words) != len(plot.Options()) || len(words) < 8 {
		t.Errorf("%d words for %d options", len(words), len(plot.Options()))
	}
	if words, _ := s.Complete("sweep k of x --colours l"); !slices.Equal(words, []string{"linear", "log"}) {
		t.Errorf("values: %v", words)
	}
	if words, _ := s.Complete("run --"); slices.Contains(words, "--logy") {
		t.Errorf("run: %v", words)
	}
}

// A picture of many experiments compiles a model for the intervals of their data once, not for each of them. Models
// for sensitivities, which are compiled for each experiment, are those of as many as the picture shows.
func TestManyExperiments(t *testing.T) {
	cost := func(what string, n int) float64 {
		text := strings.Builder{}
		text.WriteString(`time t from 0 to 10
param k = 1, c = 1, sd = 0.1
state x = 1
x' = -k*x*c
data D { time = [1, 2, 3]  y = [1, 2, 3] }
observe y = x ~ normal(sd) from D.y
`)
		for i := range n {
			fmt.Fprintf(&text, "experiment e%d { c = %d  use D }\n", i, i+1)
		}
		text.WriteString("objective L = nll()\n")
		s := New(Config{})
		if err := s.OpenText("many.ode", text.String()); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(1, func() {
			p, err := s.Picture(t.Context(), what, 80)
			if err != nil {
				t.Fatal(err)
			}
			l := p.(*plot.Stack).Panels[0].(*plot.Lines)
			if len(l.Curves) != min(n, 24) || what == "" && len(l.Bands) != len(l.Curves) {
				t.Errorf("%q: %d curves and %d intervals in a picture of %d experiments", what, len(l.Curves),
					len(l.Bands), n)
			}
			if n > 24 && !strings.Contains(l.Title, fmt.Sprintf("the first 24 of %d experiments", n)) {
				t.Errorf("%q: the title of %d experiments is %q", what, n, l.Title)
			}
		})
	}
	for _, what := range []string{"", "d(x)/d(k)"} {
		if few, many := cost(what, 10), cost(what, 40); many > 5*few {
			t.Errorf("%q: %g allocations for 40 experiments, %g for 10", what, many, few)
		}
	}
}
