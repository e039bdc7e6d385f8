package verify_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
)

// TestErrorEstimates compares the estimated errors of derivatives with true ones, on the reference
// problems, over methods and tolerances. The estimate must be within a factor of ten of the truth for
// 95 % of the entries. The truth must not exceed ten times the estimate in more than 5 %. The truth is
// a run of vern9 at 1e-13, which TestReferences compares with multiprecision.
func TestErrorEstimates(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	files := map[string]bool{}
	for _, r := range references {
		files[r.model] = true
	}
	var entries, bounded, sharp int
	for file := range files {
		m, err := odes.ParseFile(modeltest.Path("examples/" + file))
		if err != nil {
			t.Fatal(err)
		}
		run := func(settings ...string) *odes.Sensitivities {
			o := odes.Options{Threads: 1}
			for i := 0; i < len(settings); i += 2 {
				o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
			}
			s, err := m.Sensitivities(context.Background(), o)
			if err != nil {
				t.Fatalf("%s: %v: %v", file, settings, err)
			}
			return s
		}
		truth := run("solver.method", "vern9", "solver.rtol", "1e-13", "solver.atol", "1e-15")
		for _, method := range []string{"bs3", "dopri5", "tsit5", "vern7", "dop853"} {
			tols := []float64{1e-4, 1e-6, 1e-8}
			if method == "bs3" {
				tols = tols[:2]
			}
			var n, ok, near int
			for _, tol := range tols {
				got := run("solver.method", method, "solver.rtol", fmt.Sprint(tol), "solver.atol", fmt.Sprint(tol*1e-2),
					"sens.error", "on")
				if len(got.Errors) != len(got.Gradient) {
					t.Fatalf("%d errors of %d derivatives", len(got.Errors), len(got.Gradient))
				}
				for i := range got.Values {
					size := 0.0
					for _, x := range truth.Gradient[i*got.Columns : (i+1)*got.Columns] {
						size = max(size, math.Abs(x))
					}
					for k := i * got.Columns; k < (i+1)*got.Columns; k++ {
						off := math.Abs(got.Gradient[k] - truth.Gradient[k])
						floor := 1e-11 * size // of the truth
						if off == 0 && got.Errors[k] == 0 {
							continue
						}
						n++
						if off <= 10*got.Errors[k]+floor {
							ok++
						}
						if off <= 10*got.Errors[k]+floor && got.Errors[k] <= 10*off+floor {
							near++
						}
					}
				}
			}
			entries, bounded, sharp = entries+n, bounded+ok, sharp+near
			if testing.Verbose() {
				t.Logf("%-40s %-8s %4d entries, %5.1f %% bounded, %5.1f %% within a factor of ten", file, method, n,
					100*float64(ok)/float64(n), 100*float64(near)/float64(n))
			}
		}
	}
	t.Logf("%d entries: %.2f %% bounded, %.2f %% within a factor of ten", entries,
		100*float64(bounded)/float64(entries), 100*float64(sharp)/float64(entries))
	entry := fmt.Sprintf("%d,%03d\nderivatives). %.1f %% of them are within a factor of ten of the true error. "+
		"Ten times the estimate bounds %.1f %% of the\nerrors.", entries/1000, entries%1000,
		100*float64(sharp)/float64(entries), 100*float64(bounded)/float64(entries))
	text, err := os.ReadFile(modeltest.Path("docs/methods-trust.md"))
	if err != nil || !strings.Contains(string(text), entry) {
		t.Errorf("docs/methods-trust.md does not say %q (%v)", entry, err)
	}
	if n := len(files); n != 19 {
		t.Errorf("docs/methods-trust.md says 19 models, there are %d", n)
	}
	if entries < 1000 || float64(bounded) < 0.95*float64(entries) || float64(sharp) < 0.95*float64(entries) {
		t.Errorf("of %d estimates %d bound the error and %d are within a factor of ten", entries, bounded, sharp)
	}
}

func TestSensTol(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/lotka_volterra/lotka_volterra.ode"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(settings ...odes.Setting) *odes.Sensitivities {
		s, err := m.Sensitivities(context.Background(), odes.Options{Settings: settings})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	truth := run(odes.Setting{Key: "solver.method", Value: "vern9"}, odes.Setting{Key: "solver.rtol", Value: "1e-13"},
		odes.Setting{Key: "solver.atol", Value: "1e-15"})
	off := func(s *odes.Sensitivities) (worst float64) {
		for i := range s.Values {
			for _, v := range s.Variables {
				a, b := s.Derivative(i, v)[0], truth.Derivative(i, v)[0]
				worst = max(worst, math.Abs(a-b)/math.Abs(b))
			}
		}
		return worst
	}
	loose := []odes.Setting{{Key: "solver.rtol", Value: "1e-3"}, {Key: "solver.atol", Value: "1e-5"}}
	if x := off(run(loose...)); x < 1e-4 {
		t.Fatalf("off by %g without sens_tol: the test can fail no more", x)
	}
	for _, want := range []string{"1e-4", "1e-7"} {
		s := run(append(loose[:2:2], odes.Setting{Key: "solver.sens_tol", Value: want})...)
		var tol float64
		fmt.Sscan(want, &tol)
		if x := off(s); x > 2*tol {
			t.Errorf("sens_tol = %s: off by %g", want, x)
		}
		if s.Errors == nil || s.Settings.RTol >= 1e-3 {
			t.Errorf("sens_tol = %s: %d errors, rtol %g", want, len(s.Errors), s.Settings.RTol)
		}
	}
	s := run(append(loose[:2:2], odes.Setting{Key: "solver.sens_tol", Value: "1e-16"})...)
	warned := false
	for _, d := range s.Warnings {
		warned = warned || d.Code == odes.CodeAccuracy && d.Level == diag.Warning
	}
	if !warned {
		t.Error("an accuracy below rounding was met without a word")
	}
}

// TestSensTolOfZero asks for accurate derivatives that should be zero: one that is zero but for
// rounding, one that is zero in the limit only, and all those of an objective that is a constant. Such
// derivatives must not tighten the tolerances, and must not be reported as inaccurate.
func TestSensTolOfZero(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"rounding", `
time t from 0 to 5
param k = 1.3, a = 2
state x = a, y = 1
x' = -k*x
y' = k*x
objective J = final(y)
objective total = final(x + y)`},
		{"the limit", `
time t from 0 to 2*pi
param w = 1, a = 1
state x = a, v = 0
x' = v
v' = -w*x
objective J = final(x)`}, // at its top: dx/dw = 0
		{"constant", `
time t from 0 to 5
param k = 1.3
state x = 1, y = 0
x' = -k*x
y' = k*x
objective total = final(x + y)
sens { wrt = [k] }`},
	} {
		s, err := modeltest.Try(t, c.text, "solver.sens_tol", "1e-6")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range s.Warnings {
			if d.Code == odes.CodeAccuracy && d.Level == diag.Warning {
				t.Errorf("%s: %s", c.name, d.Message)
			}
		}
		if least := map[string]float64{
			"rounding": 1e-9, "the limit": 1e-13,
			"constant": 1e-6,
		}[c.name]; s.Settings.RTol < least {
			t.Errorf("%s: rtol = %g", c.name, s.Settings.RTol)
		}
	}
}

// TestEventErrors compares the estimated errors of event times, and of their derivatives, with true ones.
//
//odes:goroutines
func TestEventErrors(t *testing.T) {
	var n, ok int
	for _, file := range []string{
		"bounce/bounce", "thermostat/thermostat", "izhikevich/izhikevich", "stairs/stairs",
		"pendulum_wall/pendulum_wall", "pk/pk_oral",
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + file + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		run := func(settings ...odes.Setting) *odes.Sensitivities {
			s, err := m.Sensitivities(context.Background(), odes.Options{EventTimes: true, Settings: settings})
			if err != nil {
				t.Fatalf("%s: %v: %v", file, settings, err)
			}
			return s
		}
		truth := run(odes.Setting{Key: "solver.method", Value: "vern9"},
			odes.Setting{Key: "solver.rtol", Value: "1e-13"}, odes.Setting{Key: "solver.atol", Value: "1e-15"})
		for _, method := range []string{"dopri5", "tsit5", "vern7"} {
			for _, tol := range []string{"1e-4", "1e-6", "1e-8"} {
				got := run(odes.Setting{Key: "solver.method", Value: method},
					odes.Setting{Key: "solver.rtol", Value: tol}, odes.Setting{Key: "solver.atol", Value: tol},
					odes.Setting{Key: "sens.error", Value: "on"})
				if len(got.Events) != len(truth.Events) || len(got.Events) == 0 {
					t.Fatalf("%s: %d events, not %d", file, len(got.Events), len(truth.Events))
				}
				for i, e := range got.Events {
					if len(e.Errors) != len(e.Params) {
						t.Fatalf("%s: %d errors of %d derivatives", file, len(e.Errors), len(e.Params))
					}
					size := 0.0
					for _, x := range e.Params {
						size = max(size, math.Abs(x))
					}
					for k, x := range e.Params {
						off, floor := math.Abs(x-truth.Events[i].Params[k]), 1e-11*size
						n++
						if off <= 10*e.Errors[k]+floor && e.Errors[k] <= 10*off+floor {
							ok++
						}
					}
					n++
					if off := math.Abs(e.T - truth.Events[i].T); off <= 10*e.Error+1e-12 && e.Error <= 10*off+1e-12 {
						ok++
					}
				}
			}
		}
	}
	t.Logf("%d estimates, %.1f %% within a factor of ten", n, 100*float64(ok)/float64(n))
	if n < 2000 || float64(ok) < 0.95*float64(n) {
		t.Errorf("of %d estimates %d are within a factor of ten", n, ok)
	}
}

// TestControlAccounts has a run with derivatives under error control that comes to nothing: linear equations that GMRES
// has no solutions of make tangents that are not finite. What it takes is bounded, and counts as that of other runs.
//
//odes:goroutines
func TestControlAccounts(t *testing.T) {
	m, err := odes.Parse("units.ode", `model Units
time t from 0 to 46793
param a0 = 170.9, a1 = 3.9e-05, w = 0.0001076, a3 = 5.705e-05, a4 = 1.054e-06
param z0 = 1.49, z1 = -1.7, z2 = 0.507, z3 = 1.3, z4 = 1.17, u0 = 1.12, u1 = -0.273
state x0 = z0 + 1201*z2 + 90000*z3 + 9.0001e6*z4
state x1 = z1 + 2*z2, x2 = z2 + 97*z3 + 9700*z4, x3 = z3 + 100*z4
state x4 = 7.32421875e-4*z2 + 5.4931640625e-2*z3 + 5.49322509765625*z4
let r0 = -a0*(x0 - x2 + 97*x3 - 1.6384e6*x4 - u0)
let y1 = x1 - 2*x2 + 194*x3
let y2 = x2 - 97*x3
let r1 = -a1*(y1 - u1) + w*y2
let r2 = -a1*y2 - w*y1
let r3 = -a3*(1200*x2 - 26399*x3 - 1.6384e6*x4)
let r4 = -a4*(-12*x2 + 264*x3 + 16384*x4)
x0' = r0 + 1201*r2 + 90000*r3 + 9.0001e6*r4
x1' = r1 + 2*r2
x2' = r2 + 97*r3 + 9700*r4
x3' = r3 + 100*r4
x4' = 7.32421875e-4*r2 + 5.4931640625e-2*r3 + 5.49322509765625*r4
objective F = final(x2)
objective I = integral(x1)
solver { atol = [x4 = 6.1035e-14] method = rosenbrock23 linear = gmres }
sens { mode = forward }`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for i := range s.Values {
		for _, v := range s.Variables {
			if s.Trust(i, v) != odes.Sound {
				lost++
			}
		}
	}
	took, told := time.Since(start).Seconds(), s.Stats.Seconds
	if all := told.Compile + told.Forward + told.Adjoint + told.Check; lost == 0 || !(all > 0.5*took) {
		t.Errorf("%d derivatives are not sound; %.2g of %.2g s are accounted for", lost, all, took)
	}
	s, err = m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{
		{Key: "sens.mode", Value: "adjoint"}, {Key: "sens.trust", Value: "off"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if w := fmt.Sprint(s.Values[0].Warnings); !strings.Contains(w, "GMRES") {
		t.Errorf("GMRES is not named: %s", w)
	}
}
