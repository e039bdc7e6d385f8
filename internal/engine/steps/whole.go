package steps

import (
	"slices"
	"sync/atomic"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Steps of a small model cost more between its right-hand sides than in them. After many steps whole steps
// are therefore compiled, and their transposes. Each is one program (steptape.go) that gives the bits of the
// stages one by one. Workers with the same rates share it, and count their steps together: those of a model and
// of its experiments.

// wholeWork is the most elements that a step of a small model may compute.
const wholeWork = 8192

// newReading compiles the readings of guards at all points of a step by form.
func newReading(k *compiled.Kit, form *solvers.Arithmetic) *compiled.WholeProgram {
	m := newStepMaker(k.Layout, k.Value.Get(tapec.PartRates).Tape, form)
	return readings(k, m, m.reading(k.Value.Get(tapec.PartGuards).Tape))
}

// newSampling compiles the readings of what is to be largest, and of its slopes, at the samples of a step by form.
func newSampling(k *compiled.Kit, form *solvers.Arithmetic) *compiled.WholeProgram {
	m := newStepMaker(k.Layout, k.Value.Get(tapec.PartRates).Tape, form)
	return readings(k, m, m.sampling(k.Value.Get(tapec.PartPeaks).Tape, k.SlopesTape()))
}

// readings compiles the tape of readings that m has made.
func readings(k *compiled.Kit, m *stepMaker, t *tape.Tape) *compiled.WholeProgram {
	if compiled.Elements(t, 1) > wholeWork {
		return nil
	}
	p, err := k.Family.Program(t, m.find(k.Layout.Find), 1, nil)
	if err != nil {
		return nil // readings one by one do as well
	}
	return &compiled.WholeProgram{Program: p, Shared: m.shared, Made: m.made}
}

func newWhole(k *compiled.Kit, form *solvers.Arithmetic, back bool) *compiled.WholeProgram {
	l := k.Layout
	rates, pull := k.Value.Get(tapec.PartRates), (*tape.Tape)(nil)
	if back {
		pull = k.Pull.Get(tapec.PartRates).Tape
	}
	if form.Stages*(compiled.Elements(rates.Tape, 1)+compiled.Elements(pull, k.Lanes)) > wholeWork {
		return nil
	}
	m := newStepMaker(l, rates.Tape, form)
	if l.NLags > 0 {
		m.readPast(l)
	}
	var t *tape.Tape
	var sums []string
	lanes := 1
	if back {
		t, sums = m.backward(pull, noteOf(k))
		lanes = k.Lanes
	} else {
		t = m.forward()
	}
	if compiled.Elements(t, lanes) > wholeWork {
		return nil
	}
	return programOf(k, &compiled.WholeProgram{}, m, t, sums, lanes)
}

// programOf compiles the tape that m has made into out.
func programOf(
	k *compiled.Kit, out *compiled.WholeProgram, m *stepMaker, t *tape.Tape, sums []string, lanes int,
) *compiled.WholeProgram {
	p, err := k.Family.Program(t, m.find(k.Layout.Find), lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	out.Program, out.Shared, out.Laned, out.Made, out.Plain = p, m.shared, m.laned*lanes, m.made*lanes, m.plain
	if out.Sums = sums; m.past != nil {
		out.Lags = m.past.at
	}
	for i, f := range m.notes {
		name, pull := f.made(), k.Pull.Get(tapec.PartRates)
		to := pull.Outs[outputIndex(pull.Tape, f.name)]
		at := compiled.NoteAt{
			First: i == 0 || m.notes[i-1].stage != f.stage, PerLane: f.perLane, From: m.places[name].Offset,
			To: to.Lo, N: to.Hi - to.Lo,
		}
		if f.perLane {
			at.From = m.places[name.Bar()].Offset * lanes
		}
		out.Notes = append(out.Notes, at)
	}
	return out
}

// noteOf returns what reports whether an output of the rates' transpose is a factor for the ledger.
func noteOf(k *compiled.Kit) func(output string) bool {
	return func(output string) bool {
		p := k.Pull.Get(tapec.PartRates)
		return p.Outs[outputIndex(p.Tape, output)].Vec == vec.Factors
	}
}

func outputIndex(t *tape.Tape, name string) int {
	return slices.IndexFunc(t.Outputs, func(o tape.Output) bool { return o.Name == name })
}

// wholeSteps is a worker's use of a wholeProgram.
type wholeSteps struct {
	*compiled.Call
	stages  int
	made    *atomic.Int64 // steps without it; nil before the first
	after   int           // how many of them are enough
	first   bool          // it was there for the first step
	never   bool          // there is none
	in, bar []float64
	out     []float64
	plain   []float64
	sums    []sumAt
	notes   []compiled.NoteAt
	past    int // where what is read of the past begins in in
}

// sumAt is an accumulator: where it is, where the program reads it, and where the program writes it.
type sumAt struct{ at, in, out []float64 }

// few are so many numbers that a loop is faster than a copy.
const few = 16

// read gives the program the sum so far.
func (s *sumAt) read() {
	if len(s.at) <= few {
		work.CopyFew(s.in, s.at)
		return
	}
	copy(s.in, s.at)
}

// write takes the sum from the program.
func (s *sumAt) write() {
	if len(s.out) <= few {
		work.CopyFew(s.at, s.out)
		return
	}
	copy(s.at, s.out)
}

// due counts a step without the program of key, and reports whether there have been enough of them. after says how many
// are.
func (v *wholeSteps) due(w *Steps, key compiled.WholeKey, after int) bool {
	begun := v.made == nil
	if begun {
		v.made, v.after = w.Kit.Steps(key), after
	}
	if v.never || v.made.Add(1) <= int64(v.after) {
		return false
	}
	v.first = begun
	return true
}

// ready reports whether there is the program of key. It compiles the program when enough steps have been made.
func (v *wholeSteps) ready(w *Steps, key compiled.WholeKey) bool {
	if v.Call != nil {
		return true
	}
	if !v.due(w, key, w.Task.CompileAfter.Small) {
		return false
	}
	v.never = true
	p := w.Kit.Value.Get(tapec.PartRates)
	if p.Code.Backend() == simd.Generic { // in Go, a sum of a step takes longer as an instruction for each of its terms
		return false
	}
	if !p.Covers(tapec.Primal, vec.K, w.Kit.Layout.NY+w.Kit.Layout.NQ) ||
		key.Back && (w.Transposes.Get(tapec.PartRates) == nil || w.Shared != nil) {
		return false
	}
	q := w.Kit.Whole(key, func() *compiled.WholeProgram {
		switch {
		case key.Guards:
			return newReading(w.Kit, key.Form)
		case key.Peaks:
			return newSampling(w.Kit, key.Form)
		}
		return newWhole(w.Kit, key.Form, key.Back)
	})
	if q != nil {
		v.stages = key.Form.Stages
		v.bind(w, q, key.Back, w.Task.Size().N)
	}
	return v.Call != nil
}

// bind gives the program memory of its own, for that many states.
func (v *wholeSteps) bind(w *Steps, p *compiled.WholeProgram, back bool, states int) {
	v.Call = w.CallOf(p.Program)
	v.Call.Machine.Share(w.Team())
	v.past = p.Lags
	v.in, v.bar, v.out = make([]float64, p.Shared), make([]float64, p.Laned), make([]float64, p.Made)
	w.In[tapec.Primal][vec.Step], w.In[tapec.Cotangent][vec.Step] = v.in, v.bar
	w.Out[tapec.Primal][vec.Made], w.Out[tapec.Cotangent][vec.Made] = v.out, v.out
	if !back {
		return
	}
	if v.notes = p.Notes; p.Plain > 0 {
		v.plain = make([]float64, p.Plain)
		w.Out[tapec.Primal][vec.Made] = v.plain
	}
	// Behind the states, quadratures and time: the accumulators, in the same order on both sides.
	l := w.Width
	in, out := (states+w.Task.Size().Q+1)*l, (states+1)*l
	for _, name := range p.Sums {
		b := w.accumulator(name)
		n := b.Hi - b.Lo
		v.sums = append(v.sums, sumAt{w.Out[b.Vary][b.Vec][b.Lo:b.Hi], v.bar[in : in+n], v.out[out : out+n]})
		in, out = in+n, out+n
	}
}

// accumulator returns where the transposes of stages add up what has a name.
func (w *Steps) accumulator(name string) compiled.Binding {
	p := w.Transposes.Get(tapec.PartRates).Program
	i := outputIndex(p.Tape, name)
	if i < 0 {
		p = w.Transposes.Get(tapec.PartJacobian).Program
		i = outputIndex(p.Tape, name)
	}
	return p.Outs[i]
}

// formed is a worker's use of the programs of whole steps by one arithmetic. A run may change between methods.
type formed struct {
	form         *solvers.Arithmetic
	steps, pulls wholeSteps
	large        largeSteps
	guards       wholeSteps // their readings
	peaks        wholeSteps
	peaksAt      [2][]int   // where values and slopes are among the readings at a sample; -1 for 0
	pushes       movedSteps // tangents
	seconds      movedSteps // tangents of transposes
}

// all returns the use of each program.
func (f *formed) all() []*wholeSteps {
	l := &f.large
	return []*wholeSteps{
		&f.steps, &l.first.wholeSteps, &l.next.wholeSteps, &f.pulls, &l.back.wholeSteps, &f.guards,
		&f.pushes.wholeSteps, &f.seconds.wholeSteps, &f.peaks,
	}
}

// by returns what is known of whole steps by form.
func (w *Steps) by(form *solvers.Arithmetic) *formed {
	if w.whole == nil || w.whole.form != form {
		w.change(form)
	}
	return w.whole
}

// change makes w.whole what is known of whole steps by form.
func (w *Steps) change(form *solvers.Arithmetic) {
	i := slices.IndexFunc(w.wholes, func(f *formed) bool { return f.form == form })
	if i < 0 {
		i = len(w.wholes)
		w.wholes = append(w.wholes, &formed{form: form})
	}
	w.whole = w.wholes[i]
}

// made returns the programs of whole steps and of their transposes; nil where there is none.
func (w *Steps) made() (step, back *compiled.Program) {
	for _, f := range w.wholes {
		for i, v := range f.all() {
			switch {
			case v.Call == nil:
			case i < 3:
				step = v.Program
			case i < 5:
				back = v.Program
			}
		}
	}
	for _, v := range w.solveds {
		if v.steps.Call != nil {
			step = v.steps.Program
		}
		if v.pulls.Call != nil {
			back = v.pulls.Program
		}
	}
	return step, back
}

// MakeStep implements solvers.Stepper.
func (w *Steps) MakeStep(form *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	if w.Keeping != nil || w.Kit.Layout.NLags > 0 {
		return false
	}
	if len(s.Y0) >= largeStates {
		return w.makeLarge(form, s, reuse)
	}
	v := &w.by(form).steps
	if v.Call == nil && !v.ready(w, w.Kit.OfStep(form)) {
		return false
	}
	n, k := len(s.Y0), len(s.Y0)+len(s.DQ)
	if !reuse {
		w.Field.Eval(s.T, s.Y0, s.K[:k:k])
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	work.CopyFew(v.in[3:], s.Y0)
	work.CopyFew(v.in[3+n:], s.K[:k])
	v.RunBound(&w.In, &w.Out)
	end := (v.stages - 1) * k
	copy(s.K[k:], v.out[:end])
	work.CopyFew(s.Y1, v.out[end:end+n])
	work.CopyFew(s.DQ, v.out[end+n:end+k])
	if e := v.out[end+k:]; len(e) > 0 && len(s.E) > 0 {
		s.Estimated = true
		copy(s.E, e)
	}
	return true
}

// PullStep implements solvers.StepPuller.
func (w *Steps) PullStep(form *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent) bool {
	if v := w.reading; v != nil && v.made > 0 && v.version == w.Version || w.Kit.Layout.NLags > 0 {
		return false
	}
	if len(s.Y0) >= largeStates {
		return w.pullLarge(form, s, c)
	}
	v := &w.by(form).pulls
	if v.Call == nil && !v.ready(w, w.Kit.OfTranspose(form)) {
		return false
	}
	copy(v.in[3+len(s.Y0):], s.K)
	w.pullBy(v, s, c)
	return true
}

// pullBy runs the program of a transpose, which has been given the stages.
func (w *Steps) pullBy(v *wholeSteps, s *solvers.Step, c *solvers.StepCotangent) {
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	work.CopyFew(v.in[3:], s.Y0)
	work.CopyFew(v.bar, c.Y1)
	work.CopyFew(v.bar[len(c.Y1):], c.DQ)
	work.CopyFew(v.bar[len(c.Y1)+len(c.DQ):], c.T1)
	for i := range v.sums {
		v.sums[i].read()
	}
	v.RunBound(&w.In, &w.Out)
	work.CopyFew(c.Y0, v.out[:len(c.Y0)])
	work.CopyFew(c.T0, v.out[len(c.Y0):][:len(c.T0)])
	for i := range v.sums {
		v.sums[i].write()
	}
	var record []float64
	for i := range v.notes {
		f := &v.notes[i]
		if f.First {
			record = w.Book.Next()
		}
		from := v.plain
		if f.PerLane {
			from = v.out
		}
		copy(record[f.To:f.To+f.N], from[f.From:])
	}
}

// ReadGuards implements solvers.GuardReader.
func (w *Steps) ReadGuards(form *solvers.Arithmetic, s *solvers.Step, rho []float64, truth []bool) bool {
	if len(s.Y0) >= largeStates {
		return false // few of them are read, as a rule
	}
	v := &w.by(form).guards
	if v.Call == nil && !v.ready(w, w.Kit.OfGuards(form)) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	n := 3 + copy(v.in[3:], s.Y0)
	n += copy(v.in[n:], s.K[:form.Rows*(len(s.Y0)+len(s.DQ))])
	copy(v.in[n:], s.Y1)
	v.RunBound(&w.In, &w.Out)
	for i, x := range v.out[copy(rho, v.out):] {
		truth[i] = x != 0
	}
	return true
}
