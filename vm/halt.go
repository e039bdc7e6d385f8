package vm

import (
	"math"

	"odes.dev/odes/vm/internal/kernel"
)

// A run of a large program takes long, and nobody may want its results any more. Steps are short: assembly is entered
// for about a millisecond at most. So such a program looks between steps, and between parts of steps, whether to go on.

// Halt tells machines that nobody wants their results. One goroutine at a time runs what heeds it, with its team.
type Halt struct {
	done <-chan struct{} // nil for never
	gave bool            // a machine gave up
}

// haltWork is the number of operations of programs that look at a Halt; others end soon. Tests make it small.
var haltWork = 1 << 20

// haltFill bounds the elements of an output that are not numbers after a run that was given up.
const haltFill = 1 << 16

// Begin has machines give up when done is closed; nil for never.
func (h *Halt) Begin(done <-chan struct{}) { h.done, h.gave = done, false }

// End has machines go on, and reports whether one gave up since Begin. All that was computed since is then worthless.
func (h *Halt) End() (gave bool) {
	gave = h.gave
	h.done, h.gave = nil, false
	return gave
}

// over reports whether to give up.
func (h *Halt) over() bool {
	if h == nil {
		return false
	}
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

// Heed lets the machine give up a run when h says so. Its outputs are not numbers then, or begin with many that are
// not.
func (m *Machine) Heed(h *Halt) {
	if m.halt = h; m.p.flops < haltWork {
		m.halt = nil
	}
}

// heeding runs the steps as long as somebody wants the results.
func (m *Machine) heeding() {
	for _, s := range m.p.steps {
		if m.halt.over() {
			break
		}
		s.run(m)
	}
	if !m.halt.over() {
		return
	}
	m.halt.gave = true
	for i := range m.p.outputs { // nobody takes what is there for a result
		if o := &m.p.outputs[i]; m.regs[o.place.Vector] != nil {
			x := o.of(m.regs[o.place.Vector])
			kernel.Fill(x[:min(len(x), haltFill)], math.NaN()) // all of a large one would take as long as the run
		}
	}
}
