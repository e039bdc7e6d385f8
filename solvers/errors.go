package solvers

import (
	"errors"
	"fmt"
	"strings"
)

// Place is where a run was when it failed. The slices are copies.
type Place struct {
	T, H      float64 // time and length of the step that was tried
	Step      int     // accepted steps so far
	Y         []float64
	D, M      []float64
	Worst     []WorstState // the states with the largest scaled error, largest first; at most three
	LastEvent string       // the last event that fired, "" before the first
	LastTime  float64      // its time
	// Stiff is the estimated size of the largest eigenvalue of ∂f/∂y where stability holds the steps short, and
	// otherwise 0.
	Stiff float64
}

// WorstState is a state that kept the step size down.
type WorstState struct {
	Name   string
	Value  float64
	Scaled float64 // estimated error over tolerance; NaN when the state is not finite
}

// At returns the place, so that any error of a run can be asked for it.
func (p *Place) At() *Place { return p }

func (p *Place) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "t = %v (step %d, h = %v)", p.T, p.Step, p.H)
	if len(p.Worst) > 0 {
		b.WriteString("; largest scaled errors:")
		for i, w := range p.Worst {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, " %s = %v (%.3g)", w.Name, w.Value, w.Scaled)
		}
	}
	if p.Stiff > 0 {
		fmt.Fprintf(&b, "; this looks stiff (largest eigenvalue about %.3g)", p.Stiff)
	}
	if p.LastEvent != "" {
		fmt.Fprintf(&b, "; last event: %s at %v", p.LastEvent, p.LastTime)
	}
	return b.String()
}

// StiffError tells that a run has become stiff and goes on best with steps that need a Jacobian; see
// Options.NoJacobian.
type StiffError struct {
	Place
	Method string // that would make the steps
}

func (e *StiffError) Error() string {
	return fmt.Sprintf("the run is stiff at %s, and would go on with method %s", e.Place.String(), e.Method)
}

// NonFiniteError tells that something that must be finite is not.
type NonFiniteError struct {
	Place
	What string // "the right-hand side", "the initial state", "the body of bounce", …
	// Stage is the first stage of the trial step whose derivative is not finite, -1 when there was no trial step.
	Stage int
	// Matrix says why the equations of an implicit step had no solution, where that was the cause.
	Matrix *MatrixError
	// Body is the firing whose body made it; Place then has the left limits. Guard is 1 + the guard that it is the
	// value of. Nil and 0 for neither.
	Body  *Firing
	Guard int
}

func (e *NonFiniteError) Error() string {
	what := e.What
	if e.Matrix != nil {
		what = e.Matrix.Error() + ", so " + what
	}
	return fmt.Sprintf("%s is not finite at %s; check the model for divisions by zero, roots and logarithms of "+
		"negative numbers",
		what, e.Place.String())
}

// StepUnderflowError tells that error control asked for steps too short to make.
type StepUnderflowError struct {
	Place
	HMin      float64
	NonFinite bool // the last trial step was not finite
	Stage     int  // in that case the first stage that was not finite
	// Matrix says why the equations of an implicit step had no solution, where that was the cause.
	Matrix *MatrixError
}

func (e *StepUnderflowError) Error() string {
	why := "the error estimate stays above the tolerance"
	if e.NonFinite {
		why = "every trial step gives NaN or infinity"
	}
	if e.Matrix != nil {
		why = e.Matrix.Error()
	}
	return fmt.Sprintf("step size too small (limit %v): %s at %s; "+
		"the problem may be stiff or singular there, or the tolerances too tight", e.HMin, why, e.Place.String())
}

// TooManyStepsError tells that MaxSteps was reached.
type TooManyStepsError struct {
	Place
	Max int
	// Matrix tells why an implicit method, which was to make steps of a stiff run, could not when it last tried, or is
	// nil.
	Matrix *MatrixError
}

func (e *TooManyStepsError) Error() string {
	return fmt.Sprintf("more than max_steps = %d steps at %s; "+
		"raise max_steps, loosen the tolerances, or shorten the time span", e.Max, e.Place.String())
}

// ChatteringError tells that events come without end, or that there are more than MaxEvents.
type ChatteringError struct {
	Place
	Event string
	Times []float64 // its last times, at most five, in order
	// Reason says what was counted: "fired 100 times within 1e-9 of the time span", …
	Reason string
	Kind   ChatterKind
	// Gap is the time between two of the last firings, of a Regular one; Limit the time where a Zeno one accumulates.
	Gap, Limit float64
	Other      string // of a Sliding event: the one that it alternates with
	Max        int    // MaxEvents, where it was reached; otherwise 0
}

// ChatterKind says how the last firings followed one another.
type ChatterKind uint8

// The kinds of sequences of firings.
const (
	// Crowded firings come after times that rounding decides about.
	Crowded ChatterKind = iota
	// Regular firings come after times that do not become shorter: there are only many of them.
	Regular
	// Zeno firings come after times that become shorter and shorter, so that infinitely many happen before Limit.
	Zeno
	// Sliding: on both sides of a switch the solution goes back to it.
	Sliding
	// Undecided: rounding alone decides whether a condition of time holds. Times are those up to which it was looked
	// for.
	Undecided
)

func (e *ChatteringError) Error() string {
	times := make([]string, len(e.Times))
	for i, t := range e.Times {
		times[i] = fmt.Sprint(t)
	}
	last := fmt.Sprintf("last times %s; at %s", strings.Join(times, ", "), e.Place.String())
	switch e.Kind {
	case Regular:
		return fmt.Sprintf("more than max_events = %d events happened; event %s comes every %.3g; %s; raise max_events",
			e.Max, e.Event, e.Gap, last)
	case Zeno:
		return fmt.Sprintf("event %s %s: its times accumulate at about %.6g; %s; stop the run with such an event, or "+
			"let it change the equations (a resting mode)", e.Event, e.Reason, e.Limit, last)
	case Sliding:
		return fmt.Sprintf("event %s is chattering: it %s, and the solution slides along its condition; %s; give the "+
			"switch a hysteresis, or write the equations of the sliding motion", e.Event, e.Reason, last)
	case Undecided:
		return fmt.Sprintf("the condition of %s %s, at %s; write it otherwise, or with a margin", e.Event, e.Reason,
			e.Place.String())
	}
	return fmt.Sprintf("event %s is chattering: it %s; %s; "+
		"stop the run with such an event, or let it change the equations (a resting mode)", e.Event, e.Reason, last)
}

// CascadeError tells that events set off events at one time without end.
type CascadeError struct {
	Place
	Events []string // those of the last rounds, in order
	Max    int
}

func (e *CascadeError) Error() string {
	return fmt.Sprintf("events set each other off at one time more than max_cascade = %d times: %s; at %s; "+
		"break the loop or raise max_cascade",
		e.Max, strings.Join(e.Events, ", "), e.Place.String())
}

// PendingError tells that an event was triggered while as many executions are pending as it has room for.
type PendingError struct {
	Place
	Event string // the element whose executions they are
	Max   int
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("more than %d executions of event %s are pending at %s; raise its option pending",
		e.Max, e.Event, e.Place.String())
}

// DelayError tells that the delay of an event is negative.
type DelayError struct {
	Place
	Event string
	Value float64
}

func (e *DelayError) Error() string {
	return fmt.Sprintf("the delay of event %s is %v at %s; it must not be negative", e.Event, e.Value, e.Place.String())
}

// CancelledError tells that the context ended the run between steps. It unwraps to the context's error.
type CancelledError struct {
	Place
	Cause error
}

func (e *CancelledError) Error() string {
	return fmt.Sprintf("stopped at %s: %v", e.Place.String(), e.Cause)
}

func (e *CancelledError) Unwrap() error { return e.Cause }

// TimeError tells that a time of the model makes no sense: an end before the start, a period that is not positive.
type TimeError struct {
	Instant int // index into Instants
	Value   float64
	Message string
}

func (e *TimeError) Error() string { return e.Message }

// Undefined reports whether a run ended because its right-hand side has no value where it is needed.
func Undefined(err error) bool {
	var short *StepUnderflowError
	if errors.As(err, &short) {
		return short.NonFinite
	}
	var bad *NonFiniteError
	return errors.As(err, &bad) && bad.Body == nil && bad.Guard == 0
}
