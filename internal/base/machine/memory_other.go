//go:build !amd64 || purego || !(linux || darwin || freebsd || windows)

package machine

import "errors"

const supported = false

// Supports512 reports whether the processor has what the target AVX512 needs.
func Supports512() bool { return false }

func newMemory([]byte) (*Memory, error) {
	return nil, errors.New("code cannot be made here while a program runs")
}

// Free gives the memory back. The code in it must not run any more.
func (m *Memory) Free() {}
