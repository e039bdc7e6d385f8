// Package modeltest is what tests of whole models share: it runs their texts, finds files from the root of the module,
// and reads values, derivatives and marks of results.
package modeltest

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Path returns the path of a file or pattern that is named from the root of the module, as seen from the package whose
// tests run.
func Path(name string) string {
	up := ""
	for range 16 {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return filepath.Join(up, filepath.FromSlash(name))
		}
		up = filepath.Join(up, "..")
	}
	panic("modeltest: there is no go.mod above")
}

// Settings returns settings from pairs of key and value.
func Settings(pairs ...string) (list []odes.Setting) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, odes.Setting{Key: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// parse returns the model of a text.
func parse(t testing.TB, text string) *odes.Model {
	t.Helper()
	m, err := odes.Parse("model.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// with solves and differentiates a model that must not fail.
func with(t testing.TB, text string, o odes.Options) *odes.Sensitivities {
	t.Helper()
	s, err := parse(t, text).Sensitivities(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Run solves and differentiates a model by one thread. Settings are pairs of key and value.
func Run(t testing.TB, text string, settings ...string) *odes.Sensitivities {
	t.Helper()
	return with(t, text, odes.Options{Threads: 1, Settings: Settings(settings...)})
}

// RunTimes is Run by as many threads as there are, and with the derivatives of the times of events.
func RunTimes(t testing.TB, text string, settings ...string) *odes.Sensitivities {
	t.Helper()
	return with(t, text, odes.Options{EventTimes: true, Settings: Settings(settings...)})
}

// Try is Run by as many threads as there are, of a run that may fail.
func Try(t testing.TB, text string, settings ...string) (*odes.Sensitivities, error) {
	t.Helper()
	return parse(t, text).Sensitivities(context.Background(), odes.Options{Settings: Settings(settings...)})
}

// Sensitivities is Try in a mode.
func Sensitivities(t testing.TB, text, mode string, settings ...odes.Setting) (*odes.Sensitivities, error) {
	t.Helper()
	return parse(t, text).Sensitivities(context.Background(), odes.Options{
		Settings: append(settings, odes.Setting{Key: "sens.mode", Value: mode}),
	})
}

// Derivative returns the value of an objective, or its derivative by a scalar.
func Derivative(t testing.TB, s *odes.Sensitivities, objective, by string) float64 {
	t.Helper()
	for i, o := range s.Values {
		switch {
		case o.Name == objective && by == "":
			return o.Value
		case o.Name == objective:
			row, _ := By(t, s, i, by)
			return row[0]
		}
	}
	t.Fatalf("there is no objective %s", objective)
	return 0
}

// By returns the derivatives of value i by a variable, and their trust.
func By(t testing.TB, s *odes.Sensitivities, i int, name string) ([]float64, odes.Trust) {
	t.Helper()
	for _, v := range s.Variables {
		if v.String() == name {
			return s.Derivative(i, v), s.Trust(i, v)
		}
	}
	t.Fatalf("there is no variable %s", name)
	return nil, 0
}

// Grade returns the grade of the derivatives of value i by v. Those that are others on the other side are no better
// than loose, also where both numbers are told.
func Grade(s *odes.Sensitivities, i int, v odes.Variable) odes.Trust {
	grade := s.Trust(i, v)
	for k := range v.Size() {
		if _, sided := s.OnBothSides(i, v.Offset+k); sided {
			grade = max(grade, odes.Loose)
		}
	}
	return grade
}

// Marked lists the variables by which a derivative of value i is marked.
func Marked(s *odes.Sensitivities, i int) string {
	var list []string
	for _, v := range s.Variables {
		if Grade(s, i, v) != odes.Sound {
			list = append(list, v.String())
		}
	}
	return strings.Join(list, " ")
}

// Warned reports whether s has a diagnostic with a code.
func Warned(s *odes.Sensitivities, code diag.Code) bool {
	for _, w := range s.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// Near reports whether a is b, within a tolerance that is relative where b is large.
func Near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*(1+math.Abs(b)) }

// WantNear demands that got is want, within a tolerance that is relative where want is above one.
func WantNear(t testing.TB, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.15g, want %.15g", what, got, want)
	}
}
