package solvers

// Options say how accurately and within which limits Solve works. The zero
// value of every field is the default that its comment names.
type Options struct {
	RTol float64 // relative tolerance; with ATol and ATols zero too: 1e-6
	ATol float64 // absolute tolerance; with RTol and ATols zero too: 1e-9
	// RTols and ATols, when set, are tolerances per state, [N], in place of RTol and ATol.
	RTols, ATols []float64
	Norm         NormKind
	// QuadTol brings the quadratures under error control, with this relative tolerance and QuadTol·1e-3
	// as absolute one. 0 leaves them out of the error norm.
	QuadTol float64

	// Also, when set, gives a further norm of the error of a trial step, in units of the tolerance; the larger counts.
	Also func(s *Step) float64

	H0   float64 // first step; 0: chosen from the right-hand side
	HMin float64 // smallest step that error control may choose; clipped and event-ended steps may be shorter
	HMax float64 // largest step; 0: none
	// Fixed is the length of every step in fixed-step mode, without error control; 0: adaptive.
	Fixed    float64
	MaxSteps int // accepted and rejected steps together; 0: 1,000,000

	// Observe says how the run meets its observation sites.
	Observe ObserveKind

	// EventTol is the distance in time within which events form one group. 0: ten units in the last
	// place of the larger of |t| and the step.
	EventTol   float64
	MaxCascade int // rounds of events that events set off at one time; 0: 100
	MaxEvents  int // events and mode changes of a run; 0: 10,000
	// Memory limits the bytes of a recorded Trajectory; 0: no limit.
	Memory int64
}

// ObserveKind says how a run meets its observation sites.
type ObserveKind uint8

// The kinds of observing. Sites that coincide with an event, or with the start or the end of the run, are read there
// in any case.
const (
	// ObserveAuto is ObserveDense for more than 16 sites, if the method's dense output is at most one order
	// below the method, as that of every registered one is, and otherwise ObserveClip: it depends on the model and the
	// method alone.
	ObserveAuto  ObserveKind = iota
	ObserveClip              // steps end at the sites
	ObserveDense             // sites are read inside steps, by dense output; they do not shorten steps
)

// manySites is the number of sites from which ObserveAuto reads them inside steps.
const manySites = 16

// inside reports whether sites are read inside steps of m.
func (o *Options) inside(list []Instant, m Info) bool {
	if o.Observe != ObserveAuto {
		return o.Observe == ObserveDense
	}
	n := 0
	for i := range list {
		if list[i].Kind == InstantSite {
			n++
		}
	}
	return n > manySites && m.DenseOrder+1 >= m.Order
}

// withDefaults fills in the zero fields.
func (o Options) withDefaults() Options {
	if o.RTol == 0 && o.ATol == 0 && o.RTols == nil && o.ATols == nil {
		o.RTol, o.ATol = 1e-6, 1e-9
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = 1_000_000
	}
	if o.MaxCascade == 0 {
		o.MaxCascade = 100
	}
	if o.MaxEvents == 0 {
		o.MaxEvents = 10_000
	}
	return o
}

// tolerance returns the error norm that the options ask for.
func (o *Options) tolerance() Tolerance {
	tol := Tolerance{Rel: o.RTol, Rels: o.RTols, Abs: o.ATols, Kind: o.Norm, QuadRel: o.QuadTol, QuadAbs: float64(1e-3 * o.QuadTol)}
	if tol.Abs == nil {
		tol.Abs = []float64{o.ATol}
	}
	return tol
}

// Stats count what a run did.
type Stats struct {
	Steps    int // accepted, those of length zero within groups of events not counted
	Rejected int // trial steps that error control, a NaN or an event sent back
	Evals    int // right-hand sides
	Events   int // firings
	Switches int // changes of mode at a located root
	Located  int // real steps taken to find roots of guards
	// Warnings are what the user should know: places where derivatives do not exist, times that never came.
	Warnings []Warning
	T        float64 // where the run ended
	Stopped  bool    // an event ended it before tf
}

// WarningKind classifies warnings of a run.
type WarningKind uint8

// The kinds of warning.
const (
	// Grazing: a trajectory meets a guard nearly tangentially, so the event may come or go with a tiny
	// change of parameters. Value is the ratio of the guard's slope to what it would be head-on.
	Grazing WarningKind = iota
	// Tie: two simultaneous events give different results in the other order. Other names the second. Apart tells that
	// their times can come apart, so that no priority mends it.
	Tie
	// OneSided: two simultaneous events give the same result in either order, but moved apart it changes
	// differently to either side, so that derivatives are one-sided. The second may be a change of mode, the first too
	// where the second is an observation or the end.
	OneSided
	// Edge: a condition stands on its threshold at the start, so that an event comes or goes, or the run begins in
	// another mode, with a tiny change of parameters.
	Edge
	// Outside: an explicit time Value lies outside the time span, so it never comes.
	Outside
	// Rest: an event's guard turned back within rounding after its body; it will not fire again until
	// its condition has been false for a representable time.
	Rest
	// Stiff: stability, not accuracy, holds the steps short since T. Value is the size of the largest
	// eigenvalue of ∂f/∂y there, estimated.
	Stiff
)

// Observation is the Other of a Tie between an event and an observation whose times can come apart: on one side of
// it the observation sees the jump. Finish is that of one between an event and the end.
const (
	Observation = "an observation"
	Finish      = "the end"
)

// Warning is something the user should know about a run that did not fail.
type Warning struct {
	Kind    WarningKind
	T       float64
	Name    string // of the event or mode; for Outside also "site" and the like
	Other   string
	Apart   bool
	Instant int // index into Instants for Outside, otherwise -1
	Value   float64
}
