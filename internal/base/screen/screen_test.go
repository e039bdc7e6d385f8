package screen

import (
	"slices"
	"strings"
	"testing"
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "x [m]": 5, "a\x1bb": 2, "\xff": 1, "αβ…": 3,
		"été": 3, "e\u0301": 1, "e\u0301\u0302x": 2, "\u0301": 0, "1\u20dd": 1, // combining accents
		"变量": 4, "한글": 4, "\u1112\u1161\u11ab": 2, "ハ": 2, "ﾊ": 1, "Ａ": 2, "\u3000": 2, // CJK
		"🚀": 2, "✅": 2, "⭐": 2, "⚡": 2, "x🚀y": 4, // emoji that are wide by themselves
		"❤": 1, "❤\ufe0f": 2, "❤\ufe0fa": 3, "1\ufe0f\u20e3": 2, "⭐\ufe0f": 2, "©\ufe0f": 2, "©": 1, // by a selector
		"🇩🇪": 2, "a\u200db": 2,
	} {
		if got := Width(text); got != want {
			t.Errorf("Width(%q) = %d, want %d", text, got, want)
		}
	}
}

// TestNext: characters are taken with their marks, and nothing of a text is left out.
func TestNext(t *testing.T) {
	for text, want := range map[string][]string{
		"":                          nil,
		"ab":                        {"a", "b"},
		"e\u0301\u0302x":            {"e\u0301\u0302", "x"},
		"\u0301a":                   {"\u0301", "a"},
		"❤\ufe0f❤":                  {"❤\ufe0f", "❤"},
		"\x1b\u0301":                {"\x1b", "\u0301"},
		"\xff\xfe":                  {"\xff", "\xfe"},
		"变\u0301\u1112\u1161\u11ab": {"变\u0301", "\u1112\u1161\u11ab"},
	} {
		var got []string
		for rest := text; rest != ""; {
			size, _ := Next(rest)
			if size == 0 {
				t.Fatalf("Next(%q) goes nowhere", rest)
			}
			got, rest = append(got, rest[:size]), rest[size:]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 4, "abc…"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
		{"变量变量", 5, "变量…"},
		{"变量变量", 4, "变…"},
		{"e\u0301bc", 2, "e\u0301…"},
		{"a🚀b", 3, "a…"},
		{"a🚀b", 4, "a🚀b"},
		{"❤\ufe0fabc", 3, "❤\ufe0f…"},
	} {
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
	for _, text := range []string{
		"", " ", "abcdefgh", "a\nb c d e f g h i j", "变量变量 变量 变量", "🚀✅ ⭐⚡ ❤\ufe0f❤\ufe0f e\u0301e\u0301",
		"one two three four five six",
	} {
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
