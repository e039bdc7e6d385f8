package explain

import (
	"slices"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/diag"
)

// Asserts checks the asserts of the model at the parameters of a run.
func (x *Explainer) Asserts(pt *compiled.Point) error {
	var l diag.List
	for _, i := range pt.FailedAsserts() {
		a := x.model.Checked.Asserts[i]
		text := a.Text
		if text == "" {
			text = a.Cond.Span().Text()
		}
		if !a.Implied {
			text = "assertion failed: " + text
		}
		l.Errorf(CodeAssert, a.Span, "%s", text)
	}
	return l.Err()
}

// NoInfluence notes the variables that nothing reads, neither in the model nor in one of its experiments.
func (x *Explainer) NoInfluence(variables []compiled.Variable, experiments []*compiled.Model, l *diag.List) {
	for _, v := range variables {
		if v.Initial || x.model.Reads(v.Name) || x.model.Checked.Scales(v.Name) ||
			slices.ContainsFunc(experiments, func(m *compiled.Model) bool { return m.Reads(v.Name) }) {
			continue
		}
		for _, s := range x.model.Checked.Params {
			if s.Name == v.Name {
				l.Notef(CodeNoInfluence, s.Span, "param %s influences nothing: its derivatives are zero", v.Name)
			}
		}
	}
}
