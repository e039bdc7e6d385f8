package model

// FunctionalKind is the kind of a Functional.
type FunctionalKind uint8

// The functionals.
const (
	Final FunctionalKind = iota
	Initial
	Integral
	SumAt
	AtEvent
	EventTime
	Steady // at an Event that settles
	MaxOver
)

// FunctionalFacts is what is known of all functionals of a kind.
type FunctionalFacts struct {
	Name string
	Join Join
	// Firings tells that it reads firings of an event, which may not happen.
	Firings bool
}

// Join says how the value that a functional has for a whole run comes from those that it has for the parts.
type Join uint8

// The kinds of Join.
const (
	OfLast  Join = iota // it is that of the last part
	OfFirst             // or of the first
	Added               // it is their sum
	Largest             // or the largest of them
	Nowise              // parts do not tell
)

var functionalFacts = [...]FunctionalFacts{
	Final:     {Name: "final", Join: OfLast},
	Initial:   {Name: "initial", Join: OfFirst},
	Integral:  {Name: "integral", Join: Added},
	SumAt:     {Name: "sum_at", Join: Added},
	AtEvent:   {Name: "at_event", Join: Added, Firings: true},
	EventTime: {Name: "event_time", Join: Nowise, Firings: true},
	Steady:    {Name: "steady", Join: Nowise},
	MaxOver:   {Name: "max_over", Join: Largest},
}

// Facts returns what is known of the functionals of the kind.
func (k FunctionalKind) Facts() *FunctionalFacts { return &functionalFacts[k] }
