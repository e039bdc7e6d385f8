package record

import (
	"math/bits"
	"sort"
	"unsafe"

	"odes.dev/odes/solvers"
)

// list is a slice that grows in chunks: what is in it does not move, and no memory is kept for what it has outgrown.
// Full chunks may move to a shelf; what at returned is valid until something is added.
type list[T any] struct {
	chunks [][]T // nil where they are on a shelf
	n      int
	away   *shelved[T] // nil while all are in memory
	spare  []T         // a chunk that moved, to be filled again
}

const chunkShift = 8 // elements of a chunk, as a power of two; the first one begins small

func (l *list[T]) at(i int) *T {
	c := l.chunks[i>>chunkShift]
	if c == nil {
		c = l.away.chunk(i >> chunkShift)
	}
	return &c[i&(1<<chunkShift-1)]
}

// near is at for a list without a shelf, and small enough to need no call.
func (l *list[T]) near(i int) *T { return &l.chunks[i>>chunkShift][i&(1<<chunkShift-1)] }

func (l *list[T]) add(x T) { *l.room() = x }

// room adds an element and returns where it goes. What is there is not zero.
func (l *list[T]) room() *T {
	c, k := l.n>>chunkShift, l.n&(1<<chunkShift-1)
	l.n++
	if c < len(l.chunks) && k < cap(l.chunks[c]) {
		chunk := l.chunks[c][:k+1]
		l.chunks[c] = l.chunks[c][:k+1]
		return &chunk[k]
	}
	if c == len(l.chunks) {
		chunk := l.spare[:0]
		if l.spare = nil; c > 0 && chunk == nil {
			chunk = make([]T, 0, 1<<chunkShift)
		}
		l.chunks = append(l.chunks, chunk)
	}
	var x T
	l.chunks[c] = append(l.chunks[c][:k], x)
	return &l.chunks[c][k]
}

// first returns the first element of chunk c.
func (l *list[T]) first(c int) *T {
	if l.chunks[c] == nil {
		return &l.away.pages[c].first
	}
	return &l.chunks[c][0]
}

// search returns the index of the first element that f holds for, and n where it holds for none, like sort.Search. It
// reads no more than one chunk from a shelf.
func (l *list[T]) search(f func(*T) bool) int {
	c := sort.Search((l.n+1<<chunkShift-1)>>chunkShift, func(c int) bool { return f(l.first(c)) })
	if c == 0 {
		return 0
	}
	from, to := (c-1)<<chunkShift+1, min(c<<chunkShift, l.n)
	return from + sort.Search(to-from, func(k int) bool { return f(l.at(from + k)) })
}

// shelve moves all full chunks to a shelf, but not the last element, which may still change.
func (l *list[T]) shelve(to *shelf) error {
	for c := l.away.count(); c < (l.n-1)>>chunkShift; c++ {
		if l.away == nil {
			l.away = &shelved[T]{shelf: to}
		}
		if err := l.away.put(l.chunks[c]); err != nil {
			return err
		}
		l.chunks[c], l.spare = nil, l.chunks[c]
	}
	return nil
}

// clear forgets all elements and keeps their memory.
func (l *list[T]) clear() {
	if l.n = 0; l.away != nil {
		l.drop()
	}
}

// drop gives up the memory of all elements.
func (l *list[T]) drop() { *l = list[T]{} }

// grows returns how many bytes the next element may allocate.
func (l *list[T]) grows() int64 {
	var x T
	c, k := l.n>>chunkShift, l.n&(1<<chunkShift-1)
	switch {
	case c < len(l.chunks) && k < cap(l.chunks[c]):
		return 0
	case c == 0:
		return int64(2*k+64) * int64(unsafe.Sizeof(x))
	}
	return int64(unsafe.Sizeof(x)) << chunkShift
}

func (l *list[T]) bytes() int64 {
	if len(l.chunks) == 0 {
		return 0
	}
	var x T
	n := cap(l.chunks[0]) + (len(l.chunks)-1)<<chunkShift
	if moved := l.away.count(); moved > 0 {
		n = (len(l.chunks)-moved)<<chunkShift + cap(l.spare)
	}
	return int64(n)*int64(unsafe.Sizeof(x)) + l.away.bytes()
}

// A unit is a step of positive length together with everything that happens at its end: members of a group of events
// have steps of length zero.
type stepRecord struct {
	t, h, t1 float64
	index    int32 // of its end
	nth      int32
	span     int32
	unit     int32 // units before it; of a step of length zero, those before it and its own
	slot     int32 // among those of its member, where stages are kept
	kind     solvers.EndKind
	member   uint8         // of the method
	at       solvers.EndAt // of its end
}

func (r *stepRecord) end() solvers.End {
	return solvers.End{Kind: r.kind, Index: int(r.index), Nth: int(r.nth), At: r.at}
}

// records are the steps of a run. A run without stages may have many millions of them, and is then packed: of a step
// that began where the one before ended, has the length that was chosen and ended nowhere in particular, the length
// alone is written down. What else there is to say of it follows from the steps before it in its block.
type records struct {
	n      int
	loose  list[stepRecord] // never on a shelf
	packed bool
	blocks list[block]
	odd    list[oddStep]
	moved  map[int]float64 // where steps begin that do not begin where the one before ended
}

const (
	perBlock = 16
	packFrom = 1 << 14 // steps
)

type block struct {
	t          float64 // at which its first step begins
	h          [perBlock]float64
	span, unit int32  // of its first step
	firstOdd   int32  // of its steps that are not plain
	odds       uint16 // which of its steps these are
	member     uint8  // of the others
}

// oddStep is what is not plain of a step.
type oddStep struct {
	t1         float64
	index, nth int32
	kind       solvers.EndKind
	member     uint8
	at         solvers.EndAt
}

// clear forgets all steps. Those of the next run are packed if these were.
func (s *records) clear() {
	s.n, s.moved = 0, nil
	s.loose.clear()
	s.blocks.clear()
	s.odd.clear()
}

// drop gives up the memory of the steps.
func (s *records) drop() {
	s.loose.drop()
	s.blocks.drop()
	s.odd.drop()
	s.n, s.packed, s.moved = 0, false, nil
}

func (s *records) bytes() int64 { return s.loose.bytes() + s.blocks.bytes() + s.odd.bytes() }

// grows returns how many bytes the next step may allocate.
func (s *records) grows() int64 {
	if !s.packed {
		return s.loose.grows()
	}
	return s.blocks.grows() + s.odd.grows()
}

// room adds a step that is not packed, and returns where it goes. What is there is not zero.
func (s *records) room() *stepRecord {
	s.n++
	return s.loose.room()
}

func (s *records) add(r *stepRecord) {
	if !s.packed {
		*s.room() = *r
		return
	}
	s.n++
	s.put(r, s.n-1)
}

// pack packs the steps, if there are many. Where memory is short, a few hundred are many.
func (s *records) pack(short bool) {
	if s.packed || s.n < packFrom && !(short && s.n >= 1<<chunkShift) {
		return
	}
	s.packed = true
	for i := range s.n {
		s.put(s.loose.near(i), i)
	}
	s.loose.drop()
}

// put packs step i.
func (s *records) put(r *stepRecord, i int) {
	k := i % perBlock
	plain := r.kind == solvers.EndFree && r.at == 0 && r.index == 0 && r.nth == 0 && r.h > 0 && r.t1 == r.t+r.h
	if k == 0 {
		s.blocks.add(block{t: r.t, span: r.span, unit: r.unit, firstOdd: int32(s.odd.n), member: r.member})
	} else if last := s.at(i-1, nil); last.t1 != r.t {
		plain = false
		if s.moved == nil {
			s.moved = map[int]float64{}
		}
		s.moved[i] = r.t
	}
	b := s.blocks.at(i / perBlock)
	if b.h[k] = r.h; plain && r.member == b.member {
		return
	}
	b.odds |= 1 << k
	s.odd.add(oddStep{r.t1, r.index, r.nth, r.kind, r.member, r.at})
}

// length returns the length of step i.
func (s *records) length(i int) float64 {
	if !s.packed {
		return s.loose.near(i).h
	}
	return s.blocks.at(i / perBlock).h[i%perBlock]
}

// free reports whether step i ended nowhere in particular.
func (s *records) free(i int) bool {
	if !s.packed {
		return s.loose.near(i).kind == solvers.EndFree
	}
	return s.end(i).Kind == solvers.EndFree
}

// end returns how step i ended.
func (s *records) end(i int) solvers.End {
	if !s.packed {
		return s.loose.near(i).end()
	}
	b, k := s.blocks.at(i/perBlock), i%perBlock
	if b.odds>>k&1 == 0 {
		return solvers.End{Kind: solvers.EndFree}
	}
	o := s.odd.at(int(b.firstOdd) + bits.OnesCount16(b.odds&(1<<k-1)))
	return solvers.End{Kind: o.kind, Index: int(o.index), Nth: int(o.nth), At: o.at}
}

// at returns step i. spans are those of the run; without them, the record lacks its span.
func (s *records) at(i int, spans *list[span]) stepRecord {
	if !s.packed {
		return *s.loose.near(i)
	}
	b, k := s.blocks.at(i/perBlock), i%perBlock
	r := stepRecord{span: b.span, unit: b.unit}
	t, odd := b.t, int(b.firstOdd)
	for j := 0; j < k; j++ {
		h := b.h[j]
		if t += h; b.odds>>j&1 != 0 {
			t = s.odd.at(odd).t1
			odd++
		}
		if h > 0 {
			r.unit++
		}
	}
	if r.h = b.h[k]; b.odds>>k&1 != 0 {
		o := s.odd.at(odd)
		if at, ok := s.moved[i]; ok {
			t = at
		}
		r.t, r.t1, r.index, r.nth = t, o.t1, o.index, o.nth
		r.kind, r.member, r.at = o.kind, o.member, o.at
	} else {
		r.t, r.t1, r.kind, r.member = t, t+r.h, solvers.EndFree, b.member
	}
	if spans != nil {
		for next := int(r.span) + 1; next < spans.n && int(spans.at(next).first) <= i; next++ {
			r.span++
		}
	}
	return r
}

// after returns the first step with more than u units before it, n where there is none.
func (s *records) after(u int) int {
	if !s.packed {
		return s.loose.search(func(r *stepRecord) bool { return int(r.unit) > u })
	}
	b := s.blocks.search(func(b *block) bool { return int(b.unit) > u })
	i := max(b-1, 0) * perBlock
	for i < s.n && int(s.at(i, nil).unit) <= u {
		i++
	}
	return i
}

// shelve moves packed steps to a shelf.
func (s *records) shelve(to *shelf) error {
	if err := s.blocks.shelve(to); err != nil {
		return err
	}
	return s.odd.shelve(to)
}

// A span is a stretch of a run without jumps: same discretes, same modes.
type span struct {
	first int32 // its first step
	slot  int32 // of its discretes and modes
}

// markRecord is a mark. Depending on what it is, some fields mean different things.
type markRecord struct {
	t      float64
	after  int32 // the step at whose end it is, -1 before the first
	behind int32 // the span that it begins or lies in
	// event is the event of a firing; of a site it is the mark that has its left limits, -1 when nothing jumped. elem
	// is the element of a firing; of a site within its step it is 1 + the slot of its state, and otherwise 0.
	event, elem int32
	nth, slot   int32 // of a firing
	cause       int32 // the guard, or -2 less the instant; -1 for neither
	kind        solvers.MarkKind
	stop        bool
	caused      bool
}

// causeOf returns what a record has of the guard and the instant of a mark, of which at least one is -1.
func causeOf(guard, instant int) int32 {
	if guard >= 0 {
		return int32(guard)
	}
	return int32(-2 - instant)
}

// by returns the guard and the instant of the mark.
func (r *markRecord) by() (guard, instant int) {
	if r.cause >= 0 {
		return int(r.cause), -1
	}
	return -1, int(-2 - r.cause)
}

// before returns the span that ends at the mark.
func (r *markRecord) before() int32 {
	switch r.kind {
	case solvers.MarkFire, solvers.MarkMode, solvers.MarkRemode:
		return r.behind - 1
	}
	return r.behind
}

// first returns the mark that has the left limits of a site, or -1.
func (r *markRecord) first() int32 {
	if r.kind == solvers.MarkSite && r.elem == 0 {
		return r.event
	}
	return -1
}

// inside returns 1 + the slot of the state of a site within its step, and 0 for anything else.
func (r *markRecord) inside() int32 {
	if r.kind == solvers.MarkSite {
		return r.elem
	}
	return 0
}

func (r *markRecord) firing() solvers.Firing {
	if r.kind != solvers.MarkFire && r.kind != solvers.MarkMode {
		return solvers.Firing{}
	}
	return solvers.Firing{Event: int(r.event), Elem: int(r.elem), Nth: int(r.nth), Slot: int(r.slot)}
}
