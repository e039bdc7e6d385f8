package tapec

import "odes.dev/odes/tape"

// Hoisting splits the right-hand side by how often its parts must run: once a run (what depends on
// parameters only), once a segment (on discretes and modes too), and every time.
type Hoisting struct {
	Once    *tape.Tape // p.* → c.*; nil when nothing is hoisted
	Segment *tape.Tape // p.*, c.*, d.*, m.* → e.*; nil when nothing is hoisted
	// what is left
	Rates, Jacobian *tape.Tape
}

// Hoist splits the rates and, unless it is nil, their Jacobian. What both need is computed once for both.
func Hoist(rates, jacobian *tape.Tape) Hoisting {
	if jacobian != nil {
		rates = joined(rates, jacobian)
	}
	once, rest := Early(rates, RunWork, func(n Name) bool { return n.Role != Param })
	segment, rest := Early(rest, SegmentWork, func(n Name) bool {
		return n.Role == Time || n.Role == State
	})
	h := Hoisting{Once: once, Segment: segment, Rates: rest}
	if jacobian != nil {
		entry := func(n Name) bool { return n.Role == Entries }
		h.Jacobian = Only(rest, ByName(entry))
		h.Rates = Only(rest, ByName(func(n Name) bool { return !entry(n) }))
	}
	return h
}

// joined returns the tape of what both tapes make.
func joined(x, y *tape.Tape) *tape.Tape {
	b := tape.NewBuilder(x.Name)
	for _, t := range []*tape.Tape{x, y} {
		out := Inline(b, t, func(in *tape.Input) tape.Value { return b.Input(in.Name, in.Shape, in.PerLane) })
		for _, o := range t.Outputs {
			b.Output(o.Name, out[o.Name])
		}
	}
	return b.Tape()
}

// Early takes the work that depends on no late input out of t, and numbers its results in the role as.
// early is nil if there is no such work.
func Early(t *tape.Tape, as Role, late func(Name) bool) (early, rest *tape.Tape) {
	early, rest = Split(t, as, ByName(late))
	if len(early.Outputs) == 0 {
		early = nil
	}
	return early, rest
}
