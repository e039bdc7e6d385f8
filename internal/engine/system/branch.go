package system

import (
	"context"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/steady"
)

// branching is a model whose params depend on a number. It implements steady.Family.
type branching struct {
	*Worker
	at func(x float64) (*compiled.Point, error)
}

// Vary implements steady.Family.
func (b *branching) Vary(x float64, y, d []float64) error {
	pt, err := b.at(x)
	if err != nil {
		return err
	}
	b.problem.Point.Move(pt)
	b.refresh()
	b.Start(b.begins(), y, d)
	return nil
}

// begins returns the start of the time span.
func (b *branching) begins() float64 {
	times := make([]float64, len(b.Instants()))
	b.InstantTimes(make([]float64, b.Size().D), times)
	return times[0]
}

// Branch follows the steady state that a run leads to, at the points that at returns. Time stands still at the start.
func (p *Problem) Branch(
	ctx context.Context, at func(x float64) (*compiled.Point, error), o steady.BranchOptions,
) (*steady.Branch, error) {
	k, err := p.Kit(1, compiled.Values, false)
	if err != nil {
		return nil, err
	}
	b := &branching{p.Worker(k), at}
	b.refresh()
	laws, err := p.Model.Conserved(ctx)
	if err != nil {
		return nil, err
	}
	plan := steady.NewPlan(p.Model.Layout.NY, p.Places(), laws)
	return steady.Continue(ctx, b, plan, b.begins(), o)
}
