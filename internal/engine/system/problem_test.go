package system

import (
	"testing"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

// problemOf returns the problem of a model with that text at its defaults, whose derivatives by k are wanted.
func problemOf(t *testing.T, text string) *Problem {
	t.Helper()
	var l diag.List
	checked := typecheck.Check(parser.Parse(source.NewFile("m.ode", text), &l), typecheck.Env{}, &l)
	if l.HasErrors() {
		t.Fatal(l.Err())
	}
	m := compiled.New(checked, &l)
	p := NewProblem(m, m.NewPoint(nil, &l), nil, nil)
	p.Differentiate([]string{"k"})
	return p
}
