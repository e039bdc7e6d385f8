//go:build !unix

package compose_test

import "time"

var began = time.Now()

// cpu returns the time that has passed.
func cpu() time.Duration { return time.Since(began) }
