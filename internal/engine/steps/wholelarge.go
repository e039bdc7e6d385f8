package steps

import (
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
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
func (v *largeProgram) ready(w *Steps, key compiled.WholeKey) bool {
	if v.Call != nil {
		return true
	}
	after := v.after
	if v.made == nil {
		rates := w.Kit.Value.Get(tapec.PartRates).Tape
		after = w.Task.CompileAfter.Large * largeMean * len(rates.Instrs) / max(compiled.Elements(rates, 1), 1)
	}
	if !v.due(w, key, after) {
		return false
	}
	v.never = true
	l := w.Kit.Layout
	if rates := w.Kit.Value.Get(tapec.PartRates); rates.Code.Backend() != simd.Native ||
		!rates.Covers(tapec.Primal, vec.K, l.NY+l.NQ) {
		return false // the other backends read and write an instruction's arrays in turn
	}
	if key.Back && (w.Transposes.Get(tapec.PartRates) == nil || w.Shared != nil || w.Book.Record > 0) {
		return false
	}
	p := w.Kit.Whole(key, func() *compiled.WholeProgram { return newLarge(w.Kit, key) })
	if p != nil {
		v.bind(w, p, key.Back, 0)
	}
	return v.Call != nil
}

// run runs the program with its own memory bound.
func (v *largeProgram) run(w *Steps) {
	w.In[tapec.Primal][vec.Step], w.In[tapec.Cotangent][vec.Step] = v.in, v.bar
	w.Out[tapec.Primal][vec.Made], w.Out[tapec.Cotangent][vec.Made] = v.out, v.out
	v.Call.Run(&w.In, &w.Out)
}

// newLarge compiles a step, or its transpose. It returns nil if that is not worth the time.
func newLarge(k *compiled.Kit, key compiled.WholeKey) *compiled.WholeProgram {
	form := key.Form
	rates, pull := k.Value.Get(tapec.PartRates).Tape, (*tape.Tape)(nil)
	if key.Back {
		pull = k.Pull.Get(tapec.PartRates).Tape
	}
	if form.Stages*(compiled.Elements(rates, 1)+compiled.Elements(pull, k.Lanes)) > largeWork {
		return nil
	}
	m := newStepMaker(k.Layout, rates, form)
	m.inPlace = true
	out, lanes := &compiled.WholeProgram{}, 1
	var t *tape.Tape
	switch {
	case key.Back:
		m.from = 0
		t, out.Sums = m.backward(pull, func(string) bool { return false })
		if lanes = k.Lanes; m.made*lanes > largeSums {
			return nil
		}
	case key.Fresh:
		m.from = 0
		t = m.forward()
	default:
		t = m.forward()
	}
	p, err := k.Family.Program(t, m.find(k.Layout.Find), lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	out.Program, out.Shared, out.Laned, out.Made = p, m.shared, m.laned*lanes, m.made*lanes
	return out
}

// makeLarge is MakeStep of a large model.
func (w *Steps) makeLarge(form *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	v, known := &w.by(form).large.first, 0
	if reuse {
		v, known = &w.by(form).large.next, len(s.Y0)+len(s.DQ)
	}
	key := w.Kit.OfStep(form)
	if key.Fresh = !reuse; !v.ready(w, key) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.Y] = s.Y0, s.Y1
	w.In[tapec.Primal][vec.K], w.Out[tapec.Primal][vec.K] = s.K[:known], s.K[known:]
	v.run(w)
	copy(s.DQ, v.out)
	return true
}

// pullLarge is PullStep of a large model.
func (w *Steps) pullLarge(form *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent) bool {
	v := &w.by(form).large.back
	if !v.ready(w, w.Kit.OfTranspose(form)) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	q := len(c.DQ)
	copy(v.bar, c.DQ)
	copy(v.bar[q:], c.T1)
	for i := range v.sums {
		copy(v.sums[i].in, v.sums[i].at)
	}
	w.In[tapec.Primal][vec.Y], w.In[tapec.Primal][vec.K] = s.Y0, s.K
	w.In[tapec.Cotangent][vec.Y], w.Out[tapec.Cotangent][vec.Y] = c.Y1, c.Y0
	v.run(w)
	copy(c.T0, v.out)
	for i := range v.sums {
		copy(v.sums[i].at, v.sums[i].out)
	}
	return true
}
