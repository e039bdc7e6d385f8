package record

import (
	"fmt"

	"odes.dev/odes/solvers"
)

// MemoryError tells that the trajectory outgrew its limit.
type MemoryError struct {
	solvers.Place
	Limit int64
	Bytes int64      // what the next step would have needed
	Keep  Checkpoint // what was kept
	// Thinned tells that Limit allowed no more than this, though more was asked for.
	Thinned bool
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("the trajectory needs more than memory = %d bytes at %s, with checkpoint = %s; "+
		"raise the limit, keep less, loosen the tolerances, or shorten the time span",
		e.Limit, e.Place.String(), e.Keep)
}

// DiskError tells that states could not be written to a file or read from it. It unwraps to the file's error.
type DiskError struct {
	Op  string // "open", "write" or "read"
	Err error
}

func (e *DiskError) Error() string {
	return fmt.Sprintf("cannot %s the file for states of the run: %v", e.Op, e.Err)
}

func (e *DiskError) Unwrap() error { return e.Err }
