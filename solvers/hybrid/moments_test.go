package hybrid_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/record"
)

// clocked is a system with conditions of time alone, which change at given times.
type clocked struct {
	*solvertest.Hybrid
	at    []float64
	asked int
}

func (c *clocked) Clocks() int { return len(c.at) }

func (c *clocked) NextSwitch(t, limit float64) float64 {
	c.asked++
	for _, x := range c.at {
		if t < x && x <= limit {
			return x
		}
	}
	return math.Inf(1)
}

// fixedSolver returns a solver of sys with steps of one length.
func fixedSolver(sys solvers.System, name string, h float64) *hybrid.Solver {
	return hybrid.NewSolver(sys, method(name).New(sys.Size(), 0), nil, solvers.Options{Fixed: h})
}

// clockLog takes the time of conditions of time, which may be behind the end of their step by rounding, for that end.
type clockLog struct{ log }

func (l *clockLog) Mark(m *solvers.Mark) error {
	n := *m
	if m.Kind == solvers.MarkFire && m.T > l.at && m.T-l.at < 1e-15 {
		n.T = l.at
	}
	return l.log.Mark(&n)
}

// TestClock has conditions of time alone: steps end where they change, those that change within rounding are one group,
// and the clock is read once for each change and each stretch between events, not once for each step.
func TestClock(t *testing.T) {
	h := sys()
	times := []float64{0.305, 1.1, math.Nextafter(1.1, 2), 1.5}
	for i, name := range []string{"a", "b", "c", "d"} {
		late := func(t C, _ []C, _ *env) C { return complex(real(t)-times[i], 0) }
		event(h, name, late, add(complex(math.Exp2(float64(i)), 0)))
		h.Conditions[i].Clock = true
	}
	h.Times = append(h.Times, site(0.7))
	c := &clocked{Hybrid: h.With(1), at: times}
	l := &clockLog{}
	st, err := fixedSolver(c, "rk4", 0.01).Solve(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	if want := "a site(1.7,1.7) b c d end"; l.String() != want && l.String() != "a site(1.7,1.7) b 0 c d end" {
		t.Errorf("%s, want %s", l, want)
	}
	near(t, "times", l.times, times, 1e-15)
	close(t, "x", l.final[0], 2+15)
	if most := 2*len(times) + 4; c.asked > most || st.Steps < 200 {
		t.Errorf("the clock was read %d times in %d steps; %d are enough", c.asked, st.Steps, most)
	}
}

// TestClockAtEnd has conditions of time that change at the end of a run and just before it: they are one group.
func TestClockAtEnd(t *testing.T) {
	times := []float64{math.Nextafter(2, 0), 2}
	h := sys()
	for i, name := range []string{"a", "b"} {
		event(h, name, func(t C, _ []C, _ *env) C { return complex(real(t)-times[i], 0) }, add(1))
		h.Conditions[i].Clock = true
	}
	l := &clockLog{}
	c := &clocked{Hybrid: h.With(1), at: times}
	if _, err := fixedSolver(c, "rk4", 0.3).Solve(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	if story := strings.ReplaceAll(l.String(), "0 ", ""); story != "a b end" {
		t.Error(story)
	}
	close(t, "x", l.final[0], 4)
}

// TestClockCrowd has more changes within the tolerance than are looked for at once.
func TestClockCrowd(t *testing.T) {
	h := sys()
	event(h, "first", func(t C, _ []C, _ *env) C { return t - 1 }, nil)
	h.Conditions[0].Clock = true
	c := &clocked{Hybrid: h.With(1)}
	for i := range 150 {
		c.at = append(c.at, 1+float64(i)*0x1p-40)
	}
	s := hybrid.NewSolver(c, method("rk4").New(c.Size(), 0), nil, solvers.Options{
		Fixed: 0.3, EventRules: solvers.EventRules{EventTol: 0x1p-32},
	})
	tr := &record.Trajectory{}
	if _, err := s.Solve(context.Background(), tr); err != nil {
		t.Fatal(err)
	}
	var ends []float64
	for i := range tr.Steps() {
		_, t1 := tr.Times(i)
		ends = append(ends, t1)
	}
	if !slices.Contains(ends, 1) || !slices.Contains(ends, c.at[100]) {
		t.Errorf("steps end at %v, want at 1, and at %v", ends, c.at[100])
	}
}

// TestNoClocks has no conditions of time, and is not asked when they change.
func TestNoClocks(t *testing.T) {
	h := sys()
	event(h, "first", func(_ C, y []C, _ *env) C { return y[0] - 1 }, nil)
	c := &clocked{Hybrid: h.With(1)}
	s := hybrid.NewSolver(c, method("rk4").New(c.Size(), 0), nil, solvers.Options{Fixed: 0.3})
	if _, err := s.Solve(context.Background(), &record.Trajectory{}); err != nil {
		t.Fatal(err)
	}
	if c.asked > 0 {
		t.Errorf("asked %d times", c.asked)
	}
}

// signalled is a system with a signal of time that has peaks at given times, and is flat elsewhere.
type signalled struct {
	*solvertest.Hybrid
	peaks []float64
	asked int
}

func (s *signalled) Signals() int { return 1 }

// Unseen finds the first peak that is not near one of the times of a step.
func (s *signalled) Unseen(times, _ []float64) (end float64, some bool) {
	s.asked++
	for _, at := range s.peaks {
		if at < times[0] {
			continue
		}
		if at > times[len(times)-1] {
			return at, false
		}
		if !slices.ContainsFunc(times, func(x float64) bool { return math.Abs(x-at) < 1e-3 }) {
			return at, true
		}
	}
	return math.Inf(1), false
}

// TestSight has peaks that no stage would show: steps end there, and are not asked about where nothing is to be missed.
func TestSight(t *testing.T) {
	h := sys()
	h.Times[1] = instant(solvers.InstantEnd, 100)
	peaks := []float64{7.03, 7.5, 61.7}
	s := &signalled{Hybrid: h.With(1), peaks: peaks}
	m := method("dopri5").New(s.Size(), 0)
	ctl, _ := hybrid.NewController("", m.Info())
	l := &trail{}
	st, err := hybrid.NewSolver(s, m, ctl, solvers.Options{HMax: 2}).Solve(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range peaks {
		if !slices.ContainsFunc(l.ends, func(x float64) bool { return math.Abs(x-at) < 1e-3 }) {
			t.Errorf("no step ends at the peak at %v: %v", at, l.ends)
		}
	}
	if most := 2 * (len(peaks) + 1); s.asked > most || st.Steps < 50 || len(st.Warnings) > 0 {
		t.Errorf("asked %d times in %d steps; %d are enough; warnings %v", s.asked, st.Steps, most, st.Warnings)
	}
	// Steps of one length stay as they are: a warning, once.
	s = &signalled{Hybrid: h.With(1), peaks: peaks}
	st, err = fixedSolver(s, "rk4", 1).Solve(context.Background(), &log{})
	if err != nil || st.Steps != 100 || len(st.Warnings) != 1 || st.Warnings[0].Kind != solvers.Unseen ||
		st.Warnings[0].T != peaks[0] {
		t.Errorf("fixed: %v, %d steps, %+v", err, st.Steps, st.Warnings)
	}
}

// TestBrink has bodies that leave the condition of another event at its threshold but for rounding: a warning says so,
// also where the event fires, but not where the state is at the threshold, or clearly off it.
func TestBrink(t *testing.T) {
	const level = 0.3
	for _, c := range []struct {
		x     float64
		fires bool
		warns bool
	}{
		{math.Nextafter(level, 1), true, true},
		{math.Nextafter(level, 0), false, true},
		{level, true, false},
		{level + 1e-10, true, false},
		{level - 1e-10, false, false},
		{0.1, false, false},
	} {
		h := sys()
		h.Field = func(_ C, _ []C, _ *env, k []C) { k[0] = -1e-3 }
		event(h, "b", above(level), nil)
		event(h, "set", nil, func(_ int, _ C, _ []C, _ *env, yp, _ []C) { yp[0] = complex(c.x, 0) })
		h.Times = append(h.Times, fire(1, 1))
		l := &log{}
		st, err := solver(h, "dopri5", solvers.Options{}).Solve(context.Background(), l)
		if err != nil {
			t.Fatal(err)
		}
		want := "set end"
		if c.fires {
			want = "set b end"
		}
		if l.String() != want {
			t.Errorf("to %v: %s, want %s", c.x, l, want)
		}
		var brinks []solvers.Warning
		for _, w := range st.Warnings {
			if w.Kind == solvers.Brink {
				brinks = append(brinks, w)
			}
		}
		if (len(brinks) == 1) != c.warns {
			t.Errorf("to %v: warnings %+v", c.x, st.Warnings)
		}
		for _, w := range brinks {
			if w.T != 1 || w.Name != "b" || w.Other != "set" || w.Value != math.Abs(c.x-level) || w.Instant != -1 {
				t.Errorf("to %v: %+v", c.x, w)
			}
		}
	}
}
