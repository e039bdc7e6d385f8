package compile_test

import (
	"strings"
	"testing"

	"odes.dev/odes/internal/compile"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

const decay = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x\nobjective J = final(x)\n"

// TestEmit shows every stage of a model, and refuses what is none.
func TestEmit(t *testing.T) {
	for stage, want := range map[string]string{
		"tokens": "keyword", "ast": "k", "model": "x", "tape": "dy.x", "vjp": "bar.p.k", "jvp": "dot.y.x",
		"jacobian": "jac.0", "program": "instructions",
	} {
		var b strings.Builder
		if err := compile.Emit(&b, stage, "m.ode", decay, nil); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s: %v, without %q:\n%s", stage, err, want, b.String())
		}
	}
	if n := len(compile.Stages()); n != 8 {
		t.Errorf("%d stages, and this test looks at 8", n)
	}
	if err := compile.Emit(&strings.Builder{}, "bytes", "m.ode", decay, nil); err == nil ||
		!strings.Contains(err.Error(), "there are tokens, ast") {
		t.Errorf("a stage that is none: %v", err)
	}
}

// TestCheck finds what is wrong with settings, which no run has asked for yet.
func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		decay:                                "",
		decay + "solver { method = rk5 }\n":  "names a method that does not exist",
		decay + "solver { rtol = [1, 2] }\n": "rtol",
	} {
		var list diag.List
		m, whole := compile.Check("m.ode", text, nil, &list)
		if (m == nil) != list.HasErrors() || (whole == nil) != list.HasErrors() {
			t.Errorf("%q: a model, and errors: %v", text, list.All())
		}
		if err := list.Err(); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestOutputs makes the states the outputs of a model that names none, of its experiments as well.
func TestOutputs(t *testing.T) {
	var list diag.List
	m, _ := compile.Text("m.ode", decay+"experiment e { k = 3 }\n", typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	if len(m.Outputs) != 1 || m.Outputs[0].Name != "x" || len(m.Experiments[0].Model.Outputs) != 1 {
		t.Errorf("outputs %v, and of the experiment %v", m.Outputs, m.Experiments[0].Model.Outputs)
	}
	if whole, parts := compile.Model(m, &list); whole == nil || len(parts) != 1 {
		t.Errorf("%v and %d experiments", whole, len(parts))
	}
}
