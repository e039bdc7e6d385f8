//go:build unix

package vm_test

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// guard allocates memory in which an access outside a vector faults.
type guard struct{ maps [][]byte }

// floats returns n numbers next to a page that cannot be accessed: right behind them with end set,
// otherwise right in front of them.
func (g *guard) floats(t *testing.T, n int, end bool) []float64 {
	page := os.Getpagesize()
	room := (8*n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, room+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	g.maps = append(g.maps, m)
	for _, p := range [][]byte{m[:page], m[page+room:]} {
		if err := unix.Mprotect(p, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if n == 0 {
		return nil
	}
	at := page
	if end {
		at += room - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&m[at])), n)
}

// free gives the memory back.
func (g *guard) free(t *testing.T) {
	for _, m := range g.maps {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	}
	g.maps = nil
}
