package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
)

// Simulator solves one model many times with the same options, at other times and with other parameter values (Set). It
// keeps programs and work space between runs. A Simulator belongs to one goroutine; make one for each.
type Simulator struct {
	*Run
	setup    Setup
	parts    []*Simulator // of the experiments
	other    *Simulator   // makes the independent runs that results are compared with; nil until it is needed
	worker   *system.Worker
	solver   *hybrid.Solver
	observer *sens.Observer
	happened trust.Happenings // in the last run
}

// Simulator returns a Simulator for opts. The error carries all that is wrong with them, as diagnostics.
func (m *Model) Simulator(setup Setup) (*Simulator, error) {
	r, err := m.Begin(setup)
	if err != nil {
		return nil, err
	}
	r.problem.Done = nil // it makes programs when it first runs
	parts, err := r.simulators(setup)
	if err != nil {
		return nil, err
	}
	setup.Set, setup.Done = slices.Clone(setup.Set), nil
	return &Simulator{Run: r, setup: setup, parts: parts}, nil
}

// Ascending reports times that do not ascend, or are none.
func Ascending(times []float64) error {
	var l diag.List
	for i, t := range times {
		switch {
		case math.IsNaN(t):
			l.Errorf(settings.CodeSetting, source.Span{}, "the times to report at are numbers, and one of them is nan")
		case i > 0 && t < times[i-1]:
			l.Errorf(settings.CodeSetting, source.Span{}, "the times to report at must ascend")
		}
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// missed notes how many of the times asked for a run did not reach, and warns where it reached none.
func missed(out *result.Solution, asked []float64) []diag.Diagnostic {
	reached := out.T
	n, k := 0, 0
	for _, t := range asked {
		for k < len(reached) && reached[k] < t {
			k++
		}
		if k == len(reached) || reached[k] > t {
			n++
		}
	}
	d := diag.Diagnostic{Code: explain.CodeOutside, Level: diag.Note}
	span := fmt.Sprintf("the run, from %s to %s", diag.Number(out.From), diag.Number(out.To))
	switch n {
	case 0:
		return nil
	case len(asked):
		d.Level, d.Message = diag.Warning, "no time to report at lies in "+span
	default:
		d.Message = fmt.Sprintf("%s to report at outside of %s: left out", diag.Count(n, "time"), span)
	}
	return []diag.Diagnostic{d}
}

// Set gives parameters (or initial values) other values for the runs to come, as that of a Runner does.
func (s *Simulator) Set(set ...compiled.Override) error {
	if err := s.set(&s.setup, set); err != nil {
		return err
	}
	for i, part := range s.parts {
		if err := part.Set(set...); err != nil {
			return s.model.Experiments[i].wrap(err)
		}
	}
	if s.other != nil {
		if err := s.other.Set(set...); err != nil {
			return err
		}
	}
	return s.model.Explain.Asserts(s.problem.Point)
}

// Solve is Model.Solve, at times or, if these are nil, at the ends of steps. The result has the bits that Model.Solve
// gives, and belongs to the caller.
func (s *Simulator) Solve(ctx context.Context, times []float64) (*result.Solution, error) {
	if err := Ascending(times); err != nil {
		return nil, err
	}
	notes := s.warnings // those of the options stay
	defer func() { s.warnings = notes }()
	out, err := s.solution(ctx, times)
	if err != nil {
		return nil, s.refused(err)
	}
	if err := s.judge(ctx, out); err != nil {
		return nil, s.refused(err)
	}
	out.Warnings = append(out.Warnings, missed(out, times)...)
	return out, nil
}

// solution solves once.
func (s *Simulator) solution(ctx context.Context, times []float64) (*result.Solution, error) {
	m := s.model
	m.Explain.Bounds(s.problem.Point, &s.warnings)
	sum, err := s.totalValues(ctx, s.setup.Progress, s.parts)
	if err != nil {
		return nil, err
	}
	var table *recorder
	log := &eventLog{}
	start := time.Now()
	stats, err := s.forward(ctx, func() solvers.Sink {
		table = newRecorder(s.worker, times, s.settings.Solver.EventTol)
		table.outputs = outputsOf(s.Run, s.worker)
		return solvers.Sinks{table, s.observer, log}
	})
	if err != nil {
		return nil, err
	}
	out := &result.Solution{
		Status: "ok", From: s.worker.Started(), To: stats.T, T: table.t, By: s.by(table),
		Outputs: m.series(table), Settings: s.report(1),
	}
	took := s.stats(stats)
	took.Seconds.Forward = time.Since(start).Seconds()
	took.add(&sum.work)
	out.Stats = took.Stats
	out.Values = s.values()
	for i := range out.Values {
		if v := &out.Values[i]; v.Value-v.Value != 0 {
			out.Status = "partial"
		}
	}
	s.warnWarm(&out.Stats)
	guards := s.worker.Guards()
	s.happened.Begin(m, guards, m.Shows)
	for _, e := range log.events {
		if !m.Shows(e) {
			continue
		}
		s.happened.Add(e)
		out.Events = append(out.Events, m.Event(e, guards, out.From, out.To))
	}
	out.Warnings = m.untold(s.warnings.All())
	return out, nil
}

// forward solves the model into what sink returns, with work space that is made where there is none. It does so again
// if the run needs programs of the Jacobian.
func (s *Simulator) forward(ctx context.Context, sink func() solvers.Sink) (solvers.Stats, error) {
	solve := func() (solvers.Stats, error) {
		if s.worker == nil {
			end := s.problem.Compiling(ctx)
			k, err := s.problem.Kit(1, compiled.Values, false)
			end()
			if err != nil {
				return solvers.Stats{}, interrupted(ctx, err)
			}
			s.worker = s.spread(s.problem.Worker(k), 1, 1)
			if s.reading.past != nil {
				s.reading.past.Forgets(true)
			}
			s.solver, s.observer = s.Run.solver(s.worker), sens.NewObserver(s.over(s.worker, 0))
		}
		return s.solve(ctx, s.solver, s.worker, s.setup.Progress, sink())
	}
	stats, err := solve()
	for s.needsMore(err) {
		s.worker = nil
		stats, err = solve()
	}
	return stats, err
}

// values returns the values of the objectives in the last run.
func (s *Simulator) values() []result.Value {
	psi := make([]float64, len(s.objectives))
	s.observer.Values(psi)
	list := make([]result.Value, 0, len(psi))
	for i, o := range s.objectives {
		v := o.value
		v.Value = psi[i]
		list = append(list, s.valued(v, o, s.observer.F))
	}
	return list
}

// contribute solves the model for the values of its objectives.
func (s *Simulator) contribute(ctx context.Context) *contribution {
	notes := s.warnings
	defer func() { s.warnings = notes }()
	s.model.Explain.Bounds(s.problem.Point, &s.warnings)
	stats, err := s.forward(ctx, func() solvers.Sink { return s.observer })
	if err != nil {
		return &contribution{err: err}
	}
	c := &contribution{work: s.stats(stats)}
	for _, v := range s.values() {
		c.values = append(c.values, v.Value)
		c.doubt(&v)
	}
	c.warnings = s.warnings.All()
	return c
}
