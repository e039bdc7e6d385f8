package system

import (
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// decaying returns a problem with one param by which derivatives are wanted.
func decaying(t *testing.T) *Problem {
	t.Helper()
	const text = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x^2\nobjective J = final(x)\n"
	var l diag.List
	checked := typecheck.Check(parser.Parse(source.NewFile("m.ode", text), &l), typecheck.Env{}, &l)
	if l.HasErrors() {
		t.Fatal(l.Err())
	}
	m := New(checked, &l)
	return &Problem{Model: m, active: []string{"k"}, plan: newPlan(m.layout, []string{"k"})}
}

// TestKitsShareValues holds that programs of values are compiled once for each number of lanes, with the Jacobian and
// without it.
func TestKitsShareValues(t *testing.T) {
	p := decaying(t)
	kit := func(lanes int, dir Direction) *Kit {
		k, err := p.Kit(lanes, dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	run := kit(1, Values)
	if kit(1, Pull).value != run.value || kit(1, Push).value != run.value {
		t.Error("kits of one lane have values of their own")
	}
	if kit(2, Pull).value == run.value {
		t.Error("kits of one and of two lanes have the same values")
	}
	p.Jacobian = true
	stiff := kit(1, Values)
	if stiff.value == run.value || kit(1, Pull).value != stiff.value {
		t.Error("programs with the Jacobian and without it are not told apart")
	}
}
