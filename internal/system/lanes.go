package system

import (
	"math"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Lanes makes whole steps of several runs of one model at once, and their transposes: each in a lane of its own, with
// its own time, length and params. Its programs are those of single steps (steptape.go), of which every input has a
// copy for each lane; so a lane has the bits that its run has alone. It implements solvers.LaneStepper.
type Lanes struct {
	rows solvers.LaneRows
	size solvers.Size
	// Programs of steps that solve equations exchange rows in one way each; others have one. Lanes that want another
	// way than the rest are given it by a further run of the block.
	ways  []laneWay
	way   [solvers.LaneCount]int // of each lane: that of its last step
	asked []askedWay
	write func(exchanges []float64) bool // appends to ways
	other []float64                      // what a further run makes
	reads laneCall                       // of guards; of a zero value where they cannot be read in lanes
	read  []float64                      // what it writes: ρ at each point and then the truths
	// What reads the samples of largest values, as reads does guards; what that writes, where it has each row of what
	// solvers.LaneStepper has, -1 for zeros, and these rows.
	sample    laneCall
	sampled   []float64
	samplesAt []int
	samples   []float64

	// params, modes and what is hoisted from them: [elements][lanes]
	steady [numVectors][]float64
	// The accumulators of the transpose, and where they are in each lane: those of the Worker of.
	sums []laneSum
	at   [solvers.LaneCount][][]float64
	of   [solvers.LaneCount]*Worker
	// What the transpose reads for each of the objectives that are swept together, [rows][lanes]: cotangents of Y1, DQ
	// and T1, and the accumulators; then those of Ends, which are written for the first.
	bars [][]float64
	// What it writes: those of Y0 and T0, and the accumulators; then those of the lengths of steps.
	made []float64
	ends int // where in bars the rows of Ends begin
	sown int // and where those of Sow do
	// The tangents of each direction: those of time, of Y0 and of the quadratures, and those of steady vectors. made is
	// what Push writes.
	dots       [][]float64
	steadyDots [][numVectors][]float64

	lengths []float64               // [objectives][lanes] cotangents of the lengths of steps
	sowing  [solvers.LaneCount]bool // Pull takes in what Sow gave
	extend  laneCall                // makes the rows of the dense output; of a zero value where there are none
}

// laneSum is an accumulator: its name, and its first row among all.
type laneSum struct {
	name  string
	at, n int
}

// laneWay are the programs of steps and of their transposes with one sequence of exchanges of rows.
type laneWay struct {
	exchanges []float64
	step      laneCall
	back      laneCall // of a zero value where no derivatives are wanted
	push      laneCall // the tangent of step, where that is wanted
	ends      laneCall // and of steps whose ends move, where there are such
	seeded    laneCall // back for steps within which something is read, where there are such; ends is that for both
}

// askedWay is a sequence of exchanges without programs, and how many steps would have needed them.
type askedWay struct {
	exchanges []float64
	steps     int
}

const (
	// laneWays is how many sequences of exchanges may have programs. With more, lanes would seldom agree.
	laneWays = 6
	// laneAsked is how many steps are made one by one before there are programs for them. By then, compiling costs
	// about what it may save.
	laneAsked = 1000
	// laneAskedKinds is how many sequences are counted.
	laneAskedKinds = 64
	// laneArray is the most elements of an array whose copies for all lanes machine code has in registers. Those of
	// longer ones are loops, which take about as long as those of single runs.
	laneArray = 16
	// laneWork is the most elements that a step may compute in a lane. Lanes gain beyond what single runs make as a
	// whole, but less, and compiling takes ever longer to pay.
	laneWork = 24576
)

// laneCall is a program of lanes with its machine.
type laneCall struct {
	machine *vm.Machine
	// The vectors of a block: what is read, and what is written; and what a transpose or a tangent reads besides.
	in, made, bar int
	steady        [numVectors]int // the tangents of steady vectors; -1 for none
}

// laneSteady are the vectors that stay the same from step to step.
var laneSteady = []vector{vecP, vecD, vecM, vecC, vecE}

// Lanes returns what makes steps of the problem by form side by side. values is the kit of runs, and slopes that of
// transposes, of as many objectives at once as it has lanes, or of tangents; nil for values alone. like is what makes
// the steps of another member of the method, with which the result shares params and cotangents; nil for none. The
// result is nil where there is no such thing, as for large models.
func (p *Problem) Lanes(values, slopes *Kit, form *solvers.LaneForm, like *Lanes) *Lanes {
	pull, push := slopes, slopes
	if slopes != nil && slopes.pull == nil {
		pull = nil
	} else {
		push = nil
	}
	rates := values.value.Get(tapec.PartRates)
	size := p.Size()
	switch {
	case size.N > solvers.LaneStates,
		!rates.covers(tapec.Primal, vecK, size.N+size.Q),
		pull != nil && (pull.pull.Get(tapec.PartRates) == nil || pull.plan.record > 0 || pull.shared != nil),
		push != nil && push.push.Get(tapec.PartRates) == nil:
		return nil
	}
	if len(p.Peaks) > 0 {
		form.Peaks, form.Inside = true, true
	}
	l := &Lanes{size: size, rows: solvers.NewLaneRows(form, size)}
	l.rows.Timed = slices.ContainsFunc(rates.tape.Inputs, func(in tape.Input) bool {
		return tapec.MustName(in.Name).Role == tapec.Time
	})
	for v, n := range map[vector]int{
		vecP: values.layout.nP, vecD: values.layout.nD, vecM: values.layout.nM, vecC: values.layout.nC,
		vecE: values.layout.nE,
	} {
		l.steady[v] = make([]float64, max(n, 1)*solvers.LaneCount)
	}
	if like != nil {
		l.steady, l.sums, l.bars, l.ends, l.sown = like.steady, like.sums, like.bars, like.ends, like.sown
		l.dots, l.steadyDots = like.dots, like.steadyDots
	}
	l.write = func(exchanges []float64) bool {
		way := laneWay{exchanges: exchanges}
		var tapes laneTapes
		if form.Solved == nil {
			tapes = l.explicit(values, pull, push, form)
		} else {
			tapes = l.solved(values, pull, push, form, exchanges)
		}
		var ok bool
		if tapes.step == nil {
			return false
		}
		if way.step, ok = l.compile(tapes.step, tapes.stepFind); !ok {
			return false
		}
		if push != nil {
			l.pushed(push)
			if way.push, ok = l.compile(tapes.push, tapes.pushFind); !ok {
				return false
			}
		}
		if pull != nil {
			if !l.summed(tapes.back, tapes.sums, pull.lanes) {
				return false
			}
			if way.back, ok = l.compile(tapes.back, tapes.backFind); !ok {
				return false
			}
			if tapes.ends != nil {
				if way.ends, ok = l.compile(tapes.ends, tapes.endsFind); !ok {
					return false
				}
			}
			if tapes.seeded != nil {
				if way.seeded, ok = l.compile(tapes.seeded, tapes.seededFind); !ok {
					return false
				}
			}
		}
		l.ways = append(l.ways, way)
		return true
	}
	var first []float64
	if form.Solved != nil { // no exchanges
		l.other = make([]float64, l.rows.Block())
		for k := range form.Matrix.Analysis.Exchanges() {
			first = append(first, float64(k))
		}
	}
	if !l.write(first) || !l.extends(values, rates.tape, form) {
		return nil
	}
	if guards := values.value.Get(tapec.PartGuards); guards != nil && form.Solved == nil && form.Rows == form.Stages {
		l.guards(values, guards.tape, rates.tape, form)
	}
	if form.Peaks {
		l.peaks(values, p.Peaks, rates.tape, form)
	}
	return l
}

// pushed makes room for what tangents read and write, unless there is.
func (l *Lanes) pushed(push *Kit) {
	if l.made != nil {
		return
	}
	l.made = make([]float64, (1+l.size.N+l.size.Q)*solvers.LaneCount)
	for range push.lanes - len(l.dots) { // none of those that are shared with the other member
		var steady [numVectors][]float64
		for v, n := range map[vector]int{
			vecP: push.plan.width, vecD: push.layout.nD, vecC: push.layout.nC, vecE: push.layout.nE,
		} {
			steady[v] = make([]float64, max(n, 1)*solvers.LaneCount)
		}
		l.dots, l.steadyDots = append(l.dots, make([]float64, len(l.made))), append(l.steadyDots, steady)
	}
}

// EnterPush implements solvers.LaneStepper. sys is a Worker of the model, with the lanes of the kit of tangents.
func (l *Lanes) EnterPush(lane int, sys solvers.TangentSystem) {
	w := sys.(*Worker)
	for k := range l.steadyDots {
		for v, to := range l.steadyDots[k] {
			if to == nil {
				continue
			}
			for i, from := 0, w.in[tapec.Tangent][v]; i*w.lanes < len(from); i++ {
				to[i*solvers.LaneCount+lane] = from[i*w.lanes+k]
			}
		}
	}
}

// LayPush implements solvers.LaneStepper.
func (l *Lanes) LayPush(lane, n int, td, yd, qd []float64) {
	at, width := lane, len(l.dots)
	for _, from := range [][]float64{td, yd, qd} {
		at = lay(l.dots[:n], at, from, width)
	}
}

// Push implements solvers.LaneStepper.
func (l *Lanes) Push(block []float64, n int) {
	for w, is := range l.served(block) {
		if is {
			l.push(&l.ways[w].push, block, n)
		}
	}
}

func (l *Lanes) push(c *laneCall, block []float64, n int) {
	c.machine.MoveVector(c.in, block)
	for k := range n {
		for v, at := range c.steady {
			if at >= 0 {
				c.machine.MoveVector(at, l.steadyDots[k][v])
			}
		}
		c.machine.MoveVector(c.bar, l.dots[k])
		c.machine.MoveVector(c.made, l.made)
		c.machine.Run()
		l.dots[k], l.made = l.made, l.dots[k]
	}
}

// TakePush implements solvers.LaneStepper.
func (l *Lanes) TakePush(lane, n int, td, yd, qd []float64) {
	at, width := lane, len(l.dots)
	for _, to := range [][]float64{td, yd, qd} {
		take(l.dots[:n], at, to, width)
		at += len(to) / width * solvers.LaneCount
	}
}

// extends compiles what makes the rows of the dense output, if there are any, and reports whether it could.
func (l *Lanes) extends(values *Kit, rates *tape.Tape, form *solvers.LaneForm) (ok bool) {
	if l.rows.Extra == 0 {
		return true
	}
	m := newMaker(values.layout, rates, form.Arithmetic, true)
	m.from = 0
	t := m.extension()
	if everyLane(t) {
		l.extend, ok = l.compile(t, m.find(values.layout.find))
	}
	return ok
}

// guards compiles what reads the guards, if they differ from lane to lane. A block has its inputs in their order.
func (l *Lanes) guards(values *Kit, guards, rates *tape.Tape, form *solvers.LaneForm) {
	m := newMaker(values.layout, rates, form.Arithmetic, true)
	t := m.reading(guards)
	if !everyLane(t) || elements(t, solvers.LaneCount) > solvers.LaneCount*wholeWork {
		return
	}
	if c, ok := l.compile(t, m.find(values.layout.find)); ok {
		l.reads, l.read = c, make([]float64, m.made*solvers.LaneCount)
	}
}

// peaks compiles what reads the samples of largest values, if all of it differs from lane to lane.
func (l *Lanes) peaks(values *Kit, peaks []int, rates *tape.Tape, form *solvers.LaneForm) {
	if len(form.Samples) == 0 {
		return
	}
	m := newMaker(values.layout, rates, form.Arithmetic, true)
	m.block = &l.rows
	tapes := [2]*tape.Tape{values.value.Get(tapec.PartPeaks).tape, values.slopesTape()}
	t := m.sampling(tapes[0], tapes[1])
	if !everyLane(t) || elements(t, solvers.LaneCount) > solvers.LaneCount*wholeWork {
		return
	}
	if c, ok := l.compile(t, m.find(values.layout.find)); ok {
		l.sample, l.sampled = c, make([]float64, m.made*solvers.LaneCount)
		heights := 0
		for _, o := range tapes[0].Outputs {
			heights += tapes[0].Shape(o.Value).Size()
		}
		each := (m.made - 3*heights) / len(form.Samples)
		at := values.peaksAt(peaks)
		for k := range at {
			for i := range form.Samples {
				for _, row := range at[k] {
					if row >= 0 {
						row += i * each
					}
					l.samplesAt = append(l.samplesAt, row)
				}
			}
		}
		for k := range 3 {
			for _, row := range at[0] {
				l.samplesAt = append(l.samplesAt, len(form.Samples)*each+k*heights+row)
			}
		}
		l.samples = make([]float64, len(l.samplesAt)*solvers.LaneCount)
	}
}

// ReadSamples implements solvers.LaneStepper.
func (l *Lanes) ReadSamples(block []float64) []float64 {
	if l.samples == nil {
		return nil
	}
	l.sample.machine.MoveVector(l.sample.in, block)
	l.sample.machine.MoveVector(l.sample.made, l.sampled)
	l.sample.machine.Run()
	for i, at := range l.samplesAt {
		if at >= 0 {
			copy(l.samples[i*solvers.LaneCount:][:solvers.LaneCount], l.sampled[at*solvers.LaneCount:])
		}
	}
	return l.samples
}

// laneTapes are the tapes of a step and of its transpose, and where their names lie. There are none where they would be
// too large.
type laneTapes struct {
	step, back, push, ends, seeded                     *tape.Tape
	stepFind, backFind, pushFind, endsFind, seededFind finder
	sums                                               []string
}

// explicit returns the tapes of methods with explicit stages.
func (l *Lanes) explicit(values, pull, push *Kit, form *solvers.LaneForm) (t laneTapes) {
	rates := values.value.Get(tapec.PartRates).tape
	m := newMaker(values.layout, rates, form.Arithmetic, true)
	if !form.FSAL {
		m.from = 0
	}
	m.tol = form.Tolerance
	step := m.forward()
	if !everyLane(step) || !gains(step) {
		return t
	}
	if push != nil {
		d := newMovedMaker(push.layout, rates, push.push.Get(tapec.PartRates).tape, form.Arithmetic, true)
		t.push = d.tangents(&part{vecStep, l.rows.Mask, 1})
		if !everyLane(t.push) || elements(t.push, solvers.LaneCount) > solvers.LaneCount*movedWork {
			return t
		}
		t.pushFind = d.find(push.moved)
	}
	if pull != nil {
		back := newMaker(pull.layout, rates, form.Arithmetic, true)
		mask := part{vecStep, l.rows.Mask, 1}
		back.mask = back.input("mask", nil, &mask)
		if curl := pull.pull.Get(tapec.PartJacobian); curl != nil {
			back.curl = curl.tape
		}
		t.back, t.sums = back.backward(pull.pull.Get(tapec.PartRates).tape, func(string) bool { return false })
		if !everyLane(t.back) {
			return t
		}
		t.backFind = back.find(pull.layout.find)
		l.placed(back.laned)
		if form.Moves {
			ends := newMaker(pull.layout, rates, form.Arithmetic, true)
			ends.moving, ends.curl, ends.sown = true, back.curl, l.within(form)
			t.ends, _ = ends.backward(pull.pull.Get(tapec.PartRates).tape, func(string) bool { return false })
			t.endsFind = ends.find(pull.layout.find)
		}
		if form.Inside {
			seeded := newMaker(pull.layout, rates, form.Arithmetic, true)
			seeded.mask, seeded.curl, seeded.sown = seeded.input("mask", nil, &mask), back.curl, l.within(form)
			t.seeded, _ = seeded.backward(pull.pull.Get(tapec.PartRates).tape, func(string) bool { return false })
			t.seededFind = seeded.find(pull.layout.find)
		}
	}
	t.step, t.stepFind = step, m.find(values.layout.find)
	return t
}

// solved returns the tapes of methods that solve equations, with these exchanges of rows.
func (l *Lanes) solved(values, pull, push *Kit, form *solvers.LaneForm, exchanges []float64) (t laneTapes) {
	straight := form.Matrix.Analysis.Straight(exchanges)
	rates, jacobian := values.value.Get(tapec.PartRates).tape, values.value.Get(tapec.PartJacobian)
	if jacobian == nil {
		return t
	}
	lanes := &solvedLanes{rows: &l.rows, number: len(l.ways) + 1, fixed: map[int]float64{}}
	m := newSolvedMaker(values.layout, rates, jacobian.tape, form.Solved, form.Matrix, straight, lanes)
	m.tol = form.Tolerance
	step, _ := m.forward()
	if !everyLane(step) || !gains(step) {
		return t
	}
	if push != nil {
		d := newSolvedMaker(push.layout, rates, jacobian.tape, form.Solved, form.Matrix, straight, lanes)
		curl := push.push.Get(tapec.PartJacobian)
		if curl == nil {
			curl = &program{}
		}
		t.push = d.tangents(push.push.Get(tapec.PartRates).tape, curl.tape)
		if !everyLane(t.push) || elements(t.push, solvers.LaneCount) > solvers.LaneCount*movedWork {
			return t
		}
		t.pushFind = d.find(push.moved)
	}
	if pull != nil {
		curl := pull.pull.Get(tapec.PartJacobian)
		if curl == nil {
			curl = &program{}
		}
		back := newSolvedMaker(pull.layout, rates, jacobian.tape, form.Solved, form.Matrix, straight, lanes)
		never := func(string) bool { return false }
		t.back, t.sums = back.backward(pull.pull.Get(tapec.PartRates).tape, curl.tape, never)
		if !everyLane(t.back) {
			return t
		}
		t.backFind = back.find(pull.layout.find)
		l.placed(back.laned)
		if form.Inside {
			seeded := newSolvedMaker(pull.layout, rates, jacobian.tape, form.Solved, form.Matrix, straight, lanes)
			seeded.sown = l.within(form)
			t.seeded, _ = seeded.backward(pull.pull.Get(tapec.PartRates).tape, curl.tape, never)
			t.seededFind = seeded.find(pull.layout.find)
		}
	}
	t.step, t.stepFind = step, m.find(values.layout.find)
	return t
}

// placed says where the cotangents that are not those of every transpose begin: after the first rows of bars.
func (l *Lanes) placed(rows int) {
	if l.ends == 0 {
		l.ends = rows * solvers.LaneCount
		l.sown = l.ends + (1+len(l.rows.Nodes))*solvers.LaneCount
	}
}

// within says where transposes have what was read within steps; nil if nothing is.
func (l *Lanes) within(form *solvers.LaneForm) *sownRows {
	if !form.Inside {
		return nil
	}
	return &sownRows{&l.rows, l.sown / solvers.LaneCount}
}

// summed gives the accumulators of a transpose, for so many objectives, their rows, unless they have them. It reports
// whether they are those that bars are shared with.
func (l *Lanes) summed(t *tape.Tape, names []string, objectives int) bool {
	if l.made != nil {
		return true
	}
	at := l.size.N + l.size.Q + 1
	var sums []laneSum
	for _, name := range names {
		v, _ := t.Output(tapec.Made.Called(name).As(tapec.Cotangent).String())
		s := laneSum{name, at, t.Shape(v).Size()}
		at += s.n
		sums = append(sums, s)
	}
	l.made = make([]float64, (at-l.size.Q+1)*solvers.LaneCount)
	l.lengths = make([]float64, objectives*solvers.LaneCount)
	size := l.sown
	if l.rows.Sown > 0 {
		size += (3 + (1+l.rows.Sown)*l.size.N) * solvers.LaneCount
	}
	if l.bars != nil {
		for k, bar := range l.bars { // those of the other member, too
			l.bars[k] = append(bar, make([]float64, max(0, size-len(bar)))...)
		}
		return slices.Equal(l.sums, sums)
	}
	l.sums = sums
	for range objectives {
		bar := make([]float64, size)
		l.bars = append(l.bars, bar)
		for lane := range solvers.LaneCount {
			l.unsow(bar, lane)
		}
	}
	return true
}

// unsow takes back what Sow gave a lane of a vector of cotangents: adding the rest changes nothing.
func (l *Lanes) unsow(bar []float64, lane int) {
	if l.rows.Sown == 0 {
		return
	}
	rows := bar[l.sown+lane:]
	for i := range 3 + (1+l.rows.Sown)*l.size.N {
		x := 0.0
		if i > 0 && i < 3+l.size.N {
			x = math.Copysign(0, -1)
		}
		rows[i*solvers.LaneCount] = x
	}
}

// everyLane reports whether each output of t has a copy for each lane.
func everyLane(t *tape.Tape) bool {
	each := tape.PerLane(t)
	return !slices.ContainsFunc(t.Outputs, func(o tape.Output) bool { return !each[o.Value] })
}

// gains reports whether steps by t are faster in lanes: whether it is no longer than laneWork, and takes no more than
// two thirds of its time in loops.
func gains(t *tape.Tape) bool {
	elements, all, loops := 0, 0, 0
	for i := range t.Instrs {
		n := t.Instrs[i].Shape.Size()
		work := n * vm.Weight(t.Instrs[i].Op)
		elements, all = elements+n, all+work
		if n > laneArray {
			loops += work
		}
	}
	return elements <= laneWork && 3*loops <= 2*all
}

// compile compiles t.
func (l *Lanes) compile(t *tape.Tape, find finder) (c laneCall, ok bool) {
	type link struct {
		output, slope bool // it is a cotangent or a tangent
		vec           vector
	}
	var links []link
	put := func(name string, output bool) (at vm.Place, ok bool) {
		n, p, err := place(name, find)
		if err != nil {
			return at, false
		}
		k := link{output, n.Variation != tapec.Primal, p.vec}
		i := slices.Index(links, k)
		if i < 0 {
			i = len(links)
			links = append(links, k)
		}
		return vm.Place{Vector: i, Offset: p.offset * solvers.LaneCount}, true
	}
	ins, outs := make([]vm.Place, len(t.Inputs)), make([]vm.Place, len(t.Outputs))
	for i, in := range t.Inputs {
		if ins[i], ok = put(in.Name, false); !ok {
			return c, false
		}
	}
	for i, out := range t.Outputs {
		if outs[i], ok = put(out.Name, true); !ok {
			return c, false
		}
	}
	code, err := vm.Compile(t, vm.Options{Lanes: solvers.LaneCount, Inputs: ins, Outputs: outs})
	if err != nil {
		return c, false // steps one by one do as well
	}
	c = laneCall{machine: code.NewMachine(), in: -1, made: -1, bar: -1}
	for v := range c.steady {
		c.steady[v] = -1
	}
	for i, k := range links {
		switch {
		case k.vec == vecStep && !k.slope:
			c.in = i
		case k.vec == vecStep:
			c.bar = i
		case k.vec == vecMade && (!k.slope || l.dots != nil):
			c.made = i
		case k.vec == vecMade:
			c.machine.SetVector(i, l.made)
		case k.slope && l.steady[k.vec] != nil && !k.output:
			c.steady[k.vec] = i
		case l.steady[k.vec] != nil && !k.output:
			c.machine.SetVector(i, l.steady[k.vec])
		default:
			return c, false
		}
	}
	return c, true
}

// Rows implements solvers.LaneStepper.
func (l *Lanes) Rows() *solvers.LaneRows { return &l.rows }

// Enter implements solvers.LaneStepper. sys is a Worker of the model.
func (l *Lanes) Enter(lane int, sys solvers.System) {
	w := sys.(*Worker)
	for _, v := range laneSteady {
		to := l.steady[v]
		for i, x := range w.in[tapec.Primal][v] {
			to[i*solvers.LaneCount+lane] = x
		}
	}
}

// Step implements solvers.LaneStepper.
func (l *Lanes) Step(block []float64) {
	var count [laneWays]int
	most := 0
	for _, w := range l.way {
		if count[w]++; count[w] > count[most] {
			most = w
		}
	}
	at := l.rows.Made * solvers.LaneCount
	l.ways[most].run(block, block[at:], at)
	if count[most] == solvers.LaneCount {
		return
	}
	for w := range l.ways {
		if w == most || count[w] == 0 {
			continue
		}
		l.ways[w].run(block, l.other[at:], at)
		for lane, own := range l.way {
			if own == w {
				l.take(block, lane, l.rows.Made, l.rows.Mask)
				l.take(block, lane, l.rows.Serve, l.rows.All)
			}
		}
	}
}

// ReadGuards implements solvers.LaneStepper.
func (l *Lanes) ReadGuards(block []float64) []float64 {
	if l.read == nil {
		return nil
	}
	l.reads.machine.MoveVector(l.reads.in, block)
	l.reads.machine.MoveVector(l.reads.made, l.read)
	l.reads.machine.Run()
	return l.read
}

// run makes a step of what is in a block, whose first numbers are read.
func (w *laneWay) run(block, made []float64, first int) {
	w.step.machine.MoveVector(w.step.in, block[:first:first])
	w.step.machine.MoveVector(w.step.made, made)
	w.step.machine.Run()
}

// take gives a block some rows of a lane of the further run.
func (l *Lanes) take(block []float64, lane, from, to int) {
	for i := from*solvers.LaneCount + lane; i < to*solvers.LaneCount; i += solvers.LaneCount {
		block[i] = l.other[i]
	}
}

// Exchanged implements solvers.LaneStepper.
func (l *Lanes) Exchanged(lane int, exchanges []float64) {
	w := slices.IndexFunc(l.ways, func(w laneWay) bool { return slices.Equal(w.exchanges, exchanges) })
	if w >= 0 {
		l.way[lane] = w
		return
	}
	k := slices.IndexFunc(l.asked, func(a askedWay) bool { return slices.Equal(a.exchanges, exchanges) })
	if k < 0 {
		if k = len(l.asked); k == laneAskedKinds {
			return
		}
		l.asked = append(l.asked, askedWay{exchanges: slices.Clone(exchanges)})
	}
	a := &l.asked[k]
	if a.steps++; a.steps == laneAsked && len(l.ways) < laneWays && l.write(a.exchanges) {
		l.way[lane] = len(l.ways) - 1
	}
}

// Pull implements solvers.LaneStepper.
func (l *Lanes) Pull(block []float64, n int) {
	defer func() {
		for lane := range l.sowing {
			l.reap(lane, n)
		}
	}()
	for w, is := range l.served(block) {
		if is {
			l.pull(w, block, n)
		}
	}
}

// served returns which ways have made the steps of a block.
func (l *Lanes) served(block []float64) (by [laneWays]bool) {
	if l.rows.Serve == 0 {
		by[0] = true
		return by
	}
	for lane, m := range block[l.rows.Mask*solvers.LaneCount:][:solvers.LaneCount] {
		if m != 0 {
			by[int(block[l.rows.Serve*solvers.LaneCount+lane])-1] = true
		}
	}
	return by
}

// pull transposes the steps of a block that were made in one way.
func (l *Lanes) pull(way int, block []float64, n int) {
	call := &l.ways[way].back
	if slices.Contains(l.sowing[:], true) {
		call = &l.ways[way].seeded
	}
	for _, bar := range l.bars[:n] {
		l.transpose(call, block, bar)
	}
}

// Sow implements solvers.LaneStepper.
func (l *Lanes) Sow(lane, n int, s *solvers.Seeds) {
	width := len(l.bars)
	l.sowing[lane] = true
	for _, bar := range l.bars[:n] {
		bar[l.sown+lane] = 1
	}
	at := l.sown + solvers.LaneCount + lane
	for _, from := range [][]float64{s.T, s.H, s.Y0, s.K} {
		at = lay(l.bars[:n], at, from, width)
	}
}

// reap forgets what Sow gave a lane.
func (l *Lanes) reap(lane, n int) {
	if l.sowing[lane] {
		l.sowing[lane] = false
		for _, bar := range l.bars[:n] {
			l.unsow(bar, lane)
		}
	}
}

// Extend implements solvers.LaneStepper.
func (l *Lanes) Extend(block []float64) {
	at := l.rows.Dense * solvers.LaneCount
	l.extend.machine.MoveVector(l.extend.in, block[:at:at])
	l.extend.machine.MoveVector(l.extend.made, block[at:])
	l.extend.machine.Run()
}

// transpose runs a program of transposes for one objective.
func (l *Lanes) transpose(c *laneCall, block, bar []float64) {
	c.machine.MoveVector(c.in, block)
	c.machine.MoveVector(c.bar, bar)
	c.machine.Run()
	n := l.size.N * solvers.LaneCount
	copy(bar[:n], l.made)
	copy(bar[n+l.size.Q*solvers.LaneCount:l.ends], l.made[n:])
}

// Ends implements solvers.LaneStepper.
func (l *Lanes) Ends() []float64 {
	if l.ways[0].ends.machine == nil {
		return nil
	}
	return l.bars[0][l.ends:l.sown]
}

// PullEnds implements solvers.LaneStepper.
func (l *Lanes) PullEnds(block []float64, n int) []float64 {
	for k, bar := range l.bars[:n] {
		if k > 0 {
			copy(bar[l.ends:l.sown], l.bars[0][l.ends:l.sown])
		}
		l.transpose(&l.ways[0].ends, block, bar)
		copy(l.lengths[k*solvers.LaneCount:], l.made[len(l.made)-solvers.LaneCount:])
	}
	for lane, made := range l.Ends()[:solvers.LaneCount] {
		if made != 0 {
			l.reap(lane, n)
		}
	}
	return l.lengths[:n*solvers.LaneCount]
}

// Lay implements solvers.LaneStepper. sys is a Worker of the model, with the lanes of the kit of transposes.
func (l *Lanes) Lay(lane, n int, sys solvers.CotangentSystem, yb, qb, tb []float64) {
	sums, width := l.accumulators(lane, sys), len(l.bars)
	bars, at := l.bars[:n], lane
	at = lay(bars, at, yb, width)
	at = lay(bars, at, qb, width)
	lay(bars, at, tb, width)
	for j, from := range sums {
		lay(bars, l.sums[j].at*solvers.LaneCount+lane, from, width)
	}
}

// lay writes from, of which each element has a number for width objectives, to a lane of the bars of some of them, from
// at on. It returns where the element behind it belongs.
func lay(bars [][]float64, at int, from []float64, width int) int {
	for ; len(from) > 0; from = from[width:] {
		for k, x := range from[:len(bars)] {
			bars[k][at] = x
		}
		at += solvers.LaneCount
	}
	return at
}

// accumulators returns those of sys in the order of sums.
func (l *Lanes) accumulators(lane int, sys solvers.CotangentSystem) [][]float64 {
	w := sys.(*Worker)
	if l.of[lane] != w {
		l.of[lane], l.at[lane] = w, nil
		for _, s := range l.sums {
			b := w.accumulator(s.name)
			l.at[lane] = append(l.at[lane], w.out[b.vary][b.vec][b.lo:b.hi])
		}
	}
	return l.at[lane]
}

// Take implements solvers.LaneStepper.
func (l *Lanes) Take(lane, n int, sys solvers.CotangentSystem, yb, tb []float64) {
	sums, width := l.accumulators(lane, sys), len(l.bars)
	bars := l.bars[:n]
	at := take(bars, lane, yb, width)
	take(bars, at+l.size.Q*solvers.LaneCount, tb, width)
	for j, to := range sums {
		take(bars, l.sums[j].at*solvers.LaneCount+lane, to, width)
	}
}

// take takes back what lay wrote.
func take(bars [][]float64, at int, to []float64, width int) int {
	for ; len(to) > 0; to = to[width:] {
		row := to[:len(bars)]
		for k := range row {
			row[k] = bars[k][at]
		}
		at += solvers.LaneCount
	}
	return at
}

// measured adds the norm of the error to the outputs of a step: that of solvers.Tolerance.Norm, in root mean square.
// Where a scale is not finite, it is NaN.
func (m *stepMaker) measured(began, ends, errors map[string]tape.Value) {
	var square [8]tape.Value
	for i := range square {
		square[i] = m.zero
	}
	n, most := 0, m.zero
	for _, r := range m.rows {
		if r.state == "" {
			continue
		}
		for i := range r.len {
			element := func(x tape.Value) tape.Value {
				if len(r.shape) == 0 {
					return x
				}
				return m.b.Element(m.b.Reshape(x, tape.Shape{r.len}), i)
			}
			y0, y1 := m.b.Op1(tape.Abs, element(began[r.name])), m.b.Op1(tape.Abs, element(ends[r.name]))
			sc := m.b.Op3(tape.FMA, m.b.Scalar(m.tol.RelOf(n)), m.b.Op2(tape.Max, y0, y1), m.b.Scalar(m.tol.AbsOf(n)))
			x := m.b.Div(m.b.Op1(tape.Abs, element(errors[r.name])), sc)
			x = m.b.Add(x, m.b.Sub(sc, sc))
			if square[n&7] == m.zero {
				square[n&7] = m.b.Mul(x, x)
			} else {
				square[n&7] = m.b.Op3(tape.FMA, x, x, square[n&7])
			}
			most = m.b.Op2(tape.Max, most, x)
			n++
		}
	}
	add, s := m.b.Add, square
	tree := add(add(add(s[0], s[4]), add(s[2], s[6])), add(add(s[1], s[5]), add(s[3], s[7])))
	norm := m.b.Op1(tape.Sqrt, m.b.Div(tree, m.b.Scalar(float64(n))))
	if limit := m.tol.Most; limit > 0 && float64(n) >= limit*limit { // with fewer states it is no more than the mean
		norm = m.b.Op2(tape.Max, norm, m.b.Div(most, m.b.Scalar(limit)))
	}
	m.output(tapec.Primal, "norm", norm, 1, nil)
}

// combined returns the estimate of a pair of sums, as Tableau.E3 says: |e5|·(|e5|/√(e5² + 0.01 e3²)), in ratios.
func (m *stepMaker) combined(e5, e3 tape.Value) tape.Value {
	size := m.b.Op1(tape.Abs, e5)
	ratio := m.b.Div(m.b.Op1(tape.Abs, e3), size)
	root := m.b.Op1(tape.Sqrt, m.b.Op3(tape.FMA, m.b.Mul(m.b.Scalar(0.01), ratio), ratio, m.b.Scalar(1)))
	return m.b.Select(e5, m.b.Div(size, root), e5)
}
