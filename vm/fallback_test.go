package vm_test

import (
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// TestOpsWithoutKernel takes the kernels of some ops away, of every number of operands. Go then
// computes them within programs of every backend, with the same bits.
func TestOpsWithoutKernel(t *testing.T) {
	missing := []tape.Op{tape.Exp, tape.Sqr, tape.Tanh, tape.Hypot, tape.Less, tape.Select, tape.FMA}
	r := elem.NewRand(5)
	tapes := []*tape.Tape{scalars(), randomScalars(r, 200), randomGrid(r, 40), randomGrid(r, 700)}
	for seed := range uint64(12) {
		tapes = append(tapes, newRandomTape(seed).tape())
	}
	defer vm.WithoutKernel(missing...)()
	for _, name := range backends() {
		for _, lanes := range []int{1, 3, 8} {
			for i, tp := range tapes {
				if err := vmtest.Agree(on(name), tp, lanes, vmtest.Inputs(tp, lanes, 7, i%2 == 1), false); err != nil {
					t.Errorf("%s, %d lanes, tape %d: %v", name, lanes, i, err)
				}
			}
		}
	}
	// Go computes them indeed: the machine calls the function of the table.
	row, calls := tape.Tanh.Row(), 0
	defer func(f func(float64) float64) { row.Real1 = f }(row.Real1)
	row.Real1 = func(x float64) float64 { calls++; return elem.Tanh(x) }
	for _, name := range backends() {
		p, err := vm.CompileOn(scalars(), vm.Options{Lanes: 4, Backend: name})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMachine()
		bind(p, scalars(), m, 4)
		calls = 0
		if m.Run(); calls < 4 {
			t.Errorf("%s: Go computed %d elements of an op without a kernel", name, calls)
		}
	}
}

// TestKernelNames: an op and its kernel have one name, without which the op would be computed in Go.
func TestKernelNames(t *testing.T) {
	if list := vm.Misnamed(); len(list) > 0 {
		t.Errorf("no op is computed by the kernels %v", list)
	}
}
