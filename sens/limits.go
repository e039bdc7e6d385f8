package sens

import (
	"math"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/solvers/record"
)

// limits are the times between which the field of a step is differentiated. At an end that was chosen (by an event,
// or as a time known beforehand) they lie inside the step by a rounding. Derivatives of the field may jump there, as
// those of a table do at its knots, and the step has its own side of the jump. Where the end moves with the knot,
// both sides add up to the same in a discrete method. Where it moves with something else that happens to be there, or
// does not move, they do not.
//
// A time that is further outside than that is one of a stage beyond the step, and stays.
type limits struct{ from, to, gap float64 }

// limitsOf returns the limits of step i, and whether there are any.
func limitsOf(run *record.Trajectory, i int, st *solvers.Step) (limits, bool) {
	start, end := i == 0 || !run.Free(i-1), !run.Free(i)
	if !start && !end {
		return limits{from: math.Inf(-1), to: math.Inf(1)}, false
	}
	return limitsBetween(start, end, st.T, st.T1)
}

// lags is by how many lengths of a step lags may be longer than the times of its ends.
const lags = 32

// limitsBetween returns the limits of a step from t to t1, the ends of which were chosen or not.
func limitsBetween(start, end bool, t, t1 float64) (b limits, any bool) {
	b = limits{from: math.Inf(-1), to: math.Inf(1)}
	if !(t1 > t) {
		return b, false
	}
	// The gap is more than the distance at which two times count as one. What a table is read at may be a time less a
	// lag that is many times as large, whose rounding has to be within the gap, too.
	h := t1 - t
	b.gap = min(float64(0x1p-48*max(math.Abs(t), math.Abs(t1), float64(lags*h))), float64(0.25*h))
	if start {
		b.from = t + b.gap
	}
	if end {
		b.to = t1 - b.gap
	}
	return b, start || end
}

func (b *limits) within(t float64) float64 {
	switch {
	case t < b.from && t > b.from-float64(3*b.gap):
		return b.from
	case t > b.to && t < b.to+float64(3*b.gap):
		return b.to
	}
	return t
}

// limitedTangent is a field whose tangents are pushed within limits.
type limitedTangent struct {
	solvers.TangentField
	limits
}

// Push implements solvers.TangentField.
func (f *limitedTangent) Push(t float64, y, td, yd, kd []float64) {
	f.TangentField.Push(f.within(t), y, td, yd, kd)
}

// limitedCotangent is a field whose cotangents are pulled within limits.
type limitedCotangent struct {
	solvers.CotangentField
	limits
}

// Pull implements solvers.CotangentField.
func (f *limitedCotangent) Pull(t float64, y, kb, yb, tb []float64) {
	f.CotangentField.Pull(f.within(t), y, kb, yb, tb)
}

// limitedComplex is a field that is evaluated at times with real parts within limits.
type limitedComplex struct {
	solvers.ComplexField
	limits
}

// Eval implements solvers.ComplexField.
func (f *limitedComplex) Eval(t complex128, y, k []complex128) {
	f.ComplexField.Eval(complex(f.within(real(t)), imag(t)), y, k)
}

// The fields within, for what limits have no part in.

// Unwrap returns the field within.
func (f *limitedTangent) Unwrap() any { return f.TangentField }

// Unwrap returns the field within.
func (f *limitedCotangent) Unwrap() any { return f.CotangentField }

// Unwrap returns the field within.
func (f *limitedComplex) Unwrap() any { return f.ComplexField }

// Unwrap returns the field within.
func (f *limitedSecond) Unwrap() any { return f.SecondField }

// The Jacobians of these fields. Their entries are those of the step, and only their derivatives are taken within
// limits.

// Jacobian implements matrices.JacobianField.
func (f *limitedTangent) Jacobian() *matrices.Jacobian { return f.jacobian().Jacobian() }

// EvalJacobian implements matrices.JacobianField.
func (f *limitedTangent) EvalJacobian(t float64, y, j []float64) { f.jacobian().EvalJacobian(t, y, j) }

// PushJacobian implements matrices.TangentJacobianField.
func (f *limitedTangent) PushJacobian(t float64, y, td, yd, jd []float64) {
	f.jacobian().PushJacobian(f.within(t), y, td, yd, jd)
}

// jacobian is the field of an implicit method, which has made sure that it has a Jacobian.
func (f *limitedTangent) jacobian() matrices.TangentJacobianField {
	return f.TangentField.(matrices.TangentJacobianField)
}

// Jacobian implements matrices.JacobianField.
func (f *limitedCotangent) Jacobian() *matrices.Jacobian { return f.jacobian().Jacobian() }

// EvalJacobian implements matrices.JacobianField.
func (f *limitedCotangent) EvalJacobian(t float64, y, j []float64) {
	f.jacobian().EvalJacobian(t, y, j)
}

// PullJacobian implements matrices.CotangentJacobianField.
func (f *limitedCotangent) PullJacobian(t float64, y, jb, yb, tb []float64) {
	f.jacobian().PullJacobian(f.within(t), y, jb, yb, tb)
}

func (f *limitedCotangent) jacobian() matrices.CotangentJacobianField {
	return f.CotangentField.(matrices.CotangentJacobianField)
}

// Jacobian returns the places of the entries.
func (f *limitedComplex) Jacobian() *matrices.Jacobian {
	return f.ComplexField.(matrices.ComplexJacobianField).Jacobian()
}

// EvalJacobian writes the entries.
func (f *limitedComplex) EvalJacobian(t complex128, y, j []complex128) {
	f.ComplexField.(matrices.ComplexJacobianField).EvalJacobian(complex(f.within(real(t)), imag(t)), y, j)
}

// PullPushJacobian implements matrices.SecondJacobianField.
func (f *limitedSecond) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	at := [1]float64{f.within(t.X[0])}
	f.jacobian().PullPushJacobian(solvers.Dual{X: at[:], D: t.D}, y, jb, yb, tb)
}

// Jacobian implements matrices.JacobianField.
func (f *limitedSecond) Jacobian() *matrices.Jacobian { return f.jacobian().Jacobian() }

// EvalJacobian implements matrices.JacobianField.
func (f *limitedSecond) EvalJacobian(t float64, y, j []float64) { f.jacobian().EvalJacobian(t, y, j) }

// PushJacobian implements matrices.TangentJacobianField.
func (f *limitedSecond) PushJacobian(t float64, y, td, yd, jd []float64) {
	f.jacobian().PushJacobian(f.within(t), y, td, yd, jd)
}

func (f *limitedSecond) jacobian() matrices.SecondJacobianField {
	return f.SecondField.(matrices.SecondJacobianField)
}
