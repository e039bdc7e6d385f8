package sens

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// passage is a way along a recorded run, forwards or backwards: the step and the mark that it has come to.
type passage struct {
	run      *record.Trajectory
	read     record.Reader // of run
	instants []solvers.Instant
	step     solvers.Step
	mark     solvers.Mark
}

// survey is a passage on which functionals are read: at marks, and at readings, also within steps.
type survey struct {
	passage
	pt     Point
	dense  solvers.Step // with stages of its own, to be interpolated
	loaded int          // the step that dense is, -1 for none
	y      []float64    // [N] the state at a reading within a step
}

func newSurvey(run *record.Trajectory, instants []solvers.Instant) survey {
	return survey{passage: passage{run: run, instants: instants}, loaded: -1}
}

// timeless reports whether no time of a run depends on anything: nothing moves times then, and cotangents of time lead
// nowhere.
func timeless(sys solvers.System) bool {
	moving := func(in solvers.Instant) bool { return !in.Fixed }
	return len(sys.Guards()) == 0 && !slices.ContainsFunc(sys.Instants(), moving)
}

// at makes the point that of mark m, and reports whether obj reads anything there.
func (s *survey) at(m *solvers.Mark, obj Objectives) bool { return s.pt.at(m, s.instants, obj) }

// atInside makes the point that of mark m, which lies within its step. It returns what obj reads there, and whether
// that is anything.
func (s *survey) atInside(m *solvers.Mark, obj Objectives) (r innerReading, read bool) {
	r = innerReading{t: m.T, theta: m.Theta, instant: -1}
	read = s.at(m, obj)
	if !s.instants[m.Instant].Fixed {
		r.instant = m.Instant
	}
	return r, read
}

// atReading makes the point that of r, where the state is y at the discretes d.
func (s *survey) atReading(r *reading, y, d []float64) {
	s.pt = Point{Site: r.site, T: r.t, Ym: y, Dm: d, Yp: y, Dp: d}
}

// atReadingInside makes the point that of r within its step, which is dense, by the dense output of method.
func (s *survey) atReadingInside(r *reading, method solvers.Method, sys solvers.Field) {
	if len(s.y) == 0 {
		s.y = make([]float64, s.run.Size().N)
	}
	method.Interpolate(sys, &s.dense, r.theta, s.y)
	d, _ := s.run.Held(r.step)
	s.atReading(r, s.y, d)
}

// loadDense makes dense step i, and reports whether it was another one.
func (s *survey) loadDense(i int) (fresh bool, err error) {
	if s.loaded == i {
		return false, nil
	}
	s.loaded = i
	_, err = s.read.LoadDense(i, &s.dense)
	return true, err
}

// setBefore reports whether the time that e ends a step of length h at is set by the discretes before its group of
// events, and not by the present ones.
func setBefore(e solvers.End, h float64) bool { return h == 0 && !e.At.Has(solvers.EndHere) }

// group holds the left limits of the group of events that a passage forwards is in. E is what a number becomes.
type group[E any] struct {
	y, d []E
	open bool
}

// enter notes the left limits where the group begins, and reports whether it does.
func (g *group[E]) enter(y, d []E) bool {
	if g.open {
		return false
	}
	g.open = true
	copy(g.y, y)
	copy(g.d, d)
	return true
}

// cotangents are those at the point that a passage backwards has come to. V is a number for each element and lane.
type cotangents[V any] struct {
	yb, tb, db V // [N·L], [L], [D·L]: state, time and discretes
}

// leftCotangents are those of the state and the discretes at a left limit.
type leftCotangents[V any] struct{ y, d V }

// jump holds the cotangents of left limits until they meet, at the event that has them.
type jump[V any] struct {
	body  leftCotangents[V] // from the body of the event
	seen  leftCotangents[V] // from what is read there
	group leftCotangents[V] // from what is read within the group of events that begins there
	of    int               // the mark where group belongs, -1 for none
}

// newJump returns a jump; v makes the cotangents of so many elements.
func newJump[V any](n, d int, v func(int) V) jump[V] {
	left := func() leftCotangents[V] { return leftCotangents[V]{v(n), v(d)} }
	return jump[V]{left(), left(), left(), -1}
}

// root is how a guard is transposed at the end of the step that it ended: its cotangents there, and the pull of the
// step that they go through, C.
type root[V, C any] struct {
	gy, gt, gq V // of state and time; no guard reads quadratures, and gq is zero
	g          C
}

// moved holds cotangents of the start and the length of a step, from what is read within it and moves with it.
type moved struct{ t, h []float64 } // [L]

func (m *moved) clear() {
	clear(m.t)
	clear(m.h)
}

// add adds tb, the cotangent of a time at theta of the step.
func (m *moved) add(theta float64, tb []float64) {
	for j, x := range tb {
		m.t[j] += x
		m.h[j] = math.FMA(theta, x, m.h[j])
	}
}
