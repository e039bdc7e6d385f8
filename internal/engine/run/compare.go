package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
)

// A Comparison compares a model with its data, row by row, with derivatives: what methods for least squares need and a
// likelihood hides. It keeps its memory from run to run, like a Runner. A Comparison belongs to one goroutine.
type Comparison struct {
	// Variables are what predictions are differentiated by, and Columns is their number of elements.
	Variables []result.Variable
	Columns   int
	// Groups are the observations of each experiment, in file order.
	Groups []result.Compared
	// PriorWeight is that of the negative logarithm of the priors in the objective; 0 where it reads none.
	PriorWeight float64
	// RTol is the relative tolerance of the runs.
	RTol float64

	parts   []*comparedPart
	threads int
	answers *system.Answers // of all parts
	// Ends are the values at the end of a window; see CompareWithin. They are overwritten by the next run.
	Ends result.Rows
	ends []string // the objectives that they are
}

// comparedPart is the runs of one experiment.
type comparedPart struct {
	name   string
	at     int // among the experiments; -1 for the model itself
	of     *Model
	runner *Runner
	ends   []string // of a window
	err    error
}

// rowModels returns the models whose objectives are the rows of observations: of the experiments, or of the model
// itself where it has none. They are compiled when they are first asked for.
func (m *Model) rowModels() ([]*comparedPart, error) {
	m.rows.once.Do(func() {
		var list diag.List
		add := func(name string, at int, of *Model) {
			checked := *of.Checked
			rowObjectives(&checked, nil)
			if len(checked.Objectives) == 0 {
				return
			}
			compiled := compile.Part(m.System, &checked, &list)
			if compiled == nil {
				return
			}
			m.rows.parts = append(m.rows.parts, &comparedPart{name: name, at: at, of: &Model{
				Checked: &checked, System: compiled, Explain: explain.New(compiled), Part: true,
			}})
		}
		if len(m.Experiments) == 0 {
			add("", -1, m)
		}
		for i, x := range m.Experiments {
			add(x.Name, i, x.Model)
		}
		m.rows.err = list.Err()
	})
	return m.rows.parts, m.rows.err
}

// rowModels are the models of Model.rowModels.
type rowModels struct {
	once  sync.Once
	parts []*comparedPart
	err   error
}

// Compare prepares comparisons with the data that an objective reads: one that is a sum of nll() or nll(D), and of
// -log_prior(), with positive weights. For any other objective it returns nil. The error carries all that is wrong with
// the options, as diagnostics.
func (m *Model) Compare(objective string, setup Setup, threads int) (*Comparison, error) {
	at := slices.IndexFunc(m.Checked.Objectives, func(o *model.Objective) bool { return o.Name == objective })
	if at < 0 || m.Checked.Objectives[at].Terms == nil {
		return nil, nil
	}
	return m.compare(m.Checked.Objectives[at].Terms, result.NeededTerms, setup, threads)
}

// CompareAll prepares comparisons with all data of the model, whatever its objectives are. It returns nil if there are
// none.
func (m *Model) CompareAll(wanted result.WantedTerms, setup Setup, threads int) (*Comparison, error) {
	return m.compare(&model.Terms{Likelihoods: []model.Likelihood{{Weight: 1}}}, wanted, setup, threads)
}

func (m *Model) compare(terms *model.Terms, wanted result.WantedTerms, setup Setup, threads int) (*Comparison, error) {
	c := &Comparison{PriorWeight: terms.Prior, threads: max(1, threads), answers: &system.Answers{}}
	parts, err := m.rowModels()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := c.add(p, terms, wanted, setup); err != nil {
			return nil, err
		}
	}
	if len(c.parts) == 0 {
		return nil, nil
	}
	return c, nil
}

// add prepares the runs of an experiment.
func (c *Comparison) add(
	p *comparedPart, terms *model.Terms, wanted result.WantedTerms, setup Setup,
) error {
	var names []string
	for i, o := range p.of.Checked.Observations {
		weight := weightOf(o, terms)
		if weight == 0 {
			continue
		}
		g := comparedWith(o, p.name, weight)
		g.Wanted = wanted
		name := func(what string) string { return fmt.Sprintf("%s'%d.%s", o.Name, i, what) }
		names = append(names, name("prediction"))
		for _, a := range o.Noise.Args {
			if a != o.Noise.Centre {
				names = append(names, name(fmt.Sprint(len(g.Parameters))))
				g.Parameters = append(g.Parameters, a)
			}
		}
		if g.Terms() {
			names = append(names, name("term"))
		}
		g.Args = make([]result.Rows, len(g.Parameters))
		c.Groups = append(c.Groups, g)
	}
	if names = append(names, c.ends...); len(names) == 0 {
		return nil
	}
	if len(c.ends) == 0 {
		names = append(names, spread(p.of.Checked)...)
	}
	if p.at >= 0 {
		setup = setup.part(p.at)
	}
	setup.Gradient, setup.Events, setup.EventTimes, setup.Progress = nil, -1, false, nil
	setup = setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of, s.Threads = names, 1
		if s.Mode == sens.DefaultMode {
			s.Mode = settings.Auto
		}
	})
	r, err := p.of.Prepare(setup)
	if err != nil {
		return (&Experiment{Name: p.name}).wrapUnless(p.name == "", err)
	}
	r.problem.Answers = c.answers
	c.Variables, c.Columns, c.RTol = r.variables, r.columns, r.settings.Solver.RTol
	c.parts = append(c.parts, &comparedPart{name: p.name, runner: r})
	return nil
}

// weightOf returns the weight that the likelihood of an observation has in an objective.
func weightOf(o *model.Observation, terms *model.Terms) (weight float64) {
	for _, l := range terms.Likelihoods {
		if l.Table == "" || l.Table == o.Table.Name {
			weight += l.Weight
		}
	}
	return weight
}

// comparedWith returns what an observation of an experiment is compared with.
func comparedWith(o *model.Observation, experiment string, weight float64) result.Compared {
	g := result.Compared{
		Experiment: experiment, Observation: o.Name, Doc: o.Doc, Noise: o.Noise.Name, Weight: weight,
		T:    o.Rows.Table.Data[slices.Index(o.Rows.Table.Columns, "time")],
		Data: slices.Clone(o.Rows.Table.Data[o.Column]), Unclear: o.Censored && o.Rows.Ranges == nil,
	}
	if u := o.Value.Type().Unit; u.Known() && !u.Plain() {
		g.Unit = u.String()
	}
	g.Ranges, g.Table = o.Rows.Ranges, declared(o.From)
	g.Column = slices.IndexFunc(g.Table.Columns, func(c result.DataColumn) bool {
		return c.Name == o.Rows.Table.Columns[o.Column]
	})
	for k := range g.Data {
		g.Row = append(g.Row, o.Rows.Table.Row(k)-1)
	}
	g.Side = make([]int, len(g.Data))
	for k, y := range g.Data {
		g.Data[k], g.Side[k] = g.Tell(k, y)
	}
	return g
}

// declared returns a table of a model as results have it.
func declared(d *model.Declared) *result.DataTable {
	t := &result.DataTable{Name: d.Name}
	for _, c := range d.Columns {
		column := result.DataColumn{Name: c.Name, Values: c.Values, Texts: c.Texts}
		if c.Unit.Known() && !c.Unit.Plain() {
			column.Unit = c.Unit.String()
		}
		t.Columns = append(t.Columns, column)
	}
	return t
}

// wrapUnless says in an error in which experiment it came up, unless there is none.
func (x *Experiment) wrapUnless(alone bool, err error) error {
	if alone {
		return err
	}
	return x.wrap(err)
}

// Set gives parameters or initial values other values for the runs to come; see Runner.Set.
func (c *Comparison) Set(set ...compiled.Override) error {
	c.answers.Next()
	for _, p := range c.parts {
		if err := p.runner.Set(set...); err != nil {
			return (&Experiment{Name: p.name}).wrapUnless(p.name == "", err)
		}
	}
	return nil
}

// ErrNoValue says that a run came to its end, but that some number that it was made for is none.
var ErrNoValue = errors.New("a prediction has no value")

// Run makes the runs of all experiments and fills in the Groups. A run that fails is an error, and so is a prediction
// without a value.
func (c *Comparison) Run(ctx context.Context) error {
	list := make([]*Run, len(c.parts))
	for i, p := range c.parts {
		list[i] = p.runner.Run
	}
	rest := c.parts
	if firstAlone(list) {
		if _, rest[0].err = rest[0].runner.Sensitivities(ctx); rest[0].err == nil {
			fromFirst(list)
			rest = rest[1:]
		} else {
			rest = nil // the others would be for nothing
		}
	}
	if c.threads == 1 || len(rest) == 1 {
		for _, p := range rest {
			if _, p.err = p.runner.Sensitivities(ctx); p.err != nil {
				break // the others would be for nothing
			}
		}
	} else {
		var wait sync.WaitGroup
		places := make(chan struct{}, c.threads)
		for _, p := range rest {
			places <- struct{}{}
			wait.Go(func() {
				_, p.err = p.runner.Sensitivities(ctx)
				<-places
			})
		}
		wait.Wait()
	}
	at := 0
	for _, p := range c.parts {
		if p.err != nil {
			return (&Experiment{Name: p.name}).wrapUnless(p.name == "", p.err)
		}
		row := 0
		take := func(to *result.Rows, n int) bool {
			out := &p.runner.out
			to.Values = to.Values[:0]
			for _, v := range out.Values[row : row+n] {
				if v.Value-v.Value != 0 {
					return false
				}
				to.Values = append(to.Values, v.Value)
			}
			to.Slopes = out.Gradient[row*c.Columns : (row+n)*c.Columns]
			row += n
			return trust.Finite(to.Slopes)
		}
		for ; at < len(c.Groups) && c.Groups[at].Experiment == p.name; at++ {
			g := &c.Groups[at]
			ok := take(&g.Prediction, len(g.T))
			for k := range g.Args {
				ok = ok && take(&g.Args[k], len(g.T))
			}
			if g.Terms() {
				ok = ok && take(&g.Term, len(g.T))
			}
			if !ok {
				return c.noValue(g, p.runner.out.To)
			}
		}
		if n := len(p.runner.out.Values) - row; len(c.ends) > 0 && !take(&c.Ends, n) {
			return fmt.Errorf("%w: a state at the end of a part of the run", ErrNoValue)
		}
	}
	return nil
}

// noValue says which number of g is missing. Its run went up to end.
func (c *Comparison) noValue(g *result.Compared, end float64) error {
	where := ""
	if g.Experiment != "" {
		where = " in experiment " + g.Experiment
	}
	for _, t := range g.T { // one of these takes the others with it
		if t > end && !math.IsInf(t, 1) {
			return fmt.Errorf("%w: %s at %s%s, which is after the end of the run at %s", ErrNoValue, g.Observation,
				diag.Number(t), where, diag.Number(end))
		}
	}
	if i := len(g.Prediction.Values); i < len(g.T) { // those before it have one
		return fmt.Errorf("%w: %s at %s%s", ErrNoValue, g.Observation, diag.Number(g.T[i]), where)
	}
	return fmt.Errorf("%w: %s%s, or the noise around it", ErrNoValue, g.Observation, where)
}

// spread names the objectives that the distributions of random effects follow from.
func spread(c *model.Model) (names []string) {
	for _, e := range c.Randoms {
		names = append(names, scaleName(e))
	}
	return names
}
