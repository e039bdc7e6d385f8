package vm

import (
	"strconv"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// thread is a run of short instructions as threaded code, which is entered once and stops only for
// steps that are run in Go.
type thread struct {
	code  []kernel.Record
	steps []resumer
	lists [][]uint32 // lists of native code, kept alive here because records do not
}

// resumer is a step in Go some elements of which may have been computed already.
type resumer interface {
	resume(m *Machine, done int)
}

func (t *thread) run(m *Machine) {
	for i := 0; ; {
		step, next, done := kernel.Enter(t.code, i, m.regs)
		if step < 0 {
			return
		}
		t.steps[step].resume(m, done)
		if i = next; i == len(t.code)-1 {
			return
		}
	}
}

// plainSteps are steps that always start from their beginning.
type plainSteps []step

func (w plainSteps) resume(m *Machine, _ int) {
	for _, s := range w {
		s.run(m)
	}
}

// rest is a loop of one instruction and one strip whose first elements may have been computed.
type rest struct{ loop }

func (r *rest) resume(m *Machine, done int) {
	u := &r.body[0]
	if u.arity == 0 {
		r.fill(m, u, 0, r.n)
		return
	}
	r.fast(m, u, done, r.n-done)
}

// threader collects records and the steps between them.
type threader struct {
	code  []kernel.Record
	steps []resumer
	plain []step // steps in Go since the last record
	work  int    // elements of the records
	lists [][]uint32
	links []nativeRecord
}

// Bounds of a thread. Assembly is not preempted, so a thread is short. A record that handles more
// than a few thousand elements gains nothing.
const (
	threadWork  = 1 << 17
	recordWork  = 1 << 12
	recordsEach = 64 // of one instruction at most

	functionWide = 16 // elements of a function for which vectors of eight pay: a part of one takes as long
)

// add appends a step.
func (c *compiler) add(s step) {
	if !c.p.fast {
		c.p.steps = append(c.p.steps, s)
		return
	}
	if s, ok := s.(recorder); ok {
		if code, ok := s.records(c); ok {
			c.append(code...)
			return
		}
	}
	c.inGo(s)
}

// inGo appends a step that runs in Go.
func (c *compiler) inGo(s step) {
	c.closeBlock()
	c.thread.plain = append(c.thread.plain, s)
}

// recorder is a step that may be written as records, which are valid only if ok.
type recorder interface {
	records(c *compiler) (code []kernel.Record, ok bool)
}

// append appends records.
func (c *compiler) append(code ...kernel.Record) {
	work := 0
	for i := range code {
		work += code[i].N * max(code[i].Lanes, 1)
	}
	c.appendWork(work, code...)
}

// appendWork appends records that process about work elements.
func (c *compiler) appendWork(work int, code ...kernel.Record) {
	c.closeBlock()
	t := &c.thread
	if len(t.plain) > 0 && len(t.code) > 0 {
		t.code = append(t.code, kernel.Stop(len(t.steps)))
		t.steps = append(t.steps, plainSteps(t.plain))
	} else {
		c.p.steps = append(c.p.steps, t.plain...)
	}
	t.plain = nil
	t.code = append(t.code, code...)
	t.work += work
	if t.work > threadWork {
		c.flush()
	}
}

// flush ends the thread.
func (c *compiler) flush() {
	c.closeBlock()
	t := &c.thread
	if len(t.code) > 0 {
		code := append(t.code, kernel.End)
		for i := range code {
			code[i].Next = int32(i + 1)
		}
		for _, l := range t.links {
			c.native.links = append(c.native.links, link{&code[l.index], l.at})
		}
		c.p.steps = append(c.p.steps, &thread{code, t.steps, t.lists})
	}
	c.p.steps = append(c.p.steps, t.plain...)
	*t = threader{}
}

// addLoop appends a loop. A short loop is appended instruction by instruction.
func (c *compiler) addLoop(l *loop) {
	switch {
	case !c.p.fast:
		c.add(l)
		return
	case l.n > l.strip:
		c.closeBlock()
		c.addStrips(l)
		return
	}
	for _, body := range [][]micro{l.once, l.body} {
		for i := range body {
			c.addMicro(l, &body[i])
		}
	}
}

// addMicro appends one instruction of a loop of one strip.
func (c *compiler) addMicro(l *loop, u *micro) {
	one := &rest{loop{n: l.n, strip: l.n, lanes: l.lanes, body: []micro{*u}}}
	for _, o := range []*operand{&one.body[0].dst, &one.body[0].a, &one.body[0].b, &one.body[0].c} {
		o.moves = true // a strip register begins with the first element too
	}
	if v := &one.body[0]; v.rows && l.n == l.lanes { // in a single row, one number for each row is one for all
		v.rows = false
	}
	if u.arity == 0 {
		if w, ok := u.from.(*walker); ok {
			if code, ok := c.moves(w, dense{u.dst.reg, u.dst.off, l.n}, dense{reg: u.a.reg, off: u.a.off}); ok {
				c.append(code...)
				return
			}
		}
		c.inGo(one)
		return
	}
	r, ok := l.record(u)
	if !ok {
		c.inGo(one)
		return
	}
	if isFunction(u.op) {
		r.Step = int32(len(c.thread.steps))
		c.thread.steps = append(c.thread.steps, one)
		c.appendWork(functionWork*l.n, r)
		return
	}
	c.append(r)
}

func (r *rest) run(m *Machine) { r.resume(m, 0) }

// name returns the name of the handler that runs u as op, without the suffix for its size.
func (u *micro) name(op simd.Op, shared simd.Shared) string {
	name := op.String() + " "
	for k := range int(u.arity) {
		name += string("VS"[shared>>k&1])
	}
	return name
}

// record translates u for all elements of l at once.
func (l *loop) record(u *micro) (r kernel.Record, ok bool) {
	op := simdOps[u.op]
	if u.op == tape.Powi {
		if op, ok = powers[u.power]; !ok {
			return r, false
		}
	} else if !hasKernel(u.op) {
		return r, false
	}
	shared := u.shared
	if l.n == 1 {
		shared = 0
	}
	rows := 1
	if u.rows {
		rows = l.n / l.lanes
	}
	name := u.name(op, shared)
	r.Out, r.A, r.B, r.C = u.dst.ref(), u.a.ref(), u.b.ref(), u.c.ref()
	r.N, r.Lanes = l.n, 1
	if rows == 1 && r.Handle(name+"/"+strconv.Itoa(l.n)) {
		return r, true
	}
	if shared != 0 && !(isFunction(u.op) && u.arity == 2) {
		r.N, r.Lanes = rows, l.n/rows
	} else if rows > 1 && shared != 0 {
		return r, false
	}
	wide := isFunction(u.op) && l.n >= functionWide && simd.Wide() // powers that are products have no such handler
	return r, wide && r.Handle(name+" wide") || r.Handle(name)
}

func (o operand) ref() kernel.Ref { return kernel.NewRef(o.reg, o.off) }

func (d dense) ref() kernel.Ref { return kernel.NewRef(d.reg, d.off) }

// copies returns the record that copies n elements.
func copies(dst, src dense, n int) kernel.Record {
	r := kernel.Record{Out: dst.ref(), A: src.ref(), N: n, Lanes: 1}
	if !r.Handle("copy V/" + strconv.Itoa(n)) {
		r.Handle("copy V")
	}
	return r
}

// repeats returns the record that writes n elements lanes times each.
func repeats(dst, src dense, n, lanes int) kernel.Record {
	r := kernel.Record{Out: dst.ref(), A: src.ref(), N: n, Lanes: lanes}
	r.Handle("copy S")
	return r
}

// moves returns the records that read the view w of src.
func (c *compiler) moves(w *walker, dst, src dense) (code []kernel.Record, ok bool) {
	last := len(w.shape) - 1
	n, stride, lanes := w.shape[last], w.strides[last], w.lanes
	block := lanes // elements of the operand for one element of the view
	if !w.srcLane {
		block = 1
	}
	inner := 1 // axes that one record serves
	if last > 0 && stride == 1 && (w.srcLane || lanes == 1) {
		inner = 2
	}
	outer := 1
	for _, d := range w.shape[:last+1-inner] {
		outer *= d
	}
	if outer > recordsEach || dst.size > recordWork {
		return nil, false
	}
	row := dst.size / outer
	for i := range outer {
		at, rem := w.off, i
		for k := last - inner; k >= 0; k-- {
			at += rem % w.shape[k] * w.strides[k]
			rem /= w.shape[k]
		}
		to, from := dense{reg: dst.reg, off: dst.off + i*row}, dense{reg: src.reg, off: src.off + at*block}
		r := kernel.Record{Out: to.ref(), A: from.ref()}
		switch {
		case inner == 2:
			r.N, r.Lanes, r.C = w.shape[last-1], n*lanes, kernel.Steps(n*lanes, w.strides[last-1]*block)
			r.Handle("move")
		case stride == 1 && block == lanes:
			r = copies(to, from, n*lanes)
		case stride == 0 && block == 1:
			r = repeats(to, from, 1, n*lanes)
		case block == lanes:
			r.N, r.Lanes, r.C = n, lanes, kernel.Steps(lanes, stride*block)
			r.Handle("move")
		case stride == 1:
			r = repeats(to, from, n, lanes)
		default:
			return nil, false
		}
		code = append(code, r)
	}
	return code, true
}

func (s *moveStep) records(*compiler) ([]kernel.Record, bool) {
	return []kernel.Record{copies(s.dst, s.src, s.dst.size)}, s.dst.size <= recordWork
}

func (s *copyStep) records(c *compiler) ([]kernel.Record, bool) {
	if s.add {
		return nil, false
	}
	return c.moves(&s.from, s.dst, s.src)
}

func (s *concatStep) records(*compiler) (code []kernel.Record, ok bool) {
	if s.outer*len(s.parts) > recordsEach || s.dst.size > recordWork {
		return nil, false
	}
	each := s.dst.size / s.outer
	for o := range s.outer {
		for i := range s.parts {
			p := &s.parts[i]
			to := dense{reg: s.dst.reg, off: s.dst.off + o*each + p.to}
			if p.lane {
				n := p.run * s.lanes
				code = append(code, copies(to, dense{reg: p.src.reg, off: p.src.off + o*n}, n))
			} else {
				code = append(code, repeats(to, dense{reg: p.src.reg, off: p.src.off + o*p.run}, p.run, s.lanes))
			}
		}
	}
	return code, true
}

func (s *takeStep) records(*compiler) (code []kernel.Record, ok bool) {
	if s.outer*len(s.runs) > recordsEach || s.dst.size > recordWork {
		return nil, false
	}
	at := s.dst.off
	for o := range s.outer {
		for _, r := range s.runs {
			n := r.n * s.block
			code = append(code, copies(dense{reg: s.dst.reg, off: at},
				dense{reg: s.src.reg, off: s.src.off + (o*s.from+r.start)*s.block}, n))
			at += n
		}
	}
	return code, true
}
