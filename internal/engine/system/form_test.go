package system

import (
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// TestForms has functions whose turns are known, and others.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		f     string
		known bool
		turns func(t float64) float64 // the first one after t; nil for none
	}{
		{"3*t - 1", true, nil},
		{"2 - 3*exp(-0.3*t)", true, nil},
		{"1/(4 - 2*t)", false, nil},
		{"tanh((t - 0.5)/1e-3)", true, nil},
		{"sin(t)", true, func(t float64) float64 { return math.Pi * (math.Floor(t/math.Pi-0.5) + 1.5) }},
		{"1 - 2*cos(1 - t)/7", true, func(t float64) float64 {
			return math.Pi*math.Floor((t-1)/math.Pi) + math.Pi + 1
		}},
		{"sin(2*pi*(3 - t)/24)", true, func(t float64) float64 { return 12*math.Floor((t-9)/12) + 21 }},
		{"sin(1e9*t)", true, nil},
		{"sin(t + 1e7)", true, nil},
		{"sin(t^2)", false, nil},
		{"sin(t) + t", false, nil},
		{"t*sin(t)", false, nil},
		{"exp(-t^2)", false, nil},
		{"sin(abs(t - 1))", false, nil},
	} {
		l := timelineOf(t, c.f)
		f := l.form(&l.parts[0])
		if (f != nil) != c.known {
			t.Errorf("the form of %s is known: %v", c.f, f != nil)
			continue
		}
		if f == nil {
			continue
		}
		f.Set()
		for k := range 200 {
			at := 0.37 * float64(k)
			until, known := f.Lasts(at)
			switch {
			case !f.Wave && !(known && math.IsInf(until, 1)):
				t.Errorf("%s turns at %v", c.f, until)
			case c.turns != nil && !(known && math.Abs(until-c.turns(at)) < 1e-12*(1+at)):
				t.Errorf("%s turns behind %v at %v, want %v", c.f, at, until, c.turns(at))
			case f.Wave && c.turns == nil && known && k > 0:
				t.Errorf("the turn of %s behind %v is known in spite of rounding", c.f, at)
			}
		}
	}
}

// TestFormsAgreeWithBounds compares decisions on steps of waves by their forms with those by bounds.
func TestFormsAgreeWithBounds(t *testing.T) {
	r := elem.NewRand(1)
	for _, nodes := range [][]float64{{0, 0.5, 1}, {0, 0.3, 0.8, 8. / 9, 1}, {0, 0.25, 0.5, 0.75, 1}} {
		out, short := 0, 0
		for _, f := range []string{"sin(3*t)", "5 + 2*cos(1 - 7*t)", "-0.3*exp(-t)", "1e-3*sin(t/0.1)"} {
			l := timelineOf(t, f)
			byForm, byBounds := newSignalsOf(l, 1), newSignalsOf(l, 1)
			byForm.calms[0].form.Set()
			byBounds.calms[0].form = nil
			for range 2000 {
				at, h := 10*r.Float64(), elem.Exp(-6*r.Float64())
				times := make([]float64, len(nodes))
				for i, c := range nodes {
					times[i] = at + float64(c*h)
				}
				for _, s := range []*signals{byForm, byBounds} {
					c := &s.calms[0]
					c.until, c.turn, c.ahead = math.Inf(-1), math.Inf(-1), 0
				}
				end, some := byForm.unseen(times)
				want, leaves := byBounds.unseen(times)
				if some != leaves || some && end != want {
					t.Fatalf("%s over %v: %v, %v by its form, %v, %v by bounds", f, times, end, some, want, leaves)
				}
				if some {
					out++
				}
				if form := byForm.calms[0].form; form.Wave && form.Short(h) {
					short++
				}
			}
		}
		if out == 0 || short < 1000 {
			t.Errorf("%v: %d steps miss something, %d are short", nodes, out, short)
		}
	}
}
