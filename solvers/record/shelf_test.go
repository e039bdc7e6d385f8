package record

import (
	"errors"
	"io"
	"sort"
	"sync"
	"testing"
)

// ram is a Disk in memory.
type ram struct {
	data []byte
	lost bool
}

func (f *ram) WriteAt(p []byte, off int64) (int, error) {
	f.data = append(f.data[:off], p...)
	return len(p), nil
}

func (f *ram) ReadAt(p []byte, off int64) (int, error) {
	if f.lost {
		return 0, io.ErrUnexpectedEOF
	}
	return copy(p, f.data[off:]), nil
}

func (f *ram) Close() error { return nil }

// TestShelf moves a list to a file as it grows, reads it in several goroutines in both directions, searches it, and
// fills it again.
//
//odes:goroutines
func TestShelf(t *testing.T) {
	const n = 3*pagesAtHand<<chunkShift + 100
	disk := &ram{}
	s := &shelf{file: disk}
	var l list[markRecord]
	var a arena
	for range 2 {
		s.clear()
		l.clear()
		a.reset(3)
		for i := range n {
			l.add(markRecord{t: float64(i), after: int32(i / 3)})
			a.next()[2] = float64(i)
			if i%1000 == 999 {
				if err := l.shelve(s); err != nil {
					t.Fatal(err)
				}
				if err := a.shelve(s); err != nil {
					t.Fatal(err)
				}
			}
			l.at(i).nth = 7 // the last element may change
		}
		if most := int64(n * 48 / 2); l.bytes() > most || len(disk.data) < n*40 {
			t.Errorf("%d bytes in memory, %d in the file", l.bytes(), len(disk.data))
		}
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				for k := range n {
					i := k
					if g%2 == 0 {
						i = n - 1 - k
					}
					if m := l.at(i); m.t != float64(i) || m.nth != 7 || a.at(i)[2] != float64(i) {
						t.Errorf("element %d is %+v, slot %v", i, *m, a.at(i))
						return
					}
				}
			})
		}
		group.Wait()
		for at := -1; at < n/3+3; at += 37 {
			want := sort.Search(n, func(i int) bool { return i/3 >= at })
			if got := l.search(func(m *markRecord) bool { return int(m.after) >= at }); got != want {
				t.Fatalf("search %d: %d, want %d", at, got, want)
			}
		}
	}
	disk.lost = true
	var failed *DiskError
	if s.failed() != nil {
		t.Error(s.failed())
	}
	for i := 0; i < n; i += 1 << chunkShift {
		l.at(i)
	}
	if !errors.As(s.failed(), &failed) || failed.Op != "read" {
		t.Errorf("a file that is lost: %v", s.failed())
	}
}
