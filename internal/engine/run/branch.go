package run

import (
	"context"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/steady"
)

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
func (m *Model) Continue(
	ctx context.Context, param string, from, to float64, points int, setup Setup,
) (*result.Branch, error) {
	at := func(x float64) []compiled.Override {
		return append(setup.Set[:len(setup.Set):len(setup.Set)], compiled.Override{Name: param, Values: []float64{x}})
	}
	setup.Done = ctx.Done()
	first := setup
	first.Set = at(from)
	r, err := m.Begin(first)
	if err != nil {
		return nil, err
	}
	if err := r.PresentOnly("a branch of steady states", "sweep over an objective with steady(…)"); err != nil {
		return nil, err
	}
	if err := r.seeksSteady(); err != nil {
		return nil, err
	}
	point := func(x float64) (*compiled.Point, error) {
		var l diag.List
		pt := m.System.NewPoint(at(x), &l)
		return pt, l.Err()
	}
	found, err := r.problem.Branch(ctx, point, steady.BranchOptions{
		Options: r.problem.Steady, From: from, To: to, Points: points,
	})
	if err != nil {
		return nil, r.failed(err, nil)
	}
	out := &result.Branch{Param: param, End: branchEnds[found.End], Steps: found.Steps}
	for i := range m.System.States() {
		out.States = append(out.States, m.System.StateName(i))
		unit := ""
		if u := m.System.StateUnit(i); u.Known() && !u.Plain() {
			unit = u.String()
		}
		out.Units = append(out.Units, unit)
	}
	for _, s := range m.Checked.Params {
		if u := s.Type.Unit; s.Name == param && u.Known() && !u.Plain() {
			out.Unit = u.String()
		}
	}
	for _, p := range found.Places {
		out.Places = append(out.Places, result.Place{
			X: p.X, Y: p.Y, Kind: placeKinds[p.Kind], Growing: p.Growing, Eigenvalue: p.Slowest,
		})
	}
	return out, nil
}
