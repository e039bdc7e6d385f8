package system

import (
	"errors"
	"fmt"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// jacobian is the Jacobian of a model's rates: a tape beside the others, from which the same work is hoisted, and the
// places of its entries. It is made when a problem first asks for it.
type jacobian struct {
	hoisted
	places *solvers.Jacobian
	made   *tapec.Jacobian
}

func newJacobian(m *Model) (*jacobian, error) {
	c, l := m.Compiled, m.layout.clone()
	var of, wrt []tapec.Placed
	for _, o := range c.Rates.Outputs {
		of = append(of, tapec.Placed{Name: o.Name, At: l.part(tapec.MustName(o.Name)).offset})
	}
	for _, in := range c.Rates.Inputs {
		switch n := tapec.MustName(in.Name); n.Role {
		case tapec.State:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.part(n).offset})
		case tapec.Time:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.nY})
		}
	}
	j, err := shared(m.family, how("jacobian", of, wrt), func() (*tapec.Jacobian, error) {
		return tapec.NewJacobian(c.Rates, of, wrt)
	}, c.Rates)
	if err != nil {
		return nil, fmt.Errorf("the Jacobian of the rates: %w; explicit methods need none", err)
	}
	l.outputs(j.Tape, vecJ)
	return &jacobian{
		hoisted: hoistedFrom(m.family, c, l, j.Tape),
		places:  &solvers.Jacobian{Rows: j.Rows, Cols: j.Cols, Mass: m.mass},
		made:    j,
	}, nil
}

// JacobianTooLarge reports whether the Jacobian of the rates has too many entries to be made. It makes it, once.
func (m *Model) JacobianTooLarge() bool {
	_, err := m.programs.withJacobian()
	var many *tapec.TooManyEntriesError
	return errors.As(err, &many)
}

// places returns the places of the Jacobian's entries. Programs that evaluate it exist, so it does.
func (p *Problem) places() *solvers.Jacobian {
	j, err := p.Model.programs.withJacobian()
	if err != nil {
		panic("system: " + err.Error())
	}
	return j.places
}

// Jacobian implements solvers.JacobianField. It panics unless the problem asked for a Jacobian when the worker's kit
// was made.
func (w *Worker) Jacobian() *solvers.Jacobian {
	if w.value.Get(tapec.PartJacobian) == nil {
		panic("system: the problem asked for no Jacobian")
	}
	return w.problem.places()
}

// Mass returns the mass matrix of the model's equations; nil for the identity.
func (w *Worker) Mass() *solvers.Mass { return w.model.mass }

// Mass is that of Worker.
func (w *ComplexWorker) Mass() *solvers.Mass { return w.model.mass }

// EvalJacobian implements solvers.JacobianField.
func (w *Worker) EvalJacobian(t float64, y, j []float64) {
	c := w.value.Get(tapec.PartJacobian)
	w.t[0] = t
	w.in[tapec.Primal][vecY] = y
	w.out[tapec.Primal][vecJ] = j
	c.runMoved(&w.in, &w.out)
}

// PushJacobian implements solvers.TangentJacobianField.
func (w *Worker) PushJacobian(t float64, y, td, yd, jd []float64) {
	c := w.push.Get(tapec.PartJacobian)
	if c == nil {
		clear(jd)
		return
	}
	w.t[0] = t
	w.in[tapec.Primal][vecY] = y
	w.in[tapec.Tangent][vecT], w.in[tapec.Tangent][vecY] = td, yd
	w.out[tapec.Tangent][vecJ] = jd
	if !c.covers(tapec.Tangent, vecJ, len(jd)) {
		clear(jd)
	}
	c.runMoved(&w.in, &w.out)
}

// PullJacobian implements solvers.CotangentJacobianField.
func (w *Worker) PullJacobian(t float64, y, jb, yb, tb []float64) {
	c := w.pull.Get(tapec.PartJacobian)
	if c == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.t[0] = t
	w.in[tapec.Primal][vecY] = y
	w.in[tapec.Cotangent][vecJ] = jb
	w.out[tapec.Cotangent][vecY], w.out[tapec.Cotangent][vecT] = yb, tb
	if !c.covers(tapec.Cotangent, vecY, len(yb)) {
		clear(yb)
	}
	if !c.covers(tapec.Cotangent, vecT, len(tb)) {
		clear(tb)
	}
	c.runMoved(&w.in, &w.out)
}

// PullPushJacobian implements solvers.SecondJacobianField.
func (w *SecondWorker) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(tapec.PartJacobian), vecJ, t, y, jb, yb, tb)
}

// Jacobian implements solvers.ComplexJacobianField.
func (w *ComplexWorker) Jacobian() *solvers.Jacobian { return w.problem.places() }

// EvalJacobian implements solvers.ComplexJacobianField.
func (w *ComplexWorker) EvalJacobian(t complex128, y, j []complex128) {
	w.vec[vecT][0], w.vec[vecY] = t, y
	out := [numVectors][]complex128{vecJ: j}
	w.run(w.parts.Get(tapec.PartJacobian), &out, false)
}

var (
	_ solvers.CotangentJacobianField = (*Worker)(nil)
	_ solvers.TangentJacobianField   = (*Worker)(nil)
	_ solvers.SecondJacobianField    = (*SecondWorker)(nil)
	_ solvers.ComplexJacobianField   = (*ComplexWorker)(nil)
)
