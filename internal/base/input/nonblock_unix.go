//go:build unix

package input

import "syscall"

// nonblock opens a pipe without waiting for a writer.
const nonblock = syscall.O_NONBLOCK
