package run

import (
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/result"
)

// Where searches for steady states begin is said by whoever makes runs one after the other (docs/steady.md):
//
//   - Warm, of a Runner or a Comparison: at the steady states of the run before. The runs belong to one search, which
//     confirms what comes of it by a run that is not warm.
//   - Chain: likewise, if the settings say steady_start = warm.
//   - With this setting, experiments begin at the steady states of the first one.

// SteadyWork counts searches for steady states.
type SteadyWork = system.SteadyWork

// warm lets searches for steady states in the runs to come begin at what the last run found, or ends that.
func (r *Run) warm(on bool) { r.problem.Warm = on && r.settings.SteadyStart != settings.OwnStart }

// Warm lets searches for steady states in the runs to come begin at what the run before found, unless the settings say
// steady_start = own; Warm(false) ends that. What they find is stable, but need not be the state that a run from the
// initial values leads to: a run without Warm at the same values tells.
func (r *Runner) Warm(on bool) {
	r.chained = on
	r.warm(on)
	for _, part := range r.parts {
		part.Warm(on)
	}
}

// Forget forgets the steady states of all runs before, so that the next one depends on nothing that was before.
func (r *Runner) Forget() {
	r.problem.Forget()
	for _, part := range r.parts {
		part.problem.Forget()
	}
}

// Chain begins a chain of runs if the settings say steady_start = warm: after the first one, searches for steady states
// begin at what the run before found.
func (r *Runner) Chain() {
	if r.settings.SteadyStart == settings.WarmStart {
		r.Forget()
		r.Warm(true)
	}
}

// SteadyWork returns what all runs so far took to find steady states, without those that check others.
func (r *Runner) SteadyWork() SteadyWork { return r.problem.Answers.Work() }

// Warm is that of a Runner, for the runs of all experiments.
func (c *Comparison) Warm(on bool) {
	for _, p := range c.parts {
		p.runner.Warm(on)
	}
}

// Forget is that of a Runner.
func (c *Comparison) Forget() {
	for _, p := range c.parts {
		p.runner.Forget()
	}
}

// SteadyWork is that of a Runner.
func (c *Comparison) SteadyWork() SteadyWork { return c.answers.Work() }

// fromFirst lets the searches of experiments begin at the steady states of the first one, if the settings say so and
// there is nothing nearer to begin at. Experiment 0 was run, and list are the runs of all of them.
func fromFirst(list []*Run) {
	for _, r := range list[1:] {
		if r.settings.SteadyStart == settings.WarmStart && !r.problem.Rested() {
			r.problem.Warm = true
			r.problem.BeginAt(list[0].problem)
		}
	}
}

// firstAlone prepares the runs of experiments, and reports whether the first one is to be run before the others, which
// then begin at its steady states.
func firstAlone(list []*Run) bool {
	if len(list) < 2 || list[0].settings.SteadyStart != settings.WarmStart || !list[0].model.System.Settles() {
		return false
	}
	for _, r := range list {
		if !r.chained {
			r.problem.Warm = false
			r.problem.Forget()
		}
	}
	return true
}

// warnWarm warns of steady states that nothing confirms.
func (r *Run) warnWarm(s *result.Stats) {
	if s.SteadyWarm == 0 || r.settings.Trust || r.model.Part || r.chained {
		return
	}
	r.warnings.Warnf(explain.CodeSteady, r.model.Checked.Time.Span, "%d of the searches for steady states began at "+
		"that of another experiment (steady_start = warm), and nothing confirms what they found: each state is "+
		"stable, but the run from its own initial values may lead to another; take sens.trust = on, or steady_start "+
		"= own", s.SteadyWarm)
}
