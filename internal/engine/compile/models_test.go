package compile_test

import (
	"math"
	"os"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

// TestLanguageModels checks and formats the eight models of the language's design, including those
// that this version does not solve. It compares the results of the others with values from fixed-step
// Runge–Kutta methods, from closed forms and, for pk, from an independent integrator.
func TestLanguageModels(t *testing.T) {
	type value struct {
		objective, by string // by "": the value itself
		want, within  float64
	}
	for _, c := range []struct {
		name     string
		warnings int // about what this version does not do
		values   []value
	}{
		{"bounce", 0, []value{
			{"height", "", 0.7959117, 1e-7},
			{"path", "", 1.0948884, 1e-6},
			{"lost", "", 9.81 * 2 * (1 - 0.4096), 1e-9},
			{"t_second", "", 1.6602322, 1e-7},
			{"t_second", "g", -0.0846194, 1e-7},
			{"t_second", "e", 1.2771017, 1e-7},
			{"t_second", "h0", 0.4150581, 1e-7},
			{"lost", "e", -4 * 9.81 * 2 * 0.512, 1e-9},
			{"height", "g", 0.0689048, 1e-7},
			{"height", "e", 2.5421241, 1e-7},
			{"height", "h0", 0.0599779, 1e-7},
		}},
		{"glv", 0, nil},
		{"vdp", 0, []value{{"xf", "", 1.5969808, 1e-6}, {"vf", "", -1.029103, 1e-6}}},
		{"heat2d", 0, []value{{"mean_T", "", 336.36896, 0.02}, {"misfit", "", 16509.742, 5}}},
		{"pk", 0, []value{
			{"L", "", -8.44762, 1e-4},
			{"AUC", "", 113.13403, 1e-4},
			{"dip", "", 2.3848266, 1e-5},
			{"AUC", "tlag", -1.0842928, 1e-4},
			{"dip", "tlag", 0, 1e-6},
		}},
		{"robertson", 0, []value{
			{"y3_end", "", 0.89269909145, 1e-7},
			{"y3_end", "k1", 3.43782212715, 1e-6},
			{"track", "k1", 0.55309993, 1e-5},
		}},
		{"enzyme", 0, nil},
		{"control", 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := modeltest.Path("parser/testdata/models/" + c.name + ".ode")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, found, err := odes.Check(path, string(text), odes.ParseOptions{})
			if err != nil {
				t.Fatalf("not right: %v", err)
			}
			n := 0
			for _, d := range found {
				if d.Level == diag.Warning {
					n++
				}
			}
			if n != c.warnings {
				t.Errorf("%d warnings, want %d: %v", n, c.warnings, found)
			}
			once, err := parser.Format(path, string(text))
			if err != nil {
				t.Fatal(err)
			}
			if twice, err := parser.Format(path, once); err != nil || twice != once {
				t.Errorf("formatting is not stable: %v", err)
			}
			if c.values == nil {
				return
			}
			m, err := odes.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{})
			if err != nil || s.Status != "ok" {
				t.Fatalf("%v", err)
			}
			for _, v := range c.values {
				if got := modeltest.Derivative(t, s, v.objective, v.by); !(math.Abs(got-v.want) <= v.within) {
					t.Errorf("%s by %q is %.9g, want %.9g", v.objective, v.by, got, v.want)
				}
			}
		})
	}
}

// TestNotYet asks for what this version does not do: in an override it is an error. The check of the sens block is made
// once even for models with experiments, and by runs with gradients only.
//
//odes:goroutines
func TestNotYet(t *testing.T) {
	const text = `model M
time t from 0 to 2
param k = 1
state x = 1
x' = -k*x
data D { time = [1, 2]  y = [0.4, 0.1] }
observe y = x ~ normal(0.1) from D.y
experiment a { use D }
experiment b { k = 2*k  use D }
objective J = nll() + final(x)
sens { check = fd(directions = 2, tol = 1e-6) }
`
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	codes := func(list []diag.Diagnostic) (notYet, checked int) {
		for _, d := range list {
			switch d.Code {
			case odes.CodeNoSuchRun:
				notYet++
			case odes.CodeChecked:
				checked++
			}
		}
		return
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notYet, checked := codes(s.Warnings); notYet != 0 || checked != 1 {
		t.Errorf("gradients: %v", s.Warnings)
	}
	run, err := m.Solve(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notYet, checked := codes(run.Warnings); notYet != 0 || checked != 0 {
		t.Errorf("a run: %v", run.Warnings)
	}
	for _, o := range modeltest.Settings("solver.steady", "arclength", "solver.method", "bdf") {
		if _, err := m.Sensitivities(t.Context(), odes.Options{Settings: []odes.Setting{o}}); err == nil {
			t.Errorf("%v is not refused", o)
		}
	}
}
