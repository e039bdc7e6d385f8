package rosenbrock

import (
	"testing"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// sized is an LU of which only sizes are known.
type sized struct {
	linalg.LU
	flops, elements int
}

func (s sized) Work() (factor, solve int) { return s.flops, 2 * s.elements }

// TestPriceOfFactors demands that a step's price has that of its factorisation: each operation counts the same in small
// ones, and large ones, which kernels do, cost about what was measured, in nanoseconds.
func TestPriceOfFactors(t *testing.T) {
	r := newRosenbrock(newRosenbrockScheme(rodas5p), solvers.Size{N: 4}, 1)
	price := func(flops int) float64 {
		r.plan, r.lu = &matrices.Plan{}, sized{flops: flops}
		return r.Price(1, 0)
	}
	if price(200_000) != 1e5 || price(400_000) != 2e5 {
		t.Errorf("the prices of small factorisations are %g and %g", price(200_000), price(400_000))
	}
	for flops, measured := range map[int]float64{
		1_770_000: 3.1e5, 4_140_000: 5.4e5, // networks of 1,000 species
		5_155_000: 9.2e5, 24_000_000: 3.1e6, // grids of 64² and 100² points
	} {
		if p := price(flops) / measured; p < 0.7 || p > 1.4 {
			t.Errorf("the price of %d operations is %.2g times what they take", flops, p)
		}
	}
}
