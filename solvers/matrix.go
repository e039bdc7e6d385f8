package solvers

import "fmt"

// ImplicitWork counts what the steps of an Implicit method took.
type ImplicitWork struct {
	Jacobians      int // evaluations of the entries of the Jacobian
	Factorisations int
	Solves         int
	Further        int // right-hand sides of iterations, besides those that Info counts; Stats.Evals has them
}

// Plus returns the sum of two counts.
func (w ImplicitWork) Plus(v ImplicitWork) ImplicitWork {
	return ImplicitWork{
		w.Jacobians + v.Jacobians, w.Factorisations + v.Factorisations, w.Solves + v.Solves, w.Further + v.Further,
	}
}

// Minus returns what w counts beyond v.
func (w ImplicitWork) Minus(v ImplicitWork) ImplicitWork {
	return ImplicitWork{
		w.Jacobians - v.Jacobians, w.Factorisations - v.Factorisations, w.Solves - v.Solves, w.Further - v.Further,
	}
}

// NoJacobianError tells that a method needs a JacobianField, and the system is none.
type NoJacobianError struct{ Method string }

func (e *NoJacobianError) Error() string {
	return fmt.Sprintf("method %s needs the derivatives of the right-hand side by the states, which this system does "+
		"not give; take an explicit method", e.Method)
}

// MatrixFault says why a matrix could not be factored.
type MatrixFault uint8

// The faults.
const (
	MatrixSingular  MatrixFault = iota
	MatrixNotFinite             // an entry is infinite or NaN
	MatrixTooLarge              // its factors need more memory than they may take
	MatrixDiverged              // Newton's method for the equations of a step does not converge: no matrix is at fault
)

// MatrixError tells that a step could not be made because of the matrix I/(hγ) - ∂f/∂y. Its rows are the rates of
// states, its columns states.
type MatrixError struct {
	Kind MatrixFault
	// Of a singular matrix, Rows and Cols are those that depend on each other. Otherwise they are the place of the
	// entry that is not finite; Rows may be that of a quadrature, N + k, and Cols that of time, N. Where an iteration
	// does not converge, Cols are the states that it changes most.
	Rows, Cols []int
	Value      float64 // of the entry that is not finite
	// Overflow tells that all entries are finite, and what elimination made of them is not.
	Overflow bool
	// Of a matrix that is too large, in bytes. Iterative tells that GMRES, which has no factors, has room.
	Bytes, Limit int
	Iterative    bool
	// Refused tells that the machine has no room for it now, while another one would.
	Refused bool
}

func (e *MatrixError) Error() string {
	switch e.Kind {
	case MatrixNotFinite:
		if e.Overflow {
			return fmt.Sprintf("the elimination of the matrix of derivatives overflows in rate %d and state %d",
				e.Rows[0], e.Cols[0])
		}
		return fmt.Sprintf("the derivative of rate %d by state %d is %v", e.Rows[0], e.Cols[0], e.Value)
	case MatrixDiverged:
		return fmt.Sprintf("the iteration for the equations of a step does not converge: states %v", e.Cols)
	case MatrixTooLarge:
		return fmt.Sprintf("the factors of the matrix of derivatives need %d bytes of memory, more than %d",
			e.Bytes, e.Limit)
	}
	return fmt.Sprintf("the matrix of the equations for a step is singular: states %v, rates %v", e.Cols, e.Rows)
}
