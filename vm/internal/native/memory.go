package native

import "sync"

// Memory is code that can run. Its address space is given back by Free.
type Memory struct {
	pages []byte
	start uintptr
}

// Map makes the code executable. It fails where the system forbids that.
func (c *Code) Map() (*Memory, error) { return newMemory(c.bytes()) }

// Address returns where what begins at at stands.
func (m *Memory) Address(at int) uintptr { return m.start + uintptr(at) }

// Available reports whether code can be made to run here: on amd64 with AVX2 and
// FMA, by a system that lets programs make code.
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
