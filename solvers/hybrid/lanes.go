package hybrid

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/matrices"
)

// Lanes makes runs of one system side by side, each with steps of its own length. It belongs to one goroutine.
//
//	in lanes                          stages, the new state, the norm of the error, guards at the points where they
//	                                  are read, stages of the dense output, samples of what is to be largest; the
//	                                  transpose of all steps, those among them whose ends move, with what is read
//	                                  within them; tangents of steps whose ends do not move
//	lane by lane, by the Solver       the length of the next step, whether a step is accepted, stability, what
//	                                  functions of time do within a step, when guards fire, events, observations, the
//	                                  start and the end; steps whose pivots are not those of the programs
//	not at all; the run is made alone methods that iterate, errors
//
// A method may have several members that make steps (memberLanes). A block has steps of one of them, and lanes that
// want another wait; see turn.
//
// The states stay in lanes from step to step: the Solver is given them when it asks for them. A step is a block of
// numbers. With a way back it is kept for that as it is, else two blocks take turns. In a lane without an accepted step
// the block is masked, and the next one begins where it began. So it is in a lane whose step ends at a time that may
// move, or was made by the Solver: such a step is the Solver's. Its sink keeps it, or has it put into the block.
type Lanes struct {
	members []memberLanes
	lanes   [lanes.Count]lane
	use     LaneUse
	keep    bool         // blocks are kept
	made    []blockPlace // of those that are kept
	present int          // the block of the steps that are made
	moves   bool         // some steps end at times that depend on something
	jumps   bool         // something may change discretes or modes
	per     []float64    // [N] absolute tolerances over sizes, where they follow these

	tried, apart int // steps of all runs, and those of them that solvers made
}

// laneMemory is how much the blocks of one run may take where they are kept. A longer run is made alone, where it keeps
// to the memory that is allowed.
const laneMemory = 64 << 20

// apartMost is how many steps solvers may make, or a quarter of all if that is more. Beyond that, runs that need one
// are made alone, which costs less.
const apartMost = 10000

// LaneUse says what the steps of Lanes are for besides the runs themselves.
type LaneUse struct {
	Back  bool // a way back: blocks are kept
	Forth bool // a way of tangents: blocks are kept
	// Own makes all steps that end at given times the Solver's: even where the times do not move, what happens to
	// derivatives there may change the signs of zeros.
	Own bool
	// Tell has each run leave the statistics and the warnings that Solver.Solve gives, of a system without guards.
	Tell bool
}

// NewLanes returns what makes the runs of solvers with these programs: one for each member of the method, nil for a
// member whose steps are not made side by side. They share what Enter and Lay give and Take takes back.
func NewLanes(steps []lanes.Stepper, use LaneUse) *Lanes {
	l := &Lanes{use: use, keep: use.Back || use.Forth}
	for _, step := range steps {
		m := memberLanes{step: step}
		if step != nil {
			m.rows = step.Rows()
		}
		l.members = append(l.members, m)
	}
	return l
}

// Block returns block i of the last runs, and the member of the method that made its steps. Blocks are kept.
func (l *Lanes) Block(i int) (block []float64, member int) {
	at := l.made[i]
	return l.members[at.member].block(at.block), at.member
}

// Present returns the block of the steps that are being made, -1 at the start.
func (l *Lanes) Present() int { return l.present }

// Bytes returns how much memory the blocks take that are kept.
func (l *Lanes) Bytes() (n int) {
	if !l.keep {
		return 0
	}
	for i := range l.members {
		if m := &l.members[i]; m.blocks > 0 {
			n += 8 * m.blocks * m.rows.Block()
		}
	}
	return n
}

// Own reports whether the step that the sink of a lane is given is not in a block, and after whether its start is the
// end of one that is.
func (l *Lanes) Own(lane int) (own, after bool) { return l.lanes[lane].own, !l.lanes[lane].chosen }

// Samples returns what lanes.Stepper.ReadSamples says of the step that the sink of a lane is given; nil for nothing.
func (l *Lanes) Samples(lane int) []float64 {
	a := &l.lanes[lane]
	if a.own {
		return nil
	}
	return a.samples
}

// Load gives the solver of a lane the step that its sink is given.
func (l *Lanes) Load(lane int) { l.lanes[lane].load() }

// Put writes a step that the sink of a lane is given, and that is not in a block, into the present one.
func (l *Lanes) Put(lane int, st *solvers.Step) {
	if a := &l.lanes[lane]; a.located || a.apart {
		a.rows.Put(a.block, st)
	}
}

// PutAside writes a step into a block of its own, which it returns.
func (l *Lanes) PutAside(lane int, st *solvers.Step) []float64 {
	m := &l.members[st.Member]
	if m.aside == nil {
		m.aside = make([]float64, m.rows.Block())
	}
	m.rows.Put(m.aside[lane:], st)
	return m.aside
}

// Stepper returns what makes the steps of a member of the method.
func (l *Lanes) Stepper(member int) lanes.Stepper { return l.members[member].step }

// LaneSource gives lanes their runs.
type LaneSource interface {
	// Next prepares the system of a lane for another run, and returns the sink of that; nil where there are no more.
	// The first step of the run is in block Present()+1. The sink receives the steps of a block only if the run has
	// quadratures or largest values, or if the sink is a LaneReader that asks for them.
	Next(lane int) solvers.Sink
	// Done tells that the run of a lane has ended. If it has an error, it is to be made by Solver.Solve, and nothing
	// that its sink has seen counts.
	Done(lane int, err error)
}

// Solve makes runs side by side, each by the solver of its lane, until there are no more.
func (l *Lanes) Solve(ctx context.Context, solvers []*Solver, from LaneSource) {
	l.present, l.made = -1, l.made[:0]
	// The field of a step at whose ends something happens is pushed within limits, which the blocks do not know.
	l.moves = slices.ContainsFunc(solvers, (*Solver).moves) || l.use.Own || l.use.Forth && l.members[0].rows.Timed
	l.jumps = slices.ContainsFunc(solvers, (*Solver).jumps)
	if by := solvers[0].tol.sizes; by != nil {
		l.per = by.Per()
	}
	reads := len(solvers[0].guards) > 0 && len(solvers[0].watch.boxes.States) == 0
	for i := range l.members {
		m := &l.members[i]
		m.blocks, m.next, m.reads = 0, nil, reads && solvers[0].members[i].DenseStages == 0
	}
	for i, s := range solvers {
		l.lanes[i] = lane{}
		l.next(i, s, from)
	}
	wants := make([]int, len(l.members)) // lanes that want a step of each
	for member := 0; ctx.Err() == nil; {
		clear(wants)
		bytes := l.Bytes()
		for i, s := range solvers {
			a := &l.lanes[i]
			for a.s != nil && !a.aimed {
				err := l.aim(i, a, bytes)
				if err == nil {
					break
				}
				a.leave()
				from.Done(i, err)
				l.next(i, s, from)
			}
			if a.s != nil {
				wants[a.member]++
			}
		}
		if member = turn(member, wants); wants[member] == 0 {
			break
		}
		m := &l.members[member]
		block := m.next
		m.step.Step(block)
		l.note(member)
		m.grow(l.keep)
		l.judge(member, block, from)
		for i, s := range solvers {
			if a := &l.lanes[i]; a.s == nil && !a.empty {
				l.next(i, s, from)
			}
		}
	}
	for i := range solvers {
		if a := &l.lanes[i]; a.s != nil {
			a.leave()
			from.Done(i, context.Cause(ctx))
		}
	}
}

// next begins another run in lane i.
func (l *Lanes) next(i int, s *Solver, from LaneSource) {
	a := &l.lanes[i]
	for {
		sink := from.Next(i)
		if a.empty = sink == nil; a.empty {
			return
		}
		a.s, a.moved, a.entered, a.chosen, a.own, s.sink, s.lane = s, true, false, true, true, sink, a
		a.tells = l.use.Tell
		s.quiet = !a.tells
		a.member, a.rows, a.aimed, a.began = 0, l.members[0].rows, false, l.Bytes()
		a.filter, _ = s.ctl.(*filter)
		a.reader, _ = sink.(LaneReader)
		a.strider = a.strides()
		err := s.begin()
		s.lender = nil
		if err == nil && !s.done {
			return
		}
		a.conclude(err)
		from.Done(i, err)
	}
}

// aim decides about the next step of lane i: what Solver.step does before a step. The blocks take so many bytes.
func (l *Lanes) aim(i int, a *lane, bytes int) error {
	s := a.s
	if s.stats.Steps+s.stats.Rejected >= s.opts.MaxSteps || bytes-a.began >= laneMemory {
		return errAside
	}
	a.block = l.members[a.member].begin(l.keep)[i:]
	if s.restart || s.h == 0 {
		a.settle()
		if err := s.first(); err != nil {
			return err
		}
	}
	switch {
	case s.clock.of != nil:
		var err error
		if a.stop, err = s.clock.stop(s.sched.next()); err != nil {
			return err
		}
	case a.moved:
		a.stop = s.sched.next()
	}
	if s.bounds.spectrum.reach > 0 {
		if err := s.stay(a.stop); err != nil {
			return err
		}
	}
	if a.member != s.member {
		if !l.change(i, a) {
			return errAside
		}
	}
	s.ready(s.trial)
	r := a.rows
	if a.moved {
		if r.FSAL && !s.fresh {
			s.evaluate()
		}
		if a.moved = false; !a.entered {
			a.entered = true
			l.members[0].step.Enter(i, s.sys)
		}
		lanes.Scatter(a.block[r.Y0*lanes.Count:], s.y)
		if r.FSAL {
			lanes.Scatter(a.block[r.K*lanes.Count:], s.trial.K[:r.W])
		}
	}
	a.giveTolerances()
	tr := s.trial
	a.clip = s.aim(tr, a.stop)
	if s.sight.signals != nil && tr.T1 > s.sight.until {
		lanes.Gather(tr.Y0, a.block[r.Y0*lanes.Count:])
		a.clip = !s.shorten(tr) && a.clip
	}
	a.block[0], a.block[lanes.Count], a.block[2*lanes.Count] = tr.T, tr.H, tr.T1
	a.aimed = true
	return nil
}

// judge does what Solver.step does after a step, for all lanes whose steps a member of the method has made in a block,
// and begins the next block.
func (l *Lanes) judge(member int, block []float64, from LaneSource) {
	m := &l.members[member]
	r, next := m.rows, m.next
	norms := block[r.Norm*lanes.Count:][:lanes.Count]
	var overall, factors [lanes.Count]float64
	for i := range l.lanes {
		overall[i] = norms[i]
		if a := &l.lanes[i]; r.Norm > r.E && a.in(member) && !(r.Serve > 0 && block[r.Serve*lanes.Count+i] == 0) {
			overall[i] = a.overall(norms[i])
		}
	}
	l.factors(member, &overall, &factors)
	done := l.stride(member, block, &overall, &factors, from)
	if done == allLanes {
		l.carry(r, block, next, true)
		return
	}
	var errs [lanes.Count]error
	l.decide(member, block, done, &overall, &factors, &errs)
	for i := range l.lanes { // lane after lane does the same, while the processor has its code at hand
		if a := &l.lanes[i]; !done.has(i) && a.in(member) && a.ok && errs[i] == nil {
			a.ok, errs[i] = a.watch()
		}
	}
	l.carry(r, block, next, l.accept(member, block, done, &errs, from))
}

// decide masks the lanes that are not done and decides about their trial steps, before guards are watched.
func (l *Lanes) decide(
	member int, block []float64, done lanesMask, overall, factors *[lanes.Count]float64, errs *[lanes.Count]error,
) {
	m := &l.members[member]
	r := m.rows
	mask := block[r.Mask*lanes.Count:][:lanes.Count]
	norms := block[r.Norm*lanes.Count:][:lanes.Count]
	var guards []float64
	if m.reads {
		guards = m.step.ReadGuards(block)
	}
	for i := range l.lanes {
		a := &l.lanes[i]
		if done.has(i) {
			continue
		}
		mask[i] = 0
		if !a.in(member) { // it stands still, so that its numbers remain ordinary ones
			continue
		}
		s := a.s
		s.stats.Evals += evals(&s.info, s.fresh)
		s.fresh = true
		a.apart, a.loaded, a.extended = false, false, false
		if a.guards = nil; guards != nil {
			a.guards = guards[i:]
		}
		l.tried++
		if r.Serve > 0 && (block[r.Serve*lanes.Count+i] == 0 || !(norms[i] <= math.MaxFloat64)) {
			a.ok, errs[i] = l.alone(i, a)
		} else {
			a.ok, errs[i] = a.accepts(norms[i], overall[i], factors[i])
		}
	}
}

// accept hands over the steps that are not rejected, of lanes that are not done, and reports whether those of all lanes
// are.
func (l *Lanes) accept(
	member int, block []float64, done lanesMask, errs *[lanes.Count]error, from LaneSource,
) (all bool) {
	m := &l.members[member]
	r := m.rows
	mask := block[r.Mask*lanes.Count:][:lanes.Count]
	extended := r.Extra > 0 && (r.Peaks || l.reads(member))
	if extended {
		m.step.Extend(block)
	}
	var samples []float64
	if r.Peaks {
		samples = m.step.ReadSamples(block)
	}
	all = true
	for i := range l.lanes {
		a := &l.lanes[i]
		if done.has(i) {
			continue
		}
		if !a.in(member) {
			all = false
			continue
		}
		a.aimed, a.extended = false, extended
		if a.samples = nil; samples != nil {
			a.samples = samples[i:]
		}
		ok, err := a.ok, errs[i]
		if err == nil && ok {
			ok, err = a.accept(r, l.moves)
			a.entered = a.entered && !(a.moved && l.jumps)
		}
		if ok && err == nil {
			mask[i] = 1
		}
		if err != nil || a.s.done {
			a.conclude(err)
			from.Done(i, err)
		}
		all = all && ok
	}
	return all
}

// carry has the next block begin where the steps of a block end, and in lanes whose step is not accepted where it
// began; all tells that none is such.
func (l *Lanes) carry(r *lanes.Rows, block, next []float64, all bool) {
	n := r.N * lanes.Count
	copy(next[r.Y0*lanes.Count:][:n], block[r.Y1*lanes.Count:])
	if r.Abs > 0 {
		from, y := block[r.Abs*lanes.Count:][:n], block[r.Y1*lanes.Count:][:n]
		sizes.Side(next[r.Abs*lanes.Count:], from, y, block[r.Mask*lanes.Count:][:lanes.Count], l.per)
	}
	w := 0
	if r.FSAL {
		w = r.W * lanes.Count
		copy(next[r.K*lanes.Count:][:w], block[(r.K+(r.Stages-1)*r.W)*lanes.Count:])
	}
	if all {
		return
	}
	for i, m := range block[r.Mask*lanes.Count:][:lanes.Count] {
		if m != 0 {
			continue
		}
		for j := i; j < n+w; j += lanes.Count { // K comes behind Y0
			next[r.Y0*lanes.Count+j] = block[r.Y0*lanes.Count+j]
		}
	}
}

// factors writes by how much the controller of each lane would have its step longer, where that is a filter: of all
// lanes at once, unless lengths count as well.
func (l *Lanes) factors(member int, norms, f *[lanes.Count]float64) {
	var e, beta, last, before [lanes.Count]float64
	var of filter // the same in all lanes
	for i := range l.lanes {
		a := &l.lanes[i]
		if !a.in(member) || a.filter == nil {
			continue
		}
		c := a.filter
		if c.rule.Alpha != [2]float64{} {
			f[i] = elem.QuickExp2(c.power(a.s.trial.H, norms[i], elem.QuickLog2(leastError(norms[i]))))
			continue
		}
		of.k, of.safe, of.rule.Beta = c.k, c.safe, c.rule.Beta
		beta[i], last[i], before[i] = c.beta(), c.err[0], c.err[1]
	}
	if of.k == 0 {
		return
	}
	b := &of.rule.Beta
	simd.Control(f[:], e[:], norms[:], beta[:], last[:], before[:], b[1], b[2], of.safe, of.k)
	for i := range l.lanes {
		if a := &l.lanes[i]; a.in(member) && !(norms[i] > 1) {
			a.filter.now = [2]float64{e[i]}
		}
	}
}

// alone has the solver make the trial step of lane i, which solves equations, and decides about it.
func (l *Lanes) alone(i int, a *lane) (bool, error) {
	if l.apart++; l.apart > apartMost && l.apart > l.tried/4 {
		return false, errAside
	}
	s := a.s
	a.settle()
	s.trial.Again = false // the Jacobian at hand is that of another step
	s.method.Step(s.sys, s.trial, s.fresh)
	s.fresh, a.apart = true, true
	if by := s.choice.members[s.member].(matrices.SolvedArithmetical).Exchanged(); by != nil {
		l.members[a.member].step.Exchanged(i, by)
	}
	return s.judge(s.trial)
}

// reads reports whether something is read within the steps that a member of the method has made, or at their ends.
func (l *Lanes) reads(member int) bool {
	for i := range l.lanes {
		if a := &l.lanes[i]; a.in(member) && a.ok {
			if at := a.s.sched.site(); at >= 0 && a.s.sched.times[at] <= a.s.trial.T1 {
				return true
			}
		}
	}
	return false
}

// jumps reports whether something may change discretes or modes on the way.
func (s *Solver) jumps() bool { return len(s.guards) > 0 || s.sched.jumps }
