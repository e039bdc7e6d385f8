// Package seeds is where random suites take their seeds from, so that one number moves them all:
//
//	ODES_SEED=7 go test ./internal/testing/truth -run TestRandom
//	.ci/random 7      # every random suite
//
// A suite joins by calling Of in the body of its test function, where .ci/random looks for it.
package seeds

import (
	"os"
	"strconv"
	"testing"
)

// Variable names the environment variable whose number moves random suites.
const Variable = "ODES_SEED"

// spacing is how far numbers of the variable lie from each other in seeds: more than models that a suite draws.
const spacing = 1 << 24

// Of returns the seed with which a random suite begins: usual where the environment variable ODES_SEED is not set, and
// another for each number of it. A suite that counts its models up from that seed meets none of another number's. What
// fails tells the variable.
func Of(t testing.TB, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(Variable)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("%s=%s is no whole number below 2^32", Variable, text)
	}
	t.Logf("%s=%d draws these models", Variable, n)
	return usual + n*spacing
}
