// Package matrices has what steps that solve equations ask of a Field besides solvers.Field: the places and values of
// its Jacobian, its Mass, and whole steps. A Plan is what follows from the places alone. Consistency solves algebraic
// equations. Errors are *solvers.MatrixError, *solvers.NoJacobianError and *ConsistencyError.
package matrices

import (
	"sync"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
)

// Jacobian says where ∂(f, r)/∂(y, t) of a Field has entries. It never changes. All workers of a model have the
// same one, so that what follows from the places of entries alone is found once.
//
// Row i is that of state i, and row N+k that of quadrature k. Column j is that of state j, and column N that of time.
// Entries at the same place add up. A place without an entry is zero whatever the values are.
type Jacobian struct {
	Rows, Cols []int32 // [E]
	// Mass is the matrix M of a system M y' = f(t, y); nil for the identity.
	Mass *Mass
	// Linear is how the matrices of steps are factored, one of LinearMethods; "" chooses by their pattern.
	Linear string
	// Ask, if not nil, is asked before large factors are made: whether there is room for so many bytes, and for how
	// many.
	Ask func(bytes float64) (room int64, ok bool)
	// Direct tells that the algebraic equations are linear in the unknowns, which are then found directly.
	Direct bool

	once    sync.Once // guards:
	planned *Plan
	failed  error

	algebraic consistencyPlan
	// Blocks keeps what else follows from the places: package implicit has plans there, by the number of stages.
	Blocks sync.Map
}

// askedFrom is the size of factors, in bytes, from which on it is asked whether there is room.
const askedFrom = 1 << 24

// Room returns a *MatrixError where there is no room for a factorisation.
func (j *Jacobian) Room(a *linalg.Analysis) error {
	bytes := a.Bytes()
	if j.Ask == nil || bytes < askedFrom {
		return nil
	}
	room, ok := j.Ask(float64(bytes))
	if ok {
		return nil
	}
	return &solvers.MatrixError{
		Kind: solvers.MatrixTooLarge, Bytes: bytes, Limit: int(max(room, 0)), Iterative: a.Iterates(), Refused: true,
	}
}

// LinearMethods returns the ways to solve the linear equations of implicit steps: one that chooses, factorisations, and
// gmres, which needs no factors.
func LinearMethods() []string { return linalg.Methods() }

// JacobianField is a Field whose derivatives by state and time have values of their own: what implicit methods ask for.
type JacobianField interface {
	solvers.Field
	// Jacobian returns the places of the entries.
	Jacobian() *Jacobian
	// EvalJacobian writes the entries j[E] at (t, y).
	EvalJacobian(t float64, y, j []float64)
}

// TangentJacobianField pushes tangents through the entries of its Jacobian.
type TangentJacobianField interface {
	solvers.TangentField
	JacobianField
	// PushJacobian writes jd[E·L], the tangents of the entries, where (t, y) moves by td[L], yd[N·L] and the
	// discretes and parameters by their current tangents.
	PushJacobian(t float64, y, td, yd, jd []float64)
}

// CotangentJacobianField pulls cotangents through the entries of its Jacobian.
type CotangentJacobianField interface {
	solvers.CotangentField
	JacobianField
	// PullJacobian overwrites yb[N·L] and tb[L] with the transpose of the entries applied to jb[E·L]. It adds the
	// cotangents of discretes and parameters to the accumulators of Pull.
	PullJacobian(t float64, y, jb, yb, tb []float64)
}

// SecondJacobianField pushes tangents through the transpose of the entries of its Jacobian.
type SecondJacobianField interface {
	solvers.SecondField
	TangentJacobianField
	// PullPushJacobian is to PullJacobian what PullPush is to Pull: yb[N] and tb[1] for jb[E], with their tangents.
	PullPushJacobian(t, y, jb, yb, tb solvers.Dual)
}

// ComplexJacobianField is a JacobianField in complex arithmetic.
type ComplexJacobianField interface {
	solvers.ComplexField
	// Jacobian returns the places of the entries.
	Jacobian() *Jacobian
	// EvalJacobian writes the entries j[E] at (t, y).
	EvalJacobian(t complex128, y, j []complex128)
}
