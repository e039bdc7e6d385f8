package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// Choice says which blocks of a model to follow, and what overrides them.
type Choice struct {
	Solver, Sens, Fit, Ensemble string // names of blocks; "" for the unnamed ones alone
	Overrides                   []Override
	Draws                       bool // of a posterior are what runs are for
}

// Override is a key ("solver.rtol") and its value as written in a model.
type Override struct{ Key, Value string }

// asked says where a setting comes from. This decides whether it is an error or a note that this
// version does not have it.
type asked int

const (
	inModel  asked = iota // in the file that is run: a warning where a run makes sense without it
	onDemand              // for this run, on the command line: an error
	inCheck               // in a file that is only checked: a warning
)

// Resolve reads the blocks of m: first the unnamed ones, then the chosen ones, then the overrides in
// order. It reports mistakes to l.
func Resolve(m *model.Model, choice Choice, l *diag.List) Settings {
	s := defaults()
	s.Algebraic, s.Delayed = m.Algebraic(), len(m.Lags) > 0
	if len(m.Randoms)+len(m.Individual) > 0 {
		s.Populated = true
		if !choice.Draws { // modes are sought and differentiated
			s.rtol.all = ofPopulations
		}
	}
	for _, x := range m.States {
		s.States += x.Type.Shape.Size()
	}
	var wrong diag.List
	type wanted struct{ kind, name string }
	all := []wanted{
		{"solver", choice.Solver}, {"sens", choice.Sens}, {"fit", choice.Fit}, {"ensemble", choice.Ensemble},
	}
	for _, b := range keys.Blocks() {
		if !slices.Contains(known, b.Name) {
			all = append(all, wanted{b.Name, ""})
		}
	}
	for _, want := range all {
		found := want.name == ""
		for _, b := range m.Settings.Blocks {
			if b.Kind != want.kind || (b.Name != "" && b.Name != want.name) {
				continue
			}
			found = found || b.Name == want.name
			for _, k := range b.Keys {
				s.apply(want.kind, k, inModel, &wrong)
			}
			s.Ensemble.Draws = append(s.Ensemble.Draws, b.Draws...)
			if b.Rows != nil {
				s.Ensemble.Rows = b.Rows
			}
		}
		if names := Unchosen(m, want.kind); want.kind == "solver" && want.name == "" && names != nil {
			s.Notes = append(s.Notes, NoneChosen(want.kind, names))
		}
		if !found {
			wrong.Errorf(typecheck.CodeUnknown, source.Span{}, "the model has no %s block named %q", want.kind,
				want.name)
		}
	}
	for _, o := range choice.Overrides {
		s.override(o, &wrong)
	}
	if !wrong.HasErrors() {
		s.settle(m, &wrong)
	}
	for _, d := range wrong.All() {
		l.Add(d)
	}
	return s
}

// Unchosen returns the names of the blocks of a kind, if all have one: none of them holds unless it is asked for.
func Unchosen(m *model.Model, kind string) (names []string) {
	for _, b := range m.Settings.Blocks {
		switch {
		case b.Kind != kind:
		case b.Name == "":
			return nil
		default:
			names = append(names, b.Name)
		}
	}
	return names
}

// NoneChosen is the note that none of the blocks of a kind holds, which have these names.
func NoneChosen(kind string, names []string) diag.Diagnostic {
	return diag.Diagnostic{Code: CodeUnchosen, Level: diag.Note, Message: fmt.Sprintf("no %s block holds: each has a "+
		"name (%s) and none was asked for", kind, strings.Join(names, ", "))}
}

// keyForms are the forms of keys that can be overridden: those of all blocks that this version acts on.
func keyForms() (forms []string) {
	for _, kind := range parser.Blocks() {
		if keys.Of(kind) != nil {
			forms = append(forms, kind+".<key>")
		}
	}
	return forms
}

// override applies one override. Its diagnostics have no place, because the text that is parsed is in
// no file.
func (s *Settings) override(o Override, l *diag.List) {
	kind, name, ok := strings.Cut(o.Key, ".")
	if !ok || keys.Of(kind) == nil {
		l.Errorf(CodeSetting, source.Span{}, "%q is no setting; write %s", o.Key, diag.Either(keyForms()))
		return
	}
	if o.Key == "ensemble.rows" { // files are read with the model
		l.Errorf(CodeSetting, source.Span{}, "ensemble.rows cannot be set here, since the table is read with the "+
			"model; odes ensemble reads another one by --rows")
		return
	}
	var own diag.List
	value := o.Value
	if row := keys.Find(kind, name); row != nil && row.Kind == keys.Numbers && !strings.ContainsAny(value, "[\"") {
		if value = "[" + value + "]"; strings.Contains(value, ":") {
			value = strconv.Quote(o.Value)
		}
	}
	text := source.NewFile("--"+o.Key, kind+" { "+name+" = "+value+" }")
	for _, b := range typecheck.ReadSettings(parser.Parse(text, &own), &own).Blocks {
		for _, k := range b.Keys {
			s.apply(kind, k, onDemand, &own)
		}
	}
	if o.Key == "sens.hvp" { // what is said of it later has no place in a file either
		s.HVP.Span = source.Span{}
	}
	for i, d := range own.All() {
		if d.Code != CodeSetting && d.Code != typecheck.CodeSetting && d.Code != typecheck.CodeSettingValue {
			if i > 0 {
				break
			}
			d.Code = CodeSetting // it does not parse, and the first message says enough
		}
		if !strings.HasPrefix(d.Message, o.Key) {
			d.Message = o.Key + " = " + o.Value + ": " + d.Message
		}
		l.Add(diag.Diagnostic{Code: d.Code, Level: d.Level, Message: d.Message})
	}
}

// apply sets one key. It reports a mistake in its value to l.
func (s *Settings) apply(kind string, k model.Setting, from asked, l *diag.List) {
	set := setters[kind+"."+k.Key]
	if set == nil { // a value that closes its block and opens another one brings keys of that
		l.Errorf(CodeUnavailable, k.Span, "%s.%s is not available in this version", kind, k.Key)
		return
	}
	if later := owns[kind+"."+k.Key].later; later != nil {
		if text, needed := later(k.Value); text != "" {
			if from == onDemand || needed && from == inModel {
				l.Errorf(CodeUnavailable, k.Span, "%s", text)
				return
			}
			s.Notes = append(s.Notes, diag.Diagnostic{
				Code: CodeUnavailable, Level: diag.Warning, Span: k.Span,
				Message: text,
			})
			return
		}
	}
	if wrong := set(s, k.Value); wrong != "" {
		l.Errorf(CodeSetting, k.Span, "%s.%s %s", kind, k.Key, wrong)
	}
	if _, own := s.OfMethod[k.Key]; own || k.Key == "method" {
		if s.AtMethod = k.Span; from == onDemand {
			s.AtMethod = source.Span{}
		}
	}
}

// CheckBlocks reports what is wrong with the settings blocks of a model, whatever its states.
func CheckBlocks(all model.Settings, l *diag.List) {
	for _, b := range all.Blocks {
		if keys.Of(b.Kind) == nil {
			if len(b.Keys) > 0 {
				const say = "`%s` is checked, but this version does not act on it"
				l.Warnf(typecheck.CodeUnavailable, b.Keys[0].Span, say, b.Kind)
			}
			continue
		}
		s := defaults()
		before, at := l.Len(), source.Span{}
		for _, k := range b.Keys {
			s.apply(b.Kind, k, inCheck, l)
			if _, own := s.OfMethod[k.Key]; own {
				at = k.Span
			}
		}
		if _, err := s.Spec(); err != nil && l.Len() == before {
			l.Errorf(CodeSetting, at, "%v", err)
		}
		for _, d := range s.Notes {
			l.Add(d)
		}
	}
}

// CheckStates reports what does not fit the states of the model in its solver blocks.
func CheckStates(m *model.Model, l *diag.List) {
	for _, b := range m.Settings.Blocks {
		if b.Kind != "solver" {
			continue
		}
		s := defaults()
		for _, k := range b.Keys {
			if k.Key == "rtol" || k.Key == "atol" {
				setters[b.Kind+"."+k.Key](&s, k.Value)
			}
		}
		s.settle(m, l)
		for _, d := range s.Notes {
			l.Add(d)
		}
	}
}
