package sens

import "slices"

// Mode is a way to derivatives, as users choose it.
type Mode struct {
	Name string
	// Exact: the derivatives are those of the computed solution. Otherwise the equations are differentiated first, and
	// derivatives agree with those only as tolerances go to zero.
	Exact bool
	Lanes Lanes
	Doc   string // for users: sentences
}

// Lanes says what a sweep over the run carries side by side.
type Lanes uint8

// The kinds of lanes.
const (
	LanesNone       Lanes = iota // one objective, or one variable, at a time
	LanesObjectives              // so many objectives
	LanesColumns                 // so many elements of params and initial values
)

// modes are all modes. A mode joins by a row here and one with its constructor, in the package that runs models.
var modes = []Mode{
	{Name: "adjoint", Exact: true, Lanes: LanesObjectives, Doc: "The transposes of the steps taken, backwards: " +
		"exact for the computed run, at a cost that does not grow with the number of parameters. The default."},
	{Name: "tangent", Exact: true, Lanes: LanesColumns, Doc: "The tangents of the steps taken, forwards: " +
		"the same derivatives, at a cost that does not grow with the number of objectives."},
	{Name: "forward", Lanes: LanesColumns, Doc: "Integrates the sensitivity equations with the method and " +
		"on the steps of the run."},
	{Name: "continuous", Doc: "Integrates the adjoint equations backwards along the dense output of the run, " +
		"one objective at a time, in steps of their own."},
	{Name: "backsolve", Doc: "Integrates the adjoint equations and the states backwards together, without the run. " +
		"It fails where the way back is unstable; it is here to be compared with."},
	{Name: "complex", Exact: true, Doc: "Repeats the steps in complex arithmetic, one parameter after the other " +
		"moved by a tiny imaginary number: exact, and slow."},
	{Name: "differences", Exact: true, Doc: "Repeats the steps with parameters moved to both sides, " +
		"extrapolated once: the least accurate."},
}

// Modes returns all modes, the default first.
func Modes() []Mode { return slices.Clone(modes) }

// LookupMode returns the mode of that name.
func LookupMode(name string) (Mode, bool) {
	i := slices.IndexFunc(modes, func(m Mode) bool { return m.Name == name })
	if i < 0 {
		return Mode{}, false
	}
	return modes[i], true
}
