package run

import (
	"context"
	"errors"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
)

// judge compares s, the result of r, with that of an independent run, if it is to be compared. It grades the numbers of
// s and warns of those that are not sound.
func (r *Simulator) judge(ctx context.Context, s *result.Solution) error {
	v := &trust.Result{Sensitivities: result.Sensitivities{ // what of s can be graded like a gradient
		Status: s.Status, From: s.From, To: s.To, Values: s.Values, Events: s.Events, Settings: s.Settings,
		Stats: s.Stats, Warnings: s.Warnings,
	}}
	var o *trust.Opinion
	if g := r.grader(nil, nil, s.Stats.Steps); r.settings.Trust {
		var fine *result.Solution
		var share float64
		var err error
		if o, fine, share, err = r.independent(ctx, s); err != nil {
			return err
		}
		if fine != nil {
			twin := &trust.Result{Sensitivities: result.Sensitivities{
				From: fine.From, To: fine.To, Values: fine.Values, Events: fine.Events, Stats: fine.Stats,
			}}
			if err := v.Compare(twin, share); err != nil {
				return err
			}
			o.Strange, _ = trust.StrangeEvent(&r.happened, &r.other.happened, s.From, s.To, fine.To)
			trust.CompareOutputs(s, fine, share, g.Promised)
		}
		v.GradeBy(g, o)
		v.Tell(r.model.Explain, o)
	} else {
		v.Grade(g, false)
		v.Conclude(r.model.Explain, nil)
	}
	s.Status, s.Settings, s.Stats, s.Warnings = v.Status, v.Settings, v.Stats, v.Warnings
	trust.ConcludeOutputs(s, r.model.Explain, o)
	return nil
}

// independent repeats the run of s by other means. There is no second solution where that run failed.
func (r *Simulator) independent(ctx context.Context, s *result.Solution) (
	o *trust.Opinion, fine *result.Solution, share float64, err error,
) {
	own := r.settings
	share = own.Independent(sens.DefaultMode, false)
	if r.other == nil {
		setup := r.setup.InPhase("check").With(func(s *settings.Settings) {
			s.Independent(sens.DefaultMode, false)
		})
		setup.Method = nil
		if r.other, err = r.model.Simulator(setup); err != nil {
			return nil, nil, 0, err
		}
	}
	other := r.other
	notes := other.warnings
	defer func() { other.warnings = notes }()
	o = &trust.Opinion{By: other.inWords()}
	fine, err = other.solution(ctx, slices.Compact(slices.Clone(s.T)))
	var failed *result.RunError
	switch {
	case err == nil:
		return o, fine, share, nil
	case explain.Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed):
		return nil, nil, 0, err
	}
	o.Failed = err
	return o, nil, share, nil
}
