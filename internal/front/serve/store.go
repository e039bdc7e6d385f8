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
}

// entry is a model or a job.
type entry struct {
	used  uint64
	model *odes.Model
	job   *job
}

// add keeps e and returns its number.
func (s *store) add(e entry) uint32 {
	s.makeRoom()
	s.mu.Lock()
	defer s.mu.Unlock()
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

// makeRoom drops entries where there are too many, or where they may be what takes more than half of the memory.
func (s *store) makeRoom() {
	s.keep(most - 1)
	limit := memory.Budget() / 2
	if memory.Used() <= limit {
		return
	}
	debug.FreeOSMemory() // garbage counts as used; gigabytes take long, and nobody waits for the store meanwhile
	for left := most; left > 0 && memory.Used() > limit; {
		s.mu.Lock()
		left = len(s.entries) / 2
		s.mu.Unlock()
		s.keep(left)
		debug.FreeOSMemory()
	}
}

// keep drops all but the n entries that were used last.
func (s *store) keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(max(len(s.entries)-n, 0))
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
