package result

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
)

// Sensitivities is the result of Model.Sensitivities and of Runner.Sensitivities.
type Sensitivities struct {
	Status    string // "ok" or "partial": some objective has no value, or some number is Lost
	From, To  float64
	Values    []Value
	Variables []Variable
	// Gradient is [len(Values)][Columns]. Row i is the gradient of Values[i], in units of the value by
	// those of the variables; Variable.Offset says in which column a variable starts. It is exact for
	// the computed solution (docs/methods-trust.md).
	Gradient []float64
	// Errors estimate how far each number of Gradient is from the derivative of the exact solution, by
	// an independent run. nil where none was made (sens { trust = off }), or where it failed.
	Errors []float64
	// Trusts are the grades of Gradient, laid out like it: the method Trust reads them. nil where all
	// of its numbers are Sound, and Values and Events as well.
	Trusts  []Trust
	Columns int
	// Hessian is [len(Values)][Columns][Columns], with sens { order = 2 }: the second derivatives of
	// Values[i], in units of the value by those of the two variables. Like the gradient it is exact
	// for the computed solution. Its columns are computed independently and then made symmetric.
	// Asymmetry[len(Values)] is how far the elements were from that, relative to the largest one: the
	// effect of rounding.
	Hessian   []float64
	Asymmetry []float64
	// HessianErrors and ProductErrors estimate how far each number of Hessian and Products is from that of the exact
	// solution, and HessianTrusts and ProductTrusts are the grades. The errors are nil where nothing was compared, and
	// the grades are where all are Sound as well.
	HessianErrors, ProductErrors []float64
	HessianTrusts, ProductTrusts []Trust
	// Products is [len(Values)][Columns]: row i is the Hessian of Values[i] times Direction[Columns],
	// where one was given (sens { hvp = … } or Options.Direction). It costs as much as one column of
	// the Hessians.
	Products  []float64
	Direction []float64
	// Events are those that Options.Events asks for, MoreEvents is how many came after them, and LastEvent is the last
	// of all, without the derivatives of its time. Where Options.EventLog allows it, Events may be nil, and Log has
	// them: EachEvent reads either.
	Events     []Event
	MoreEvents int
	LastEvent  Event
	Log        EventLog
	// OneSided tells which numbers of Gradient are those of one side: at a kink, or where two things come at one time.
	OneSided OneSided
	Settings Settings
	Stats    Stats
	Warnings []diag.Diagnostic
}

// Derivative returns the derivatives of value i by variable v: a view of the gradient, row-major in
// v's shape.
func (s *Sensitivities) Derivative(i int, v Variable) []float64 {
	at := i*s.Columns + v.Offset
	return s.Gradient[at : at+v.Size()]
}

// Second returns the Hessian of value i: a view of Hessian, [Columns][Columns]. It is nil if there is
// none.
func (s *Sensitivities) Second(i int) []float64 {
	if s.Hessian == nil {
		return nil
	}
	n := s.Columns * s.Columns
	return s.Hessian[i*n : (i+1)*n]
}

// Trust returns how far the derivatives of value i by variable v may be relied on: the worst grade of its elements.
func (s *Sensitivities) Trust(i int, v Variable) Trust {
	if s.Trusts == nil {
		return Sound
	}
	at := i*s.Columns + v.Offset
	return slices.Max(s.Trusts[at : at+v.Size()])
}

// Worst returns the worst grade of value i and of its derivatives.
func (s *Sensitivities) Worst(i int) Trust {
	worst := s.Values[i].Trust
	if s.Trusts != nil && s.Columns > 0 {
		worst = max(worst, slices.Max(s.Trusts[i*s.Columns:(i+1)*s.Columns]))
	}
	return worst
}

// EachEvent calls f with each of the events that Options.Events asks for, in order, until f returns an error. The
// record and its slices hold until f returns.
func (s *Sensitivities) EachEvent(f func(*Event) error) error {
	if s.Log != nil {
		return s.Log.Each(f)
	}
	for i := range s.Events {
		if err := f(&s.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// everyEvent calls f with each event. A log that cannot be read has made the result an error already.
func (s *Sensitivities) everyEvent(f func(*Event)) {
	_ = s.EachEvent(func(e *Event) error { f(e); return nil })
}

// Close gives up the file of the events of a result, if there is one. They cannot be read any more.
func (s *Sensitivities) Close() {
	if s.Log != nil {
		s.Log.Close()
	}
}

// FewDigits begins the warning of numbers that are Loose, and NotTrusted that of those that are Lost.
const (
	FewDigits  = "few digits are right"
	NotTrusted = "not to be trusted"
)

// CodeTrust is the code of warnings of what an independent run says of the numbers of a result.
const CodeTrust diag.Code = "trust"

// AtMinimum makes derivatives of value i by some variables sound, but for those of one side: at a minimum of that
// value they are zero within its error, and that few of their digits are right is no news. Package fit finds out
// whether a point is one, and by which variables.
func (s *Sensitivities) AtMinimum(i int, by []Variable) {
	found := false // one that was lost
	for _, v := range by {
		for k := v.Offset; k < v.Offset+v.Size() && s.Trusts != nil; k++ {
			at := i*s.Columns + k
			if s.OneSided.Doubtful == nil || !s.OneSided.Doubtful[at] {
				found = found || s.Trusts[at] == Lost
				s.Trusts[at] = Sound
			}
		}
	}
	s.tellAgain(FewDigits, s.Graded(Loose, true))
	lost := s.Graded(Lost, true)
	s.tellAgain(NotTrusted, lost)
	if found && lost == nil {
		s.Status = "ok"
	}
}

// tellAgain changes the names of a warning that begins so, or removes it where there are none.
func (s *Sensitivities) tellAgain(begins string, names []string) {
	is := func(d diag.Diagnostic) bool { return d.Code == CodeTrust && strings.HasPrefix(d.Message, begins) }
	if names == nil {
		s.Warnings = slices.DeleteFunc(s.Warnings, is)
	}
	for k := range s.Warnings {
		d := &s.Warnings[k]
		if begin, _, more := strings.Cut(d.Message, ": "); more && is(*d) {
			d.Message = begin + ": " + diag.Some(names)
		}
	}
}

// Graded names the numbers with a grade: values, derivatives, times of events. It leaves out what has no value, which
// warnings of values tell, and infinite values where the result was judged by an independent run.
func (s *Sensitivities) Graded(t Trust, judged bool) (names []string) {
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
	s.everyEvent(func(e *Event) {
		if e.Worst() == t && !seen[e.Name] {
			seen[e.Name] = true
			names = append(names, "the time of "+e.Name)
		}
	})
	return names
}
