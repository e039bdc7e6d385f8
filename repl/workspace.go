package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

// workspace is the model under construction: its text, what is set, the file it comes from, and the way back.
type workspace struct {
	display
	path    string // of the model's file; "" when there is none
	disk    string // text of the file when it was last read or written
	stamp   time.Time
	now     state
	past    []state                    // for undo, oldest first
	future  []state                    // for redo, next one last
	opened  state                      // as first read; the command compare compares with it
	draft   string                     // an edited text with errors, for the next edit
	scope   scope                      // of the current entry
	confirm func(question string) bool // nil where nobody can answer
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

// Open loads the model at path. It returns an *odes.FileError if the file cannot be read.
func (ws *workspace) Open(path string) error {
	text, err := input.File(path, ws.cfg.Seen)
	if err != nil {
		return &odes.FileError{Path: path, Err: err}
	}
	return ws.load(path, string(text))
}

// OpenText starts with a text that has no file. Messages call it name.
func (ws *workspace) OpenText(name, text string) error {
	m, err := odes.Parse(name, text, odes.ParseOptions{Files: input.Folder(".", ws.cfg.Seen)})
	if err != nil {
		return err
	}
	ws.begin(state{text: text, model: m})
	return nil
}

// Mend opens a file that is not a valid model yet. The command edit continues with its text, and
// the file is read when it has changed.
func (ws *workspace) Mend(path string) error {
	text, err := input.File(path, ws.cfg.Seen)
	if err != nil {
		return &odes.FileError{Path: path, Err: err}
	}
	ws.begin(state{})
	ws.path, ws.disk, ws.draft = path, string(text), string(text)
	if info, err := os.Stat(path); err == nil {
		ws.stamp = info.ModTime()
	}
	return nil
}

func (ws *workspace) load(path, text string) error {
	files := input.Folder(filepath.Dir(path), ws.cfg.Seen)
	var list diag.List
	if translated, language := compile.Import(path, text, files, "", &list); language != "" {
		if err := list.Err(); err != nil {
			return err
		}
		m, err := odes.Parse(path, text, odes.ParseOptions{Files: files}) // whose messages name the file
		if err != nil {
			return err
		}
		ws.begin(state{text: translated.Text(), model: m}) // which has no file until it is saved to one
		return nil
	}
	m, err := odes.Parse(path, text, odes.ParseOptions{Files: files})
	if err != nil {
		return err
	}
	ws.path, ws.disk = path, text
	if info, err := os.Stat(path); err == nil {
		ws.stamp = info.ModTime()
	}
	ws.begin(state{text: text, model: m, did: "load " + path})
	return nil
}

func (ws *workspace) begin(st state) {
	ws.now, ws.opened, ws.past, ws.future, ws.draft = st, st, nil, nil, ""
}

// Set adds overrides and settings, as the command line gives them.
func (ws *workspace) Set(set []odes.Assignment, settings []odes.Setting) error {
	ws.now.set = slices.Clone(ws.now.set)
	for _, a := range set {
		a, err := ws.now.model.Convert(a)
		if err != nil {
			return err
		}
		ws.now.set = append(ws.now.set, a)
	}
	ws.now.settings = append(slices.Clone(ws.now.settings), settings...)
	ws.opened = ws.now
	return nil
}

// Warnings returns the warnings and notes of the model.
func (ws *workspace) Warnings() []diag.Diagnostic {
	if ws.now.model == nil {
		return nil
	}
	return ws.now.model.Warnings()
}

// Model returns the model; nil while there is none.
func (ws *workspace) Model() *odes.Model { return ws.now.model }

// Text returns the text of the model.
func (ws *workspace) Text() string { return ws.now.text }

// name returns the name that messages have for the model's text.
func (ws *workspace) name() string {
	if ws.path != "" {
		return ws.path
	}
	return "session"
}

func (ws *workspace) files() odes.ParseOptions {
	return odes.ParseOptions{Files: input.Folder(filepath.Dir(ws.path), ws.cfg.Seen), Experiment: ws.scope.experiment}
}

func (ws *workspace) parse(text string) (*odes.Model, error) {
	return odes.Parse(ws.name(), text, ws.files())
}

// move makes st the current state. Undo returns to the one before.
func (ws *workspace) move(st state, did string) {
	st.did = did
	ws.past, ws.future = append(ws.past, ws.now), nil
	ws.now = st
}

// model returns the model, or an error that says what is missing.
func (ws *workspace) model() (*odes.Model, error) {
	switch {
	case ws.now.model != nil:
		return ws.now.model, nil
	case strings.TrimSpace(ws.now.text) == "":
		return nil, errors.New("there is no model yet: load a file, or enter one: time t from 0 to 10, state x = " +
			"1, x' = -x")
	case len(ws.now.missing) > 0:
		return nil, fmt.Errorf("the model is not complete: %s", ws.now.missing[0].Message)
	}
	return nil, errors.New("the model is not complete")
}

func (ws *workspace) heading(m *odes.Model) report.Heading {
	i := m.Info()
	return report.Heading{
		Model: i.Name, Experiment: ws.scope.experiment, File: i.File, Time: i.Time, TimeUnit: i.TimeUnit,
	}
}

// Greet writes one line about what was opened.
func (ws *workspace) Greet(w io.Writer) {
	m := ws.now.model
	if m == nil {
		return
	}
	i := m.Info()
	title := i.Name
	if i.Title != "" {
		title += ": " + i.Title
	}
	ws.Say(w, "%s", title)
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
	}{
		{i.States, "state"},
		{i.Algs, "alg"},
		{i.Params, "param"},
		{i.Discretes, "discrete"},
		{i.Events, "event"},
		{i.Outputs, "output"},
		{i.Objectives, "objective"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s%s", c.n, c.noun, map[bool]string{true: "s"}[c.n > 1]))
		}
	}
	ws.Say(w, "%s", strings.Join(parts, ", "))
	ws.diagnose(w, m.Warnings())
}

// Changed reports whether the file of the model is newer than what the session read.
func (ws *workspace) Changed() bool {
	if ws.path == "" {
		return false
	}
	info, err := os.Stat(ws.path)
	if err != nil || info.ModTime().Equal(ws.stamp) {
		return false
	}
	text, err := input.File(ws.path, ws.cfg.Seen)
	if err != nil {
		return false
	}
	ws.stamp = info.ModTime()
	return string(text) != ws.disk
}

// Refresh reads the model's file if it has changed since. If something was entered, it only says
// so, because reading the file would lose that.
func (ws *workspace) Refresh(w io.Writer) {
	if !ws.Changed() {
		return
	}
	if ws.now.text != ws.disk && ws.now.text != "" {
		ws.Say(w, "note: %s has changed; reload takes it and drops what was entered here", ws.path)
		return
	}
	ws.Say(w, "%s has changed: reading it again", ws.path)
	ws.Show(w, ws.reread(w))
}

func (ws *workspace) reread(w io.Writer) error {
	text, err := input.File(ws.path, ws.cfg.Seen)
	if err != nil {
		return &odes.FileError{Path: ws.path, Err: err}
	}
	m, err := ws.parse(string(text))
	if err != nil {
		return err
	}
	st := state{text: string(text), model: m, set: ws.now.set, settings: ws.now.settings}
	if _, err := m.Symbols(st.set); err != nil {
		st.set = nil
		fmt.Fprintln(w, "what was set does not fit any more and is dropped")
	}
	ws.move(st, "reload")
	ws.disk, ws.draft = string(text), ""
	if ws.opened.model == nil {
		ws.opened = st
	}
	ws.diagnose(w, m.Warnings())
	return nil
}

func (ws *workspace) doLoad(_ context.Context, w io.Writer, rest string) error {
	if rest == "" {
		return errors.New("load what? load <file.ode>")
	}
	path := strings.Trim(rest, `"`)
	if err := ws.Open(path); err != nil {
		return err
	}
	ws.Greet(w)
	return nil
}

func (ws *workspace) doReload(_ context.Context, w io.Writer, rest string) error {
	if ws.path == "" || rest != "" {
		return errors.New("reload reads the model's file again, and this one has none; load <file.ode>")
	}
	if err := ws.reread(w); err != nil {
		return err
	}
	fmt.Fprintln(w, "read "+ws.path)
	return nil
}

func (ws *workspace) doEdit(_ context.Context, w io.Writer, rest string) error {
	if ws.cfg.Edit == nil {
		return errors.New("there is no editor: set VISUAL or EDITOR")
	}
	if rest != "" {
		return errors.New("edit opens the model of the session; load another one with load <file.ode>")
	}
	dir, err := os.MkdirTemp("", "odes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := "session.ode"
	if ws.path != "" {
		name = filepath.Base(ws.path)
	}
	path := filepath.Join(dir, name)
	text := ws.now.text
	if ws.draft != "" {
		text = ws.draft
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	if err := ws.cfg.Edit(path); err != nil {
		return err
	}
	after, err := input.File(path, ws.cfg.Seen)
	if err != nil {
		return err
	}
	if string(after) == ws.now.text {
		ws.draft = ""
		fmt.Fprintln(w, "nothing changed")
		return nil
	}
	ws.draft = string(after)
	if err := ws.accept(w, string(after), "", nil, "edited"); err != nil {
		ws.Show(w, err)
		return errors.New("the edited text is kept: edit goes on with it")
	}
	ws.draft = ""
	return nil
}

func (ws *workspace) doText(_ context.Context, w io.Writer, rest string) error {
	if rest == "" {
		if ws.now.text == "" {
			return errors.New("there is no text yet")
		}
		fmt.Fprintln(w, strings.TrimRight(ws.now.text, "\n"))
		return nil
	}
	items, _ := parser.Outline(ws.name(), ws.now.text)
	found := false
	for _, it := range items {
		for _, p := range it.Parts {
			name, _, _ := strings.Cut(strings.TrimSuffix(p.Name, "'"), "[")
			if (name == rest || p.Name == rest) && !isBlock(it) || it.Kind == rest {
				from, to := it.Start, it.End
				for from > 0 && ws.now.text[from-1] != '\n' && strings.TrimSpace(ws.now.text[from-1:from]) == "" {
					from--
				}
				if end := strings.IndexByte(ws.now.text[to:], '\n'); end > 0 &&
					strings.HasPrefix(strings.TrimSpace(ws.now.text[to:to+end]), "#") {
					to += end // with its doc comment
				}
				fmt.Fprintln(w, strings.TrimSpace(ws.now.text[from:to]))
				found = true
				break
			}
		}
	}
	if !found {
		return fmt.Errorf("the model declares no %q%s", rest, diag.DidYouMean(rest, ws.declared()))
	}
	return nil
}

func (ws *workspace) doSet(_ context.Context, w io.Writer, rest string) error {
	if rest != "" {
		return errors.New("set shows what was set; to set a param write k = 3")
	}
	if len(ws.now.set)+len(ws.now.settings) == 0 {
		fmt.Fprintln(w, "nothing is set")
	}
	for _, a := range ws.now.set {
		fmt.Fprintf(w, "%s = %s\n", a.Name, list(a.Values))
	}
	for _, k := range ws.now.settings {
		fmt.Fprintf(w, "%s = %s\n", k.Key, k.Value)
	}
	return nil
}

func (ws *workspace) doUndo(_ context.Context, w io.Writer, rest string) error {
	if rest != "" {
		return errors.New("undo takes nothing; it goes one step back")
	}
	if len(ws.past) == 0 {
		return errors.New("there is nothing to undo")
	}
	did := ws.now.did
	ws.future = append(ws.future, ws.now)
	ws.now, ws.past = ws.past[len(ws.past)-1], ws.past[:len(ws.past)-1]
	fmt.Fprintln(w, "undone: "+did)
	return nil
}

func (ws *workspace) doRedo(_ context.Context, w io.Writer, rest string) error {
	if rest != "" {
		return errors.New("redo takes nothing; it goes one step forward")
	}
	if len(ws.future) == 0 {
		return errors.New("there is nothing to redo")
	}
	ws.past = append(ws.past, ws.now)
	ws.now, ws.future = ws.future[len(ws.future)-1], ws.future[:len(ws.future)-1]
	fmt.Fprintln(w, "done again: "+ws.now.did)
	return nil
}

func (ws *workspace) doEmit(_ context.Context, w io.Writer, rest string) error {
	if rest == "" {
		rest = "model"
	}
	return compile.Emit(w, rest, ws.name(), ws.now.text, ws.files().Files)
}
