package screen

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Control characters of models, data and messages must not reach a terminal, where they could hide text, move the
// cursor or type for the user. All that a terminal shows goes through a Guard. It lets through the escape sequences
// of this program alone, which it knows by a seal that no text can guess.

// seal stands in every escape sequence of this program; "" where nothing is guarded.
var seal string

// Style is text with a style of a terminal, given by its codes: "1" for bold.
func Style(codes, text string) string {
	return "\x1b[" + codes + seal + "m" + text + "\x1b[0" + seal + "m"
}

// ClearLine goes to the start of the line, and clears it.
func ClearLine() string { return "\r\x1b[0" + seal + "K" }

// Redraw goes up some lines to the start of one, and clears what is below.
func Redraw(lines int) string {
	return "\r\x1b[" + strconv.Itoa(lines) + seal + "A\x1b[0" + seal + "J"
}

var sealOnce sync.Once

// Guard returns a writer to a terminal. In place of control characters, but for line ends and tabs, and of characters
// that change the direction of text, it writes U+FFFD. It is to be made before anything is styled.
func Guard(w io.Writer) io.Writer {
	sealOnce.Do(func() { seal = ";" + strconv.FormatUint(rand.Uint64()|1<<63, 10) })
	return &guard{w: w}
}

// Unguarded returns the writer behind a Guard, for what draws a screen itself; others it returns as they are.
func Unguarded(w io.Writer) io.Writer {
	if g, ok := w.(*guard); ok {
		return g.w
	}
	return w
}

type guard struct {
	mu   sync.Mutex
	w    io.Writer
	rest []byte // the beginning of a character or of a sequence
}

// Write implements io.Writer.
func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := append(g.rest, p...)
	g.rest = nil
	var out bytes.Buffer
	for len(text) > 0 {
		if n, whole := sealed(text); n > 0 {
			out.WriteString(strings.Replace(string(text[:n]), seal, "", 1))
			text = text[n:]
			continue
		} else if !whole && len(text) < longest() {
			g.rest = bytes.Clone(text)
			break
		}
		if !utf8.FullRune(text) {
			g.rest = bytes.Clone(text)
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\r' && len(text) > 1 && text[1] == '\n':
		case harmless(r):
			out.Write(text[:n])
		default:
			out.WriteRune(utf8.RuneError)
		}
		text = text[n:]
	}
	if _, err := g.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// harmless reports whether a terminal shows a character, and does nothing by it.
func harmless(r rune) bool {
	return r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r) &&
		r != '\u2028' && r != '\u2029'
}

// longest is the length of the longest sequence of this program.
func longest() int { return len("\r\x1b[38;5;255") + len(seal) + 1 }

// sealed returns the length of a sequence of this program at the start of a text; 0 if there is none, and then whether
// that is sure, however the text goes on.
func sealed(text []byte) (n int, whole bool) {
	at := 0
	if text[0] == '\r' {
		at++
	}
	for _, want := range []byte("\x1b[") {
		if at == len(text) {
			return 0, false
		}
		if text[at] != want {
			return 0, true
		}
		at++
	}
	end := at
	for end < len(text) && (text[end] == ';' || '0' <= text[end] && text[end] <= '9') {
		end++
	}
	if end == len(text) {
		return 0, false
	}
	if bytes.IndexByte([]byte("mKAJ"), text[end]) < 0 || !bytes.HasSuffix(text[at:end], []byte(seal)) {
		return 0, true
	}
	return end + 1, true
}
