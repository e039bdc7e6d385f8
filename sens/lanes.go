package sens

import (
	"context"
	"errors"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/hybrid"
	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/record"
)

// LaneRuns makes runs of one system side by side, each with its own values, and the derivatives of each: in a lane of
// hybrid.Lanes what Solver and Adjoint, Tangent or Forward make alone, to the same bits. It belongs to one goroutine.
//
// When the run of a lane has ended, the next one takes its place. On the way back each lane walks through its runs, the
// last one first, and all of them through the same blocks; tangents go through them once more from the start.
type LaneRuns struct {
	runs  *hybrid.Lanes
	moves []bool // steps of each member of the method whose ends move are transposed in lanes
	opts  Options

	*LaneSeats
	record  record.Trajectory // for the sweeps, which ask it for sizes
	present []*laneRun        // on the way back, the present run of each lane
	width   int               // objectives that are swept together, or directions
	ending  []int             // the lanes whose steps of the present block have ends that move
	apart   []int             // the lanes whose next steps have such ends and are in no block
	// Those among apart whose steps are transposed together.
	together []int

	list []*laneRun // all runs
	n    int        // how many there are now
	due  []int      // on the way back, the block of each lane after which an item comes; -2 for none
	kept int        // bytes of their items
	next func(lane int) bool

	held []int // lanes whose runs have readings within their steps of the present block
}

// LaneSeats are the systems whose runs are made: one in each lane.
type LaneSeats struct {
	lanes   []LaneWorker
	solvers []*hybrid.Solver
	sweeps  []*sweep     // of lanes with a way back
	walks   []*walk      // of lanes with tangents
	at      []*laneRun   // the present run of each lane
	finders [][]observer // of each lane
}

// LaneWorker is what makes the runs of a lane.
type LaneWorker struct {
	Solver     *hybrid.Solver
	Objectives Objectives      // of its system
	Back       CotangentWorker // for derivatives by the adjoint; else without a System
	Forth      TangentWorker   // for tangents
	Flow       bool            // Forth has derivatives at fixed times, as Forward does
	// Resume gives the systems the values of run i, which they had when it was made.
	Resume func(i int)
	// Start sees the start of every run, unless it is nil. A run of which it returns an error is to be made alone.
	Start func(m *solvers.Mark) error
	// Beside sees each run as well, without derivatives, unless it is nil. Done then tells that run i has ended well,
	// before the next one begins.
	Beside hybrid.LaneReader
	Done   func(i int)
}

// besideRun is a laneRun that another sink sees as well.
type besideRun struct {
	*laneRun
	hybrid.LaneReader
}

// Begin implements solvers.Sink.
func (r *besideRun) Begin(sys solvers.System, m solvers.Method) error {
	if err := r.LaneReader.Begin(sys, m); err != nil {
		return err
	}
	return r.laneRun.Begin(sys, m)
}

// Step implements solvers.Sink.
func (r *besideRun) Step(s *solvers.Step, e solvers.End) error {
	if err := r.LaneReader.Step(s, e); err != nil {
		return err
	}
	return r.laneRun.Step(s, e)
}

// Mark implements solvers.Sink.
func (r *besideRun) Mark(m *solvers.Mark) error {
	if err := r.LaneReader.Mark(m); err != nil {
		return err
	}
	return r.laneRun.Mark(m)
}

// laneRun is a run with its marks, and with its steps that are in no block. It is a solvers.Sink.
type laneRun struct {
	*Observer
	of     *LaneRuns
	i      int // among all
	lane   int
	err    error
	items  []laneItem
	n      int
	kept   int  // bytes that items refer to
	next   int  // on the way back: the item that comes next, -1 before the first and after the last
	out    bool // on the way back: the sweep of its lane has the cotangents, and the lane does not
	steps  int
	res    Result
	prev   *laneRun   // in its lane
	then   *laneRun   // with tangents: the run that comes next in its lane
	beside *besideRun // nil until it is seen by another sink
	ready  bool       // with tangents: the walk of its lane has what the block has made
	// With Flow: the walk of its lane has derivatives at a time that moves; that time, and the state then.
	moved bool
	t     float64
	y     []float64

	walked []walked // where the steps are; without observers nothing
	state  []float64
}

// walked is where a step of a run is: in block after, or, if it is an item, behind that. items is how many items there
// were then, this one among them.
type walked struct {
	after, items int
	item         bool
}

// laneReading is what an observer has of the present step of a lane.
type laneReading struct {
	runs *hybrid.Lanes
	lane int
}

// load gives the solver of the lane the step.
func (r *laneReading) load() { r.runs.Load(r.lane) }

// rows returns what was read in lanes of the step, where its lane begins, if it is so many numbers; nil for nothing.
func (r *laneReading) rows(numbers int) []float64 {
	rows := r.runs.Samples(r.lane)
	if len(rows)+r.lane != lanes.Count*numbers {
		return nil
	}
	return rows
}

// laneItem is a mark, a step, or a reading, and the block that it comes after: for a step the one in which
// its lane is masked. Most are marks.
type laneItem struct {
	after  int
	stands bool // it is a step
	reads  bool // it is a reading
	laid   bool // it is a step that is in block after, in which its lane is masked
	left   int  // the mark whose left limits it reads, or -1
	mark   solvers.Mark
	// What the limits of the mark are in: states, discretes and modes.
	held []float64
	*laneStep
}

// laneStep is a step that is an item, or for a reading the site: the item has the point as its mark, and
// within a step the state there comes on the way back.
type laneStep struct {
	site Site

	step solvers.Step // its times and Y1 alone, if it is laid
	end  solvers.End
	from bool    // its start was chosen
	rate float64 // of the guard that ended it
	// The cotangents of the state and of time from that guard, while the rate is not known.
	gy, gt []float64
	ahead  []float64 // the tangent of its time if its length is zero
}

// more makes room for what few items have.
func (it *laneItem) more() {
	if it.laneStep == nil {
		it.laneStep = &laneStep{}
	}
}

// hold copies the limits of mark m to those of an item. Where nothing jumps, one copy serves as both.
func (r *laneRun) hold(to *laneItem, m *solvers.Mark, jumps bool) {
	n, d := len(m.Yp), len(m.Yp)+len(m.Dp)
	end := d + len(m.Mp)
	size := end
	if jumps {
		size += end
	}
	to.held = need(to.held, size)
	r.keep(size)
	all, x := to.held, &to.mark
	few(few(few(all, m.Yp), m.Dp), m.Mp)
	x.Yp, x.Dp, x.Mp = all[:n], all[n:d], all[d:end]
	if jumps {
		all = all[end:]
		few(few(few(all, m.Ym), m.Dm), m.Mm)
	}
	x.Ym, x.Dm, x.Mm = all[:n], all[n:d], all[d:end]
}

// few copies a few numbers, for which a call of copy takes longer. It returns what is behind them.
func few(to, from []float64) []float64 {
	//lint:ignore S1001 see above
	for i, x := range from {
		to[i] = x
	}
	return to[len(from):]
}

// laneItems is how many items a run may have, and laneKept about how many bytes these may take. A run with more is made
// alone, where it keeps to the memory that is allowed.
const (
	laneItems = 1 << 12
	laneKept  = 4 << 20
)

// NewLaneRuns returns what makes runs with steps in lanes, as hybrid.NewLanes has them. What opts say of events is not
// for them. With tell the solvers have the statistics and warnings of single runs, each until its next one.
func NewLaneRuns(steps []lanes.Stepper, lanes []LaneWorker, opts Options, tell bool) (*LaneRuns, error) {
	back := len(lanes) > 0 && lanes[0].Back.System != nil
	forth := len(lanes) > 0 && lanes[0].Forth.System != nil
	l := &LaneRuns{
		runs: hybrid.NewLanes(steps, hybrid.LaneUse{
			Back: back, Forth: forth, Own: forth && lanes[0].Flow, Tell: tell,
		}),
		opts: opts,
	}
	seats, err := l.Seats(lanes)
	if err != nil {
		return nil, err
	}
	l.Take(seats)
	for _, step := range steps {
		l.moves = append(l.moves, back && step != nil && step.Ends() != nil)
	}
	return l, nil
}

// Take has the runs to come be those of other systems, for which the steps do as well.
func (l *LaneRuns) Take(seats *LaneSeats) { l.LaneSeats = seats }

// Seats returns what Take takes. The systems have the sizes of those before.
func (l *LaneRuns) Seats(lanes []LaneWorker) (*LaneSeats, error) {
	to := &LaneSeats{lanes: lanes, at: make([]*laneRun, len(lanes)), finders: make([][]observer, len(lanes))}
	for _, w := range lanes {
		to.solvers = append(to.solvers, w.Solver)
		if f := w.Forth; f.System != nil {
			if err := l.record.Begin(f.System, f.Method); err != nil {
				return nil, err
			}
			walk := newWalk(f, &l.record)
			if z := l.record.Size(); w.Flow {
				walk.k = make([]float64, z.N+z.Q)
			}
			to.walks = append(to.walks, walk)
			l.width = f.System.Lanes()
		}
		if w.Back.System == nil {
			continue
		}
		if err := l.record.Begin(w.Back.System, w.Back.Method); err != nil {
			return nil, err
		}
		to.sweeps = append(to.sweeps, newSweep(w.Back, &l.record))
		l.width = w.Back.System.Lanes()
	}
	return to, nil
}

// errLane is the error of a run with too many items.
var errLane = errors.New("sens: not side by side")

// Begin implements solvers.Sink.
func (r *laneRun) Begin(sys solvers.System, m solvers.Method) error {
	r.n, r.kept, r.walked = 0, 0, r.walked[:0]
	mine := &r.of.finders[r.lane]
	r.observers = *mine
	err := r.Observer.begin(sys, m, &r.of.opts)
	*mine = r.observers
	for _, x := range r.observers {
		x.beside(r.of.runs, r.lane)
	}
	return err
}

// Step implements solvers.Sink.
func (r *laneRun) Step(s *solvers.Step, e solvers.End) error {
	if r.of.slopes() {
		own, after := r.of.runs.Own(r.lane)
		if own = own || !(s.H > 0); own {
			if err := r.stand(s, e, after); err != nil {
				return err
			}
		}
		if len(r.observers) > 0 {
			r.walked = append(r.walked, walked{r.of.runs.Present(), r.n, own})
		}
	}
	return r.Observer.Step(s, e)
}

// stand makes a step an item. after tells whether its start is the end of a step in a block.
func (r *laneRun) stand(s *solvers.Step, e solvers.End, after bool) error {
	to, err := r.item()
	if err != nil {
		return err
	}
	to.more()
	before := r.n - 2
	for before >= 0 && !r.items[before].stands {
		before--
	}
	to.stands, to.end = true, e
	to.from = !after && (before < 0 || r.items[before].end.Kind != solvers.EndFree)
	if to.laid = s.H > 0 && r.of.moves[s.Member]; to.laid {
		to.step.T, to.step.H, to.step.T1, to.step.Member = s.T, s.H, s.T1, s.Member
		to.step.Y1 = append(to.step.Y1[:0], s.Y1...)
		r.keep(len(to.step.Y1))
		r.of.runs.Put(r.lane, s)
		return nil
	}
	was := to.step
	to.step = *s
	rows := r.of.runs.Stepper(s.Member).Rows()
	to.step.Y0, to.step.Y1 = append(was.Y0[:0], s.Y0...), append(was.Y1[:0], s.Y1...)
	to.step.DQ, to.step.K = append(was.DQ[:0], s.DQ...), append(was.K[:0], s.K[:rows.Stages*rows.W]...)
	to.step.Kept, to.step.E, to.step.Dense, to.step.Estimated = nil, nil, false, false
	r.keep(len(to.step.Y0) + len(to.step.Y1) + len(to.step.DQ) + len(to.step.K))
	return nil
}

// item returns the next item, after the present block.
func (r *laneRun) item() (*laneItem, error) {
	if r.n == laneItems || r.kept > laneKept {
		return nil, errLane
	}
	if r.n == len(r.items) {
		r.items = append(r.items, laneItem{})
	}
	to := &r.items[r.n]
	r.n++
	to.after, to.reads = r.of.runs.Present(), false
	return to, nil
}

// keep counts the memory of what an item refers to: so many numbers.
func (r *laneRun) keep(numbers int) {
	r.kept += 8 * numbers
	r.of.kept += 8 * numbers
}

// Mark implements solvers.Sink.
func (r *laneRun) Mark(m *solvers.Mark) error {
	if start := r.of.lanes[r.lane].Start; start != nil && m.Kind == solvers.MarkStart {
		if err := start(m); err != nil {
			return err
		}
	}
	if !r.of.slopes() {
		return r.Observer.Mark(m)
	}
	to, err := r.item()
	if err != nil {
		return err
	}
	to.mark, to.stands, to.laid, to.left = *m, false, false, -1
	switch m.Kind {
	case solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
		r.hold(to, m, true)
	default:
		r.hold(to, m, false)
		if m.Kind != solvers.MarkSite || m.Inside {
			break
		}
		if to.left = r.leader(); to.left >= 0 {
			x, b := &to.mark, &r.items[to.left].mark
			x.Ym, x.Dm, x.Mm = b.Ym, b.Dm, b.Mm
		}
	}
	switch {
	case len(r.observers) == 0:
		return nil // see observe
	case m.Kind == solvers.MarkFinal:
		if err := r.Observer.Mark(m); err != nil {
			return err
		}
		return r.insertReadings()
	}
	return r.Observer.Mark(m)
}

// observe reads what functionals read at the marks of the run, which has ended: all at once, while the processor has
// at hand what it takes. Where there are observers, these were told on the way.
func (r *laneRun) observe() error {
	if len(r.observers) > 0 || !r.of.slopes() {
		return nil
	}
	for k := range r.items[:r.n] {
		if it := &r.items[k]; !it.stands {
			if err := r.Observer.Mark(&it.mark); err != nil {
				return err
			}
		}
	}
	return nil
}

// leader returns the first event of the group of the mark that is added last, or -1.
func (r *laneRun) leader() int {
	first, after := -1, r.items[r.n-1].after
	for k := r.n - 2; k >= 0 && r.items[k].after == after; k-- {
		it := &r.items[k]
		if it.stands && it.step.H > 0 {
			break
		}
		if !it.stands && it.mark.Kind == solvers.MarkFire {
			first = k
		}
	}
	return first
}

// insertReadings adds the items of the readings of the run, which has ended.
func (r *laneRun) insertReadings() error {
	r.res.Peaks = r.res.Peaks[:0]
	r.res.found(r.observers)
	for i := range r.res.readings {
		if err := r.insert(&r.res.readings[i], i); err != nil {
			return err
		}
	}
	return nil
}

// insert adds the item of a reading where a single run meets it. So many readings before it have theirs.
func (r *laneRun) insert(p *reading, before int) error {
	to, err := r.item()
	if err != nil {
		return err
	}
	list := r.items[:r.n]
	k, after, y := r.n-1, list[r.n-2].after, list[r.n-2].mark.Yp // behind the end of the run
	if p.step < len(r.walked) {
		at := r.walked[p.step]
		k, after = at.items+before, at.after
		var of *laneItem
		if at.item {
			i := k - 1
			for !list[i].stands { // other readings may be within the step
				i--
			}
			of = &list[i]
		}
		y = r.stateAt(of, after, p.theta)
		switch {
		case p.theta == 0: // behind what happens before the step
			if at.item {
				k--
			}
			if after = list[k-1].after; p.step > 0 {
				after = max(after, r.walked[p.step-1].after)
			}
		default:
			for k < r.n-1 && list[k].within(after) && list[k].mark.Theta <= p.theta {
				k++
			}
		}
	}
	last := k - 1
	for list[last].stands || list[last].mark.Inside {
		last--
	}
	held := &list[last].mark
	to.more()
	to.after, to.stands, to.laid, to.left, to.reads, to.site = after, false, false, -1, true, p.site
	to.mark = solvers.Mark{
		Kind: solvers.MarkSite, T: p.t, Theta: p.theta, Inside: p.inside(),
		Yp: y, Dp: held.Dp, Mp: held.Mp,
	}
	r.hold(to, &to.mark, false)
	it := *to
	copy(list[k+1:], list[k:])
	list[k] = it
	for i := k + 1; i < r.n; i++ {
		if it := &list[i]; !it.stands && it.left >= k {
			it.left++
		}
	}
	return nil
}

// stateAt returns the state at theta of a step, which is an item or else that of block j: at its end, and else at its
// start.
func (r *laneRun) stateAt(of *laneItem, j int, theta float64) []float64 {
	switch {
	case of != nil && theta == 1:
		return of.step.Y1
	case of != nil && !of.laid:
		return of.step.Y0
	}
	block, member := r.of.runs.Block(j)
	rows := r.of.runs.Stepper(member).Rows()
	at := rows.Y0
	if theta == 1 {
		at = rows.Y1
	}
	r.state = need(r.state, rows.N)
	for i := range r.state {
		r.state[i] = block[(at+i)*lanes.Count+r.lane]
	}
	return r.state
}

// Run makes runs, with derivatives if there are workers for them. next prepares a lane for the next run, of which it
// reports whether there is one. Runs are numbered in the order in which next is asked for them. If ctx ends before all
// derivatives are made, no run has a result that counts.
func (l *LaneRuns) Run(ctx context.Context, next func(lane int) bool) {
	l.n, l.kept, l.next = 0, 0, next
	clear(l.at)
	l.runs.Solve(ctx, l.solvers, l)
	if !l.slopes() {
		return
	}
	if ctx.Err() != nil { // runs that had ended have no derivatives
		for _, r := range l.list[:l.n] {
			r.err = context.Cause(ctx)
		}
		return
	}
	_, objectives := l.lanes[0].Objectives.Counts()
	if len(l.walks) > 0 {
		directions := l.record.Size().P
		if l.opts.Initial {
			directions += l.record.Size().N
		}
		for first := 0; first < directions; first += l.width {
			l.forth(first, directions)
		}
		return
	}
	for first := 0; first < objectives; first += l.width {
		l.back(first, objectives)
	}
}

// slopes reports whether derivatives are wanted.
func (l *LaneRuns) slopes() bool { return len(l.sweeps)+len(l.walks) > 0 }

// Next implements hybrid.LaneSource.
func (l *LaneRuns) Next(lane int) solvers.Sink {
	if !l.next(lane) {
		return nil
	}
	if l.n == len(l.list) {
		l.list = append(l.list, &laneRun{Observer: &Observer{}, of: l})
	}
	r := l.list[l.n]
	r.i, r.lane, r.prev, r.err = l.n, lane, l.at[lane], nil
	obj := l.lanes[lane].Objectives
	f, _ := obj.Counts()
	r.obj, r.instants, r.F = obj, nil, need(r.F, f)
	l.n++
	l.at[lane] = r
	if beside := l.lanes[lane].Beside; beside != nil {
		if r.beside == nil {
			r.beside = &besideRun{laneRun: r}
		}
		r.beside.LaneReader = beside
		return r.beside
	}
	return r
}

// Done implements hybrid.LaneSource.
func (l *LaneRuns) Done(lane int, err error) {
	r := l.at[lane]
	if err == nil {
		err = r.observe()
	}
	r.err, r.steps = err, l.solvers[lane].Stats().Steps
	_, m := r.obj.Counts()
	r.res.Psi, r.res.Functionals = need(r.res.Psi, m), need(r.res.Functionals, len(r.F))
	copy(r.res.Functionals, r.F)
	if err != nil {
		l.at[lane] = r.prev // it is not walked through
		return
	}
	if r.Values(r.res.Psi); l.lanes[lane].Done != nil {
		l.lanes[lane].Done(r.i)
	}
}

// back makes the derivatives of some objectives of each run, from first on.
func (l *LaneRuns) back(first, objectives int) {
	n := min(l.width, objectives-first)
	present, last := l.present[:0], -1
	l.due = append(l.due[:0], make([]int, len(l.at))...)
	for i, r := range l.at {
		if present = append(present, r); r != nil {
			r.next = -1
		}
		l.due[i] = r.due()
		last = max(last, l.due[i])
	}
	l.present = present
	for j := last; ; j-- {
		l.ending = l.ending[:0]
		for i, at := range l.due {
			if at == j {
				l.pull(i, j, first, objectives)
			}
		}
		for len(l.apart) > 0 {
			l.pullApart(j, first, objectives)
		}
		if j < 0 {
			return
		}
		block, member := l.runs.Block(j)
		step := l.runs.Stepper(member)
		if len(l.ending) > 0 {
			l.ends(step, block, l.ending, first, n)
			for _, i := range l.ending {
				if s := l.sweeps[i]; present[i].out {
					step.Lay(i, n, s.sys, s.yb, s.fb[:len(s.gq)], s.tb)
				}
				present[i].next, present[i].out = present[i].next-1, false
				l.due[i] = present[i].due()
			}
		}
		if step.Rows().Sown > 0 {
			for i := range l.sweeps {
				l.sow(step, i, n)
			}
		}
		step.Pull(block, n)
		for _, i := range l.held { // what moves with the step
			s := l.sweeps[i]
			step.Take(i, n, s.sys, s.yb, s.tb)
			addTo(s.tb, s.moved.t)
			step.Lay(i, n, s.sys, s.yb, s.fb[:len(s.gq)], s.tb)
		}
		l.held = l.held[:0]
	}
}

// pull goes back through the items of lane i after block j, up to a step that is transposed together with those of
// other lanes.
func (l *LaneRuns) pull(i, j, first, objectives int) {
	for r := l.present[i]; r != nil && (r.out || r.due() == j); r = l.present[i] {
		if r.next < 0 {
			r.begin(l.sweeps[i], first, objectives)
		}
		if r.pull(l.sweeps[i], j, first, min(l.width, objectives-first)); r.next >= 0 {
			break
		}
		if l.present[i] = r.prev; r.prev != nil {
			r.prev.next = -1
		}
	}
	l.due[i] = l.present[i].due()
}

// pullApart transposes steps that come next in lanes and are in no block, those that one member of the method has made,
// and goes on in their lanes.
func (l *LaneRuns) pullApart(j, first, objectives int) {
	l.together = l.together[:0]
	member, rest, block := l.present[l.apart[0]].coming().step.Member, l.apart[:0], []float64(nil)
	for _, i := range l.apart {
		if st := &l.present[i].coming().step; st.Member == member {
			block, l.together = l.runs.PutAside(i, st), append(l.together, i)
		} else {
			rest = append(rest, i)
		}
	}
	l.apart = rest
	l.ends(l.runs.Stepper(member), block, l.together, first, min(l.width, objectives-first))
	for _, i := range l.together {
		l.present[i].next--
		l.pull(i, j, first, objectives)
	}
}

// ends transposes steps of a block whose ends move, for n objectives: the next items of the runs in some lanes. It does
// what sweep.transpose does. Lanes whose steps end at roots have the cotangents then, and the sweeps of others do.
func (l *LaneRuns) ends(step lanes.Stepper, block []float64, of []int, first, n int) {
	mask, times := step.Ends()[:lanes.Count], step.Ends()[lanes.Count:]
	clear(mask)
	rates := false
	var seeded [lanes.Count]bool // something was read within the step
	for _, i := range of {
		it, s := l.present[i].coming(), l.sweeps[i]
		it.times(times[i:], step.Rows())
		if first == 0 && it.end.Kind == solvers.EndRoot {
			rates, mask[i] = true, 1
			step.Lay(i, 1, s.sys, it.gy, s.gq, it.gt)
		}
	}
	if rates {
		h := step.PullEnds(block, 1)
		for _, i := range of {
			if mask[i] != 0 {
				l.present[i].coming().rate = h[i]
			}
		}
	}
	for _, i := range of {
		s := l.sweeps[i]
		mask[i] = 1
		step.Lay(i, n, s.sys, s.yb, s.fb[:len(s.gq)], s.tb)
		if seeded[i] = s.loaded >= 0; seeded[i] {
			step.Rows().PutDense(block[i:], &s.dense)
		}
		l.sow(step, i, n)
	}
	h := step.PullEnds(block, n)
	roots := false
	for _, i := range of {
		s, it := l.sweeps[i], l.present[i].coming()
		step.Take(i, n, s.sys, s.yb, s.tb)
		mask[i] = 0
		for j := range n {
			s.c.H[j] = h[j*lanes.Count+i]
		}
		if seeded[i] {
			addTo(s.tb, s.moved.t)
			addTo(s.c.H, s.moved.h)
		}
		switch it.end.Kind {
		case solvers.EndClip:
			for j, x := range s.c.H[:n] {
				s.tb[j] -= x
			}
			s.owe(it.end, it.step.H, s.c.H)
		case solvers.EndRoot:
			for j, x := range s.c.H[:n] {
				s.w[j] = share(x, it.rate)
			}
			clear(s.w[n:])
			s.pullGuard(it.end.Index, &it.step)
			step.Lay(i, n, s.sys, s.gy, s.gq, s.gt)
			roots, mask[i] = true, 1
		}
	}
	if roots {
		step.PullEnds(block, n)
	}
	for _, i := range of {
		if s := l.sweeps[i]; mask[i] != 0 {
			step.Join(i, n, s.yb, s.fb[:len(s.gq)], s.tb)
			l.present[i].out = false
		}
	}
}

// sow gives a lane what its sweep has read within the step that is transposed next, if it has.
func (l *LaneRuns) sow(step lanes.Stepper, lane, n int) {
	s := l.sweeps[lane]
	if s.loaded < 0 {
		return
	}
	s.loaded = -1
	seeds := solvers.SeedsOf(s.method, &s.dense)
	step.Sow(lane, n, seeds)
	seeds.Sown = false
}

// coming returns the item that comes next on the way back.
func (r *laneRun) coming() *laneItem { return &r.items[r.next] }

// due returns the block that the item which comes next on the way back is after; -2 for no run.
func (r *laneRun) due() int {
	switch {
	case r == nil:
		return -2
	case r.next < 0:
		return r.end()
	}
	return r.coming().after
}

// end returns the last block of a run.
func (r *laneRun) end() int { return r.items[r.n-1].after }

// begin begins the sweep of a run.
func (r *laneRun) begin(s *sweep, first, objectives int) {
	l := r.of
	s.res = &r.res
	if first == 0 {
		r.res.prepare(&l.record, objectives, l.opts)
		r.res.Suspect = append(r.res.Suspect, make([]bool, objectives)...)
		r.res.Sound = append(r.res.Sound, make([]bool, objectives)...)
	}
	l.lanes[r.lane].Resume(r.i)
	s.objectives, s.stride, s.jump.of = objectives, l.opts.stride(l.record.Size()), -1
	s.aim(first, l.record.Size().P)
	s.loaded = -1
	if first == 0 {
		r.slopes(s)
	}
	s.begins()
	r.next = r.n - 1
	m := &r.items[r.next].mark
	s.sys.Enter(m.Dp, m.Mp)
	step := l.runs.Stepper(0)
	step.Enter(r.lane, s.sys)
	r.out = true
}

// slopes finds the rates of all roots of the run. What gathers in the system meanwhile is discarded.
func (r *laneRun) slopes(s *sweep) {
	var m *solvers.Mark
	for k := range r.items[:r.n] {
		switch it := &r.items[k]; {
		case !it.stands:
			m = &it.mark
		case it.end.Kind != solvers.EndRoot:
		case r.of.moves[it.step.Member]:
			s.sys.Enter(m.Dp, m.Mp)
			s.slant(it.end.Index, &it.step)
			it.gy, it.gt = append(it.gy[:0], s.gy...), append(it.gt[:0], s.gt...)
		default:
			s.sys.Enter(m.Dp, m.Mp)
			it.rate = s.slope(&r.res, it.end.Index, &it.step, it.field(s), r.of.opts.grazingLimit())
		}
	}
}

// field returns the system of a step, within its limits.
func (it *laneItem) field(s *sweep) solvers.CotangentField { return s.limit(it.limits()) }

func (it *laneItem) limits() (b limits, any bool) {
	return limitsBetween(it.from, it.end.Kind != solvers.EndFree, it.step.T, it.step.T1)
}

// times writes the times that the stages of a step are transposed at, for its lane.
func (it *laneItem) times(to []float64, rows *lanes.Rows) {
	if !rows.Timed {
		return
	}
	b, any := it.limits()
	for k, c := range rows.Nodes {
		t := it.step.Node(c)
		if any {
			t = b.within(t)
		}
		to[k*lanes.Count] = t
	}
}

// pull transposes the items after block j, for n objectives, up to a step that is transposed together with those of
// other lanes.
func (r *laneRun) pull(s *sweep, j, first, n int) {
	step := r.of.runs.Stepper(0)
	if !r.out {
		step.Take(r.lane, n, s.sys, s.yb, s.tb)
		r.out = true
	}
	entered, moves := false, false
	for ; r.next >= 0 && r.coming().after == j; r.next-- {
		it := r.coming()
		if !it.stands && it.mark.Inside {
			r.inside(s, j)
			continue
		}
		if moves = it.stands && r.of.moves[it.step.Member]; moves {
			break
		}
		if it.stands {
			st, seeded := &it.step, s.loaded >= 0
			if s.loaded = -1; seeded {
				st = &s.dense
			}
			s.transpose(-1, st, it.end, it.field(s), it.rate, seeded)
			continue
		}
		if it.reads {
			s.pt.Site = it.site
			s.pt.moveTo(&it.mark)
			s.obj.ObservePull(&s.pt, s.fb, s.yb, s.db, s.yb, s.db, s.tb)
			continue
		}
		s.pullMark(&it.mark, r.next, it.left)
		switch it.mark.Kind {
		case solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
			entered = true
		}
	}
	if r.next < 0 {
		r.out = false
		return
	}
	apart := moves && !r.coming().laid
	if len(s.owed) > 0 && !apart {
		s.settle()
	}
	if entered {
		step.Enter(r.lane, s.sys)
	}
	switch {
	case apart:
		r.of.apart = append(r.of.apart, r.lane)
	case moves:
		r.of.ending = append(r.of.ending, r.lane)
	default:
		step.Lay(r.lane, n, s.sys, s.yb, s.fb[:len(s.gq)], s.tb)
		r.out = false
	}
}

// inside transposes the item that comes next, which is read within its step: one of block j, or that of the item
// before.
func (r *laneRun) inside(s *sweep, j int) {
	it := r.coming()
	in, read := it.inner(&s.survey, s.obj)
	if !read {
		return
	}
	of := r.ofStep(j)
	field := solvers.CotangentField(s.sys)
	if of != nil {
		field = of.field(s)
	}
	if s.loaded < 0 {
		s.loaded = 0
		s.moved.clear()
		r.dense(&s.dense, of, j)
	}
	method := s.method.(solvers.Interpolant)
	if it.reads {
		method.Interpolate(s.sys, &s.dense, in.theta, it.mark.Yp)
		if of == nil && !slices.Contains(r.of.held, r.lane) {
			r.of.held = append(r.of.held, r.lane)
		}
	}
	s.keepInside(method, field, &in)
}

// within reports whether something is read at the item within a step: one in block j, or an item after that.
func (it *laneItem) within(j int) bool { return it.after == j && !it.stands && it.mark.Inside }

// inner makes the point of s that of an item within its step. It returns what is read there, and whether anything is.
func (it *laneItem) inner(s *survey, obj Objectives) (innerReading, bool) {
	if it.reads {
		s.pt.Site = it.site
		s.pt.moveTo(&it.mark)
		return innerReading{t: it.mark.T, theta: it.mark.Theta, instant: -1, held: true}, true
	}
	return s.atInside(&it.mark, obj)
}

// ofStep returns the step of the item that comes next, which is read within it; nil for that of block j.
func (r *laneRun) ofStep(j int) *laneItem {
	for k := r.next - 1; k >= 0 && r.items[k].after == j; k-- {
		if it := &r.items[k]; it.stands {
			return it
		} else if !it.mark.Inside {
			break
		}
	}
	return nil
}

// dense makes to a step that can be interpolated: that of an item, or without one that of block j.
func (r *laneRun) dense(to *solvers.Step, of *laneItem, j int) {
	runs := r.of.runs
	if of == nil || of.laid {
		block, member := runs.Block(j)
		to.Member = member
		runs.Stepper(member).Rows().Load(block[r.lane:], to)
		to.Dense = of == nil // else there are rows of another step
		return
	}
	from, rows := &of.step, runs.Stepper(of.step.Member).Rows()
	to.T, to.H, to.T1, to.Member, to.Dense = from.T, from.H, from.T1, from.Member, false
	to.Y0, to.Y1, to.DQ = append(to.Y0[:0], from.Y0...), append(to.Y1[:0], from.Y1...), append(to.DQ[:0], from.DQ...)
	to.K = append(append(to.K[:0], from.K...), make([]float64, rows.Extra*rows.W)...)
}

// Runs returns how many runs there were.
func (l *LaneRuns) Runs() int { return l.n }

// Result returns what came of run i, in how many steps. A run with an error is to be made alone.
func (l *LaneRuns) Result(i int) (res *Result, steps int, err error) {
	r := l.list[i]
	return &r.res, r.steps, r.err
}

// Room reports whether the blocks and items of another run are to be kept.
func (l *LaneRuns) Room() bool { return l.runs.Bytes()+l.kept < laneBytes }

// laneBytes is about how much the blocks and items of runs that are made together should take: what the first cache of
// a processor has room for beside all else that a run needs.
const laneBytes = 16 << 10
