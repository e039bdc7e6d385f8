package steps

import (
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Second derivatives go along the tangents of steps, and back along those of transposes. Both are compiled as whole
// steps as well, for steps whose length does not move: all but those that end where something happens.

const (
	// movedWork is the most elements that such a program may compute.
	movedWork = 1 << 16
	// movedSooner is how many times fewer steps than CompileAfter.Small says pay for compiling: each saves more.
	movedSooner = 4
)

// movedSteps is a worker's use of a program of steps with tangents.
type movedSteps struct {
	wholeSteps
	read, made [tapec.NumVariations][]float64 // its vectors
}

// newMoved compiles a tangent of steps, or of their transposes. It returns nil if that is not worth the time.
func newMoved(k *compiled.Kit, key compiled.WholeKey) *compiled.WholeProgram {
	rates, push := k.Value.Get(tapec.PartRates).Tape, k.Push.Get(tapec.PartRates).Tape
	work := compiled.Elements(rates, 1) + compiled.Elements(push, k.Lanes)
	if key.Back {
		work += compiled.Elements(key.With.Tape, k.Lanes)
	}
	if key.Form.Stages*work > movedWork {
		return nil
	}
	m := newMovedMaker(k.Layout, rates, push, key.Form, false)
	var t *tape.Tape
	if key.Back {
		t = m.backwardTangent(key.With.Tape)
	} else {
		t = m.tangent()
	}
	if compiled.Elements(t, k.Lanes) > movedWork {
		return nil
	}
	p, err := k.Family.Program(t, m.find(k.Moved), k.Lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	m.read[tapec.Primal] = m.shared
	return &compiled.WholeProgram{Program: p, Sums: m.sums, Moved: compiled.MovedProgram{Read: m.read, Made: m.put}}
}

// ready reports whether there is the program of key. It compiles the program when enough steps have been made.
func (v *movedSteps) ready(w *Steps, key compiled.WholeKey) bool {
	if v.Call != nil {
		return true
	}
	if !v.due(w, key, w.Task.CompileAfter.Small/movedSooner) {
		return false
	}
	v.never = true
	k := w.Kit
	if rates := k.Value.Get(tapec.PartRates); key.With == nil || k.Push.Get(tapec.PartRates) == nil ||
		rates.Code.Backend() == simd.Generic || !rates.Covers(tapec.Primal, vec.K, k.Layout.NY+k.Layout.NQ) {
		return false
	}
	p := k.Whole(key, func() *compiled.WholeProgram { return newMoved(k, key) })
	if p == nil {
		return false
	}
	v.Call = w.CallOf(p.Program)
	v.Call.Machine.Share(w.Team())
	for vary := range p.Moved.Read {
		lanes := 1
		if vary := tapec.Variation(vary); vary == tapec.Tangent || vary == tapec.CotangentTangent {
			lanes = w.Width
		}
		v.read[vary] = make([]float64, p.Moved.Read[vary]*lanes)
		v.made[vary] = make([]float64, p.Moved.Made[vary]*lanes)
		w.In[vary][vec.Step], w.Out[vary][vec.Made] = v.read[vary], v.made[vary]
	}
	// Behind the states, quadratures and time: the accumulators, in the same order on both sides.
	z := w.Task.Size()
	in, out := z.N+z.Q+1, z.N+1
	at := map[tapec.Variation][2]int{tapec.Cotangent: {in, out}, tapec.CotangentTangent: {in * w.Width, out * w.Width}}
	for _, name := range p.Sums {
		b := key.With.Outs[outputIndex(key.With.Tape, name)]
		n, from := b.Hi-b.Lo, at[b.Vary]
		v.sums = append(v.sums, sumAt{
			w.Out[b.Vary][b.Vec][b.Lo:b.Hi],
			v.read[b.Vary][from[0] : from[0]+n], v.made[b.Vary][from[1] : from[1]+n],
		})
		at[b.Vary] = [2]int{from[0] + n, from[1] + n}
	}
	return true
}

// enter writes a step and how it moves to what the program reads.
func (v *movedSteps) enter(s *solvers.Step, d *solvers.StepTangent) {
	in, dot := v.read[tapec.Primal], v.read[tapec.Tangent]
	in[0], in[1], in[2] = s.T, s.H, s.T1
	copy(in[3:], s.Y0)
	copy(in[3+len(s.Y0):], s.K)
	for j, x := range d.T0 {
		dot[j] = x + d.H[j] // a tangent of -0 is 0 at a stage
	}
	copy(dot[len(d.T0):], d.Y0)
}

// PushStep implements solvers.TangentStepper.
func (w *Steps) PushStep(form *solvers.Arithmetic, s *solvers.Step, d *solvers.StepTangent) bool {
	v := &w.by(form).pushes
	if len(s.Y0) >= largeStates || v.Call == nil && !v.ready(w, w.Kit.OfTangent(form)) {
		return false
	}
	v.enter(s, d)
	v.RunBound(&w.In, &w.Out)
	made := v.made[tapec.Tangent]
	copy(d.Y1, made)
	copy(d.DQ, made[len(d.Y1):])
	for j, x := range d.T0 {
		d.T1[j] = x + d.H[j]
	}
	return true
}

// PullSecond is that of solvers.SecondStepPuller.
func (w *Steps) PullSecond(
	form *solvers.Arithmetic, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond,
) bool {
	v := &w.by(form).seconds
	if len(s.Y0) >= largeStates || v.Call == nil && !v.ready(w, w.Kit.OfSecond(form)) {
		return false
	}
	v.enter(s, d)
	in, out := &v.read, &v.made
	lay := func(to, y1, dq, t1 []float64) {
		n := copy(to, y1)
		n += copy(to[n:], dq)
		copy(to[n:], t1)
	}
	lay(in[tapec.Cotangent], c.Y1.X, c.DQ.X, c.T1.X)
	lay(in[tapec.CotangentTangent], c.Y1.D, c.DQ.D, c.T1.D)
	for i := range v.sums {
		copy(v.sums[i].in, v.sums[i].at)
	}
	v.RunBound(&w.In, &w.Out)
	copy(c.T0.X, out[tapec.Cotangent][copy(c.Y0.X, out[tapec.Cotangent]):])
	copy(c.T0.D, out[tapec.CotangentTangent][copy(c.Y0.D, out[tapec.CotangentTangent]):])
	for i := range v.sums {
		copy(v.sums[i].at, v.sums[i].out)
	}
	return true
}
