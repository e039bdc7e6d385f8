// Package repl is a session to explore a model in. A Session takes lines of text (items of the
// language, expressions, commands) and answers on a writer. It reads no keyboard and knows no
// screen, so that transcripts test it. Loop connects a session to a terminal. The package runs
// models only through the public API of package odes, and asks the parser for the shape of a text. It knows nothing of
// checking, tapes or solvers.
package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/parser"
)

// Config describes the environment of a session. The zero value is ready to use.
type Config struct {
	// Width returns the columns of the screen; nil means 80.
	Width func() int
	// Colour allows colour.
	Colour bool
	// Dark makes pictures in files light on dark.
	Dark bool
	// Doc writes help on a word of the language, and reports whether there is any. Nil means that
	// there is no help.
	Doc func(w io.Writer, name string) bool
	// Near says what may be meant by a name without help, beside some names that have it: "", or behind a semicolon.
	Near func(name string, names []string) string
	// Words are completed besides names, commands and keywords: functions and methods, for example.
	Words []string
	// Edit lets the user edit a file. Nil means that there is no editor.
	Edit func(path string) error
	// Keys, when set, is the keyboard, for a value that is moved by keys. Nil means that there is none.
	Keys Keys
	// Progress, when set, is called before every entry. The function update is told how far runs
	// are, and done is called at the end.
	Progress func() (update func(odes.Progress), done func())
	// Seen, when set, is told which files were read, so that none of them is written.
	Seen *input.Seen
}

// Entry is the name that diagnostics have for the entered text.
const Entry = "entry"

// ErrQuit ends a session.
var ErrQuit = errors.New("quit")

// Session answers what is entered about a model under construction. Below it are plotter, inquiry, workspace, display:
// each knows those that follow it.
type Session struct {
	plotter
	history []string
	results map[string]*analysis.Result // the last of each analysis
	// asWritten is the current entry before names were replaced in it; "" where none were.
	asWritten string
}

// New starts a session without a model.
func New(c Config) *Session {
	s := new(Session)
	s.cfg = c
	return s
}

// Do executes an input and shows its errors. The result quit says that the session ends.
func (s *Session) Do(ctx context.Context, w io.Writer, input string) (quit bool) {
	err := s.Exec(ctx, w, input)
	if errors.Is(err, ErrQuit) {
		return true
	}
	s.Show(w, err)
	return false
}

// Exec executes an input: an item of the language, an assignment, an expression or a command. After
// an error the session is unchanged, also after one of our own, a panic.
func (s *Session) Exec(ctx context.Context, w io.Writer, input string) error {
	return guard(s, input, func() error { return execute(ctx, s, w, input) })
}

// guard calls f, which does something for an input. After a panic the session is as before, and the error says what to
// report.
func guard(s *Session, input string, f func() error) (err error) {
	before := *s
	defer func() {
		if r := recover(); r != nil {
			before.history = s.history
			*s = before
			err = fault(r, strings.TrimSpace(input))
		}
	}()
	return f()
}

// fault is what to say of a panic. The first lines of ours on the stack say where it was.
func fault(r any, input string) error {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	var at []string
	for more := true; more && len(at) < 6; {
		var frame runtime.Frame
		frame, more = frames.Next()
		// A file's path depends on the flags of the build, so the package is taken from the function's name.
		if name, ours := strings.CutPrefix(frame.Function, "odes.dev/odes/"); ours {
			dir, base := path.Split(name)
			pkg, _, _ := strings.Cut(base, ".")
			at = append(at, fmt.Sprintf("%s%s/%s:%d", dir, pkg, filepath.Base(frame.File), frame.Line))
		}
	}
	return fmt.Errorf("internal error: %v; the session is as it was before this entry, and save writes its model\n"+
		"please report it, with the model and these lines:\n  odes %s, %s %s/%s\n  %s\n  at %s", r, odes.Version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.ReplaceAll(input, "\n", "\n  "),
		strings.Join(at, ", "))
}

// execute does what Exec says.
func execute(ctx context.Context, s *Session, w io.Writer, input string) error {
	input = strings.TrimSpace(input)
	tokens := parser.TokensOf(input)
	if len(tokens) == 0 {
		return nil
	}
	s.history = append(s.history, input)
	if s.cfg.Progress != nil {
		clear, done := s.tell()
		w = &after{w, clear}
		defer done()
	}
	if c, rest := commandOf(input, tokens); c != nil {
		if slices.Contains(scoped, c.name) {
			return s.within(rest, func(rest string) error {
				if err := s.one(); err != nil {
					return err
				}
				return c.run(s, ctx, w, rest)
			})
		}
		return c.run(s, ctx, w, rest)
	}
	switch {
	case isItem(tokens) && !isRate(tokens):
		return s.enter(w, input)
	case isAssignment(tokens) >= 0:
		return s.assign(ctx, w, input, tokens, isAssignment(tokens))
	}
	return s.within(input, func(input string) error {
		if err := s.one(); err != nil {
			return err
		}
		return answer(ctx, s, w, input)
	})
}

// after is a writer that calls a function before it first writes.
type after struct {
	io.Writer
	clear func()
}

func (a *after) Write(p []byte) (int, error) {
	a.clear()
	return a.Writer.Write(p)
}
