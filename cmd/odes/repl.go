package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/help"
	"odes.dev/odes/repl"
)

// replCmd is odes repl.
type replCmd struct {
	reading
	Model string `arg:"" optional:"" help:"Model file to start with."`
	Dark  bool   `help:"Draw pictures in files light on dark."`
	setFlag
	solverFlags
}

// Run holds a session with the user.
func (r *replCmd) Run(c *call) error {
	c.configure(r.global, formatFlag{})
	s := c.session(r.Dark)
	in, isFile := c.in.(*os.File)
	interactive := isFile && isTerminal(in) && isTerminal(c.out)
	wrong := false
	if err := c.start(s, r.Model, r.setFlag, r.solverFlags); err != nil {
		if wrong = errors.Is(err, status(exitModel)) && interactive && r.Model != "-"; !wrong {
			return err
		}
		if err := s.Mend(r.Model); err != nil {
			return err
		}
	}
	lines := repl.Piped(c.in)
	switch {
	case interactive && os.Getenv("TERM") == "dumb":
		lines = repl.Prompted(in, c.out)
	case interactive:
		var err error
		if lines, err = repl.Keyboard(s, in, file(c.out), repl.HistoryFile()); err != nil {
			return err
		}
	}
	if interactive {
		s.Say(c.out, "odes %s, a session to explore a model in: help lists what there is, Ctrl-D leaves", odes.Version)
	}
	defer lines.Close()
	if wrong {
		const say = "%s has errors: mend it here with edit, or in an editor of yours; it is read again when it changes"
		s.Say(c.out, say, r.Model)
	} else if r.Model != "" {
		s.Greet(c.out)
	}
	// Ctrl-C stops what is running and not the session.
	session, stop := signal.NotifyContext(context.WithoutCancel(c.ctx), endings()...)
	defer stop()
	done := make(chan struct{})
	defer close(done)
	context.AfterFunc(session, func() {
		lines.Close()
		select {
		case <-done:
		case <-time.After(time.Second): // some inputs cannot be closed while they are read
			os.Exit(exitInterrupted)
		}
	})
	failed, err := repl.Loop(session, s, lines, c.out)
	if session.Err() != nil {
		return status(exitInterrupted)
	}
	if err != nil {
		return err
	}
	if failed > 0 && !interactive {
		return status(exitRun)
	}
	return nil
}

// start opens the model of a session, if one is named, and sets params.
func (c *call) start(s *repl.Session, model string, set setFlag, solver solverFlags) error {
	if model == "" {
		if len(set.Set) > 0 {
			return usagef("--set needs a model to set something in")
		}
		return nil
	}
	list, err := set.assignments(c)
	if err != nil {
		return err
	}
	open := func() error { return s.Open(model) }
	if model == "-" {
		open = func() error {
			text, name, _, err := c.source(model)
			if err != nil {
				return err
			}
			return s.OpenText(name, text)
		}
	}
	if err := c.modelError(c.work(open)); err != nil {
		return err
	}
	if err := s.Set(list, solver.settings(c)); err != nil {
		return usagef("--set %v", err)
	}
	return nil
}

// session makes a session that fits the screen. Its pictures in files are light on dark if dark is set.
func (c *call) session(dark bool) *repl.Session {
	config := repl.Config{
		Width:  func() int { return c.width(c.out) },
		Colour: c.colour(c.out),
		Dark:   dark,
		Seen:   &c.seen,
		Doc: func(w io.Writer, name string) bool {
			return help.Explain(w, name, c.screen(c.out), formatEntries()...)
		},
		Near:  nearHelp,
		Words: help.Names(),
		Progress: func() (func(odes.Progress), func()) {
			var opts odes.Options
			p := c.attach(&opts)
			return opts.Progress, p.clear
		},
	}
	if in, ok := c.in.(*os.File); ok && isTerminal(in) && isTerminal(c.out) && os.Getenv("TERM") != "dumb" {
		config.Keys = rawKeys{in, file(c.out)}
	}
	if editor := editor(); len(editor) > 0 {
		config.Edit = func(path string) error {
			if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
				return errors.New("edit needs a terminal, and this session has none: declare names anew here, or " +
					"change the file and load it")
			}
			cmd := exec.Command(editor[0], append(slices.Clone(editor[1:]), path)...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("the editor %q failed: %w", editor[0], err)
			}
			return nil
		}
	}
	return repl.New(config)
}

// editor returns the user's editor and its arguments.
func editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	for _, name := range []string{"nano", "vi", "notepad"} {
		if path, err := exec.LookPath(name); err == nil || errors.Is(err, exec.ErrDot) {
			return []string{path}
		}
	}
	return nil
}
