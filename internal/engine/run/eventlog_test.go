package run

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/result"
)

// TestLoggedEvents compares events that are read from a log with the same ones in a list: times, derivatives, errors
// and grades, and what is said of them.
//
//odes:goroutines
func TestLoggedEvents(t *testing.T) {
	defer func(n int) { manyEvents = n }(manyEvents)
	for i, name := range []string{"bounce/bounce", "pk/pk", "thermostat/thermostat", "izhikevich/izhikevich"} {
		m, err := ParseFile("../../../examples/" + name + ".ode")
		if err != nil {
			t.Fatal(err)
		}
		for k, mode := range []string{"adjoint", "tangent", "forward", "continuous"} {
			if (i+k)%2 > 0 && mode != "adjoint" {
				continue
			}
			for _, trust := range []string{"on", "off"} {
				read := func(logged bool) (list []string, s *result.Sensitivities) {
					manyEvents = 1 << 20
					if logged {
						manyEvents = 0
					}
					how := []Setting{{"sens.mode", mode}, {"sens.trust", trust}}
					s, err := m.Sensitivities(t.Context(), Options{EventTimes: true, EventLog: true, Settings: how})
					if err != nil {
						t.Fatal(name, err)
					}
					defer s.Close()
					if logged != (s.Log != nil) || logged != (s.Events == nil) {
						t.Fatalf("%s: logged %v", name, s.Log != nil)
					}
					for range 2 { // it can be read again
						list = list[:0]
						if err := s.EachEvent(func(e *result.Event) error {
							worst := e.Worst()
							list = append(list, fmt.Sprint(e.Kind, e.Name, e.Index, e.T, e.Error, e.Trust, worst,
								e.Params, e.Errors))
							return nil
						}); err != nil {
							t.Fatal(err)
						}
					}
					return list, s
				}
				want, listed := read(false)
				got, logged := read(true)
				what := fmt.Sprintf("%s, mode %s, trust %s", name, mode, trust)
				if len(want) == 0 || len(got) != len(want) || logged.MoreEvents != 0 {
					t.Fatalf("%s: %d events, want %d", what, len(got), len(want))
				}
				for i := range want {
					// the adjoint differentiates a few times by sweeps backwards, which rounds otherwise
					if got[i] != want[i] && (mode != "adjoint" && mode != "continuous" || len(want) > 64) {
						t.Fatalf("%s: event %d is %s, want %s", what, i, got[i], want[i])
					}
				}
				if messages(logged.Warnings) != messages(listed.Warnings) || logged.Status != listed.Status {
					t.Errorf("%s: it says %q, want %q", what, messages(logged.Warnings), messages(listed.Warnings))
				}
			}
		}
	}
}

// TestLogWithoutFile has many events where no file can be made: they are listed.
//
//odes:goroutines
func TestLogWithoutFile(t *testing.T) {
	defer func(n int) { manyEvents = n }(manyEvents)
	manyEvents = 0
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing) // of Windows
	m, err := ParseFile("../../../examples/bounce/bounce.ode")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), Options{EventTimes: true, EventLog: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.Log != nil || len(s.Events) == 0 || s.Events[0].Errors == nil {
		t.Errorf("logged %v, %d events", s.Log != nil, len(s.Events))
	}
}

// TestLogOfPlannedTimes holds that times that follow from params alone, as the ends of the pieces of a control, are
// differentiated without the states of the run, where they are too many to list as well.
func TestLogOfPlannedTimes(t *testing.T) {
	defer func(n int) { manyEvents = n }(manyEvents)
	manyEvents = 0
	const n = 41
	m, err := Parse("plan.ode", fmt.Sprintf(`model Plan
time t from 0 to T
param k = 1.1, T = 10
control u = 1 piecewise constant on grid(0, T, %d)
control v = 1 piecewise linear on [0, k, T]
state x = 0
x' = k*u - v*x
event dose at k, 2*k { x += 1 }
objective J = final(x)
`, n), ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Settings: []Setting{{Key: "sens.wrt", Value: "[k, T, u]"}}}
	gradient, err := m.Sensitivities(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.EventTimes, options.EventLog = true, true
	s, err := m.Sensitivities(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if s.Stats.VJP > gradient.Stats.VJP {
		t.Errorf("%d transposes, %d without the times", s.Stats.VJP, gradient.Stats.VJP)
	}
	pieces := 0
	err = s.EachEvent(func(e *result.Event) error {
		byT, byK := 0.0, e.T/1.1
		if strings.HasPrefix(e.Name, "u[") {
			pieces++
			byT, byK = e.T/10, 0
		}
		for i, x := range e.Params {
			want := 0.0
			switch i {
			case 0:
				want = byK
			case 1:
				want = byT
			}
			if math.Abs(x-want) > 1e-14 {
				t.Errorf("%s at %g moves by %g with param %d, want %g", e.Name, e.T, x, i, want)
			}
		}
		return nil
	})
	if err != nil || pieces < n-2 {
		t.Errorf("%d pieces, %v", pieces, err)
	}
}
