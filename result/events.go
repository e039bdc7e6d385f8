package result

import (
	"cmp"
	"slices"
	"strconv"

	"odes.dev/odes/lang/target"
)

// Event is an event, or a change of mode, that happened.
type Event struct {
	Name  string
	Kind  string // "event", "if", "control" for an end of a piece of a control
	Index []int  // of an array event's element, 1-based; nil otherwise
	T     float64
	// Params are the derivatives of T by the variables, laid out like a row of the gradient. nil
	// unless Options.EventTimes asks for them.
	Params []float64
	// Errors estimate how far each of Params is from the derivative of the exact solution, and Error
	// how far T is from the exact time. They are nil and 0 where no independent run was made, and where
	// it lacks the event.
	Errors []float64
	Error  float64
	Trust  Trust   // of T
	Trusts []Trust // of Params; nil where all are sound
	// OneSided are those of Params that are others on the other side, as far as both are known.
	OneSided []TimeSides
	// Written is the form in which elements are written where Name is of copies of a component: "c[].spike"; else "".
	Written string `form:"-"`
}

// TimeSides are the derivatives of the time of an event by column Column on both sides. One is NaN where the event does
// not come on that side, or another one of its kind does.
type TimeSides struct {
	Column       int
	Left, Right  float64
	Coincidences []int // of Sensitivities.OneSided, that make them differ
}

// OnBothSides returns the derivatives of the time by column k on both sides; false where they are one.
func (e *Event) OnBothSides(k int) (b TimeSides, ok bool) {
	for _, b := range e.OneSided {
		if b.Column == k {
			return b, true
		}
	}
	return b, false
}

// Label names the event with its index: "dose[2]", "c[3].spike".
func (e *Event) Label() string {
	subs := make([]string, len(e.Index))
	for k, i := range e.Index {
		subs[k] = strconv.Itoa(i)
	}
	return target.Subscripted(cmp.Or(e.Written, e.Name), subs)
}

// Worst returns the worst grade of the time and of its derivatives.
func (e *Event) Worst() Trust {
	worst := e.Trust
	if len(e.Trusts) > 0 {
		worst = max(worst, slices.Max(e.Trusts))
	}
	return worst
}

// EventLog reads the events of a run that has too many to list them.
type EventLog interface {
	// Each calls f with each event, in order, until f returns an error. The event and its slices hold until f returns.
	Each(f func(*Event) error) error
	// Close gives up what the events are read from.
	Close()
}
