package solvers

// EndKind says what determines the length of a step.
type EndKind uint8

// The kinds of end.
const (
	EndFree EndKind = iota // the length itself, chosen by error control, which is not differentiated
	EndClip                // the step ends at an instant: h = T(p, d) - t
	EndRoot                // the step ends at a root of a guard: g(t+h, y1, p) = 0
)

// End is how a step ended. It decides how the end moves with parameters. It has four fields at most: Go keeps larger
// structs in memory, and gradients of small models took a tenth longer on their way back.
type End struct {
	Kind  EndKind
	Index int // of the instant or the guard
	Nth   int // of an InstantEvery: which occurrence, from 0
	At    EndAt
}

// EndAt says more of the end of a step of length zero, in bits.
type EndAt uint8

// The bits of EndAt.
const (
	// EndHere tells that the time of the instant was set at this very time: the step ends there by the discretes that
	// are current, not by those before the group of events.
	EndHere EndAt = 1 << iota
)

// Has reports whether a has a bit.
func (a EndAt) Has(bit EndAt) bool { return a&bit != 0 }

// MarkKind says what a mark marks.
type MarkKind uint8

// The kinds of mark.
const (
	MarkStart  MarkKind = iota // the run begins; y and d are the initial values
	MarkFire                   // the body of an event
	MarkMode                   // modes change at the root of a guard
	MarkRemode                 // modes are chosen anew at an instant
	MarkSite                   // an observation
	MarkFinal                  // the run ends
)

// Mark is something that happens at one time, at the end of the step before it; a site may also lie within that step.
// The left and right limits are the same slices where nothing jumps. The left limits of a site are those before its
// group of events.
type Mark struct {
	Kind    MarkKind
	T       float64
	Firing  Firing // of MarkFire; see Guard.Piece
	Guard   int    // what caused a MarkFire or MarkMode, or -1
	Caused  bool   // a jump at the same time took that guard there: it is not at its root
	Instant int    // what caused a MarkFire, MarkRemode or MarkSite, or -1
	Stop    bool   // the body stopped the run
	// Inside tells that a MarkSite lies within the step before it, at Theta (0 < Theta ≤ 1) of its length. Then Ym =
	// Yp is the dense output there. Such marks come first after their step.
	Inside     bool
	Theta      float64
	Ym, Dm, Mm []float64 // left limits of states, discretes, modes
	Yp, Dp, Mp []float64 // right limits
}

// Happens reports whether m is an event or a change of mode, rather than a place that something is read at.
func (m *Mark) Happens() bool { return m.Kind == MarkFire || m.Kind == MarkMode }

// Sink receives a run as it is made. Steps come in order of time, each followed by what happens at its end.
// Simultaneous events are separated by steps of length zero where these end at a guard or instant of their own. What
// is passed is valid until the method returns. An error ends the run.
type Sink interface {
	// Begin comes first. The system and the method may be used for interpolation during calls of Step.
	Begin(sys System, m Method) error
	Step(s *Step, e End) error
	Mark(m *Mark) error
}

// Lender is a Sink that keeps the stages and the ends of steps, and would rather have them computed in its own memory
// than copy them. It must not interpolate the steps that it is passed: there is no room for stages of the dense
// output.
type Lender interface {
	Sink
	// Lends reports whether there will be anything to lend in the run that began. It is asked once, and then Lend is
	// called for each step or not at all.
	Lends() bool
	// Lend returns memory for y1 and the stages of the next step that is passed, which that member of the method makes,
	// or nil. It may be called more than once for the same step. What was passed may be read from there until the run
	// ends.
	Lend(member int) (y1, k []float64)
}

// Sinks passes a run on to several sinks, in order.
type Sinks []Sink

// Begin implements Sink.
func (all Sinks) Begin(sys System, m Method) error {
	for _, s := range all {
		if err := s.Begin(sys, m); err != nil {
			return err
		}
	}
	return nil
}

// Step implements Sink.
func (all Sinks) Step(st *Step, e End) error {
	for _, s := range all {
		if err := s.Step(st, e); err != nil {
			return err
		}
	}
	return nil
}

// Mark implements Sink.
func (all Sinks) Mark(m *Mark) error {
	for _, s := range all {
		if err := s.Mark(m); err != nil {
			return err
		}
	}
	return nil
}
