package record

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// Reader reads a recorded run in one goroutine, forwards or backwards. What the Trajectory does not keep, the Reader
// recomputes from the last state before it, to the same bits. It has memory of its own for a few steps with their
// stages (the tape) and, on the way back, for states between those that the trajectory keeps, placed by the binomial
// rule.
type Reader struct {
	ctx  context.Context
	tr   *Trajectory
	run  int // of tr
	size solvers.Size
	info solvers.Info

	sys     solvers.System        // for recomputing steps; nil before the first
	solves  *matrices.Consistency // of its algebraic equations; nil for none
	method  solvers.Method
	maker   *Trajectory // whose Replayer made them
	entered int32       // span

	own     *states // where states may be put: private, or those of the trajectory
	private states
	buf     []byte

	backwards bool // states are kept on the way

	// The position: y is the state before unit u, which is step at.
	y     []float64
	u, at int
	valid bool
	slope []float64 // f there
	fresh bool      // it is known

	tapes
	groupRead
	bytes int64
}

// tapes are the steps that a Reader has in memory.
type tapes struct {
	tape     []*solvers.Step // units from … to-1
	from, to int
	work     *solvers.Step // for steps that are only passed
}

// groupRead is what a Reader has read last at one time.
type groupRead struct {
	group   int // the step that begins the group whose states are in jumps; -2 for none
	first   int // its first mark
	jumps   []([]float64)
	mem     [][]float64 // of all jumps but the first
	dp      []float64
	zero    *solvers.Step // the step of length zero that was read last
	zeroAt  int
	dense   solvers.Step // the step within which a site was read last
	denseAt int
	site    []float64
}

// Share tells how the run will be read backwards: by how many readers, each of which may go back more than once, and
// how many times in all. It must be called before the readers are opened. Without it there is one reader that goes
// back more than once.
func (tr *Trajectory) Share(readers, walks int) {
	if tr.whole {
		return
	}
	tr.kept.settle()
	s := &tr.shared
	if tr.Keep.Kind == CheckpointBinomial && s.run == tr.run && s.consume {
		tr.kept.clear() // the walk before has left its states at the beginning, where they save nothing
	}
	*s = sharing{run: tr.run, consume: readers == 1 && walks <= 1, tape: 1}
	z := &tr.size
	state := int64(8 * max(z.N, 1))
	step := int64(8 * max(2*z.N+z.Q+tr.info.Stages*(z.N+z.Q), 1))
	if tr.Keep.Kind == CheckpointBinomial {
		if s.consume || tr.kept.room() == math.MaxInt {
			return
		}
		tr.kept.spread(tr.kept.room()/2, tr.units)
		s.spare = (tr.kept.ram - tr.kept.inMemory) / readers
		s.disk = (tr.kept.disk - tr.kept.onDisk) / readers
		return
	}
	s.tape = min(tr.stride, max(tr.units, 1))
	if tr.Limit > 0 {
		// Where the tape has no room for all steps from one state to the next, half of it is used for states between
		// them.
		each := max(tr.Limit-tr.Bytes()+tr.working.Load(), 0) / int64(readers)
		if fit := int(each / step); fit < s.tape {
			s.tape = max(fit/2, 1)
			s.spare = int(max(each-int64(s.tape)*step, 0) / state)
		}
	}
	tr.kept.disk = tr.kept.onDisk
	if tr.kept.ram = tr.kept.inMemory; s.consume {
		tr.kept.ram += s.spare
	}
}

// Open makes r read tr, whose run is done, forwards. Reading ends with ctx. A Reader keeps its memory from one run to
// the next.
func (r *Reader) Open(ctx context.Context, tr *Trajectory) {
	r.ctx, r.tr, r.backwards = ctx, tr, false
	r.entered, r.denseAt = -1, -1
	if tr.whole {
		return
	}
	if tr.shared.run != tr.run {
		tr.Share(1, 2)
	}
	if r.size != tr.size || r.info.Stages != tr.info.Stages || r.info.DenseStages != tr.info.DenseStages {
		*r = Reader{ctx: ctx, tr: tr}
	}
	r.size, r.info = tr.size, tr.info
	r.entered, r.valid, r.fresh, r.from, r.to, r.group = -1, false, false, 0, 0, -2
	r.zeroAt, r.denseAt = -1, -1
	if r.run != tr.run {
		r.run = tr.run
		tr.working.Add(r.bytes)
	}
	r.private.tr = tr
	r.private.reset(tr.kept.n, tr.kept.whole, tr.shared.spare, tr.shared.disk)
	if r.own = &r.private; tr.shared.consume {
		r.own = &tr.kept
	}
	if r.y == nil {
		r.y = r.numbers(r.size.N)
	}
}

// Back tells that the run is read backwards from here on, from any step. It drops what is left of an earlier way
// back, which would take the room of the states that this one needs.
func (r *Reader) Back() {
	r.backwards = true
	r.private.clear()
}

// numbers returns memory that counts against the limit.
func (r *Reader) numbers(n int) []float64 {
	r.count(int64(8 * n))
	return make([]float64, n)
}

func (r *Reader) count(bytes int64) {
	r.bytes += bytes
	r.tr.working.Add(bytes)
}

// step returns a step; ready makes room for its stages.
func (r *Reader) step() *solvers.Step {
	n, q := r.size.N, r.size.Q
	return &solvers.Step{Y0: r.numbers(n), Y1: r.numbers(n), DQ: r.numbers(q)}
}

// ready prepares st to be made as rec was.
func (r *Reader) ready(st *solvers.Step, rec *stepRecord) {
	st.Member = int(rec.member)
	n := r.tr.each[rec.member].Stages * (r.size.N + r.size.Q)
	if cap(st.K) < n {
		r.count(-int64(8 * cap(st.K)))
		st.K = r.numbers(n)
	}
	st.K = st.K[:n]
}

// Load makes s step i of the run, by reference, until something else is read. K has only the rows of the stages, so s
// cannot be interpolated.
func (r *Reader) Load(i int, s *solvers.Step) (solvers.End, error) {
	tr := r.tr
	if tr.whole {
		return tr.load(i, s), nil
	}
	rec := tr.rec(i)
	if err := tr.Err(); err != nil {
		return solvers.End{}, err
	}
	if rec.h == 0 {
		if err := r.stand(i); err != nil {
			return solvers.End{}, err
		}
		*s = *r.zero
		return rec.end(), nil
	}
	if err := r.need(int(rec.unit)); err != nil {
		return solvers.End{}, err
	}
	*s = *r.tape[int(rec.unit)-r.from]
	return rec.end(), nil
}

// LoadDense makes s step i of the run like Load, but copies the stages to a K of its own, which has room for those of
// the dense output: s can be interpolated. s.K is reused if it is large enough; it must not come from Load.
func (r *Reader) LoadDense(i int, s *solvers.Step) (solvers.End, error) {
	own := s.K
	e, err := r.Load(i, s)
	if err != nil {
		return e, err
	}
	z, info := &r.tr.size, &r.tr.each[s.Member]
	if n := (info.Stages + info.DenseStages) * (z.N + z.Q); cap(own) < n {
		own = make([]float64, n)
	} else {
		own = own[:n]
	}
	copy(own, s.K)
	s.K = own
	return e, nil
}

// LoadMark makes m mark i of the run, by reference, until something else is read. after is the step at whose end it
// is, -1 before the first step. For a site that joined a group of events, first is the mark of the first of them,
// whose left limits are those of the site; otherwise it is -1.
func (r *Reader) LoadMark(i int, m *solvers.Mark) (after, first int, err error) {
	tr := r.tr
	if tr.whole {
		after, first = tr.loadMark(i, m)
		return after, first, nil
	}
	after, first = tr.PeekMark(i, m)
	if err := tr.Err(); err != nil {
		return after, first, err
	}
	if m.Inside {
		m.Yp, err = r.Within(after, m.Theta)
		m.Ym = m.Yp
		return after, first, err
	}
	if err := r.gather(leader(tr, after)); err != nil {
		return after, first, err
	}
	left := i
	if first >= 0 {
		left = first
	}
	m.Ym, m.Yp = r.jumps[r.fires(left)], r.jumps[r.fires(i+1)]
	if m.Kind == solvers.MarkStart {
		m.Ym = m.Yp
	}
	return after, first, nil
}

// leader returns the step of positive length that begins the group of step i, or -1.
func leader(tr *Trajectory, i int) int {
	for i >= 0 && tr.steps.length(i) == 0 {
		i--
	}
	return i
}

// follower returns the first step of positive length after step i, or the number of steps.
func follower(tr *Trajectory, i int) int {
	for i++; i < tr.steps.n && tr.steps.length(i) == 0; i++ {
	}
	return i
}

// happens returns the first mark at the end of step i or later.
func happens(tr *Trajectory, i int) int {
	return tr.marks.search(func(m *markRecord) bool { return int(m.after) >= i })
}

// need makes sure that unit u is on the tape.
func (r *Reader) need(u int) error {
	if r.from <= u && u < r.to {
		return nil
	}
	if tr := r.tr; r.backwards && u == tr.units-1 && u == tr.kept.expected-1 && len(tr.last.Y0) == r.size.N {
		return r.begin(u)
	}
	if err := r.equip(); err != nil {
		return err
	}
	if done, err := r.kept(u); done || err != nil {
		return err
	}
	if !r.valid || u != r.u { // otherwise it is the next one on a way forwards
		if err := r.approach(u); err != nil {
			return err
		}
	}
	r.from, r.to, r.group, r.denseAt = r.u, r.u, -2, -1
	for r.to <= u {
		if r.to-r.from == len(r.tape) {
			r.tape = append(r.tape, r.step())
		}
		st := r.tape[r.to-r.from]
		copy(st.Y0, r.y)
		if err := r.make(st); err != nil {
			r.to = r.from
			return err
		}
		copy(r.y, st.Y1)
		r.to++
		r.pass()
	}
	return nil
}

// begin puts unit u, the last of the run, on the tape, as it was recorded.
func (r *Reader) begin(u int) error {
	st, last := r.taped(u), &r.tr.last
	copy(st.Y0, last.Y0)
	copy(st.Y1, last.Y1)
	copy(st.DQ, last.DQ)
	copy(st.K, last.K)
	return r.equip()
}

// kept puts unit u on the tape if it was kept with its stages.
func (r *Reader) kept(u int) (bool, error) {
	from := &r.tr.kept
	if !from.whole {
		return false, nil
	}
	i := from.exact(u + 1)
	if k := r.private.exact(u + 1); k >= 0 {
		from, i = &r.private, k
	}
	if i < 0 {
		return false, nil
	}
	st := r.taped(u)
	if err := from.load(i, &r.buf, st.Y1, st.Y0, st.DQ, st.K); err != nil {
		r.to = r.from
		return false, err
	}
	return true, nil
}

// taped makes the tape that of unit u alone, and returns its step, whose numbers are to be filled in.
func (r *Reader) taped(u int) *solvers.Step {
	if len(r.tape) == 0 {
		r.tape = append(r.tape, r.step())
	}
	st := r.tape[0]
	rec := r.tr.rec(stepOf(r.tr, u))
	st.T, st.H, st.T1 = rec.t, rec.h, rec.t1
	r.ready(st, &rec)
	r.from, r.to, r.group, r.denseAt, r.valid = u, u+1, -2, -1, false
	return st
}

// approach goes to a unit from which the tape reaches u, and keeps states on the way.
func (r *Reader) approach(u int) error {
	if err := r.back(u); err != nil {
		return err
	}
	tape := 1
	if r.backwards {
		tape = r.tr.shared.tape
	}
	for left := u - r.u + 1; left > tape; left = u - r.u + 1 {
		room := 0
		if r.backwards {
			room = r.own.left(u)
		}
		m := left - tape
		if room > 0 {
			m = tape * r.own.split((left+tape-1)/tape, room)
		}
		if r.work == nil {
			r.work = r.step()
		}
		for n := range m {
			w := r.work
			w.Y0, r.y = r.y, w.Y0
			if err := r.make(w); err != nil {
				r.valid = false
				return err
			}
			keep := room > 0 && n == m-1
			if keep && r.own.whole {
				if err := r.put(w.Y1, w.Y0, w.DQ, w.K); err != nil {
					return err
				}
			}
			w.Y1, r.y = r.y, w.Y1
			if r.pass(); keep && !r.own.whole {
				if err := r.put(r.y); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// put keeps the state before the unit after a step that was just made: y, or that step, before it is passed.
func (r *Reader) put(y ...[]float64) error {
	u := r.u
	if r.own.whole {
		u++
	}
	list := &r.own.list
	for n := len(*list); n >= r.own.room() || r.backwards && n > 0 && (*list)[n-1].unit > u; n-- {
		r.own.drop(n - 1) // the way back has passed it
	}
	return r.own.put(u, 0, y...)
}

// back goes to the last state up to unit u that is at hand.
func (r *Reader) back(u int) error {
	from := &r.tr.kept
	i := from.find(u)
	if k := r.private.find(u); k >= 0 && (i < 0 || r.private.list[k].unit > from.list[i].unit) {
		from, i = &r.private, k
	}
	at := 0
	if i >= 0 {
		at = from.list[i].unit
	}
	if r.valid && at <= r.u && r.u <= u {
		return nil
	}
	r.fresh = false
	if i >= 0 {
		if err := from.load(i, &r.buf, r.y); err != nil {
			r.valid = false
			return err
		}
		if r.u, r.at, r.valid = at, stepOf(r.tr, at), true; from.whole { // what is kept ends before what happens there
			r.u, r.at = at-1, stepOf(r.tr, at-1)
			r.pass()
		}
		return nil
	}
	copy(r.y, r.tr.y0)
	r.u, r.at, r.valid = -1, -1, true
	r.pass()
	return nil
}

// stepOf returns the step that is unit u.
func stepOf(tr *Trajectory, u int) int {
	return leader(tr, tr.steps.after(u)-1)
}

// equip makes sure that there are a system and a method.
func (r *Reader) equip() error {
	tr := r.tr
	if r.maker == tr {
		return nil
	}
	if tr.Replayer == nil {
		return errors.New("the run is not kept whole, and has no Replayer to recompute its steps")
	}
	r.sys, r.method = tr.Replayer()
	var err error
	if r.solves, err = matrices.NewConsistency(r.sys, 0); err != nil {
		return err
	}
	if got, want := r.method.Info().Name, tr.info.Name; got != want {
		return fmt.Errorf("the run was made by method %s and cannot be recomputed by %s", want, got)
	}
	r.maker = tr
	return nil
}

// enter makes the discretes and modes of a span current.
func (r *Reader) enter(sp int32) {
	if r.entered != sp {
		r.entered = sp
		r.sys.Enter(r.tr.held(sp))
	}
}

// make recomputes unit r.u; st.Y0 is set.
func (r *Reader) make(st *solvers.Step) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	rec, w := r.tr.rec(r.at), r.size.N+r.size.Q
	r.enter(rec.span)
	st.T, st.H, st.T1 = rec.t, rec.h, rec.t1
	r.ready(st, &rec)
	if r.fresh {
		copy(st.K[:w], r.slope)
	}
	r.method.Step(r.sys, st, r.fresh)
	info := &r.tr.each[rec.member]
	if r.fresh = info.FSAL; r.fresh {
		if len(r.slope) == 0 {
			r.slope = r.numbers(w)
		}
		copy(r.slope, st.K[(info.Stages-1)*w:info.Stages*w])
	}
	if n := r.tr.replayed.Add(1); r.tr.Tell != nil && n%1024 == 0 {
		r.tr.Tell(int(n))
	}
	return nil
}

// pass moves y over what happens at the end of unit r.u, to the start of the next unit.
func (r *Reader) pass() {
	tr := r.tr
	next := follower(tr, r.at)
	if r.fresh = r.fresh && next == r.at+1 && next < tr.steps.n; r.fresh {
		a, b := tr.rec(r.at), tr.rec(next)
		r.fresh = b.span == a.span && b.t == a.t1
	}
	for k := happens(tr, r.at); k < tr.marks.n && int(tr.marks.at(k).after) < next; k++ {
		if r.jump(k) {
			if r.site == nil {
				r.site = r.numbers(r.size.N)
			}
			r.affect(k, r.y, r.site)
			r.y, r.site = r.site, r.y
		}
	}
	r.u, r.at = r.u+1, next
}

// jump reports whether the state changes at mark k: where a body is applied and, where there are algebraic equations,
// where modes change.
func (r *Reader) jump(k int) bool {
	switch r.tr.marks.at(k).kind {
	case solvers.MarkFire:
		return true
	case solvers.MarkMode, solvers.MarkRemode:
		return r.solves != nil
	}
	return false
}

// affect writes the right limits of y at mark k.
func (r *Reader) affect(k int, y, to []float64) {
	m := r.tr.marks.at(k)
	if copy(to, y); m.kind == solvers.MarkFire {
		if len(r.dp) < r.size.D {
			r.dp = r.numbers(r.size.D)
		}
		before := m.before()
		r.enter(before)
		d, _ := r.tr.held(before)
		r.sys.Affect(m.firing(), m.t, y, d, to, r.dp)
	}
	if r.solves != nil {
		r.enter(m.behind)
		f, t := r.sys.(matrices.JacobianField), r.tr.resumes(int(m.after))
		var behind []float64
		if m.kind == solvers.MarkFire {
			behind = slices.Clone(to)
		}
		if r.solves.Solve(f, t, to) != nil {
			elem.Spoil(to) // it could be solved when the run was made
		} else if behind != nil {
			r.keepBranch(m, t, y, behind, to)
		}
	}
}

// keepBranch has the unknowns of y stay on their branch at mark m, as the run had them: behind a body that made the
// state to of from, and for which y was solved.
func (r *Reader) keepBranch(m *markRecord, t float64, from, to, y []float64) {
	d0, m0 := r.tr.held(m.before())
	d1, m1 := r.tr.held(m.behind)
	between := make([]float64, len(d0))
	r.solves.Stay(r.sys.(matrices.JacobianField), t, y, matrices.Jump{
		From: from, To: to, Enter: func(part float64) {
			if matrices.Between(between, d0, d1, part); part == 0 {
				r.sys.Enter(between, m0)
			} else {
				r.sys.Enter(between, m1)
			}
		},
	})
	r.sys.Enter(d1, m1)
}

// gather computes the states of the group that step g begins: before all bodies, after the first, and so on.
func (r *Reader) gather(g int) error {
	if r.group == g {
		return nil
	}
	tr, y := r.tr, r.tr.y0
	if g >= 0 {
		if err := r.need(int(tr.rec(g).unit)); err != nil {
			return err
		}
		y = r.tape[int(tr.rec(g).unit)-r.from].Y1
	} else if err := r.equip(); err != nil {
		return err
	}
	r.group, r.first, r.zeroAt = g, happens(tr, g), -1
	r.jumps = append(r.jumps[:0], y)
	next := follower(tr, g)
	for k := r.first; k < tr.marks.n && int(tr.marks.at(k).after) < next; k++ {
		if !r.jump(k) {
			continue
		}
		n := len(r.jumps)
		if n > len(r.mem) {
			r.mem = append(r.mem, r.numbers(r.size.N))
		}
		r.affect(k, r.jumps[n-1], r.mem[n-1])
		r.jumps = append(r.jumps, r.mem[n-1])
	}
	return nil
}

// fires counts the jumps of the group before mark k.
func (r *Reader) fires(k int) (n int) {
	for i := r.first; i < k; i++ {
		if r.jump(i) {
			n++
		}
	}
	return n
}

// stand recomputes step i, of length zero.
func (r *Reader) stand(i int) error {
	tr := r.tr
	if err := r.gather(leader(tr, i)); err != nil {
		return err
	}
	if r.zeroAt == i {
		return nil
	}
	if r.zero == nil {
		r.zero = r.step()
	}
	st, rec := r.zero, tr.rec(i)
	copy(st.Y0, r.jumps[r.fires(happens(tr, i))])
	r.enter(rec.span)
	st.T, st.H, st.T1 = rec.t, 0, rec.t1
	r.ready(st, &rec)
	r.method.Step(r.sys, st, false)
	copy(st.Y1, st.Y0)
	clear(st.DQ)
	r.zeroAt = i
	return nil
}

// Within returns the state at theta of step i, until something else is read: its ends, and the dense output between
// them.
func (r *Reader) Within(i int, theta float64) ([]float64, error) {
	if r.denseAt != i {
		if _, err := r.LoadDense(i, &r.dense); err != nil {
			return nil, err
		}
		r.denseAt = i
	}
	switch theta {
	case 0:
		return r.dense.Y0, nil
	case 1:
		return r.dense.Y1, nil
	}
	if len(r.site) != r.tr.size.N {
		r.site = r.numbers(r.tr.size.N)
	}
	if err := r.equip(); err != nil {
		return nil, err
	}
	r.enter(r.tr.rec(i).span)
	r.method.Interpolate(r.sys, &r.dense, theta, r.site)
	return r.site, nil
}
