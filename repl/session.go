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
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
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

// Session is a model under construction, with what was set and done.
type Session struct {
	cfg     Config
	path    string // of the model's file; "" when there is none
	disk    string // text of the file when it was last read or written
	stamp   time.Time
	now     state
	past    []state // for undo, oldest first
	future  []state // for redo, next one last
	opened  state   // as first read; the command compare compares with it
	history []string
	draft   string                      // an edited text with errors, for the next edit
	scope   scope                       // of the current entry
	doubts  doubts                      // of the last picture
	results map[string]*analysis.Result // the last of each analysis
	// asWritten is the current entry before names were replaced in it; "" where none were.
	asWritten string

	progress func(odes.Progress)        // of the current entry
	confirm  func(question string) bool // nil where nobody can answer
}

// state is what undo restores.
type state struct {
	text     string
	set      []odes.Assignment
	settings []odes.Setting
	model    *odes.Model // nil while the model is incomplete
	missing  []diag.Diagnostic
	did      string // what the user entered to get here
}

// New starts a session without a model.
func New(c Config) *Session { return &Session{cfg: c} }

// Open loads the model at path. It returns an *odes.FileError if the file cannot be read.
func (s *Session) Open(path string) error {
	text, err := input.File(path, s.cfg.Seen)
	if err != nil {
		return &odes.FileError{Path: path, Err: err}
	}
	return s.load(path, string(text))
}

// OpenText starts with a text that has no file. Messages call it name.
func (s *Session) OpenText(name, text string) error {
	m, err := odes.Parse(name, text, odes.ParseOptions{Files: input.Folder(".", s.cfg.Seen)})
	if err != nil {
		return err
	}
	s.begin(state{text: text, model: m})
	return nil
}

// Mend opens a file that is not a valid model yet. The command edit continues with its text, and
// the file is read when it has changed.
func (s *Session) Mend(path string) error {
	text, err := input.File(path, s.cfg.Seen)
	if err != nil {
		return &odes.FileError{Path: path, Err: err}
	}
	s.begin(state{})
	s.path, s.disk, s.draft = path, string(text), string(text)
	if info, err := os.Stat(path); err == nil {
		s.stamp = info.ModTime()
	}
	return nil
}

func (s *Session) load(path, text string) error {
	files := input.Folder(filepath.Dir(path), s.cfg.Seen)
	var list diag.List
	if translated, language := compile.Import(path, text, files, "", &list); language != "" {
		if err := list.Err(); err != nil {
			return err
		}
		m, err := odes.Parse(path, text, odes.ParseOptions{Files: files}) // whose messages name the file
		if err != nil {
			return err
		}
		s.begin(state{text: translated.Text(), model: m}) // which has no file until it is saved to one
		return nil
	}
	m, err := odes.Parse(path, text, odes.ParseOptions{Files: files})
	if err != nil {
		return err
	}
	s.path, s.disk = path, text
	if info, err := os.Stat(path); err == nil {
		s.stamp = info.ModTime()
	}
	s.begin(state{text: text, model: m, did: "load " + path})
	return nil
}

func (s *Session) begin(st state) {
	s.now, s.opened, s.past, s.future, s.draft = st, st, nil, nil, ""
}

// Set adds overrides and settings, as the command line gives them.
func (s *Session) Set(set []odes.Assignment, settings []odes.Setting) error {
	s.now.set = slices.Clone(s.now.set)
	for _, a := range set {
		a, err := s.now.model.Convert(a)
		if err != nil {
			return err
		}
		s.now.set = append(s.now.set, a)
	}
	s.now.settings = append(slices.Clone(s.now.settings), settings...)
	s.opened = s.now
	return nil
}

// Warnings returns the warnings and notes of the model.
func (s *Session) Warnings() []diag.Diagnostic {
	if s.now.model == nil {
		return nil
	}
	return s.now.model.Warnings()
}

// Model returns the model; nil while there is none.
func (s *Session) Model() *odes.Model { return s.now.model }

// Text returns the text of the model.
func (s *Session) Text() string { return s.now.text }

// name returns the name that messages have for the model's text.
func (s *Session) name() string {
	if s.path != "" {
		return s.path
	}
	return "session"
}

func (s *Session) files() odes.ParseOptions {
	return odes.ParseOptions{Files: input.Folder(filepath.Dir(s.path), s.cfg.Seen), Experiment: s.scope.experiment}
}

func (s *Session) parse(text string) (*odes.Model, error) {
	return odes.Parse(s.name(), text, s.files())
}

// move makes st the current state. Undo returns to the one before.
func (s *Session) move(st state, did string) {
	st.did = did
	s.past, s.future = append(s.past, s.now), nil
	s.now = st
}

// model returns the model, or an error that says what is missing.
func (s *Session) model() (*odes.Model, error) {
	switch {
	case s.now.model != nil:
		return s.now.model, nil
	case strings.TrimSpace(s.now.text) == "":
		return nil, errors.New("there is no model yet: load a file, or enter one: time t from 0 to 10, state x = " +
			"1, x' = -x")
	case len(s.now.missing) > 0:
		return nil, fmt.Errorf("the model is not complete: %s", s.now.missing[0].Message)
	}
	return nil, errors.New("the model is not complete")
}

// options returns the options of a run in the current state.
func (s *Session) options() odes.Options {
	return odes.Options{Set: s.now.set, Settings: s.now.settings, Progress: s.progress}
}

// unchecked returns opts for runs that are not compared with an independent one: those whose numbers are not shown, and
// the many runs of a sweep.
func unchecked(opts odes.Options) odes.Options {
	opts.Settings = append(slices.Clip(opts.Settings), odes.Setting{Key: "sens.trust", Value: "off"})
	return opts
}

func (s *Session) width() int {
	if n := s.screenWidth(); n > 0 {
		return n
	}
	return 80
}

// screenWidth returns the columns of the screen, or 0 when there is none.
func (s *Session) screenWidth() int {
	if s.cfg.Width == nil {
		return 0
	}
	return s.cfg.Width()
}

func (s *Session) table() report.TableOptions {
	return report.TableOptions{Width: s.width(), Bold: s.cfg.Colour, Session: true}
}

func (s *Session) screen() plot.Terminal {
	return plot.Terminal{Width: s.width(), Colour: s.cfg.Colour}
}

func (s *Session) heading(m *odes.Model) report.Heading {
	i := m.Info()
	return report.Heading{
		Model: i.Name, Experiment: s.scope.experiment, File: i.File, Time: i.Time, TimeUnit: i.TimeUnit,
	}
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

// Show writes the message of an error.
func (s *Session) Show(w io.Writer, err error) {
	switch list := diag.Of(err); {
	case err == nil:
	case list != nil:
		s.diagnose(w, list)
	default:
		s.Say(w, "error: %v", err)
	}
}

// diagnose shows diagnostics with their carets.
func (s *Session) diagnose(w io.Writer, list []diag.Diagnostic) {
	format := diag.Plain
	if s.cfg.Colour {
		format = diag.Colour
	}
	_ = diag.WriteWidth(w, list, format, s.screenWidth())
}

// Say writes a sentence, broken between words where the screen is narrow.
func (s *Session) Say(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, screen.Fold(fmt.Sprintf(format, args...), s.screenWidth(), screen.Hanging))
}

// tell shows how far the runs are that follow, if somebody wants to see it, until done is called. clear removes what is
// shown.
func (s *Session) tell() (clear, done func()) {
	if s.cfg.Progress == nil || s.progress != nil {
		return func() {}, func() {}
	}
	update, clear := s.cfg.Progress()
	s.progress = update
	return clear, func() {
		clear()
		s.progress = nil
	}
}

// part makes the next run count as run i of n, until done is called.
func (s *Session) part(i, n int) (done func()) {
	tell := s.progress
	if tell == nil {
		return func() {}
	}
	s.progress = func(at odes.Progress) {
		tell(odes.Progress{Phase: odes.PhaseRuns, Steps: i, Done: (float64(i) + at.Done) / float64(n)})
	}
	s.progress(odes.Progress{})
	return func() { s.progress = tell }
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
