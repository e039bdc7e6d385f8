package odes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
)

// Simulator solves one model many times with the same options, at other times and with other parameter values (Set). It
// keeps programs and work space between runs. A Simulator belongs to one goroutine; make one for each.
type Simulator struct {
	*run
	opts     Options
	parts    []*Simulator // of the experiments
	other    *Simulator   // makes the independent runs that results are compared with; nil until it is needed
	worker   *system.Worker
	solver   *solvers.Solver
	observer *sens.Observer
}

// Simulator returns a Simulator for opts. The error carries all that is wrong with them, as diagnostics.
func (m *Model) Simulator(opts Options) (*Simulator, error) {
	r, err := m.begin(opts)
	if err != nil {
		return nil, err
	}
	parts, err := r.simulators(opts)
	if err != nil {
		return nil, err
	}
	opts.Set = slices.Clone(opts.Set)
	return &Simulator{run: r, opts: opts, parts: parts}, nil
}

// Solve integrates the model: outputs at opts.Times or, if nil, at the ends of steps, and values of objectives. They
// are compared with an independent run unless trust = off. The error is a RunError, and carries diagnostics (diag.Of).
func (m *Model) Solve(ctx context.Context, opts Options) (*Solution, error) {
	opts.Times = m.checked.Source.Asked(opts.Times)
	if err := ascending(opts.Times); err != nil {
		return nil, err
	}
	s, err := m.Simulator(opts)
	if err != nil {
		return nil, err
	}
	return s.Solve(ctx, opts.Times)
}

// ascending reports times that do not ascend, or are none.
func ascending(times []float64) error {
	var l diag.List
	for i, t := range times {
		switch {
		case math.IsNaN(t):
			l.Errorf(CodeSetting, source.Span{}, "the times to report at are numbers, and one of them is nan")
		case i > 0 && t < times[i-1]:
			l.Errorf(CodeSetting, source.Span{}, "the times to report at must ascend")
		}
		if err := l.Err(); err != nil {
			return err
		}
	}
	return nil
}

// missed notes how many of the times asked for a run did not reach, and warns where it reached none.
func (out *Solution) missed(asked []float64) []diag.Diagnostic {
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
	d := diag.Diagnostic{Code: CodeOutside, Level: diag.Note}
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
func (s *Simulator) Set(set ...Assignment) error {
	if err := s.set(&s.opts, set); err != nil {
		return err
	}
	for i, part := range s.parts {
		if err := part.Set(set...); err != nil {
			return s.model.experiments[i].wrap(err)
		}
	}
	if s.other != nil {
		if err := s.other.Set(set...); err != nil {
			return err
		}
	}
	return s.model.explain.Asserts(s.problem.Point)
}

// Solve is Model.Solve, at times or, if these are nil, at the ends of steps. The result has the bits that Model.Solve
// gives, and belongs to the caller.
func (s *Simulator) Solve(ctx context.Context, times []float64) (*Solution, error) {
	if err := ascending(times); err != nil {
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
	out.Warnings = append(out.Warnings, out.missed(times)...)
	return out, nil
}

// solution solves once.
func (s *Simulator) solution(ctx context.Context, times []float64) (*Solution, error) {
	m := s.model
	m.explain.Bounds(s.problem.Point, &s.warnings)
	sum, err := s.totalValues(ctx, s.opts.Progress, s.parts)
	if err != nil {
		return nil, err
	}
	var table *recorder
	log := &eventLog{}
	start := time.Now()
	stats, err := s.forward(ctx, func() solvers.Sink {
		table = newRecorder(s.worker, times, s.settings.Solver.EventTol)
		return solvers.Sinks{table, s.observer, log}
	})
	if err != nil {
		return nil, err
	}
	out := &Solution{
		Status: "ok", From: s.worker.Started(), To: stats.T, T: table.t, By: s.by(table),
		Outputs: m.series(table), Settings: s.report(1),
		Stats: s.stats(stats),
	}
	out.Stats.Seconds.Forward = time.Since(start).Seconds()
	out.Stats.add(&sum.stats)
	out.Values = s.values()
	for i := range out.Values {
		if v := &out.Values[i]; v.Value-v.Value != 0 {
			out.Status = "partial"
		}
	}
	s.warnWarm(&out.Stats)
	guards := s.worker.Guards()
	out.happened.begin(m, guards, m.shows)
	for _, e := range log.events {
		if !m.shows(e) {
			continue
		}
		out.happened.add(e)
		out.Events = append(out.Events, m.eventRecord(e, guards, out.From, out.To))
	}
	out.Warnings = m.untold(s.warnings.All())
	return out, nil
}

// forward solves the model into what sink returns, with work space that is made where there is none. It does so again
// if the run needs programs of the Jacobian.
func (s *Simulator) forward(ctx context.Context, sink func() solvers.Sink) (solvers.Stats, error) {
	solve := func() (solvers.Stats, error) {
		if s.worker == nil {
			k, err := s.problem.Kit(1, system.Values, false)
			if err != nil {
				return solvers.Stats{}, err
			}
			s.worker = s.spread(s.problem.Worker(k), 1, 1)
			s.solver, s.observer = s.run.solver(s.worker), sens.NewObserver(s.worker)
		}
		return s.solve(ctx, s.solver, s.worker, s.opts.Progress, sink())
	}
	stats, err := solve()
	for s.needsMore(err) {
		s.worker = nil
		stats, err = solve()
	}
	return stats, err
}

// values returns the values of the objectives in the last run.
func (s *Simulator) values() []Value {
	psi := make([]float64, len(s.objectives))
	s.observer.Values(psi)
	list := make([]Value, 0, len(psi))
	for i, o := range s.objectives {
		v := o.value
		v.Value = psi[i]
		list = append(list, s.valued(v, o, s.observer.F))
	}
	return list
}

// contribute solves the model for the values of its objectives.
func (s *Simulator) contribute(ctx context.Context) contribution {
	notes := s.warnings
	defer func() { s.warnings = notes }()
	s.model.explain.Bounds(s.problem.Point, &s.warnings)
	stats, err := s.forward(ctx, func() solvers.Sink { return s.observer })
	if err != nil {
		return contribution{err: err}
	}
	c := contribution{stats: s.stats(stats)}
	for _, v := range s.values() {
		c.values = append(c.values, v.Value)
		c.doubt(&v)
	}
	c.warnings = s.warnings.All()
	return c
}
