package diag

import (
	"strings"
	"unicode/utf8"
)

// Messages repeat names, and a name may be as long as a file.
const (
	longestWord = 160 // longest word, in bytes, that a message repeats whole
	wordStart   = 60  // bytes kept at the start of a longer one
	wordEnd     = 20
)

// brief shortens the words of text that are too long to read, by leaving out their middle.
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
