package system

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tapec"
)

// Jacobian implements matrices.JacobianField. It panics unless the problem asked for a Jacobian when the worker's kit
// was made.
func (w *Worker) Jacobian() *matrices.Jacobian {
	if w.Primals.Get(tapec.PartJacobian) == nil {
		panic("system: the problem asked for no Jacobian")
	}
	return w.problem.Places()
}

// Mass returns the mass matrix of the model's equations; nil for the identity.
func (w *Worker) Mass() *matrices.Mass { return w.model.Mass }

// Mass is that of Worker.
func (w *ComplexWorker) Mass() *matrices.Mass { return w.model.Mass }

// EvalJacobian implements matrices.JacobianField.
func (w *Worker) EvalJacobian(t float64, y, j []float64) {
	w.evalPart(w.Primals.Get(tapec.PartJacobian), vec.J, t, y, j)
}

// evalPart evaluates c, a part whose values are the vector of, at (t, y).
func (w *Worker) evalPart(c *compiled.Call, of vec.Vector, t float64, y, x []float64) {
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.Out[tapec.Primal][of] = x
	c.RunMoved(&w.In, &w.Out)
}

// PushJacobian implements matrices.TangentJacobianField.
func (w *Worker) PushJacobian(t float64, y, td, yd, jd []float64) {
	w.pushPart(w.Tangents.Get(tapec.PartJacobian), vec.J, t, y, td, yd, jd)
}

// pushPart pushes tangents through a part; see evalPart.
func (w *Worker) pushPart(c *compiled.Call, of vec.Vector, t float64, y, td, yd, xd []float64) {
	if c == nil {
		clear(xd)
		return
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Tangent][vec.T], w.In[tapec.Tangent][vec.Y] = td, yd
	w.Out[tapec.Tangent][of] = xd
	if !c.Covers(tapec.Tangent, of, len(xd)) {
		clear(xd)
	}
	c.RunMoved(&w.In, &w.Out)
}

// PullJacobian implements matrices.CotangentJacobianField.
func (w *Worker) PullJacobian(t float64, y, jb, yb, tb []float64) {
	w.pullPart(w.Transposes.Get(tapec.PartJacobian), vec.J, t, y, jb, yb, tb)
}

// pullPart pulls cotangents through a part; see evalPart.
func (w *Worker) pullPart(c *compiled.Call, of vec.Vector, t float64, y, xb, yb, tb []float64) {
	if c == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.T[0] = t
	w.In[tapec.Primal][vec.Y] = y
	w.In[tapec.Cotangent][of] = xb
	w.Out[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.T] = yb, tb
	if !c.Covers(tapec.Cotangent, vec.Y, len(yb)) {
		clear(yb)
	}
	if !c.Covers(tapec.Cotangent, vec.T, len(tb)) {
		clear(tb)
	}
	c.RunMoved(&w.In, &w.Out)
}

// PullPushJacobian implements matrices.SecondJacobianField.
func (w *SecondWorker) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(tapec.PartJacobian), vec.J, t, y, jb, yb, tb)
}

// Jacobian implements matrices.ComplexJacobianField.
func (w *ComplexWorker) Jacobian() *matrices.Jacobian { return w.problem.Places() }

// EvalJacobian implements matrices.ComplexJacobianField.
func (w *ComplexWorker) EvalJacobian(t complex128, y, j []complex128) {
	w.vec[vec.T][0], w.vec[vec.Y] = t, y
	out := [vec.Count][]complex128{vec.J: j}
	w.run(w.parts.Get(tapec.PartJacobian), &out)
}

var (
	_ matrices.CotangentJacobianField = (*Worker)(nil)
	_ matrices.TangentJacobianField   = (*Worker)(nil)
	_ matrices.SecondJacobianField    = (*SecondWorker)(nil)
	_ matrices.ComplexJacobianField   = (*ComplexWorker)(nil)
)

// Delays writes the delays that move. DelaysPush and DelaysPull are its derivatives, as of Eval.
func Delays(w *Worker, t float64, y, tau []float64) {
	w.evalPart(w.Primals.Get(tapec.PartDelays), vec.Delays, t, y, tau)
}

// DelaysPush writes tangents; see Delays.
func DelaysPush(w *Worker, t float64, y, td, yd, x []float64) {
	w.pushPart(w.Tangents.Get(tapec.PartDelays), vec.Delays, t, y, td, yd, x)
}

// DelaysPull writes cotangents; see Delays.
func DelaysPull(w *Worker, t float64, y, x, yb, tb []float64) {
	w.pullPart(w.Transposes.Get(tapec.PartDelays), vec.Delays, t, y, x, yb, tb)
}

// DelaysPullPush writes cotangents with their tangents; see Delays.
func DelaysPullPush(w *SecondWorker, t, y, x, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(tapec.PartDelays), vec.Delays, t, y, x, yb, tb)
}
