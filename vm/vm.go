// Package vm runs tapes. A tape is compiled to a Program, which is immutable and shared. Each
// goroutine runs it on a Machine of its own, which owns the register file and binds inputs and
// outputs to the caller's memory. A run allocates nothing.
//
// Values that are per lane lie [element][lane], lane fastest; shared values have one copy. The
// result of every lane has the bits that the reference evaluator of package tape gives, whatever
// the number of lanes and however instructions are grouped.
//
// Slices, transposes, broadcasts and reshapes are views and cost nothing. Elementwise instructions
// over arrays of one size join into a loop that takes a few hundred elements at a time through all
// of them, so temporaries stay in the first-level cache.
//
// There are three backends, which give the same bits. The generic one is the specification: Go code
// for any processor. The backend for AVX2 turns short instructions into threaded code, which is
// entered once for many of them (package vm/internal/kernel), and products with matrices into calls
// of the kernels of package simd. The native backend makes machine code of elementwise instructions
// when a tape is compiled (package vm/internal/native). That code is a part of the threaded code,
// which does the rest.
//
// The package knows nothing of models, files, derivatives or solvers.
package vm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Options are the choices of Compile.
type Options struct {
	Lanes int // copies of per-lane values; 0 means 1

	// Backend is simd.Generic, simd.AVX2 or simd.Native. The empty string means the one that
	// Backend returns.
	Backend string

	// Done, once closed, has Compile give up soon, with context.Canceled; nil for never.
	Done <-chan struct{}

	narrow bool // native code does without AVX-512

	// Inputs and Outputs place the inputs and outputs of the tape in vectors that Machine.SetVector
	// binds. A vector has inputs or outputs, not both. Nil means that each is a vector of its own,
	// the inputs first.
	Inputs, Outputs []Place
}

// Place says where an input or an output lies.
type Place struct {
	Vector int
	Offset int // its first element in the vector, lanes counted

	// Constant says of an input that its elements stay the same until Machine.Refresh is called or
	// another slice is bound. What the machine prepares from them is kept from run to run.
	Constant bool

	// Add says of an output that it is added to what is in the vector.
	Add bool
}

// Program is a compiled tape.
type Program struct {
	lanes   int
	backend string
	fast    bool // uses the kernels of package simd
	native  native.Stats
	placed  bool // Options place the inputs and outputs
	inputs  []port
	outputs []port
	vectors []vector
	ins     []int // vectors of inputs
	outs    []int // vectors of outputs

	steps []step
	only  *thread    // the only step, if it is a thread
	regs  []register // one per root, then strips
	heap  int        // elements of the register file that have a place in it
	strip int        // elements in a strip register
	wide  int        // elements of scratch that contractions need

	packings []packing
	shares   bool // it has steps that a team can share

	ops   int
	flops int
}

// port is an input or output.
type port struct {
	name    string
	size    int // elements, all lanes
	perLane bool
	place   Place
}

// vector is memory of the caller. Either inputs are read from it, or outputs are written to it.
type vector struct {
	size     int // elements up to the end of the last input or output
	output   bool
	constant bool // it has a constant input
	add      bool // it has an output that is added
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
	unused     registerKind = iota
	bound                   // memory of the caller
	heap                    // a part of the register file, reused when the value is dead
	strip                   // a temporary of one strip
	everything              // the whole register file
	packed                  // a matrix in the order that a product needs
	spilled                 // values of native code that got no register of the processor
	constant                // numbers of the program
)

// step is one instruction of a Program: a loop, a copy, a contraction.
type step interface {
	run(m *Machine)
}

// Compile translates t for opts.Lanes lanes. It returns the errors of tape.Check, and an error for
// options that cannot be followed.
func Compile(t *tape.Tape, opts Options) (*Program, error) {
	if err := tape.Check(t); err != nil {
		return nil, fmt.Errorf("cannot compile: %w", err)
	}
	if opts.Lanes < 0 {
		return nil, fmt.Errorf("cannot compile for %d lanes; give at least 1", opts.Lanes)
	}
	if opts.Backend == "" {
		opts.Backend = Backend()
	}
	if !slices.Contains(Backends(), opts.Backend) {
		return nil, fmt.Errorf("cannot compile for the backend %q; there are %s", opts.Backend,
			strings.Join(Backends(), ", "))
	}
	p, err := compile(t, opts)
	if err != nil {
		return nil, fmt.Errorf("cannot compile: %w", err)
	}
	return p, nil
}

func compile(t *tape.Tape, opts Options) (*Program, error) {
	lanes := max(opts.Lanes, 1)
	var code *assembler
	lifted := t
	if machine.Possible && opts.Backend == simd.Native {
		if code = newAssembler(opts.narrow); code.suits(lanes) {
			lifted = lift(t)
		}
	}
	var ends []int
	if machine.Possible && code != nil {
		lifted, ends = cutTape(lifted, opts.Inputs, opts.Outputs, lanes)
	}
	c := newCompiler(lifted, lanes)
	c.native, c.ends = code, ends
	c.p.backend, c.p.fast = opts.Backend, opts.Backend != simd.Generic
	if err := c.place(opts.Inputs, opts.Outputs); err != nil {
		return nil, err
	}
	c.views()
	c.schedule()
	whole := c.emit(&Halt{done: opts.Done})
	if c.block.body != nil {
		c.block.body.Free()
	}
	if !whole {
		return nil, context.Canceled
	}
	if reach := c.p.reach(); opts.Backend == simd.Native && reach > nativeReach {
		opts.Backend = simd.AVX2
		return compile(t, opts)
	} else if opts.Backend == simd.AVX2 && reach > recordReach {
		opts.Backend = simd.Generic
		return compile(t, opts)
	}
	if !c.linkNative() { // the system no longer lets programs make code
		opts.Backend = simd.AVX2
		return compile(t, opts)
	}
	if len(c.p.steps) == 1 {
		c.p.only, _ = c.p.steps[0].(*thread)
	}
	return c.p, nil
}

// Bounds of the elements that instructions reach: native code by a signed displacement of 32 bits,
// records of threaded code by an unsigned one.
const (
	nativeReach = 1 << 28
	recordReach = 1 << 29
)

// reach returns the elements of the largest vector or register file.
func (p *Program) reach() int {
	n := p.heap
	for _, v := range p.vectors {
		n = max(n, v.size)
	}
	return n
}

// Backends lists the backends of this machine: the generic one, which is the definition, comes
// first and the one in use last.
func Backends() []string {
	switch simd.Backend() {
	case simd.Generic:
		return []string{simd.Generic}
	case simd.Native:
		if machine.Available() {
			return []string{simd.Generic, simd.AVX2, simd.Native}
		}
	}
	return []string{simd.Generic, simd.AVX2}
}

// Backend returns the name of the backend in use. It is that of package simd, but AVX2 where the
// system does not let programs make code.
func Backend() string {
	if name := simd.Backend(); name != simd.Native || machine.Available() {
		return name
	}
	return simd.AVX2
}

// place decides where inputs and outputs lie.
func (c *compiler) place(inputs, outputs []Place) error {
	t, p := c.t, c.p
	p.placed = inputs != nil || outputs != nil
	if !p.placed {
		inputs, outputs = make([]Place, len(t.Inputs)), make([]Place, len(t.Outputs))
		for i := range inputs {
			inputs[i].Vector = i
		}
		for i := range outputs {
			outputs[i].Vector = len(inputs) + i
		}
	}
	if len(inputs) != len(t.Inputs) || len(outputs) != len(t.Outputs) {
		return fmt.Errorf("%d inputs and %d outputs have %d and %d places; give each one", len(t.Inputs),
			len(t.Outputs), len(inputs), len(outputs))
	}
	p.inputs, p.outputs = make([]port, 0, len(t.Inputs)), make([]port, 0, len(t.Outputs))
	for i, in := range t.Inputs {
		q := port{in.Name, c.size(i), in.PerLane, inputs[i]}
		if err := p.occupy(&q, false); err != nil {
			return err
		}
		p.inputs = append(p.inputs, q)
		c.reg[i], c.base[i] = q.place.Vector, q.place.Offset
	}
	for i, out := range t.Outputs {
		v := int(out.Value)
		q := port{out.Name, c.size(v), c.perLane[v], outputs[i]}
		if err := p.occupy(&q, true); err != nil {
			return err
		}
		p.outputs = append(p.outputs, q)
	}
	for v, vec := range p.vectors {
		switch {
		case vec.output:
			p.outs = append(p.outs, v)
		case vec.size > 0:
			p.ins = append(p.ins, v)
		}
	}
	return nil
}

// occupy makes room for q in its vector.
func (p *Program) occupy(q *port, output bool) error {
	at := q.place
	if at.Vector < 0 || at.Offset < 0 {
		return fmt.Errorf("%s is placed at element %d of vector %d; neither can be negative", q.name, at.Offset,
			at.Vector)
	}
	for len(p.vectors) <= at.Vector {
		p.vectors = append(p.vectors, vector{})
		p.regs = append(p.regs, register{kind: bound})
	}
	v := &p.vectors[at.Vector]
	if v.size > 0 && v.output != output {
		return fmt.Errorf("vector %d has inputs and outputs; give %s another one", at.Vector, q.name)
	}
	v.size, v.output = max(v.size, at.Offset+q.size), output
	v.constant = v.constant || at.Constant
	v.add = v.add || at.Add
	return nil
}

// Backend returns the name of the backend that the program was compiled for.
func (p *Program) Backend() string { return p.backend }

// Lanes returns the number of lanes.
func (p *Program) Lanes() int { return p.lanes }

// Input returns the index of an input.
func (p *Program) Input(name string) (index int, ok bool) {
	return portOf(p.inputs, name)
}

// Output returns the index of an output.
func (p *Program) Output(name string) (index int, ok bool) {
	return portOf(p.outputs, name)
}

func portOf(list []port, name string) (index int, ok bool) {
	index = slices.IndexFunc(list, func(q port) bool { return q.name == name })
	return max(index, 0), index >= 0
}

// InputSize returns the number of elements of input i, all lanes of it.
func (p *Program) InputSize(i int) int { return p.inputs[i].size }

// OutputSize returns the number of elements of output i: size, or size·lanes if
// it is per lane.
func (p *Program) OutputSize(i int) int { return p.outputs[i].size }

// OutputPerLane reports whether output i has one copy per lane.
func (p *Program) OutputPerLane(i int) bool { return p.outputs[i].perLane }

// Vectors returns the number of vectors.
func (p *Program) Vectors() int { return len(p.vectors) }

// Stats counts what a Program is made of.
type Stats struct {
	Instructions int // of the tape: those that are needed and are not views
	Steps        int // after elementwise instructions are grouped
	Bytes        int // of a Machine's register file
	Flops        int // of one run; a function counts one, a fused multiply-add two

	Native native.Stats // native code
}

// Stats returns the counts.
func (p *Program) Stats() Stats {
	return Stats{p.ops, len(p.steps), 8 * (p.heap + p.stripElements() + p.wide + p.spilled()), p.flops, p.native}
}

// spilled returns the number of elements in the places for values of native code.
func (p *Program) spilled() (n int) {
	for _, r := range p.regs {
		if r.kind == spilled {
			n += r.size
		}
	}
	return n
}

func (p *Program) stripElements() int {
	n := 0
	for _, r := range p.regs {
		if r.kind == strip {
			n += p.stripStride()
		}
	}
	return n
}

// stripStride is the distance between strips. It is no power of two: otherwise the same elements of
// many strips would compete for the same places in the cache.
func (p *Program) stripStride() int {
	if p.strip < 64 {
		return p.strip
	}
	return p.strip + 24
}
