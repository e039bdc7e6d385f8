// Package memory says how much memory the process may take, and is asked before much of it is. Whoever needs a large
// piece asks first: a refusal is an error with numbers in it, while a piece that the system refuses ends the process.
package memory

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/base/fault"
	"odes.dev/odes/lang/diag"
)

// unknown is the memory of a machine that does not say.
const unknown = 16 << 30

// Machine returns how many bytes the process can have: the least of the machine's memory, what control groups and
// resource limits leave, and GOMEMLIMIT. A program that needs more would be ended by the system.
var Machine = sync.OnceValue(func() int64 {
	all := int64(math.MaxInt64)
	take := func(n int64) {
		if n > 0 {
			all = min(all, n)
		}
	}
	take(debug.SetMemoryLimit(-1))
	take(system("/"))
	take(processLimit())
	if all == math.MaxInt64 {
		return unknown
	}
	return all
})

// system returns the least of the machine's memory and of what control groups leave, as the files below root say; 0
// where they say nothing.
func system(root string) int64 {
	least := number(read(path.Join(root, "/proc/meminfo")), "MemTotal:") << 10
	for _, file := range groups(read(path.Join(root, "/proc/self/cgroup"))) {
		if n := number(read(path.Join(root, file)), ""); n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// read returns the text of a file of the system; "" if there is none.
func read(file string) string {
	text, _ := os.ReadFile(file)
	return string(text)
}

// number returns the number behind a label; 0 if there is none, or one too large to be a limit.
func number(text, label string) int64 {
	_, rest, _ := strings.Cut(text, label)
	n, err := strconv.ParseInt(strings.Fields(rest + " max")[0], 10, 64)
	if err != nil || n >= math.MaxInt64>>10 {
		return 0
	}
	return n
}

// groups returns the files with the limits of the control groups that the process is in, and of those that these lie
// in. In a container the names may be those outside of it; its own group is then the root.
func groups(membership string) (files []string) {
	for line := range strings.Lines(membership) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			files = append(files, path.Join(root, at, file))
			if at == "/" {
				break
			}
		}
	}
	return files
}

// forced, if not 0, is a budget that a test sets.
var forced atomic.Int64

// Budget returns how many bytes the process allows itself, compiling, loading and running together: an eighth less
// than it can have, since not everything is counted.
func Budget() int64 {
	if n := forced.Load(); n > 0 {
		return n
	}
	return Machine() - Machine()/8
}

// Force sets the budget, for tests of what happens without memory, until restore is called.
func Force(n int64) (restore func()) {
	before := forced.Swap(n)
	return func() { forced.Store(before) }
}

// Spare has garbage collected sooner where the budget is short. Keep may have asked for less before, which stays. Like
// Keep it is for commands.
func Spare() { lower(Budget()) }

// lowering is held while the limit of the garbage collector is lowered: who sets it last must not raise it again.
var lowering sync.Mutex

// lower makes n the limit of the garbage collector, unless that is less.
func lower(n int64) {
	lowering.Lock()
	defer lowering.Unlock()
	Machine() // reads the limit that the user set, which is still there
	debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), n))
}

// beside is what Go's runtime does not count of a process: programs.
const beside = 56 << 20

// kept, if not 0, is what Keep leaves of the budget.
var kept atomic.Int64

// leastKept is what suffices for models that are not large. Less than that is for the record of a run alone.
const leastKept = 300e6

// Keep has garbage collected as often as it takes to have no more than n bytes, programs included, as far as that is
// possible. What would take a quarter more, and more than leastKept, is refused. It is for commands: it changes the
// whole process.
func Keep(n int64) {
	if n > 0 {
		lower(max(n-beside, n/2))
		kept.Store(max(n+min(n/4, math.MaxInt64-n), leastKept))
	}
}

// Most returns how many bytes the process may take: the budget, or what Keep leaves of it.
func Most() int64 {
	if n := kept.Load(); n > 0 {
		return min(n, Budget())
	}
	return Budget()
}

// Used returns how many bytes the process has.
func Used() int64 {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64() - s[2].Value.Uint64())
}

// Code is that of diagnostics on too little memory.
const Code diag.Code = "memory"

// RefusedError says that there is no room.
type RefusedError struct {
	Need         float64 // bytes
	Used, Budget int64
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("not enough memory: this needs %s more, and %s of the %s that odes may use are taken",
		diag.Bytes(e.Need), diag.Bytes(float64(e.Used)), diag.Bytes(float64(e.Budget)))
}

// Exhausted reports whether the process has more than Most, not counting garbage.
func Exhausted() bool {
	if Used() <= Most() {
		return false
	}
	debug.FreeOSMemory()
	return Used() > Most()
}

// Refusal lets tests refuse a question of Ask, however small.
var Refusal fault.Point

// small is what need not be asked for.
const small = 1 << 20

// Ask returns a RefusedError unless there is room for n more bytes. Garbage is room.
func Ask(n float64) error {
	if Refusal.Refuses() {
		return &RefusedError{n, Used(), Most()}
	}
	if n <= small || n <= float64(Most()-Used()) {
		return nil
	}
	debug.FreeOSMemory() // collects garbage
	budget, used := Most(), Used()
	if n <= float64(budget-used) {
		return nil
	}
	return &RefusedError{n, used, budget}
}
