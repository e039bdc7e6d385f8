package screen

import (
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "été": 3, "e\u0301": 1, "变量": 4, "한글": 4, "x [m]": 5, "a\x1bb": 2} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 4, "abc…"}, {"变量变量", 5, "变量…"}, {"变量变量", 4, "变…"}, {"abc", 1, "…"}, {"abc", 0, ""}} {
		if got := Cut(c.text, c.width); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
	if Pad("变", 4) != "变  " || PadLeft("变", 4) != "  变" || Pad("abc", 2) != "abc" {
		t.Error("blanks are counted wrong")
	}
}

func TestFold(t *testing.T) {
	if got, want := Fold("odes: a b", 7, Hanging), "odes: a\n    b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, text := range []string{"", " ", "abcdefgh", "a\nb c d e f g h i j", "变量变量 变量 变量", "one two three four five six"} {
		for width := range 30 {
			folded := Fold(text, width, "  ")
			if got := strings.Join(strings.Fields(folded), " "); got != strings.Join(strings.Fields(text), " ") {
				t.Errorf("words of %q changed: %q", text, got)
			}
			for _, line := range strings.Split(folded, "\n") {
				if width > 12 && Width(line) > width {
					t.Errorf("a line of %d columns for %d: %q", Width(line), width, line)
				}
			}
		}
	}
}
