package hybrid_test

import (
	"fmt"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// decay is y' = -p y with the transpose of its derivative.
type decay struct{ p, pb float64 }

func (d *decay) Size() solvers.Size             { return solvers.Size{N: 1, P: 1} }
func (d *decay) Lanes() int                     { return 1 }
func (d *decay) Eval(_ float64, y, k []float64) { k[0] = -d.p * y[0] }
func (d *decay) Pull(_ float64, y, kb, yb, tb []float64) {
	yb[0], tb[0] = -d.p*kb[0], 0
	d.pb -= y[0] * kb[0]
}

// One step of the classical method from y = 1, and the derivative of its end
// with respect to y and p.
func ExampleMethod_pull() {
	f := &decay{p: 1}
	rk4, _ := methods.Lookup("rk4")
	m := rk4.New(f.Size(), 1)
	s := solvers.NewStep(m.Info(), f.Size())
	s.Y0[0], s.H, s.T1 = 1, 0.5, 0.5
	m.Step(f, s, false)

	c := &solvers.StepCotangent{
		T1: make([]float64, 1), Y1: []float64{1},
		T0: make([]float64, 1), H: make([]float64, 1), Y0: make([]float64, 1),
	}
	m.Pull(f, s, c)
	fmt.Printf("y1 = %.6f, dy1/dy0 = %.6f, dy1/dp = %.6f\n", s.Y1[0], c.Y0[0], f.pb)
	// Output: y1 = 0.606771, dy1/dy0 = 0.606771, dy1/dp = -0.302083
}
