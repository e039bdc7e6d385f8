package memory

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// arena is what Go asks for at once, and does not use at once.
const arena = 64 << 20

// processLimit returns what ulimit leaves of memory; 0 for no limit.
func processLimit() int64 {
	least := uint64(math.MaxInt64)
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_DATA, &l) == nil {
		least = min(least, max(l.Cur, arena+1)-arena)
	}
	if unix.Getrlimit(unix.RLIMIT_AS, &l) == nil && l.Cur < math.MaxInt64 {
		// Addresses that are reserved and not used count, too.
		sizes := strings.Fields(read("/proc/self/statm") + " 0 0")
		all, _ := strconv.ParseUint(sizes[0], 10, 64)
		resident, _ := strconv.ParseUint(sizes[1], 10, 64)
		reserved := (all - min(all, resident)) * uint64(os.Getpagesize())
		least = min(least, max(l.Cur, reserved+1)-reserved)
	}
	if least == math.MaxInt64 {
		return 0
	}
	// What was freed counts as well until it is used again, and large pieces leave gaps between them.
	return int64(least - least/3)
}
