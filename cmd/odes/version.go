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

// Run prints the version, and what it was built with and for.
func (versionCmd) Run(c *call) error {
	_, err := fmt.Fprintf(c.out, "odes %s %s %s/%s\n", odes.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
