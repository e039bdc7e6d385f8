package settings

import (
	"slices"

	"odes.dev/odes/sens"

	"odes.dev/odes/solvers/methods"
)

// An independent run repeats another one by other means: what both agree on is a property of the model, not of the
// steps that one of them took.
const (
	// tighter is the factor between the tolerances of the two runs. The independent one is then so accurate that the
	// difference of the two is the error of the other.
	tighter = 0.1
	// growth is the most by which a step of an independent run may be longer than the one before. It is below that of
	// every controller, so grids part where nothing but growth rules the steps, as at rest.
	growth = 2.7
	// Lengths that the settings give are changed by factors that no two grids have in common.
	firstStep, longestStep, fixedStep = 0.37, 0.71, 0.59
	// overKinks is how much tighter tolerances are where kinks lie inside steps. Errors of derivatives are of the order
	// of the step there, whatever the method, so a grid that is a little finer tells little of them.
	overKinks = 1e-3
	// besideKinks is the part of the error that such a run shows at least: errors at kinks fall slowly and at random.
	besideKinks = 0.2
	// sameMethod is the part of the error that a run by the same method of low order shows.
	sameMethod = 0.75
)

// judge is the method of independent runs. Of the methods of high order it has the widest stability interval. Where
// steps are fixed and the method is of order 3 at most, simpleJudge is as good and costs less; beside one of order 1,
// simplestJudge is.
const judge, simpleJudge, simplestJudge = "dop853", "rk4", "midpoint"

// judges names the methods of those runs for which it is not judge. Runs by other implicit methods are compared with
// one by mainStiff. An explicit judge goes on with otherStiff where it is held short by stability.
var judges = map[string]string{
	judge:     "vern9",
	mainStiff: otherStiff,
	// Explicit methods of high order would crawl where it is chosen, and implicit ones where there are many states.
	stabilized: stabilized,
}

// fewStates is how many states a system has at most whose runs by a stabilized method are compared with one by
// mainStiff. A run of the same low order tells little of second derivatives by times: each of these derivatives costs
// an order, so that errors hardly fall with the tolerance.
const fewStates = 100

// Independent changes s into the settings of a run that shares no discrete decision with that of s, which
// differentiated in the given mode. kinks tells that some lie inside steps. Independent returns which part of the error
// of the run of s the difference of the two is.
func (s *Settings) Independent(mode string, kinks bool) (share float64) {
	s.GradientOnly()
	s.Decide()
	s.Hermite = false
	s.SteadyStart = OwnStart
	s.LatePeak = true
	// The transpose, or the tangent, of the steps taken: modes that differentiate the equations first are compared
	// with one that does not.
	s.Mode = sens.ModeAdjoint
	if m, _ := sens.LookupMode(mode); m.Lanes == sens.LanesColumns {
		s.Mode = sens.ModeTangent
	}
	other := judges[s.Method]
	if other == s.Method && s.States <= fewStates && s.Solver.Fixed == 0 {
		other = mainStiff
	}
	if other == "" && implicit(s.Method) {
		other = mainStiff
	}
	if m, ok := methods.Lookup(s.Method); other == "" && ok && m.Order <= 3 && s.Solver.Fixed > 0 {
		if other = simpleJudge; m.Order == 1 {
			other = simplestJudge
		}
	}
	if other == "" {
		other = judge
	}
	if s.Delayed && implicit(other) {
		if other = stiffOfPast; s.Method == other {
			other = otherStiffOfPast
		}
	}
	if share = 1; other == s.Method {
		share = sameMethod
	} else {
		s.Method, s.OfMethod = other, nil
		if s.Stiff = nil; !implicit(other) {
			s.Stiff = s.stiff(otherStiff)
		}
		if slices.Contains(s.Stiff, stabilized) { // of low order, and it may have made the steps of both runs
			share = sameMethod
		}
	}
	if s.Solver.Fixed > 0 {
		s.Solver.Fixed = float64(s.Solver.Fixed * fixedStep)
		return share
	}
	s.MaxGrowth = min(s.Rule().Grow, growth)
	s.Solver.H0 = float64(s.Solver.H0 * firstStep)
	s.Solver.HMax = float64(s.Solver.HMax * longestStep)
	factor := float64(tighter)
	if kinks {
		factor *= overKinks
		share *= besideKinks
	}
	s.scale(factor)
	s.Solver.Unbounded, s.Solver.Traces = false, true
	if s.Solver.QuadTol <= 0 {
		s.Solver.QuadTol = s.Solver.RTol
	}
	return share
}
