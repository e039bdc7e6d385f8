// Package optim finds minima of smooth functions of many variables within bounds: of sums of squares (LeastSquares),
// of any function (Minimize), and under constraints (Constrained).
//
// The functions are expensive, exact to a known noise, and may fail: a simulation that ends early has no value. These
// three facts shape the package.
//
//   - An evaluation says how uncertain its value is (Noise). Differences of values below it are not looked at: a search
//     neither refuses a good step nor goes on for what they seem to promise.
//   - Where an evaluation fails, the step is shortened. Only a failure at the start is one of the search, and its cause
//     is returned.
//   - Bounds are kept exactly, by every point that is evaluated: a model may make no sense beyond them. A variable that
//     ends at a bound has the value of the bound, with every bit.
//
// Nothing here depends on the machine, the time or the number of threads: the same problem and start give the same
// bits everywhere. Every search runs in the goroutine that calls it, and several may run at once.
//
// The package gonum/optimize has L-BFGS and Newton's method without bounds, constraints or least squares, takes
// neither noise nor failures of a point, and is not reproducible across architectures. Ports of L-BFGS-B, SLSQP and
// MINPACK to Go have parts of it, and none of these three properties.
package optim

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Bounds holds the least and largest values of variables. Both slices are nil (no bounds) or have one number for each
// variable; an infinite number is no bound. A variable whose bounds are equal is fixed.
type Bounds struct{ Lo, Hi []float64 }

// Want says what an evaluation is to fill in.
type Want uint8

// What an evaluation may be asked for. Each includes those before it.
const (
	Values  Want = iota // the value, or the residuals and the rest; the values of constraints
	Slopes              // first derivatives: gradients and Jacobians
	Curving             // second derivatives: the Hessian
)

// Point is a value of the objective and its derivatives. Slices belong to the search: evaluations fill them in.
type Point struct {
	Value float64
	// Noise is the estimated absolute error of Value: differences that are smaller mean nothing. A search takes at
	// least that of rounding, some ulps of Value. An evaluation may leave it 0.
	Noise    float64
	Gradient []float64 // n
	Hessian  []float64 // n × n, by rows, symmetric
}

// Problem is a smooth function of n variables to be minimised within bounds.
type Problem struct {
	Variables int
	Bounds    Bounds
	// Evaluate fills in at. Unless ctx is done, an error means that there is no value at x; so does a value that is
	// not finite. x may not be kept or changed.
	Evaluate func(ctx context.Context, x []float64, want Want, at *Point) error
	// HasHessian says that Evaluate can be asked for Curving.
	HasHessian bool
	// Product sets hv to the Hessian at x, which was evaluated last, times v; nil: there are none.
	Product func(ctx context.Context, x, v, hv []float64) error
}

// Residuals is a sum of squares, ½ Σ Rᵢ² + Rest, and its derivatives, at one point. Slices belong to the search:
// evaluations fill them in.
type Residuals struct {
	R []float64 // m
	J []float64 // m × n, by rows: derivatives of R
	// Rest is what the objective has beside the squares: logarithms of standard deviations, priors, likelihoods of
	// censored values. Gradient are its derivatives. Curvature is a positive semidefinite n × n matrix that stands for
	// its second derivatives, by rows: those of convex parts, or expected ones. Only problems with HasRest have them.
	Rest      float64
	Gradient  []float64
	Curvature []float64
	Noise     float64 // as in Point, of the whole objective
}

// LeastSquaresProblem is a sum of squares to be minimised within bounds.
type LeastSquaresProblem struct {
	Variables int // n
	Residuals int // m
	Bounds    Bounds
	HasRest   bool
	// Evaluate fills in at; see Problem. It is not asked for Curving.
	Evaluate func(ctx context.Context, x []float64, want Want, at *Residuals) error
}

// Constraints are the values of constraints and their derivatives at one point.
type Constraints struct {
	C []float64 // k
	J []float64 // k × n, by rows
	// Noise is the estimated relative error of C: relative to the terms that add up to each value. A search takes at
	// least that of rounding.
	Noise float64
}

// ConstrainedProblem is a smooth function to be minimised within bounds, where Lo ≤ C ≤ Hi holds for k smooth
// functions C.
type ConstrainedProblem struct {
	Variables   int // n
	Constraints int // k
	Bounds      Bounds
	// Lo and Hi have one number for each constraint. Equal ones make an equation; an infinite one is none.
	Lo, Hi []float64
	// Largest tells of each constraint whether it is the largest (for a lower limit: least) of several functions, whose
	// derivatives jump where another becomes the largest; nil: none is.
	Largest []bool
	// Peaked tells that the objective is so.
	Peaked bool
	// Curve sets h, n × n, to the Hessian of F + yᵀC at x; nil: it cannot be had. Cheap tells that it costs little, and
	// so is asked for at each point; else it is where a search has come to an end without it.
	Curve func(ctx context.Context, x, y, h []float64) error
	Cheap bool
	// Many tells that there are so many variables that no matrix of n × n numbers is to be made. Curve does not count.
	Many bool
	// Evaluate fills in at and c; see Problem. It is not asked for Curving.
	Evaluate func(ctx context.Context, x []float64, want Want, at *Point, c *Constraints) error
}

// Options of a search. The zero value is a good choice.
type Options struct {
	// Scale holds a typical size for each variable, by which the first step is measured; nil: of the start and bounds.
	Scale []float64
	// Gradient stops a search where the norm of the projected gradient, each component times the size of its variable,
	// is below it; 0: only the noise of the value counts.
	Gradient float64
	// Promise ends a search where a step that nothing bounds promises no more: the last digits are for others.
	Promise float64
	// Step stops a search where no variable changes by more than this fraction of its size; 0: 1e-14.
	Step float64
	// Feasible is how far constraints may be violated, relative to the largest of their value, their limits and the
	// terms to first order that add up to the value; 0: 1e-10.
	Feasible float64
	// Iterations and Evaluations bound the search; 0: 1000 iterations, and no bound of evaluations.
	Iterations, Evaluations int
	// Memory is the number of pairs that L-BFGS keeps; 0: 20. Problems with Hessians or products do not use it, unless
	// FirstOrder is set.
	Memory     int
	FirstOrder bool
	// Progress is called after every iteration, in the goroutine of the search; nil: nobody is interested. It may not
	// keep or change X.
	Progress func(Progress)
}

// Progress tells how far a search has come.
type Progress struct {
	X           []float64
	Value       float64
	Projected   float64 // as in Result
	Violation   float64 // as in Result
	Reduction   float64 // as in Result
	Radius      float64 // how far the next step may go, in sizes of the variables; 0 where there is none
	Iterations  int
	Evaluations int
}

// Status says why a search ended.
type Status uint8

// The ends of a search. Converged holds for the first three.
const (
	ByGradient    Status = iota // the projected gradient is zero, or as small as was asked for
	ByNoise                     // all that could be gained is below the noise of the objective
	ByStep                      // the steps have become as short as was asked for
	Iterations                  // it took as many iterations as it may
	Evaluations                 // or evaluations
	Stopped                     // the context was done
	Stuck                       // no step is better, though the gradient promises so: it is wrong or the function rough
	Unbounded                   // values fall without end, or beyond what can be computed
	Unsatisfiable               // no point nearby satisfies the constraints better, and this one does not
	Failed                      // there is no value at the start
)

// statuses is what there is to say of each Status.
var statuses = [...]struct{ name, words string }{
	ByGradient: {"gradient", "the gradient is zero, to the accuracy that was asked for"},
	ByNoise:    {"noise", "what could still be gained is smaller than the error of the objective"},
	ByStep:     {"step", "further steps would change nothing"},
	Iterations: {"iterations", "the limit of iterations was reached before a minimum"},
	Evaluations: {
		"evaluations", "the limit of evaluations was reached before a minimum",
	},
	Stopped: {"stopped", "the search was stopped"},
	Stuck: {
		"stuck", "no step makes the objective smaller, though its gradient promises so: the objective is not smooth " +
			"here, or less accurate than it seems",
	},
	Unbounded: {
		"unbounded", "the objective falls without end, or beyond what can be computed; bounds keep variables where " +
			"it makes sense",
	},
	Unsatisfiable: {"unsatisfiable", "no point near this one satisfies the constraints better"},
	Failed:        {"failed", "the objective has no value at the start"},
}

// String returns one word for s.
func (s Status) String() string { return statuses[s].name }

// Words returns a clause that explains s to users.
func (s Status) Words() string { return statuses[s].words }

// Converged reports whether a search that ended with s found a minimum.
func (s Status) Converged() bool { return s <= ByStep }

// Result is where a search ended.
type Result struct {
	X        []float64 // the best point
	Value    float64
	Noise    float64   // estimated absolute error of Value
	Gradient []float64 // n; of the objective alone, where there are constraints
	// Projected is the largest component of the projected gradient (of the Lagrangian), each times the size of its
	// variable: at a bound only what points inwards counts. It has the unit of Value.
	Projected float64
	// Reduction is what the last model of the objective promised of a further step. It has the unit of Value.
	Reduction float64
	// AtBound is −1 where a variable is at its lower bound, 1 at its upper, and 0 otherwise. A fixed variable has 0.
	AtBound []int8
	// Multipliers are those of the constraints: the derivatives of the minimum by the limits at which they are.
	Multipliers []float64
	// Constraints are their values at X, and Sizes what violations are relative to; see Options.Feasible.
	Constraints, Sizes []float64
	Violation          float64 // the largest violation of a constraint, relative to its size
	Violated           bool    // Violation is more than what was allowed and what rounding makes
	Status             Status
	Iterations         int
	Evaluations        int // calls of Evaluate
	Slopes             int // of these, with derivatives
	Failures           int // of these, those that had no value
	// Failure is the last failure of an evaluation, if it is what a search ended for; else nil.
	Failure error
}

// ErrStart says that an objective has no value at the start. The error that wraps it wraps its cause as well.
var ErrStart = errors.New("the objective has no value at the start")

// isUnbounded reports whether a search has fallen from its first value to one that no minimum has.
func isUnbounded(first, value float64) bool {
	const abyss = 1e50
	return value < -abyss*math.Max(1, math.Abs(first))
}

// errNotFinite is the failure of an evaluation that returned a NaN or an infinite number.
var errNotFinite = errors.New("a value or derivative of the objective is not a finite number")

// startError returns the failure of a search at its start.
func startError(cause error) error { return fmt.Errorf("%w: %w", ErrStart, cause) }

// LeastSquares searches a minimum of a sum of squares from x0, which is moved into the bounds. The error is one of the
// start (ErrStart); the result then has status Failed.
//
// It is a trust-region Gauss–Newton method. The shape of the region follows the largest derivatives so far, as in
// MINPACK (J. J. Moré, Lecture Notes in Math. 630 (1978) 105–116, doi:10.1007/BFb0067700); steps come from a QR
// factorisation of J, never from JᵀJ. Bounds are an active set, found by a projected search along the gradient and
// improved on the variables that it leaves free, as in TRON (C.-J. Lin, J. J. Moré, SIAM J. Optim. 9 (1999)
// 1100–1127, doi:10.1137/S1052623498345075).
func LeastSquares(ctx context.Context, p LeastSquaresProblem, x0 []float64, o Options) (Result, error) {
	return leastSquares(ctx, p, x0, o)
}

// Minimize searches a minimum of p from x0, which is moved into the bounds. The error is one of the start (ErrStart);
// the result then has status Failed.
//
// With Hessians or products it is a trust-region Newton method (TRON; see LeastSquares), whose steps on the free
// variables come from the eigenvalues of the Hessian, or from conjugate gradients that products make, truncated as by
// T. Steihaug (SIAM J. Numer. Anal. 20 (1983) 626–637, doi:10.1137/0720042). Without, it is the same with a Hessian
// of limited-memory BFGS.
func Minimize(ctx context.Context, p Problem, x0 []float64, o Options) (Result, error) {
	return minimize(ctx, p, x0, o)
}

// Constrained searches a minimum of p from x0, which is moved into the bounds and need not satisfy the constraints. The
// error is one of the start (ErrStart); the result then has status Failed.
//
// It is sequential quadratic programming in a trust region, with an exact penalty function. The curvature is the exact
// Hessian of the Lagrangian, where the problem has one, or damped BFGS, which is made anew before a search ends. Steps
// are corrected to second order where the curvature of constraints spoils them.
func Constrained(ctx context.Context, p ConstrainedProblem, x0 []float64, o Options) (Result, error) {
	return constrained(ctx, p, x0, o)
}

// clip returns x moved into b.
func (b Bounds) clip(i int, x float64) float64 {
	if b.Lo != nil {
		x = math.Max(x, b.Lo[i])
	}
	if b.Hi != nil {
		x = math.Min(x, b.Hi[i])
	}
	return x
}
