package sens_test

import (
	"testing"

	"odes.dev/odes/internal/testing/runstest"
)

// TestModels compares derivatives of whole models, in all modes, with a file.
//
//odes:goroutines
func TestModels(t *testing.T) { runstest.Compare(t, "testdata/models", *update) }
