package settings

import (
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/model"
)

// defaultMemory limits the bytes of a gradient if the solver block does not set memory.
const defaultMemory = 8 << 30

// MemoryLimit returns how many bytes results may take.
func (s Settings) MemoryLimit() int64 {
	if s.Solver.Memory > 0 {
		return s.Solver.Memory
	}
	return min(defaultMemory, memory.Budget())
}

// What a process takes beside the record of a run, and how much of memory is for the record even where that is more.
const besideRecord, leastRecord = 125e6, 32e6

// TrajectoryLimit returns how many bytes the record of a run may take. Where memory is less than a process has, it is
// for the record alone.
func (s Settings) TrajectoryLimit() int64 {
	if all := s.Solver.Memory; all > 0 {
		return max(min(all, leastRecord), all-besideRecord, all-all/8*5)
	}
	return memory.Budget() / 2
}

// readSize reads bytes, as a number or a text.
func readSize(v model.SettingValue) (int64, bool) {
	text := v.Text
	if v.Number != nil {
		text = strconv.FormatFloat(*v.Number, 'g', -1, 64)
	}
	return parseBytes(text)
}

// byteUnits are the units of sizes. A unit comes before those that it ends with.
var byteUnits = []struct {
	name string
	size float64
}{
	{"KIB", 1 << 10},
	{"MIB", 1 << 20},
	{"GIB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

// parseBytes reads "2 GB", "500MB", "1e9".
func parseBytes(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	factor := 1.0
	for _, u := range byteUnits {
		if strings.HasSuffix(strings.ToUpper(text), u.name) {
			text, factor = strings.TrimSpace(text[:len(text)-len(u.name)]), u.size
			break
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x*factor >= 1) || x*factor >= math.MaxInt64 {
		return 0, false
	}
	return int64(x * factor), true
}
