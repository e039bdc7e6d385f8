package hybrid_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// separate is a system all of whose causes can come apart, or none. It holds that bodies are told how often they fired.
type separate struct {
	*solvertest.Hybrid
	t     *testing.T
	never bool
	fired map[[2]int]int // [event, element] without looks at what might have been
}

func (s *separate) Apart(float64, []float64, []float64, solvers.Cause, solvers.Cause) bool {
	return !s.never
}

// ApartAt implements solvers.Separator.
func (s *separate) ApartAt(*solvers.Junction) (which [2]string, some bool) { return which, false }

func (s *separate) Affect(f solvers.Firing, t float64, ym, dm, yp, dp []float64) bool {
	if n := s.fired[[2]int{f.Event, f.Elem}]; f.Nth < 0 || f.Nth > n || f.Nth < n-1 {
		s.t.Errorf("event %d at %v: number %d of %d", f.Event, t, f.Nth, n)
	}
	return s.Hybrid.Affect(f, t, ym, dm, yp, dp)
}

// told returns the warnings of a run of h by dopri5.
func (s *separate) told(h *solvertest.Hybrid) []solvers.Warning {
	s.t.Helper()
	s.Hybrid, s.fired = h.With(1), map[[2]int]int{}
	m := method("dopri5").New(h.Size(), 0)
	ctl, _ := hybrid.NewController("", m.Info())
	st, err := hybrid.NewSolver(s, m, ctl, solvers.Options{}).Solve(context.Background(), &counting{system: s})
	if err != nil {
		s.t.Error(err)
	}
	return st.Warnings
}

// counting is a sink that counts what fired.
type counting struct {
	clockLog
	system *separate
}

func (c *counting) Mark(m *solvers.Mark) error {
	if m.Kind == solvers.MarkFire {
		c.system.fired[[2]int{m.Firing.Event, m.Firing.Elem}]++
	}
	return c.clockLog.Mark(m)
}

// switched has x' = 1 below x = 1 and slope above, and so with an integral.
func switched(slope, integrand C) *solvertest.Hybrid {
	h := sys()
	h.M, h.Q = 1, 1
	h.Field = func(_ C, _ []C, e *env, k []C) {
		k[0], k[1] = 1, 1
		if e.M[0] == 1 {
			k[0], k[1] = slope, integrand
		}
	}
	h.Select = func(_ float64, y []float64, _ *env, m []float64) {
		m[0] = 0
		if y[0] > 1 {
			m[0] = 1
		}
	}
	h.Conditions = append(h.Conditions, solvertest.Guard{
		Guard: solvers.Guard{Event: -1, Name: "if"}, Strict: true,
		Rho: func(_ C, y []C, e *env) C {
			if e.M[0] == 1 {
				return 1 - y[0]
			}
			return y[0] - 1
		},
	})
	return h
}

// TestBeside has events and changes of modes at the times of observations, ends and each other, just before and just
// after. What can come apart is told, whether anything comes of it or not.
func TestBeside(t *testing.T) {
	const soon = 1e-10 // the span is 2, and roots are known to 2e-6
	at := func(c float64, i solvertest.Instant) solvertest.Instant {
		i.At, i.Fixed = func(*env) C { return complex(c, 0) }, false
		return i
	}
	// with has an event at a time, and what else is given.
	with := func(time float64, b body, more ...solvertest.Instant) *solvertest.Hybrid {
		h := sys()
		event(h, "e", nil, b)
		h.Times = append(h.Times, at(time, fire(0, 0)))
		h.Times = append(h.Times, more...)
		return h
	}
	silent := with(1, add(5), site(1))
	silent.Bodies[0].Silent = true
	late := func(time float64, b body, c C) *solvertest.Hybrid { // a second event at a level
		h := with(time, b)
		event(h, "level", above(c), scale(2))
		return h
	}
	first := func(b body, c C) *solvertest.Hybrid { // the event at a level is the first of the file
		h := sys()
		event(h, "level", above(c), scale(2))
		event(h, "e", nil, b)
		h.Times = append(h.Times, at(1, fire(1, 0)))
		return h
	}
	rate := func(before, after C, c C) *solvertest.Hybrid { // the event changes the slope, and a level is just above
		h := late(1, func(_ int, _ C, ym []C, _ *env, yp, dp []C) { yp[0], dp[0] = ym[0]+1, after }, c)
		h.D = 1
		h.Init = func(_ C, _ *env, y, d []C) { y[0], d[0] = 0, before }
		h.Field = func(_ C, _ []C, e *env, k []C) { k[0] = e.D[0] }
		return h
	}
	turn := func(before, after C, c C) *solvertest.Hybrid { // it changes nothing else
		h := rate(before, after, c)
		h.Bodies[0].Body = func(_ int, _ C, _ []C, _ *env, _, dp []C) { dp[0] = after }
		return h
	}
	beat := func(first, period float64) *solvertest.Hybrid {
		h := with(1-soon, add(5))
		h.Times[1] = at(1.9, h.Times[1])
		event(h, "beat", nil, scale(2))
		i := at(first, fire(1, 0))
		i.Kind, i.Period = solvers.InstantEvery, len(h.Times)+1
		h.Times = append(h.Times, i, at(period, instant(solvers.InstantValue, 0)))
		return h
	}
	mode := func(slope, integrand C, b body, more ...solvertest.Instant) *solvertest.Hybrid {
		h := switched(slope, integrand)
		h.Times = append(h.Times, more...)
		if b != nil {
			event(h, "e", nil, b)
			h.Times = append(h.Times, at(1, fire(0, 0)))
		}
		return h
	}
	ends := func(h *solvertest.Hybrid, tf float64) *solvertest.Hybrid {
		h.Times[1] = at(tf, instant(solvers.InstantEnd, 0))
		return h
	}
	edge := func(x, slope C, change func(g *solvertest.Guard)) *solvertest.Hybrid {
		h := sys()
		h.Init = func(_ C, _ *env, y, _ []C) { y[0] = x }
		h.Field = func(_ C, _ []C, _ *env, k []C) { k[0] = slope }
		event(h, "e", above(0), nil)
		if change != nil {
			change(&h.Conditions[0])
		}
		return h
	}
	crossing := func(g *solvertest.Guard) { g.Crossing = true }
	begins := func(x, slope C) *solvertest.Hybrid { // on the threshold of a mode
		h := switched(slope, 1)
		h.Init = func(_ C, _ *env, y, _ []C) { y[0] = x }
		return h
	}
	type want struct {
		kind        solvers.WarningKind
		name, other string
		apart       float64 // the time between them
	}
	obs, end, start := solvers.Observation, solvers.Finish, solvers.Start
	for name, c := range map[string]struct {
		h    *solvertest.Hybrid
		want []want
	}{
		"observed at the time": {with(1, add(5), site(1)), []want{{solvers.OneSided, "e", obs, 0}}},
		"silent":               {silent, []want{{solvers.OneSided, "e", obs, 0}}}, // it decides whether an event comes
		"observed just after":  {with(1, add(5), site(1+soon)), []want{{solvers.OneSided, "e", obs, soon}}},
		"observed just before": {with(1+soon, add(5), site(1)), []want{{solvers.OneSided, "e", obs, soon}}},
		"observed later":       {with(1, add(5), site(1+3e-9)), nil},
		"observed earlier":     {with(1+3e-9, add(5), site(1)), nil},
		"at the end":           {ends(with(2, add(5)), 2), []want{{solvers.OneSided, "e", end, 0}}},
		"just before the end":  {ends(with(2-soon, add(5)), 2), []want{{solvers.OneSided, "e", end, soon}}},

		"prevents a level":            {late(1, add(-0.5), 1+1e-7), []want{{solvers.OneSided, "e", "level", 1e-7}}},
		"prevents the first event":    {first(add(-0.5), 1+1e-7), []want{{solvers.OneSided, "e", "level", 1e-7}}},
		"prevents a level far off":    {late(1, add(-0.5), 1+1e-5), nil},
		"reaches a level":             {late(1, add(0.5), 1.2), nil}, // by its jump: no other order is near
		"a level just after":          {late(1, nil, 1+1e-7), []want{{solvers.OneSided, "e", "level", 1e-7}}},
		"a slope that was there":      {rate(1, 2, 2+1e-7), nil}, // without e the level is far off
		"a slope changes just before": {turn(1, 2, 1+1e-7), []want{{solvers.OneSided, "e", "level", 5e-8}}},
		"a slope begins just before":  {turn(0.1, 20, 0.1+1e-6), nil}, // without e the level comes later
		"no slope before":             {turn(0, 20, 1e-6), nil},
		"every, just after":           {beat(0.5, 0.5), []want{{solvers.OneSided, "e", "beat", soon}}},
		"every, first":                {beat(1, 0.7), []want{{solvers.OneSided, "e", "beat", soon}}},
		"every, later":                {beat(0.6, 0.5), nil},

		"mode and observation": {mode(3, 1, nil, site(1)), []want{{solvers.OneSided, "if", obs, 0}}},
		"integrals at the end": {ends(mode(1, 3, nil), 1), []want{{solvers.OneSided, "if", end, 0}}},
		"mode at the end":      {ends(mode(3, 1, nil), 1), []want{{solvers.OneSided, "if", end, 0}}},
		"mode before":          {mode(3, 1, nil, site(0.5)), nil},

		"mode and doubling":    {mode(3, 1, scale(2)), []want{{solvers.OneSided, "e", "if", 0}}},
		"mode and going back":  {mode(3, 1, add(-0.5)), []want{{solvers.OneSided, "e", "if", 0}}},
		"mode and going on":    {mode(3, 1, add(1)), []want{{solvers.OneSided, "e", "if", 0}}},
		"only integrals, back": {mode(1, 3, add(-0.5)), []want{{solvers.OneSided, "e", "if", 0}}},

		"begins on it":           {edge(0, 1, nil), []want{{solvers.OneSided, "e", start, 0}}},
		"begins and leaves":      {edge(0, -1, nil), []want{{solvers.OneSided, "e", start, 0}}},
		"begins and rests":       {edge(0, 0, nil), nil},
		"crosses and leaves":     {edge(0, -1, crossing), []want{{solvers.OneSided, "e", start, 0}}},
		"begins elsewhere":       {edge(-1e-3, 1, nil), nil},
		"only watched":           {edge(0, 1, func(g *solvertest.Guard) { g.Watch = true }), nil},
		"a kink":                 {edge(0, 1, func(g *solvertest.Guard) { g.Event, g.Kink = -1, true }), nil},
		"begins on a mode":       {begins(1, 3), []want{{solvers.OneSided, "if", start, 0}}},
		"begins, same slopes":    {begins(1, 1), []want{{solvers.OneSided, "if", start, 0}}},
		"begins beside the mode": {begins(1-1e-3, 3), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := &separate{t: t}
			var got []want
			for _, w := range s.told(c.h) {
				got = append(got, want{w.Kind, w.Name, w.Other, w.Value})
				if w.Instant != -1 {
					t.Errorf("%+v", w)
				}
			}
			if !slices.EqualFunc(got, c.want, func(a, b want) bool {
				near := math.Abs(a.apart-b.apart) <= 1e-15
				a.apart, b.apart = 0, 0
				return near && a == b
			}) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			// Where causes cannot come apart, nothing is to be told.
			if got := (&separate{t: t, never: true}).told(c.h); len(got) > 0 {
				t.Errorf("not apart: %+v", got)
			}
		})
	}
}
