//go:build !unix

package examples_test

import "time"

var begun = time.Now()

// cpuSeconds returns a time in seconds.
func cpuSeconds() float64 { return time.Since(begun).Seconds() }
