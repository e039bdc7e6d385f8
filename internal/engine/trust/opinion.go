package trust

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
)

// Opinion is what an independent run says of a result.
type Opinion struct {
	By     string // the run, in words
	Failed error  // why there is none; nil if there is one
	// Strange describes the first event that one of the runs has and the other lacks, or has at another time; ""
	// for none.
	Strange string
	Sizes   []float64 // of the variables
	// Faint tells that steps of the run or of the independent one came to the rounding of time, as they do where they
	// cross a pole. Numbers on which the two do not agree are no numbers then.
	Faint bool
}

// lostFrom returns the time from which all is lost, since the model itself ended the independent run then; +Inf for
// never. A run that went on past the place did so by luck, such as a step across a pole.
func (o *Opinion) lostFrom() float64 {
	var failed *result.RunError
	if !errors.As(o.Failed, &failed) || !explain.OfModel(failed) {
		return math.Inf(1)
	}
	if math.IsNaN(failed.T) { // it did not begin
		return math.Inf(-1)
	}
	return failed.T
}

// late is after all times of runs.
const late = math.MaxFloat64

// unconfirmed is the grade of numbers of a time because the independent run failed.
func (o *Opinion) unconfirmed(t float64) result.Trust {
	switch {
	case o.Failed == nil:
		return result.Sound
	case t >= o.lostFrom():
		return result.Lost
	}
	return result.Loose
}

// GradeBy grades all numbers of s by what o says, after they were compared.
func (s *Result) GradeBy(g *Grader, o *Opinion) {
	s.Grade(g, true)
	for i := range s.Values {
		switch {
		case o.Failed != nil:
			s.doubt(i, o.unconfirmed(late), true)
		case o.Strange != "":
			s.doubt(i, max(result.Loose, s.Worst(i)), true)
			s.doubtZeros(i)
		}
	}
	if o.Faint {
		loseLoose(s)
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.T >= o.lostFrom() {
			e.Trust = result.Lost
			for k, x := range e.Params {
				if x != 0 {
					e.Trusts[k] = result.Lost
				}
			}
		}
	}
}

// loseLoose has values and derivatives lost that are loose.
func loseLoose(s *Result) {
	for i := range s.Values {
		if s.Values[i].Trust == result.Loose {
			s.Values[i].Trust = result.Lost
		}
	}
	for k, t := range s.Trusts {
		if t == result.Loose {
			s.Trusts[k] = result.Lost
		}
	}
}

// Grade fills in the trust in all numbers of s: from their estimated errors, where there are any, and from what the
// run warned of. Unless judged is set, it looks for numbers that are not finite and for nothing else.
func (s *Result) Grade(g *Grader, judged bool) {
	s.Trusts = nil
	if !judged && s.allFinite() { // the usual case, without a pass over what may be millions of grades
		return
	}
	s.Trusts = s.spare.newTrusts(len(s.Gradient))
	if s.parted = nil; judged && s.Unlike != nil {
		s.parted = make([]bool, s.Columns)
	}
	for i := range s.Values {
		v := &s.Values[i]
		at, to := i*s.Columns, (i+1)*s.Columns
		x := Numbers{Value: v.Value, Row: s.Gradient[at:to], Trusts: s.Trusts[at:to]}
		if s.parted != nil {
			x.Unlike, x.Parted = s.Unlike[at:to], s.parted
		}
		if judged && s.Errors != nil {
			x.Err = v.Error
			x.Errors = s.Errors[at:to]
		}
		if g.Allowed != nil && judged {
			x.Allowed = g.Allowed[i]
		}
		if g.Reached != nil {
			x.Reached = g.Reached[i]
		}
		if math.IsNaN(v.Value) { // it has no derivatives
			x.Row = nil
		}
		x.Held = s.Held != nil && s.Held[i]
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
		e.Trusts = make([]result.Trust, len(e.Params))
		g.GradeEvent(e, s.From, s.To)
	}
	if log, is := s.Log.(Log); is {
		log.Grade(g)
	}
	if s.AllSided || s.Sided != nil || s.Bent != nil {
		for i := range s.Values {
			s.oneSided(i)
		}
	}
	if s.warned(explain.CodeGrazing) {
		sizes := make([]float64, len(g.Variables))
		for n, v := range g.Variables {
			sizes[n] = v.Size
		}
		for k, sudden := range s.sudden(sizes) {
			if sudden {
				s.doubtBy(k, result.Loose)
			}
		}
	}
	if s.Unseen() {
		for i := range s.Values {
			s.doubt(i, result.Loose, true)
			s.doubtZeros(i)
		}
	}
}

// GradeEvent fills in the grades of an event of a run over a time span. Trusts are as long as Params.
func (g *Grader) GradeEvent(e *result.Event, from, to float64) {
	e.Trust = g.Grade(&Numbers{
		Value: e.T, Err: e.Error, Least: float64(1e-3 * math.Abs(to-from)), Row: e.Params, Errors: e.Errors,
		Trusts: e.Trusts,
	})
}

// allFinite reports whether all values and derivatives are finite.
func (s *Result) allFinite() bool {
	if s.Finite {
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

// doubt makes grades at least as bad as t: those of derivatives other than zero, and those of values if they are
// asked for.
func (s *Result) doubt(i int, t result.Trust, value bool) {
	if value {
		s.Values[i].Trust = max(s.Values[i].Trust, t)
	}
	for k := i * s.Columns; k < (i+1)*s.Columns; k++ {
		if s.Gradient[k] != 0 {
			s.Trusts[k] = max(s.Trusts[k], t)
		}
	}
}

// Unseen reports whether the run of s warned that something may have happened without being seen.
func (s *Result) Unseen() bool { return s.warned(explain.CodeHidden, explain.CodeUnseen) }

// doubtZeros makes derivatives of value i loose that are zero and need not be, as far as that is known.
func (s *Result) doubtZeros(i int) {
	for k := i * s.Columns; k < (i+1)*s.Columns && s.Reached != nil; k++ {
		if s.Gradient[k] == 0 && s.Reached[k] {
			s.Trusts[k] = max(s.Trusts[k], result.Loose)
		}
	}
}

// doubtBy makes the grades of derivatives by column k other than zero at least as bad as t.
func (s *Result) doubtBy(k int, t result.Trust) {
	for at := k; at < len(s.Gradient); at += s.Columns {
		if s.Gradient[at] != 0 {
			s.Trusts[at] = max(s.Trusts[at], t)
		}
	}
}

// oneSided makes derivatives loose that are those of one side: by what moves the two causes of a tie apart, if no other
// run decides about that.
func (s *Result) oneSided(i int) {
	at := i * s.Columns
	for k, x := range s.Gradient[at : at+s.Columns] {
		if x != 0 && s.isSided(i, k) || x == 0 && s.isBent(i, k) {
			s.Trusts[at+k] = max(s.Trusts[at+k], result.Loose)
		}
	}
}

// sudden reports by columns whether the time of an event moves so fast with a variable, of these sizes, that a small
// part of it makes the event come or go. The slope of a condition alone does not tell: that of a narrow parabola is
// small where it is crossed as well. It is nil where nothing is known, as without derivatives of times.
func (s *Result) sudden(sizes []float64) []bool {
	const fast = 10 // spans in time
	fastest := s.Fastest
	if s.Log != nil && s.MoreEvents == 0 {
		s.everyEvent(func(e *result.Event) { fastest = Farthest(fastest, e.Params) })
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

// Farthest returns the largest sizes of numbers by their places, those of a and of x.
func Farthest(a, x []float64) []float64 {
	if a == nil {
		a = make([]float64, len(x))
	}
	for k, v := range x {
		a[k] = max(a[k], math.Abs(v))
	}
	return a
}

// doubtful are the codes of warnings that the derivatives of a run are those of one side. Where an event grazes its
// condition, or turned back within rounding, it comes or goes with small changes, and so the independent run shows
// whether that matters.
var doubtful = []diag.Code{explain.CodeTie, explain.CodeKink}

// doubted reports whether the run of s warned that derivatives are those of one side.
func (s *Result) doubted() bool { return s.warned(doubtful...) }

// OnlyKinks reports whether derivatives of no times are those of one side, for all that the run of s warned of.
func (s *Result) OnlyKinks() bool {
	return len(s.Events)+len(s.Meetings) == 0 && !s.warned(explain.CodeTie)
}

// Doubts counts the warnings that derivatives are those of one side.
func Doubts(list []diag.Diagnostic) (n int) {
	for _, d := range list {
		if d.Level == diag.Warning && slices.Contains(doubtful, d.Code) {
			n++
		}
	}
	return n
}

// warned reports whether the run of s has a warning of one of these codes.
func (s *Result) warned(codes ...diag.Code) bool {
	return slices.ContainsFunc(s.Warnings, func(d diag.Diagnostic) bool {
		return d.Level == diag.Warning && slices.Contains(codes, d.Code)
	})
}
