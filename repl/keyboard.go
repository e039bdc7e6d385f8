//go:build !js

package repl

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/chzyer/readline"
)

// keyboard is Lines on a terminal.
type keyboard struct{ line *readline.Instance }

// Keyboard returns Lines on the terminal in, out. The user can edit lines, which s completes, and
// recall those of earlier sessions from the file history ("" for none).
func Keyboard(s *Session, in io.ReadCloser, out io.Writer, history string) (Lines, error) {
	if !keeps(history) {
		history = "" // a session without history is better than none
	}
	keys := readline.NewCancelableStdin(in)
	paste := &pastes{keys: keys, more: func() bool { return waits(in) }}
	config := &readline.Config{
		Prompt: prompt, HistoryFile: history, HistoryLimit: 2000, HistorySearchFold: true, DisableAutoSaveHistory: true,
		AutoComplete: completer{s}, InterruptPrompt: "^C", EOFPrompt: "",
		Stdin: struct {
			io.Reader
			io.Closer
		}{paste, keys}, Stdout: out, Stderr: out, Listener: paste,
	}
	if s.cfg.Colour {
		config.Painter = painter{s}
	}
	line, err := readline.NewEx(config)
	if err != nil {
		return nil, err
	}
	return &keyboard{line}, nil
}

// keeps reports whether a file can hold the history. It creates the file, readable by its owner
// alone.
func keeps(path string) bool {
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return false
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return false // reading a device may never end
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func (k *keyboard) Read(prompt string) (string, error) {
	k.line.SetPrompt(prompt)
	text, err := k.line.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return "", ErrInterrupted
	}
	return text, err
}

// Remember keeps an entry as one line. It keeps no entry of several lines with a comment, which
// would hide what follows it.
func (k *keyboard) Remember(entry string) {
	if strings.Contains(entry, "\n") && strings.Contains(entry, "#") {
		return
	}
	// losing a line of history is no failure
	_ = k.line.SaveHistory(strings.Join(strings.Fields(strings.ReplaceAll(entry, "\n", " ")), " "))
}

func (*keyboard) interactive() bool { return true }

func (k *keyboard) Close() error { return k.line.Close() }

// completer completes with the words of a session.
type completer struct{ s *Session }

// Do returns the ends of the words that the text before the cursor may become.
func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	var words []string
	var replaced int
	if guard(c.s, "", func() error { words, replaced = c.s.Complete(string(line[:pos])); return nil }) != nil {
		return nil, 0
	}
	var ends [][]rune
	for _, w := range words {
		end := w[replaced:]
		// a command, or the beginning of an item
		if len(words) == 1 && strings.TrimSpace(string(line[:pos])) == w[:replaced] {
			end += " "
		}
		ends = append(ends, []rune(end))
	}
	return ends, len([]rune(string(line[:pos])[len(string(line[:pos]))-replaced:]))
}
