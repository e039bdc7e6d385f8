package odes

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/target"

	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
)

// FitSettings are the resolved fit block of a model: what a fit searches for and how. Package fit acts on them.
type FitSettings struct {
	Objective string
	Maximize  bool
	// Unlikely tells that the fit looks for where the data are least likely: the sign of nll() is wrong.
	Unlikely bool
	// Unchosen are the names of the model's fit blocks, where each has one and none was chosen: none of them holds.
	Unchosen []string
	// Over is what is searched for, and Log marks what is on a logarithmic scale.
	Over []Variable
	Log  []bool // [len(Over)]
	// Algorithm is "auto", "trust", "lbfgsb" or "sqp".
	Algorithm string
	Starts    int
	// Points is how the starts are chosen after the first: "lhs", "sobol" or "random".
	Points  string
	Seed    uint64
	MaxIter int // of each start; 0 means 300
	// MaxTime is how many seconds all searches may take; 0 means any number.
	MaxTime float64
	// Intervals are "auto", "profile", "wald", "bootstrap", from so many refits, or "none", at the probability Level.
	Intervals string
	Bootstrap int
	Level     float64
	// Scatter is "known" where the standard deviations of the model are right, and "estimated" where they are so up to
	// a common factor, which the residuals tell.
	Scatter string
	// Warm tells that runs of a search may begin at the steady states of others: solver { steady_start = … } is not
	// own, and the model has some.
	Warm bool
}

// FitSettings resolves the fit block that opts choose. The error carries all that is wrong with it, as diagnostics.
func (m *Model) FitSettings(opts Options) (FitSettings, error) {
	var l diag.List
	s := m.resolve(opts, &l)
	if err := l.Err(); err != nil {
		return FitSettings{}, err
	}
	f := s.Fit
	out := FitSettings{
		Objective: f.Objective, Maximize: f.Maximize, Algorithm: f.Algorithm, Starts: f.Starts, Points: f.Points,
		Seed: f.Seed, MaxIter: f.MaxIter, MaxTime: f.MaxTime, Intervals: f.Intervals, Bootstrap: f.Bootstrap,
		Level: f.Level, Scatter: f.Scatter, Warm: m.system.Settles() && s.SteadyStart != settings.OwnStart,
	}
	if opts.Fit == "" {
		out.Unchosen = settings.Unchosen(m.checked, "fit")
	}
	m.fittedObjective(&out, &l)
	for _, o := range m.checked.Objectives {
		if o.Name == out.Objective {
			out.Unlikely = out.Maximize && o.Terms != nil || !out.Maximize && o.Rises
		}
	}
	over := f.Over
	if over == nil {
		for _, p := range m.checked.Params {
			if m.bounded(p) {
				over = append(over, target.Target{Name: p.Name, Text: p.Name})
			}
		}
		if over == nil {
			l.Errorf(CodeUnknown, m.checked.Time.Span, "there is nothing to search for: no param has bounds or a "+
				"prior; write fit { over = [k1, k2] }")
		}
	}
	out.Over, _ = m.variables(over, &l)
	out.Log = make([]bool, len(out.Over))
	for _, t := range f.Log {
		if t.Text == "all" {
			for i := range out.Log {
				out.Log[i] = true
			}
			continue
		}
		at := slices.IndexFunc(out.Over, func(v Variable) bool { return v.Name == t.Name && v.Initial == t.Initial })
		if at < 0 {
			l.Errorf(CodeUnknown, source.Span{}, "fit.log names %s, which is not searched for: it is not in fit.over",
				t.Text)
			continue
		}
		out.Log[at] = true
	}
	if l.HasErrors() && out.Unchosen != nil {
		l.Add(settings.NoneChosen("fit", out.Unchosen))
	}
	return out, l.Err()
}

// bounded reports whether a param has bounds or a prior, and more than one value.
func (m *Model) bounded(p *model.Symbol) bool {
	if p.Lo == p.Hi {
		return false
	}
	return !math.IsInf(p.Lo, -1) || !math.IsInf(p.Hi, 1) ||
		slices.ContainsFunc(m.checked.Priors, func(d model.Draw) bool { return d.Target.Name == p.Name })
}

// fittedObjective finds the objective of a fit that names none: the only one, or the only likelihood.
func (m *Model) fittedObjective(f *FitSettings, l *diag.List) {
	var all, likelihoods []string
	for _, o := range m.checked.Objectives {
		if o.Relation != "" {
			continue
		}
		size := o.Value.Type().Shape.Size()
		for _, ix := range o.Indices {
			size *= ix.Count
		}
		if f.Objective == o.Name && size > 1 {
			l.Errorf(CodeUnknown, o.Span, "a fit is of one number, and objective %q has %d", o.Name, size)
		}
		all = append(all, o.Name)
		if o.Terms != nil {
			likelihoods = append(likelihoods, o.Name)
		}
	}
	switch {
	case f.Objective != "":
		if !slices.Contains(all, f.Objective) {
			l.Errorf(CodeUnknown, source.Span{}, "the model has no objective %q%s", f.Objective,
				diag.DidYouMean(f.Objective, all))
		}
	case len(all) == 1:
		f.Objective = all[0]
	case len(likelihoods) == 1:
		f.Objective = likelihoods[0]
	case len(all) == 0:
		l.Errorf(CodeUnknown, m.checked.Time.Span, "there is nothing to minimise: the model has no objective; for "+
			"data, add: objective loss = nll()")
	default:
		l.Errorf(CodeUnknown, m.checked.Time.Span, "the model has several objectives; say which one: fit { minimize = "+
			"%s }", all[0])
	}
}

// ValuesOf returns the variables that opts.Wrt names, and their values before a run, laid out like a row of a gradient.
func (m *Model) ValuesOf(opts Options) ([]Variable, []float64, error) {
	opts.Of = []string{}
	r, err := m.begin(opts.GradientOnly())
	if err != nil {
		return nil, nil, err
	}
	var l diag.List
	list, columns := m.variables(r.settings.Wrt, &l)
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	values := make([]float64, columns)
	var y []float64
	for _, v := range list {
		to := values[v.Offset : v.Offset+v.Size()]
		if !v.Initial {
			copy(to, r.problem.Point.Param(v.Name))
			continue
		}
		if y == nil {
			k, err := r.problem.Kit(1, system.Values, false)
			if err != nil {
				return nil, nil, r.refused(err)
			}
			w := r.problem.Worker(k)
			z := w.Size()
			y = make([]float64, z.N)
			times, d := make([]float64, len(w.Instants())), make([]float64, z.D)
			w.InstantTimes(d, times)
			w.Start(times[0], y, d)
		}
		copy(to, y[m.system.State(v.Name).Offset:])
	}
	return list, values, nil
}

// Bounds returns the bounds of a variable; ±Inf where there is none.
func (m *Model) Bounds(v Variable) (lo, hi float64) {
	if !v.Initial {
		for _, p := range m.checked.Params {
			if p.Name == v.Name {
				return p.Lo, p.Hi
			}
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// Constraints lists the constraints of the model: one Value for each element, with its Relation and no value.
func (m *Model) Constraints() []Value {
	var l diag.List
	var list []Value
	for _, o := range m.objectivesOf(nil, &l) {
		if o.value.Relation != "" {
			list = append(list, o.value)
		}
	}
	return list
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
		return ok && slices.Contains(m.checked.Totals, r.Sym)
	})
}

// reads reports whether is holds for a part of an objective or a constraint.
func (m *Model) reads(name string, is func(model.Expr) bool) bool {
	base, _, _ := strings.Cut(name, "[")
	found := false
	for _, o := range m.checked.Objectives {
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
