package rhs_test

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/rhs"
	"odes.dev/odes/solvers"
)

// A pendulum with friction, in Go: its angle after two seconds, and what it changes by where the start, the length or
// the friction are others. No model file is involved.
func Example() {
	const g = 9.81
	pendulum := &rhs.Problem{
		N: 2, P: 4, // states: angle, speed; params: both at the start, length, friction
		Rates: func(_ float64, y, p, k []float64) {
			k[0] = y[1]
			k[1] = -g/p[2]*math.Sin(y[0]) - p[3]*y[1]
		},
		// The transpose of the derivative: what each rate weighs, passed on to what it is made of.
		RatesPull: func(_ float64, y, p, kb, yb, pb []float64) float64 {
			yb[0] += -g / p[2] * math.Cos(y[0]) * kb[1]
			yb[1] += kb[0] - p[3]*kb[1]
			pb[2] += g / (p[2] * p[2]) * math.Sin(y[0]) * kb[1]
			pb[3] += -y[1] * kb[1]
			return 0 // no rate depends on time
		},
	}
	p := []float64{1, 0, 0.5, 0.2}
	if err := pendulum.Check(rhs.Point{Y: []float64{0.8, -0.3}, P: p}); err != nil {
		fmt.Println(err)
		return
	}
	run, err := pendulum.Solve(context.Background(), p, rhs.Options{
		To: 2, Method: "dop853", Solver: solvers.Options{RTol: 1e-10, ATol: 1e-12},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gradient, err := run.Gradient(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("angle %.6f\n", run.Y[0])
	fmt.Printf("by start %.6f, speed %.6f, length %.6f, friction %.6f\n",
		gradient[0][0], gradient[0][1], gradient[0][2], gradient[0][3])
	// Output:
	// angle -0.411041
	// by start 0.222267, speed 0.178703, length 5.948593, friction 0.239715
}
