package hybrid

import (
	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
)

// leeway is the Leeway of a Solver. It is open from where steps become too short without it.
type leeway struct {
	solvers.Leeway
	of    solvers.Extended  // nil for a system that has none
	sizes *sizes.Tolerances // which absolute tolerances follow; nil where they are given
}

// follow has absolute tolerances follow the sizes of states, where the options give none.
func (l *leeway) follow(o *solvers.Options, sys solvers.System) {
	if l.Tolerance = tolerance(o); o.Sized() {
		z, groups := sys.Size(), []int32(nil)
		if x, ok := sys.(solvers.Grouped); ok {
			groups = x.Groups()
		}
		l.sizes = sizes.New(z.N, z.Q, o.RTol, o.RTols, o.ATols, groups)
		l.Abs = l.sizes.Abs
	}
}

// Tolerances returns the absolute tolerances of the last run of s, one for all states or one for each, at its end.
func Tolerances(s *Solver) []float64 { return s.tol.Abs }

// starts takes in the state of a run that begins, or goes on after something happened, with its slope.
func (l *leeway) starts(s *Solver, limit float64) {
	if l.sizes == nil {
		return
	}
	k, rates := s.trial.K, l.rates(s)
	if s.algebra.solves != nil && rates != nil {
		k = make([]float64, s.size.N+s.size.Q)
		rates(s.t, s.y, k)
	}
	s.stats.Evals += l.sizes.Starts(s.t, s.y, k, limit, rates)
}

// rates returns what looking ahead evaluates; nil where steps are not chosen by errors. Algebraic unknowns have the
// rates that follow from those of the states.
func (l *leeway) rates(s *Solver) sizes.Rates {
	switch {
	case s.opts.Fixed > 0:
		return nil
	case s.algebra.solves != nil:
		return s.algebra.slopes(s.size).Eval
	}
	return s.sys.Eval
}

// accepted takes in an accepted step.
func (l *leeway) accepted(s *Solver, tr *solvers.Step) {
	if l.sizes != nil {
		order := min(s.info.Order, s.info.Embedded)
		s.stats.Evals += l.sizes.Accepted(tr.T, tr.T1, tr.Y0, tr.Y1, order, l.rates(s))
	}
}

// rejected takes in that the trial step was rejected, for something not finite if bad. A long explicit step that is not
// stable says nothing of sizes.
func (l *leeway) rejected(s *Solver, bad bool) {
	if l.sizes == nil {
		return
	}
	if len(l.sizes.Young) > 0 {
		s.lane.load()
	}
	tr := s.trial
	stable := s.solves != nil || float64(tr.H*s.bounds.spectrum.rho) <= 1
	if l.sizes.Rejected(tr.T+tr.H, tr.Y1, stable && !bad) && !bad && s.algebra.solves == nil {
		s.lane.settle()
		s.evaluate()
		k := s.trial.K[:s.size.N+s.size.Q]
		s.stats.Evals += l.sizes.Rounding(s.t, tr.H, s.y, k, s.sys.Eval, s.integrals.noise)
	}
}

// claim tells sys of the leeway, at the start or after others made runs.
func (l *leeway) claim(sys solvers.System, start bool) {
	if start {
		l.of, l.Open = nil, false
	} else if l.of == nil {
		return
	}
	if x, ok := sys.(solvers.Extended); ok && x.Within(&l.Leeway) {
		l.of = x
	}
}

// opens opens the leeway, and reports whether it was not open.
func (l *leeway) opens() bool {
	if l.of == nil || l.Open {
		return false
	}
	l.Open = true
	return true
}

// told returns a warning of rates outside of domains in a run that ended at t; nil for none.
func (l *leeway) told(t float64) []solvers.Warning {
	if l.of == nil {
		return nil
	}
	if n := l.of.AtEdges(); n > 0 {
		return []solvers.Warning{{Kind: solvers.Extension, T: t, Instant: -1, Value: float64(n)}}
	}
	return nil
}

// tolerance returns the error norm that the options ask for.
func tolerance(o *solvers.Options) solvers.Tolerance {
	tol := solvers.Tolerance{Rel: o.RTol, Rels: o.RTols, Abs: o.ATols, Kind: o.Norm}
	if tol.Abs == nil {
		tol.Abs = []float64{max(o.ATol, 0)}
	}
	return tol
}
