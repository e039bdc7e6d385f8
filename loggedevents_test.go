package odes

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestLoggedEvents compares events that are read from a log with the same ones in a list: times, derivatives, errors
// and grades, and what is said of them.
//
//odes:goroutines
func TestLoggedEvents(t *testing.T) {
	defer func(n int) { manyEvents = n }(manyEvents)
	for i, name := range []string{"bounce/bounce", "pk/pk", "thermostat/thermostat", "izhikevich/izhikevich"} {
		m, err := ParseFile("examples/" + name + ".ode")
		if err != nil {
			t.Fatal(err)
		}
		for k, mode := range []string{"adjoint", "tangent", "forward", "continuous"} {
			if (i+k)%2 > 0 && mode != "adjoint" {
				continue
			}
			for _, trust := range []string{"on", "off"} {
				read := func(logged bool) (list []string, s *Sensitivities) {
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
					if logged != (s.log != nil) || logged != (s.Events == nil) {
						t.Fatalf("%s: logged %v", name, s.log != nil)
					}
					for range 2 { // it can be read again
						list = list[:0]
						if err := s.EachEvent(func(e *EventRecord) error {
							worst := e.trust()
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
	m, err := ParseFile("examples/bounce/bounce.ode")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), Options{EventTimes: true, EventLog: true})
	if err != nil {
		t.Fatal(err)
	}
	if s.log != nil || len(s.Events) == 0 || s.Events[0].Errors == nil {
		t.Errorf("logged %v, %d events", s.log != nil, len(s.Events))
	}
}
