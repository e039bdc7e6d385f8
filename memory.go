package odes

import (
	"fmt"
	"os"

	"odes.dev/odes/internal/explain"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
)

// record readies tr for the run; what it does not keep is made again by programs of k.
func (r *run) record(tr *solvers.Trajectory, k *system.Kit) {
	tr.Keep, tr.Open, tr.Limit = r.settings.Checkpoint, scratch, r.settings.TrajectoryLimit()
	if n := len(r.model.experiments); n > 0 { // their runs are kept as well
		tr.Limit /= int64(n + 1)
	}
	tr.Replayer = func() (solvers.System, solvers.Method) {
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
