package onesided

import (
	"slices"

	"odes.dev/odes/internal/base/sets"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// ReadsTotals tells which totals of experiments element i of the objectives reads.
func (w *Separator) ReadsTotals(i int) []bool {
	x := newDependence(w.task, nil)
	x.followAll(compiled.InputsOf(w.model.Compiled.Objective, tapec.Objectives.Name(), i))
	out := make([]bool, len(w.model.Checked.Totals))
	for k, s := range w.model.Checked.Totals {
		out[k] = x.params[s.Name]
	}
	return out
}

// Bends tells which of the folds make element i of the objectives bend.
func (w *Separator) Bends(i int, folds []Fold) []bool {
	x := newDependence(w.task, nil)
	x.followAll(compiled.InputsOf(w.model.Compiled.Objective, tapec.Objectives.Name(), i))
	out := make([]bool, len(folds))
	for k := range folds {
		in := &folds[k].Into
		seen := func(list []tapec.Name) bool {
			return slices.ContainsFunc(list, func(n tapec.Name) bool { return x.seen[n] })
		}
		out[k] = in.all || w.model.Combined() || slices.Contains(in.rows, i) || seen(in.names) ||
			slices.ContainsFunc(in.events, func(e int) bool { return x.fired[e] })
	}
	return out
}

// Fold is what makes derivatives those of one side: a kink, or what meets at one time.
type Fold struct {
	Moves sets.Set // the columns of the gradient that move it
	Into  Into     // what it makes bend
	// Smooth tells that slopes are the same on both sides, as those of x·abs(x) at 0: then second derivatives jump at
	// most.
	Smooth bool
	// Rounded tells that rounding has decided what happens there, so that no run beside tells what else may:
	// derivatives by all columns are of what did.
	Rounded bool
	// Meets tells that things come together there, so that second derivatives may jump.
	Meets bool
	// T is the time of a kink. Guards are those of a condition that a body has set to its threshold there; nil where
	// the kink is another one.
	T      float64
	Guards []int
}

// Moved reports whether anything moves the fold.
func (f *Fold) Moved() bool { return !f.Moves.Empty() }

// Mark marks the columns that move the fold in a row.
func (f *Fold) Mark(row []bool) {
	for i := range row {
		row[i] = row[i] || f.Moves.Has(i)
	}
}

// Into says what a fold makes bend: what has these names, the times of events, rows of the objectives.
type Into struct {
	all    bool
	names  []tapec.Name
	events []int
	rows   []int
}

// IntoAll is what reaches everything.
func IntoAll() Into { return Into{all: true} }

// add adds element i of an output.
func (x *Into) add(m *compiled.Model, out tapec.Name, i int) {
	switch out.Role {
	case tapec.Rate:
		out = tapec.State.Called(out.Of)
	case tapec.Integrand:
		out = tapec.Name{Role: tapec.Functionals, Of: out.Of}
	case tapec.Objectives:
		if !slices.Contains(x.rows, i) {
			x.rows = append(x.rows, i)
		}
		return
	case tapec.Margins, tapec.Truths:
		x.guard(m, i)
		return
	case tapec.State, tapec.Discrete, tapec.Functionals, tapec.HeldMode, tapec.Param:
	default: // times, and residuals
		x.all = true
		return
	}
	if !slices.Contains(x.names, out) {
		x.names = append(x.names, out)
	}
}

// guard adds what guard i decides.
func (x *Into) guard(m *compiled.Model, i int) {
	g := m.Compiled.GuardList[i]
	if g.Event >= 0 {
		if !slices.Contains(x.events, g.Event) {
			x.events = append(x.events, g.Event)
		}
		return
	}
	if n := m.ModeAt(g.Mode); g.Mode >= 0 && !slices.Contains(x.names, n) {
		x.names = append(x.names, n)
	}
}

// condition adds what the condition of guard i, or of which it is a part, decides.
func (x *Into) condition(m *compiled.Model, i int) {
	if g := m.Compiled.GuardList[i]; g.Event < 0 && g.Mode < 0 {
		x.part(m, g.Span)
		return
	}
	x.guard(m, i)
}

// part adds what the conditions that have a part at a place decide.
func (x *Into) part(m *compiled.Model, at source.Span) {
	some := false
	for i, e := range m.Checked.Events {
		for _, when := range []model.Expr{e.When, e.Crossing} {
			if when != nil && compiled.SpanWithin(at, when.Span()) && !slices.Contains(x.events, i) {
				x.events, some = append(x.events, i), true
			}
		}
	}
	for i, mode := range m.Compiled.Modes {
		if n := tapec.HeldMode.Number(i); compiled.SpanWithin(at, mode.Span) && !slices.Contains(x.names, n) {
			x.names, some = append(x.names, n), true
		}
	}
	x.all = x.all || !some
}

// Folds tells which of the variables, by columns of a row of the gradient, may move the causes of each tie apart: those
// that any of their times depends on in any way, by the events that fired, Stats.Fired, or nil for all.
func (w *Separator) Folds(ties []solvers.Meeting, fired []bool, variables []compiled.Variable, columns int,
) (list []Fold) {
	if w.model.Settles() { // others fire on the way to a steady state
		fired = nil
	}
	for i := range ties {
		causes := []cause{causeOf(ties[i].Causes[0]), causeOf(ties[i].Causes[1])}
		if j := ties[i].Many; j != nil {
			causes = w.causesAt(j)
		}
		f := Fold{Moves: sets.New(columns), Into: IntoAll(), Rounded: ties[i].Rounded}
		for k, moves := range w.movers(&ties[i], causes, fired, variables, columns) {
			if moves || f.Rounded {
				f.Moves.Add(k)
			}
		}
		if f.Rounded {
			f.Into = Into{}
			f.Into.condition(w.model, causes[1].guard)
		}
		if f.Moved() {
			list = append(list, f)
		}
	}
	return list
}

// movers tells which of the variables may move the causes of a tie apart.
func (w *Separator) movers(tie *solvers.Meeting, causes []cause, fired []bool, variables []compiled.Variable,
	columns int,
) (out []bool) {
	out = make([]bool, columns)
	x := newDependence(w.task, fired)
	// At the start states are what they begin with, but rates lead a condition to where an event happens soon.
	x.atStart = tie.Many == nil && begins(tie.Causes[1]) &&
		!(causes[0].guard >= 0 && w.model.Compiled.GuardList[causes[0].guard].Event >= 0)
	for _, c := range causes {
		x.followAll(w.inputs(c))
	}
	if j := tie.Many; j != nil {
		for _, c := range j.Fired {
			if w.setsNear(c, causes) {
				x.followAll(w.model.CauseInputs(c))
			}
		}
	}
	w.byNames(&x, variables, out)
	return out
}

// byNames marks the elements of variables that names depend on.
func (w *Separator) byNames(x *dependence, variables []compiled.Variable, out []bool) {
	total := slices.ContainsFunc(w.model.Checked.Totals, func(s *model.Symbol) bool { return x.params[s.Name] })
	for _, v := range variables { // a total may depend on anything
		if v.Initial && x.initial[v.Name] || !v.Initial && (total || x.params[v.Name]) {
			for k := range v.Len {
				out[v.Offset+k] = true
			}
		}
	}
}

// setsNear reports whether the body of an event sets what another condition reads that changes at a junction: the two
// come in either order.
func (w *Separator) setsNear(by solvers.Cause, causes []cause) bool {
	c, event := w.model.Compiled, -1
	if by.Guard >= 0 {
		event = c.GuardList[by.Guard].Event
	} else {
		event = c.InstantList[by.Instant].Event
	}
	if event < 0 || event >= len(c.Affects) || c.Affects[event] == nil {
		return false
	}
	return slices.ContainsFunc(causes, func(x cause) bool {
		return x.instant < 0 && slices.ContainsFunc(w.inputs(x), func(n tapec.Name) bool {
			_, assigned := c.Affects[event].Output(n.String())
			return assigned
		})
	})
}

// Movers tells which of the variables, by columns of a row of the gradient, move one of the params or discretes that
// are named.
func (w *Separator) Movers(names []tapec.Name, variables []compiled.Variable, columns int) []bool {
	out := make([]bool, columns)
	x := newDependence(w.task, nil)
	x.followAll(names)
	w.byNames(&x, variables, out)
	return out
}

// Reaches tells by which of the variables element i of the objectives may have derivatives other than zero: what it
// reads depends on them in the course of the run.
func (w *Separator) Reaches(i int, variables []compiled.Variable, columns int) []bool {
	return w.Movers(compiled.InputsOf(w.model.Compiled.Objective, tapec.Objectives.Name(), i), variables, columns)
}
