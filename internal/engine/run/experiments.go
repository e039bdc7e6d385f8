package run

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/result"
	"odes.dev/odes/typecheck"
)

// An Experiment is the model under the changes of one experiment. It is a model of its own, whose
// objectives are what the experiment adds to each total. The main model reads the totals as inputs
// besides its params, so that its objectives can mix nll() with the unchanged run.
type Experiment struct {
	Name  string
	Model *Model
}

// contribution is what one experiment adds to the totals.
type contribution struct {
	values   []float64
	gradient []float64   // [totals][columns]
	sides    trust.Sides // of the gradient
	work
	warnings []diag.Diagnostic
	lacking  string // why a value is not a finite number
	err      error
}

// doubt notes why a value is not a finite number.
func (c *contribution) doubt(v *result.Value) {
	if c.lacking == "" && v.Value-v.Value != 0 && len(v.Warnings) > 0 {
		c.lacking = v.Warnings[0]
	}
}

// totals are the sums over all experiments, taken in file order.
type totals struct {
	values   []float64
	gradient []float64   // [totals][columns]; nil when only values were asked for
	sides    trust.Sides // of the gradient
	work
}

// partProgress returns what the i-th experiment tells how far it is, for addUp; nil if nobody wants to know.
func (r *Run) partProgress(i int, tell func(result.Progress)) func(result.Progress) {
	if tell == nil {
		return nil
	}
	return func(p result.Progress) { r.within(i, p) }
}

// readsTotals reports whether one of the run's objectives needs the experiments.
func (r *Run) readsTotals() bool {
	m := r.model
	if len(m.Checked.Totals) == 0 {
		return false
	}
	found := false
	for _, o := range m.Checked.Objectives {
		if !slices.ContainsFunc(r.objectives, func(e objective) bool { return e.of == o }) {
			continue
		}
		model.Walk(func(e model.Expr) bool {
			if ref, ok := e.(*model.Ref); ok && slices.Contains(m.Checked.Totals, ref.Sym) {
				found = true
			}
			return !found
		}, o.Value)
	}
	return found
}

// ofPart returns the setup of a run of experiment i, differentiated by wrt.
func (r *Run) ofPart(i int, setup Setup, wrt []result.Variable) Setup {
	setup.Gradient, setup.Events, setup.EventTimes, setup.Progress = nil, -1, false, nil
	setup.Beside = len(r.model.Experiments)
	targets := make([]target.Target, len(wrt))
	for i, v := range wrt {
		targets[i] = v.Target()
	}
	of := []string{}
	for _, o := range r.model.Experiments[0].Model.Checked.Objectives {
		of = append(of, o.Name)
	}
	return setup.part(i).With(func(s *settings.Settings) {
		s.GradientOnly() // the whole model asks the parts for second derivatives, and checks the sums
		s.Wrt, s.Of = targets, of
		s.Threads = max(1, r.settings.Threads/len(r.model.Experiments))
	})
}

// addUp makes the contributions of all experiments, whose runs are parts, as many at a time as there are threads, and
// sums them in file order. It tells how many are done.
func (r *Run) addUp(
	columns int, tell func(result.Progress), parts []*Run, contribute func(i int) *contribution,
) (*totals, error) {
	m := r.model
	n := len(m.Checked.Totals)
	if r.summands == nil {
		r.summands = make([]*contribution, len(m.Experiments))
	}
	list := r.summands
	defer clear(list)
	var telling sync.Mutex
	done, steps := make([]float64, len(list)), make([]int, len(list))
	// come tells how far experiment i has come.
	come := func(i int, part float64, made int) {
		if tell == nil {
			return
		}
		telling.Lock()
		defer telling.Unlock()
		done[i], steps[i] = max(done[i], part), max(steps[i], made)
		at := result.Progress{Phase: "experiments"}
		for j := range list {
			at.Steps += steps[j]
			at.Done += done[j] / float64(len(list))
		}
		tell(at)
	}
	r.within = func(i int, p result.Progress) {
		part := p.Done / 2
		if p.Phase != "forward" {
			part += 0.5
		}
		come(i, min(part, 0.99), p.Steps)
	}
	one := func(i int) {
		list[i] = contribute(i)
		come(i, 1, list[i].Steps)
	}
	rest := 0
	if firstAlone(parts) {
		one(0)
		fromFirst(parts)
		rest = 1
	}
	parallel(r.settings.Threads, len(list)-rest, func(i int) { one(rest + i) })

	ofAll := r.warnings.All()
	said := func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(ofAll, func(o diag.Diagnostic) bool {
			return o.Code == d.Code && o.Message == d.Message
		})
	}
	sum := &totals{values: make([]float64, n), gradient: make([]float64, n*columns)}
	if r.people != nil {
		sum.anyOrder(list)
	}
	r.lacking = ""
	for i := range list {
		c := list[i]
		if c.err != nil {
			return nil, m.Experiments[i].wrap(c.err)
		}
		if r.people == nil {
			addTo(sum.values, c.values)
			addTo(sum.gradient, c.gradient)
		}
		for k := range n {
			sum.sides.Join(k, &c.sides, k, columns, n)
		}
		sum.add(&c.work)
		if r.lacking == "" && c.lacking != "" {
			none := ""
			why, cut := strings.CutPrefix(c.lacking, noValue)
			if cut {
				none = noValue
			}
			r.lacking = fmt.Sprintf("%sin experiment %s, %s", none, m.Experiments[i].Name, why)
		}
		for _, d := range c.warnings {
			if d.Code == explain.CodeNoInfluence || d.Code == settings.CodeUnavailable ||
				d.Code == typecheck.CodeBounds && said(d) {
				continue // said of all runs together
			}
			d.Message = fmt.Sprintf("experiment %s: %s", m.Experiments[i].Name, d.Message)
			r.warnings.Add(d)
		}
	}
	for k := range m.Checked.Totals {
		r.problem.Point.SetTotal(k, sum.values[k])
	}
	return sum, nil
}

// parallel calls do with 0 … n−1, from as many goroutines as there are threads.
func parallel(threads, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var wait sync.WaitGroup
	for range min(threads, n) - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}

// simulators returns what solves the experiments for the values of totals; nil where the run reads none.
func (r *Run) simulators(setup Setup) ([]*Simulator, error) {
	if !r.readsTotals() {
		return nil, nil
	}
	if len(r.model.Checked.Randoms) > 0 {
		return nil, populate(r, setup, nil)
	}
	parts := make([]*Simulator, len(r.model.Experiments))
	for i, x := range r.model.Experiments {
		its := r.ofPart(i, setup, nil)
		its.Progress = r.partProgress(i, setup.Progress)
		var err error
		if parts[i], err = x.Model.Simulator(its); err != nil {
			return nil, x.wrap(err)
		}
		parts[i].problem.Answers = r.problem.Answers
	}
	return parts, nil
}

// totalValues solves the experiments for the values of the totals.
func (r *Run) totalValues(ctx context.Context, tell func(result.Progress), parts []*Simulator) (*totals, error) {
	if r.people != nil {
		return integrate(ctx, r, 0, tell)
	}
	if parts == nil {
		return &totals{}, nil
	}
	list := make([]*Run, len(parts))
	for i, part := range parts {
		list[i] = part.Run
	}
	return r.addUp(0, tell, list, func(i int) *contribution { return parts[i].contribute(ctx) })
}

// prepareParts makes the Runners of the experiments.
func (r *Runner) prepareParts() error {
	if !r.readsTotals() {
		return nil
	}
	if len(r.model.Checked.Randoms) > 0 {
		return populate(r.Run, r.setup, r.variables)
	}
	for i, x := range r.model.Experiments {
		its := r.ofPart(i, r.setup, r.variables)
		its.Settings.Solver.Meetings = r.settings.Solver.Meetings
		its.Progress = r.partProgress(i, r.setup.Progress)
		part, err := x.Model.Prepare(its)
		if err != nil {
			return x.wrap(err)
		}
		part.problem.Answers = r.problem.Answers
		r.parts = append(r.parts, part)
	}
	return nil
}

// totals solves the experiments and differentiates the totals.
func (r *Runner) totals(ctx context.Context) (*totals, error) {
	if r.people != nil {
		return integrate(ctx, r.Run, r.columns, r.setup.Progress)
	}
	if len(r.parts) == 0 {
		return &totals{}, nil
	}
	list := make([]*Run, len(r.parts))
	for i, part := range r.parts {
		list[i] = part.Run
	}
	made := runTogether(ctx, r)
	return r.addUp(r.columns, r.setup.Progress, list, func(i int) *contribution {
		if made != nil && made[i] != nil {
			return made[i]
		}
		s, err := r.parts[i].first(ctx)
		if err != nil {
			return &contribution{err: err}
		}
		c := &contribution{gradient: s.Gradient, sides: s.Sides, work: r.parts[i].took, warnings: s.Warnings}
		for _, v := range s.Values {
			c.values = append(c.values, v.Value)
			c.doubt(&v)
		}
		return c
	})
}

// wrap says in an error in which experiment it came up.
func (x *Experiment) wrap(err error) error {
	var failed *result.RunError
	var wrong *diag.ListError
	switch {
	case errors.As(err, &failed):
		return &result.RunError{List: x.named(failed.List), Cause: failed.Cause, From: failed.From, T: failed.T}
	case errors.As(err, &wrong):
		return x.named(wrong)
	}
	return fmt.Errorf("experiment %s: %w", x.Name, err)
}

func (x *Experiment) named(l *diag.ListError) *diag.ListError {
	out := &diag.ListError{Diagnostics: append([]diag.Diagnostic(nil), l.Diagnostics...)}
	for i := range out.Diagnostics {
		if d := &out.Diagnostics[i]; d.Level == diag.Error {
			d.Message = fmt.Sprintf("experiment %s: %s", x.Name, d.Message)
		}
	}
	return out
}

// chain adds to a row of the gradient what reaches the objective through the totals. by holds the
// objective's derivatives by everything active.
func (t *totals) chain(p *system.Problem, row, by []float64) {
	if len(t.gradient) == 0 {
		return // no objective of the run reads a total; that of one without a value is NaN all the same
	}
	for k, s := range p.Model.Checked.Totals {
		slope := by[p.Column(s.Name).Offset]
		if slope == 0 {
			continue // a total without a value must not spoil other objectives
		}
		for j := range row {
			row[j] = math.FMA(slope, t.gradient[k*len(row)+j], row[j])
		}
	}
}
