package system

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// enclosure bounds the guards over boxes of time and states.
type enclosure struct {
	eval   *tape.Evaluator[tape.Interval]
	run    func() // compute what depends on time and states
	stale  bool   // params, discretes or modes may have changed
	t      []tape.Interval
	states []enclosed
	others []enclosed
	margin []tape.Interval
}

// enclosed is an input: elements of a vector from one on.
type enclosed struct {
	vec  vector
	from int
	box  []tape.Interval
}

func newEnclosure(m *Model) *enclosure {
	t := m.Compiled.Guards
	e := &enclosure{eval: tape.NewEvaluator[tape.Interval](t), stale: true}
	time := tapec.Time.Name().String()
	moving := []string{time}
	e.t, e.margin = e.eval.Input(time), e.eval.Output(tapec.Margins.Name().String())
	for _, in := range t.Inputs {
		at := m.layout.part(tapec.MustName(in.Name))
		switch x := (enclosed{at.vec, at.offset, e.eval.Input(in.Name)}); {
		case in.Name == time:
		case at.vec == vecY:
			moving, e.states = append(moving, in.Name), append(e.states, x)
		default:
			e.others = append(e.others, x)
		}
	}
	e.run = e.eval.Following(moving...)
	return e
}

// GuardBounds implements solvers.Encloser.
func (w *Worker) GuardBounds(t0, t1 float64, lo, hi, least, most []float64) {
	if w.enclosure == nil {
		w.enclosure = newEnclosure(w.model)
	}
	e := w.enclosure
	for _, x := range e.states {
		for i := range x.box {
			x.box[i] = tape.Interval{Lo: lo[x.from+i], Hi: hi[x.from+i]}
		}
	}
	if e.t != nil {
		e.t[0] = tape.Interval{Lo: t0, Hi: t1}
	}
	if e.stale {
		e.stale = false
		for _, x := range e.others {
			for i, v := range w.in[tapec.Primal][x.vec][x.from : x.from+len(x.box)] {
				x.box[i] = tape.Point(v)
			}
		}
		e.eval.Run()
	} else {
		e.run()
	}
	for i, b := range e.margin {
		least[i], most[i] = b.Lo, b.Hi
	}
}
