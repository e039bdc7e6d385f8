package run

import (
	"errors"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// plain is a method without anything but steps and their derivatives.
type plain struct{ solvers.Method }

// TestIncapable: a run that asks a method for what it cannot do is refused before it starts, with the name of the
// method. What the method can do is unchanged.
func TestIncapable(t *testing.T) {
	rk4, _ := methods.Lookup("rk4")
	spec := *rk4
	spec.Can = 0
	spec.New = func(size solvers.Size, lanes int) solvers.Method { return plain{rk4.New(size, lanes)} }
	const text = "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = "
	for _, c := range []struct {
		objective, key, value string
		want                  string // "": the run is done
	}{
		{"final(x)", "", "", ""},
		{"final(x)", "sens.mode", "tangent", ""},
		{"final(x)", "sens.mode", "forward", ""},
		{"final(x)", "solver.observe", "clip", ""},
		{"max_over(x)", "", "", "max_over: method rk4 has no derivatives of its dense output"},
		{"final(x)", "solver.observe", "dense", "solver.observe = dense: method rk4 has no "},
		{"final(x)", "sens.mode", "complex", "mode = complex: method rk4 has no steps in c"},
		{"final(x)", "sens.mode", "differences", "mode = differences: method rk4 has no "},
		{"final(x)", "sens.mode", "continuous", "mode = continuous: method rk4 has no sums"},
		{"final(x)", "sens.mode", "backsolve", "mode = backsolve: method rk4 has no sums"},
		{"final(x)", "sens.order", "2", "sens.order = 2: method rk4 has no second deri"},
		{"final(x)", "sens.hvp", "[1, 1]", "sens.hvp: method rk4 has no second derivatives"},
		{"final(x)", "sens.control", "on", "sens.control = on: method rk4 has no error est"},
		{"final(x)", "sens.check", "fd()", "sens.check: method rk4 has no steps in complex"},
	} {
		m, err := Parse("m.ode", text+c.objective+"\n", ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		if strings.Contains(c.key, ".") {
			o.Settings = []Setting{{Key: c.key, Value: c.value}}
		}
		run := func(o Options) error {
			_, err := m.Sensitivities(t.Context(), o)
			return err
		}
		if err := run(o); err != nil && c.value != "backsolve" {
			t.Errorf("%+v, with a method that can: %v", c, err)
		}
		o.spec = &spec
		err = run(o)
		if c.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		list := diag.Of(err)
		if len(list) != 1 || list[0].Code != settings.CodeSetting || !strings.HasPrefix(list[0].Message, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		if failed := (*result.RunError)(nil); errors.As(err, &failed) {
			t.Errorf("%+v: the run was begun", c)
		}
	}
}

// TestIncapableInside: what only shows along a run is an error of the run that names the method, too.
func TestIncapableInside(t *testing.T) {
	rk4, _ := methods.Lookup("rk4")
	spec := *rk4
	spec.New = func(size solvers.Size, lanes int) solvers.Method { return plain{rk4.New(size, lanes)} }
	m, err := Parse("m.ode", "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n",
		ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Sensitivities(t.Context(), Options{spec: &spec, Settings: []Setting{{"sens.order", "2"}}})
	list := diag.Of(err)
	if len(list) != 1 || list[0].Code != explain.CodeIncapable ||
		!strings.Contains(list[0].Message, "method rk4 has no second") {
		t.Errorf("%v", err)
	}
}
