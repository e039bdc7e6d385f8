//go:build unix && !aix && !solaris

package ensemble

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps other processes from opening the file. Some file systems have no locks.
func lock(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return err
	}
	return nil
}
