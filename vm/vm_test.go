package vm_test

import (
	"testing"

	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
	"odes.dev/odes/vm/vmtest"
)

func generic(t *tape.Tape, lanes int) (vmtest.Machine, error) {
	p, err := vm.Compile(t, vm.Options{Lanes: lanes})
	if err != nil {
		return nil, err
	}
	return p.NewMachine(), nil
}

func TestConform(t *testing.T) { vmtest.Conform(t, generic) }
