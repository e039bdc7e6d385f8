package odes

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/judge"
	"odes.dev/odes/lang/diag"
)

// Trust says how far a number of a result may be relied on. It comes from an independent run of the model, which
// shares no step, no method and no located event with the run of the result (docs/methods.md).
type Trust = judge.Trust

// The grades of trust. Numbers of a result are Sound where nothing else is said of them.
const (
	Sound = judge.Sound // right to about three digits or more: as many as a table prints
	Loose = judge.Loose // fewer digits are right, or the derivative is one of several, or nothing confirms the number
	Lost  = judge.Lost  // not even the first digit is sure, or it is not a finite number
)

// isSided reports whether the derivative of value i by column k is that of one side.
func (s *Sensitivities) isSided(i, k int) bool {
	return s.allSided || s.sided != nil && s.sided[i*s.Columns+k]
}

// isBent reports whether the derivative of value i by column k may be another one on the other side of a kink.
func (s *Sensitivities) isBent(i, k int) bool { return s.bent != nil && s.bent[i*s.Columns+k] }

// jumps reports whether the second derivative of value i by two columns may be another one on the other side of a kink.
// Where the gradient does not jump, second derivatives jump by a multiple of the product of the derivatives of what
// tells the sides apart, and so only by two columns that move it.
func (s *Sensitivities) jumps(i, k, l int) bool {
	at := i * s.Columns
	leapt := func(k, l int) bool {
		row := s.leapt[at+k]
		return row != nil && row[l]
	}
	if leapt(k, l) || leapt(l, k) {
		return true
	}
	if s.curved == nil {
		return false
	}
	decided := func(k int) bool { return s.settled != nil && s.settled[k] }
	parted := func(k int) bool { return s.parted != nil && s.parted[k] && !decided(k) }
	curved := func(k int) bool { return s.curved[at+k] || s.sided[at+k] && !decided(k) }
	return curved(k) && s.reached[at+l] || curved(l) && s.reached[at+k] ||
		s.met[at+k] && s.met[at+l] || parted(k) || parted(l)
}

// isFirmlySided is isSided but where runs in both orders, which have second derivatives as well, decide.
func (s *Sensitivities) isFirmlySided(i, k int) bool {
	if s.settled != nil && s.settled[k] && s.firmlySided != nil {
		return s.allSided || s.firmlySided[i*s.Columns+k]
	}
	return s.isSided(i, k)
}

// jumpsAlong reports that of an element of the product of the Hessian and the direction.
func (s *Sensitivities) jumpsAlong(i, k int) bool {
	for l, d := range s.Direction {
		if d != 0 && s.jumps(i, k, l) {
			return true
		}
	}
	return false
}

// Trust returns how far the derivatives of value i by variable v may be relied on: the worst grade of its elements.
func (s *Sensitivities) Trust(i int, v Variable) Trust {
	if s.Trusts == nil {
		return Sound
	}
	at := i*s.Columns + v.Offset
	return slices.Max(s.Trusts[at : at+v.Size()])
}

// trust returns the worst grade of value i and of its derivatives.
func (s *Sensitivities) trust(i int) Trust {
	worst := s.Values[i].Trust
	if s.Trusts != nil && s.Columns > 0 {
		worst = max(worst, slices.Max(s.Trusts[i*s.Columns:(i+1)*s.Columns]))
	}
	return worst
}

// doubt makes grades at least as bad as t: those of derivatives other than zero, and those of values if they are
// asked for.
func (s *Sensitivities) doubt(i int, t Trust, value bool) {
	if value {
		s.Values[i].Trust = max(s.Values[i].Trust, t)
	}
	for k := i * s.Columns; k < (i+1)*s.Columns; k++ {
		if s.Gradient[k] != 0 {
			s.Trusts[k] = max(s.Trusts[k], t)
		}
	}
}

// doubtZeros makes derivatives of value i loose that are zero and need not be, as far as that is known.
func (s *Sensitivities) doubtZeros(i int) {
	for k := i * s.Columns; k < (i+1)*s.Columns && s.reached != nil; k++ {
		if s.Gradient[k] == 0 && s.reached[k] {
			s.Trusts[k] = max(s.Trusts[k], Loose)
		}
	}
}

// doubtBy makes the grades of derivatives by column k other than zero at least as bad as t.
func (s *Sensitivities) doubtBy(k int, t Trust) {
	for at := k; at < len(s.Gradient); at += s.Columns {
		if s.Gradient[at] != 0 {
			s.Trusts[at] = max(s.Trusts[at], t)
		}
	}
}

// oneSided makes derivatives loose that are those of one side: by what moves the two causes of a tie apart, if no other
// run decides about that.
func (s *Sensitivities) oneSided(i int) {
	at := i * s.Columns
	for k, x := range s.Gradient[at : at+s.Columns] {
		sided, bent := s.isFirmlySided(i, k), s.isBent(i, k)
		if s.settled != nil && s.settled[k] && s.firmlySided != nil {
			bent = s.firmlyBent != nil && s.firmlyBent[at+k]
		}
		if sided && x != 0 || x == 0 && bent {
			s.Trusts[at+k] = max(s.Trusts[at+k], Loose)
		}
	}
}

// grade fills in the trust in all numbers of s: from their estimated errors, where there are any, and from what the
// run warned of. Unless judged is set, it looks for numbers that are not finite and for nothing else.
func (s *Sensitivities) grade(g *judge.Grader, judged bool) {
	s.Trusts = nil
	if !judged && s.allFinite() { // the usual case, without a pass over what may be millions of grades
		return
	}
	s.Trusts = make([]Trust, len(s.Gradient))
	if s.parted = nil; judged && s.unlike != nil {
		s.parted = make([]bool, s.Columns)
	}
	for i := range s.Values {
		v := &s.Values[i]
		at, to := i*s.Columns, (i+1)*s.Columns
		x := judge.Numbers{Value: v.Value, Row: s.Gradient[at:to], Trusts: s.Trusts[at:to]}
		if s.parted != nil {
			x.Unlike, x.Parted = s.unlike[at:to], s.parted
		}
		if judged && s.Errors != nil {
			x.Err = v.Error
			x.Errors = s.Errors[at:to]
		}
		if g.Reached != nil {
			x.Reached = g.Reached[i]
		}
		if math.IsNaN(v.Value) { // it has no derivatives
			x.Row = nil
		}
		x.Held = s.held != nil && s.held[i]
		v.Trust = g.Grade(&x)
		if x.Held {
			x.OfOneSide()
		}
	}
	if !judged {
		return
	}
	for i := range s.Events {
		e := &s.Events[i]
		e.Trusts = make([]Trust, len(e.Params))
		s.gradeEvent(g, e)
	}
	if s.log != nil {
		s.log.grader = g
	}
	if s.allSided || s.sided != nil || s.bent != nil {
		for i := range s.Values {
			s.oneSided(i)
		}
	}
	if s.warned(CodeGrazing) {
		sizes := make([]float64, len(g.Variables))
		for n, v := range g.Variables {
			sizes[n] = v.Size
		}
		for k, sudden := range s.sudden(sizes) {
			if sudden {
				s.doubtBy(k, Loose)
			}
		}
	}
	if s.warned(CodeHidden) || s.warned(CodeUnseen) {
		for i := range s.Values {
			s.doubt(i, Loose, true)
			s.doubtZeros(i)
		}
	}
}

// gradeEvent fills in the grades of an event.
func (s *Sensitivities) gradeEvent(g *judge.Grader, e *EventRecord) {
	e.Trust = g.Grade(&judge.Numbers{
		Value: e.T, Err: e.Error, Least: float64(1e-3 * math.Abs(s.To-s.From)), Row: e.Params, Errors: e.Errors,
		Trusts: e.Trusts,
	})
}

// allFinite reports whether all values and derivatives are finite.
func (s *Sensitivities) allFinite() bool {
	if s.finite {
		return true
	}
	for i := range s.Values {
		if x := s.Values[i].Value; x-x != 0 {
			return false
		}
	}
	for _, x := range s.Gradient {
		if x-x != 0 {
			return false
		}
	}
	return true
}

// doubtful are the codes of warnings that the derivatives of a run are those of one side. An event that grazes its
// condition comes or goes with small changes, and so the independent run shows whether that matters.
var doubtful = []diag.Code{CodeTie, CodeKink}

// doubted reports whether the run of s warned that derivatives are those of one side.
func (s *Sensitivities) doubted() bool { return s.warned(doubtful...) }

// doubts counts the warnings that derivatives are those of one side.
func doubts(list []diag.Diagnostic) (n int) {
	for _, d := range list {
		if d.Level == diag.Warning && slices.Contains(doubtful, d.Code) {
			n++
		}
	}
	return n
}

// warned reports whether the run of s has a warning of one of these codes.
func (s *Sensitivities) warned(codes ...diag.Code) bool {
	return slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
		return d.Level == diag.Warning && slices.Contains(codes, d.Code)
	})
}

// conclude sets the status of s and warns of what is not sound, by what o says; nil if nothing was compared.
func (s *Sensitivities) conclude(m *Model, o *opinion) {
	worst := Sound
	for i := range s.Values {
		worst = max(worst, s.trust(i))
	}
	s.everyEvent(func(e *EventRecord) { worst = max(worst, e.trust()) })
	others := ""
	if s.doubted() || s.warned(CodeGrazing) {
		others = " and the warnings above"
	}
	var infinite []string
	for _, v := range s.Values {
		if math.IsInf(v.Value, 0) {
			infinite = append(infinite, v.Name)
		}
	}
	if o != nil && len(infinite) > 0 {
		s.note(m, CodeTrust, diag.Warning, "not a finite number: %s", diag.Some(infinite))
	}
	for grade := worst; grade > Sound; grade-- {
		names := s.graded(grade, o != nil)
		switch {
		case len(names) == 0:
		case o == nil:
			s.note(m, CodeTrust, diag.Warning, "not a finite number: %s", diag.Some(names))
		case o.failed != nil && grade == Loose: // told already
		case grade == Lost:
			s.note(m, CodeTrust, diag.Warning, "not to be trusted, by %s: %s", o.by, diag.Some(names))
		default:
			s.note(m, CodeTrust, diag.Warning, fewDigits+", by %s%s: %s", o.by, others, diag.Some(names))
		}
	}
	if worst == Lost {
		s.Status = "partial"
	}
	if worst > Sound {
		return
	}
	s.Warnings = m.explain.Unmoved(s.Warnings, o != nil)
	if o != nil && o.failed == nil && o.strange == "" {
		if sudden := s.sudden(o.sizes); sudden != nil && !slices.Contains(sudden, true) {
			s.Warnings = slices.DeleteFunc(s.Warnings, func(d diag.Diagnostic) bool { return d.Code == CodeGrazing })
		}
	}
	s.Trusts = nil
	for i := range s.Events {
		s.Events[i].Trusts = nil
	}
}

// AtMinimum makes loose derivatives of value i by some variables sound, but for those of one side: at a minimum of that
// value they are zero within its error, and that few of their digits are right is no news. Package fit finds out
// whether a point is one.
func (s *Sensitivities) AtMinimum(i int, by []Variable) {
	for _, v := range by {
		for k := v.Offset; k < v.Offset+v.Size() && s.Trusts != nil; k++ {
			if at := i*s.Columns + k; s.Trusts[at] == Loose && !s.isSided(i, k) && !s.isBent(i, k) {
				s.Trusts[at] = Sound
			}
		}
	}
	names := diag.Some(s.graded(Loose, true))
	for k := range s.Warnings {
		d := &s.Warnings[k]
		if begin, _, is := strings.Cut(d.Message, ": "); is && strings.HasPrefix(begin, fewDigits) {
			d.Message = begin + ": " + names
		}
	}
	s.Warnings = slices.DeleteFunc(s.Warnings, func(d diag.Diagnostic) bool {
		return names == "" && d.Code == CodeTrust && strings.HasPrefix(d.Message, fewDigits)
	})
}

// fewDigits begins the warning of numbers that are loose.
const fewDigits = "few digits are right"

// sudden reports by columns whether the time of an event moves so fast with a variable, of these sizes, that a small
// part of it makes the event come or go. The slope of a condition alone does not tell: that of a narrow parabola is
// small where it is crossed as well. It is nil where nothing is known, as without derivatives of times.
func (s *Sensitivities) sudden(sizes []float64) []bool {
	const fast = 10 // spans in time
	fastest := s.fastest
	if s.log != nil && s.MoreEvents == 0 {
		s.everyEvent(func(e *EventRecord) { fastest = farthest(fastest, e.Params) })
	}
	if fastest == nil {
		return nil
	}
	found := make([]bool, s.Columns)
	for n, v := range s.Variables {
		for k := v.Offset; k < v.Offset+v.Size(); k++ {
			found[k] = fastest[k]*sizes[n] > float64(fast*math.Abs(s.To-s.From))
		}
	}
	return found
}

// farthest returns the largest sizes of numbers by their places, those of a and of x.
func farthest(a, x []float64) []float64 {
	if a == nil {
		a = make([]float64, len(x))
	}
	for k, v := range x {
		a[k] = max(a[k], math.Abs(v))
	}
	return a
}

// trust returns the worst grade of the time of an event and of its derivatives.
func (e *EventRecord) trust() Trust {
	return slices.Max(append([]Trust{e.Trust}, e.Trusts...))
}

// graded names the numbers with that grade: values, derivatives, times of events. What has no value is told
// elsewhere, and so are infinite values where the run was judged.
func (s *Sensitivities) graded(t Trust, judged bool) (names []string) {
	for i, v := range s.Values {
		if math.IsNaN(v.Value) {
			continue
		}
		var by []string
		for _, x := range s.Variables {
			if s.Trust(i, x) == t {
				by = append(by, x.String())
			}
		}
		if v.Trust == t && (!math.IsInf(v.Value, 0) || !judged) {
			names = append(names, v.Name+" (its value)")
		}
		if len(by) > 0 {
			names = append(names, v.Name+" by "+diag.Some(by))
		}
	}
	seen := map[string]bool{}
	s.everyEvent(func(e *EventRecord) {
		if e.trust() == t && !seen[e.Name] {
			seen[e.Name] = true
			names = append(names, "the time of "+e.Name)
		}
	})
	return names
}
