package system

import (
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Steps of a large model read and write more memory between its right-hand sides than in them: a
// stage's derivative is in a register when it is computed, but is read from memory for the next stage
// value. Whole steps of large models are therefore compiled as well. Their programs read states and rows
// of K where the solver keeps them.

const (
	largeStates = 1024    // states of a large model
	largeWork   = 1 << 28 // elements that a step computes, at most
	largeSums   = 1 << 12 // elements of the accumulators of a transpose, at most
)

// largeMean is the number of elements that an average instruction computes in the model for which
// CompileAfter.Large is meant. The cost of compiling grows with the instructions, the gain with the
// elements. A network of thousands of scalar reactions is therefore never compiled this way.
const largeMean = 10000

// largeSteps is a worker's use of programs of whole steps of a large model.
type largeSteps struct {
	first, next, back largeProgram // a step with the first row of K, without it, and the transpose
}

// largeProgram is a program of whole steps of a large model.
type largeProgram struct{ wholeSteps }

// ready reports whether the program exists. It compiles the program when enough steps have been made.
func (v *largeProgram) ready(w *Worker, key wholeKey) bool {
	if v.call != nil {
		return true
	}
	after := v.after
	if v.made == nil {
		rates := w.kit.value.Get(tapec.PartRates).tape
		after = w.problem.CompileAfter.Large * largeMean * len(rates.Instrs) / max(elements(rates, 1), 1)
	}
	if !v.due(w, key, after) {
		return false
	}
	v.never = true
	l := w.kit.layout
	if rates := w.kit.value.Get(tapec.PartRates); rates.code.Backend() != simd.Native ||
		!rates.covers(tapec.Primal, vec.K, l.NY+l.NQ) {
		return false // the other backends read and write an instruction's arrays in turn
	}
	if key.back && (w.pull.Get(tapec.PartRates) == nil || w.shared != nil || w.book.record > 0) {
		return false
	}
	p := w.kit.whole(key, func() *wholeProgram { return newLarge(w.kit, key) })
	if p != nil {
		v.bind(w, p, key.back, 0)
	}
	return v.call != nil
}

// run runs the program with its own memory bound.
func (v *largeProgram) run(w *Worker) {
	w.in[tapec.Primal][vec.Step], w.in[tapec.Cotangent][vec.Step] = v.in, v.bar
	w.out[tapec.Primal][vec.Made], w.out[tapec.Cotangent][vec.Made] = v.out, v.out
	v.call.run(&w.in, &w.out)
}

// newLarge compiles a step, or its transpose. It returns nil if that is not worth the time.
func newLarge(k *Kit, key wholeKey) *wholeProgram {
	form := key.form
	rates, pull := k.value.Get(tapec.PartRates).tape, (*tape.Tape)(nil)
	if key.back {
		pull = k.pull.Get(tapec.PartRates).tape
	}
	if form.Stages*(elements(rates, 1)+elements(pull, k.lanes)) > largeWork {
		return nil
	}
	m := newStepMaker(k.layout, rates, form)
	m.inPlace = true
	out, lanes := &wholeProgram{}, 1
	var t *tape.Tape
	switch {
	case key.back:
		m.from = 0
		t, out.sums = m.backward(pull, func(string) bool { return false })
		if lanes = k.lanes; m.made*lanes > largeSums {
			return nil
		}
	case key.fresh:
		m.from = 0
		t = m.forward()
	default:
		t = m.forward()
	}
	p, err := k.family.program(t, m.find(k.layout.Find), lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	out.program, out.shared, out.laned, out.made = p, m.shared, m.laned*lanes, m.made*lanes
	return out
}

// makeLarge is MakeStep of a large model.
func (w *Worker) makeLarge(form *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	v, known := &w.by(form).large.first, 0
	if reuse {
		v, known = &w.by(form).large.next, len(s.Y0)+len(s.DQ)
	}
	key := w.kit.ofStep(form)
	if key.fresh = !reuse; !v.ready(w, key) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	w.in[tapec.Primal][vec.Y], w.out[tapec.Primal][vec.Y] = s.Y0, s.Y1
	w.in[tapec.Primal][vec.K], w.out[tapec.Primal][vec.K] = s.K[:known], s.K[known:]
	v.run(w)
	copy(s.DQ, v.out)
	return true
}

// pullLarge is PullStep of a large model.
func (w *Worker) pullLarge(form *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent) bool {
	v := &w.by(form).large.back
	if !v.ready(w, w.kit.ofTranspose(form)) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	q := len(c.DQ)
	copy(v.bar, c.DQ)
	copy(v.bar[q:], c.T1)
	for i := range v.sums {
		copy(v.sums[i].in, v.sums[i].at)
	}
	w.in[tapec.Primal][vec.Y], w.in[tapec.Primal][vec.K] = s.Y0, s.K
	w.in[tapec.Cotangent][vec.Y], w.out[tapec.Cotangent][vec.Y] = c.Y1, c.Y0
	v.run(w)
	copy(c.T0, v.out)
	for i := range v.sums {
		copy(v.sums[i].at, v.sums[i].out)
	}
	return true
}
