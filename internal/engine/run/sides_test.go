package run

import (
	"context"
	"path/filepath"
	"testing"
)

func sidesOf(t *testing.T, m *tested, mode string) (*Runner, *Sides) {
	t.Helper()
	r, err := m.Prepare(Options{Settings: []Setting{{"sens.trust", "off"}, {"sens.mode", mode}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sensitivities(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, why, err := r.Sides(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if why != "" {
		t.Log(why)
	}
	return r, s
}

func TestSidesTry(t *testing.T) {
	files, _ := filepath.Glob("testdata/coincidences/*.ode")
	for _, f := range files {
		m, err := ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		r, s := sidesOf(t, m, "adjoint")
		if s == nil {
			t.Log(f, "nothing")
			continue
		}
		for _, x := range s.Met {
			t.Log(f, "met at", x.T, x.Unknown, x.Stories)
		}
		t.Log(f, "left", s.Left, "right", s.Right, "leaps", s.Leaps, "unknown", s.Unknown, "run", r.gradient)
	}
}
