package system

import (
	"odes.dev/odes/internal/base/simd"
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

// movedProgram is what a wholeProgram says of a program with tangents: elements of its vectors, in each variation.
type movedProgram struct {
	read, made [tapec.NumVariations]int
}

// movedSteps is a worker's use of a program of steps with tangents.
type movedSteps struct {
	wholeSteps
	read, made [tapec.NumVariations][]float64 // its vectors
}

// ofTangent and ofSecond return the keys of programs of k.
func (k *Kit) ofTangent(form *solvers.Arithmetic) wholeKey {
	return wholeKey{form: form, tangent: true, with: k.push.Get(tapec.PartRates)}
}

func (k *Kit) ofSecond(form *solvers.Arithmetic) wholeKey {
	return wholeKey{form: form, tangent: true, back: true, with: k.second.Get(tapec.PartRates)}
}

// newMoved compiles a tangent of steps, or of their transposes. It returns nil if that is not worth the time.
func newMoved(k *Kit, key wholeKey) *wholeProgram {
	rates, push := k.value.Get(tapec.PartRates).tape, k.push.Get(tapec.PartRates).tape
	work := elements(rates, 1) + elements(push, k.lanes)
	if key.back {
		work += elements(key.with.tape, k.lanes)
	}
	if key.form.Stages*work > movedWork {
		return nil
	}
	m := newMovedMaker(k.layout, rates, push, key.form, false)
	var t *tape.Tape
	if key.back {
		t = m.backwardTangent(key.with.tape)
	} else {
		t = m.tangent()
	}
	if elements(t, k.lanes) > movedWork {
		return nil
	}
	p, err := k.family.program(t, m.find(k.moved), k.lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	m.read[tapec.Primal] = m.shared
	return &wholeProgram{program: p, sums: m.sums, moved: movedProgram{m.read, m.put}}
}

// ready reports whether there is the program of key. It compiles the program when enough steps have been made.
func (v *movedSteps) ready(w *Worker, key wholeKey) bool {
	if v.call != nil {
		return true
	}
	if !v.due(w, key, w.problem.CompileAfter.Small/movedSooner) {
		return false
	}
	v.never = true
	k := w.kit
	if rates := k.value.Get(tapec.PartRates); key.with == nil || k.push.Get(tapec.PartRates) == nil ||
		rates.code.Backend() == simd.Generic || !rates.covers(tapec.Primal, vec.K, k.layout.NY+k.layout.NQ) {
		return false
	}
	p := k.whole(key, func() *wholeProgram { return newMoved(k, key) })
	if p == nil {
		return false
	}
	v.call = callOf(w, p.program)
	v.call.machine.Share(w.team)
	for vary := range p.moved.read {
		lanes := 1
		if vary := tapec.Variation(vary); vary == tapec.Tangent || vary == tapec.CotangentTangent {
			lanes = w.lanes
		}
		v.read[vary] = make([]float64, p.moved.read[vary]*lanes)
		v.made[vary] = make([]float64, p.moved.made[vary]*lanes)
		w.in[vary][vec.Step], w.out[vary][vec.Made] = v.read[vary], v.made[vary]
	}
	// Behind the states, quadratures and time: the accumulators, in the same order on both sides.
	z := w.Size()
	in, out := z.N+z.Q+1, z.N+1
	at := map[tapec.Variation][2]int{tapec.Cotangent: {in, out}, tapec.CotangentTangent: {in * w.lanes, out * w.lanes}}
	for _, name := range p.sums {
		b := key.with.outs[outputIndex(key.with.tape, name)]
		n, from := b.hi-b.lo, at[b.vary]
		v.sums = append(v.sums, sumAt{
			w.out[b.vary][b.vec][b.lo:b.hi],
			v.read[b.vary][from[0] : from[0]+n], v.made[b.vary][from[1] : from[1]+n],
		})
		at[b.vary] = [2]int{from[0] + n, from[1] + n}
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
func (w *Worker) PushStep(form *solvers.Arithmetic, s *solvers.Step, d *solvers.StepTangent) bool {
	v := &w.by(form).pushes
	if len(s.Y0) >= largeStates || v.call == nil && !v.ready(w, w.kit.ofTangent(form)) {
		return false
	}
	v.enter(s, d)
	v.runBound(&w.in, &w.out)
	made := v.made[tapec.Tangent]
	copy(d.Y1, made)
	copy(d.DQ, made[len(d.Y1):])
	for j, x := range d.T0 {
		d.T1[j] = x + d.H[j]
	}
	return true
}

// PullPushStep implements solvers.SecondStepPuller.
func (w *SecondWorker) PullPushStep(
	form *solvers.Arithmetic, s *solvers.Step, d *solvers.StepTangent, c *solvers.StepSecond,
) bool {
	v := &w.by(form).seconds
	if len(s.Y0) >= largeStates || v.call == nil && !v.ready(w.Worker, w.kit.ofSecond(form)) {
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
	v.runBound(&w.in, &w.out)
	copy(c.T0.X, out[tapec.Cotangent][copy(c.Y0.X, out[tapec.Cotangent]):])
	copy(c.T0.D, out[tapec.CotangentTangent][copy(c.Y0.D, out[tapec.CotangentTangent]):])
	for i := range v.sums {
		copy(v.sums[i].at, v.sums[i].out)
	}
	return true
}
