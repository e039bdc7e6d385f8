//go:build unix

package examples_test

import "syscall"

// cpuSeconds returns the processor time that the program has used.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Sec) + 1e-6*float64(u.Utime.Usec)
}
