package solvers

import "slices"

// Lagged is a System whose functions read states at earlier times. It keeps a record of the run, from which it reads
// them: what it is told of here is all that it needs for that.
//
// Which piece of the record is read is decided for a whole step, so that nothing depends on which side of a jump a
// rounded time lies.
type Lagged interface {
	System
	// Opens begins a record: of a run by m from state y at t. The error says why there can be none.
	Opens(m Method, t float64, y []float64) error
	// Over tells that what is evaluated next belongs to the step from t to t1. Where both are the same, it belongs to
	// what comes behind t.
	Over(t, t1 float64)
	// Next returns how long a step from t may be, so that it reads nothing that it makes itself, and the first time
	// behind t at which a step is to end, since what it reads is not smooth there. The error says that steps cannot be
	// so short: they are no shorter than least, or all as long as fixed unless that is 0.
	Next(t, fixed, least float64) (longest, stop float64, err error)
	// Cut returns how long the trial step tr, which is accurate enough, may be, and whether it is to be made again: so
	// long, or as it is where that is 0.
	Cut(tr *Step) (h float64, again bool)
	// Made takes a step that was accepted, with its end and the rows of its dense output. It reports whether the
	// right-hand side may be another one behind its end.
	Made(s *Step, e End) (broke bool, err error)
	// Marked takes a mark behind the steps that were made.
	Marked(m *Mark) error
}

// Remembering is an Interpolant whose dense output can be pushed when other steps have been pushed meanwhile, and
// pulled while another step is.
type Remembering interface {
	Interpolant
	Seeded
	// Tangents returns the tangents of the rows of K of the last Push, of s with d. They are overwritten later.
	Tangents(f TangentField, s *Step, d *StepTangent) []float64
	// RecallPush is InterpolatePush of a step of which Tangents returned kd.
	RecallPush(s *Step, d *StepTangent, theta float64, kd, td, yd []float64)
}

// Remembers reports whether methods of s are Remembering, and their dense output is of an order that does not spoil
// theirs: what is read from it goes into the rates. Of implicit methods it makes the order that of the dense output and
// one: those of high order have no better one. Stages that lie beyond their step would read what no step has made yet.
func (s *Spec) Remembers() bool {
	for _, m := range s.Members {
		if !m.Remembers() {
			return false
		}
	}
	if s.Members != nil {
		return true
	}
	m := s.New(Size{N: 1}, 0)
	_, able := m.(Remembering)
	i := m.Info()
	if r, ok := m.(*implicitRungeKutta); ok {
		return !s.Can.Has(SplitRates) && slices.Max(r.c) <= 1 && 2*i.DenseOrder >= i.Order
	}
	return able && i.DenseOrder >= i.Order-1
}

// Tangents implements Remembering.
func (r *rungeKutta) Tangents(f TangentField, s *Step, d *StepTangent) []float64 {
	r.readyKept(f, s, d)
	return r.dense.kd
}

// RecallPush implements Remembering.
func (r *rungeKutta) RecallPush(s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	r.denseTangent(s, d, theta, kd, td, yd)
}

// Tangents implements Remembering.
func (r *implicitRungeKutta) Tangents(TangentField, *Step, *StepTangent) []float64 { return r.push.kd }

// RecallPush implements Remembering.
func (r *implicitRungeKutta) RecallPush(s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	r.denseTangent(s, d, theta, kd, td, yd)
}

// Tangents implements Remembering.
func (c *switching) Tangents(f TangentField, s *Step, d *StepTangent) []float64 {
	return c.members[s.Member].(Remembering).Tangents(f, s, d)
}

// RecallPush implements Remembering.
func (c *switching) RecallPush(s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	c.members[s.Member].(Remembering).RecallPush(s, d, theta, kd, td, yd)
}

// aimed aims the trial step towards stop, the next explicit time, and reports whether it ends there. What is read of
// the past may make it end before.
func aimed(s *Solver, tr *Step, stop float64) (clipped bool, err error) {
	past := s.sight.lagged
	if past == nil {
		return s.aim(tr, stop), nil
	}
	longest, at, err := past.Next(s.t, s.opts.Fixed, s.least())
	if err != nil {
		return false, err
	}
	s.h = min(s.h, longest)
	before := at < stop-s.eventTol(stop, 0)
	if before {
		stop = at
	}
	clipped = s.aim(tr, stop) && !before
	past.Over(tr.T, tr.T1)
	return clipped, nil
}

// remade reports whether the trial step is to be made again: it passes over something, or reads what is not smooth.
func remade(s *Solver, tr *Step) bool {
	if s.sight.narrow != nil && s.sight.passes(s) {
		return true
	} else if s.sight.lagged == nil {
		return false
	}
	h, again := s.sight.lagged.Cut(tr)
	if again && h > 0 {
		s.cut = max(h, s.least())
	}
	return again
}
