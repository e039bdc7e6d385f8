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

// commit is that of the source of a release, whose builds do not depend on the clone that they are made in. The
// Makefile sets it.
var commit string

// version returns the version and the commit: of a build that is not that of a release as Go names it, with what
// go install and go build in a clone note.
func version(info *debug.BuildInfo) string {
	known := commit
	if info != nil {
		switch v := info.Main.Version; v {
		case "", "(devel)", "v" + odes.Version:
		default:
			return odes.Version + " (" + v + ")"
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				known = s.Value
			}
		}
	}
	if known == "" {
		return odes.Version
	}
	return odes.Version + " (" + known[:min(12, len(known))] + ")"
}
