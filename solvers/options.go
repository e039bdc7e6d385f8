package solvers

import "slices"

// Options say how accurately Solve works, and within which limits. The zero value of a field is the default that its
// comment names. A tag is the key of a settings block that sets the field.
type Options struct {
	RTol float64 // relative tolerance; with ATol and ATols zero too: 1e-6
	// ATol is the absolute tolerance; with RTol and ATols zero too: 1e-9. Below zero, as BySize, it follows the size of
	// each state, as package sizes has it; so do those of ATols.
	ATol float64
	// RTols and ATols, when set, are tolerances per state, [N], instead of RTol and ATol.
	RTols, ATols []float64
	Norm         NormKind
	// QuadTol is the relative tolerance of the quadratures, of the sum of the sizes of their increments so far. The
	// absolute one, of a mean integrand over the run, is QuadTol·1e-3. 0: the smallest of the relative and of the
	// absolute tolerances of the states. A negative number leaves the quadratures out of error control.
	QuadTol float64
	// Quadratures are those that error control looks at; nil: all.
	Quadratures []int

	// Unbounded lets the steps of an explicit method be longer than what is stable, as far as their errors allow.
	Unbounded bool

	// NoJacobian tells that the system has no Jacobian yet, though it could have. A run that steps with one would make
	// cheaper ends with a *StiffError.
	NoJacobian bool
	// Explicit tells that the implicit members of a method are to make no steps.
	Explicit bool

	// Traces lets steps follow states that are small beside their absolute tolerance, to a hundredth of their size, and
	// what grows faster than an implicit step is long: what comes of them may matter later.
	Traces bool
	// Also, when set, gives a second norm of the error of a trial step, in units of the tolerance. The larger norm
	// counts.
	Also func(s *Step) float64

	H0   float64 `key:"solver.h0"`   // first step; 0: chosen from the right-hand side
	HMin float64 `key:"solver.hmin"` // smallest step of error control; those that something ends may be shorter
	HMax float64 `key:"solver.hmax"` // largest step; 0: none
	// Fixed is the length of every step in fixed-step mode, without error control; 0: adaptive.
	Fixed    float64 `key:"solver.fixed_step"`
	MaxSteps int     `key:"solver.max_steps"` // accepted and rejected steps together; 0: 1,000,000

	// Observe says how the run meets its observation sites.
	Observe ObserveKind `key:"solver.observe"`

	EventRules
	// Meetings has no warnings for Stats.Meetings: whoever sets it tells of them. Bends asks for Stats.Bends.
	Meetings, Bends bool
	// Memory limits the bytes of a recorded Trajectory; 0: no limit.
	Memory int64 `key:"solver.memory"`
}

// EventRules say in which order events of one time happen, and when there are too many.
type EventRules struct {
	// EventTol is the distance in time within which events form one group. 0: ten units in the last place of |t| or
	// of the step, whichever is larger.
	EventTol   float64 `key:"solver.event_tol"`
	MaxCascade int     `key:"solver.max_cascade"` // rounds of events that events set off at one time; 0: 100
	MaxEvents  int     `key:"solver.max_events"`  // events and mode changes of a run; 0: 10,000
	// Each evaluates the guards after every body of a group instead of after every round. What becomes true by a body
	// then competes by priority with what still waits.
	Each bool `key:"solver.recheck"`
	// Shuffled makes events of equal priority, at one time, happen in an order that Seed draws. Otherwise it is that of
	// the file.
	Shuffled bool
	Seed     uint64
}

// ObserveKind says how a run meets its observation sites.
type ObserveKind uint8

// The kinds of observing. Sites that coincide with an event, or with the start or the end of the run, are read there
// in any case.
const (
	// ObserveAuto is ObserveDense for more than 16 sites if the method's dense output is at most one order below the
	// method, as that of every registered method is. Otherwise it is ObserveClip. So it depends on the model and the
	// method alone.
	ObserveAuto  ObserveKind = iota
	ObserveClip              // steps end at the sites
	ObserveDense             // sites are read inside steps, by dense output; they do not shorten steps
)

// BySize is the absolute tolerance of states for which it follows their sizes.
const BySize = -1

// Sized reports whether the absolute tolerance of some state follows its size.
func (o *Options) Sized() bool {
	return o.ATols == nil && o.ATol < 0 || slices.ContainsFunc(o.ATols, func(x float64) bool { return x < 0 })
}

// Stats count what a run did.
type Stats struct {
	Steps    int // accepted, those of length zero within groups of events not counted
	Rejected int // trial steps that error control, a NaN or an event sent back
	// NotFinite of the rejected steps gave something that is not a finite number, and Singular had equations without a
	// solution; the error of the others was too large.
	NotFinite, Singular int
	Evals               int // right-hand sides
	ImplicitWork
	Events   int   // firings
	Switches int   // changes of mode at a located root
	Located  int   // real steps taken to find roots of guards
	Sought   int   // of Rejected: to come nearer to an event
	Made     []int // steps that each member of the method made
	Changes  int   // of the member of the method that makes the steps
	// Drift is the most tolerable errors that an algebraic unknown was seen to be off at the end of a step, and Drifts
	// which one.
	Drift  float64
	Drifts int
	// Faint counts steps that error control made nearly as short as the rounding of time: what follows may lie beyond a
	// place where there is no solution.
	Faint int
	// Warnings tell the user of places where derivatives do not exist and of times that never came.
	Warnings []Warning
	// Meetings are causes that came at one time, or nearly, and may come at others. In another order, the result or its
	// derivatives may be others.
	Meetings []Meeting
	// Bends are pairs with a kink, at which nothing changes. Second derivatives may be others where the two come one
	// after the other.
	Bends   []Meeting
	Fired   []bool  // of each event whether it did; nil where nothing of these two is noted
	T       float64 // where the run ended
	Stopped bool    // an event ended it before tf
	By      string  // that event
}

// WarningKind classifies warnings of a run.
type WarningKind uint8

// The kinds of warning.
const (
	// Grazing: the trajectory meets a guard nearly tangentially, so the event may come or go with a tiny change of
	// parameters. Value is the slope of the guard relative to that of a head-on meeting.
	Grazing WarningKind = iota
	// Tie: two simultaneous events, which nothing moves apart, give different results in the other order. Other names
	// the later one.
	Tie
	// OneSided: two causes come at one time, or the second one Value behind the first, and can come apart. Derivatives
	// by what moves them apart may be those of the order in which they came.
	OneSided
	_ // numbers of the others stay
	// Brink: the body of the event Other left the condition of an event at its threshold but for rounding, Value, which
	// decides whether it fires.
	Brink
	// Outside: an explicit time, Value, lies outside the time span, so it never comes.
	Outside
	// Past: the body of the event Other set the explicit time of an event to Value, which is past, so it never comes.
	Past
	// Rest: the guard of an event turned back within rounding after the event's body. The event will not fire any
	// more until its condition has been false for a representable time.
	Rest
	// Stiff: stability, not accuracy, has kept the steps short since T. Value is the estimated size of the largest
	// eigenvalue of ∂f/∂y there.
	Stiff
	// Unseen: a known function of time in the right-hand side has a peak, about T, that no stage of the fixed steps
	// shows.
	Unseen
	// Hidden: a guard stays so near its root from about T on, or swings so fast beside it, that roots between samples
	// may be missed.
	Hidden
	// Disputed: a step is so long that its dense output has the root of a guard at Value, far from T, where steps have
	// it. Other guards may have changed between the two without being seen.
	Disputed
	// Drift: algebraic unknown Name is Value tolerable errors away from what its equations say.
	Drift
	// Unstable: steps of fixed length are longer than what is stable, so that what is fast grows where it should die
	// out. Value is the estimated size of the largest eigenvalue of ∂f/∂y at T.
	Unstable
	// Standing: the condition of an event, of all its elements, held from the start on and was never false, so it did
	// not fire.
	Standing
	// Together: several of the conditions that guards are made of change at one time, and can come apart. Name and
	// Other are two of them.
	Together
	// Ended: like Standing, but the condition became false, and never true again.
	Ended
	// NearMiss: a guard turned back at a distance of Value from its root, which is less than the run may be off. So the
	// event, or the change of mode, may come for the exact solution.
	NearMiss
	// Extension: at Value points a function of the right-hand side was asked for outside of its domain, by no more
	// than states may be off, and taken at the edge.
	Extension
	// Unresolved: from about T on, part Name of the right-hand side may have been large for a moment without being
	// seen.
	Unresolved
	// Skirted: about T, part Name of the right-hand side is large for states that are not farther away than the run may
	// be off, but not for those of the run, which turn or end there.
	Skirted
	// Branch: behind event Name, algebraic unknowns are on another branch of the solutions of their equations than
	// before: the one that they were on does not lead there. Without a name, the branch of the guesses has no solution.
	Branch
)

// Meeting is what met at T: a pair of causes, or many conditions.
type Meeting struct {
	Causes [2]Cause  // Nth is 0
	Names  [2]string // of the causes, or of two conditions
	Many   *Junction // of conditions, instead of two causes; nil for none
	Gap    float64   // how long after the first the second one came, or would have; 0 for at one time
	// Rounded tells that rounding has decided whether the second one, a condition, holds.
	Rounded bool
	T       float64
}

// Warning tells of the meeting.
func (m *Meeting) Warning() Warning {
	kind := OneSided
	if m.Many != nil {
		kind = Together
	}
	return Warning{Kind: kind, T: m.T, Name: m.Names[0], Other: m.Names[1], Value: m.Gap, Instant: -1}
}

// Observation is the Other of a warning about an event and an observation whose times can come apart: on one side of
// the event the observation sees the jump. Start and Finish are those of warnings about an event and the start, or the
// end, of the run.
const (
	Observation = "an observation"
	Start       = "the start"
	Finish      = "the end"
	Last        = "the last time it may come"
)

// Warning is something the user should know about a run that did not fail.
type Warning struct {
	Kind    WarningKind
	T       float64
	Name    string // of the event or mode; for Outside also "site" and the like
	Other   string
	Instant int     // index into Instants for Outside and Past, otherwise -1
	Value   float64 // of a OneSided: the time between the two
}
