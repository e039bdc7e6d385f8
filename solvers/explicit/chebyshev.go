package explicit

import (
	"fmt"
	"math"
	"sync"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// The number of stages of Chebyshev methods, at least and at most.
const (
	minChebyshevStages = 2
	maxChebyshevStages = 50
)

// chebyshevLadder are the numbers of stages among which a run chooses for each step. From one to the next, steps may
// be about twice as long.
var chebyshevLadder = []int{5, 7, 10, 14, 20, 28, 39, maxChebyshevStages}

// Chebyshev holds the Runge–Kutta–Chebyshev methods. The method of order 2 with s stages is stable on the
// negative real axis up to about 0.65 s², so that steps of a diffusion problem may be longer by s/5 for the same
// number of right-hand sides.
//
// With w₀ = 1 + ε/s², ε = 2/13, w₁ = T′_s(w₀)/T″_s(w₀), b_j = T″_j(w₀)/T′_j(w₀)², b₀ = b₁ = b₂ and a_j = 1 - b_j
// T_j(w₀), the stages are
//
//	Y₁ = Y₀ + b₁ w₁ h F₀,
//	Y_j = (1 - μ_j - ν_j) Y₀ + μ_j Y_{j-1} + ν_j Y_{j-2} + μ̃_j h F_{j-1} - a_{j-1} μ̃_j h F₀,
//	μ_j = 2 b_j w₀/b_{j-1},   ν_j = -b_j/b_{j-2},   μ̃_j = 2 b_j w₁/b_{j-1},
//
// and y₁ = Y_s. All of these are rational, so the method is a table like that of any explicit method; its figures are
// given to sixty decimals. The estimate is 4/5 (y₀ - y₁) + 2/5 h (f₀ + f₁).
var Chebyshev = solvers.Family{
	Name:    "Runge–Kutta–Chebyshev",
	Doc:     "Explicit methods whose stages extend stability along the negative real axis instead of the order.",
	Methods: []*solvers.Spec{adaptiveChebyshev()},
	Settings: []solvers.MethodSetting{
		{Name: "stages", Doc: "fixes the stages of method = rkc2", Not: "has its own"},
	},
	With: func(m *solvers.Spec, values map[string]float64) (*solvers.Spec, error) {
		s := values["stages"]
		if !(s >= minChebyshevStages && s <= maxChebyshevStages) || s != math.Trunc(s) {
			return nil, fmt.Errorf("stages = %.0f: %s has %d to %d stages",
				s, m.Name, minChebyshevStages, maxChebyshevStages)
		}
		return chebyshev(int(s)), nil
	},
}

// adaptiveChebyshev returns the method whose stages follow the spectral radius.
func adaptiveChebyshev() *solvers.Spec {
	var members []*solvers.Spec
	for _, s := range chebyshevLadder {
		members = append(members, chebyshev(s))
	}
	m := solvers.Switching("rkc2", members...)
	m.Title = "Runge–Kutta–Chebyshev 2"
	m.Prose = fmt.Sprintf("For diffusion and other problems whose fast modes decay: with s stages, stable along the "+
		"negative real axis up to 0.65 s². Each step has as few of %d to %d stages as keep it stable, by an estimate "+
		"of the largest eigenvalue. The setting stages fixes them.", chebyshevLadder[0], maxChebyshevStages)
	return m
}

// chebyshevs keeps the methods by their number of stages: int → *Spec.
var chebyshevs sync.Map

// chebyshev returns the method with s stages.
func chebyshev(s int) *solvers.Spec {
	if m, ok := chebyshevs.Load(s); ok {
		return m.(*solvers.Spec)
	}
	m := explicitSpec(func() *tableau.Tableau { return tableau.Chebyshev(s) })
	m.Name, m.Title = "rkc2", fmt.Sprintf("Runge–Kutta–Chebyshev 2 with %d stages", s)
	m.Prose = "For diffusion and other problems whose fast modes decay: stable along the negative real axis up to " +
		"0.65 s² for s stages. s² should be about 1.5 h times the largest eigenvalue."
	m.Source = "B. P. Sommeijer, L. F. Shampine, J. G. Verwer, Journal of Computational and Applied Mathematics " +
		"88 (1998) 315–326, doi:10.1016/S0377-0427(97)00219-7"
	m.Order, m.Embedded = 2, 2
	kept, _ := chebyshevs.LoadOrStore(s, m)
	return kept.(*solvers.Spec)
}
