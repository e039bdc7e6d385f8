package odes

import (
	"context"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/steady"
)

// Continuation asks for the steady states along a param.
type Continuation struct {
	Param    string  // or an element of one, "A[2]", or an initial value, "initial(x)"
	From, To float64 // where it begins, and the other end of the range, which may be the lower one
	Points   int     // how many steps the range takes at least; 0: 100
}

// Branch is the result of Model.Continue: the steady states that hang together with the one at the start.
type Branch struct {
	Param, Unit string
	States      []string // names of the elements of all states
	Units       []string // of these; "" for none
	Places      []Place  // in the order in which they were found
	// End says why the branch ends: at a "bound" of the range, because it is "closed", "long" (more places are not
	// sought), "lost" (no step was short enough) or "unbounded" (states grow without bound as the param nears the
	// last X).
	End   string
	Steps int // that were tried
}

// Place is a steady state on a branch.
type Place struct {
	X float64   // the param
	Y []float64 // the states
	// Kind is "fold" where the branch turns back, "hopf" where a pair of eigenvalues crosses the imaginary axis,
	// "crossing" where one passes zero without a fold (another branch crosses this one), and "" elsewhere.
	Kind string
	// Growing is how many eigenvalues of the reduced Jacobian have positive real parts: none at a stable state. At a
	// place of some kind it is that of the less stable side. -1: not known.
	Growing int
	// Eigenvalue is the one that is nearest to growing; at a place of some kind, the one that crosses.
	Eigenvalue complex128
}

// What there is on branches, and their ends, in words.
var (
	placeKinds = map[steady.Kind]string{steady.Fold: "fold", steady.Hopf: "hopf", steady.Crossing: "crossing"}
	branchEnds = map[steady.End]string{
		steady.AtBound: "bound", steady.Closed: "closed", steady.TooLong: "long", steady.Lost: "lost",
		steady.Unbounded: "unbounded",
	}
)

// Continue finds the steady state that a run from the initial values leads to, where the param is at the start of the
// range, and follows it as the param changes: past folds and through unstable states, until the param leaves the range.
// Time stands still at the start of the span; what `equilibrate` sets is not looked at.
func (m *Model) Continue(ctx context.Context, c Continuation, opts Options) (*Branch, error) {
	at := func(x float64) []Assignment {
		return append(opts.Set[:len(opts.Set):len(opts.Set)], Assignment{Name: c.Param, Values: []float64{x}})
	}
	first := opts
	first.Set = at(c.From)
	r, err := m.begin(first)
	if err != nil {
		return nil, err
	}
	if err := r.seeksSteady(); err != nil {
		return nil, err
	}
	point := func(x float64) (*system.Point, error) {
		var l diag.List
		pt := m.point(at(x), &l)
		return pt, l.Err()
	}
	found, err := r.problem.Branch(ctx, point, steady.BranchOptions{
		Options: r.problem.Steady, From: c.From, To: c.To, Points: c.Points,
	})
	if err != nil {
		return nil, r.failed(err, nil)
	}
	out := &Branch{Param: c.Param, End: branchEnds[found.End], Steps: found.Steps}
	for i := range m.system.States() {
		out.States = append(out.States, m.system.StateName(i))
		unit := ""
		if u := m.system.StateUnit(i); u.Known() && !u.Plain() {
			unit = u.String()
		}
		out.Units = append(out.Units, unit)
	}
	symbols, err := m.Symbols(nil)
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if s.Name == c.Param {
			out.Unit = s.Unit
		}
	}
	for _, p := range found.Places {
		out.Places = append(out.Places, Place{p.X, p.Y, placeKinds[p.Kind], p.Growing, p.Slowest})
	}
	return out, nil
}
