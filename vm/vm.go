// Package vm runs tapes. A tape is compiled to a Program, which is immutable
// and shared; each goroutine runs it on a Machine of its own, which owns the
// register file and binds inputs and outputs to the caller's memory. A run
// allocates nothing.
//
// Values that are per lane lie [element][lane], lane fastest; shared values
// have one copy. The result of every lane has the bits that the reference
// evaluator of package tape gives, whatever the number of lanes and however
// instructions are grouped.
//
// Slices, transposes, broadcasts and reshapes are views and cost nothing.
// Runs of elementwise instructions over arrays of one size become a loop that
// takes a few hundred elements at a time through all of them, so temporaries
// stay in the first-level cache. The package knows nothing of models or
// solvers.
package vm

import (
	"fmt"

	"odes.dev/odes/tape"
)

// Options are the choices of Compile.
type Options struct {
	Lanes int // copies of per-lane values; 0 means 1
}

// Program is a compiled tape.
type Program struct {
	lanes   int
	inputs  []port
	outputs []port
	names   map[string]int // of inputs
	results map[string]int // of outputs

	steps []step
	regs  []register // one per root, then strips
	heap  int        // elements of the register file that are given by place
	strip int        // elements in a strip register
	wide  int        // elements of scratch that contractions need

	ops   int
	flops int
}

// port is an input or output.
type port struct {
	name    string
	reg     int // the root's register
	size    int // elements, all lanes
	perLane bool

	direct bool // output: the root's register may be the caller's memory
	from   walker
	off    int  // output: where it starts in the register, all lanes; dense only
	dense  bool // output: it is contiguous there
}

// register is a place in a Machine's register table.
type register struct {
	kind registerKind
	at   int       // heap: first element
	size int       // elements, all lanes
	data []float64 // constant
}

type registerKind uint8

const (
	unused   registerKind = iota
	bound                 // an input: the caller's memory
	heap                  // a part of the register file, reused when the value is dead
	result                // written to the caller's memory, or to memory of its own
	strip                 // a temporary of one strip
	constant              // the program's own
)

// step is one instruction of a Program: a loop, a copy, a contraction.
type step interface {
	run(m *Machine)
}

// Compile translates t for opts.Lanes lanes. The error is that of tape.Check.
func Compile(t *tape.Tape, opts Options) (*Program, error) {
	if err := tape.Check(t); err != nil {
		return nil, fmt.Errorf("cannot compile: %w", err)
	}
	if opts.Lanes < 0 {
		return nil, fmt.Errorf("cannot compile for %d lanes; give at least 1", opts.Lanes)
	}
	c := newCompiler(t, max(opts.Lanes, 1))
	c.views()
	c.schedule()
	c.emit()
	return c.program(), nil
}

// Lanes returns the number of lanes.
func (p *Program) Lanes() int { return p.lanes }

// Input returns the index of an input.
func (p *Program) Input(name string) (index int, ok bool) {
	index, ok = p.names[name]
	return index, ok
}

// Output returns the index of an output.
func (p *Program) Output(name string) (index int, ok bool) {
	index, ok = p.results[name]
	return index, ok
}

// InputSize returns the number of elements that input i wants, all lanes of it.
func (p *Program) InputSize(i int) int { return p.inputs[i].size }

// OutputSize returns the number of elements of output i: size, or size·lanes if
// it is per lane.
func (p *Program) OutputSize(i int) int { return p.outputs[i].size }

// OutputPerLane reports whether output i has one copy per lane.
func (p *Program) OutputPerLane(i int) bool { return p.outputs[i].perLane }

// Stats counts what a Program is made of.
type Stats struct {
	Instructions int // of the tape that are needed and do something; views do not
	Steps        int // after elementwise runs are grouped
	Bytes        int // of a Machine's register file
	Flops        int // of one run, a function counted as one, a fused multiply-add as two
}

// Stats returns the counts.
func (p *Program) Stats() Stats {
	return Stats{p.ops, len(p.steps), 8 * (p.heap + p.stripElements() + p.wide), p.flops}
}

func (p *Program) stripElements() int {
	n := 0
	for _, r := range p.regs {
		if r.kind == strip {
			n += p.strip
		}
	}
	return n
}
