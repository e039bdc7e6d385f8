package sens_test

import (
	"context"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestAuto requires that auto chooses what the manual says, with a note on it, and changes nothing
// else.
func TestAuto(t *testing.T) {
	m, err := odes.ParseFile(modeltest.Path("examples/glv/glv.ode")) // 11 objectives, 120 variables
	if err != nil {
		t.Fatal(err)
	}
	run := func(settings ...string) *odes.Sensitivities {
		o := odes.Options{}
		for i := 0; i < len(settings); i += 2 {
			o.Settings = append(o.Settings, odes.Setting{Key: settings[i], Value: settings[i+1]})
		}
		s, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct{ rtol, method string }{
		{"1e-3", "tsit5"},
		{"1e-4", "tsit5"},
		{"1e-6", "dop853"},
		{"1e-9", "dop853"},
		{"1e-11", "vern9"},
	} {
		got, want := run("solver.method", "auto", "solver.rtol", c.rtol),
			run("solver.method", c.method, "solver.rtol", c.rtol)
		if got.Settings.Method != c.method || !said(got, c.method) {
			t.Errorf("rtol = %s: %s, %v", c.rtol, got.Settings.Method, got.Warnings)
		}
		for i, x := range want.Gradient {
			if got.Gradient[i] != x {
				t.Fatalf("auto gives other bits than %s", c.method)
			}
		}
	}
	if got := run("solver.method", "auto", "solver.fixed_step", "0.01"); got.Settings.Method != "rk4" {
		t.Errorf("fixed steps by %s", got.Settings.Method)
	}
	for _, c := range []struct {
		file, of, wrt, mode string
	}{
		{"glv/glv", "", "", "adjoint"}, // 11 by 120
		// 11 by 10: as many operations, but a stage costs less backwards
		{"glv/glv", "", "initial(x)", "adjoint"},
		{"lorenz/lorenz", "", "", "adjoint"},              // 4 by 6
		{"lorenz/lorenz", "", "sigma", "adjoint"},         // 4 by 1 of a model so small that operations hardly count
		{"heat_adjoint/heat30", "", "", "tangent"},        // 2 by 1 of a large model
		{"heat2d/heat2d", "", "", "adjoint"},              // 2 by 770
		{"heat2d/heat2d", "", "Tw", "tangent"},            // 2 by 1
		{"heat2d/heat2d", "mean_T", "Tw,q", "adjoint"},    // 1 by 2
		{"gray_scott/gray_scott", "", "kappa", "tangent"}, // 2 by 1
	} {
		m, err := odes.ParseFile(modeltest.Path("examples/" + c.file + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		o := odes.Options{Settings: []odes.Setting{{Key: "sens.mode", Value: "auto"}}}
		if c.of != "" {
			o.Of = strings.Split(c.of, ",")
		}
		if c.wrt != "" {
			o.Wrt = strings.Split(c.wrt, ",")
		}
		got, err := m.Sensitivities(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Settings.Mode != c.mode || !said(got, c.mode) {
			t.Errorf("%s, of %q by %q: %s, %v", c.file, c.of, c.wrt, got.Settings.Mode, got.Warnings)
		}
	}
}

func said(s *odes.Sensitivities, what string) bool {
	for _, d := range s.Warnings {
		if d.Code == odes.CodeAuto && strings.Contains(d.Message, what) {
			return true
		}
	}
	return false
}

// TestSettingsInModel writes the settings of accuracy into a model instead of overriding them.
func TestSettingsInModel(t *testing.T) {
	m, err := odes.Parse("settings.ode", `
time t from 0 to 3
param k = 1
state x = 1, y = 0
x' = -k*x
y' = x - y
objective J = sum_at(grid(0, 3, 50), x*y)
solver { method = rkc2  stages = 6  observe = dense  sens_tol = 1e-3  atol = [1e-6, 1e-9]  quad_tol = 1e-5 }
sens   { mode = continuous  error = on  control = on  rtol = 1e-6  atol = 1e-9 }
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Settings.Method != "rkc2" || s.Settings.Mode != "continuous" || s.Errors == nil {
		t.Errorf("%+v", s.Settings)
	}
	for _, wrong := range []odes.Setting{
		{Key: "solver.stages", Value: "1"},
		{Key: "solver.stages", Value: "51"},
		{Key: "solver.method", Value: "dopri5"},
		{Key: "solver.observe", Value: "sometimes"},
		{Key: "sens.error", Value: "maybe"},
		{Key: "sens.control", Value: "3"},
		{Key: "solver.atol", Value: "[1, 2, 3]"},
		{Key: "solver.atol", Value: "[-1, 2]"},
		{Key: "sens.rtol", Value: "2"},
		{Key: "solver.sens_tol", Value: "1"},
	} {
		if _, err := m.Sensitivities(context.Background(), odes.Options{Settings: []odes.Setting{wrong}}); err == nil {
			t.Errorf("%s = %s passed", wrong.Key, wrong.Value)
		}
	}
}
