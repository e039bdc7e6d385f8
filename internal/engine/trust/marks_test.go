package trust_test

import (
	"testing"

	"odes.dev/odes/internal/testing/modeltest"
)

// TestMarks runs models at kinks, at thresholds and where things come at one time: which derivatives are marked is in
// the files of testdata/marks.
func TestMarks(t *testing.T) { modeltest.Cases(t, "marks") }

// TestMarksRaced runs those that the race detector runs as well.
//
//odes:goroutines
func TestMarksRaced(t *testing.T) { modeltest.Cases(t, "marks_raced") }
