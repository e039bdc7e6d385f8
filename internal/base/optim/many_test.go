package optim

import (
	"context"
	"math"
	"testing"
)

// glide is a mass that a force with bounds moves by one in the least time T, piece by piece, and stops: the unknowns
// are n forces and T. With an even number of pieces, T is 2.
func glide(n int) (ConstrainedProblem, []float64) {
	p := ConstrainedProblem{
		Variables: n + 1, Constraints: 2, Lo: []float64{1, 0}, Hi: []float64{1, 0}, Many: true,
		Bounds: Bounds{Lo: make([]float64, n+1), Hi: make([]float64, n+1)},
	}
	x := make([]float64, n+1)
	for i := range n {
		p.Bounds.Lo[i], p.Bounds.Hi[i] = -1, 1
	}
	p.Bounds.Lo[n], p.Bounds.Hi[n], x[n] = 0.5, 10, 4
	place := func(i int) float64 { return (float64(n-i) - 0.5) / float64(n*n) } // of x(T) by force i, for T = 1
	p.Evaluate = func(_ context.Context, x []float64, _ Want, at *Point, c *Constraints) error {
		t := x[n]
		clear(at.Gradient)
		at.Value, at.Gradient[n] = t, 1
		clear(c.C)
		for i, u := range x[:n] {
			c.C[0] += float64(t * t * place(i) * u)
			c.C[1] += float64(t / float64(n) * u)
			c.J[i], c.J[n+1+i] = float64(t*t*place(i)), t/float64(n)
		}
		c.J[n], c.J[2*n+1] = 2*c.C[0]/t, c.C[1]/t
		return nil
	}
	return p, x
}

// TestMany solves problems of thousands of variables.
func TestMany(t *testing.T) {
	p, x := glide(2000)
	r, err := Constrained(context.Background(), p, x, Options{})
	if err != nil || !r.Status.Converged() || r.Violated || math.Abs(r.Value-2) > 1e-7 {
		t.Errorf("%v, %v at %.10g, violation %g, %d iterations, %d evaluations", err, r.Status, r.Value, r.Violation,
			r.Iterations, r.Evaluations)
	}
	t.Logf("%d iterations, %d evaluations, %.12g", r.Iterations, r.Evaluations, r.Value)
}
