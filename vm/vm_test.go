package vm_test

import (
	"testing"

	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
	"odes.dev/odes/vm/vmtest"
)

// backends are those that run here.
func backends() []string {
	if b := simd.Backend(); b != simd.Generic {
		return []string{simd.Generic, b}
	}
	return []string{simd.Generic}
}

// on returns a backend for the suite.
func on(name string) vmtest.Backend {
	return func(t *tape.Tape, lanes int) (vmtest.Machine, error) {
		p, err := vm.Compile(t, vm.Options{Lanes: lanes, Backend: name})
		if err != nil {
			return nil, err
		}
		return p.NewMachine(), nil
	}
}

func TestConform(t *testing.T) {
	for _, b := range backends() {
		t.Run("backend="+b, func(t *testing.T) { vmtest.Conform(t, on(b)) })
	}
}
