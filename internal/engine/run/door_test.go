package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// tested is a model that takes options as tests write them, in place of a Setup.
type tested struct{ *Model }

// Options are those of package odes that tests here use, and what only tests say.
type Options struct {
	Set                  []Assignment
	Settings             []Setting
	Of, Wrt              []string
	Direction            []float64
	Threads, Lanes       int
	EventTimes, EventLog bool
	Progress             func(result.Progress)
	Done                 <-chan struct{}
	compileAfter         *compiled.CompileAfter
	spec                 *solvers.Spec
}

// Assignment sets a param.
type Assignment = compiled.Override

// Setting is a key of a settings block and its value.
type Setting struct{ Key, Value string }

// ParseOptions are none.
type ParseOptions struct{}

// Parse compiles the text of a model.
func Parse(name, text string, _ ParseOptions) (*tested, error) {
	var l diag.List
	checked, _ := compile.Text(name, text, typecheck.Env{}, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	m := NewModel(checked, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	m.Notes = l.All()
	return &tested{m}, nil
}

// ParseFile compiles the model of a file.
func ParseFile(path string) (*tested, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var l diag.List
	checked, _ := compile.Text(path, string(text), typecheck.Env{Files: os.DirFS(filepath.Dir(path))}, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	m := NewModel(checked, &l)
	if m == nil {
		return nil, errors.Join(l.Err(), errors.New("no model"))
	}
	m.Notes = l.All()
	return &tested{m}, nil
}

// setup resolves options.
func (m *tested) setup(o Options) Setup {
	s := Setup{
		Set: o.Set, Lanes: o.Lanes, EventTimes: o.EventTimes, EventLog: o.EventLog, Progress: o.Progress,
		Done:         o.Done,
		CompileAfter: o.compileAfter, Method: o.spec, Unchosen: settings.Unchosen(m.Checked, "sens"),
	}
	var choice settings.Choice
	for _, x := range o.Settings {
		choice.Overrides = append(choice.Overrides, settings.Override(x))
	}
	s.Settings = settings.Resolve(m.Checked, choice, &s.Wrong)
	for _, x := range m.Experiments {
		var its PartSettings
		its.Settings = settings.Resolve(x.Model.Checked, choice, &its.Wrong)
		s.Parts = append(s.Parts, its)
	}
	return s.With(func(s *settings.Settings) {
		if o.Of != nil {
			s.Of = o.Of
		}
		for _, text := range o.Wrt {
			t, _ := target.Parse(text)
			s.Wrt = append(s.Wrt[:len(s.Wrt):len(s.Wrt)], t)
		}
		if o.Threads > 0 {
			s.Threads = o.Threads
		}
		if o.Direction != nil {
			s.HVP = settings.Vector{List: o.Direction}
		}
	})
}

func (m *tested) Prepare(o Options) (*Runner, error) { return m.Model.Prepare(m.setup(o)) }

func (m *tested) Sensitivities(ctx context.Context, o Options) (*result.Sensitivities, error) {
	r, err := m.Prepare(o)
	if err != nil {
		return nil, err
	}
	return r.Sensitivities(ctx)
}

func (m *tested) Solve(ctx context.Context, o Options) (*result.Solution, error) {
	s, err := m.Simulator(m.setup(o))
	if err != nil {
		return nil, err
	}
	return s.Solve(ctx, nil)
}

func (m *tested) Along(ctx context.Context, o Options, variables []result.Variable) (*Along, error) {
	return m.Model.Along(ctx, m.setup(o), variables)
}

func (m *tested) Scales(o Options) ([]float64, error) { return m.Model.Scales(m.setup(o)) }
