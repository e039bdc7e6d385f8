package run

import (
	"slices"

	"odes.dev/odes/result"
	"odes.dev/odes/steady"
)

// work is what runs took, with the steady states that they found: experiments may share one.
type work struct {
	result.Stats
	states []*steady.State // of each of Rests
}

// add adds the work of another run.
func (s *work) add(o *work) {
	s.Steps += o.Steps
	s.Rejected += o.Rejected
	s.F += o.F
	s.VJP += o.VJP
	s.RecomputedSteps += o.RecomputedSteps
	s.NonFinite += o.NonFinite
	s.Singular += o.Singular
	s.Sought += o.Sought
	s.Jacobians += o.Jacobians
	s.Factorisations += o.Factorisations
	s.Solves += o.Solves
	if o.Drift > s.Drift {
		s.Drift, s.Drifts = o.Drift, o.Drifts
	}
	s.Changes += o.Changes
	s.SteadyFlow += o.SteadyFlow
	s.rested(o.Rests, o.states)
	if o.Steps > 0 {
		s.Methods = nil // of several runs they are not added up
	}
	s.PeakTrajectoryBytes = max(s.PeakTrajectoryBytes, o.PeakTrajectoryBytes)
	s.Seconds.Forward += o.Seconds.Forward
	s.Seconds.Adjoint += o.Seconds.Adjoint
	s.Seconds.Check += o.Seconds.Check
}

// rested adds steady states, and what they took: once where experiments share one.
func (s *work) rested(list []result.Rest, states []*steady.State) {
	before := len(s.Rests)
	s.Rests = append(s.Rests[:before:before], list...)
	s.states = append(s.states[:before:before], states...)
	for i, r := range list {
		if slices.Contains(s.states[:before+i], states[i]) {
			s.SteadyKnown++
			s.SteadySaved += r.Steps + r.Saved
			continue
		}
		if r.Warm {
			s.SteadyWarm++
			s.SteadySaved += r.Saved
		}
		if r.Periods > 0 {
			s.Periods += r.Periods
			continue
		}
		s.SteadySteps += r.Steps
		s.Newton += r.Newton
	}
}
