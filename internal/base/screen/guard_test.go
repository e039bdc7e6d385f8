package screen

import (
	"bytes"
	"strings"
	"testing"
)

// TestGuard: styles of this program reach a terminal, and no other control character does, however writes are cut.
func TestGuard(t *testing.T) {
	Guard(nil)
	for text, want := range map[string]string{
		"a\tb\nµ " + Style("1", "bold") + "\n":                      "a\tb\nµ \x1b[1mbold\x1b[0m\n",
		ClearLine() + "x":                                           "\r\x1b[0Kx",
		Style("38;5;172", "\x1b[31mred\x1b[0m"):                     "\x1b[38;5;172m�[31mred�[0m\x1b[0m",
		"\x1b]52;c;ZXZpbA==\a":                                      "�]52;c;ZXZpbA==�",
		"\x1b[2J\x1b[1;999m\x1b[38;5;1K\r\x9b\u009b31m":             "�[2J�[1;999m�[38;5;1K������31m",
		"end\r\nof\rline\u202e\u2066\u2028\x7f\x00":                 "end\nof�line�����",
		"\x1b[" + strings.Repeat("1", 100) + "m\x1b":                "�[" + strings.Repeat("1", 100) + "m",
		"\x1b[1" + seal + "B \x1b" + seal + "m \x1b[2" + seal + "H": "�[1" + seal + "B �" + seal + "m �[2" + seal + "H",
		Redraw(12) + "x":                                            "\r\x1b[12A\x1b[0Jx",
		"\x1b[3A\x1b[J":                                             "�[3A�[J",
	} {
		for cut := 1; cut <= len(text); cut++ {
			var out bytes.Buffer
			w := Guard(&out)
			for rest := text; rest != ""; {
				n := min(cut, len(rest))
				if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
					t.Fatal(m, err)
				}
				rest = rest[n:]
			}
			if text == "\x1b[2J\x1b[1;999m\x1b[38;5;1K\r\x9b\u009b31m" {
				if got := out.String(); strings.ContainsAny(got, "\x1b\r\u009b") || strings.Contains(got, "\x9b") &&
					!strings.Contains(got, "\ufffd") {
					t.Errorf("%q becomes %q in pieces of %d", text, got, cut)
				}
			} else if got := out.String(); got != want {
				t.Errorf("%q becomes %q in pieces of %d, want %q", text, got, cut, want)
			}
		}
	}
	var out bytes.Buffer
	if Unguarded(Guard(&out)) != &out || Unguarded(&out) != &out {
		t.Error("the writer behind a guard is another one")
	}
}
