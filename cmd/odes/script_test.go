package main

import (
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare output with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"odes": main})
}

// TestScripts runs the command as users do. $EXAMPLES is the folder of the examples.
//
//odes:goroutines
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs(filepath.Join("..", "..", "examples"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("EXAMPLES", examples)
			return nil
		},
		Cmds:      map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": exitStatus},
		Condition: condition,
	})
}

// condition tells whether a condition of this command's own scripts holds: [race] where the race detector is on, which
// reserves more memory at its start than a script may leave it.
func condition(name string) (bool, error) {
	if name != "race" {
		return false, fmt.Errorf("there is no condition [%s]", name)
	}
	build, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}), nil
}

// exitStatus is the script command "status n command…": it runs a command
// and wants exit status n.
func exitStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status n command…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}
