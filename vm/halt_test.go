package vm_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// TestHalt: a machine whose results nobody wants runs no further step, and says so by its outputs. The next run has the
// bits of one that was never given up, also where it adds to what is there.
func TestHalt(t *testing.T) {
	defer vm.HaltWork(1)()
	const n = 400000
	for _, backend := range vm.AllBackends() {
		b := tape.NewBuilder("halt")
		x := b.Input("x", tape.Shape{n}, false)
		y := b.Mul(x, x)
		for range 6 { // each sum ends a loop
			y = b.Mul(b.Add(y, x), b.SumAxes(y, 0))
		}
		b.Output("y", y)
		b.Output("s", b.SumAxes(y, 0))
		p, err := vm.CompileOn(b.Tape(), vm.Options{Backend: backend})
		if err != nil {
			t.Fatal(err)
		}
		var done chan struct{}
		last, stopAt := 0, -1
		steps := p.Watched(func(i int) {
			if last = i; i == stopAt {
				close(done)
			}
		})
		if steps < 3 {
			t.Fatalf("%s: %d steps", backend, steps)
		}
		in := make([]float64, n)
		for i := range in {
			in[i] = 1e-4 * math.Sin(float64(i))
		}
		results := func(m *vm.Machine) (y, s []float64) {
			y, s = make([]float64, n), []float64{0.25}
			m.SetInput(0, in)
			m.SetOutput(0, y, false)
			m.SetOutput(1, s, true)
			m.Run()
			return y, s
		}
		want, sum := results(p.NewMachine())
		m := p.NewMachine()
		var halt vm.Halt
		m.Heed(&halt)
		for _, at := range []int{-1, 0, 1, steps - 1} {
			done, stopAt = make(chan struct{}), at
			halt.Begin(done)
			y, s := results(m)
			if at >= 0 {
				if !halt.End() || last != at || !math.IsNaN(s[0]) || !math.IsNaN(y[0]) || !math.IsNaN(y[1000]) {
					t.Fatalf("%s: given up at step %d, after step %d: %v, %v", backend, at, last, y[0], s[0])
				}
				stopAt = -1
				y, s = results(m)
			} else if halt.End() {
				t.Fatalf("%s: given up for nothing", backend)
			}
			if last != steps-1 || s[0] != sum[0] {
				t.Fatalf("%s: %v after step %d, want %v", backend, s[0], last, sum[0])
			}
			for i := range y {
				if y[i] != want[i] {
					t.Fatalf("%s: element %d is %v, want %v", backend, i, y[i], want[i])
				}
			}
		}
	}
}

// TestCompileIsGivenUp: a program that nobody waits for is not made.
func TestCompileIsGivenUp(t *testing.T) {
	done := make(chan struct{})
	close(done)
	for _, backend := range vm.AllBackends() {
		b := tape.NewBuilder("halt")
		x := b.Input("x", tape.Shape{3}, false)
		b.Output("y", b.Mul(x, x))
		p, err := vm.CompileOn(b.Tape(), vm.Options{Backend: backend, Done: done})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", backend, p, err)
		}
	}
}
