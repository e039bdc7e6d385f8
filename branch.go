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
		out.Places = append(out.Places, Place{
			X: p.X, Y: p.Y, Kind: placeKinds[p.Kind], Growing: p.Growing, Eigenvalue: p.Slowest,
		})
	}
	return out, nil
}
