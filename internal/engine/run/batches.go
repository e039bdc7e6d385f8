package run

import (
	"context"
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
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/stdlib"
)

// Batches computes likelihoods of a part of the data at a time, with their gradients: what searches need that take a
// step after looking at some experiments, or some rows. Each row counts as often as a call says, which no compilation
// depends on: how often are params of models whose objective is the sum of the rows times these. A Batches belongs to
// one goroutine.
type Batches struct {
	// Variables are what likelihoods are differentiated by, and Columns is their number of elements.
	Variables []result.Variable
	Columns   int
	// Groups are the observations of each experiment, in file order, without predictions.
	Groups []result.Compared
	// PriorWeight is that of the negative logarithm of the priors in the objective, which are not part of what is
	// computed here; 0 where it reads none.
	PriorWeight float64

	parts   []*batchPart
	threads int
	answers *system.Answers // of all parts
}

// batchPart is the runs of one experiment.
type batchPart struct {
	name   string
	runner *Runner
	counts []string // names of the params that say how often rows count, one for each group
	groups []int    // their places in Batches.Groups
	err    error
}

// batchName is the name of the only objective of a model of Batches.
const batchName = "batch"

// Batches prepares runs for parts of the data that an objective reads, which is one as Compare takes it. For any other
// objective it returns nil. The error carries all that is wrong with the options, as diagnostics.
func (m *Model) Batches(objective string, setup Setup, threads int) (*Batches, error) {
	at := slices.IndexFunc(m.Checked.Objectives, func(o *model.Objective) bool { return o.Name == objective })
	if at < 0 || m.Checked.Objectives[at].Terms == nil {
		return nil, nil
	}
	if len(m.Checked.Randoms) > 0 {
		return nil, noneOfPopulations(m, "fit.batch")
	}
	terms := m.Checked.Objectives[at].Terms
	b := &Batches{PriorWeight: terms.Prior, threads: max(1, threads), answers: &system.Answers{}}
	if len(m.Experiments) == 0 {
		return b.with(m, m, "", -1, terms, setup)
	}
	for i, x := range m.Experiments {
		if _, err := b.with(m, x.Model, x.Name, i, terms, setup); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// with adds the runs of an experiment, or of the model itself.
func (b *Batches) with(m, of *Model, name string, at int, terms *model.Terms, setup Setup) (*Batches, error) {
	p := &batchPart{name: name}
	checked := *of.Checked
	checked.Objectives, checked.Totals, checked.Experiments = nil, nil, nil
	checked.Params = slices.Clone(checked.Params)
	var sum model.Expr
	for i, o := range of.Checked.Observations {
		weight := weightOf(o, terms)
		if weight == 0 {
			continue
		}
		counts := countsOf(o, fmt.Sprintf("%s'%d.counts", o.Name, i))
		checked.Params = append(checked.Params, counts)
		p.counts, p.groups = append(p.counts, counts.Name), append(p.groups, len(b.Groups))
		b.Groups = append(b.Groups, comparedWith(o, name, weight))
		rows := scalar(stdlib.Find("dot", stdlib.Structure), o, model.Seal(&model.Ref{
			Base: model.NewBase(counts.Type, o.Span), Sym: counts,
		}), o.Rows.Term)
		if sum == nil {
			sum = rows
		} else {
			sum = scalar(stdlib.Operator("+"), o, sum, rows)
		}
	}
	if sum == nil {
		return b, nil
	}
	checked.Objectives = []*model.Objective{{Name: batchName, Value: sum, Span: sum.Span()}}
	var list diag.List
	compiled := compile.Part(m.System, &checked, &list)
	if compiled == nil {
		return nil, list.Err()
	}
	model := &Model{Checked: &checked, System: compiled, Explain: explain.New(compiled), Part: true}
	if at >= 0 {
		setup = setup.part(at)
	}
	setup.Gradient, setup.Events, setup.EventTimes, setup.Progress = nil, -1, false, nil
	setup = setup.With(func(s *settings.Settings) {
		s.GradientOnly()
		s.Of, s.Threads = []string{batchName}, 1
		if s.Mode == sens.DefaultMode {
			s.Mode = settings.Auto
		}
	})
	r, err := model.Prepare(setup)
	if err != nil {
		return nil, (&Experiment{Name: name}).wrapUnless(name == "", err)
	}
	r.problem.Answers = b.answers
	p.runner = r
	b.Variables, b.Columns = r.variables, r.columns
	b.parts = append(b.parts, p)
	return b, nil
}

// countsOf returns a param that says how often each row of an observation counts.
func countsOf(o *model.Observation, name string) *model.Symbol {
	t := types.Type{Kind: types.Real, Shape: o.Rows.Term.Type().Shape, Unit: units.One}
	one := types.Type{Kind: types.Real, Unit: units.One}
	return &model.Symbol{
		Name: name, Kind: model.ParamSymbol, Type: t, Span: o.Span, Literal: true, Still: true,
		Lo: math.Inf(-1), Hi: math.Inf(1),
		Value: model.Seal(&model.Const{Base: model.NewBase(one, o.Span), Data: []float64{0}}),
	}
}

// scalar is a call whose value is a number.
func scalar(fn *stdlib.Func, o *model.Observation, args ...model.Expr) model.Expr {
	t := types.Type{Kind: types.Real, Unit: units.One}
	return model.Seal(&model.Call{Base: model.NewBase(t, o.Span), Fn: fn, Args: args})
}

// Run computes the sum over rows of the negative logarithms of their likelihoods, each times how often it counts:
// counts has the rows of each group, or nil for one that does not count. It adds the gradient to a slice of Columns
// numbers. Experiments of which no group counts are not run. set gives parameters or initial values other values; see
// Runner.Set.
func (b *Batches) Run(
	ctx context.Context, set []compiled.Override, counts [][]float64, gradient []float64,
) (value float64, err error) {
	b.answers.Next()
	var chosen []*batchPart
	for _, p := range b.parts {
		if slices.ContainsFunc(p.groups, func(g int) bool { return counts[g] != nil }) {
			chosen = append(chosen, p)
		}
	}
	run := func(p *batchPart) {
		if p.err = p.runner.Set(set...); p.err != nil {
			return
		}
		for i, name := range p.counts {
			to := p.runner.problem.Point.Param(name)
			clear(to)
			copy(to, counts[p.groups[i]])
		}
		_, p.err = p.runner.Sensitivities(ctx)
	}
	if b.threads == 1 || len(chosen) == 1 {
		for _, p := range chosen {
			if run(p); p.err != nil {
				break // the others would be for nothing
			}
		}
	} else {
		var wait sync.WaitGroup
		places := make(chan struct{}, b.threads)
		for _, p := range chosen {
			places <- struct{}{}
			wait.Go(func() {
				run(p)
				<-places
			})
		}
		wait.Wait()
	}
	for _, p := range chosen {
		out := &p.runner.out
		switch {
		case p.err != nil:
			return 0, (&Experiment{Name: p.name}).wrapUnless(p.name == "", p.err)
		case out.Values[0].Value-out.Values[0].Value != 0 || !trust.Finite(out.Gradient):
			where := ""
			if p.name != "" {
				where = " in experiment " + p.name
			}
			return 0, fmt.Errorf("%w: a likelihood%s, or its derivatives", ErrNoValue, where)
		}
		value += out.Values[0].Value
		for i, d := range out.Gradient[:b.Columns] {
			gradient[i] += d
		}
	}
	return value, nil
}
