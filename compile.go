package odes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

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

func parseFile(path string) (*Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	return parse(path, string(text), ParseOptions{Files: os.DirFS(filepath.Dir(path))})
}

// parse is the pipeline: text → tree → checked model → tapes → programs.
func parse(name, text string, opts ParseOptions) (*Model, error) {
	start := time.Now()
	var list diag.List
	checked, parsed := analyse(name, text, typecheck.Env{Files: opts.Files, Experiment: opts.Experiment}, &list)
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

// analyse parses and checks; it returns nil when list holds an error, and the moment between the two.
func analyse(name, text string, env typecheck.Env, list *diag.List) (*typecheck.Model, time.Time) {
	tree := parser.Parse(source.NewFile(name, text), list)
	parsed := time.Now()
	checked := typecheck.Check(tree, env, list)
	if checked == nil {
		return nil, parsed
	}
	addStates(checked)
	return checked, parsed
}

// addStates makes the states the outputs of models that name none.
func addStates(m *typecheck.Model) {
	for _, x := range append([]*typecheck.Experiment{{Model: m}}, m.Experiments...) {
		if len(x.Model.Outputs) == 0 {
			x.Model.Outputs = states(x.Model)
		}
	}
}

// states are the outputs of a model that names none.
func states(m *typecheck.Model) []*typecheck.Output {
	var list []*typecheck.Output
	for _, x := range m.States {
		value := &typecheck.Ref{Base: typecheck.Base{T: x.Type, S: x.Span}, Sym: x}
		list = append(list, &typecheck.Output{Name: x.Name, Value: value, Doc: x.Doc, Span: x.Span})
	}
	return list
}
