package odes

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// defaultMemory limits the bytes of a gradient where the solver block says nothing of memory, and those of a
// trajectory where the machine's memory is not known.
const defaultMemory = 8 << 30

// trajectoryMemory is what a trajectory may take where the solver block says
// nothing of memory: half of what there is. The system would end a program that takes more than all.
var trajectoryMemory = sync.OnceValue(func() int64 {
	all := int64(math.MaxInt64)
	if set := debug.SetMemoryLimit(-1); set > 0 { // GOMEMLIMIT
		all = set
	}
	for _, from := range []struct {
		file, label string
		unit        int64
	}{
		{"/proc/meminfo", "MemTotal:", 1 << 10},
		{"/sys/fs/cgroup/memory.max", "", 1},
		{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1},
	} {
		text, err := os.ReadFile(from.file)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), from.label)
		word := strings.Fields(rest + " max")[0]
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && n > 0 && n < math.MaxInt64/from.unit {
			all = min(all, n*from.unit)
		}
	}
	if all == math.MaxInt64 {
		return defaultMemory
	}
	return all / 2
})

// record readies tr for the run; what it does not keep is made again by programs of k.
func (r *run) record(tr *solvers.Trajectory, k *system.Kit) {
	tr.Keep, tr.Open = r.settings.checkpoint, scratch
	if tr.Limit = r.settings.solver.Memory; tr.Limit == 0 {
		tr.Limit = trajectoryMemory()
	}
	if n := len(r.model.experiments); n > 0 { // their runs are kept as well
		tr.Limit /= int64(n + 1)
	}
	tr.Again = func() (solvers.System, solvers.Method) {
		return r.problem.Replayer(k), r.method(0)
	}
}

// scratchFile is a file without a name, if the system has such: then nothing is left of it, however the program ends.
type scratchFile struct {
	*os.File
	name string // "" for none
}

// Close closes the file, and removes it if it has a name.
func (f *scratchFile) Close() error {
	err := f.File.Close()
	if f.name != "" {
		err = os.Remove(f.name)
	}
	return err
}

// scratch makes a file for states of a run.
func scratch() (solvers.Disk, error) {
	f, err := os.CreateTemp("", "odes-states-*")
	if err != nil {
		return nil, err
	}
	s := &scratchFile{File: f}
	if os.Remove(f.Name()) != nil {
		s.name = f.Name()
	}
	return s, nil
}

// checkpoints explains what solver.checkpoint may be.
const checkpoints = "is all, states, states(k) for one in k, binomial, binomial(n) or revolve(ram = n, disk = m), with whole numbers from 1 to 2147483647"

// setCheckpoint reads which states of a run are kept.
func (s *settings) setCheckpoint(v typecheck.SettingValue) string {
	whole := func(v typecheck.SettingValue) (int, bool) {
		if v.Number == nil || !(*v.Number >= 1) || *v.Number != math.Floor(*v.Number) || *v.Number > math.MaxInt32 {
			return 0, false
		}
		return int(*v.Number), true
	}
	c := solvers.Checkpoint{}
	count, counted := 0, false
	if v.Call && len(v.List) == 1 {
		count, counted = whole(v.List[0])
	}
	ok := !v.Array && v.Text == "" && (counted || len(v.List) == 0) && (v.Word == "revolve" || len(v.Keys) == 0)
	switch v.Word {
	case "all":
		c.Kind, ok = solvers.CheckpointAll, ok && !v.Call
	case "states":
		c.Kind, c.Every, ok = solvers.CheckpointEvery, count, ok && counted == v.Call
	case "binomial":
		c.Kind, c.RAM, ok = solvers.CheckpointBinomial, count, ok && counted == v.Call
	case "revolve":
		c.Kind, c.RAM, ok = solvers.CheckpointBinomial, count, ok && (counted || len(v.Keys) > 0)
		for _, k := range v.Keys {
			n, good := whole(k.Value)
			switch ok = ok && good; k.Key {
			case "ram":
				c.RAM, ok = n, ok && c.RAM == 0
			case "disk":
				c.Disk, ok = n, ok && c.Disk == 0
			default:
				ok = false
			}
		}
	default:
		ok = false
	}
	if !ok {
		return checkpoints
	}
	s.checkpoint = c
	return ""
}

// thinned notes that a run was too large to be kept whole.
func (r *Runner) thinned() {
	tr := &r.trajectory
	if !tr.Thinned() {
		return
	}
	what := "every state"
	if k := tr.Kept().Every; k > 1 {
		what = fmt.Sprintf("one state in %d", k)
	}
	r.warnings.Notef(explain.CodeMemory, r.model.checked.Time.Span,
		"the steps of the run do not fit into memory = %s: %s is kept, and %d steps were computed again, to the same result; more solver.memory makes it faster",
		diag.Bytes(float64(tr.Limit)), what, tr.Replayed())
}
