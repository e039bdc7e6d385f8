package steps

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"

	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Lanes makes whole steps of several runs of one model at once, and their transposes: each in a lane of its own, with
// its own time, length and params. Its programs are those of single steps (steptape.go), of which every input has a
// copy for each lane; so a lane has the bits that its run has alone. It implements lanes.Stepper.
type Lanes struct {
	rows lanes.Rows
	size solvers.Size
	// Programs of steps that solve equations exchange rows in one way each; others have one. Lanes that want another
	// way than the rest are given it by a further run of the block.
	ways     []laneWay
	way      [lanes.Count]int // of each lane: that of its last step
	asked    []askedWay
	write    func(exchanges []float64) bool // appends to ways
	other    []float64                      // what a further run makes
	reads    laneCall                       // of guards; of a zero value where they cannot be read in lanes
	read     []float64                      // what it writes: ρ at each point and then the truths
	sampling laneSamples

	// params, modes and what is hoisted from them: [elements][lanes]
	steady [vec.Count][]float64
	// The accumulators of the transpose, and where they are in each lane: those of the Worker of.
	sums []laneSum
	at   [lanes.Count][][]float64
	of   [lanes.Count]*Steps
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
	steadyDots [][vec.Count][]float64

	lengths []float64         // [objectives][lanes] cotangents of the lengths of steps
	sowing  [lanes.Count]bool // Pull takes in what Sow gave
	extend  laneCall          // makes the rows of the dense output; of a zero value where there are none
}

// laneSamples reads the samples of largest values in lanes, as Lanes.reads does guards. rows is nil where there are
// none.
type laneSamples struct {
	read laneCall
	made []float64 // what it writes
	at   []int     // where that has each row of what lanes.Stepper has; -1 for zeros
	rows []float64 // these rows
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
	steady        [vec.Count]int // the tangents of steady vectors; -1 for none
}

// EnterPush implements lanes.Stepper. sys is a Worker of the model, with the lanes of the kit of tangents.
func (l *Lanes) EnterPush(lane int, sys solvers.TangentSystem) {
	w := stepsOf(sys)
	for k := range l.steadyDots {
		for v, to := range l.steadyDots[k] {
			if to == nil {
				continue
			}
			from := w.In[tapec.Tangent][v]
			for i := range min(len(from)/w.Width, len(to)/lanes.Count) {
				to[i*lanes.Count+lane] = from[i*w.Width+k]
			}
		}
	}
}

// LayPush implements lanes.Stepper.
func (l *Lanes) LayPush(lane, n int, td, yd, qd []float64) {
	at, width := lane, len(l.dots)
	for _, from := range [][]float64{td, yd, qd} {
		at = lay(l.dots[:n], at, from, width)
	}
}

// Push implements lanes.Stepper.
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

// TakePush implements lanes.Stepper.
func (l *Lanes) TakePush(lane, n int, td, yd, qd []float64) {
	at, width := lane, len(l.dots)
	for _, to := range [][]float64{td, yd, qd} {
		take(l.dots[:n], at, to, width)
		at += len(to) / width * lanes.Count
	}
}

// ReadSamples implements lanes.Stepper.
func (l *Lanes) ReadSamples(block []float64) []float64 {
	if l.sampling.rows == nil {
		return nil
	}
	l.sampling.read.machine.MoveVector(l.sampling.read.in, block)
	l.sampling.read.machine.MoveVector(l.sampling.read.made, l.sampling.made)
	l.sampling.read.machine.Run()
	for i, at := range l.sampling.at {
		if at >= 0 {
			copy(l.sampling.rows[i*lanes.Count:][:lanes.Count], l.sampling.made[at*lanes.Count:])
		}
	}
	return l.sampling.rows
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
		rows[i*lanes.Count] = x
	}
}

// Rows implements lanes.Stepper.
func (l *Lanes) Rows() *lanes.Rows { return &l.rows }

// Enter implements lanes.Stepper. sys is a Worker of the model.
func (l *Lanes) Enter(lane int, sys solvers.System) {
	w := stepsOf(sys)
	for _, v := range laneSteady {
		to, from := l.steady[v], w.In[tapec.Primal][v]
		for i, x := range from[:min(len(from), len(to)/lanes.Count)] { // see Served.Like
			to[i*lanes.Count+lane] = x
		}
	}
}

// Step implements lanes.Stepper.
func (l *Lanes) Step(block []float64) {
	if l.rows.Serve == 0 {
		l.ways[0].run(block, block[l.rows.Made*lanes.Count:])
		return
	}
	var count [laneWays]int
	most := 0
	for _, w := range l.way {
		if count[w]++; count[w] > count[most] {
			most = w
		}
	}
	at := l.rows.Made * lanes.Count
	l.ways[most].run(block, block[at:])
	if count[most] == lanes.Count {
		return
	}
	for w := range l.ways {
		if w == most || count[w] == 0 {
			continue
		}
		l.ways[w].run(block, l.other[at:])
		for lane, own := range l.way {
			if own == w {
				l.take(block, lane, l.rows.Made, l.rows.Mask)
				l.take(block, lane, l.rows.Serve, l.rows.All)
			}
		}
	}
}

// ReadGuards implements lanes.Stepper.
func (l *Lanes) ReadGuards(block []float64) []float64 {
	if l.read == nil {
		return nil
	}
	l.reads.machine.MoveVector(l.reads.in, block)
	l.reads.machine.MoveVector(l.reads.made, l.read)
	l.reads.machine.Run()
	return l.read
}

// run makes a step of what is in a block, whose first numbers are read, and those of absolute tolerances.
func (w *laneWay) run(block, made []float64) {
	w.step.machine.MoveVector(w.step.in, block)
	w.step.machine.MoveVector(w.step.made, made)
	w.step.machine.Run()
}

// take gives a block some rows of a lane of the further run.
func (l *Lanes) take(block []float64, lane, from, to int) {
	for i := from*lanes.Count + lane; i < to*lanes.Count; i += lanes.Count {
		block[i] = l.other[i]
	}
}

// Exchanged implements lanes.Stepper.
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

// Pull implements lanes.Stepper.
func (l *Lanes) Pull(block []float64, n int) {
	if l.rows.Serve == 0 {
		l.pull(0, block, n)
	} else {
		for w, is := range l.served(block) {
			if is {
				l.pull(w, block, n)
			}
		}
	}
	if l.rows.Sown > 0 {
		for lane := range l.sowing {
			l.reap(lane, n)
		}
	}
}

// served returns which ways have made the steps of a block.
func (l *Lanes) served(block []float64) (by [laneWays]bool) {
	for lane, m := range block[l.rows.Mask*lanes.Count:][:lanes.Count] {
		switch {
		case m == 0:
		case l.rows.Serve == 0:
			by[0] = true
		default:
			by[int(block[l.rows.Serve*lanes.Count+lane])-1] = true
		}
	}
	return by
}

// pull transposes the steps of a block that were made in one way.
func (l *Lanes) pull(way int, block []float64, n int) {
	call := &l.ways[way].back
	if l.rows.Sown > 0 && slices.Contains(l.sowing[:], true) {
		call = &l.ways[way].seeded
	}
	for _, bar := range l.bars[:n] {
		l.transpose(call, block, bar)
	}
}

// Sow implements lanes.Stepper.
func (l *Lanes) Sow(lane, n int, s *solvers.Seeds) {
	width := len(l.bars)
	l.sowing[lane] = true
	for _, bar := range l.bars[:n] {
		bar[l.sown+lane] = 1
	}
	at := l.sown + lanes.Count + lane
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

// Extend implements lanes.Stepper.
func (l *Lanes) Extend(block []float64) {
	at := l.rows.Dense * lanes.Count
	l.extend.machine.MoveVector(l.extend.in, block[:at:at])
	l.extend.machine.MoveVector(l.extend.made, block[at:])
	l.extend.machine.Run()
}

// transpose runs a program of transposes for one objective.
func (l *Lanes) transpose(c *laneCall, block, bar []float64) {
	c.machine.MoveVector(c.in, block)
	c.machine.MoveVector(c.bar, bar)
	c.machine.Run()
	n := l.size.N * lanes.Count
	copy(bar[:n], l.made)
	copy(bar[n+l.size.Q*lanes.Count:l.ends], l.made[n:])
}

// Ends implements lanes.Stepper.
func (l *Lanes) Ends() []float64 {
	if l.ways[0].ends.machine == nil {
		return nil
	}
	return l.bars[0][l.ends:l.sown]
}

// PullEnds implements lanes.Stepper.
func (l *Lanes) PullEnds(block []float64, n int) []float64 {
	for k, bar := range l.bars[:n] {
		if k > 0 {
			copy(bar[l.ends:l.sown], l.bars[0][l.ends:l.sown])
		}
		l.transpose(&l.ways[0].ends, block, bar)
		copy(l.lengths[k*lanes.Count:], l.made[len(l.made)-lanes.Count:])
	}
	for lane, made := range l.Ends()[:lanes.Count] {
		if made != 0 {
			l.reap(lane, n)
		}
	}
	return l.lengths[:n*lanes.Count]
}

// Lay implements lanes.Stepper. sys is a Worker of the model, with the lanes of the kit of transposes.
func (l *Lanes) Lay(lane, n int, sys solvers.CotangentSystem, yb, qb, tb []float64) {
	sums, width := l.accumulators(lane, sys), len(l.bars)
	bars, at := l.bars[:n], lane
	at = lay(bars, at, yb, width)
	at = lay(bars, at, qb, width)
	lay(bars, at, tb, width)
	for j, from := range sums {
		lay(bars, l.sums[j].at*lanes.Count+lane, from, width)
	}
}

// lay writes from, of which each element has a number for width objectives, to a lane of the bars of some of them, from
// at on. It returns where the element behind it belongs.
func lay(bars [][]float64, at int, from []float64, width int) int {
	for ; len(from) > 0; from = from[width:] {
		for k, x := range from[:len(bars)] {
			bars[k][at] = x
		}
		at += lanes.Count
	}
	return at
}

// Join implements lanes.Stepper.
func (l *Lanes) Join(lane, n int, yb, qb, tb []float64) {
	bars, width := l.bars[:n], len(l.bars)
	at := join(bars, lane, yb, width)
	at = lay(bars, at, qb, width)
	join(bars, at, tb, width)
}

// join is lay, but adds.
func join(bars [][]float64, at int, from []float64, width int) int {
	for ; len(from) > 0; from = from[width:] {
		for k, x := range from[:len(bars)] {
			bars[k][at] += x
		}
		at += lanes.Count
	}
	return at
}

// accumulators returns those of sys in the order of sums.
func (l *Lanes) accumulators(lane int, sys solvers.CotangentSystem) [][]float64 {
	w := stepsOf(sys)
	if l.of[lane] != w {
		l.of[lane], l.at[lane] = w, l.at[lane][:0]
		for _, s := range l.sums {
			b := w.accumulator(s.name)
			l.at[lane] = append(l.at[lane], w.Out[b.Vary][b.Vec][b.Lo:b.Hi])
		}
	}
	return l.at[lane]
}

// Take implements lanes.Stepper.
func (l *Lanes) Take(lane, n int, sys solvers.CotangentSystem, yb, tb []float64) {
	sums, width := l.accumulators(lane, sys), len(l.bars)
	bars := l.bars[:n]
	at := take(bars, lane, yb, width)
	take(bars, at+l.size.Q*lanes.Count, tb, width)
	for j, to := range sums {
		take(bars, l.sums[j].at*lanes.Count+lane, to, width)
	}
}

// take takes back what lay wrote.
func take(bars [][]float64, at int, to []float64, width int) int {
	for ; len(to) > 0; to = to[width:] {
		row := to[:len(bars)]
		for k := range row {
			row[k] = bars[k][at]
		}
		at += lanes.Count
	}
	return at
}
