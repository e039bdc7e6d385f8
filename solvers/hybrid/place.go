package hybrid

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
)

// place describes where the run is, and the states that kept the last trial
// step short. trial is the step being tried, nil between steps.
func (s *Solver) place(trial *solvers.Step) solvers.Place {
	p := solvers.Place{
		T: s.t, H: s.h, Step: s.stats.Steps,
		Y: slices.Clone(s.y), D: slices.Clone(s.d), M: slices.Clone(s.m),
		LastEvent: s.lastEvent(), LastTime: s.lastTime,
	}
	if trial != nil {
		p.H = trial.H
	}
	if s.bounds.stiff.found {
		p.Stiff = s.bounds.stiff.rate
	}
	if s.stats.Steps+s.stats.Rejected == 0 && trial == nil {
		return p
	}
	for i, y := range s.y {
		scaled := s.tol.Scaled(i, s.err[i], s.trial.Y0[i], s.trial.Y1[i])
		if !simd.Finite(s.trial.Y1[i : i+1]) {
			scaled = math.NaN() // counts as the largest
		}
		if scaled == 0 {
			continue
		}
		w := solvers.WorstState{Value: y, Scaled: scaled, Name: s.sys.StateName(i)}
		at := len(p.Worst)
		for at > 0 && rank(p.Worst[at-1].Scaled) < rank(scaled) {
			at--
		}
		p.Worst = slices.Insert(p.Worst, at, w)
		p.Worst = p.Worst[:min(len(p.Worst), 3)]
	}
	return p
}

func rank(x float64) float64 {
	if x != x {
		return math.Inf(1)
	}
	return x
}
