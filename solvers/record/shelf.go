package record

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// shelf is a file for those parts of the lists of a run that have no room in memory. Lists put whole chunks there, and
// read them as they are wanted, by several goroutines at once. A number that could not be read is zero, and err says
// so: whoever hands out what was read asks for it.
type shelf struct {
	tr   *Trajectory // makes the file
	file Disk
	used int64 // bytes
	err  atomic.Pointer[error]
}

// put writes b and returns where it is.
func (s *shelf) put(b []byte) (at int64, err error) {
	if s.file == nil {
		if s.file, err = s.tr.open(); err != nil {
			s.file = nil
			return 0, err
		}
	}
	at = s.used
	if _, err := s.file.WriteAt(b, at); err != nil {
		return 0, &DiskError{Op: "write", Err: err}
	}
	s.used += int64(len(b))
	return at, nil
}

// read fills b with what was put at a place.
func (s *shelf) read(at int64, b []byte) {
	if _, err := s.file.ReadAt(b, at); err != nil {
		clear(b)
		err = &DiskError{Op: "read", Err: err}
		s.err.CompareAndSwap(nil, &err)
	}
}

// failed returns the error of what could not be read since the run began.
func (s *shelf) failed() error {
	if err := s.err.Load(); err != nil {
		return *err
	}
	return nil
}

// clear forgets all that was put there; the file stays.
func (s *shelf) clear() {
	s.used = 0
	s.err.Store(nil)
}

// shelved are the chunks of a list that are on a shelf, the first ones of the list. Its elements hold no pointers.
type shelved[T any] struct {
	shelf  *shelf
	pages  []*page[T]
	mu     sync.Mutex
	recent [pagesAtHand]*page[T] // those that were read last, in turn
	next   int                   // of these
}

// page is a chunk on a shelf.
type page[T any] struct {
	at    int64
	n     int
	first T                   // its first element, for those who search
	chunk atomic.Pointer[[]T] // while it is at hand
}

// pagesAtHand is how many chunks of a list are in memory after they were read, so that several goroutines can read
// different parts of a run.
const pagesAtHand = 16

// put moves a chunk to the shelf.
func (s *shelved[T]) put(chunk []T) error {
	at, err := s.shelf.put(bytesOf(chunk))
	if err == nil {
		s.pages = append(s.pages, &page[T]{at: at, n: len(chunk), first: chunk[0]})
	}
	return err
}

// chunk returns chunk c. It stays valid after others were read.
func (s *shelved[T]) chunk(c int) []T {
	p := s.pages[c]
	if x := p.chunk.Load(); x != nil {
		return *x
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := p.chunk.Load(); x != nil {
		return *x
	}
	x := make([]T, p.n)
	s.shelf.read(p.at, bytesOf(x))
	if old := s.recent[s.next]; old != nil {
		old.chunk.Store(nil)
	}
	s.recent[s.next], s.next = p, (s.next+1)%pagesAtHand
	p.chunk.Store(&x)
	return x
}

// count returns how many chunks are on the shelf.
func (s *shelved[T]) count() int {
	if s == nil {
		return 0
	}
	return len(s.pages)
}

// bytes returns the memory that it takes to find the chunks. Those at hand come to less than a megabyte.
func (s *shelved[T]) bytes() int64 {
	return int64(s.count()) * int64(unsafe.Sizeof(page[T]{})+8)
}

// bytesOf returns the memory of x.
func bytesOf[T any](x []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(one)))
}
