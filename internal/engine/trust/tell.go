package trust

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
)

// Tell warns of what o says of s, whose numbers it has graded, and sets the status.
func (s *Result) Tell(x *explain.Explainer, o *Opinion) {
	s.Settings.CheckedBy = o.By
	if o.Failed != nil {
		s.Note(x, result.CodeTrust, diag.Warning, "nothing confirms these numbers: %s failed: %s", o.By,
			brief(o.Failed))
	}
	if o.Strange != "" {
		s.Note(x, result.CodeTrust, diag.Warning, "%s (%s): one of them has missed something, and no number that "+
			"depends on it can be trusted", o.Strange, o.By)
	}
	s.tellMeetings(o.Strange != "")
	s.Conclude(x, o)
}

// brief returns the first line of what an error says.
func brief(err error) string {
	if list := diag.Of(err); len(list) > 0 {
		return list[0].Message
	}
	return err.Error()
}

// Note adds a diagnostic about the whole model to a result.
func (s *Result) Note(x *explain.Explainer, code diag.Code, level diag.Level, format string, args ...any) {
	var l diag.List
	if level == diag.Warning {
		l.Warnf(code, x.Span(), format, args...)
	} else {
		l.Notef(code, x.Span(), format, args...)
	}
	s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], l.All()...)
}

// tellMeetings warns of the meetings that derivatives of s are on one side of; or of all, since one may be why runs
// differ in what happens.
func (s *Result) tellMeetings(all bool) {
	if len(s.Meetings) == 0 {
		return
	}
	var l diag.List
	open := make([]bool, s.Columns) // columns of which nothing is told
	for at, t := range s.Trusts {
		i, k := at/s.Columns, at%s.Columns
		open[k] = open[k] || s.parted != nil && s.parted[k] || t > result.Sound && s.isSided(i, k)
	}
	for k := range s.aside {
		open[k] = open[k] || s.aside[k]
	}
	for i := range s.Meetings {
		x := &s.Meetings[i]
		some := all
		for k := range open {
			some = some || open[k] && x.Fold.Moves.Has(k)
			open[k] = open[k] && !x.Fold.Moves.Has(k)
		}
		if some {
			var one diag.List
			x.Of.Warnings([]solvers.Warning{x.Warning()}, &one)
			for _, d := range one.All() {
				if x.Experiment != "" {
					d.Message = "experiment " + x.Experiment + ": " + d.Message
				}
				l.Add(d)
			}
		}
	}
	s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], l.All()...)
}

// Conclude sets the status of s and warns of what is not sound, by what o says; nil if nothing was compared.
func (s *Result) Conclude(x *explain.Explainer, o *Opinion) {
	worst := result.Sound
	for i := range s.Values {
		worst = max(worst, s.Worst(i))
	}
	s.everyEvent(func(e *result.Event) { worst = max(worst, e.Worst()) })
	others := ""
	if s.doubted() || s.warned(explain.CodeGrazing) {
		others = " and the warnings above"
	}
	var infinite []string
	for _, v := range s.Values {
		if math.IsInf(v.Value, 0) {
			infinite = append(infinite, v.Name)
		}
	}
	if o != nil && len(infinite) > 0 {
		s.Note(x, result.CodeTrust, diag.Warning, "not a finite number: %s", diag.Some(infinite))
	}
	for grade := worst; grade > result.Sound; grade-- {
		names := s.Graded(grade, o != nil)
		switch {
		case len(names) == 0:
		case o == nil:
			s.Note(x, result.CodeTrust, diag.Warning, "not a finite number: %s", diag.Some(names))
		case grade <= o.unconfirmed(late): // told already
		case grade == result.Lost:
			s.Note(x, result.CodeTrust, diag.Warning, result.NotTrusted+", by %s: %s", o.By, diag.Some(names))
		default:
			s.Note(x, result.CodeTrust, diag.Warning, result.FewDigits+", by %s%s: %s", o.By, others, diag.Some(names))
		}
	}
	if worst == result.Lost {
		s.Status = "partial"
	}
	if worst > result.Sound {
		s.OneSided.Doubtful = s.oneSides()
		return
	}
	s.Warnings = x.Unmoved(s.Warnings, o != nil)
	second := s.Hessian != nil || s.Products != nil
	if s.Cleared && s.aside == nil && !second { // derivatives exist, whatever the run warned of
		s.Warnings = slices.DeleteFunc(s.Warnings, func(d diag.Diagnostic) bool {
			return d.Level == diag.Warning && slices.Contains(doubtful, d.Code)
		})
	}
	if o != nil && o.Failed == nil && o.Strange == "" {
		if sudden := s.sudden(o.Sizes); sudden != nil && !slices.Contains(sudden, true) {
			s.Warnings = slices.DeleteFunc(s.Warnings,
				func(d diag.Diagnostic) bool { return d.Code == explain.CodeGrazing })
		}
	}
	s.Trusts = nil
	for i := range s.Events {
		s.Events[i].Trusts = nil
	}
}
