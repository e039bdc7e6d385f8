package serve

import (
	"runtime/debug"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
)

// most is how many models and jobs are kept.
const most = 512

// store keeps models and jobs under the numbers that clients know them by. It drops what was not used for longest when
// there are too many, and where memory is short. A client that names what was dropped is told so, and asks anew.
type store struct {
	mu      sync.Mutex
	entries map[uint32]*entry
	next    uint32 // number of the next entry
	uses    uint64 // counts uses: the clock of the entries

	collecting sync.Mutex // held by who makes room in memory
}

// entry is a model or a job.
type entry struct {
	used  uint64
	model *odes.Model
	job   *job
}

// add keeps e and returns its number.
func (s *store) add(e entry) uint32 {
	defer s.makeRoom()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(max(len(s.entries)+1-most, 0))
	if s.entries == nil {
		s.entries = map[uint32]*entry{}
	}
	for s.next++; s.next == 0 || s.entries[s.next] != nil; s.next++ {
	}
	s.uses++
	e.used = s.uses
	s.entries[s.next] = &e
	return s.next
}

// find returns the entry with a number; nil if there is none.
func (s *store) find(id uint32) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[id]
	if e != nil {
		s.uses++
		e.used = s.uses
	}
	return e
}

// remove forgets the entry with a number, if there is one.
func (s *store) remove(id uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, id)
}

// makeRoom drops entries where they may be what takes more than half of the memory.
func (s *store) makeRoom() {
	if memory.Used() > memory.Budget()/2 && s.collecting.TryLock() {
		// Gigabytes take long, beside those who make more of them longer, and this request may be a small one.
		go func() {
			defer s.collecting.Unlock()
			s.shrink(memory.Budget() / 2)
		}()
	}
}

// shrink drops entries until the process has no more than so many bytes. The one that was used last stays.
func (s *store) shrink(limit int64) {
	debug.FreeOSMemory() // garbage counts as used
	for memory.Used() > limit && s.halve() {
		debug.FreeOSMemory()
	}
}

// halve drops the half of the entries that were not used for longest; false if there is one or none.
func (s *store) halve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.entries) / 2
	s.drop(n)
	return n > 0
}

// clear drops everything.
func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.entries)
}

// drop forgets the n entries that were not used for longest.
func (s *store) drop(n int) {
	for range n {
		oldest, found := uint32(0), (*entry)(nil)
		for id, e := range s.entries {
			if found == nil || e.used < found.used {
				oldest, found = id, e
			}
		}
		delete(s.entries, oldest)
	}
}
