package repl

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPastes edits lines as a keyboard does: what is pasted comes at once, and arrives as it was.
func TestPastes(t *testing.T) {
	long := "let y = " + strings.Repeat("x + µ*", 2000) + "x"
	for _, c := range []struct {
		chunks []string
		want   string
		most   int // keys
	}{
		{[]string{"k", "=", "3", "\r"}, "k=3\r", 4},
		{[]string{"k = 3\rfinal(x)\r"}, "k = 3\rfinal(x)\r", 15},             // typed ahead
		{[]string{long + "\n"}, long + "\r", 4},                              // one line
		{[]string{"a = ", long, " + 1", "\r"}, "a = " + long + " + 1\r", 16}, // in a line
		{[]string{long + "\r\n" + long + "\n\n" + long}, long + "\r" + long + "\r\r" + long, 9},
		{[]string{"final(x)\x1b[A" + long}, "final(x)\x1b[A" + long, 2 * len(long)}, // keys among it
		{[]string{long[:21], long[21:]}, long, 30},
		{ // a letter in two
			[]string{strings.Repeat("µ", 20) + "\xc2", "\xb5" + long}, strings.Repeat("µ", 21) + long, 8,
		},
		{[]string{"if x > 1 then\t2 else 3 # a comment"}, "if x > 1 then    2 else 3 # a comment", 2},
	} {
		var readers []io.Reader
		for _, text := range c.chunks {
			readers = append(readers, strings.NewReader(text))
		}
		p := &pastes{keys: io.MultiReader(readers...), more: func() bool { return false }}
		keys, err := io.ReadAll(iotest.OneByteReader(p))
		if err != nil {
			t.Fatal(err)
		}
		var line []rune
		n := 0
		for _, key := range string(keys) {
			n++
			line = append(line, key)
			if changed, at, ok := p.OnChange(line, len(line), key); ok {
				if at != len(changed) {
					t.Errorf("the place is %d of %d", at, len(changed))
				}
				line = changed
			}
		}
		if got := string(line); got != c.want {
			t.Errorf("%.80q: %.80q, want %.80q", c.chunks, got, c.want)
		}
		if n > c.most {
			t.Errorf("%.80q: %d keys, want %d", c.chunks, n, c.most)
		}
	}
	chunks := 300
	pieces := iotest.OneByteReader(strings.NewReader(strings.Repeat("x", chunks)))
	p := &pastes{
		keys: io.MultiReader(strings.NewReader(long), pieces),
		more: func() bool { chunks--; return chunks > 0 },
	}
	if keys, err := io.ReadAll(p); err != nil || len(keys) > 8 {
		t.Errorf("%d bytes of keys for one piece, %v", len(keys), err)
	}
	p = &pastes{}
	if _, _, ok := p.OnChange([]rune{pasted}, 1, pasted); ok {
		t.Error("a key that was typed stands for nothing")
	}
}
