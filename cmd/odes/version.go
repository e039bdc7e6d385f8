package main

import (
	"fmt"
	"runtime"

	"odes.dev/odes"
)

// versionCmd is odes version.
type versionCmd struct {
	global
}

// Run prints the version, what it was built with and for, and the backend.
func (versionCmd) Run(c *call) error {
	_, err := fmt.Fprintf(c.out, "odes %s %s %s/%s %s\n",
		odes.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, odes.Backend())
	return err
}
