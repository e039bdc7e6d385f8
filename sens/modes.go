package sens

import (
	"slices"

	"odes.dev/odes/solvers"
)

// The names of the modes. Each is what the Name of its Method returns.
const (
	ModeAdjoint     = "adjoint"
	ModeTangent     = "tangent"
	ModeForward     = "forward"
	ModeContinuous  = "continuous"
	ModeBacksolve   = "backsolve"
	ModeComplex     = "complex"
	ModeDifferences = "differences"

	// DefaultMode is that of a model that names none.
	DefaultMode = ModeAdjoint
)

// Mode is a way to derivatives, as users choose it.
type Mode struct {
	Name string
	// Exact: the derivatives are those of the computed solution. Otherwise the equations are differentiated first, and
	// derivatives agree with those only as tolerances go to zero.
	Exact bool
	Lanes Lanes
	// CrossCheck names the mode that gradients of this one are checked with.
	CrossCheck string
	// Needs is what the mode asks of step methods.
	Needs solvers.Capability
	// Logs: it calls Options.Time.
	Logs bool
	Doc  string // for users: sentences
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
	{
		Name: ModeAdjoint, Exact: true, Lanes: LanesObjectives, CrossCheck: ModeTangent, Logs: true,
		Doc: "The discrete adjoint, by transposes of the steps, backwards. It is exact for the computed solution, " +
			"and its cost does not grow with the number of parameters. The default.",
	},
	{
		Name: ModeTangent, Exact: true, Lanes: LanesColumns, CrossCheck: ModeAdjoint, Logs: true,
		Doc: "Tangents of the steps, forwards. The derivatives are those of adjoint, " +
			"and the cost does not grow with the number of objectives.",
	},
	{
		Name: ModeForward, Lanes: LanesColumns, CrossCheck: ModeTangent, Logs: true,
		Doc: "Integrates the sensitivity equations with the method and " +
			"on the steps of the run.",
	},
	{
		Name: ModeContinuous, Needs: solvers.StageSums, CrossCheck: ModeTangent, Logs: true,
		Doc: "Integrates the adjoint equations backwards along the dense output of the run, " +
			"one objective at a time, in steps of their own.",
	},
	{
		Name: ModeBacksolve, Needs: solvers.StageSums, CrossCheck: ModeTangent, Logs: true,
		Doc: "Integrates the adjoint equations and the states backwards together, without the record of the run. " +
			"It fails if the backward integration is unstable, and exists for comparisons.",
	},
	{
		Name: ModeComplex, Exact: true, Needs: solvers.ComplexSteps, CrossCheck: ModeTangent,
		Doc: "Repeats the steps in complex arithmetic, with one parameter after the other " +
			"moved by a tiny imaginary number (complex step): exact, and slow.",
	},
	{
		Name: ModeDifferences, Exact: true, Needs: solvers.ComplexSteps, CrossCheck: ModeTangent,
		Doc: "Central differences over repeated steps, " +
			"extrapolated once: the least accurate mode.",
	},
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
