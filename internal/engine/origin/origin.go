// Package origin says where numbers come from that are not finite, and why values did not come about.
package origin

import (
	"fmt"
	"strings"
	"sync"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Origin is where a number that is not finite comes from.
type Origin struct {
	Span  source.Span // of an expression of the text; zero where there is none
	Cause string      // in words, such as "0/0"; "" where that is not known
	Row   string      // where it comes from a row of a table: ` in row 2 of "D" (t = 2), where "x" is 0`
	Needs string      // in that case what the noise demands: "; normal needs sd > 0"
}

// Expression returns the text of the expression, on one line.
func (o Origin) Expression() string { return strings.Join(strings.Fields(o.Span.Text()), " ") }

// String says what is wrong with the expression: `"log(x)" is the logarithm of a negative number`.
func (o Origin) String() string {
	if o.Cause == "" {
		return fmt.Sprintf("%q is not a finite number", Short(o.Expression()))
	}
	return fmt.Sprintf("%q is %s", Short(o.Expression()), o.Cause)
}

// Short cuts an expression that would fill the screen.
func Short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// Notes keep, by elements of the functionals of a run, where numbers come from that are not finite, and why values did
// not come about. Goroutines may share them.
type Notes struct {
	mu    sync.Mutex
	from  map[int]Origin
	lacks map[int]Lack
}

// Lacks notes why element i did not come about.
func (n *Notes) Lacks(i int, l Lack) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lacks == nil {
		n.lacks = map[int]Lack{}
	}
	n.lacks[i] = l
}

// Lack tells why element i did not come about, if a firing of an event is missing.
func (n *Notes) Lack(i int) (Lack, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l, ok := n.lacks[i]
	return l, ok
}

// First notes where the first number of element i comes from that is not finite, unless that is known: then find is not
// called.
func (n *Notes) First(i int, find func() Origin) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.from[i]; known {
		return
	}
	if n.from == nil {
		n.from = map[int]Origin{}
	}
	n.from[i] = find()
}

// Origin returns where the first number of element i comes from that is not finite; false where that is not known, or
// where it is not finite because it did not come about.
func (n *Notes) Origin(i int) (Origin, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	o, ok := n.from[i]
	return o, ok
}

// Clear forgets all.
func (n *Notes) Clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.from)
	clear(n.lacks)
}

// Lack says why a functional did not come about that reads one firing of an event, or at times.
type Lack struct {
	Event string // "" where it is read at times
	Array bool
	Fired int // how often it fired in the run, of an array that element which is read

	T, From, To float64 // a time outside of the run, and the run
}

// String returns a clause.
func (l Lack) String() string {
	if l.Event == "" {
		return fmt.Sprintf("%s lies outside of the run, from %s to %s", diag.Number(l.T), diag.Number(l.From),
			diag.Number(l.To))
	}
	name := l.Event
	if l.Array {
		name = "this element of " + name
	}
	if l.Fired == 0 {
		return name + " did not fire in this run"
	}
	return name + " fired " + diag.Count(l.Fired, "time") + " in this run"
}

// ValueAt returns the value of the scalar expression at a place of the text.
func ValueAt(e *tape.Evaluator[float64], at source.Span) (float64, bool) {
	t := e.Tape()
	for v := range tape.Value(t.Values()) {
		name := ""
		if int(v) < len(t.Inputs) {
			name = tapec.MustName(t.Inputs[v].Name).Of
		}
		if (name != "" && name == at.Text() || name == "" && t.Span(v) == at) && t.Shape(v).Size() == 1 {
			return e.Value(v)[0], true
		}
	}
	return 0, false
}

// Of returns the origin of the first number of e that is not finite and reaches one of some outputs; any, if none
// is named.
func Of(e *tape.Evaluator[float64], outputs ...tape.Value) (Origin, bool) {
	v, found := e.FirstNonFinite(outputs...)
	if !found {
		return Origin{}, false
	}
	at := e.Tape().Span(v)
	return Origin{Span: at, Cause: tape.Cause(e, v)}, !at.IsZero()
}
