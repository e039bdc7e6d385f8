package odes

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"
)

// SampleSettings are the resolved sample block of a model: from which density is drawn, and how.
type SampleSettings struct {
	keys.Sample
	// Over is what is drawn.
	Over []Variable
	// Priorless tells that some of it have priors, which the objective does not read.
	Priorless bool
	// Rest is the objective without the likelihood, where random effects are drawn; "" where nothing is left.
	Rest string
}

// SampleSettings resolves the sample block, and returns it with the model that has its objective: m, or, where the
// block names none and m has none, m with nll() - log_prior(). The error carries all that is wrong, as diagnostics.
func (m *Model) SampleSettings(opts Options) (SampleSettings, *Model, error) {
	out, over := SampleSettings{}, struct {
		List []target.Target `key:"sample.over"`
	}{}
	if err := m.ReadSettings("sample", opts, &out.Sample); err != nil {
		return out, m, err
	}
	if err := m.ReadSettings("sample", opts, &over); err != nil {
		return out, m, err
	}
	var l diag.List
	checked := m.engine.Checked
	for _, v := range over.List {
		if slices.ContainsFunc(checked.Randoms, func(r *model.Random) bool {
			ref, is := r.Scale.(*model.Ref)
			return is && r.Matrix && ref.Sym.Name == v.Name
		}) {
			l.Errorf(CodeUnknown, source.Span{}, "%s cannot be drawn: it is a matrix of covariances, whose elements "+
				"do not move by themselves; write its standard deviations and correlations as params: w1 ~ "+
				"half_normal(1), r ~ lkj(2), random e[2] ~ mvnormal([[w1^2, r*w1*w2], [r*w1*w2, w2^2]])", v.Text)
		}
	}
	if of := individual(m, opts, "sample.over", ""); of != nil {
		over.List = of
	}
	if over.List == nil {
		for _, p := range checked.Params {
			if bounded(m, p) {
				over.List = append(over.List, target.Target{Name: p.Name, Text: p.Name})
			}
		}
		if over.List == nil {
			l.Errorf(CodeUnknown, checked.Time.Span, "there is nothing to draw: no param has bounds or a prior; write "+
				"param k = 1 ~ lognormal(0, 1), or sample { over = [k1, k2] }")
		}
	}
	out.Over = variablesTo(m, "draw", over.List, &l)
	m, err := m.withPosterior(&out, &l)
	if err != nil {
		return out, m, err
	}
	if out.Random == "draw" && l.Err() == nil {
		if m, err = withRest(m, &out, &l); err != nil {
			return out, m, err
		}
	}
	for _, o := range m.engine.Checked.Objectives {
		out.Priorless = out.Priorless || o.Name == out.Objective && o.Terms != nil && o.Terms.Prior == 0 &&
			slices.ContainsFunc(m.engine.Checked.Priors, func(d model.Draw) bool {
				return slices.ContainsFunc(over.List, func(t target.Target) bool { return t.Name == d.Target.Name })
			})
	}
	return out, m, l.Err()
}

// variablesTo returns the variables of a list, as Variables has them: mistakes are told in the words of what is done
// with them.
func variablesTo(m *Model, verb string, list []target.Target, l *diag.List) []Variable {
	var found diag.List
	out, _ := m.engine.Variables(list, &found)
	found.Each(func(d *diag.Diagnostic) {
		d.Message = strings.Replace(d.Message, "cannot differentiate by", "cannot "+verb, 1)
		l.Add(*d)
	})
	return out
}

// withPosterior finds the objective to draw from, or returns a model that has it.
func (m *Model) withPosterior(s *SampleSettings, l *diag.List) (*Model, error) {
	checked := m.engine.Checked
	var names []string
	for _, o := range checked.Objectives {
		names = append(names, o.Name)
		switch {
		case o.Name != s.Objective:
		case o.Relation != "":
			l.Errorf(CodeUnknown, o.Span, "sample.of is minus the logarithm of a density, and %q is a constraint",
				o.Name)
		case o.Value.Type().Shape.Size() > 1 || len(o.Indices) > 0:
			l.Errorf(CodeUnknown, o.Span, "sample.of is one number, and objective %q has several", o.Name)
		}
	}
	if s.Objective != "" {
		if !slices.Contains(names, s.Objective) {
			l.Errorf(CodeUnknown, source.Span{}, "the model has no objective %q%s", s.Objective,
				diag.DidYouMean(s.Objective, names))
		}
		return m, nil
	}
	priors := len(checked.Priors) > 0
	for _, o := range checked.Objectives {
		if t := o.Terms; t != nil && len(t.Likelihoods) == 1 && t.Likelihoods[0].Table == "" &&
			t.Likelihoods[0].Weight == 1 && (t.Prior == 1 || t.Prior == 0 && !priors) || o.Joint {
			s.Objective = o.Name
			return m, nil
		}
	}
	text := "nll() - log_prior()"
	switch data := len(checked.Observations) > 0; {
	case !data && !priors:
		l.Errorf(CodeUnknown, checked.Time.Span, "there is no density to draw from: the model has no data and no "+
			"priors; write sample { of = L } with an objective L that is minus the logarithm of a density")
		return m, nil
	case !priors:
		text = "nll()"
	case !data:
		text = "-log_prior()"
	}
	if m.again == nil {
		l.Errorf(CodeUnknown, source.Span{}, "the model has no objective that is %s; write one, and sample { of = … }",
			text)
		return m, nil
	}
	if len(checked.Randoms) > 0 {
		for _, o := range checked.Objectives {
			if is, err := written(m, o.Name, text); is || err != nil {
				s.Objective = o.Name
				return m, err
			}
		}
	}
	s.Objective = free(m, "posterior")
	whole, err := m.again("objective "+s.Objective+" = "+text, nil)
	if err != nil {
		return m, err
	}
	return whole, nil
}

// withRest returns a model with an objective that is the negative logarithm of the priors: that of the likelihood with
// random effects that are drawn is computed subject by subject.
func withRest(m *Model, s *SampleSettings, l *diag.List) (*Model, error) {
	checked := m.engine.Checked
	at := slices.IndexFunc(checked.Objectives, func(o *model.Objective) bool { return o.Name == s.Objective })
	o := checked.Objectives[at]
	switch {
	case len(checked.Randoms) == 0:
		l.Errorf(CodeNoSuchRun, checked.Time.Span, "random = draw is for models with random effects, and this one has "+
			"none: random eta ~ normal(0, omega)")
	case s.Method != "nuts":
		l.Errorf(CodeNoSuchRun, o.Span, "random effects are drawn by chains: random = draw goes with method = nuts")
	case m.again == nil:
		l.Errorf(CodeNoSuchRun, o.Span, "random = draw is not available for the model of one experiment alone")
	}
	if l.Err() != nil {
		return m, nil
	}
	whole, rest, is, err := WithRest(m, s.Objective)
	if err != nil {
		return m, err
	}
	if !is {
		l.Errorf(CodeNoSuchRun, o.Span, "random = draw is for objectives that are nll() - log_prior(), or nll(), and "+
			"%s is written otherwise: its density with random effects is not known", o.Name)
		return m, nil
	}
	s.Rest = rest
	return whole, nil
}

// WithRest returns a model that has, beside an objective, another one that is what it adds to nll(): -log_prior(). rest
// is its name, "" where the objective is nll() and nothing is left. is tells that the objective is one of the two.
func WithRest(m *Model, objective string) (whole *Model, rest string, is bool, err error) {
	if is, err = written(m, objective, "nll()"); is || err != nil {
		return m, "", is, err
	}
	if checked := m.engine.Checked; len(checked.Priors)+len(checked.Matrices) == 0 {
		return m, "", false, nil
	}
	if is, err = written(m, objective, "nll() - log_prior()"); !is || err != nil {
		return m, "", false, err
	}
	rest = free(m, "rest")
	if whole, err = m.again("objective "+rest+" = -log_prior()", nil); err != nil {
		return m, "", false, err
	}
	return whole, rest, true, nil
}

// free returns a name that the model does not have.
func free(m *Model, name string) string {
	symbols, err := m.Symbols(nil)
	for err == nil && slices.ContainsFunc(symbols, func(x Symbol) bool { return x.Name == name }) {
		name += "_"
	}
	return name
}

// written reports whether an objective is what a text says: populations have no Terms.
func written(m *Model, objective, text string) (bool, error) {
	name := free(m, "text")
	whole, err := m.again("objective "+name+" = "+text, nil)
	if err != nil {
		return false, err
	}
	var b strings.Builder
	if err := model.Dump(&b, whole.engine.Checked); err != nil {
		return false, err
	}
	shared := map[string]string{} // what stands in several places has a name of its own, which differs
	value := func(name string) string {
		for line := range strings.SplitSeq(b.String(), "\n") {
			line = strings.TrimSpace(line)
			if name, value, found := strings.Cut(line, " = "); found && strings.HasPrefix(line, "%") {
				name, _, _ = strings.Cut(name, " ") // its type follows
				if shared[name] == "" {
					shared[name] = inPlace.ReplaceAllStringFunc(value, func(x string) string { return shared[x] })
				}
				continue
			}
			rest, is := strings.CutPrefix(line, "objective "+name)
			if _, value, found := strings.Cut(rest, " = "); is && found && !strings.ContainsAny(rest[:1], wordy) {
				return inPlace.ReplaceAllStringFunc(value, func(x string) string { return shared[x] })
			}
		}
		return ""
	}
	of := value(objective)
	return of != "" && of == value(name), nil
}

// inPlace are names of what stands in several places.
var inPlace = regexp.MustCompile(`%[0-9]+`)

// wordy are signs that go on with a name.
const wordy = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// AtTimes returns the model with its data tables at other times, for simulations: see ParseOptions.Times.
func (m *Model) AtTimes(times []float64) (*Model, error) {
	if m.again == nil {
		return nil, errors.New("the model of one experiment alone has the times of its tables")
	}
	return m.again("", times)
}

// Refined returns a Runner as Prepare does, with tolerances, or steps of fixed length, that are smaller: factor times
// those that opts lead to.
func (m *Model) Refined(factor float64, opts Options) (*Runner, error) {
	r, err := m.engine.Prepare(m.setup(opts))
	if err != nil {
		return nil, err
	}
	fine, err := m.engine.Prepare(r.Refined(m.setup(opts), factor))
	if err != nil {
		return nil, err
	}
	return &Runner{m, fine}, nil
}
