package hybrid_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes"
)

// fires is a model with about n firings of an event whose times move with params.
func fires(t *testing.T, n int) *odes.Model {
	t.Helper()
	m, err := odes.Parse("fires.ode", fmt.Sprintf(`model Fires
time t from 0 to %d
param k = 0.3, b = 0.9, top = 1.2
state x = 0.95
x' = k + 0.01*x
event e when x > top { x = b }
objective J = final(x)
`, n), odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEventTimesAreLinear holds that the derivatives of the times of all events take work in proportion to the events,
// and those of a few no more than a gradient, whatever comes after them.
//
//odes:goroutines
func TestEventTimesAreLinear(t *testing.T) {
	work := func(n, events int, times bool) float64 {
		s, err := fires(t, n).Sensitivities(t.Context(), odes.Options{Events: events, EventTimes: times})
		if err != nil {
			t.Fatal(err)
		}
		if listed := len(s.Events); events > 0 && listed != events || listed+s.MoreEvents < n*9/10 {
			t.Errorf("%d events and %d more, of %d", listed, s.MoreEvents, n)
		}
		if last := s.LastEvent; last.Name != "e" || last.T < float64(n-2) {
			t.Errorf("the last event is %q at %g", last.Name, last.T)
		}
		return float64(s.Stats.VJP)
	}
	if one, four := work(100, 0, true), work(400, 0, true); four > 5*one {
		t.Errorf("%g transposes for 100 events and %g for 400", one, four)
	}
	if none, few := work(400, 20, false), work(400, 20, true); few > 1.6*none {
		t.Errorf("%g transposes for a gradient, %g with the times of 20 events", none, few)
	}
}

// TestEventTimesAlike compares the derivatives of many events' times, which are pushed forwards, with those of the
// first few, which come from sweeps back.
//
//odes:goroutines
func TestEventTimesAlike(t *testing.T) {
	m := fires(t, 200)
	var of [2]*odes.Sensitivities
	for i, events := range []int{0, 30} {
		s, err := m.Sensitivities(t.Context(), odes.Options{Events: events, EventTimes: true})
		if err != nil {
			t.Fatal(err)
		}
		of[i] = s
	}
	for i, e := range of[1].Events {
		for k, want := range e.Params {
			if got := of[0].Events[i].Params[k]; math.Abs(got-want) > 1e-10*math.Abs(want) {
				t.Errorf("event %d: %.17g, want %.17g", i, got, want)
			}
		}
	}
}

// TestEventTimesBesideControls holds that the first events are not the pieces of a control, whose times are known, and
// that they move alike with either and by all modes.
func TestEventTimesBesideControls(t *testing.T) {
	m, err := odes.Parse("beside.ode", `model Beside
time t from 0 to 10
param k = 1.1
control u = 1 piecewise constant on grid(0, 10, 41)
state x = 0
x' = k*u
event high when x > 8.9 { x = 0 }
objective J = final(x)
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"adjoint", "tangent", "forward", "complex", "differences"} {
		for _, events := range []int{0, 3} {
			s, err := m.Sensitivities(t.Context(), odes.Options{
				Events: events, EventTimes: true, Threads: 1,
				Settings: []odes.Setting{{Key: "sens.mode", Value: mode}},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if events == 0 {
				want = 40 // and where each piece but the last ends
			}
			if len(s.Events) != want || s.MoreEvents != 0 || events > 0 && s.LastEvent.Name != "high" {
				t.Fatalf("%s: %d events and %d more, the last %s", mode, len(s.Events), s.MoreEvents, s.LastEvent.Name)
			}
			found := false
			for _, e := range s.Events {
				if found = found || e.Name == "high"; e.Name == "high" && math.Abs(e.Params[0]+8.9/(1.1*1.1)) > 1e-6 {
					t.Errorf("%s, %d events: the time moves by %g", mode, events, e.Params[0])
				}
			}
			if !found {
				t.Errorf("%s, %d events: high is not listed", mode, events)
			}
		}
	}
}

// TestEventTimesContinuous holds the same of modes that integrate adjoint equations: few events or many, their times
// have the derivatives that the discrete adjoint finds, and many take no sweep each.
func TestEventTimesContinuous(t *testing.T) {
	m := fires(t, 100)
	of := func(mode string, events int) *odes.Sensitivities {
		s, err := m.Sensitivities(t.Context(), odes.Options{Events: events, EventTimes: true, Settings: []odes.Setting{
			{Key: "sens.mode", Value: mode}, {Key: "sens.trust", Value: "off"}, {Key: "solver.rtol", Value: "1e-9"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := of("adjoint", 0)
	for _, mode := range []string{"continuous", "backsolve"} {
		few, many := of(mode, 10), of(mode, 0)
		for i, e := range many.Events {
			for k, w := range want.Events[i].Params {
				if math.Abs(e.Params[k]-w) > 1e-5*math.Abs(w) {
					t.Errorf("%s, event %d: %.10g, want %.10g", mode, i, e.Params[k], w)
				}
				if i < len(few.Events) && math.Abs(few.Events[i].Params[k]-w) > 1e-5*math.Abs(w) {
					t.Errorf("%s, event %d of few: %.10g, want %.10g", mode, i, few.Events[i].Params[k], w)
				}
			}
		}
		if n := len(many.Events); n < 90 || many.Stats.VJP > 3*few.Stats.VJP {
			t.Errorf("%s: %d events, %d transposes; with ten events %d", mode, n, many.Stats.VJP, few.Stats.VJP)
		}
	}
}

// TestManyEventsKept holds that a run whose steps are packed has the bits of one that is kept whole, and that its
// record takes little memory for each event.
func TestManyEventsKept(t *testing.T) {
	m := fires(t, 8000)
	run := func(checkpoint string) *odes.Sensitivities {
		s, err := m.Sensitivities(t.Context(), odes.Options{Events: -1, Settings: []odes.Setting{
			{Key: "solver.checkpoint", Value: checkpoint}, {Key: "sens.trust", Value: "off"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole, few := run("all"), run("binomial(40)")
	if whole.Stats.Steps < 1<<14 {
		t.Fatalf("%d steps are too few to be packed", whole.Stats.Steps)
	}
	for k, want := range whole.Gradient {
		if got := few.Gradient[k]; math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("derivative %d: %.17g, want %.17g", k, got, want)
		}
	}
	if per := few.Stats.PeakTrajectoryBytes / int64(few.MoreEvents); per > 200 {
		t.Errorf("the record takes %d bytes for each event", per)
	}
}
