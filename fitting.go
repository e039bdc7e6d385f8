package odes

import (
	"slices"

	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
)

// FitSettings are the resolved fit block of a model: what a fit searches for and how. Package fit acts on them.
type FitSettings struct {
	keys.Fit // how it searches
	// Unlikely tells that the fit looks for where the data are least likely: the sign of nll() is wrong.
	Unlikely bool
	// Joint tells that the objective is the negative logarithm of the density of the data of one experiment alone and
	// of its random effects.
	Joint bool
	// Mixed tells that the objective reads a likelihood of data beside terms that are none.
	Mixed bool
	// Marginal is how the likelihood is integrated over random effects.
	Marginal string
	// Unchosen are the names of the model's fit blocks, where each has one and none was chosen: none of them holds.
	Unchosen []string
	// Over is what is searched for, and Log marks what is on a logarithmic scale.
	Over []Variable
	Log  []bool // [len(Over)]
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
	out := FitSettings{Fit: f.Fit, Marginal: s.Marginal.String()}
	out.Warm = m.engine.System.Settles() && s.SteadyStart != settings.OwnStart
	if opts.Fit == "" {
		out.Unchosen = settings.Unchosen(m.engine.Checked, "fit")
	}
	m.fittedObjective(&out, &l)
	for _, o := range m.engine.Checked.Objectives {
		if o.Name == out.Objective {
			out.Joint = o.Joint
			out.Mixed = o.Terms == nil && !o.Rises && !o.Joint && m.engine.ReadsLikelihood(o.Name)
			out.Unlikely = out.Maximize && o.Terms != nil || !out.Maximize && o.Rises
		}
	}
	over := f.Over
	if of := individual(m, opts, "fit.over", opts.Fit); of != nil {
		over, f.Log = of, nil
	}
	if over == nil {
		for _, p := range m.engine.Checked.Params {
			if bounded(m, p) || slices.Contains(m.Covariances(), p.Name) {
				over = append(over, target.Target{Name: p.Name, Text: p.Name})
			}
		}
		if over == nil {
			l.Errorf(CodeUnknown, m.engine.Checked.Time.Span,
				"there is nothing to search for: no param has bounds or a "+
					"prior; write fit { over = [k1, k2] }")
		}
	}
	out.Over = variablesTo(m, "search for", over, &l)
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

// individual returns the random effects of the model of one experiment alone, which are what is searched for there:
// what the file says is for the population. It returns nil where another block, or the key itself, was asked for.
func individual(m *Model, opts Options, key, block string) (list []target.Target) {
	if block != "" || slices.ContainsFunc(opts.Settings, func(s Setting) bool { return s.Key == key }) {
		return nil
	}
	for _, r := range m.engine.Checked.Individual {
		list = append(list, target.Target{Name: r.Sym.Name, Text: r.Sym.Name})
	}
	return list
}

// ReadSettings resolves the blocks of a kind without a name, and what opts override, into the struct to: a field is set
// by the key that it has as its tag, `key:"sample.draws"`. It is for blocks that this package does not act on itself.
func (m *Model) ReadSettings(block string, opts Options, to any) error {
	var l diag.List
	s := m.resolve(opts, &l)
	if err := l.Err(); err != nil {
		return err
	}
	s.Into(block, to)
	return nil
}

// bounded reports whether a param has bounds or a prior, and more than one value.
func bounded(m *Model, p *model.Symbol) bool {
	if p.Lo == p.Hi {
		return false
	}
	return p.Bounded ||
		slices.ContainsFunc(m.engine.Checked.Priors, func(d model.Draw) bool { return d.Target.Name == p.Name })
}

// fittedObjective finds the objective of a fit that names none: the only one, or the only likelihood.
func (m *Model) fittedObjective(f *FitSettings, l *diag.List) {
	var all, likelihoods []string
	for _, o := range m.engine.Checked.Objectives {
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
		l.Errorf(CodeUnknown, m.engine.Checked.Time.Span,
			"there is nothing to minimise: the model has no objective; for "+
				"data, add: objective loss = nll()")
	default:
		l.Errorf(CodeUnknown, m.engine.Checked.Time.Span,
			"the model has several objectives; say which one: fit { minimize = "+
				"%s }", all[0])
	}
}

// Constraints lists the constraints of the model: one Value for each element, with its Relation and no value.
func (m *Model) Constraints() []Value {
	return slices.DeleteFunc(m.engine.Objectives(nil, &diag.List{}), func(v Value) bool { return v.Relation == "" })
}

// Objectives returns all objectives and constraints, by elements, in file order. They have no values.
func (m *Model) Objectives() []Value { return m.engine.Objectives(nil, &diag.List{}) }

// ValuesOf returns the variables that opts.Wrt names, and their values before a run, laid out like a row of a gradient.
func (m *Model) ValuesOf(opts Options) ([]Variable, []float64, error) {
	return m.engine.ValuesOf(m.setup(opts.GradientOnly()))
}

// Bounds returns the bounds of a variable; ±Inf where there is none, or where params make it (BoundsOf).
func (m *Model) Bounds(v Variable) (lo, hi float64) { return m.engine.Bounds(v) }

// BoundsOf returns the bounds of the variables that opts.Wrt names, with the params that opts set: bounds may read
// params that are not among these variables.
func (m *Model) BoundsOf(opts Options) ([][2]float64, error) {
	return m.engine.BoundsOf(m.setup(opts.GradientOnly()))
}

// ReadsLargest reports whether an objective or a constraint reads max_over. Its derivatives jump where another of
// several maxima becomes the largest.
func (m *Model) ReadsLargest(name string) bool { return m.engine.ReadsLargest(name) }

// ReadsExperiments reports whether an objective or a constraint reads a likelihood that adds up over the experiments
// of the model. Any other one is that of the run without their changes.
func (m *Model) ReadsExperiments(name string) bool { return m.engine.ReadsExperiments(name) }
