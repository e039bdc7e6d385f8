// Package run makes runs of compiled models: it joins programs, solvers and sensitivity methods.
//
//   - A Model is a compiled model with those of its experiments, and a Setup says what a run of it is to do. All that
//     is said there is resolved: settings are numbers and choices, and nothing is read from text any more.
//   - A Run is one run with all choices made. A Runner repeats it with derivatives, a Simulator without them, Lanes
//     make several side by side, and a Comparison makes those of a likelihood, row by row.
//   - A run that repeats another one by other means, to compare it, takes a changed copy of its Setup. Package trust
//     grades what comes of the comparison.
package run

import (
	"slices"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/typecheck"
)

// Model is a compiled model. It is immutable, and goroutines may share it.
type Model struct {
	Checked *model.Model
	System  *compiled.Model
	Explain *explain.Explainer
	Notes   []diag.Diagnostic // warnings and notes of compilation, which runs need not repeat
	// Parse and Compile are the seconds that parsing (with checking) and compiling took.
	Seconds struct{ Parse, Compile float64 }

	Experiments []*Experiment // in file order
	Part        bool          // it is an experiment of another model

	rows    rowModels
	windows windows
}

// NewModel compiles what the checker found, with its experiments. It returns nil if that is not possible, and says why
// to list.
func NewModel(checked *model.Model, list *diag.List) *Model {
	whole, parts := compile.Model(checked, list)
	if whole == nil {
		return nil
	}
	m := &Model{Checked: checked, System: whole, Explain: explain.New(whole)}
	for i, x := range checked.Experiments {
		its := &Model{Checked: x.Model, System: parts[i], Explain: explain.New(parts[i]), Part: true}
		m.Experiments = append(m.Experiments, &Experiment{x.Name, its})
	}
	return m
}

// saidBefore are the codes of what runs tell, each with that of what compilation tells of the same place.
var saidBefore = map[diag.Code]diag.Code{
	explain.CodeNoInfluence: typecheck.CodeNoInfluence,
	explain.CodeOutside:     typecheck.CodeNeverFires,

	typecheck.CodeNeverFires: typecheck.CodeNeverFires,
}

// untold returns those of the diagnostics of a run that compilation did not tell already.
func (m *Model) untold(list []diag.Diagnostic) []diag.Diagnostic {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		before, twin := saidBefore[d.Code]
		return twin && slices.ContainsFunc(m.Notes, func(n diag.Diagnostic) bool {
			return n.Code == before && (n.Level <= d.Level || n.Code == d.Code) && n.Span == d.Span
		})
	})
}

// Names returns the names of the experiments, in file order.
func (m *Model) Names() []string {
	var names []string
	for _, x := range m.Experiments {
		names = append(names, x.Name)
	}
	return names
}

// ReadsLargest reports whether an objective or a constraint reads max_over. Its derivatives jump where another of
// several maxima becomes the largest.
func (m *Model) ReadsLargest(name string) bool {
	return m.reads(name, func(e model.Expr) bool {
		f, ok := e.(*model.Functional)
		return ok && f.Kind == model.MaxOver
	})
}

// ReadsExperiments reports whether an objective or a constraint reads a likelihood that adds up over the experiments
// of the model. Any other one is that of the run without their changes.
func (m *Model) ReadsExperiments(name string) bool {
	return m.reads(name, func(e model.Expr) bool {
		r, ok := e.(*model.Ref)
		return ok && slices.Contains(m.Checked.Totals, r.Sym)
	})
}

// ReadsLikelihood reports whether an objective or a constraint reads a likelihood of data.
func (m *Model) ReadsLikelihood(name string) bool {
	return m.ReadsExperiments(name) || m.reads(name, func(e model.Expr) bool {
		f, ok := e.(*model.Functional)
		return ok && f.Table != nil && slices.ContainsFunc(m.Checked.Observations, func(o *model.Observation) bool {
			return o.Table == f.Table
		})
	})
}

// reads reports whether is holds for a part of an objective or a constraint.
func (m *Model) reads(name string, is func(model.Expr) bool) bool {
	base := target.Array(name)
	found := false
	for _, o := range m.Checked.Objectives {
		if o.Name != base {
			continue
		}
		model.Walk(func(e model.Expr) bool {
			found = found || is(e)
			return !found
		}, o.Value)
	}
	return found
}
