package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// sight keeps steps from missing what functions of time and of states do between two stages. Error estimates are made
// of the stages and know nothing of it.
type sight struct {
	lagged  solvers.Lagged  // the system, where it reads the past; otherwise nil
	remakes bool            // some steps are to be made again; see remade
	turned  bool            // a condition changed at the end of the last step as a jump came back
	signals solvers.Signals // nil for none
	nodes   []float64       // fractions of a step, ascending, from 0 to 1
	each    [][]float64     // of each member of the method
	times   []float64
	until   float64 // steps that end before it have nothing to miss
	warned  bool
	passing
}

func newSight(sys solvers.System, members []solvers.Info) sight {
	s := sight{passing: newPassing(sys, members)}
	if s.signals, _ = sys.(solvers.Signals); s.signals != nil && s.signals.Signals() == 0 {
		s.signals = nil
	}
	for i := range members {
		s.each = append(s.each, seenBy(&members[i]))
	}
	return s
}

// use takes the nodes of a member of the method.
func (s *sight) use(member int) {
	s.nodes = s.each[member]
	s.times = elem.Resize(s.times, len(s.nodes))
}

// setTimes makes times those of the nodes of a step.
func (s *sight) setTimes(tr *solvers.Step) {
	for i, c := range s.nodes {
		s.times[i] = math.FMA(c, tr.H, tr.T)
	}
	s.times[len(s.times)-1] = tr.T1
}

// seenBy returns the nodes of steps of a method.
func seenBy(info *solvers.Info) []float64 {
	nodes := slices.Clone(info.Weighted)
	if nodes == nil {
		nodes = slices.Clone(info.Nodes)
	}
	nodes = append(nodes, 0, 1)
	slices.Sort(nodes)
	if nodes = slices.Compact(nodes); len(nodes) < 3 {
		nodes = []float64{0, 0.5, 1} // three readings show how a function bends
	}
	return nodes
}

// shorten ends the trial step earlier if its stages would miss a peak of a function of time. Steps of fixed length
// remain as they are, with a warning.
func (s *Solver) shorten(tr *solvers.Step) bool {
	if tr.T1 <= s.sight.until || s.sight.warned {
		return false
	}
	s.sight.setTimes(tr)
	end, some := s.sight.signals.Unseen(s.sight.times, tr.Y0)
	switch {
	case !some:
		if end > tr.T1 {
			s.sight.until = end
		}
		return false
	case !(end < tr.T1):
		return false
	case s.opts.Fixed > 0:
		s.warn(solvers.Warning{Kind: solvers.Unseen, T: end, Instant: -1})
		s.sight.warned = true
		return false
	case end-tr.T < s.least(s.t):
		return false
	}
	tr.T1, tr.H = end, end-tr.T
	s.h = tr.H
	return true
}
