package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"odes.dev/odes"
)

// versionCmd is odes version.
type versionCmd struct {
	global
}

// Run prints the version, what it was built of, with and for, and the backend.
func (versionCmd) Run(c *call) error {
	info, _ := debug.ReadBuildInfo()
	_, err := fmt.Fprintf(c.out, "odes %s %s %s/%s %s\n",
		version(info), runtime.Version(), runtime.GOOS, runtime.GOARCH, odes.Backend())
	return err
}

// version returns the version and, of a build that is not that of a release, the commit
// as Go names it: go install and go build in a clone note it.
func version(info *debug.BuildInfo) string {
	if info == nil {
		return odes.Version
	}
	switch v := info.Main.Version; v {
	case "", "(devel)", "v" + odes.Version:
		return odes.Version
	default:
		return odes.Version + " (" + v + ")"
	}
}
