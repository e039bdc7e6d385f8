//go:build !unix

package vm_test

import "testing"

// guard allocates plain memory: this system has no guard pages.
type guard struct{}

func (*guard) floats(_ *testing.T, n int, _ bool) []float64 { return make([]float64, n) }

func (*guard) free(*testing.T) {}
