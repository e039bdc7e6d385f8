// Package policy is the table of the options of events, `, tol = 1e-3`: what each takes, where it stands, and what is
// said of it. Their values are one struct, which goes whole from the text of a model to the solvers.
package policy

// Policy is how an event happens, beside when.
type Policy struct {
	Priority float64 // decides between events at one time: higher first
	Once     bool    // each element fires once at most
	Start    bool    // it fires at the start as well if its condition holds there
	// Tol is how far in time the end of the step may lie behind the root; 0 for the last digit. What is left of the
	// root function there is held fixed by derivatives.
	Tol float64
	// Transient tells that a firing that waits for others at the same time does not happen if they make its condition
	// false. With a delay, what is pending is then cancelled.
	Transient bool
	// Of an event with a delay: Late tells that its right-hand sides have the values of the execution, not those of the
	// trigger. Most is how many executions of an element may be pending; 0 where the model does not say.
	Late bool
	Most int
}

// Delayed returns the policies of the two events that one with a delay becomes. What is asked of the condition or the
// times belongs to the trigger, and what is asked of the body to the execution.
func (p Policy) Delayed() (trigger, execution Policy) {
	trigger, execution = p, p
	trigger.Transient = false
	execution.Once, execution.Start, execution.Tol = false, false, 0
	return trigger, execution
}

// How many executions of an element may be pending where the model does not say.
const (
	manyPending = 16
	fewPending  = 2 // of an event that is not persistent
)

// Complete sets what the model does not say.
func (p *Policy) Complete() {
	if p.Most == 0 {
		if p.Most = manyPending; p.Transient {
			p.Most = fewPending
		}
	}
}

// Place is what an option is written at.
type Place struct {
	Delayed   bool // an event with a delay
	When      bool // an event by a condition or a crossing
	Condition bool // an event by a condition alone
}

// Kind is what an option takes.
type Kind uint8

// The kinds of values.
const (
	Words      Kind = iota // one of some words, whose number is the value
	Duration               // a constant that is not negative, with the unit of time
	Count                  // a whole number of at least 1
	Expression             // an expression, which the checker puts where it belongs
)

// MaxCount bounds a Count.
const MaxCount = 1 << 20

// Option is a row of the table.
type Option struct {
	Name  string
	Takes Kind
	Words []string // of Words
	What  string   // what messages call the value
	Form  string   // an example
	Text  string   // what it means
	// Set puts the value into its field.
	Set func(p *Policy, v float64)
	// Misplaced says why the option cannot stand there, with the policy that was read; "" if it can.
	Misplaced func(at Place, p *Policy) string
}

// ofDelayed is Misplaced of what only delays need.
func ofDelayed(name string) func(Place, *Policy) string {
	return func(at Place, _ *Policy) string {
		if at.Delayed {
			return ""
		}
		return "the option " + name + " belongs to an event with a delay"
	}
}

var table = []Option{
	{
		Name: "delay", Takes: Expression, What: "delay",
		Form: "event e when x > 1, delay = tau { y = 0 }",
		Text: "The time from when the condition becomes true (or the time of the event) to the execution of the body.",
	},
	{
		Name: "values", Takes: Words, Words: []string{"trigger", "execution"},
		Form: "event e when x > 1, delay = tau, values = execution { y = x }",
		Text: "Of an event with a delay: its right-hand sides have the values that they had at the `trigger` (the " +
			"default), or those at the `execution`.",
		Set:       func(p *Policy, v float64) { p.Late = v == 1 },
		Misplaced: ofDelayed("values"),
	},
	{
		Name: "persistent", Takes: Words, Words: []string{"true", "false"},
		Form: "event e when x > 1, delay = tau, persistent = false { y = 0 }",
		Text: "With `false`, a pending execution is cancelled if the condition becomes false before it.",
		Set:  func(p *Policy, v float64) { p.Transient = v == 1 },
		Misplaced: func(at Place, p *Policy) string {
			if at.Condition || !p.Transient {
				return ""
			}
			return "only the condition of `when` can cease to hold; this event is always persistent"
		},
	},
	{
		Name: "pending", Takes: Count, What: "the number of pending executions",
		Form: "event e every 1, delay = 100, pending = 128 { y += 1 }",
		Text: "How many executions of each element of an event with a delay may be pending at once; 16 without " +
			"it.",
		Set:       func(p *Policy, v float64) { p.Most = int(v) },
		Misplaced: ofDelayed("pending"),
	},
	{
		Name: "tol", Takes: Duration, What: "the tolerance of an event",
		Form: "event e when x crosses 1, tol = 1e-3 [s] { n += 1 }",
		Text: "The tolerance in time for the root of the condition; without it, the last digit of the time.",
		Set:  func(p *Policy, v float64) { p.Tol = v },
		Misplaced: func(at Place, _ *Policy) string {
			if at.When {
				return ""
			}
			return "the times of this event are known, so they have no tolerance"
		},
	},
}

// Options returns the table, in the order of the manual.
func Options() []Option { return table }

// Names returns the names of the options.
func Names() []string {
	list := make([]string, len(table))
	for i := range table {
		list[i] = table[i].Name
	}
	return list
}

// Find returns the option with a name, or nil.
func Find(name string) *Option {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// WordsOf returns the words that are values of an option; nil if it takes none, or there is no such option.
func WordsOf(option string) []string {
	if o := Find(option); o != nil {
		return o.Words
	}
	return nil
}
