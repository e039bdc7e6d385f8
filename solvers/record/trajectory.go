// Package record keeps runs: a Trajectory is a solvers.Sink that records one, with as much of its states and stages as
// a Checkpoint says, in memory and in a file. A Reader reads it forwards or backwards and recomputes, to the same bits,
// what is not kept. A Sampler passes rows of a run on.
//
// Lengths are those of solvers.Size; states are [N], in the units of the system, and stages are as their method has
// them. Errors are *MemoryError, *DiskError and those of the methods that recompute steps.
package record

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stock"
)

// Trajectory is a Sink that records a run: what happened, and as much of the states and stages as its Checkpoint
// says. It grows in chunks that never move, so recording a step costs a copy and only now and then an allocation. It
// is reused by recording another run. Once a run is recorded, any number of goroutines may read it, each with a
// Reader.
type Trajectory struct {
	// Limit is the number of bytes that it may take together with its Readers; 0 for no limit.
	Limit int64
	// Keep says what is kept.
	Keep Checkpoint
	// Replayer makes a system and a method like those that make the run, with which a Reader recomputes what is not
	// kept. Without it every step must be kept.
	Replayer func() (solvers.System, solvers.Method)
	// Tell, if not nil, is told now and then how many steps Readers have recomputed, by their goroutines.
	Tell func(replayed int)
	// Open makes a file for states, where Keep wants one.
	Open func() (Disk, error)
	// Fixed is the length of the steps, where all but the last are equal; 0 where they are not. The number of steps is
	// then known if nothing happens on the way, and states of CheckpointBinomial are placed for it from the start.
	Fixed float64
	// Stock, if not nil, is where the memory of steps that are kept with their stages comes from.
	Stock *stock.Stock

	size solvers.Size
	info solvers.Info   // of the method
	each []solvers.Info // of its members
	happened
	inWhole

	thinned bool // Limit did not allow that; later runs begin without it
	stride  int  // of CheckpointEvery and thinned runs: the state before every so many units is kept
	kept    states

	inFiles

	run      int          // counts the runs
	working  atomic.Int64 // bytes of the Readers
	replayed atomic.Int64 // steps that Readers recomputed
	shared   sharing
}

// happened is what is kept of a run whatever Keep says.
type happened struct {
	steps  records
	marks  list[markRecord]
	thetas list[float64] // of the sites within steps
	spans  list[span]
	spanAt arena        // of spans, one or several in a row: d[D], m[M]
	group  int          // the first mark of the group that is being recorded
	units  int          // steps of positive length
	roots  int          // steps that ended at a guard
	made   []int        // steps of each member of the method, those of length zero included
	y0     []float64    // [N] at the start
	last   solvers.Step // the last unit, where their number was known: the way back begins with it
}

// inWhole are the steps that are kept with their stages.
type inWhole struct {
	whole  bool    // every step is kept with its stages, in:
	stepAt []arena // per member of the method, and step of it: y1[N], dq[Q], k[stages][N+Q]
	jumpAt arena   // per span: y[N] at its beginning
	siteAt arena   // per site within a step: y[N]
	// keepAt holds what methods keep of steps for the way back, per member and step of it while there is room: 1 if it
	// was at hand, and otherwise 0; then the numbers of the Keeper.
	keepAt  []arena
	keepers []solvers.Keeper // per member; nil where it keeps nothing
	crammed bool             // the run left no room for what methods keep
}

// inFiles are the files of a run.
type inFiles struct {
	opening sync.Mutex
	files   []Disk
	shelf   shelf // for lists that take too much of Limit
	shelves bool  // they do, in this run
}

// sharing says how the Readers of a run share its memory.
type sharing struct {
	run     int  // the run for which this was decided
	consume bool // one Reader goes back once; states that it has passed make room
	tape    int  // steps that a Reader recomputes at once, keeping their stages
	spare   int  // further states that a Reader may keep, in memory
	disk    int  // and in a file
}

// Begin implements Sink.
func (tr *Trajectory) Begin(sys solvers.System, m solvers.Method) error {
	tr.size, tr.info, tr.each = sys.Size(), m.Info(), tr.each[:0]
	z := tr.size
	members := solvers.Members(m)
	if len(tr.stepAt) != len(members) {
		tr.stepAt, tr.keepAt = make([]arena, len(members)), make([]arena, len(members))
	}
	tr.keepers, tr.crammed = tr.keepers[:0], false
	tr.made = append(tr.made[:0], make([]int, len(members))...)
	for i, one := range members {
		info := one.Info()
		tr.each = append(tr.each, info)
		tr.stepAt[i].stock = tr.Stock
		tr.stepAt[i].reset(z.N + z.Q + info.Stages*(z.N+z.Q))
		k, _ := one.(solvers.Keeper)
		tr.keepers = append(tr.keepers, k)
		tr.keepAt[i].n = 0
	}
	tr.steps.clear()
	tr.marks.clear()
	tr.thetas.clear()
	tr.spans.clear()
	tr.spanAt.reset(z.D + z.M)
	tr.group, tr.units, tr.roots = 0, 0, 0
	tr.shelves = false
	tr.shelf.tr = tr
	tr.shelf.clear()
	tr.run++
	tr.working.Store(0)
	tr.replayed.Store(0)
	kind := tr.Keep.Kind
	tr.whole = kind == CheckpointAll || kind == CheckpointAuto && !tr.thinned
	if tr.whole && tr.steps.packed {
		tr.steps.drop()
	}
	tr.jumpAt.reset(z.N)
	tr.siteAt.reset(z.N)
	tr.stride = 1
	ram, disk, expected, stages := math.MaxInt, 0, 0, false
	switch kind {
	case CheckpointEvery:
		tr.stride = max(tr.Keep.Every, 1)
		if tr.Keep.RAM > 0 {
			ram, disk = tr.Keep.RAM, math.MaxInt
		}
	case CheckpointBinomial:
		expected = tr.expected(sys)
		ram, disk, stages = tr.places(expected)
	}
	tr.kept.tr = tr
	tr.kept.reset(tr.length(stages), stages, ram, disk)
	if tr.last.Y0 = tr.last.Y0[:0]; kind == CheckpointBinomial {
		tr.kept.expect(expected)
	}
	if tr.Limit > 0 && tr.Bytes() > tr.Limit { // Readers of the last run left more states than the next one may have
		tr.kept.mem.drop()
	}
	return nil
}

// length returns how many numbers a state takes, without or with the step before it.
func (tr *Trajectory) length(stages bool) int {
	z, n := &tr.size, tr.size.N
	if !stages {
		return n
	}
	most := 0
	for i := range tr.each {
		most = max(most, tr.each[i].Stages)
	}
	return 2*n + z.Q + most*(n+z.Q)
}

// places returns how many states of CheckpointBinomial may be in memory and in a file beside that at the start, and
// whether each is kept with the step before it. Where Keep names no number, the run is of a known number of units and
// whole steps leave less to recompute, although fewer have room, they are kept.
func (tr *Trajectory) places(expected int) (ram, disk int, stages bool) {
	ram, disk, stages = tr.Keep.RAM, tr.Keep.Disk, tr.Keep.Stages
	fit := func(stages bool) int {
		if tr.Limit == 0 {
			return math.MaxInt
		}
		return int(tr.Limit / 2 / int64(8*max(tr.length(stages), 1)+listed))
	}
	switch {
	case ram+disk == 0 && stages:
		return fit(true), 0, true
	case ram+disk == 0:
		ram = fit(false)
		if whole := fit(true); expected > 0 && tr.Limit > 0 &&
			ReplaysOfStages(expected, whole) < Replays(expected, ram+1) {
			return whole, 0, true
		}
		return ram, 0, false
	case stages:
		return ram, disk, true
	case ram == 0:
		return 0, disk - 1, false
	}
	return ram - 1, disk, false
}

// expected returns how many units the run will have, 0 where that is not known.
func (tr *Trajectory) expected(sys solvers.System) int {
	if tr.Fixed == 0 || tr.size.D > 0 || len(sys.Guards()) > 0 || len(sys.Instants()) != 2 {
		return 0
	}
	var times [2]float64
	sys.InstantTimes(nil, times[:])
	if n := math.Ceil((times[1]-times[0])/tr.Fixed - 1e-6); n >= 1 && n < math.MaxInt32 {
		return int(n)
	}
	return 0
}

// Bytes returns the memory that the trajectory takes, with that of its Readers.
func (tr *Trajectory) Bytes() int64 {
	return stageBytes(tr) + tr.jumpAt.bytes() + tr.siteAt.bytes() + tr.kept.bytes() + tr.working.Load() + listBytes(tr)
}

// listBytes returns the memory of the lists of steps, marks and spans, which are kept whatever Keep says.
func listBytes(tr *Trajectory) int64 {
	return tr.steps.bytes() + tr.marks.bytes() + tr.thetas.bytes() + tr.spans.bytes() + tr.spanAt.bytes()
}

// stageBytes returns the memory of the steps that are kept with their stages.
func stageBytes(tr *Trajectory) (bytes int64) {
	for i := range tr.stepAt {
		bytes += tr.stepAt[i].bytes()
	}
	return bytes + keptBytes(tr) + int64(8*(cap(tr.last.Y0)+cap(tr.last.Y1)+cap(tr.last.DQ)+cap(tr.last.K)))
}

// keptBytes returns the memory of what methods keep of steps.
func keptBytes(tr *Trajectory) (bytes int64) {
	for i := range tr.keepAt {
		bytes += tr.keepAt[i].bytes()
	}
	return bytes
}

// dropKept gives up what methods keep of steps, for the rest of the run. It reports whether that was any memory.
func dropKept(tr *Trajectory) bool {
	some := keptBytes(tr) > 0
	for i := range tr.keepAt {
		tr.keepAt[i].drop()
	}
	tr.crammed = true
	return some
}

// dropSteps gives up the memory of the steps that are kept with their stages.
func dropSteps(tr *Trajectory) {
	for i := range tr.stepAt {
		tr.stepAt[i].drop()
	}
	dropKept(tr)
}

// fits returns an error if so many bytes more are too many.
func (tr *Trajectory) fits(more int64) error {
	if tr.Limit > 0 && more > 0 {
		if need := tr.Bytes() + more; need > tr.Limit {
			return &MemoryError{Limit: tr.Limit, Bytes: need, Keep: tr.Kept(), Thinned: tr.Thinned()}
		}
	}
	return nil
}

// Kept returns what is kept of the run: Keep, or what Limit reduced it to.
func (tr *Trajectory) Kept() Checkpoint {
	if tr.thinned && !tr.whole {
		return Checkpoint{Kind: CheckpointEvery, Every: tr.stride}
	}
	return tr.Keep
}

// Thinned reports whether fewer than all steps are kept because of Limit.
func (tr *Trajectory) Thinned() bool { return tr.thinned && !tr.whole }

// Replayed returns how many steps Readers have recomputed since the run began.
func (tr *Trajectory) Replayed() int { return int(tr.replayed.Load()) }

// Scratch makes a file, which its caller closes.
func (tr *Trajectory) Scratch() (Disk, error) {
	if tr.Open == nil {
		return nil, &DiskError{Op: "open", Err: errors.New("there is nobody who opens files")}
	}
	f, err := tr.Open()
	if err != nil {
		return nil, &DiskError{Op: "open", Err: err}
	}
	return f, nil
}

// open makes a file that Close closes.
func (tr *Trajectory) open() (Disk, error) {
	f, err := tr.Scratch()
	if err != nil {
		return nil, err
	}
	tr.opening.Lock()
	defer tr.opening.Unlock()
	tr.files = append(tr.files, f)
	return f, nil
}

// Close closes the files that the run is kept in; it cannot be read any more.
func (tr *Trajectory) Close() {
	for _, f := range tr.files {
		_ = f.Close() // its contents are not needed any more
	}
	tr.files, tr.shelf.file = tr.files[:0], nil
}

// Lists move to a file where they take more than a part of Limit, 1/listsPart, and are worth it.
const listsPart, listsLeast = 8, 1 << 18

// shelve moves the lists to a file, where they take more than their part of Limit. Runs that are kept whole are not
// that long.
func (tr *Trajectory) shelve() error {
	if tr.whole || tr.Limit == 0 || tr.Open == nil || !tr.steps.packed ||
		!tr.shelves && listBytes(tr) <= max(tr.Limit/listsPart, listsLeast) {
		return nil
	}
	tr.shelves = true
	if err := tr.steps.shelve(&tr.shelf); err != nil {
		return err
	}
	if err := tr.marks.shelve(&tr.shelf); err != nil {
		return err
	}
	if err := tr.thetas.shelve(&tr.shelf); err != nil {
		return err
	}
	if err := tr.spans.shelve(&tr.shelf); err != nil {
		return err
	}
	return tr.spanAt.shelve(&tr.shelf)
}

// Err returns the error of the file that lists of the run are kept in, if something could not be read. What was read
// since then means nothing.
func (tr *Trajectory) Err() error { return tr.shelf.failed() }

// Recycle gives the memory of steps that are kept with their stages to Stock; the run cannot be read any more.
func (tr *Trajectory) Recycle() {
	for i := range tr.stepAt {
		tr.Stock.Give(tr.stepAt[i].chunks)
		tr.stepAt[i].drop()
	}
}

// Drop gives up the memory of the states, some of it to Stock; the run cannot be read any more. The next run is
// recorded as if this one had not been dropped.
func (tr *Trajectory) Drop() {
	tr.Recycle()
	dropKept(tr)
	tr.jumpAt.drop()
	tr.siteAt.drop()
	tr.steps.drop()
	tr.marks.drop()
	tr.thetas.drop()
	tr.spans.drop()
	tr.spanAt.drop()
}

// Step implements Sink.
func (tr *Trajectory) Step(s *solvers.Step, e solvers.End) error {
	if more := tr.stepAt[s.Member].grows() + tr.steps.grows(); more > 0 {
		if err := tr.makeRoom(more); err != nil {
			return err
		}
	}
	kept := 0
	if tr.whole {
		n, q := tr.size.N, tr.size.Q
		at := &tr.stepAt[s.Member]
		kept = at.n
		slot := at.next()
		if n > 0 && &slot[0] != &s.Y1[0] { // otherwise it was lent
			copy(slot[:n], s.Y1)
		}
		copy(slot[n:n+q], s.DQ)
		if k := slot[n+q:]; len(k) > 0 && &k[0] != &s.K[0] {
			copy(k, s.K)
		}
		if tr.keepers[s.Member] != nil {
			keepOf(tr, s, kept)
		}
	} else if s.H > 0 {
		if !tr.kept.whole {
			if err := tr.keep(tr.units, s.Y0); err != nil {
				return err
			}
		}
		if tr.units == tr.kept.expected-1 {
			l := &tr.last
			l.Y0, l.Y1 = append(l.Y0[:0], s.Y0...), append(l.Y1[:0], s.Y1...)
			rows := tr.each[s.Member].Stages
			l.DQ, l.K = append(l.DQ[:0], s.DQ...), append(l.K[:0], s.K[:rows*(tr.size.N+tr.size.Q)]...)
		}
	}
	tr.note(s, e, kept)
	tr.made[s.Member]++
	if !tr.whole {
		tr.steps.pack(tr.Limit > 0 && tr.steps.bytes() > tr.Limit/16)
		if tr.steps.n&(1<<chunkShift-1) == 0 {
			if err := tr.shelve(); err != nil {
				return err
			}
		}
	}
	if s.H > 0 {
		tr.units++
		tr.group = tr.marks.n
		if !tr.whole && tr.kept.whole && tr.units != tr.kept.expected {
			return tr.keep(tr.units, s.Y1, s.Y0, s.DQ, s.K[:tr.each[s.Member].Stages*(tr.size.N+tr.size.Q)])
		}
	}
	return nil
}

// note adds the record of a step whose stages, if they are kept, are in the given slot of its member.
func (tr *Trajectory) note(s *solvers.Step, e solvers.End, slot int) {
	var packed stepRecord
	r := &packed
	if !tr.steps.packed { // to write there what would be read at once is a wait for the processor
		r = tr.steps.room()
	}
	r.t, r.h, r.t1 = s.T, s.H, s.T1
	r.index, r.nth, r.span, r.unit = int32(e.Index), int32(e.Nth), int32(tr.spans.n-1), int32(tr.units)
	r.slot, r.kind, r.member, r.at = int32(slot), e.Kind, uint8(s.Member), e.At
	if tr.steps.packed {
		tr.steps.add(r)
	}
	if e.Kind == solvers.EndRoot {
		tr.roots++
	}
}

// keepOf keeps what the method, a Keeper, keeps of s, which goes to the given slot of its member, as long as there is
// room.
func keepOf(tr *Trajectory, s *solvers.Step, slot int) {
	k, at := tr.keepers[s.Member], &tr.keepAt[s.Member]
	if at.n != slot || tr.crammed {
		return
	}
	if slot == 0 {
		n := k.Factors()
		if n == 0 {
			return
		}
		at.reset(1 + n)
	}
	if more := at.grows(); more > 0 {
		limit := int64(keptLimit)
		if tr.Limit > 0 {
			limit = min(limit, tr.Limit/2)
		}
		if keptBytes(tr)+more > limit || tr.fits(more) != nil {
			return
		}
	}
	to := at.next()
	to[0] = 0
	if k.KeepFactors(s, to[1:]) {
		to[0] = 1
	}
}

// keptLimit is how many bytes may be used for what only saves work.
const keptLimit = 2 << 30

// keep decides whether to keep y, the state before unit u, which is the next one, and keeps it. Where the step before
// it is kept as well, y are the parts of that.
func (tr *Trajectory) keep(u int, y ...[]float64) error {
	level := 0
	switch {
	case u == 0: // the start is kept in any case
		level = -1
	case tr.Keep.Kind == CheckpointBinomial:
		level = tr.kept.place(u)
	default:
		for tr.units%tr.stride == 0 && tr.thinned && tr.stride <= tr.units && crowded(tr) {
			widen(tr)
		}
		if tr.units%tr.stride != 0 {
			level = -1
		}
	}
	for {
		more := tr.steps.grows()
		if level >= 0 {
			more += tr.kept.grows()
		}
		err := tr.fits(more)
		if err == nil {
			break
		}
		if !tr.thinned || tr.stride > tr.units {
			return err
		}
		widen(tr)
		tr.kept.compact()
		if tr.units%tr.stride != 0 {
			level = -1
		}
	}
	if level < 0 {
		return nil
	}
	return tr.kept.put(u, level, y...)
}

// squeeze makes room for more, by keeping fewer states of a thinned run. It returns an error if that does not suffice.
func squeeze(tr *Trajectory, more func() int64) error {
	for {
		err := tr.fits(more())
		if err == nil || !tr.thinned || tr.stride > tr.units {
			return err
		}
		widen(tr)
		tr.kept.compact()
	}
}

// widen keeps every other state of a thinned run.
func widen(tr *Trajectory) {
	tr.stride *= 2
	tr.kept.strided(tr.stride)
}

// crowded reports whether one more state would leave the readers of a thinned run less memory than the states take.
func crowded(tr *Trajectory) bool {
	kept, more := tr.kept.bytes(), tr.kept.grows()
	return more > 0 && kept+more > (tr.Limit-(tr.Bytes()-kept))/2
}

// thin gives up the stages of all steps, and as many states as it must. Where the run must be kept whole it returns
// full, the error that is the reason.
func thin(tr *Trajectory, full error) error {
	if tr.Keep.Kind != CheckpointAuto || tr.Replayer == nil {
		return full
	}
	tr.whole, tr.thinned = false, true
	units, each := tr.units, int64(8*max(tr.size.N, 1))
	for tr.stride = 1; int64(units/tr.stride)*each > tr.Limit/4; tr.stride *= 2 {
	}
	tr.units = 0
	for i := range tr.steps.n {
		if r := tr.steps.loose.near(i); r.h > 0 {
			if tr.units > 0 && tr.units%tr.stride == 0 {
				if err := tr.kept.put(tr.units, 0, tr.state(int32(i)-1, r.span)); err != nil {
					return err
				}
			}
			tr.units++
		}
		if i > 0 {
			done := tr.steps.loose.near(i - 1)
			tr.stepAt[done.member].release(int(done.slot))
		}
	}
	tr.steps.pack(true)
	dropSteps(tr)
	tr.jumpAt.drop()
	tr.siteAt.drop()
	runtime.GC() // this is most of all memory; the next collection may come only after as much was allocated anew
	return nil
}

// makeRoom makes room for so many bytes more in a run that is kept whole: what methods keep of steps is given up, and
// if that does not suffice, the stages.
func (tr *Trajectory) makeRoom(more int64) error {
	if !tr.whole {
		return nil
	}
	err := tr.fits(more)
	if err != nil && dropKept(tr) {
		err = tr.fits(more)
	}
	if err != nil {
		err = thin(tr, err)
	}
	return err
}

// lendFrom is the number of doubles in the stages of a step from which lending is faster than copying.
const lendFrom = 1 << 12

// Lends implements Lender.
func (tr *Trajectory) Lends() bool {
	for i := range tr.each {
		if tr.lends(&tr.each[i]) {
			return true
		}
	}
	return false
}

// lends reports whether there are stages to lend for steps of m.
func (tr *Trajectory) lends(m *solvers.Info) bool {
	return tr.whole && m.Stages*(tr.size.N+tr.size.Q) >= lendFrom
}

// Lend implements Lender.
func (tr *Trajectory) Lend(member int) (y1, k []float64) {
	n, q := tr.size.N, tr.size.Q
	at := &tr.stepAt[member]
	if !tr.lends(&tr.each[member]) || tr.fits(at.grows()) != nil {
		return nil, nil
	}
	slot := at.next()
	at.n--
	return slot[:n:n], slot[n+q:]
}

// Mark implements Sink.
func (tr *Trajectory) Mark(m *solvers.Mark) error {
	r := markRecord{
		kind: m.Kind, stop: m.Stop, caused: m.Caused, t: m.T, cause: causeOf(m.Guard, m.Instant),
		after: int32(tr.steps.n - 1), behind: int32(tr.spans.n - 1),
	}
	more := tr.jumpAt.grows() + tr.siteAt.grows() + tr.thetas.grows() + tr.spanAt.grows() + tr.spans.grows()
	if more += tr.marks.grows(); more > 0 {
		if err := tr.makeRoom(more); err != nil {
			return err
		}
		if err := squeeze(tr, func() int64 { return tr.marks.grows() }); err != nil {
			return err
		}
	}
	switch m.Kind {
	case solvers.MarkStart, solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
		if more > 0 {
			if err := squeeze(tr, func() int64 { return tr.spanAt.grows() + tr.spans.grows() }); err != nil {
				return err
			}
		}
		if tr.whole {
			copy(tr.jumpAt.next(), m.Yp)
		}
		tr.spans.add(span{int32(tr.steps.n), tr.hold(m.Dp, m.Mp)})
		r.behind = int32(tr.spans.n - 1)
		if m.Kind == solvers.MarkStart {
			tr.y0 = append(tr.y0[:0], m.Yp...)
		}
		if f := &m.Firing; m.Happens() {
			r.event, r.elem = int32(f.Event), int32(f.Elem)
			r.nth, r.slot = int32(f.Nth), int32(f.Slot)
		}
	case solvers.MarkSite:
		r.event = -1
		if m.Inside {
			tr.thetas.add(m.Theta)
			if r.elem = int32(tr.thetas.n); tr.whole {
				copy(tr.siteAt.next(), m.Yp)
			}
			break
		}
		for i := tr.group; i < tr.marks.n && r.event < 0; i++ {
			if tr.marks.at(i).kind == solvers.MarkFire {
				r.event = int32(i)
			}
		}
	}
	if tr.marks.add(r); tr.marks.n&(1<<chunkShift-1) == 0 {
		return tr.shelve()
	}
	return nil
}

// hold returns the slot of discretes and modes, which often are those of the span before.
func (tr *Trajectory) hold(d, m []float64) int32 {
	same := func(x, y []float64) bool {
		for i, v := range x {
			if math.Float64bits(v) != math.Float64bits(y[i]) {
				return false
			}
		}
		return true
	}
	k := tr.size.D
	if n := tr.spanAt.n; n > 0 {
		if old := tr.spanAt.at(n - 1); same(old[:k], d) && same(old[k:], m) {
			return int32(n - 1)
		}
	}
	slot := tr.spanAt.next()
	copy(slot[:k], d)
	copy(slot[k:], m)
	return int32(tr.spanAt.n - 1)
}

// Size returns the lengths of the vectors of the system that was recorded.
func (tr *Trajectory) Size() solvers.Size { return tr.size }

// Method describes the method that made the steps.
func (tr *Trajectory) Method() solvers.Info { return tr.info }

// Member returns which of the method's Members made step i, and what that is.
func (tr *Trajectory) Member(i int) (int, *solvers.Info) {
	m := int(tr.rec(i).member)
	return m, &tr.each[m]
}

// Stages returns how many stages all steps have, those of length zero included.
func (tr *Trajectory) Stages() (stages int) {
	for i, n := range tr.made {
		stages += n * tr.each[i].Stages
	}
	return stages
}

// Steps returns the number of steps, those of length zero included.
func (tr *Trajectory) Steps() int { return tr.steps.n }

// Roots returns the number of steps that ended at a guard.
func (tr *Trajectory) Roots() int { return tr.roots }

// Marks returns the number of marks.
func (tr *Trajectory) Marks() int { return tr.marks.n }

// Initial returns y at the start, before anything happens there.
func (tr *Trajectory) Initial() []float64 { return tr.y0 }

// End returns how step i ended.
func (tr *Trajectory) End(i int) solvers.End { return tr.steps.end(i) }

// Free reports whether step i ended nowhere in particular: End(i).Kind is EndFree.
func (tr *Trajectory) Free(i int) bool { return tr.steps.free(i) }

// rec returns what is known of step i.
func (tr *Trajectory) rec(i int) stepRecord { return tr.steps.at(i, &tr.spans) }

// Begins returns the time at which the run begins.
func (tr *Trajectory) Begins() float64 { return tr.marks.at(0).t }

// Late returns how much later than at the end of step i the run went on, as events that count as one happen at the time
// of the last.
func (tr *Trajectory) Late(i int) float64 { return tr.resumes(i) - tr.rec(i).t1 }

// Ahead returns how much later than the run a mark after step i, or at the start where i is -1, happened at time t:
// what a condition of time sets off happens when that changes, within the tolerance behind the others.
func (tr *Trajectory) Ahead(t float64, i int) float64 { return t - tr.resumes(i) }

// resumes returns the time at which the run goes on after step i, or begins where i is -1.
func (tr *Trajectory) resumes(i int) float64 {
	if i+1 < tr.steps.n {
		return tr.rec(i + 1).t
	}
	return tr.Ends()
}

// Ends returns the time at which the run ends.
func (tr *Trajectory) Ends() float64 { return tr.marks.at(tr.marks.n - 1).t }

// Length returns the length of step i: 0 between members of a group of events.
func (tr *Trajectory) Length(i int) float64 { return tr.steps.length(i) }

// Until returns the time at which step i ends.
func (tr *Trajectory) Until(i int) float64 { return tr.rec(i).t1 }

// Inside reports whether mark i is a site within its step.
func (tr *Trajectory) Inside(i int) bool { return tr.marks.at(i).inside() > 0 }

// After returns the step at whose end mark i is, -1 before the first step.
func (tr *Trajectory) After(i int) int { return int(tr.marks.at(i).after) }

// Held returns the discretes and modes during step i.
func (tr *Trajectory) Held(i int) (d, m []float64) { return tr.held(tr.rec(i).span) }

func (tr *Trajectory) held(sp int32) (d, m []float64) {
	slot := tr.spanAt.at(int(tr.spans.at(int(sp)).slot))
	k := tr.size.D
	return slot[:k:k], slot[k:]
}

// PeekMark makes m mark i without its states, which need no recomputing. after and first are those of
// Reader.LoadMark.
func (tr *Trajectory) PeekMark(i int, m *solvers.Mark) (after, first int) {
	r := tr.marks.at(i)
	m.Kind, m.T, m.Firing, m.Stop, m.Caused = r.kind, r.t, r.firing(), r.stop, r.caused
	m.Guard, m.Instant = r.by()
	m.Inside, m.Theta = false, 0
	if k := r.inside(); k > 0 {
		m.Inside, m.Theta = true, *tr.thetas.at(int(k) - 1)
	}
	left := r
	if first = int(r.first()); first >= 0 {
		left = tr.marks.at(first)
	}
	m.Dm, m.Mm = tr.held(left.before())
	m.Dp, m.Mp = tr.held(r.behind)
	return int(r.after), first
}

// state returns y at the end of step i of a whole run, within span sp.
func (tr *Trajectory) state(i, sp int32) []float64 {
	n := tr.size.N
	if tr.spans.near(int(sp)).first > i {
		return tr.jumpAt.near(int(sp))
	}
	return tr.slot(tr.steps.loose.near(int(i)))[:n:n]
}

// slot returns what is kept of a step of a whole run.
func (tr *Trajectory) slot(r *stepRecord) []float64 { return tr.stepAt[r.member].near(int(r.slot)) }

// load makes s step i of a whole run, by reference.
func (tr *Trajectory) load(i int, s *solvers.Step) solvers.End {
	r := tr.steps.loose.near(i)
	n, q := tr.size.N, tr.size.Q
	slot := tr.slot(r)
	s.T, s.H, s.T1, s.Dense, s.Estimated = r.t, r.h, r.t1, false, false
	s.Member = int(r.member)
	s.Y0 = tr.state(int32(i)-1, r.span)
	s.Y1, s.DQ, s.K, s.Kept = slot[:n:n], slot[n:n+q:n+q], slot[n+q:], nil
	if at := &tr.keepAt[r.member]; int(r.slot) < at.n {
		if kept := at.near(int(r.slot)); kept[0] == 1 {
			s.Kept = kept[1:]
		}
	}
	return r.end()
}

// loadMark makes m mark i of a whole run, by reference.
func (tr *Trajectory) loadMark(i int, m *solvers.Mark) (after, first int) {
	after, first = tr.PeekMark(i, m)
	r := tr.marks.at(i)
	if m.Inside {
		m.Yp = tr.siteAt.at(int(r.inside()) - 1)
		m.Ym = m.Yp
		return after, first
	}
	left := r
	if first >= 0 {
		left = tr.marks.at(first)
	}
	m.Ym, m.Yp = tr.state(left.after, left.before()), tr.state(r.after, r.behind)
	return after, first
}

// Replay passes the recorded run to a sink, without Begin.
func (tr *Trajectory) Replay(ctx context.Context, to solvers.Sink) error {
	var r Reader
	r.Open(ctx, tr)
	var s solvers.Step
	var m solvers.Mark
	at := 0
	for i := -1; i < tr.steps.n; i++ {
		if i >= 0 {
			e, err := r.Load(i, &s)
			if err != nil {
				return err
			}
			if err := to.Step(&s, e); err != nil {
				return err
			}
		}
		for ; at < tr.marks.n && int(tr.marks.at(at).after) == i; at++ {
			if _, _, err := r.LoadMark(at, &m); err != nil {
				return err
			}
			if err := to.Mark(&m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Times returns the start and the end of step i.
func (tr *Trajectory) Times(i int) (t, t1 float64) {
	r := tr.rec(i)
	return r.t, r.t1
}
