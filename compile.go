package odes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odes.dev/odes/internal/compile"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// ParseOptions modify Parse. The zero value is ready to use.
type ParseOptions struct {
	// Files is where load and csv find their files; nil means there are none. ParseFile uses the model's folder.
	Files fs.FS
	// Experiment makes the model that of one of its experiments alone: with the values, events and rows of data of
	// that, and the objectives of the text, of which nll is the likelihood of these rows. "" is the model as a whole.
	Experiment string
}

// Parse compiles the text of a model; name is used in messages. The error
// carries diagnostics (diag.Of).
func Parse(name, text string, opts ParseOptions) (*Model, error) {
	start := time.Now()
	var list diag.List
	checked, parsed := compile.Text(name, text, typecheck.Env{Files: opts.Files, Experiment: opts.Experiment}, &list)
	if err := list.Err(); err != nil {
		return nil, err
	}
	m := newModel(checked, &list)
	if err := list.Err(); err != nil {
		return nil, err
	}
	m.notes = list.All()
	m.seconds = CompileSeconds{Parse: parsed.Sub(start).Seconds(), Compile: time.Since(parsed).Seconds()}
	return m, nil
}

// ParseFile compiles the model at path.
func ParseFile(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	return Parse(path, string(text), ParseOptions{Files: os.DirFS(filepath.Dir(path))})
}

// newModel makes a Model, and those of its experiments, of what the checker found.
func newModel(checked *typecheck.Model, list *diag.List) *Model {
	whole, parts := compile.Model(checked, list)
	if whole == nil {
		return nil
	}
	m := &Model{checked: checked, system: whole, explain: explain.New(whole)}
	for i, x := range checked.Experiments {
		its := &Model{checked: x.Model, system: parts[i], explain: explain.New(parts[i]), isExperiment: true}
		m.experiments = append(m.experiments, &experiment{x.Name, its})
	}
	return m
}

// FileError says that a file could not be read or written.
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

// Check looks at a model as a whole, its settings as well, without a run in
// mind: what the language has and this version does not solve is checked too, and
// is then a warning, not an error. It returns what the model says about itself,
// and warnings and notes; the error carries what is wrong.
func Check(name, text string, opts ParseOptions) (Info, []diag.Diagnostic, error) {
	var list diag.List
	checked := compile.Check(name, text, opts.Files, &list)
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	return (&Model{checked: checked}).Info(), list.All(), nil
}
