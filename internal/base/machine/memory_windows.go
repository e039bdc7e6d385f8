//go:build amd64 && !purego

package machine

import (
	"unsafe"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/windows"
)

var supported = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// Supports512 reports whether the processor has what the target AVX512 needs.
func Supports512() bool {
	return cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
}

// newMemory writes the code to pages and only then makes them executable.
func newMemory(code []byte) (*Memory, error) {
	n := uintptr(len(code))
	start, err := windows.VirtualAlloc(0, n, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	// The system writes to the process's own memory, so that no pointer is made of a number.
	var written uintptr
	err = windows.WriteProcessMemory(windows.CurrentProcess(), start, unsafe.SliceData(code), n, &written)
	var old uint32
	if err == nil {
		err = windows.VirtualProtect(start, n, windows.PAGE_EXECUTE_READ, &old)
	}
	if err != nil {
		_ = windows.VirtualFree(start, 0, windows.MEM_RELEASE)
		return nil, err
	}
	return &Memory{start: start}, nil
}

// Free gives the memory back. The code in it must not run any more.
func (m *Memory) Free() {
	if m.start != 0 {
		_ = windows.VirtualFree(m.start, 0, windows.MEM_RELEASE)
		m.start = 0
	}
}
