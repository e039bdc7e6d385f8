package system

import (
	"slices"
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Steps of a small model cost more between its right-hand sides than in them. After many steps whole steps
// are therefore compiled, and their transposes. Each is one program (steptape.go) that gives the bits of the
// stages one by one. Workers with the same rates share it, and count their steps together: those of a model and
// of its experiments.

// CompileAfter says after how many steps whole steps are compiled. By then, compiling costs no more than it
// saves; both grow with the size of the model.
type CompileAfter struct {
	Small int // steps of a small model
	Large int // steps of a large model whose instructions compute largeMean elements each; see there
}

var compileAfter = CompileAfter{Small: 4000, Large: 170}

// wholeWork is the most elements that a step of a small model may compute.
const wholeWork = 8192

// wholeProgram is a step or its transpose, compiled.
type wholeProgram struct {
	*program
	shared, laned, made, plain int // elements of its vectors
	sums                       []string
	notes                      []noteAt

	kept  int             // where the factors of a solved step are in what it makes
	fixed map[int]float64 // those that are constants

	moved movedProgram // of tangents
}

// noteAt says where a factor is in the memory of the program, and where it goes in a stage's record of
// the ledger.
type noteAt struct {
	first   bool // of its stage
	perLane bool
	from    int
	to, n   int
}

// wholes are the programs of whole steps that belong to one program of rates, and how many steps have been made
// without them. Goroutines may share them.
type wholes struct {
	mu       sync.Mutex
	programs map[wholeKey]*wholeProgram // nil for one that would be too large
	steps    map[wholeKey]*atomic.Int64
}

// wholeKey says what a program of whole steps is of, besides the rates.
type wholeKey struct {
	form        *solvers.Arithmetic
	back, fresh bool // fresh: with the first row of K
	tangent     bool // the tangent of a step, or of its transpose
	exchanges   string
	guards      bool     // their readings, not a step
	peaks       bool     // readings of what is to be largest
	with        *program // what is read, or a derivative of the rates; nil for neither
	kit         *Kit     // of steps that solve equations, which depend on more of it; else nil
}

// ofGuards, ofPeaks, ofStep and ofTranspose return the keys of programs of k.
func (k *Kit) ofGuards(form *solvers.Arithmetic) wholeKey {
	return wholeKey{form: form, guards: true, with: k.value.Get(tapec.PartGuards)}
}

func (k *Kit) ofPeaks(form *solvers.Arithmetic) wholeKey {
	return wholeKey{form: form, peaks: true, with: k.value.Get(tapec.PartPeaks)}
}

func (k *Kit) ofStep(form *solvers.Arithmetic) wholeKey { return wholeKey{form: form} }

func (k *Kit) ofTranspose(form *solvers.Arithmetic) wholeKey {
	return wholeKey{form: form, back: true, with: k.pull.Get(tapec.PartRates)}
}

// whole returns the program with a key. It is compiled once.
func (k *Kit) whole(key wholeKey, compile func() *wholeProgram) *wholeProgram {
	w := &k.value.Get(tapec.PartRates).wholes
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.programs[key]
	if !ok {
		p = compile()
		if w.programs == nil {
			w.programs = map[wholeKey]*wholeProgram{}
		}
		w.programs[key] = p
	}
	return p
}

// steps returns the count of steps made without the program with a key.
func (k *Kit) steps(key wholeKey) *atomic.Int64 {
	w := &k.value.Get(tapec.PartRates).wholes
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.steps[key]
	if n == nil {
		n = new(atomic.Int64)
		if w.steps == nil {
			w.steps = map[wholeKey]*atomic.Int64{}
		}
		w.steps[key] = n
	}
	return n
}

// newReading compiles the readings of guards at all points of a step by form.
func newReading(k *Kit, form *solvers.Arithmetic) *wholeProgram {
	m := newStepMaker(k.layout, k.value.Get(tapec.PartRates).tape, form)
	return readings(k, m, m.reading(k.value.Get(tapec.PartGuards).tape))
}

// newSampling compiles the readings of what is to be largest, and of its slopes, at the samples of a step by form.
func newSampling(k *Kit, form *solvers.Arithmetic) *wholeProgram {
	m := newStepMaker(k.layout, k.value.Get(tapec.PartRates).tape, form)
	return readings(k, m, m.sampling(k.value.Get(tapec.PartPeaks).tape, k.slopesTape()))
}

// slopesTape returns the tape of the slopes of what is to be largest; nil where nothing of that moves.
func (k *Kit) slopesTape() *tape.Tape {
	if k.slopes == nil {
		return nil
	}
	return k.slopes.tape
}

// readings compiles the tape of readings that m has made.
func readings(k *Kit, m *stepMaker, t *tape.Tape) *wholeProgram {
	if elements(t, 1) > wholeWork {
		return nil
	}
	p, err := k.family.program(t, m.find(k.layout.Find), 1, nil)
	if err != nil {
		return nil // readings one by one do as well
	}
	return &wholeProgram{program: p, shared: m.shared, made: m.made}
}

func newWhole(k *Kit, form *solvers.Arithmetic, back bool) *wholeProgram {
	l := k.layout
	rates, pull := k.value.Get(tapec.PartRates), (*tape.Tape)(nil)
	if back {
		pull = k.pull.Get(tapec.PartRates).tape
	}
	if form.Stages*(elements(rates.tape, 1)+elements(pull, k.lanes)) > wholeWork {
		return nil
	}
	m := newStepMaker(l, rates.tape, form)
	var t *tape.Tape
	var sums []string
	lanes := 1
	if back {
		t, sums = m.backward(pull, noteOf(k))
		lanes = k.lanes
	} else {
		t = m.forward()
	}
	if elements(t, lanes) > wholeWork {
		return nil
	}
	return compiled(k, &wholeProgram{}, m, t, sums, lanes)
}

// compiled compiles the tape that m has made into out.
func compiled(k *Kit, out *wholeProgram, m *stepMaker, t *tape.Tape, sums []string, lanes int) *wholeProgram {
	p, err := k.family.program(t, m.find(k.layout.Find), lanes, nil)
	if err != nil {
		return nil // the stages one by one do as well
	}
	out.program, out.shared, out.laned, out.made, out.plain = p, m.shared, m.laned*lanes, m.made*lanes, m.plain
	out.sums = sums
	for i, f := range m.notes {
		name, pull := f.made(), k.pull.Get(tapec.PartRates)
		to := pull.outs[outputIndex(pull.tape, f.name)]
		at := noteAt{
			first: i == 0 || m.notes[i-1].stage != f.stage, perLane: f.perLane, from: m.places[name].Offset,
			to: to.lo, n: to.hi - to.lo,
		}
		if f.perLane {
			at.from = m.places[name.Bar()].Offset * lanes
		}
		out.notes = append(out.notes, at)
	}
	return out
}

// noteOf returns what reports whether an output of the rates' transpose is a factor for the ledger.
func noteOf(k *Kit) func(output string) bool {
	return func(output string) bool {
		p := k.pull.Get(tapec.PartRates)
		return p.outs[outputIndex(p.tape, output)].vec == vec.Factors
	}
}

func outputIndex(t *tape.Tape, name string) int {
	return slices.IndexFunc(t.Outputs, func(o tape.Output) bool { return o.Name == name })
}

// elements counts what t computes. Lanes beyond eight take another vector of eight.
func elements(t *tape.Tape, lanes int) int {
	if t == nil {
		return 0
	}
	if lanes > 8 {
		lanes = (lanes + 7) / 8 * 8
	}
	n, each := 0, tape.PerLane(t)
	for i := range t.Instrs {
		size := t.Instrs[i].Shape.Size()
		if each[len(t.Inputs)+i] {
			size *= lanes
		}
		n += size
	}
	return n
}

// wholeSteps is a worker's use of a wholeProgram.
type wholeSteps struct {
	*call
	stages  int
	made    *atomic.Int64 // steps without it; nil before the first
	after   int           // how many of them are enough
	first   bool          // it was there for the first step
	never   bool          // there is none
	in, bar []float64
	out     []float64
	plain   []float64
	sums    []sumAt
	notes   []noteAt
}

// sumAt is an accumulator: where it is, where the program reads it, and where the program writes it.
type sumAt struct{ at, in, out []float64 }

// due counts a step without the program of key, and reports whether there have been enough of them. after says how many
// are.
func (v *wholeSteps) due(w *Worker, key wholeKey, after int) bool {
	begun := v.made == nil
	if begun {
		v.made, v.after = w.kit.steps(key), after
	}
	if v.never || v.made.Add(1) <= int64(v.after) {
		return false
	}
	v.first = begun
	return true
}

// ready reports whether there is the program of key. It compiles the program when enough steps have been made.
func (v *wholeSteps) ready(w *Worker, key wholeKey) bool {
	if v.call != nil {
		return true
	}
	if !v.due(w, key, w.problem.CompileAfter.Small) {
		return false
	}
	v.never = true
	p := w.kit.value.Get(tapec.PartRates)
	if p.code.Backend() == simd.Generic { // in Go, a sum of a step takes longer as an instruction for each of its terms
		return false
	}
	if !p.covers(tapec.Primal, vec.K, w.kit.layout.NY+w.kit.layout.NQ) ||
		key.back && (w.pull.Get(tapec.PartRates) == nil || w.shared != nil) {
		return false
	}
	q := w.kit.whole(key, func() *wholeProgram {
		switch {
		case key.guards:
			return newReading(w.kit, key.form)
		case key.peaks:
			return newSampling(w.kit, key.form)
		}
		return newWhole(w.kit, key.form, key.back)
	})
	if q != nil {
		v.stages = key.form.Stages
		v.bind(w, q, key.back, w.Size().N)
	}
	return v.call != nil
}

// bind gives the program memory of its own, for that many states.
func (v *wholeSteps) bind(w *Worker, p *wholeProgram, back bool, states int) {
	v.call = callOf(w, p.program)
	v.call.machine.Share(w.team)
	v.in, v.bar, v.out = make([]float64, p.shared), make([]float64, p.laned), make([]float64, p.made)
	w.in[tapec.Primal][vec.Step], w.in[tapec.Cotangent][vec.Step] = v.in, v.bar
	w.out[tapec.Primal][vec.Made], w.out[tapec.Cotangent][vec.Made] = v.out, v.out
	if !back {
		return
	}
	if v.notes = p.notes; p.plain > 0 {
		v.plain = make([]float64, p.plain)
		w.out[tapec.Primal][vec.Made] = v.plain
	}
	// Behind the states, quadratures and time: the accumulators, in the same order on both sides.
	l := w.lanes
	in, out := (states+w.Size().Q+1)*l, (states+1)*l
	for _, name := range p.sums {
		b := w.accumulator(name)
		n := b.hi - b.lo
		v.sums = append(v.sums, sumAt{w.out[b.vary][b.vec][b.lo:b.hi], v.bar[in : in+n], v.out[out : out+n]})
		in, out = in+n, out+n
	}
}

// accumulator returns where the transposes of stages add up what has a name.
func (w *Worker) accumulator(name string) binding {
	p := w.pull.Get(tapec.PartRates).program
	i := outputIndex(p.tape, name)
	if i < 0 {
		p = w.pull.Get(tapec.PartJacobian).program
		i = outputIndex(p.tape, name)
	}
	return p.outs[i]
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
func (w *Worker) by(form *solvers.Arithmetic) *formed {
	if w.whole == nil || w.whole.form != form {
		w.change(form)
	}
	return w.whole
}

// change makes w.whole what is known of whole steps by form.
func (w *Worker) change(form *solvers.Arithmetic) {
	i := slices.IndexFunc(w.wholes, func(f *formed) bool { return f.form == form })
	if i < 0 {
		i = len(w.wholes)
		w.wholes = append(w.wholes, &formed{form: form})
	}
	w.whole = w.wholes[i]
}

// made returns the programs of whole steps and of their transposes; nil where there is none.
func (w *Worker) made() (step, back *program) {
	for _, f := range w.wholes {
		for i, v := range f.all() {
			switch {
			case v.call == nil:
			case i < 3:
				step = v.program
			case i < 5:
				back = v.program
			}
		}
	}
	for _, v := range w.solveds {
		if v.steps.call != nil {
			step = v.steps.program
		}
		if v.pulls.call != nil {
			back = v.pulls.program
		}
	}
	return step, back
}

// MakeStep implements solvers.Stepper.
func (w *Worker) MakeStep(form *solvers.Arithmetic, s *solvers.Step, reuse bool) bool {
	if w.keeping != nil {
		return false
	}
	if len(s.Y0) >= largeStates {
		return w.makeLarge(form, s, reuse)
	}
	v := &w.by(form).steps
	if v.call == nil && !v.ready(w, w.kit.ofStep(form)) {
		return false
	}
	n, k := len(s.Y0), len(s.Y0)+len(s.DQ)
	if !reuse {
		w.Eval(s.T, s.Y0, s.K[:k:k])
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	copyFew(v.in[3:], s.Y0)
	copyFew(v.in[3+n:], s.K[:k])
	v.runBound(&w.in, &w.out)
	end := (v.stages - 1) * k
	copy(s.K[k:], v.out[:end])
	copyFew(s.Y1, v.out[end:end+n])
	copyFew(s.DQ, v.out[end+n:end+k])
	if e := v.out[end+k:]; len(e) > 0 && len(s.E) > 0 {
		s.Estimated = true
		copy(s.E, e)
	}
	return true
}

// PullStep implements solvers.StepPuller.
func (w *Worker) PullStep(form *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent) bool {
	if v := w.reading; v != nil && v.made > 0 && v.version == w.version {
		return false
	}
	if len(s.Y0) >= largeStates {
		return w.pullLarge(form, s, c)
	}
	v := &w.by(form).pulls
	if v.call == nil && !v.ready(w, w.kit.ofTranspose(form)) {
		return false
	}
	copy(v.in[3+len(s.Y0):], s.K)
	w.pullBy(v, s, c)
	return true
}

// pullBy runs the program of a transpose, which has been given the stages.
func (w *Worker) pullBy(v *wholeSteps, s *solvers.Step, c *solvers.StepCotangent) {
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	copy(v.in[3:], s.Y0)
	copy(v.bar, c.Y1)
	copy(v.bar[len(c.Y1):], c.DQ)
	copy(v.bar[len(c.Y1)+len(c.DQ):], c.T1)
	for i := range v.sums {
		copy(v.sums[i].in, v.sums[i].at)
	}
	v.runBound(&w.in, &w.out)
	copy(c.Y0, v.out)
	copy(c.T0, v.out[len(c.Y0):])
	for i := range v.sums {
		copy(v.sums[i].at, v.sums[i].out)
	}
	var record []float64
	for i := range v.notes {
		f := &v.notes[i]
		if f.first {
			record = w.book.next()
		}
		from := v.plain
		if f.perLane {
			from = v.out
		}
		copy(record[f.to:f.to+f.n], from[f.from:])
	}
}

// ReadGuards implements solvers.GuardReader.
func (w *Worker) ReadGuards(form *solvers.Arithmetic, s *solvers.Step, rho []float64, truth []bool) bool {
	if len(s.Y0) >= largeStates {
		return false // few of them are read, as a rule
	}
	v := &w.by(form).guards
	if v.call == nil && !v.ready(w, w.kit.ofGuards(form)) {
		return false
	}
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	n := 3 + copy(v.in[3:], s.Y0)
	n += copy(v.in[n:], s.K[:form.Rows*(len(s.Y0)+len(s.DQ))])
	copy(v.in[n:], s.Y1)
	v.runBound(&w.in, &w.out)
	for i, x := range v.out[copy(rho, v.out):] {
		truth[i] = x != 0
	}
	return true
}
