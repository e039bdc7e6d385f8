package odes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
)

// Errors of outputs, relative to the largest absolute value of an element in the run, from which they are loose and
// lost. Where outputs cross zero, they have no digits of their own.
const looseOutput, lostOutput = 1e-3, 0.1

// judge compares s, the result of r, with that of an independent run, if it is to be compared. It grades the numbers of
// s and warns of those that are not sound.
func (r *Simulator) judge(ctx context.Context, s *Solution) error {
	v := &Sensitivities{ // what of s can be graded like a gradient
		Status: s.Status, From: s.From, To: s.To, Values: s.Values, Events: s.Events, Settings: s.Settings,
		Stats: s.Stats, Warnings: s.Warnings,
	}
	var o *opinion
	if g := r.grader(nil, nil, s.Stats.Steps); r.settings.Trust {
		var fine *Solution
		var share float64
		var err error
		if o, fine, share, err = r.independent(ctx, s); err != nil {
			return err
		}
		if fine != nil {
			twin := &Sensitivities{
				From: fine.From, To: fine.To, Values: fine.Values, Events: fine.Events, Stats: fine.Stats,
			}
			if err := v.compare(twin, share); err != nil {
				return err
			}
			o.strange, _ = strangeEvent(&s.happened, &fine.happened, s.From, s.To, fine.To)
			s.compareOutputs(fine, share, g.Promised)
		}
		v.gradeBy(g, o)
		v.tell(r.model, o)
	} else {
		v.grade(g, false)
		v.conclude(r.model, nil)
	}
	s.Status, s.Settings, s.Stats, s.Warnings = v.Status, v.Settings, v.Stats, v.Warnings
	s.concludeOutputs(r.model, o)
	return nil
}

// independent repeats the run of s by other means. There is no second solution where that run failed.
func (r *Simulator) independent(ctx context.Context, s *Solution) (
	o *opinion, fine *Solution, share float64, err error,
) {
	own := r.settings
	share = own.Independent(sens.DefaultMode, false)
	if r.other == nil {
		opts := r.opts.inPhase("check").changed(func(s *settings.Settings) {
			s.Independent(sens.DefaultMode, false)
		})
		opts.spec = nil
		if r.other, err = r.model.Simulator(opts); err != nil {
			return nil, nil, 0, err
		}
	}
	other := r.other
	notes := other.warnings
	defer func() { other.warnings = notes }()
	o = &opinion{by: other.inWords()}
	fine, err = other.solution(ctx, slices.Compact(slices.Clone(s.T)))
	var failed *RunError
	switch {
	case err == nil:
		return o, fine, share, nil
	case Interrupted(err) || ctx.Err() != nil || !errors.As(err, &failed):
		return nil, nil, 0, err
	}
	o.failed = err
	return o, nil, share, nil
}

// compareOutputs grades the outputs of s, whose events have been compared. Times at which s or fine jumps are left out:
// their events are compared. An error below promised is one that the tolerances allow.
func (s *Solution) compareOutputs(fine *Solution, share, promised float64) {
	at := s.common(fine)
	for n := range s.Outputs {
		o, twin := &s.Outputs[n], &fine.Outputs[n]
		per := 1
		for _, d := range o.Shape {
			per *= d
		}
		o.Errors = make([]float64, len(o.Values))
		for k := range per {
			top, off := 0.0, 0.0
			said := 0 // times that have an error
			for _, i := range at {
				x, y := o.Values[i[0]*per+k], twin.Values[i[1]*per+k]
				for ; said <= i[0]; said++ { // in between, that of the next time
					o.Errors[said*per+k] = math.Abs(x-y) / share
				}
				if x == y || x-x != 0 { // what is not finite shows that itself
					continue
				}
				top, off = math.Max(top, math.Abs(x)), math.Max(off, math.Abs(x-y)/share)
			}
			for ; said > 0 && said < len(s.T); said++ {
				o.Errors[said*per+k] = o.Errors[(said-1)*per+k]
			}
			switch {
			case !(off > max(promised, float64(looseOutput*top))) && off-off == 0:
			case off > lostOutput*top || off-off != 0:
				o.Trust = Lost
			default:
				o.Trust = max(o.Trust, Loose)
			}
		}
	}
}

// common returns the places in s.T and fine.T of the times at which both runs have one state that can be compared.
func (s *Solution) common(fine *Solution) (at [][2]int) {
	slack := float64(0x1p-40 * math.Abs(s.To-s.From))
	alone := func(t []float64, i int) bool {
		return (i == 0 || t[i-1] < t[i]) && (i+1 == len(t) || t[i] < t[i+1])
	}
	e, k := 0, 0
	for i, t := range s.T {
		for k < len(fine.T) && fine.T[k] < t {
			k++
		}
		for e < len(s.Events) && s.Events[e].T+float64(4*s.Events[e].Error)+slack < t {
			e++
		}
		atEvent := e < len(s.Events) && s.Events[e].T-float64(4*s.Events[e].Error)-slack <= t
		if k < len(fine.T) && fine.T[k] == t && alone(s.T, i) && alone(fine.T, k) && !atEvent {
			at = append(at, [2]int{i, k})
		}
	}
	return at
}

// concludeOutputs warns of the outputs that are not sound, by what o says; nil if nothing was compared. What is not
// finite is lost, whatever was compared.
func (s *Solution) concludeOutputs(m *Model, o *opinion) {
	names := map[string][]string{}
	for i := range s.Outputs {
		x := &s.Outputs[i]
		text := ""
		switch {
		case !finite(x.Values):
			x.Trust, text = Lost, "not always a finite number"
			if x.why != "" {
				text = fmt.Sprintf("not always a finite number, since %s", x.why)
			}
		case o == nil:
		case x.Trust == Lost:
			text = "not to be trusted, by " + o.by
		case x.Trust == Loose:
			text = "few digits are right, by " + o.by
		case o.failed != nil: // told already
			x.Trust = Loose
		}
		if x.Trust == Lost {
			s.Status = "partial"
		}
		names[text] = append(names[text], x.Name)
	}
	delete(names, "")
	s.Warnings = m.explain.Unmoved(s.Warnings, len(names) == 0 && o != nil)
	var l diag.List
	for _, text := range slices.Sorted(maps.Keys(names)) {
		l.Warnf(CodeTrust, m.checked.Time.Span, "%s: %s", text, diag.Some(names[text]))
	}
	s.Warnings = append(s.Warnings, l.All()...)
}
