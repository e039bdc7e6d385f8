package system

import (
	"errors"
	"fmt"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// jacobian is the Jacobian of a model's rates: a tape beside the others, from which the same work is hoisted, and the
// places of its entries. It is made when a problem first asks for it. Where the rates are split, it is that of the
// implicit part, and both parts are among the tapes.
type jacobian struct {
	hoisted
	places map[string]*solvers.Jacobian // by how its matrices are factored
	made   *tapec.Jacobian
}

// NoImplicitPartError tells that a model has no terms for the implicit part of a method that splits its rates.
type NoImplicitPartError struct{}

func (*NoImplicitPartError) Error() string {
	return "no term of the rates is linear in the states, so there is nothing to solve equations with"
}

func newJacobian(m *Model, split bool) (*jacobian, error) {
	c, l := m.Compiled, m.layout.Clone()
	from, what := c.Rates, "the rates"
	var explicit *tape.Tape
	if split {
		if from, explicit = tapec.LinearPart(c.Rates); from == nil {
			return nil, &NoImplicitPartError{}
		}
		what = "the implicit part of the rates"
	}
	var of, wrt []tapec.Placed
	for _, o := range from.Outputs {
		of = append(of, tapec.Placed{Name: o.Name, At: l.Part(tapec.MustName(o.Name)).Offset})
	}
	for _, in := range from.Inputs {
		switch n := tapec.MustName(in.Name); { // what was read of the past does not move with the state
		case n.Role == tapec.State && l.Part(n).Offset < l.NY:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.Part(n).Offset})
		case n.Role == tapec.Time:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.NY})
		}
	}
	j, err := shared(m.family, m.family.how("jacobian", of, wrt), func() (*tapec.Jacobian, error) {
		return tapec.NewJacobian(from, of, wrt)
	}, from)
	if err != nil {
		return nil, fmt.Errorf("the Jacobian of %s: %w; explicit methods need none", what, err)
	}
	l.Outputs(j.Tape, vec.J)
	ask := func(bytes float64) (int64, bool) {
		var refused *memory.RefusedError
		if errors.As(memory.Ask(bytes), &refused) {
			return refused.Budget - refused.Used, false
		}
		return 0, true
	}
	places := map[string]*solvers.Jacobian{}
	for _, linear := range append(solvers.LinearMethods(), "") {
		places[linear] = &solvers.Jacobian{Rows: j.Rows, Cols: j.Cols, Mass: m.mass, Linear: linear, Ask: ask}
	}
	h := hoistedFrom(m.family, c, l, j.Tape)
	if split {
		h.tapes.Set(tapec.PartImplicit, from)
		h.tapes.Set(tapec.PartExplicit, explicit)
	}
	return &jacobian{hoisted: h, places: places, made: j}, nil
}

// Splits returns nil if the rates have two parts, for methods that take them so, or what is against that.
func (m *Model) Splits() error {
	_, err := m.programs.withJacobian(true)
	return err
}

// JacobianTooLarge reports whether the Jacobian of the rates has too many entries to be made. It makes it, once.
func (m *Model) JacobianTooLarge() bool {
	_, err := m.programs.withJacobian(false)
	var many *tapec.TooManyEntriesError
	return errors.As(err, &many)
}

// places returns the places of the Jacobian's entries. Programs that evaluate it exist, so it does.
func (p *Task) places() *solvers.Jacobian {
	j, err := p.Model.programs.withJacobian(p.Split)
	if err != nil {
		panic("system: " + err.Error())
	}
	return j.places[p.Linear]
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
	w.evalPart(w.value.Get(tapec.PartJacobian), vec.J, t, y, j)
}

// evalPart evaluates c, a part whose values are the vector of, at (t, y).
func (w *Worker) evalPart(c *call, of vec.Vector, t float64, y, x []float64) {
	w.t[0] = t
	w.in[tapec.Primal][vec.Y] = y
	w.out[tapec.Primal][of] = x
	c.runMoved(&w.in, &w.out)
}

// PushJacobian implements solvers.TangentJacobianField.
func (w *Worker) PushJacobian(t float64, y, td, yd, jd []float64) {
	w.pushPart(w.push.Get(tapec.PartJacobian), vec.J, t, y, td, yd, jd)
}

// pushPart pushes tangents through a part; see evalPart.
func (w *Worker) pushPart(c *call, of vec.Vector, t float64, y, td, yd, xd []float64) {
	if c == nil {
		clear(xd)
		return
	}
	w.t[0] = t
	w.in[tapec.Primal][vec.Y] = y
	w.in[tapec.Tangent][vec.T], w.in[tapec.Tangent][vec.Y] = td, yd
	w.out[tapec.Tangent][of] = xd
	if !c.covers(tapec.Tangent, of, len(xd)) {
		clear(xd)
	}
	c.runMoved(&w.in, &w.out)
}

// PullJacobian implements solvers.CotangentJacobianField.
func (w *Worker) PullJacobian(t float64, y, jb, yb, tb []float64) {
	w.pullPart(w.pull.Get(tapec.PartJacobian), vec.J, t, y, jb, yb, tb)
}

// pullPart pulls cotangents through a part; see evalPart.
func (w *Worker) pullPart(c *call, of vec.Vector, t float64, y, xb, yb, tb []float64) {
	if c == nil {
		clear(yb)
		clear(tb)
		return
	}
	w.t[0] = t
	w.in[tapec.Primal][vec.Y] = y
	w.in[tapec.Cotangent][of] = xb
	w.out[tapec.Cotangent][vec.Y], w.out[tapec.Cotangent][vec.T] = yb, tb
	if !c.covers(tapec.Cotangent, vec.Y, len(yb)) {
		clear(yb)
	}
	if !c.covers(tapec.Cotangent, vec.T, len(tb)) {
		clear(tb)
	}
	c.runMoved(&w.in, &w.out)
}

// PullPushJacobian implements solvers.SecondJacobianField.
func (w *SecondWorker) PullPushJacobian(t, y, jb, yb, tb solvers.Dual) {
	w.pullPush(w.second.Get(tapec.PartJacobian), vec.J, t, y, jb, yb, tb)
}

// Jacobian implements solvers.ComplexJacobianField.
func (w *ComplexWorker) Jacobian() *solvers.Jacobian { return w.problem.places() }

// EvalJacobian implements solvers.ComplexJacobianField.
func (w *ComplexWorker) EvalJacobian(t complex128, y, j []complex128) {
	w.vec[vec.T][0], w.vec[vec.Y] = t, y
	out := [vec.Count][]complex128{vec.J: j}
	w.run(w.parts.Get(tapec.PartJacobian), &out)
}

var (
	_ solvers.CotangentJacobianField = (*Worker)(nil)
	_ solvers.TangentJacobianField   = (*Worker)(nil)
	_ solvers.SecondJacobianField    = (*SecondWorker)(nil)
	_ solvers.ComplexJacobianField   = (*ComplexWorker)(nil)
)

// Delays writes the delays that move. DelaysPush and DelaysPull are its derivatives, as of Eval.
func Delays(w *Worker, t float64, y, tau []float64) {
	w.evalPart(w.value.Get(tapec.PartDelays), vec.Delays, t, y, tau)
}

// DelaysPush writes tangents; see Delays.
func DelaysPush(w *Worker, t float64, y, td, yd, x []float64) {
	w.pushPart(w.push.Get(tapec.PartDelays), vec.Delays, t, y, td, yd, x)
}

// DelaysPull writes cotangents; see Delays.
func DelaysPull(w *Worker, t float64, y, x, yb, tb []float64) {
	w.pullPart(w.pull.Get(tapec.PartDelays), vec.Delays, t, y, x, yb, tb)
}
