package memory

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// TestNumber reads what systems write, with and without a limit.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		text, label string
		want        int64
	}{
		{"MemTotal:       24508432 kB\nMemFree: 1 kB\n", "MemTotal:", 24508432},
		{"max\n", "", 0},
		{"314572800\n", "", 314572800},
		{"9223372036854771712\n", "", 0}, // no limit, as version 1 writes it
		{"", "", 0},
		{"MemFree: 1 kB\n", "MemTotal:", 0},
	} {
		if got := number(c.text, c.label); got != c.want {
			t.Errorf("%q: %d, want %d", c.text, got, c.want)
		}
	}
}

// TestGroups finds the limits of a group and of those around it, of both versions.
func TestGroups(t *testing.T) {
	got := groups("12:cpu,cpuacct:/x\n4:memory:/docker/ab\n0::/a.slice/b\n\nnonsense\n")
	want := []string{
		"/sys/fs/cgroup/memory/docker/ab/memory.limit_in_bytes", "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
		"/sys/fs/cgroup/memory/memory.limit_in_bytes",
		"/sys/fs/cgroup/a.slice/b/memory.max", "/sys/fs/cgroup/a.slice/memory.max", "/sys/fs/cgroup/memory.max",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestMachine reads the limits of trees as systems have them: the least one holds, of the group and of those around it.
func TestMachine(t *testing.T) {
	const (
		info, group = "proc/meminfo", "proc/self/cgroup"
		machine     = "MemTotal:       8000000 kB\nMemFree:  1 kB\n"
		all, some   = 8000000 << 10, 300 << 20
		limit       = "314572800\n"
	)
	for name, c := range map[string]struct {
		files []string // each with its text
		want  int64
	}{
		"nothing":   {nil, 0},
		"no group":  {[]string{info, machine}, all},
		"no limit":  {[]string{info, machine, group, "0::/\n", "sys/fs/cgroup/memory.max", "max\n"}, all},
		"too much":  {[]string{info, machine, group, "0::/\n", "sys/fs/cgroup/memory.max", "99999999999\n"}, all},
		"version 2": {[]string{info, machine, group, "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max", limit}, some},
		"around it": {[]string{
			info, machine, group, "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/memory.max", limit,
		}, some},
		"container": {[]string{info, machine, group, "0::/outside\n", "sys/fs/cgroup/memory.max", limit}, some},
		"version 1": {[]string{
			info, machine, group, "4:memory:/x\n0::/\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes", limit,
		}, some},
	} {
		root := t.TempDir()
		for i := 0; i < len(c.files); i += 2 {
			at := filepath.Join(root, c.files[i])
			if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(c.files[i+1]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got := system(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestAsk refuses what is not there, and counts garbage as room.
func TestAsk(t *testing.T) {
	keep = nil
	debug.FreeOSMemory() // garbage of the test before would be room
	defer Force(Used() + 64<<20)()
	if err := Ask(1e15); !refused(err) || !strings.Contains(err.Error(), "this needs 1e+03 TB more") {
		t.Errorf("a petabyte: %v", err)
	}
	if err := Ask(32 << 20); err != nil {
		t.Error(err)
	}
	for range 100 {
		keep = nil
		if err := Ask(40 << 20); err != nil {
			t.Fatalf("garbage counts: %v", err)
		}
		keep = make([]byte, 40<<20)
	}
	if err := Ask(40 << 20); !refused(err) {
		t.Errorf("twice what there is: %v", err)
	}
	keep = nil
}

var keep []byte

func refused(err error) bool {
	var e *RefusedError
	return errors.As(err, &e)
}

// TestKeepStays holds that the limit of Keep is not raised again by what runs beside a command.
func TestKeepStays(t *testing.T) {
	user, left := debug.SetMemoryLimit(-1), kept.Load()
	defer func() {
		debug.SetMemoryLimit(user)
		kept.Store(left)
	}()
	defer Force(4 << 30)()
	for _, order := range [][]func(){{Spare, func() { Keep(1 << 30) }}, {func() { Keep(1 << 30) }, Spare}} {
		debug.SetMemoryLimit(user)
		for _, set := range order {
			set()
		}
		if got, want := debug.SetMemoryLimit(-1), min(user, 1<<30-beside); got != want {
			t.Errorf("the limit is %d, want %d", got, want)
		}
	}
}

// TestLimits has a process that may have 400 MB.
func TestLimits(t *testing.T) {
	if os.Getenv("ODES_TEST_MEMORY") != "" {
		if m := Machine(); m > 400<<20 || m < 200<<20 {
			t.Errorf("%d bytes", m)
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("no limits here")
	}
	cmd := exec.Command("sh", "-c", `ulimit -d 409600 && exec "$0" -test.run=^TestLimits$`, os.Args[0])
	cmd.Env = append(os.Environ(), "ODES_TEST_MEMORY=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
