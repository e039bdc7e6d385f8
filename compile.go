package odes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// ParseOptions modify Parse. The zero value is ready to use.
type ParseOptions struct {
	// Files is where load, csv and import find their files; nil means that there are none. ParseFile
	// uses the model's folder, of which links cannot leave; a problem in PEtab may also name models and
	// tables above it. os.Root gives such a file system too.
	Files fs.FS
	// Experiment, if not "", is the name of an experiment. Parse then returns the model of this
	// experiment alone: with its values, events and rows of data. The objectives are those of the
	// text, in which nll is the likelihood of these rows. Other experiments are not checked.
	Experiment string
	// Times, if there are any, are those at which the tables of observations are observed, for each subject and each
	// kind of measurements: for models that are to be simulated. What else a model reads of its tables stays.
	Times []float64
	// Doses, if not nil, are another regimen: they take the place of the doses of the Experiment, or of those
	// of a model without experiments, in the table of its doses item. Measurements stay. What Doses has no
	// column for, a dose takes from the one of the subject before it, or from its first. data.ReadTable reads
	// them from a file.
	Doses *data.Table
	// Done, once closed, ends parsing, checking and compiling soon, with context.Canceled: the Done() of a context.
	Done <-chan struct{}
}

// Parse compiles the text of a model; name is used in messages. The error carries diagnostics
// (diag.Of). Warnings and notes are in Model.Warnings.
func Parse(name, text string, opts ParseOptions) (*Model, error) {
	start := time.Now()
	var list diag.List
	list.While(opts.Done)
	if opts.Doses != nil {
		return redosed(name, text, opts, &list)
	}
	checked, parsed := compile.Text(name, text, typecheck.Env{
		Files: opts.Files, Experiment: opts.Experiment, Times: opts.Times,
	}, &list)
	if list.Ended() {
		return nil, context.Canceled
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	m := run.NewModel(checked, &list)
	if list.Ended() {
		return nil, context.Canceled
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	m.Notes = list.All()
	m.Seconds.Parse, m.Seconds.Compile = parsed.Sub(start).Seconds(), time.Since(parsed).Seconds()
	return &Model{engine: m, again: func(item string, times []float64) (*Model, error) {
		if opts.Done = nil; times != nil {
			opts.Times = times
		}
		return Parse(checked.Source.Name(), checked.Source.Text()+"\n"+item+"\n", opts)
	}}, nil
}

// redosed is Parse with other doses, which are put into the table of the model before it is read.
func redosed(name, text string, opts ParseOptions, list *diag.List) (*Model, error) {
	doses := opts.Doses
	env := typecheck.Env{Files: opts.Files, Experiment: opts.Experiment}
	file, files, err := compile.Redosed(name, text, env, doses, list)
	if err != nil {
		list.Errorf(typecheck.CodeData, source.Span{}, "other doses: %v", err)
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	opts.Files, opts.Doses = files, nil
	m, err := Parse(file.Name(), file.Text(), opts)
	if found := diag.Of(err); found != nil {
		for _, d := range found {
			list.Add(d)
		}
		list.Notef(typecheck.CodeData, source.Span{}, "rows of the table are counted with the doses of %s in the "+
			"place of others", doses.Name)
		return nil, list.Err()
	}
	if err == nil {
		m.engine.Notes = append(list.All(), m.engine.Notes...)
	}
	return m, err
}

// ParseFile compiles the model in the file at path. If the file cannot be read, the error is a
// FileError.
func ParseFile(path string) (*Model, error) {
	text, err := input.File(path, nil)
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	return Parse(path, string(text), ParseOptions{Files: input.Folder(filepath.Dir(path), nil)})
}

// FileError is a file that cannot be read.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string {
	var path *fs.PathError
	if errors.As(e.Err, &path) {
		return fmt.Sprintf("cannot read %s: %v", e.Path, path.Err)
	}
	return fmt.Sprintf("cannot read %s: %v", e.Path, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// lawStates is the most states of a model whose conserved quantities are listed without being asked for.
const lawStates = 400

// Check looks for errors in the text of a model and its settings, without a run in mind. It also
// checks what the language has but this version does not solve, and warns of it. It returns what the
// model says about itself, and warnings and notes. The error carries the diagnostics (diag.Of).
func Check(name, text string, opts ParseOptions) (Info, []diag.Diagnostic, error) {
	var list diag.List
	list.While(opts.Done)
	checked, whole := compile.Check(name, text, opts.Files, &list)
	if list.Ended() {
		return Info{}, nil, context.Canceled
	}
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	found := list.All()
	m := &Model{engine: &run.Model{Checked: checked, System: whole}}
	info := m.Info()
	info.Doses = dosing("", checked)
	for _, x := range checked.Experiments {
		info.Doses = append(info.Doses, dosing(x.Name, x.Model)...)
	}
	if whole != nil && whole.States() >= 2 && whole.States() <= lawStates {
		info.Conserved = m.engine.Conserved(context.Background())
	}
	return info, found, nil
}
