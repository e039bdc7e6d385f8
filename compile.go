package odes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
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

// index prepares what runs look up.
func (m *Model) index() {
	c := m.compiled
	m.functional = make([]int, m.layout.nF)
	for k := range c.Functionals {
		f := &c.Functionals[k]
		for j := range f.Shape.Size() {
			m.functional[f.Offset+j] = k
		}
		m.someNth = m.someNth || f.Nth > 0
	}
	m.rows = make([][]float64, len(c.InstantList))
	m.fixed = fixedInstants(c.Instants, len(c.InstantList))
	m.visits = make([]int, len(c.Functionals))
	for i, in := range c.InstantList {
		if in.Kind != tapec.Site || c.AtTimes[in.Group] == nil {
			continue
		}
		for _, out := range c.AtTimes[in.Group].Outputs {
			k := m.functionalAt(m.part(out.Name).offset)
			m.visits[k]++
			if t := c.Functionals[k].Table; t != nil && m.rows[i] == nil {
				for _, column := range t.Data {
					m.rows[i] = append(m.rows[i], column[in.Row])
				}
			}
		}
	}
}

// fixedInstants tells which times depend on nothing.
func fixedInstants(t *tape.Tape, n int) []bool {
	fixed := make([]bool, n)
	times, ok := t.Output("T")
	if !ok {
		return fixed
	}
	moves := tape.DependsOnFunc(t, func(string) bool { return true })
	parts := []tape.Value{times}
	if in := t.Instr(times); in != nil && in.Op == tape.Concat {
		parts = in.Args
	}
	at := 0
	for _, v := range parts {
		for range t.Shape(v).Size() {
			fixed[at] = !moves[v]
			at++
		}
	}
	return fixed
}

// functionalAt returns which functional holds element offset of the functional vector.
func (m *Model) functionalAt(offset int) int { return m.functional[offset] }

// stateName names element i of the state vector.
func (m *Model) stateName(i int) string {
	for k, p := range m.layout.states {
		if i < p.offset+p.len {
			s := m.checked.States[k]
			return elementName(s.Name, s.Type.Shape, i-p.offset)
		}
	}
	return "state " + strconv.Itoa(i+1)
}

// modeName names the mode that holds element i of the mode vector.
func (m *Model) modeName(i int) string {
	for _, mode := range m.compiled.Modes {
		if n := mode.Shape.Size(); i >= mode.Offset && i < mode.Offset+n {
			return elementName(mode.Name, mode.Shape, i-mode.Offset)
		}
	}
	return "mode " + strconv.Itoa(i+1)
}

// elementName writes "u[2,5]" for element i of an array, name for a scalar.
func elementName(name string, shape []int, i int) string {
	if len(shape) == 0 {
		return name
	}
	text := "]"
	for k := len(shape) - 1; k >= 0; k-- {
		text = strconv.Itoa(i%shape[k]+1) + text
		i /= shape[k]
		if k > 0 {
			text = "," + text
		}
	}
	return name + "[" + text
}
