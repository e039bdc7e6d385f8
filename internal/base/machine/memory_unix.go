//go:build amd64 && !purego && (linux || darwin || freebsd)

package machine

import (
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

var supported = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// Supports512 reports whether the processor has what the target AVX512 needs.
func Supports512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
}

// newMemory maps pages, writes the code and only then makes them executable.
func newMemory(code []byte) (*Memory, error) {
	pages, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	copy(pages, code)
	if err := unix.Mprotect(pages, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		_ = unix.Munmap(pages)
		return nil, err
	}
	return &Memory{pages, uintptr(unsafe.Pointer(unsafe.SliceData(pages)))}, nil
}

// Free gives the memory back. The code in it must not run any more.
func (m *Memory) Free() {
	if m.pages != nil {
		_ = unix.Munmap(m.pages)
		m.pages = nil
	}
}
