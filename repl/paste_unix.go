//go:build unix

package repl

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// waits reports whether in has more to read, at once or within a few milliseconds.
func waits(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	const milliseconds = 10
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}, milliseconds)
	return err == nil && n > 0
}
