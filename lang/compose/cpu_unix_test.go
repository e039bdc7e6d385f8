//go:build unix

package compose_test

import (
	"syscall"
	"time"
)

// cpu returns the time that the process has computed.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano())
}
