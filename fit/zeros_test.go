package fit_test

import (
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/lang/diag"
)

const twoRates = `
time t from 0 to 24
param a = 1 in [0.01, 10], k = 0.2 in [0.01, 10], v = 20 in [1, 500], outside = 1
state g = 100, x = 0
g' = -a*g*outside
x' = a*g - k*x
data D { time = [0.5, 1, 2, 4, 8, 12, 24]  y = [1.6, 2.5, 3.4, 3.6, 2.1, 1.1, 0.13] }
observe o = x/v ~ lognormal(0.1) from D.y
objective L = nll()
fit { minimize = L  over = [a, k, v]  log = all  intervals = none }
solver { method = tsit5  rtol = 1e-7  atol = 1e-9 }
`

// TestAtMinimum: derivatives by what is fitted are no news at a minimum, whatever their digits; they are elsewhere, and
// those by anything else always are.
func TestAtMinimum(t *testing.T) {
	m := parse(t, twoRates)
	best := run(t, m, fit.Options{}).Assignments()
	begins := map[odes.Trust]string{odes.Loose: "few digits are right", odes.Lost: "not to be trusted"}
	for _, c := range []struct {
		by     float64 // all estimates are moved by
		grade  odes.Trust
		silent bool
	}{
		{1, odes.Loose, true},
		{1 + 1e-6, odes.Loose, false},
		{1.01, odes.Loose, false},
		{1, odes.Lost, true},
		{1 + 1e-6, odes.Lost, false},
	} {
		var opts odes.Options
		for _, a := range best {
			opts.Set = append(opts.Set, odes.Assignment{Name: a.Name, Values: []float64{a.Values[0] * c.by}})
		}
		s, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		// Whether a run is exact enough is for chance to say; here, it is not.
		if s.Trusts == nil {
			s.Trusts = make([]odes.Trust, len(s.Gradient))
		}
		if s.Errors == nil {
			t.Fatal("nobody estimated errors")
		}
		for k := range s.Trusts {
			s.Trusts[k] = c.grade
		}
		s.Warnings = []diag.Diagnostic{{
			Code: odes.CodeTrust, Level: diag.Warning,
			Message: begins[c.grade] + ", by another run: L by a, k, v, outside",
		}}
		fit.AtMinimum(t.Context(), m, opts, s)
		said := ""
		for _, d := range s.Warnings {
			said += d.Message
		}
		names := said[strings.LastIndex(said, " by ")+4:]
		if want := map[bool]string{
			true:  "outside, initial(g), initial(x)",
			false: "a, k, v, outside",
		}[c.silent]; names != want {
			t.Errorf("moved by %v: %q, want %q", c.by, names, want)
		}
	}
	opts := odes.Options{Settings: []odes.Setting{{Key: "sens.wrt", Value: "[a, k, v]"}}}
	for _, a := range best {
		opts.Set = append(opts.Set, odes.Assignment{Name: a.Name, Values: a.Values})
	}
	s, err := m.Sensitivities(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Trusts, s.Status = []odes.Trust{odes.Lost, odes.Loose, odes.Lost}, "partial"
	s.Warnings = []diag.Diagnostic{{
		Code: odes.CodeTrust, Level: diag.Warning, Message: "not to be trusted, by a run: L by a, v",
	}}
	if fit.AtMinimum(t.Context(), m, opts, s); s.Status != "ok" || len(s.Warnings) > 0 || s.Trusts[2] != odes.Sound {
		t.Errorf("where nothing else is lost: status %s, %v, %v", s.Status, s.Trusts, s.Warnings)
	}
}
