package memory

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
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

// TestAsk refuses what is not there, and counts garbage as room.
func TestAsk(t *testing.T) {
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
