package run

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// Setup says what a run is to do.
type Setup struct {
	// Settings are as they were asked for: settings.Auto where the choice is open. They name objectives and variables.
	Settings settings.Settings
	// Parts are the settings of the experiments, in file order, which may change consts that settings read.
	Parts []PartSettings
	// Set overrides parameters and initial values, in order, in the units of the model.
	Set []compiled.Override
	// Lanes is the number of objectives swept together, or of variables; 0 leaves it to the run.
	Lanes int
	// Gradient, if large enough, is the memory for the derivatives.
	Gradient []float64
	// Events is how many events a result describes: 0 means all, a negative number none. EventTimes asks for the
	// derivatives of their times, and EventLog allows a log in place of a list of thousands.
	Events               int
	EventTimes, EventLog bool
	// Progress, if set, is called now and then by a goroutine of the run.
	Progress func(result.Progress)
	// Done, once closed, ends what prepares the run, with context.Canceled; nil for never.
	Done <-chan struct{}
	// Unchosen are the names of the model's sens blocks, where each has one and none was chosen.
	Unchosen []string
	// Wrong is what is wrong with the wishes that the Setup was made from. Whoever begins a run adds what else is.
	Wrong diag.List

	// Method takes the place of that of the settings, and CompileAfter says when whole steps are compiled, if they are
	// not nil: tests set them.
	Method *solvers.Spec
	// Beside is how many experiments there are whose runs are recorded at once, this one among them; 0 for others.
	Beside int
	// Sides has derivatives on both sides of coincidences decide about marks: without it, runs on both sides do.
	Sides bool
	// Integrals tells that somebody else compares those over random effects.
	Integrals bool
	// Draws tells that the density of a posterior is computed, whose slopes need not be exact.
	Draws        bool
	CompileAfter *compiled.CompileAfter
}

// PartSettings are the settings of an experiment, and what is wrong with them.
type PartSettings struct {
	Settings settings.Settings
	Wrong    diag.List
}

// With returns a copy with other settings. Runs that the library makes for itself repeat a run with such changes, in a
// model and in each of its experiments.
func (s Setup) With(change func(s *settings.Settings)) Setup {
	change(&s.Settings)
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		change(&s.Parts[i].Settings)
	}
	return s
}

// part returns a copy for experiment i.
func (s Setup) part(i int) Setup {
	s.Settings, s.Wrong, s.Parts = s.Parts[i].Settings, s.Parts[i].Wrong, nil
	return s
}

// InPhase returns a copy with all phases of its runs told as one.
func (s Setup) InPhase(phase string) Setup {
	if tell := s.Progress; tell != nil {
		s.Progress = func(p result.Progress) {
			p.Phase = phase
			tell(p)
		}
	}
	return s
}

// lanes returns how many of m objectives or variables to sweep together.
func (s Setup) lanes(m int) int {
	if s.Lanes <= 0 {
		return chooseLanes(m)
	}
	return min(s.Lanes, max(m, 1))
}

// Variables resolves wrt: params, initial values and "all". nil means every param, and the
// initial value of every state whose initial value is a literal. It returns the variables, and the
// columns of a row of the gradient.
func (m *Model) Variables(wrt []target.Target, l *diag.List) (list []result.Variable, columns int) {
	type key struct {
		name    string
		initial bool
	}
	listed := map[key]bool{}
	add := func(name string, initial bool, unit string, shape []int) {
		if listed[key{name, initial}] {
			return
		}
		listed[key{name, initial}] = true
		v := result.Variable{
			Name: name, Initial: initial, Unit: unit, Shape: shape, Offset: columns, Written: m.Checked.Written(name),
		}
		list = append(list, v)
		columns += v.Size()
	}
	all := func() {
		for _, s := range m.Checked.Params {
			if !s.Random { // which nll() is integrated over
				add(s.Name, false, s.Type.Unit.String(), s.Type.Shape)
			}
		}
		for _, s := range m.Checked.States {
			if s.Literal && s.Kind == model.StateSymbol {
				add(s.Name, true, s.Type.Unit.String(), s.Type.Shape)
			}
		}
	}
	if wrt == nil {
		all()
	}
	index := map[key][]int{} // of params and states
	if len(wrt) > 0 {
		for i, s := range m.Checked.Params {
			index[key{s.Name, false}] = append(index[key{s.Name, false}], i)
		}
		for i, s := range m.Checked.States {
			index[key{s.Name, true}] = append(index[key{s.Name, true}], i)
		}
	}
	for _, t := range wrt {
		if t.Text == "all" {
			all()
			continue
		}
		inner := t.Name + t.Subscripts
		symbols := m.Checked.Params
		if t.Initial {
			symbols = m.Checked.States
		}
		found := index[key{inner, t.Initial}]
		for _, i := range found {
			s := symbols[i]
			if s.Random && !m.Part && len(m.Experiments) > 0 {
				l.Errorf(typecheck.CodeUnknown, s.Span, "cannot differentiate by %q: it is a random effect, and nll() "+
					"is integrated over it", t.Text)
				continue
			}
			if s.Kind == model.AlgSymbol {
				l.Errorf(typecheck.CodeUnknown, source.Span{},
					"cannot differentiate by %q: the alg %q follows from the "+
						"algebraic "+
						"equations at the start as well, and its guess has no influence", t.Text, s.Name)
				continue
			}
			add(s.Name, t.Initial, s.Type.Unit.String(), s.Type.Shape)
		}
		if len(found) == 0 {
			what := "param"
			if t.Initial {
				what = "state"
			}
			hint := m.Checked.Instead(t.Name)
			if hint == "" {
				hint = diag.DidYouMean(inner, compiled.Names(symbols))
			}
			d := l.Errorf(typecheck.CodeUnknown, source.Span{}, "cannot differentiate by %q: the model has no %s %q%s",
				t.Text,
				what, inner, hint)
			for _, s := range symbols {
				if t.Subscripts != "" && s.Name == t.Name && len(s.Type.Shape) > 0 {
					whole := target.Target{Name: s.Name, Initial: t.Initial}
					d.Message = fmt.Sprintf("cannot differentiate by %q: %s is one variable, an array; name the "+
						"whole: %s", t.Text, s.Name, whole)
				}
			}
			for _, s := range m.Checked.States {
				if !t.Initial && s.Name == inner {
					d.Message = fmt.Sprintf("cannot differentiate by state %q; write initial(%s) for its initial value",
						inner, inner)
				}
			}
		}
	}
	return list, columns
}

// objective is a scalar objective: an element of an objective of the model.
type objective struct {
	value result.Value
	unit  units.Unit
	row   int // position in psi
	of    *model.Objective
}

// objectivesOf resolves of: names of objectives, single elements ("y[3]"), and "all", which nil means
// as well. Each comes once.
func (m *Model) objectivesOf(of []string, l *diag.List) []objective {
	var all []objective
	bySource := map[string][]objective{}
	byElement := map[string]objective{}
	var known []string
	row := 0
	for _, o := range m.Checked.Objectives {
		var shape []int
		for _, ix := range o.Indices {
			shape = append(shape, ix.Count)
		}
		shape = append(shape, o.Value.Type().Shape...)
		size := 1
		for _, d := range shape {
			size *= d
		}
		known = append(known, o.Name)
		for i := range size {
			e := objective{row: row, of: o, unit: o.Value.Type().Unit, value: result.Value{
				Name: compiled.ElementName(o.Name, shape, i), Doc: o.Doc,
				Unit: o.Value.Type().Unit.String(), Relation: o.Relation,
			}}
			row++
			all = append(all, e)
			bySource[o.Name] = append(bySource[o.Name], e)
			byElement[e.value.Name] = e
		}
	}
	if of == nil {
		return all
	}
	var list []objective
	listed := map[int]bool{}
	named := func(name string) []objective {
		if e, ok := byElement[name]; ok && bySource[name] == nil {
			return []objective{e}
		}
		return bySource[name]
	}
	for _, name := range of {
		found := named(name)
		if found == nil { // as it stands blanks are a part of the name; else they are those of "y[1, 2]"
			name = strings.ReplaceAll(name, " ", "")
			found = named(name)
		}
		if found == nil && name == "all" {
			found = all
		} else if found == nil {
			l.Errorf(typecheck.CodeUnknown, source.Span{}, "the model has no objective %q%s", name,
				diag.DidYouMean(name, known))
		}
		for _, e := range found { // what is named twice is shown once
			if !listed[e.row] {
				listed[e.row] = true
				list = append(list, e)
			}
		}
	}
	return list
}

// Objectives resolves of as runs do: names of scalar objectives, arrays of them, or "all", which nil means as well. The
// objectives have no values.
func (m *Model) Objectives(of []string, l *diag.List) []result.Value {
	var list []result.Value
	for _, o := range m.objectivesOf(of, l) {
		list = append(list, o.value)
	}
	return list
}
