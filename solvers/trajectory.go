package solvers

// Trajectory is a Sink that keeps everything of a run in memory: states, stage
// derivatives, and what happened. It grows in chunks that never move, so that
// recording a step costs a copy and no allocation but now and then. It is
// reused by recording again; once recorded, any number of goroutines may read it.
type Trajectory struct {
	// Limit is the number of bytes it may take; 0 for no limit.
	Limit int64

	size   Size
	info   Info
	steps  []stepRecord
	marks  []markRecord
	spans  []span
	stepAt arena // per step: y1[N], dq[Q], k[stages][N+Q]
	spanAt arena // per span: y[N], d[D], m[M] at its beginning
	siteAt arena // per site within a step: y[N]
	group  int   // the first mark of the group that is being recorded
}

type stepRecord struct {
	t, h, t1 float64
	end      End
	span     int32
}

// A span is a stretch of a run without jumps: same discretes, same modes.
type span struct{ first int32 } // its first step

type markRecord struct {
	kind           MarkKind
	stop           bool
	t              float64
	firing         Firing
	guard, instant int32
	after          int32 // the step at whose end it is, -1 before the first
	before, behind int32 // spans
	first          int32 // of a site: the mark that has its left limits, -1 when nothing jumped
	inside         int32 // of a site within its step: 1 + the slot of its state; otherwise 0
	theta          float64
}

// Begin implements Sink.
func (tr *Trajectory) Begin(sys System, m Method) error {
	tr.size, tr.info = sys.Size(), m.Info()
	z := tr.size
	tr.steps, tr.marks, tr.spans = tr.steps[:0], tr.marks[:0], tr.spans[:0]
	tr.stepAt.reset(z.N + z.Q + tr.info.Stages*(z.N+z.Q))
	tr.spanAt.reset(z.N + z.D + z.M)
	tr.siteAt.reset(z.N)
	tr.group = 0
	return nil
}

// Bytes returns the memory that the trajectory takes.
func (tr *Trajectory) Bytes() int64 {
	const stepBytes, markBytes = 64, 112
	return tr.stepAt.bytes() + tr.spanAt.bytes() + tr.siteAt.bytes() + int64(cap(tr.steps))*stepBytes + int64(cap(tr.marks))*markBytes
}

func (tr *Trajectory) room(a *arena) error {
	if tr.Limit > 0 {
		if need := tr.Bytes() + a.grows(); need > tr.Limit {
			return &MemoryError{Limit: tr.Limit, Bytes: need}
		}
	}
	return nil
}

// Step implements Sink.
func (tr *Trajectory) Step(s *Step, e End) error {
	if err := tr.room(&tr.stepAt); err != nil {
		return err
	}
	n, q := tr.size.N, tr.size.Q
	slot := tr.stepAt.next()
	if n > 0 && &slot[0] != &s.Y1[0] { // else it was lent
		copy(slot[:n], s.Y1)
	}
	copy(slot[n:n+q], s.DQ)
	if k := slot[n+q:]; len(k) > 0 && &k[0] != &s.K[0] {
		copy(k, s.K)
	}
	tr.steps = append(tr.steps, stepRecord{s.T, s.H, s.T1, e, int32(len(tr.spans) - 1)})
	if s.H > 0 {
		tr.group = len(tr.marks)
	}
	return nil
}

// lendFrom is the number of doubles in the stages of a step from which lending beats copying.
const lendFrom = 1 << 12

// Lend implements Lender.
func (tr *Trajectory) Lend() (y1, k []float64) {
	n, q := tr.size.N, tr.size.Q
	if tr.info.Stages*(n+q) < lendFrom || tr.room(&tr.stepAt) != nil {
		return nil, nil
	}
	slot := tr.stepAt.next()
	tr.stepAt.n--
	return slot[:n:n], slot[n+q:]
}

// Mark implements Sink.
func (tr *Trajectory) Mark(m *Mark) error {
	now := int32(len(tr.spans) - 1)
	r := markRecord{
		kind: m.Kind, stop: m.Stop, t: m.T, firing: m.Firing, guard: int32(m.Guard), instant: int32(m.Instant),
		after: int32(len(tr.steps) - 1), before: now, behind: now,
	}
	switch m.Kind {
	case MarkStart, MarkFire, MarkMode, MarkRemode:
		if err := tr.room(&tr.spanAt); err != nil {
			return err
		}
		n, d := tr.size.N, tr.size.D
		slot := tr.spanAt.next()
		copy(slot[:n], m.Yp)
		copy(slot[n:n+d], m.Dp)
		copy(slot[n+d:], m.Mp)
		tr.spans = append(tr.spans, span{int32(len(tr.steps))})
		r.behind = int32(len(tr.spans) - 1)
		if m.Kind == MarkStart {
			r.before = r.behind
		}
	case MarkSite:
		r.first = -1
		if m.Inside {
			if err := tr.room(&tr.siteAt); err != nil {
				return err
			}
			copy(tr.siteAt.next(), m.Yp)
			r.inside, r.theta = int32(tr.siteAt.n), m.Theta
			break
		}
		for i := tr.group; i < len(tr.marks) && r.first < 0; i++ {
			if tr.marks[i].kind == MarkFire {
				r.first = int32(i)
			}
		}
	}
	tr.marks = append(tr.marks, r)
	return nil
}

// Size returns the lengths of the vectors of the system that was recorded.
func (tr *Trajectory) Size() Size { return tr.size }

// Method describes the method that made the steps.
func (tr *Trajectory) Method() Info { return tr.info }

// Steps returns the number of steps, those of length zero included.
func (tr *Trajectory) Steps() int { return len(tr.steps) }

// Marks returns the number of marks.
func (tr *Trajectory) Marks() int { return len(tr.marks) }

// state returns y at the end of step i, within span sp.
func (tr *Trajectory) state(i, sp int32) []float64 {
	n := tr.size.N
	if tr.spans[sp].first > i {
		return tr.spanAt.at(int(sp))[:n:n]
	}
	return tr.stepAt.at(int(i))[:n:n]
}

// Held returns the discretes and modes during step i.
func (tr *Trajectory) Held(i int) (d, m []float64) { return tr.held(tr.steps[i].span) }

func (tr *Trajectory) held(sp int32) (d, m []float64) {
	slot := tr.spanAt.at(int(sp))[tr.size.N:]
	k := tr.size.D
	return slot[:k:k], slot[k:]
}

// Load makes s step i of the trajectory, by reference: K has the rows of the
// stages only, so s cannot be interpolated.
func (tr *Trajectory) Load(i int, s *Step) End {
	r := &tr.steps[i]
	n, q := tr.size.N, tr.size.Q
	slot := tr.stepAt.at(i)
	s.T, s.H, s.T1, s.Dense, s.Estimated = r.t, r.h, r.t1, false, false
	s.Y0 = tr.state(int32(i)-1, r.span)
	s.Y1, s.DQ, s.K = slot[:n:n], slot[n:n+q:n+q], slot[n+q:]
	return r.end
}

// LoadDense makes s step i of the trajectory like Load, but copies the stages to a K of its own, with room for
// those of the dense output: s can be interpolated. s.K is reused if it is large enough; it must not come from Load.
func (tr *Trajectory) LoadDense(i int, s *Step) End {
	own := s.K
	e := tr.Load(i, s)
	if n := (tr.info.Stages + tr.info.DenseStages) * (tr.size.N + tr.size.Q); cap(own) < n {
		own = make([]float64, n)
	} else {
		own = own[:n]
	}
	copy(own, s.K)
	s.K = own
	return e
}

// Inside reports whether mark i is a site within its step.
func (tr *Trajectory) Inside(i int) bool { return tr.marks[i].inside > 0 }

// End returns how step i ended.
func (tr *Trajectory) End(i int) End { return tr.steps[i].end }

// Length returns the length of step i: 0 between members of a group of events.
func (tr *Trajectory) Length(i int) float64 { return tr.steps[i].h }

// LoadMark makes m mark i of the trajectory, by reference. after is the step
// at whose end it is, -1 before the first step. For a site that joined a group
// of events, first is the mark of the first of them, whose left limits are its
// own; otherwise -1.
func (tr *Trajectory) LoadMark(i int, m *Mark) (after, first int) {
	r := &tr.marks[i]
	m.Kind, m.T, m.Firing, m.Stop = r.kind, r.t, r.firing, r.stop
	m.Guard, m.Instant = int(r.guard), int(r.instant)
	m.Inside, m.Theta = r.inside > 0, r.theta
	if m.Inside {
		m.Yp = tr.siteAt.at(int(r.inside) - 1)
		m.Dp, m.Mp = tr.held(r.before)
		m.Ym, m.Dm, m.Mm = m.Yp, m.Dp, m.Mp
		return int(r.after), -1
	}
	left := r
	first = -1
	if r.kind == MarkSite && r.first >= 0 {
		first = int(r.first)
		left = &tr.marks[first]
	}
	m.Ym, m.Yp = tr.state(left.after, left.before), tr.state(r.after, r.behind)
	m.Dm, m.Mm = tr.held(left.before)
	m.Dp, m.Mp = tr.held(r.behind)
	return int(r.after), first
}

// After returns the step at whose end mark i is, -1 before the first step.
func (tr *Trajectory) After(i int) int { return int(tr.marks[i].after) }

// Replay passes the trajectory on to a sink, all but Begin.
func (tr *Trajectory) Replay(to Sink) error {
	var s Step
	var m Mark
	at := 0
	for i := -1; i < len(tr.steps); i++ {
		if i >= 0 {
			e := tr.Load(i, &s)
			if err := to.Step(&s, e); err != nil {
				return err
			}
		}
		for ; at < len(tr.marks) && int(tr.marks[at].after) == i; at++ {
			tr.LoadMark(at, &m)
			if err := to.Mark(&m); err != nil {
				return err
			}
		}
	}
	return nil
}
