//go:build race

package odes_test

// raced tells that the race detector watches.
const raced = true
