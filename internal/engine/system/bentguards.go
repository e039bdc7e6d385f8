package system

import (
	"math"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// bends encloses bent guards over boxes in time and states. It belongs to one goroutine.
type bends struct {
	*compiled.BentGuards
	box        *tape.Evaluator[tape.Interval]
	run        func() // compute what depends on time and states
	t, td      []tape.Interval
	y, yd      [][]tape.Interval // [inputs][elements], in the order of states
	rho, slope []tape.Interval
	inputs     []timelineInput
	stale      bool // params, discretes or modes may have changed
}

func newBends(b *compiled.BentGuards, l *vec.Layout) *bends {
	if b == nil {
		return nil
	}
	n := &bends{BentGuards: b, box: tape.NewEvaluator[tape.Interval](b.Tape), stale: true}
	var moving []string
	for _, in := range b.Tape.Inputs {
		box := n.box.Input(in.Name)
		switch name := tapec.MustName(in.Name); {
		case name == tapec.Time.Name():
			n.t = box
		case name == tapec.Time.Name().Dot():
			n.td = box
			n.td[0] = tape.Point(1)
		case name.Role == tapec.State && name.Variation == tapec.Primal:
			n.y, n.yd = append(n.y, box), append(n.yd, n.box.Input(name.Dot().String()))
			if dot := name.Dot().String(); n.box.Input(dot) != nil {
				moving = append(moving, dot)
			}
		case name.Variation == tapec.Primal:
			at := l.Part(name)
			n.inputs = append(n.inputs, timelineInput{vec: at.Vec, from: at.Offset, box: box})
			continue
		default:
			continue
		}
		moving = append(moving, in.Name)
	}
	n.run = n.box.Following(moving...)
	n.rho = n.box.Output(tapec.Margins.Name().String())
	n.slope = n.box.Output(tapec.Margins.Name().Dot().String())
	return n
}

// spoil notes that discretes or modes may have changed. b may be nil.
func (b *bends) spoil() {
	if b != nil {
		b.stale = true
	}
}

// Bent implements solvers.Enclosing.
func (w *watching) Bent() (guards, states []int) {
	if w.bends == nil {
		return nil, nil
	}
	return w.bends.Guards, w.bends.States
}

// Enclose implements solvers.Enclosing.
func (w *watching) Enclose(t solvers.Range, y, yd, rho, slope []solvers.Range) {
	b := w.bends
	if b.t != nil {
		b.t[0] = tape.Interval(t)
	}
	k := 0
	for i, box := range b.y {
		for j := range box {
			box[j] = tape.Interval(y[k])
			if b.yd[i] != nil {
				b.yd[i][j] = tape.Interval(yd[k])
			}
			k++
		}
	}
	if b.stale {
		b.stale = false
		for _, to := range b.inputs {
			for i, x := range w.space.In[tapec.Primal][to.vec][to.from : to.from+len(to.box)] {
				to.box[i] = tape.Point(x)
			}
		}
		b.box.Run()
	} else {
		b.run()
	}
	for i, x := range b.rho {
		rho[i] = solvers.Range(x)
		slope[i] = solvers.Range(b.slopeOf(i))
	}
}

// slopeOf returns the enclosure of the slope of guard i, which holds NaN where the guard may jump.
func (b *bends) slopeOf(i int) tape.Interval {
	if b.slope == nil {
		return tape.Point(math.NaN())
	}
	for _, v := range b.Jumps[i] {
		for _, x := range b.box.Value(v) {
			if x.Lo != x.Hi {
				return tape.Point(math.NaN())
			}
		}
	}
	return b.slope[i]
}

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
