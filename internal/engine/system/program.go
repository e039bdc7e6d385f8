package system

import (
	"fmt"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// program is a tape ready to run: compiled for a lane count, with the places
// its inputs and outputs bind to. It is shared, and immutable but for whole steps, which are compiled later.
type program struct {
	code      *vm.Program
	lanes     int
	ins, outs []binding
	links     []link
	moves     []int                               // links to moving vectors
	params    []int                               // links to the params
	written   [tapec.NumVariations][vec.Count]int // elements of outputs
	tape      *tape.Tape
	wholes    wholes // of rates
}

// binding ties an input or output of a program to elements [lo, hi) of a vector
// (already multiplied by the lanes).
type binding struct {
	vary   tapec.Variation
	vec    vec.Vector
	lo, hi int
	add    bool
}

// link is a vector of the frames that a program reads or writes; its index in
// the list is that of the program's vector.
type link struct {
	output bool
	vary   tapec.Variation
	vec    vec.Vector
}

// place returns where b lies, for the machine. A worker's parameters and what is
// hoisted from them do not change.
func (p *program) place(b binding, output bool) vm.Place {
	l := link{output, b.vary, b.vec}
	i := slices.Index(p.links, l)
	if i < 0 {
		i = len(p.links)
		p.links = append(p.links, l)
		if moving[b.vary][b.vec] {
			p.moves = append(p.moves, i)
		}
		if !output && b.vary == tapec.Primal && b.vec == vec.P {
			p.params = append(p.params, i)
		}
	}
	steady := !output && b.vary == tapec.Primal && (b.vec == vec.P || b.vec == vec.C)
	return vm.Place{Vector: i, Offset: b.lo, Constant: steady, Add: b.add}
}

// finder says where what a name binds to lies.
type finder func(name tapec.Name) (vec.Part, bool)

// place reads a name and finds its place.
func place(text string, find finder) (tapec.Name, vec.Part, error) {
	name, err := tapec.ParseName(text)
	if err != nil {
		return name, vec.Part{}, err
	}
	at, ok := find(name)
	if !ok {
		return name, vec.Part{}, fmt.Errorf("no vector holds %s", text)
	}
	return name, at, nil
}

// program compiles t. Outputs for which add reports true are accumulated into their place.
func (f *family) program(t *tape.Tape, find finder, lanes int, add func(vec.Vector) bool) (*program, error) {
	if t == nil {
		return nil, nil
	}
	t = singled(t)
	p := &program{lanes: lanes, tape: t}
	ins, outs := make([]vm.Place, 0, len(t.Inputs)), make([]vm.Place, 0, len(t.Outputs))
	p.ins, p.outs = make([]binding, 0, len(t.Inputs)), make([]binding, 0, len(t.Outputs))
	for _, in := range t.Inputs {
		name, at, err := place(in.Name, find)
		if err != nil {
			return nil, fmt.Errorf("input of tape %s: %w", t.Name, err)
		}
		width := 1
		if in.PerLane {
			width = lanes
		}
		n := in.Shape.Size()
		b := binding{name.Variation, at.Vec, at.Offset * width, (at.Offset + n) * width, false}
		p.ins = append(p.ins, b)
		ins = append(ins, p.place(b, false))
	}
	perLane := tape.PerLane(t)
	// In the derivative of a transpose there is one cotangent, and only its tangent has lanes.
	second := slices.ContainsFunc(t.Outputs, func(o tape.Output) bool {
		return tapec.VariationOf(o.Name) == tapec.CotangentTangent
	})
	for _, out := range t.Outputs {
		name, at, err := place(out.Name, find)
		if err != nil {
			return nil, fmt.Errorf("output of tape %s: %w", t.Name, err)
		}
		width, vary := 1, name.Variation
		if vary != tapec.Primal && !(second && vary == tapec.Cotangent) {
			if !perLane[out.Value] {
				return nil, fmt.Errorf("tape %s: output %q is not per lane", t.Name, out.Name)
			}
			width = lanes
		}
		n := t.Shape(out.Value).Size()
		b := binding{
			vary, at.Vec, at.Offset * width, (at.Offset + n) * width,
			add != nil && vary >= tapec.Cotangent && add(at.Vec),
		}
		if at.Vec == vec.Factors { // shared and per-lane ones share a record
			if perLane[out.Value] {
				n *= lanes
			}
			b = binding{vary, at.Vec, at.Offset, at.Offset + n, false}
		}
		p.outs = append(p.outs, b)
		p.written[b.vary][b.vec] += b.hi - b.lo
		outs = append(outs, p.place(b, true))
	}
	return shared(f, f.placed(lanes, ins, outs), func() (*program, error) {
		code, err := vm.Compile(t, vm.Options{Lanes: lanes, Inputs: ins, Outputs: outs})
		if err != nil {
			return nil, fmt.Errorf("tape %s: %w", t.Name, err)
		}
		p.code = code
		return p, nil
	}, t)
}

// singled returns t with one number in place of functionals, or of their tangents, that are zeros but for one element:
// those that are read by row. Worker.alone says which element that is, and nobody clears a number for every row.
func singled(t *tape.Tape) *tape.Tape {
	one := *t
	one.Outputs = slices.Clone(t.Outputs)
	some := false
	for i, out := range t.Outputs {
		in := t.Instr(out.Value)
		if in != nil && in.Op == tape.Drop && len(t.Shape(in.Args[0])) == 0 &&
			tapec.MustName(out.Name).Role == tapec.Functionals {
			one.Outputs[i].Value, some = in.Args[0], true
		}
	}
	if !some {
		return t
	}
	return &one
}

// call is a program with a machine of its own.
type call struct {
	*program
	machine *vm.Machine
	bound   bool
	in, out *vec.Frame   // of the last run
	vectors []*[]float64 // of these frames, one for each link
}

func (p *program) call() *call {
	if p == nil {
		return nil
	}
	return &call{program: p, machine: p.code.NewMachine()}
}

// refresh makes the machine reread inputs that its caller promised not to change.
func (c *call) refresh() {
	if c != nil {
		c.machine.Refresh()
	}
}

// run reads its inputs from in and writes its outputs to out.
func (c *call) run(in, out *vec.Frame) {
	if c.in != in || c.out != out {
		c.in, c.out, c.vectors = in, out, c.vectors[:0]
		for _, l := range c.links {
			from := in
			if l.output {
				from = out
			}
			c.vectors = append(c.vectors, &from[l.vary][l.vec])
		}
	}
	for i, v := range c.vectors {
		c.machine.SetVector(i, *v)
	}
	c.machine.Run()
}

// moving are the vectors that calls of the rates and their derivatives find in a new place each time.
// All others stay where the worker has them.
var moving = [tapec.NumVariations][vec.Count]bool{
	tapec.Primal:           {vec.Y: true, vec.K: true, vec.J: true, vec.W: true, vec.Factors: true},
	tapec.Tangent:          {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
	tapec.Cotangent:        {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
	tapec.CotangentTangent: {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
}

// runMoved is run for calls in a row that change only the moving vectors. These must overlap no other
// memory.
func (c *call) runMoved(in, out *vec.Frame) {
	if !c.bound {
		c.run(in, out)
		c.bound = true
		return
	}
	for _, i := range c.moves {
		l := c.links[i]
		if l.output {
			c.machine.MoveVector(i, out[l.vary][l.vec])
		} else {
			c.machine.MoveVector(i, in[l.vary][l.vec])
		}
	}
	c.machine.Run()
}

// runBound is run for calls in a row that change no vector's place.
func (c *call) runBound(in, out *vec.Frame) {
	if !c.bound {
		c.run(in, out)
		c.bound = true
		return
	}
	c.machine.Run()
}

// covers reports whether the program writes every element of the first n of a vector's variation.
func (p *program) covers(vary tapec.Variation, of vec.Vector, n int) bool {
	return p.written[vary][of] == n
}
