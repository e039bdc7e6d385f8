package keys_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"
)

var update = flag.Bool("update", false, "rewrite the tables of settings in docs/language-settings.md")

// TestManual holds the tables of docs/language-settings.md against the rows.
func TestManual(t *testing.T) {
	const path = "../../docs/language-settings.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, last := string(text), ""
	for _, block := range parser.Blocks() {
		from, to := "<!-- settings of "+block+" -->\n", "<!-- end settings of "+block+" -->\n"
		before, rest, found := strings.Cut(want, from)
		_, after, closed := strings.Cut(rest, to)
		switch {
		case (!found || !closed) && (!*update || last == ""):
			t.Fatalf("%s has no place for the settings of %s; go test ./lang/keys -run TestManual -update makes one",
				path, block)
		case !found || !closed: // behind the block before it
			before, after, _ = strings.Cut(want, last)
			before += last + "\n"
		}
		last = to
		want = before + from + keys.Manual(block) + to + after
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s does not show the settings; go test ./lang/keys -run TestManual -update rewrites it", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestRows: every block of the language has keys, each once and explained. Rows say of a kind what it needs, and
// nothing else. What is said of a key names its default, if that is a word.
func TestRows(t *testing.T) {
	n := 0
	for _, block := range parser.Blocks() {
		seen := map[string]bool{}
		for _, r := range keys.Of(block) {
			n++
			name := block + "." + r.Key
			if seen[r.Key] || r.Doc == "" || r.Block != block {
				t.Errorf("%s: twice: %v, of block %q, explained by %q", name, seen[r.Key], r.Block, r.Doc)
			}
			seen[r.Key] = true
			if r.Range != (keys.Range{}) && r.Kind != keys.Number {
				t.Errorf("%s has a range and is no number", name)
			}
			if r.Words != nil && r.Kind != keys.Word && r.Kind != keys.Switch && r.Kind != keys.Own {
				t.Errorf("%s has words, and takes none", name)
			}
			if r.Kind == keys.Word && r.Words != nil && r.Default != "" && !slices.Contains(r.Words, r.Default) {
				t.Errorf("the default of %s, %s, is none of its words", name, r.Default)
			}
			if r.Kind == keys.Word && !strings.Contains(r.Doc, "`"+r.Default) {
				t.Errorf("what is said of %s does not name its default, %s", name, r.Default)
			}
		}
	}
	if n < 50 {
		t.Fatalf("there are only %d keys", n)
	}
}

// TestRange: a range has what it says.
func TestRange(t *testing.T) {
	for _, c := range []struct {
		r          keys.Range
		say        string
		in, beyond []float64
	}{
		{keys.Range{}, "", []float64{-1, 0, 1e300}, nil},
		{keys.Find("solver", "h0").Range, "positive", []float64{5e-324, 1, 1e300}, []float64{0, -1}},
		{keys.Find("solver", "max_growth").Range, "greater than 1", []float64{1.5}, []float64{1, 0}},
		{keys.Find("solver", "sens_tol").Range, "in [0, 1)", []float64{0, 0.5}, []float64{-1e-300, 1}},
		{keys.Find("sens", "rtol").Range, "in (0, 1)", []float64{5e-324, 0.5}, []float64{0, 1}},
	} {
		if c.r.String() != c.say {
			t.Errorf("%+v is %q, not %q", c.r, c.r, c.say)
		}
		for _, x := range c.in {
			if !c.r.Has(x) {
				t.Errorf("%v is not %s", x, c.r)
			}
		}
		for _, x := range c.beyond {
			if c.r.Has(x) {
				t.Errorf("%v is %s", x, c.r)
			}
		}
	}
}
