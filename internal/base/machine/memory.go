package machine

import (
	"errors"
	"sync"

	"odes.dev/odes/internal/base/fault"
)

// Memory is executable code. Free gives its address space back.
type Memory struct {
	pages []byte
	start uintptr
}

// Args is what code made to be called gets: addresses of vectors.
type Args [8]*float64

// Refusal lets tests refuse memory for code.
var Refusal fault.Point

var errRefused = errors.New("no memory for code")

// Map makes a copy of the code executable. It returns an error where the system forbids that.
func Map(code []byte) (*Memory, error) {
	if Refusal.Refuses() {
		return nil, errRefused
	}
	return newMemory(code)
}

// Address returns the address of the code that begins at byte at.
func (m *Memory) Address(at int) uintptr { return m.start + uintptr(at) }

// Available reports whether code that is made here can run: on amd64 with AVX2 and FMA, on a system
// that lets programs make code.
var Available = sync.OnceValue(func() bool {
	if !supported {
		return false
	}
	m, err := newMemory(make([]byte, 64))
	if err != nil {
		return false
	}
	m.Free()
	return true
})
