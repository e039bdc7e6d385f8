package trust

import (
	"fmt"
	"math"

	"odes.dev/odes/result"
)

// A Log reads the events of a run that has too many to list. What follows from a comparison of two runs is made as an
// event is read.
type Log interface {
	result.EventLog
	// Compare has events compared with those of twin, the log of an independent run: estimate tells the error of x
	// where the other run has y.
	Compare(twin result.EventLog, estimate func(x, y float64) float64)
	// Grade has events graded by g.
	Grade(g *Grader)
}

// everyEvent calls f with each event. What goes wrong with the file of a log is told when a result is done.
func (s *Result) everyEvent(f func(*result.Event)) {
	_ = s.EachEvent(func(e *result.Event) error { f(e); return nil })
}

// Compare writes the estimated errors of derivatives and values to s. fine is the result of a more
// accurate run; its difference to s is share of the error.
func (s *Result) Compare(fine *Result, share float64) error {
	if len(fine.Gradient) != len(s.Gradient) || len(fine.Values) != len(s.Values) {
		return fmt.Errorf("the independent run gave %d derivatives instead of %d", len(fine.Gradient), len(s.Gradient))
	}
	// The steps round at random, each by about a number's last place.
	rounding := float64(0x1p-52 * math.Sqrt(float64(s.Stats.Steps+1)))
	estimate := func(x, y float64) float64 {
		if x == y {
			return float64(rounding * math.Abs(x))
		}
		return math.Abs(x-y)/share + float64(rounding*math.Abs(x))
	}
	if s.Held == nil { // a level is so within errors, which the independent run may show to be smaller
		s.Held = fine.Held
	}
	s.Errors = s.spare.newErrors(len(s.Gradient))
	errs, other := s.Errors[:len(s.Gradient)], fine.Gradient[:len(s.Gradient)]
	for i, x := range s.Gradient { // as estimate does: these may be millions
		off := math.Abs(x - other[i])
		if share != 1 {
			off /= share
		}
		if off != off && x == other[i] { // both are infinite
			off = 0
		}
		errs[i] = off + float64(rounding*math.Abs(x))
	}
	for i := range s.Values {
		if x, y := s.Values[i].Value, fine.Values[i].Value; !math.IsNaN(x) || !math.IsNaN(y) {
			s.Values[i].Error = estimate(x, y)
		}
	}
	if log, is := s.Log.(Log); is && fine.Log != nil {
		log.Compare(fine.Log, estimate)
	}
	s.compareEvents(fine, estimate)
	return nil
}

// occurrence tells an event of a run from all others: by its kind, name and index, and by how many like it came
// before.
type occurrence struct {
	name string
	nth  int
}

// occurrences calls f with the events of list and what distinguishes them.
func occurrences(list []result.Event, f func(occurrence, *result.Event)) {
	count := map[string]int{}
	for i := range list {
		name := fmt.Sprint(list[i].Kind, list[i].Name, list[i].Index)
		f(occurrence{name, count[name]}, &list[i])
		count[name]++
	}
}

// compareEvents writes the estimated errors of events' times, and of the derivatives of these, to the
// events of s.
func (s *Result) compareEvents(fine *Result, estimate func(x, y float64) float64) {
	twins := map[occurrence]*result.Event{}
	occurrences(fine.Events, func(o occurrence, e *result.Event) { twins[o] = e })
	errors := make([]float64, len(s.Events)*s.Columns)
	occurrences(s.Events, func(o occurrence, e *result.Event) {
		twin := twins[o]
		if twin == nil {
			return
		}
		e.Error = estimate(e.T, twin.T)
		if e.Params == nil || len(twin.Params) != len(e.Params) {
			return
		}
		e.Errors, errors = errors[:len(e.Params)], errors[len(e.Params):]
		for k, x := range e.Params {
			e.Errors[k] = estimate(x, twin.Params[k])
		}
	})
}

// influential is the part of an objective's largest relative derivative below which derivatives need not be accurate
// to sens_tol of themselves, but only of that part.
const influential = 1e-6

// Accuracy returns the largest of the objectives' estimated relative errors, and says which derivative has it.
func (s *Result) Accuracy(sizes []float64) (worst float64, where string) {
	for i := range s.Values {
		if rel, by := AccuracyOf(&s.Sensitivities, i, sizes); !(rel <= worst) {
			worst, where = rel, by
		}
	}
	return worst, where
}

// AccuracyOf returns the largest estimated error of a derivative of objective i of s and says which derivative it is.
// Errors are relative to the largest derivative by the same variable, or to the influential part of the objective's
// derivatives. sizes are those of the variables. Objectives without a value do not count, nor do derivatives that
// rounding of the value could make of zeros.
func AccuracyOf(s *result.Sensitivities, i int, sizes []float64) (worst float64, where string) {
	v := s.Values[i]
	if math.IsNaN(v.Value) {
		return 0, ""
	}
	rounding := float64(0x1p-48 * math.Sqrt(float64(s.Stats.Steps+1)))
	// The largest derivatives and errors by each variable.
	size, err := make([]float64, len(s.Variables)), make([]float64, len(s.Variables))
	most := 0.0
	for n, x := range s.Variables {
		for k := i*s.Columns + x.Offset; k < i*s.Columns+x.Offset+x.Size(); k++ {
			size[n] = max(size[n], math.Abs(s.Gradient[k]))
			err[n] = max(err[n], s.Errors[k])
		}
		most = max(most, float64(size[n]*sizes[n]))
	}
	for n, x := range s.Variables {
		if least := float64(rounding * max(most, math.Abs(v.Value))); float64(size[n]*sizes[n]) <= least &&
			float64(err[n]*sizes[n]) <= least {
			continue
		}
		if rel := err[n] / max(size[n], influential*most/sizes[n]); !(rel <= worst) {
			worst, where = rel, v.Name+" by "+x.String()
		}
	}
	return worst, where
}

// Count returns how many values and derivatives are lost, and how many are loose.
func (s *Result) Count() (lost, loose int) {
	add := func(t result.Trust) {
		switch t {
		case result.Lost:
			lost++
		case result.Loose:
			loose++
		}
	}
	for _, t := range s.Trusts {
		add(t)
	}
	for _, v := range s.Values {
		add(v.Trust)
	}
	s.everyEvent(func(e *result.Event) {
		for _, t := range e.Trusts {
			add(t)
		}
	})
	return lost, loose
}
