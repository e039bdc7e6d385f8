package odes

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// Options say how to run a model. The zero value follows the model's own solver and sens blocks.
type Options struct {
	// Set overrides parameters and initial values, in order. A later assignment wins.
	Set []Assignment
	// Solver, Sens and Fit choose settings blocks by name. "" is the block without a name.
	Solver, Sens, Fit string
	// Settings override keys of the blocks: {"solver.rtol", "1e-9"}, {"sens.mode", "tangent"}. Values
	// are written as in a model.
	Settings []Setting
	// Of names objectives ("J", "y[3]") and Wrt variables ("k1", "A", "initial(x)"). nil follows the
	// sens block.
	Of, Wrt []string
	// Direction, if not nil, is the vector that Hessians are multiplied with, in place of the sens
	// block's hvp. It is laid out like a row of the gradient. The Hessians themselves come with
	// {"sens.order", "2"}.
	Direction []float64
	// Times are where Solve reports outputs, ascending, in the model's unit of time. nil means the end
	// of every step.
	Times []float64
	// Threads is the number of goroutines; 0 follows the settings, whose default is one per core.
	// Lanes is the number of objectives swept together, or of variables; 0 leaves it to the library,
	// and more than there are become as many. Results depend on neither.
	Threads, Lanes int
	// Gradient, if large enough, is the memory for the derivatives. Otherwise it is allocated.
	Gradient []float64
	// Events is how many events the result of Sensitivities describes, from the first on: 0 means all of them, and a
	// negative number none. The grid of a control is known without a run, so its pieces are described only where all
	// is. EventTimes asks for the derivatives of the times of these as well.
	Events     int
	EventTimes bool
	// EventLog allows the result not to list the events where it is asked for all of them, with derivatives of their
	// times, and there are thousands. EachEvent then reads them, from a file.
	EventLog bool
	// Progress, if set, is called now and then by a goroutine of the run.
	Progress func(Progress)

	compileAfter *system.CompileAfter // when whole steps are compiled; nil: when it pays
	spec         *solvers.Spec        // of the method; nil: that of the settings
	// change, if set, changes the resolved settings. The library uses it for runs of its own.
	change func(s *settings.Settings)
}

// Assignment sets the parameter Name to Values, row-major. One value fills an array. Name may have
// subscripts ("A[1,2]"), or be "initial(x)" for the initial value of a state. Values are in Unit ("m/s^2"),
// and in that of the model if Unit is "".
type Assignment struct {
	Name   string
	Values []float64
	Unit   string
}

// Convert returns an assignment with values in the unit of what it sets. The error says that its unit does not exist,
// or has another dimension.
func (m *Model) Convert(a Assignment) (Assignment, error) {
	if a.Unit == "" {
		return a, nil
	}
	from, err := typecheck.ReadUnit(a.Unit)
	if err != nil {
		return a, fmt.Errorf("%s in [%s]: %w", a.Name, a.Unit, err)
	}
	t, _ := target.Parse(a.Name)
	symbols := m.checked.Params
	if t.Initial {
		symbols = m.checked.States
	}
	at := slices.IndexFunc(symbols, func(s *model.Symbol) bool { return s.Name == t.Name })
	if at < 0 {
		return a, nil // what sets it says so
	}
	to := symbols[at].Type.Unit
	switch {
	case !to.Known():
		return a, fmt.Errorf("%s has no unit, and cannot be set in [%s]", a.Name, a.Unit)
	case !from.SameDimension(to):
		return a, fmt.Errorf("%s is in [%s], and cannot be set in [%s]", a.Name, to, a.Unit)
	}
	out := Assignment{Name: a.Name, Values: slices.Clone(a.Values)}
	factor := units.Factor(from, to)
	for i, v := range out.Values {
		out.Values[i] = float64(v * factor)
	}
	return out, nil
}

// Setting is a key of a settings block and its value, written as in a model.
type Setting struct{ Key, Value string }

// inPhase returns o with all phases of its runs told as one.
func (o Options) inPhase(phase string) Options {
	if tell := o.Progress; tell != nil {
		o.Progress = func(p Progress) {
			p.Phase = phase
			tell(p)
		}
	}
	return o
}

// Memory returns how many bytes solver.memory names; 0 where nothing does.
func (m *Model) Memory(opts Options) int64 {
	return m.resolve(opts, &diag.List{}).Solver.Memory
}

// resolve returns the settings that the blocks of the model and opts lead to. It reports mistakes in
// them to l.
func (m *Model) resolve(opts Options, l *diag.List) settings.Settings {
	if err := simd.Err(); err != nil {
		l.Errorf(CodeSetting, source.Span{}, "%v", err)
	}
	choice := settings.Choice{Solver: opts.Solver, Sens: opts.Sens, Fit: opts.Fit}
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
		s.Wrt = make([]target.Target, len(opts.Wrt))
		for i, text := range opts.Wrt {
			s.Wrt[i], _ = target.Parse(text) // variables reports what it does not know
		}
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

// Wanted returns what runs with opts compute: the objectives, without values, and the variables that they are
// differentiated by, with the number of columns of a row of the gradient.
func (m *Model) Wanted(opts Options) (values []Value, variables []Variable, columns int, err error) {
	var l diag.List
	s := m.resolve(opts, &l)
	for _, o := range m.objectivesOf(s.Of, &l) {
		values = append(values, o.value)
	}
	variables, columns = m.variables(s.Wrt, &l)
	return values, variables, columns, l.Err()
}

// lanes returns how many of m objectives or variables to sweep together.
func (opts Options) lanes(m int) int {
	if opts.Lanes <= 0 {
		return chooseLanes(m)
	}
	return min(opts.Lanes, max(m, 1))
}

// changed returns opts with one more change of the settings that they lead to, in a model and in each
// of its experiments. Runs that the library makes for itself repeat a run with such changes.
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

// variables resolves wrt: params, initial values and "all". nil means every param, and the
// initial value of every state whose initial value is a literal. It returns the variables, and the
// columns of a row of the gradient.
func (m *Model) variables(wrt []target.Target, l *diag.List) (list []Variable, columns int) {
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
		v := Variable{Name: name, Initial: initial, Unit: unit, Shape: shape, Offset: columns}
		list = append(list, v)
		columns += v.Size()
	}
	all := func() {
		for _, s := range m.checked.Params {
			add(s.Name, false, s.Type.Unit.String(), s.Type.Shape)
		}
		for _, s := range m.checked.States {
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
		for i, s := range m.checked.Params {
			index[key{s.Name, false}] = append(index[key{s.Name, false}], i)
		}
		for i, s := range m.checked.States {
			index[key{s.Name, true}] = append(index[key{s.Name, true}], i)
		}
	}
	for _, t := range wrt {
		if t.Text == "all" {
			all()
			continue
		}
		inner := t.Name + t.Subscripts
		symbols := m.checked.Params
		if t.Initial {
			symbols = m.checked.States
		}
		found := index[key{inner, t.Initial}]
		for _, i := range found {
			s := symbols[i]
			if s.Kind == model.AlgSymbol {
				l.Errorf(CodeUnknown, source.Span{}, "cannot differentiate by %q: the alg %q follows from the "+
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
			hint := m.checked.Instead(t.Name)
			if hint == "" {
				hint = diag.DidYouMean(inner, system.Names(symbols))
			}
			d := l.Errorf(CodeUnknown, source.Span{}, "cannot differentiate by %q: the model has no %s %q%s", t.Text,
				what, inner, hint)
			for _, s := range symbols {
				if t.Subscripts != "" && s.Name == t.Name && len(s.Type.Shape) > 0 {
					whole := target.Target{Name: s.Name, Initial: t.Initial}
					d.Message = fmt.Sprintf("cannot differentiate by %q: %s is one variable, an array; name the "+
						"whole: %s", t.Text, s.Name, whole)
				}
			}
			for _, s := range m.checked.States {
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
	value Value
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
	for _, o := range m.checked.Objectives {
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
			e := objective{row: row, of: o, unit: o.Value.Type().Unit, value: Value{
				Name: system.ElementName(o.Name, shape, i), Doc: o.Doc,
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
			l.Errorf(CodeUnknown, source.Span{}, "the model has no objective %q%s", name, diag.DidYouMean(name, known))
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
