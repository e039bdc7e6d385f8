package system

import (
	"context"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/steady"
)

// Problem is a task with what is known of its steady states. The workers of a run share it.
type Problem struct {
	compiled.Task

	// Steady says how steady states are found. Problems that have any need a Jacobian.
	Steady steady.Options
	// SteadyFlow, if positive, is the relative accuracy to which derivatives of steady states are integrated in time;
	// otherwise they are solutions of linear equations.
	SteadyFlow float64
	Past       Past // nil for a model that reads none
	// Answers are the steady states that are known. Problems of one purpose may share them.
	Answers *Answers
	// Warm lets a search for a steady state begin at what the last one found, for other values; see steady.Options.
	Warm bool
	// Shooting says how periodic ones are found.
	Shooting Shooting

	settling settling
	halt     compiled.Halt // that the machines of the workers heed
}

// Heed has what is large and under way given up when ctx ends, until Unheed.
func (p *Problem) Heed(ctx context.Context) { p.halt.Begin(ctx.Done()) }

// Unheed ends what Heed began. It reports whether something was given up, so that there is no result. What is kept of
// it between runs is forgotten.
func (p *Problem) Unheed() (gave bool) {
	if gave = p.halt.End(); gave {
		p.Point.Version++
	}
	return gave
}

// Compiling has programs that are made from now on given up when ctx ends, until what it returns is called.
func (p *Problem) Compiling(ctx context.Context) (end func()) {
	p.Done = ctx.Done()
	return func() { p.Done = nil }
}

// NewProblem returns the problem of the objectives rows and peaks at pt, with no active params.
func NewProblem(m *compiled.Model, pt *compiled.Point, rows, peaks []int) *Problem {
	return &Problem{Task: compiled.NewTask(m, pt, rows, peaks), Answers: &Answers{}}
}
