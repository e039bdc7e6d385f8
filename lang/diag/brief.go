package diag

import (
	"strings"
	"unicode/utf8"
)

// Messages repeat names, and a name may be as long as a file.
const (
	longestWord = 160 // bytes of a word that a message repeats whole
	wordStart   = 60  // bytes that are left of a longer one
	wordEnd     = 20
)

// brief is text with the middle of what is too long to read left out.
func brief(text string) string {
	if len(text) <= longestWord {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexAny(text, " \n")
		if n < 0 {
			n = len(text)
		}
		if word := text[:n]; n > longestWord {
			head, tail := wordStart, n-wordEnd
			for head > 0 && !utf8.RuneStart(word[head]) {
				head--
			}
			b.WriteString(word[:head] + "…" + word[boundary(word, tail):])
		} else {
			b.WriteString(word)
		}
		if text = text[n:]; text != "" {
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return b.String()
}
