package hybrid_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
)

func TestNoEvents(t *testing.T) {
	both(t, sys(), "end", func(l *log, _ solvers.Stats) { close(t, "x", l.final[0], 2) })
}

func TestEmptySpan(t *testing.T) {
	h := sys()
	h.Times[1] = instant(solvers.InstantEnd, 0)
	h.Times = append(h.Times, fire(0, 0), site(0))
	event(h, "now", nil, add(3))
	both(t, h, "now site(0,3) end", func(l *log, _ solvers.Stats) { close(t, "x", l.final[0], 3) })
}

func TestEventAtStart(t *testing.T) {
	h := sys()
	h.Times = append(h.Times, fire(0, 0))
	event(h, "now", nil, add(3))
	both(t, h, "now end", func(l *log, _ solvers.Stats) { close(t, "x", l.final[0], 5) })
}

func TestEventAtEnd(t *testing.T) {
	h := sys()
	event(h, "last", nil, add(3))
	event(h, "state", above(2), add(7))
	h.Times = append(h.Times, fire(0, 2))
	// The first body moves the second guard off zero, so that the second is tied to its time.
	both(t, h, "last state end", func(l *log, _ solvers.Stats) { close(t, "x", l.final[0], 12) })
}

func TestStrictAtEnd(t *testing.T) {
	h := sys()
	event(h, "state", above(2), add(7))
	h.Conditions[0].Strict = true
	l := &log{}
	if _, err := solver(h, "rk4", solvers.Options{Fixed: 0.25}).Solve(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	// x is exactly 2 at the end, so x > 2 does not hold; but it would within the tolerance of a group.
	if l.String() != "state 0 end" {
		t.Error(l)
	}
}

func TestEventAtObservation(t *testing.T) {
	h := sys()
	event(h, "state", above(1), add(5))
	h.Times = append(h.Times, site(1), site(1), site(0.5))
	both(t, h, "site(0.5,0.5) state 0 site(1,6) site(1,6) end", func(l *log, _ solvers.Stats) {
		close(t, "time", l.times[0], 1)
	})
}

func TestOrderAtOneTime(t *testing.T) {
	for _, swap := range []bool{false, true} {
		h := sys()
		event(h, "add", above(1), add(5))
		event(h, "double", above(1), scale(2))
		want, final := "add double end", 2*(1+5)+1.0
		if swap {
			h.Bodies[1].Priority = 1
			want, final = "double add end", 2+5+1.0
		}
		both(t, h, want, func(l *log, st solvers.Stats) {
			close(t, "x", l.final[0], final)
			if len(st.Warnings) != 1 || st.Warnings[0].Kind != solvers.OneSided {
				t.Errorf("warnings %v, want a meeting", st.Warnings)
			}
		})
	}
}

// TestSimultaneous has two members with times of their own: each ends a step.
func TestSimultaneous(t *testing.T) {
	h := sys()
	h.N = 2
	h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 0 }
	h.Field = func(_ C, _ []C, _ *env, k []C) { k[0], k[1] = 1, 1 }
	event(h, "first", above(1), add(5))
	event(h, "second", func(_ C, y []C, _ *env) C { return y[1] - 1 },
		func(_ int, _ C, ym []C, _ *env, yp, _ []C) { yp[1] = ym[1] - 3 })
	event(h, "given", nil, nil)
	h.Times = append(h.Times, fire(2, 1))
	both(t, h, "first 0 second 0 given end", func(l *log, st solvers.Stats) {
		if len(st.Meetings) != 3 || len(st.Warnings) != 3 {
			t.Errorf("meetings %v, warnings %v", st.Meetings, st.Warnings)
		}
	})
}

func TestCascade(t *testing.T) {
	h := sys()
	event(h, "low", above(1), add(5))
	event(h, "high", above(4), add(2))
	event(h, "higher", above(7.5), add(1))
	both(t, h, "low high higher end", func(l *log, _ solvers.Stats) {
		close(t, "x", l.final[0], 10)
		close(t, "time", l.times[2], 1)
	})
}

func TestFirstStep(t *testing.T) {
	h := sys()
	event(h, "early", above(1e-9), add(5))
	both(t, h, "early end", func(l *log, _ solvers.Stats) { close(t, "time", l.times[0], 1e-9) })
}

func TestTrueAtStart(t *testing.T) {
	h := sys()
	event(h, "always", above(-1), add(5))
	both(t, h, "end", nil)

	// It fires when it becomes true again.
	h = sys()
	event(h, "high", above(-1), scale(1))
	event(h, "drop", above(1), add(-3))
	both(t, h, "drop high 0 end", func(l *log, _ solvers.Stats) { close(t, "time", l.times[1], 2) })
}

func TestEqualAtStart(t *testing.T) {
	for _, c := range []struct {
		strict bool
		slope  C
		want   string
	}{{true, 1, "e end"}, {false, 1, "end"}, {true, -1, "end"}, {false, -1, "end"}} {
		h := sys()
		h.Field = func(_ C, _ []C, _ *env, k []C) { k[0] = c.slope }
		event(h, "e", above(0), nil)
		h.Conditions[0].Strict = c.strict
		both(t, h, c.want, func(l *log, _ solvers.Stats) {
			if len(l.times) > 0 && l.times[0] > 1e-300 && l.times[0] > 1e-15 {
				t.Errorf("fired at %v, want at once", l.times[0])
			}
		})
	}
}

// TestSpent has a body that leaves the condition true: no second firing.
func TestSpent(t *testing.T) {
	h := sys()
	event(h, "once", above(1), nil)
	both(t, h, "once end", nil)
}

func TestCrossing(t *testing.T) {
	h := sys()
	h.Field = func(t C, _ []C, _ *env, k []C) { k[0] = 2 - 2*t } // up to 1 and back
	event(h, "cross", above(0.75), nil)
	h.Conditions[0].Crossing = true
	both(t, h, "cross cross end", func(l *log, _ solvers.Stats) {
		close(t, "up", l.times[0], 0.5)
		close(t, "down", l.times[1], 1.5)
	})
	h.Conditions[0].Filter = func(t float64, _ []C) bool { return t > 1 }
	both(t, h, "cross end", nil)
	h.Conditions[0].Filter = func(t float64, _ []C) bool { return t < 1 }
	both(t, h, "cross end", nil)
	// A body that jumps across.
	h = sys()
	event(h, "cross", above(5), nil)
	h.Conditions[0].Crossing = true
	event(h, "jump", above(1), add(10))
	event(h, "back", nil, add(-10))
	h.Times = append(h.Times, fire(2, 1.5))
	both(t, h, "jump cross back cross end", nil)
}

func TestOnce(t *testing.T) {
	h := sys()
	event(h, "reset", above(0.3), scale(0))
	h.Bodies[0].Once = true
	both(t, h, "reset end", nil)
	h.Bodies[0].Once = false
	both(t, h, "reset reset reset reset reset reset end", nil)
}

func TestElements(t *testing.T) {
	dosed := []string{"dose[1]", "dose[2]", "dose[3]"}
	h := sys()
	h.Bodies = []solvertest.Event{{
		Event: solvers.Event{Name: "dose", Elems: 3, Element: func(k int) string { return dosed[k] }},
		Body: func(k int, _ C, ym []C, _ *env, yp, _ []C) {
			yp[0] = ym[0] + C(complex(float64(k), 0))
		},
	}}
	for k := range 3 {
		h.Conditions = append(h.Conditions, solvertest.Guard{
			Guard: solvers.Guard{Event: 0, Elem: 2 - k},
			Rho:   above(1),
		})
	}
	both(t, h, "dose[1] 0 dose[2] dose[3] end", func(_ *log, st solvers.Stats) {
		if len(st.Meetings) != 3 || len(st.Warnings) != 3 {
			t.Errorf("meetings %v, warnings %v", st.Meetings, st.Warnings)
		}
	})
}

func TestEvery(t *testing.T) {
	h := sys()
	event(h, "tick", nil, add(1))
	every := fire(0, 0.1)
	every.Kind, every.Period, every.To, every.Count = solvers.InstantEvery, 3, 4, 5
	h.Times = append(h.Times, every, instant(solvers.InstantValue, 0.3), instant(solvers.InstantValue, 1.9),
		instant(solvers.InstantValue, 100))
	both(t, h, strings.Repeat("tick ", 7)+"end", func(l *log, st solvers.Stats) {
		close(t, "last", l.times[6], 1.9)
	})
	h.Times[5] = instant(solvers.InstantValue, 2)
	both(t, h, "tick tick end", nil)
	h.Times[3] = instant(solvers.InstantValue, 0)
	_, err := solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), &log{})
	var e *solvers.TimeError
	if !errors.As(err, &e) || e.Instant != 3 {
		t.Errorf("period 0: %v", err)
	}
	// Times before the start are left out, and said.
	h.Times[2] = fire(0, -0.5)
	h.Times[2].Kind, h.Times[2].Period = solvers.InstantEvery, 3
	h.Times[3] = instant(solvers.InstantValue, 1)
	both(t, h, "tick tick end", func(l *log, st solvers.Stats) {
		close(t, "first", l.times[0], 0.5)
		if len(st.Warnings) != 1 || st.Warnings[0].Kind != solvers.Outside || st.Warnings[0].Value != -0.5 {
			t.Errorf("warnings %v", st.Warnings)
		}
	})
}

// TestReschedule has an event whose time is a discrete that its own body moves on.
func TestReschedule(t *testing.T) {
	h := sys()
	h.D = 1
	h.Init = func(_ C, _ *env, y, d []C) { y[0], d[0] = 0, 0.5 }
	event(h, "next", nil, func(_ int, _ C, ym []C, e *env, yp, dp []C) { dp[0] = e.D[0] + 0.6 })
	i := fire(0, 0)
	i.At, i.Fixed = func(e *env) C { return e.D[0] }, false
	h.Times = append(h.Times, i)
	both(t, h, "next next next end", func(l *log, _ solvers.Stats) { close(t, "last", l.times[2], 1.7) })
	// Moved by less than rounding it fires again at the same time: a cascade without end.
	h.Bodies[0].Body = func(_ int, _ C, ym []C, e *env, yp, dp []C) {
		dp[0] = complex(math.Nextafter(real(e.D[0]), 0), 0)
		if real(e.D[0]) < 0.5 {
			dp[0] = 0.5
		}
	}
	_, err := solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), &log{})
	var e *solvers.CascadeError
	if !errors.As(err, &e) || len(e.Events) == 0 || e.Events[0] != "next" {
		t.Errorf("endless cascade: %v", err)
	}
}

func TestStop(t *testing.T) {
	h := sys()
	event(h, "halt", above(1), add(5))
	h.Bodies[0].Stop = true
	h.Times = append(h.Times, site(1), site(1.5))
	both(t, h, "halt 0 site(1,6) end", func(l *log, st solvers.Stats) {
		close(t, "x", l.final[0], 6)
		close(t, "end", st.T, 1)
		if !st.Stopped {
			t.Error("not stopped")
		}
	})
}

func TestModes(t *testing.T) {
	h := sys()
	h.M = 1
	h.Field = func(_ C, _ []C, e *env, k []C) {
		k[0] = 1
		if e.M[0] == 1 {
			k[0] = -1
		}
	}
	h.Select = func(t float64, y []float64, _ *env, m []float64) {
		m[0] = 0
		if t >= 0.7 {
			m[0] = 1
		}
	}
	h.Conditions = []solvertest.Guard{{Guard: solvers.Guard{Event: -1, Name: "if@3"}, Rho: func(t C, _ []C, e *env) C {
		if e.M[0] == 1 {
			return 0.7 - t
		}
		return t - 0.7
	}}}
	both(t, h, "if@3 end", func(l *log, st solvers.Stats) { close(t, "x", l.final[0], 0.7-1.3) })
	// The same by an instant.
	h.Conditions = nil
	h.Times = append(h.Times, instant(solvers.InstantRemode, 0.7))
	both(t, h, "remode end", func(l *log, st solvers.Stats) { close(t, "x", l.final[0], 0.7-1.3) })
}

// TestNearlyTogether has times that agree but for rounding: one group, and a
// window that opens although its bound is the later one.
func TestNearlyTogether(t *testing.T) {
	for _, swap := range []bool{false, true} {
		a, b := 0.3, math.Nextafter(0.3, 1)
		if swap {
			a, b = b, a
		}
		h := sys()
		h.M = 1
		h.Field = func(_ C, _ []C, e *env, k []C) { k[0] = complex(e.M[0], 0) }
		h.Select = func(t float64, _ []float64, _ *env, m []float64) {
			m[0] = 0
			if t >= b {
				m[0] = 1
			}
		}
		event(h, "e", nil, add(0))
		h.Times = append(h.Times, fire(0, a), instant(solvers.InstantRemode, b), site(0.3))
		want := "e 0 remode site(0,0) end"
		if swap {
			want = "e remode site(0,0) end"
		}
		both(t, h, want, func(l *log, _ solvers.Stats) { close(t, "x", l.final[0], 1.7) })
	}
}

func TestOutside(t *testing.T) {
	h := sys()
	event(h, "e", nil, nil)
	h.Times = append(h.Times, fire(0, -1), fire(0, 3), fire(0, math.Inf(1)), site(2.5))
	both(t, h, "end", func(_ *log, st solvers.Stats) {
		if len(st.Warnings) != 3 {
			t.Errorf("warnings %v, want three times outside", st.Warnings)
		}
	})
}

// kink adds a kink of the right-hand side.
func kink(h *solvertest.Hybrid, rho func(t C, y []C, e *env) C) {
	h.Conditions = append(h.Conditions, solvertest.Guard{
		Guard: solvers.Guard{Event: -1, Mode: -1, Kink: true}, Rho: rho,
	})
}

// TestKinks has steps that end at kinks. Nothing happens there.
func TestKinks(t *testing.T) {
	h := sys()
	h.N = 2
	h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1] = 0, 1 }
	h.Field = func(_ C, y []C, _ *env, k []C) { k[0], k[1] = y[1], -y[0] }
	h.Times[1] = instant(solvers.InstantEnd, 100)
	kink(h, func(_ C, y []C, _ *env) C { return y[0] - 0.5 })
	for _, c := range []struct {
		method string
		opts   solvers.Options
	}{
		{"rk4", solvers.Options{Fixed: 0.1}},
		{"dopri5", solvers.Options{RTol: 1e-9, ATol: 1e-9, EventRules: mostEvents(1)}},
		{"vern9", solvers.Options{RTol: 1e-9, ATol: 1e-9}},
		{"bs3", solvers.Options{RTol: 1e-9, ATol: 1e-9}},
	} {
		l := &ends{}
		st, err := solver(h, c.method, c.opts).Solve(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		var want []float64
		for k := range 16 {
			want = append(want, float64(12*k+1)*math.Pi/6, float64(12*k+5)*math.Pi/6)
		}
		near(t, c.method, l.roots, want, 1e-3)
		if l.String() != "end" || st.Events+st.Switches > 0 || len(st.Warnings) > 0 {
			t.Errorf("%s: %v, %+v", c.method, l, st)
		}
	}
}

// ends is a log that writes down at which roots steps end.
type ends struct {
	log
	roots []float64
}

func (l *ends) Step(s *solvers.Step, e solvers.End) error {
	if e.Kind == solvers.EndRoot {
		l.roots = append(l.roots, s.T1)
	}
	return l.log.Step(s, e)
}

// TestSlidingKinks has solutions that rest at a kink or follow it: it costs next to nothing, and the run goes on.
func TestSlidingKinks(t *testing.T) {
	at := func(i int) func(_ C, y []C, _ *env) C {
		return func(t C, y []C, _ *env) C { return y[i] - complex(float64(i), 0)*complex(math.Cos(real(t)), 0) }
	}
	for _, stiff := range []float64{3, 50} {
		for _, method := range []string{"rk4", "dopri5", "bs3", "tsit5", "rkc2", "dop853"} {
			steps := [2]int{}
			for n := range 2 {
				h := sys()
				h.N = 3
				h.Init = func(_ C, _ *env, y, _ []C) { y[0], y[1], y[2] = 0, 1, 1 }
				h.Field = func(t C, y []C, _ *env, k []C) {
					tt := real(t)
					k[0] = -complex(stiff, 0) * y[0]
					k[1] = -complex(stiff, 0)*(y[1]-complex(math.Cos(tt), 0)) - complex(math.Sin(tt), 0)
					k[2] = complex(0.5*math.Cos(5*tt), 0)
				}
				h.Times[1] = instant(solvers.InstantEnd, 50)
				if n == 1 {
					kink(h, at(0))
					kink(h, at(1))
				}
				opts := solvers.Options{}
				if method == "rk4" {
					opts.Fixed = 0.02
				}
				l := &ends{}
				st, err := solver(h, method, opts).Solve(context.Background(), l)
				if err != nil {
					t.Fatalf("%s: %v", method, err)
				}
				steps[n] = st.Steps
			}
			if steps[1] > steps[0]+steps[0]/10+40 {
				t.Errorf("%s, rate %v: %d steps, %d without kinks", method, stiff, steps[1], steps[0])
			}
		}
	}
}

// TestPast has a body that moves the time of an event to before the present. A warning names both, unless the time is
// before the start, where an event waits.
func TestPast(t *testing.T) {
	for to, warns := range map[float64]bool{0.5: true, 0: true, 1: false, 1.5: false, -1: false} {
		h := sys()
		h.D = 1
		h.Init = func(_ C, _ *env, y, d []C) { y[0], d[0] = 0, 1.75 }
		event(h, "mover", nil, func(_ int, _ C, _ []C, _ *env, _, dp []C) { dp[0] = complex(to, 0) })
		event(h, "moved", nil, nil)
		moved := fire(1, 0)
		moved.At, moved.Fixed = func(e *env) C { return e.D[0] }, false
		h.Times = append(h.Times, fire(0, 1), moved)
		want := "mover end"
		if to == 1 {
			want = "mover 0 moved end" // in one group
		} else if to > 1 {
			want = "mover moved end"
		}
		both(t, h, want, func(_ *log, st solvers.Stats) {
			if (len(st.Warnings) == 1) != warns {
				t.Errorf("to %v: warnings %v", to, st.Warnings)
			}
			for _, w := range st.Warnings {
				if w.Kind != solvers.Past || w.T != 1 || w.Value != to || w.Name != "moved" || w.Other != "mover" {
					t.Errorf("to %v: %+v", to, w)
				}
			}
		})
	}
}
