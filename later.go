package odes

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// laterMethods are names that the language reserves for methods to come.
var laterMethods = []string{
	"backward_euler", "trapezoidal", "implicit_midpoint", "sdirk2", "esdirk4", "rodas5p", "radau5", "bdf",
}

// notYet says of a setting that the language has and this version does not act
// on what happens instead; "" of all others. No run can do without what is needed.
func notYet(kind string, k typecheck.Setting) (what string, needed bool) {
	v := k.Value
	switch kind + "." + k.Key {
	case "solver.method":
		if slices.Contains(laterMethods, v.Word) {
			return fmt.Sprintf("solver.method %s is not available in this version; there are %s", v.Word, strings.Join(methodNames(), ", ")), true
		}
	case "solver.steady":
		return "solver.steady is not available in this version: no steady state is computed", false
	}
	return "", false
}

// asked tells where a setting was asked for, which decides how grave it is that
// this version does not have it.
type asked int

const (
	inModel  asked = iota // in the file that is run: a warning where a run makes sense without it
	onDemand              // for this run, on the command line: an error
	inCheck               // in a file that is only checked: a warning
)

// later reports a setting of notYet, and whether it was one.
func (s *settings) later(kind string, k typecheck.Setting, from asked, l *diag.List) bool {
	text, needed := notYet(kind, k)
	switch {
	case text == "":
		return false
	case from == onDemand || needed && from == inModel:
		l.Errorf(CodeNoSuchRun, k.Span, "%s", text)
	case kind == "sens":
		s.sensNotes.Warnf(CodeNoSuchRun, k.Span, "%s", text)
	default:
		s.notes.Warnf(CodeNoSuchRun, k.Span, "%s", text)
	}
	return true
}

// Check looks at a model as a whole, its settings as well, without a run in
// mind: what the language has and this version does not solve is checked too, and
// is then a warning, not an error. It returns what the model says about itself,
// and warnings and notes; the error carries what is wrong.
func Check(name, text string, opts ParseOptions) (Info, []diag.Diagnostic, error) {
	var list diag.List
	checked, _ := analyse(name, text, typecheck.Env{Files: opts.Files, CheckOnly: true, Settings: checkSettings}, &list)
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	finish(checked, true, &list)
	if err := list.Err(); err != nil {
		return Info{}, nil, err
	}
	m := &Model{checked: checked}
	return m.Info(), list.All(), nil
}

// finish reports what the checker leaves to those who run a model: settings that fit it, and, with compile, indices that
// depend on all values of a loop.
func finish(checked *typecheck.Model, compile bool, list *diag.List) {
	for _, b := range checked.Settings.Blocks {
		if b.Kind != "solver" {
			continue
		}
		s := defaults()
		for _, k := range b.Keys {
			if k.Key == "rtol" || k.Key == "atol" {
				solverKeys[k.Key](s, k.Value)
			}
		}
		s.settle(checked, list)
	}
	if compile && len(checked.Later) == 0 {
		newModel(checked, list)
	}
}

// checkSettings reports what is wrong with the settings blocks.
func checkSettings(settings typecheck.Settings, l *diag.List) {
	for _, b := range settings.Blocks {
		keys := map[string]map[string]setter{"solver": solverKeys, "sens": sensKeys}[b.Kind]
		if keys == nil {
			continue
		}
		s := defaults()
		before, at := l.Len(), source.Span{}
		for _, k := range b.Keys {
			s.apply(keys, b.Kind, k, inCheck, l)
			if k.Key == "stages" {
				at = k.Span
			}
		}
		if _, err := s.spec(); err != nil && l.Len() == before {
			l.Errorf(CodeSetting, at, "%v", err)
		}
		for _, d := range slices.Concat(s.notes.All(), s.sensNotes.All()) {
			l.Add(d)
		}
	}
}
