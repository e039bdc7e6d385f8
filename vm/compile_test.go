package vm_test

import (
	"sync"
	"testing"

	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// network is a tape of n scalar rate laws gathered into one vector. Contractions in between keep
// loops apart.
func network(n int) *tape.Tape {
	b := tape.NewBuilderWith("network", 0)
	x := b.Input("x", tape.Shape{n}, false)
	k := b.Input("k", tape.Shape{n}, false)
	var rates []tape.Value
	for i := range n {
		r := b.Mul(b.Element(k, i), b.Mul(b.Element(x, i), b.Element(x, (i*7+3)%n)))
		if i%10 == 9 {
			r = b.Mul(r, b.SumAxes(b.Concat(0, rates[i-2:i]...), 0))
		}
		rates = append(rates, b.Reshape(r, tape.Shape{1}))
	}
	b.Output("dx", b.Concat(0, rates...))
	return b.Tape()
}

func TestLargeNetwork(t *testing.T) {
	tp := network(300)
	for _, b := range backends() {
		for _, lanes := range []int{1, 4} {
			if err := vmtest.Agree(on(b), tp, lanes, vmtest.Inputs(tp, lanes, 1, false), true); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
	}
}

// TestMachinesShareAProgram runs one program on several machines at once.
//
//odes:goroutines
func TestMachinesShareAProgram(t *testing.T) {
	tp := parse(t, glv(30))
	p := compile(t, tp, 4)
	want := make([]float64, p.OutputSize(2))
	run := func(out []float64) {
		m := p.NewMachine()
		for i, x := range vmtest.Inputs(tp, 4, 9, false) {
			m.SetInput(i, x)
		}
		m.SetOutput(2, out, false)
		for range 50 {
			m.Run()
		}
	}
	run(want)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			got := make([]float64, len(want))
			run(got)
			for i := range got {
				if !vmtest.Same(got[i], want[i]) {
					t.Errorf("element %d is %v, want %v", i, got[i], want[i])
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkCompile(b *testing.B) {
	tp := network(1000)
	b.Run("tape=network1000", func(b *testing.B) {
		for b.Loop() {
			if _, err := vm.CompileOn(tp, vm.Options{Lanes: 4}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
