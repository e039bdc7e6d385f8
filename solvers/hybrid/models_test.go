package hybrid_test

import (
	"testing"

	"odes.dev/odes/internal/testing/runstest"
)

// TestModels compares runs of whole models, with events of all kinds, with a file.
func TestModels(t *testing.T) { runstest.Compare(t, "testdata/models", *update) }
