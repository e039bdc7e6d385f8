//go:build !unix

package vm_test

import "testing"

// guard is memory, without guards here.
type guard struct{}

func (*guard) floats(_ *testing.T, n int, _ bool) []float64 { return make([]float64, n) }

func (*guard) free(*testing.T) {}
