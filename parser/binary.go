package parser

import "strings"

// isNoText reports whether a text is none: it begins as pictures, programs and archives do, with many characters that
// no text has. One message says that, in place of one for each of them.
func isNoText(text string) bool {
	if len(text) > 1 && (text[0] == 0 || text[1] == 0 || strings.HasPrefix(text, "\xff\xfe") ||
		strings.HasPrefix(text, "\xfe\xff")) {
		return false // UTF-16, where another encoding is the remedy
	}
	head := text[:min(len(text), 4096)]
	controls := 0
	for i := range len(head) {
		if c := head[i]; c < ' ' && !strings.ContainsRune("\t\n\r\f", rune(c)) {
			controls++
		}
	}
	return controls > 8 && controls*50 > len(head)
}
