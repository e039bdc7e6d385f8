package repl

import (
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// pasted is the key that stands for a piece of text. No keyboard has it.
const pasted = '\uf8ff'

// shortest is the number of bytes from which text that comes at once is taken to be pasted.
const shortest = 32

// longest is the number of bytes from which no more is waited for.
const longest = 4 << 20

// pastes finds in a stream of keys what is pasted, and puts one key in the place of each of its lines: an editor that
// draws the line again for each key then draws it once for all of them.
type pastes struct {
	keys io.Reader
	more func() bool // whether keys has more already
	rest []byte      // that no reader has had yet
	cut  []byte      // the beginning of a letter
	err  error

	mu    sync.Mutex
	queue [][]rune // texts of the keys that were put in
}

// Read returns keys.
func (p *pastes) Read(b []byte) (int, error) {
	for len(p.rest) == 0 && p.err == nil {
		chunk := make([]byte, 1<<16)
		n := copy(chunk, p.cut)
		p.cut = nil
		for m := 0; ; {
			m, p.err = p.keys.Read(chunk[n:])
			n += m
			// Terminals hand over what is pasted in pieces.
			if n < shortest || p.err != nil || n > longest || p.more == nil || !p.more() {
				break
			}
			chunk = slices.Grow(chunk[:n], 1<<16)
			chunk = chunk[:cap(chunk)]
		}
		p.take(chunk[:n])
	}
	if len(p.rest) == 0 {
		return 0, p.err
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// take turns what came at once into keys.
func (p *pastes) take(chunk []byte) {
	for back := 1; p.err == nil && back < utf8.UTFMax && back <= len(chunk); back++ {
		if tail := chunk[len(chunk)-back:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				p.cut, chunk = slices.Clone(tail), chunk[:len(chunk)-back]
			}
			break
		}
	}
	text := string(chunk)
	if len(text) < shortest || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r)
	}) {
		p.rest = chunk
		return
	}
	text = strings.NewReplacer("\r\n", "\r", "\n", "\r", "\t", "    ").Replace(text) // Tab would complete
	for line := range strings.SplitAfterSeq(text, "\r") {
		line, end := strings.CutSuffix(line, "\r")
		if line != "" {
			p.mu.Lock()
			p.queue = append(p.queue, []rune(line))
			p.mu.Unlock()
			p.rest = utf8.AppendRune(p.rest, pasted)
		}
		if end {
			p.rest = append(p.rest, '\r')
		}
	}
}

// OnChange puts the text in the place of its key. It is called after each key, with the line and the place behind the
// key.
func (p *pastes) OnChange(line []rune, pos int, key rune) (changed []rune, at int, ok bool) {
	if key != pasted || pos < 1 || pos > len(line) || line[pos-1] != pasted {
		return nil, 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.queue) == 0 {
		return nil, 0, false
	}
	text := p.queue[0]
	p.queue = p.queue[1:]
	return slices.Concat(line[:pos-1], text, line[pos:]), pos - 1 + len(text), true
}
