package odes

import (
	"odes.dev/odes/internal/settings"
	"odes.dev/odes/internal/simd"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// Codes of diagnostics about settings and runs.
const (
	CodeSetting   = settings.CodeSetting
	CodeNoSuchRun = settings.CodeUnavailable
)

// SettingRow explains settings that go together.
type SettingRow = typecheck.SettingRow

// SettingRows explains the keys of a settings block: "solver", "sens" or "fit".
func SettingRows(block string) []SettingRow { return typecheck.SettingRows(block) }

// SettingValues returns the words that a key of a settings block ("solver", "sens") takes; nil for keys that take
// something else.
func SettingValues(block, key string) []string { return settings.Words(block, key) }

// resolve returns what the blocks of the model and opts say. What is wrong with it goes to l.
func (m *Model) resolve(opts Options, l *diag.List) settings.Settings {
	if err := simd.Err(); err != nil {
		l.Errorf(CodeSetting, source.Span{}, "%v", err)
	}
	choice := settings.Choice{Solver: opts.Solver, Sens: opts.Sens}
	for _, o := range opts.Settings {
		choice.Overrides = append(choice.Overrides, settings.Override(o))
	}
	s := settings.Resolve(m.checked, choice, l)
	if m.isExperiment { // the text names objectives of the whole
		s.Of = nil
	}
	if opts.Of != nil {
		s.Of = opts.Of
	}
	if opts.Wrt != nil {
		s.Wrt = opts.Wrt
	}
	if opts.Threads > 0 {
		s.Threads = opts.Threads
	}
	if opts.Direction != nil {
		s.HVP = settings.Vector{List: opts.Direction}
	}
	if opts.change != nil {
		opts.change(&s)
	}
	return s
}

// changed returns opts with a change of the settings that they lead to, in a model and in each of its experiments.
// Runs that the library makes for itself are repetitions with such changes.
func (opts Options) changed(change func(s *settings.Settings)) Options {
	first := opts.change
	opts.change = func(s *settings.Settings) {
		if first != nil {
			first(s)
		}
		change(s)
	}
	return opts
}
