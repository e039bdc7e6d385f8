package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// load compiles the model at path, where "-" is standard input, or one of its experiments, and shows its warnings and
// notes.
func (c *call) load(path, experiment string) (m *odes.Model, err error) {
	bar := c.reading(path, "compiling")
	var notes diag.List
	err = c.work(func() (err error) {
		text, name, folder, err := c.source(path)
		if err != nil {
			return err
		}
		files := input.Folder(folder, &c.seen)
		if c.doses != "" {
			if name, text, files, err = c.redosed(files, name, text, experiment, &notes); err != nil {
				return err
			}
		}
		m, err = odes.Parse(name, text, odes.ParseOptions{Files: files, Experiment: experiment, Done: c.ctx.Done()})
		return err
	})
	bar.clear()
	if err != nil {
		if c.doses != "" && diag.Of(err) != nil {
			c.complain(typecheck.CodeData, "rows of the table are counted with the doses of "+c.doses+
				" in the place of others")
		}
		return nil, c.modelError(err)
	}
	c.diagnose(append(notes.All(), m.Warnings()...))
	return m, nil
}

// redosed returns the name, the text and the files of a model with the doses of --doses.
func (c *call) redosed(
	files fs.FS, name, text, experiment string, notes *diag.List,
) (string, string, fs.FS, error) {
	doses, err := data.ReadTable(input.Folder(filepath.Dir(c.doses), &c.seen), filepath.Base(c.doses))
	var file *source.File
	if err == nil {
		env := typecheck.Env{Files: files, Experiment: experiment}
		file, files, err = compile.Redosed(name, text, env, doses, notes)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", nil, usagef("--doses: there is no file %s", c.doses)
	case err != nil:
		return "", "", nil, usagef("--doses: %v", err)
	case notes.HasErrors():
		return "", "", nil, notes.Err()
	}
	return file.Name(), file.Text(), files, nil
}

// reading is watch while a model is read, but for one that is being typed.
func (c *call) reading(path, doing string) *progress {
	if path == "-" {
		return &progress{c: c}
	}
	return c.watch(doing)
}

// inspect checks all of the model at path, whatever a run would use of it.
func (c *call) inspect(path string) (info odes.Info, err error) {
	var found []diag.Diagnostic
	bar := c.reading(path, "checking")
	err = c.work(func() error {
		text, name, folder, err := c.source(path)
		if err != nil {
			return err
		}
		info, found, err = odes.Check(name, text, odes.ParseOptions{
			Files: input.Folder(folder, &c.seen), Done: c.ctx.Done(),
		})
		return err
	})
	bar.clear()
	if err != nil {
		return info, c.modelError(err)
	}
	c.diagnose(found)
	return info, nil
}

// modelError shows the diagnostics that err carries: the model is wrong, or it found too little memory.
func (c *call) modelError(err error) error {
	list := diag.Of(err)
	if list == nil || c.ctx.Err() != nil {
		return err
	}
	c.diagnose(list)
	for _, d := range list {
		switch {
		case d.Code == odes.CodeMemory:
			return status(exitRun)
		case d.Code == typecheck.CodeUndefined && d.Span.IsZero(): // the experiment of --in
			return status(exitUsage)
		}
	}
	return status(exitModel)
}

// errInternal marks errors that are bugs of odes.
var errInternal = errors.New("internal error")

// work does f, and returns soon after Ctrl-C even where f does not look at the context.
func (c *call) work(f func() error) error {
	err, done := c.workFor(time.Second, f)
	if done && err == nil && c.ctx.Err() != nil { // done, but too late for the user
		err = c.ctx.Err()
	}
	return err
}

// workFor is work for what has so long to come to an end after Ctrl-C. It tells whether f has returned.
func (c *call) workFor(patience time.Duration, f func() error) (err error, returned bool) {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				text := fmt.Sprintf("%v; please report it, with the model", r)
				if c.verbose {
					text += "\n" + string(debug.Stack())
				}
				done <- fmt.Errorf("%w: %s", errInternal, text)
			}
		}()
		deepen(false)
		done <- f()
	}()
	select {
	case err := <-done:
		return err, true
	case <-c.ctx.Done():
	}
	select {
	case err := <-done:
		return err, true
	case <-time.After(patience):
		return c.ctx.Err(), false
	}
}

// deepen makes room on the stack for all that a model needs. Otherwise the stack would be copied each time that it is
// full, with more and more calls on it, and a small model would wait for that longer than for its solution.
//
//go:noinline
func deepen(use bool) (last byte) {
	if use { // never, as it would write all of the room
		var room [50 << 10]byte
		last = touch(&room)
	}
	return last
}

//go:noinline
func touch(room *[50 << 10]byte) byte { return room[len(room)/2] }

// heading says which model a result belongs to.
func heading(m *odes.Model) report.Heading {
	info := m.Info()
	return report.Heading{
		Model: info.Name, File: info.File, Experiment: info.Experiment, Time: info.Time, TimeUnit: info.TimeUnit,
		Warnings: m.Warnings(),
	}
}

// tableOptions returns options that fit a table to the screen that w is, if it is one.
func (c *call) tableOptions(w io.Writer) report.TableOptions {
	if s, ok := w.(*sink); ok {
		w = s.Writer
	}
	return report.TableOptions{Width: c.width(w), Bold: c.colour(w), All: c.verbose}
}
