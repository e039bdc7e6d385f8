package optim

import "context"

// Kinks are functions of which absolute values are part of an objective, and their derivatives, at one point.
type Kinks struct {
	U []float64 // m
	J []float64 // m × n, by rows
	W []float64 // m: weights of |U|, at least 0
}

// KinkedProblem is a function with kinks, F + Σ W|U|, to be minimised within bounds, where Lo ≤ C ≤ Hi holds. F, U and
// C are smooth.
type KinkedProblem struct {
	Variables, Kinks, Constraints int
	Bounds                        Bounds
	Lo, Hi                        []float64 // of the constraints, as those of a ConstrainedProblem
	Largest                       []bool
	// Peaked tells that F is the largest of several functions, whose derivatives jump where another becomes it.
	Peaked bool
	// Evaluate fills in at, k and c; see Problem. Value is that of the whole objective, with its kinks, and Gradient
	// and Hessian are those of F. The Hessian may be any positive semidefinite matrix that stands for it, or zero.
	Evaluate func(ctx context.Context, x []float64, want Want, at *Point, k *Kinks, c *Constraints) error
	// Curve, Cheap and Many are as in ConstrainedProblem. With Many there are no Hessians.
	Curve func(ctx context.Context, x, y, h []float64) error
	Cheap bool
	Many  bool
}

func constrained(ctx context.Context, p ConstrainedProblem, x0 []float64, o Options) (Result, error) {
	return Folded(ctx, p.Kinked(), x0, o)
}

// Kinked returns the same problem as one with kinks, of which it has none.
func (p ConstrainedProblem) Kinked() KinkedProblem {
	return KinkedProblem{
		Variables: p.Variables, Constraints: p.Constraints, Bounds: p.Bounds, Lo: p.Lo, Hi: p.Hi, Largest: p.Largest,
		Peaked: p.Peaked, Curve: p.Curve, Cheap: p.Cheap, Many: p.Many,
		Evaluate: func(ctx context.Context, x []float64, want Want, at *Point, _ *Kinks, c *Constraints) error {
			return p.Evaluate(ctx, x, want, at, c)
		},
	}
}
