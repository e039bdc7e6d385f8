//go:build unix

package examples_test

import "syscall"

// cpuSeconds returns the processor time that the program has used, that of the system for it included: which part is
// the system's is an estimate by ticks, and the sum is not.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + 1e-6*float64(t.Usec) }
	return seconds(u.Utime) + seconds(u.Stime)
}
