package main

import (
	"runtime/debug"
	"testing"

	"odes.dev/odes"
)

// TestVersionOfBuilds: a release is called by its version alone, any other build also by its commit.
func TestVersionOfBuilds(t *testing.T) {
	build := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	commit := "v0.0.0-20261122081900-bb83036aa2c1+dirty"
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, odes.Version},
		{build(""), odes.Version},
		{build("(devel)"), odes.Version},
		{build("v" + odes.Version), odes.Version},
		{&debug.BuildInfo{
			Main: debug.Module{Version: "v" + odes.Version}, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "bb83036aa2c1e4dd41f4b6c5a9c0295500000000"},
			},
		}, odes.Version + " (bb83036aa2c1)"},
		{build(commit), odes.Version + " (" + commit + ")"},
	} {
		if got := version(c.info); got != c.want {
			t.Errorf("%v: %q, want %q", c.info, got, c.want)
		}
	}
}
