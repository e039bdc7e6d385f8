package system

import (
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// boxed encloses the Jacobian of the rates over boxes of states. It belongs to one goroutine.
type boxed struct {
	box    *tape.Evaluator[tape.Interval]
	inputs []timelineInput
	out    []timelineInput
}

func newBoxed(t *tape.Tape, l *vec.Layout) *boxed {
	b := &boxed{box: tape.NewEvaluator[tape.Interval](t)}
	l = l.Clone()
	l.Outputs(t, vec.J)
	place := func(name string, box []tape.Interval) timelineInput {
		at := l.Part(tapec.MustName(name))
		return timelineInput{vec: at.Vec, from: at.Offset, box: box}
	}
	for _, in := range t.Inputs {
		b.inputs = append(b.inputs, place(in.Name, b.box.Input(in.Name)))
	}
	for _, o := range t.Outputs {
		b.out = append(b.out, place(o.Name, b.box.Output(o.Name)))
	}
	return b
}

// EncloseJacobian implements matrices.Encloses.
func (w *watching) EncloseJacobian(t float64, y, j []solvers.Range) {
	b := w.jacobian
	if b == nil {
		task := w.space.Task
		programs, err := task.Model.Programs.WithJacobian(task.Split)
		if err != nil {
			panic("system: the problem asked for no Jacobian")
		}
		b = newBoxed(programs.Made.Tape, task.Model.Layout)
		w.jacobian = b
	}
	for _, in := range b.inputs {
		for i := range in.box {
			switch in.vec {
			case vec.T:
				in.box[i] = tape.Point(t)
			case vec.Y:
				in.box[i] = tape.Interval(y[in.from+i])
			default:
				in.box[i] = tape.Point(w.space.In[tapec.Primal][in.vec][in.from+i])
			}
		}
	}
	b.box.Run()
	for _, o := range b.out {
		for i, x := range o.box {
			j[o.from+i] = solvers.Range(x)
		}
	}
}

var _ matrices.Encloses = (*Worker)(nil)
