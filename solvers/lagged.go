package solvers

import "slices"

// Lagged is a System whose functions read states at earlier times, from a record of the run. Which piece of it is read
// is decided for a whole step, so that nothing depends on the side of a jump on which a rounded time lies.
type Lagged interface {
	System
	// Opens begins a record: of a run by m from state y at t. The error says why there can be none.
	Opens(m Method, t float64, y []float64) error
	// Over tells that what is evaluated next belongs to the step from t to t1, or if these are the same, behind t.
	Over(t, t1 float64)
	// Next returns how long a step from t may be to read nothing that it makes itself, and the first time behind t at
	// which what it reads is not smooth. An error: no step is as short, but least at least, or fixed unless that is 0.
	Next(t, fixed, least float64) (longest, stop float64, err error)
	// Cut returns whether the trial step tr, which is accurate enough, is made again: of length h, or as it is for 0.
	Cut(tr *Step) (h float64, again bool)
	// Made takes an accepted step with its end and all rows. It reports what may be other behind it.
	Made(s *Step, e End) (Broke, error)
	// Marked takes a mark behind the steps that were made.
	Marked(m *Mark) error
}

// Broke is what changes where a jump comes back of the past.
type Broke uint8

// The kinds of Broke; a condition changes with rates only.
const (
	BrokeNothing Broke = iota
	BrokeRates
	BrokeConditions // of an event or a mode
)

// passes accepts the trial step, at whose end nothing happens but what a jump makes true that comes back of the past.
func passes(s *Solver) error {
	if err := s.accept(End{}); err != nil || !s.sight.turned {
		return err
	}
	s.sight.lagged.Over(s.t, s.t)
	s.newGroup()
	if err := s.rearm(); err != nil {
		return err
	}
	for i := range s.guards { // Choose is still to make it false
		if g := &s.guards[i]; g.Event < 0 && !g.Watch && !g.Kink && s.truth[i] {
			s.starting = append(s.starting, i)
		}
	}
	for _, m := range s.wave {
		s.starting = append(s.starting, m.guard)
	}
	if len(s.starting) == 0 {
		return nil
	}
	return s.meet(false)
}

// Remembers reports whether a run by s can read its past: the order of the dense output does not spoil that of steps,
// but makes that of implicit ones its own and one, and no stage reads beyond its step what no step has made yet.
func (s *Spec) Remembers() bool {
	switch m := s.New(Size{N: 1}, 0).(type) {
	case *switching:
		return !slices.ContainsFunc(s.Members, func(m *Spec) bool { return !m.Remembers() })
	case *rungeKutta:
		return m.info.DenseOrder >= m.info.Order-1
	case *implicitRungeKutta:
		return !s.Can.Has(SplitRates) && slices.Max(m.c) <= 1 && 2*m.info.DenseOrder >= m.info.Order
	}
	return false
}

// maker returns the method that made s.
func maker(m Method, s *Step) Method {
	if c, ok := m.(*switching); ok {
		return c.members[s.Member]
	}
	return m
}

// Tangents returns the tangents of the rows of K of the last Push of m, of s with d. They are overwritten later.
func Tangents(m Method, f TangentField, s *Step, d *StepTangent) []float64 {
	r, explicit := maker(m, s).(*rungeKutta)
	if !explicit {
		return maker(m, s).(*implicitRungeKutta).push.kd
	}
	r.readyKept(f, s, d)
	return r.dense.kd
}

// RecallPush is InterpolatePush of a step of m of which Tangents returned kd, when others have been pushed meanwhile.
func RecallPush(m Method, s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	type dense interface {
		denseTangent(*Step, *StepTangent, float64, []float64, []float64, []float64)
	}
	maker(m, s).(dense).denseTangent(s, d, theta, kd, td, yd)
}

// SeedsOf returns what InterpolatePull of m keeps for the Pull of s. Who takes it makes Sown false.
func SeedsOf(m Method, s *Step) *Seeds {
	switch r := maker(m, s).(type) {
	case *implicitRungeKutta:
		return &r.pull.seeds
	case *rosenbrock:
		return &r.pull.seeds
	default:
		return &r.(*rungeKutta).dense.seeds
	}
}

// SecondSeeds are Seeds with their tangents, which PullPush takes in.
type SecondSeeds struct{ denseDuals }

// Sown reports whether there are any.
func (g *SecondSeeds) Sown() bool { return g.seeded }

// Drop forgets them.
func (g *SecondSeeds) Drop() { g.seeded = false }

// secondOf returns what m has for second derivatives of s, and the number of rows of K.
func secondOf(m Method, s *Step) (of *stageWork, g *denseDuals, rows int) {
	if r, explicit := maker(m, s).(*rungeKutta); explicit {
		return &r.stageWork, &r.readySecond().denseDuals, len(r.a)
	}
	r := maker(m, s).(*implicitRungeKutta)
	return &r.stageWork, &r.readySecond().denseDuals, r.rows
}

// RecallPullPush is InterpolatePullPush of a step of m of which Tangents returned kd, when others have been made
// meanwhile. What it sows is in g.
func RecallPullPush(m Method, s *Step, d *StepTangent, theta float64, kd, td []float64, w, tb Dual, g *SecondSeeds) {
	of, _, rows := secondOf(m, s)
	if g.m == nil {
		g.denseDuals = newDenseDuals(rows, of.n, of.l, of.interpolantAt.of)
	}
	of.sowDual(&g.denseDuals, s, d, theta, td, kd, w, tb)
}

// SowSecond adds g to what the next PullPush of m, that of s, takes in. What is sown in g next begins anew.
func SowSecond(m Method, s *Step, g *SecondSeeds) {
	_, to, _ := secondOf(m, s)
	g.seeded = false
	for _, v := range []struct{ to, from Dual }{{to.seed, g.seed}, {to.y0, g.y0}, {to.h, g.h}, {to.t0, g.t0}} {
		if to.seeded {
			v.to.Add(v.from)
		} else {
			v.to.Copy(v.from)
		}
	}
	to.seeded = true
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
