package odes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/unitexpr"
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
	// EventLog lets a result with thousands of events, all of them asked for with derivatives of their times, keep
	// these in a file. Events is then nil, and EachEvent reads them.
	EventLog bool
	// Progress, if set, is called now and then by a goroutine of the run.
	Progress func(Progress)
	// Done, once closed, ends Model.Prepare and Model.Simulator soon, with context.Canceled: the Done() of a context.
	Done <-chan struct{}

	only      derivatives // are computed, whatever the settings ask for
	integrals bool        // see WithoutIntegrals
	draws     bool        // see ForDraws
}

// derivatives says up to which order derivatives are computed, with no other runs that check them.
type derivatives uint8

const (
	asSet        derivatives = iota // what the settings ask for, checked as they ask for it
	onlyFirst                       // see GradientOnly
	onlySecond                      // see SecondOrder
	onlyNumbers                     // see NumbersOnly
	onlyProducts                    // see ProductsOnly
)

// GradientOnly returns o for many runs of a search: values and first derivatives, and no other runs that check them.
func (o Options) GradientOnly() Options {
	o.Direction, o.Events, o.EventTimes, o.only = nil, -1, false, onlyFirst
	return o
}

// WithoutIntegrals returns o for runs whose integrals over random effects are compared elsewhere.
func (o Options) WithoutIntegrals() Options {
	o.integrals = true
	return o
}

// ForDraws returns o for runs of a posterior. Draws are right for any slopes, and do not change with errors of a
// density that are small beside 1: integrals over random effects are as accurate as that asks for, and the default of
// rtol is that of models without random effects.
func (o Options) ForDraws() Options {
	o.draws = true
	return o
}

// NumbersOnly is GradientOnly for runs whose numbers alone are read: results do not tell which derivatives are those of
// one side.
func (o Options) NumbersOnly() Options {
	o = o.GradientOnly()
	o.only = onlyNumbers
	return o
}

// SecondOrder returns o for many runs of a search: values, first derivatives and Hessians, and no other runs that check
// them.
func (o Options) SecondOrder() Options {
	o.Direction, o.Events, o.EventTimes, o.only = nil, -1, false, onlySecond
	return o
}

// ProductsOnly returns o for many runs by n numbers in all: values, first derivatives, and Hessians times vectors
// (Runner.Products), and no other runs that check them.
func (o Options) ProductsOnly(n int) Options {
	o.Direction, o.Events, o.EventTimes, o.only = make([]float64, n), -1, false, onlyProducts
	return o
}

// Assignment sets the parameter Name to Values, row-major. One value fills an array. Name may have
// subscripts ("A[1,2]"), or be "initial(x)" for the initial value of a state. Values are in Unit ("m/s^2"),
// and in that of the model if Unit is "". In the model of one experiment alone, "k in lab" sets k if that is lab, and
// is passed over otherwise.
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
	from, err := unitexpr.Read(a.Unit)
	if err != nil {
		return a, fmt.Errorf("%s in [%s]: %w", a.Name, a.Unit, err)
	}
	t, _ := target.Parse(a.Name)
	symbols := m.engine.Checked.Params
	if t.Initial {
		symbols = m.engine.Checked.States
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

// Memory returns how many bytes solver.memory names; 0 where nothing does.
func (m *Model) Memory(opts Options) int64 {
	return m.resolve(opts, &diag.List{}).Solver.Memory
}

// Wanted returns what runs with opts compute: the objectives, without values, and the variables that they are
// differentiated by, with the number of columns of a row of the gradient.
func (m *Model) Wanted(opts Options) (values []Value, variables []Variable, columns int, err error) {
	var l diag.List
	s := m.resolve(opts, &l)
	values = m.engine.Objectives(s.Of, &l)
	variables, columns = m.engine.Variables(s.Wrt, &l)
	return values, variables, columns, l.Err()
}

// Manner is what options say of many runs. Warm: searches for steady states begin at those of other runs. Compared:
// with independent runs. Derivatives are under error control (Control), or where a comparison shows that (AutoControl).
// Steps are as long as asked for, whatever the tolerances (Fixed).
type Manner struct{ Warm, Compared, Control, AutoControl, Fixed bool }

// Manner returns that of runs with opts.
func (m *Model) Manner(opts Options) Manner {
	s := m.resolve(opts, &diag.List{}) // what is wrong is told by those who prepare runs
	return Manner{
		Warm:     m.engine.System.Settles() && s.SteadyStart == settings.WarmStart,
		Compared: s.Trust, Fixed: s.Solver.Fixed > 0,
		Control: s.Control == settings.ControlOn, AutoControl: s.Control == settings.ControlAuto,
	}
}

// WarmStarts reports whether opts ask for searches for steady states that begin at those of other runs.
//
// Deprecated: Manner says so as Warm.
func (m *Model) WarmStarts(opts Options) bool { return m.Manner(opts).Warm }

// While returns options of what is prepared until ctx ends.
func (o Options) While(ctx context.Context) Options {
	o.Done = ctx.Done()
	return o
}

// setup resolves opts for runs. Nothing behind it reads options again: a run that repeats another one by other means
// takes a changed copy of what comes of this. Mistakes are told when the run begins, with those that only it can find.
func (m *Model) setup(opts Options) run.Setup {
	s := run.Setup{
		Sides: true, Lanes: opts.Lanes, Gradient: opts.Gradient, Events: opts.Events, EventTimes: opts.EventTimes,
		EventLog: opts.EventLog, Progress: opts.Progress, Done: opts.Done,
		Integrals: opts.integrals, Draws: opts.draws,
	}
	s.Settings = m.resolve(opts, &s.Wrong)
	for _, x := range m.engine.Experiments {
		var its run.PartSettings
		its.Settings = (&Model{engine: x.Model}).resolve(opts, &its.Wrong)
		s.Parts = append(s.Parts, its)
	}
	s.Set = m.overrides(opts.Set, &s.Wrong)
	if opts.Sens == "" {
		s.Unchosen = settings.Unchosen(m.engine.Checked, "sens")
	}
	return s
}

// resolve returns the settings that the blocks of the model and opts lead to. It reports mistakes in
// them to l.
func (m *Model) resolve(opts Options, l *diag.List) settings.Settings {
	if err := simd.Err(); err != nil {
		l.Errorf(CodeSetting, source.Span{}, "%v", err)
	}
	choice := settings.Choice{Solver: opts.Solver, Sens: opts.Sens, Fit: opts.Fit, Draws: opts.draws}
	for _, o := range opts.Settings {
		choice.Overrides = append(choice.Overrides, settings.Override(o))
	}
	s := settings.Resolve(m.engine.Checked, choice, l)
	if m.engine.Part { // the text names objectives of the whole
		s.Of = nil
	}
	if opts.Of != nil {
		s.Of = opts.Of
	}
	if opts.Wrt != nil {
		s.Wrt = make([]target.Target, len(opts.Wrt))
		for i, text := range opts.Wrt {
			s.Wrt[i], _ = target.Parse(text) // what is unknown is reported where variables are looked up
		}
	}
	if opts.Threads > 0 {
		s.Threads = opts.Threads
	}
	if opts.Direction != nil {
		s.HVP = settings.Vector{List: opts.Direction}
	}
	if opts.only != asSet {
		s.GradientOnly()
	}
	switch opts.only {
	case onlySecond:
		s.Order = 2
	case onlyProducts:
		s.HVP = settings.Vector{List: opts.Direction}
	}
	s.Numbers = opts.only == onlyNumbers
	return s
}

// overrides returns assignments in the units of the model.
func (m *Model) overrides(set []Assignment, l *diag.List) []compiled.Override {
	if len(set) == 0 {
		return nil
	}
	list := make([]compiled.Override, 0, len(set))
	for _, a := range set {
		a, here := scoped(m, a, l)
		if !here {
			continue
		}
		a, err := m.Convert(a)
		if err != nil {
			l.Errorf(CodeOverride, source.Span{}, "%v", err)
		}
		list = append(list, compiled.Override{Name: a.Name, Values: a.Values})
	}
	return list
}

// scoped returns an assignment without the experiment that it is for, and whether this is a model of that.
func scoped(m *Model, a Assignment, l *diag.List) (of Assignment, here bool) {
	at := strings.LastIndex(a.Name, " in ")
	if at < 0 {
		return a, true
	}
	name, experiment := strings.TrimSpace(a.Name[:at]), strings.TrimSpace(a.Name[at+len(" in "):])
	checked := m.engine.Checked
	among := checked.Among
	if checked.Alone == "" {
		among = m.engine.Names()
	}
	switch {
	case !slices.Contains(among, experiment):
		l.Errorf(CodeOverride, source.Span{}, "cannot set %q: there is no experiment %q%s", a.Name, experiment,
			diag.DidYouMean(experiment, among))
	case checked.Alone == "" && checked.Random(name) != nil:
		l.Errorf(CodeOverride, source.Span{}, "cannot set %q: the likelihood is integrated over random effects; they "+
			"have values in the model of one experiment alone: --in %s", a.Name, experiment)
	case checked.Alone == "":
		l.Errorf(CodeOverride, source.Span{}, "cannot set %q: that is for the model of one experiment alone: --in %s; "+
			"for all at once, the experiment itself sets values", a.Name, experiment)
	}
	a.Name = name
	return a, checked.Alone == experiment
}

// point returns the parameters after assignments.
func (m *Model) point(set []Assignment, l *diag.List) *compiled.Point {
	return m.engine.System.NewPoint(m.overrides(set, l), l)
}
