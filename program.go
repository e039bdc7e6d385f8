package odes

import (
	"fmt"

	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// frame holds the vectors that a call reads or writes, by variation. Lane
// vectors have L copies of each element.
type frame [numVariations][numVectors][]float64

// program is a tape ready to run: compiled for a lane count, with the places
// its inputs and outputs bind to. It is immutable and shared.
type program struct {
	code      *vm.Program
	lanes     int
	ins, outs []binding
	tape      *tape.Tape
}

// binding ties an input or output of a program to elements [lo, hi) of a vector
// (already multiplied by the lanes).
type binding struct {
	slot   int
	vary   variation
	vec    vector
	lo, hi int
	add    bool
}

// finder says what a name binds to.
type finder func(name string) (part, variation, bool)

// newProgram compiles t. Outputs for which add reports true are accumulated into their place.
func newProgram(t *tape.Tape, find finder, lanes int, add func(vector) bool) (*program, error) {
	if t == nil {
		return nil, nil
	}
	code, err := vm.Compile(t, vm.Options{Lanes: lanes})
	if err != nil {
		return nil, fmt.Errorf("tape %s: %w", t.Name, err)
	}
	p := &program{code: code, lanes: lanes, tape: t}
	for i, in := range t.Inputs {
		at, vary, ok := find(in.Name)
		if !ok {
			return nil, fmt.Errorf("tape %s: no vector for input %q", t.Name, in.Name)
		}
		width := 1
		if in.PerLane {
			width = lanes
		}
		n := in.Shape.Size()
		p.ins = append(p.ins, binding{i, vary, at.vec, at.offset * width, (at.offset + n) * width, false})
	}
	perLane := tape.PerLane(t)
	for i, out := range t.Outputs {
		at, vary, ok := find(out.Name)
		if !ok {
			return nil, fmt.Errorf("tape %s: no vector for output %q", t.Name, out.Name)
		}
		width := 1
		if vary != primal {
			if !perLane[out.Value] {
				return nil, fmt.Errorf("tape %s: output %q is not per lane", t.Name, out.Name)
			}
			width = lanes
		}
		n := t.Shape(out.Value).Size()
		if at.vec == vecFactors { // shared and per-lane ones share a record
			if perLane[out.Value] {
				n *= lanes
			}
			p.outs = append(p.outs, binding{i, vary, at.vec, at.offset, at.offset + n, false})
			continue
		}
		p.outs = append(p.outs, binding{i, vary, at.vec, at.offset * width, (at.offset + n) * width, add != nil && vary == cotangent && add(at.vec)})
	}
	return p, nil
}

// call is a program with a machine of its own.
type call struct {
	*program
	machine *vm.Machine
}

func (p *program) call() *call {
	if p == nil {
		return nil
	}
	return &call{p, p.code.NewMachine()}
}

// run reads its inputs from in and writes its outputs to out.
func (c *call) run(in, out *frame) {
	for i := range c.ins {
		b := &c.ins[i]
		c.machine.SetInput(b.slot, in[b.vary][b.vec][b.lo:b.hi])
	}
	for i := range c.outs {
		b := &c.outs[i]
		c.machine.SetOutput(b.slot, out[b.vary][b.vec][b.lo:b.hi], b.add)
	}
	c.machine.Run()
}

// covers reports whether the program writes every element of the first n of a vector's variation.
func (p *program) covers(vary variation, vec vector, n int) bool {
	count := 0
	for _, b := range p.outs {
		if b.vary == vary && b.vec == vec {
			count += b.hi - b.lo
		}
	}
	return count == n
}
