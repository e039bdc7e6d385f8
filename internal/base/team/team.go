// Package team lets goroutines share one short piece of work: the strips of a long array, the rows of a product. A
// piece takes tens of microseconds, so its parts are handed out without locks, and those who help look for the next
// piece a while before they go to sleep.
//
// Parts must not depend on one another, nor results on who does which. Then results have the same bits with any number
// of helpers, and whoever asks never waits for one that has not begun: it does all parts that nobody has taken.
package team

import (
	"runtime"
	"sync/atomic"
)

// Work is what is shared.
type Work interface {
	// Part does one part, for member who of the team; 0 is the one who asks. Parts of one piece of work are done at
	// the same time, each once, and no two by the same member at a time.
	Part(part, who int)
}

// Team is a goroutine that asks, and those who help it. It belongs to the one who asks. A nil Team has no helpers.
type Team struct {
	size  int
	work  Work
	state atomic.Uint64       // number of the piece, parts of it that nobody has taken: see leftBits
	done  atomic.Int64        // parts of the piece
	awake []atomic.Bool       // by helper
	fault atomic.Pointer[any] // what a part panicked with
}

// New returns a team of so many, with the one who asks; nil for fewer than two.
func New(size int) *Team {
	if size < 2 {
		return nil
	}
	return &Team{size: size, awake: make([]atomic.Bool, size-1)}
}

// Size returns how many there are.
func (t *Team) Size() int {
	if t == nil {
		return 1
	}
	return t.size
}

// The state holds the number of a piece of work above the number of parts that are left.
const leftBits = 24

// MaxParts is the most parts that a piece of work may have.
const MaxParts = 1<<leftBits - 1

// Do does all parts of a piece of work, and returns when they are done. A panic in a part goes on here then.
func (t *Team) Do(parts int, w Work) {
	if t == nil || parts < 2 {
		for i := range parts {
			w.Part(i, 0)
		}
		return
	}
	t.work = w
	t.done.Store(0)
	piece := t.state.Load()>>leftBits + 1
	t.state.Store(piece<<leftBits | uint64(parts))
	for i := range min(parts, t.size) - 1 {
		if t.awake[i].CompareAndSwap(false, true) {
			go t.help(i)
		}
	}
	for t.take(piece, 0) { //nolint:revive // the parts are the work
	}
	for t.done.Load() < int64(parts) {
		pause()
	}
	if fault := t.fault.Swap(nil); fault != nil {
		panic(*fault)
	}
}

// take does a part of a piece, and reports whether there was one left.
func (t *Team) take(piece uint64, who int) bool {
	for {
		s := t.state.Load()
		left := s & MaxParts
		if s>>leftBits != piece || left == 0 {
			return false
		}
		if t.state.CompareAndSwap(s, s-1) {
			t.part(int(left)-1, who)
			return true
		}
	}
}

// part does a part. A panic waits until all parts are done.
func (t *Team) part(part, who int) {
	defer func() {
		if r := recover(); r != nil {
			t.fault.Store(&r)
		}
		t.done.Add(1)
	}()
	t.work.Part(part, who)
}

// patience is how often a helper looks for work before it ends.
const patience = 2000

// help takes parts until there is nothing to do for a while.
func (t *Team) help(i int) {
	for idle := 0; idle < patience; {
		if t.take(t.state.Load()>>leftBits, i+1) {
			idle = 0
			continue
		}
		idle++
		pause()
	}
	t.awake[i].Store(false)
}

// pause lets others of this core go on.
func pause() { runtime.Gosched() }
