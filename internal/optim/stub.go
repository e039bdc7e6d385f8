package optim

import (
	"context"
	"errors"
)

func leastSquares(context.Context, LeastSquaresProblem, []float64, Options) (Result, error) {
	return Result{Status: Failed}, startError(errors.ErrUnsupported)
}

func minimize(context.Context, Problem, []float64, Options) (Result, error) {
	return Result{Status: Failed}, startError(errors.ErrUnsupported)
}

func constrained(context.Context, ConstrainedProblem, []float64, Options) (Result, error) {
	return Result{Status: Failed}, startError(errors.ErrUnsupported)
}
