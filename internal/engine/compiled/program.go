package compiled

import (
	"context"
	"fmt"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Program is a tape ready to run: compiled for a lane count, with the places
// its inputs and outputs bind to. It is shared, and immutable but for whole steps, which are compiled later.
type Program struct {
	Code      *vm.Program
	lanes     int
	Ins, Outs []Binding
	links     []link
	moves     []int                               // links to moving vectors
	Params    []int                               // links to the params
	written   [tapec.NumVariations][vec.Count]int // elements of outputs
	Tape      *tape.Tape
	wholes    wholes // of rates
}

// Binding ties an input or output of a program to elements [lo, hi) of a vector
// (already multiplied by the lanes).
type Binding struct {
	Vary   tapec.Variation
	Vec    vec.Vector
	Lo, Hi int
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
func (p *Program) place(b Binding, output bool) vm.Place {
	l := link{output, b.Vary, b.Vec}
	i := slices.Index(p.links, l)
	if i < 0 {
		i = len(p.links)
		p.links = append(p.links, l)
		if moving[b.Vary][b.Vec] {
			p.moves = append(p.moves, i)
		}
		if !output && b.Vary == tapec.Primal && b.Vec == vec.P {
			p.Params = append(p.Params, i)
		}
	}
	steady := !output && b.Vary == tapec.Primal && (b.Vec == vec.P || b.Vec == vec.C)
	return vm.Place{Vector: i, Offset: b.Lo, Constant: steady, Add: b.add}
}

// Finder says where what a name binds to lies.
type Finder func(name tapec.Name) (vec.Part, bool)

// FindPlace reads a name and finds its place.
func FindPlace(text string, find Finder) (tapec.Name, vec.Part, error) {
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

// Program compiles t. Outputs for which add reports true are accumulated into their place.
func (f *family) Program(t *tape.Tape, find Finder, lanes int, add func(vec.Vector) bool) (*Program, error) {
	return f.programWhile(nil, t, find, lanes, add)
}

// programWhile is Program until done is closed: then it is given up, with context.Canceled.
func (f *family) programWhile(
	done <-chan struct{}, t *tape.Tape, find Finder, lanes int, add func(vec.Vector) bool,
) (*Program, error) {
	if over(done) {
		return nil, context.Canceled
	}
	if t == nil {
		return nil, nil
	}
	t = singled(t)
	p := &Program{lanes: lanes, Tape: t}
	ins, outs := make([]vm.Place, 0, len(t.Inputs)), make([]vm.Place, 0, len(t.Outputs))
	p.Ins, p.Outs = make([]Binding, 0, len(t.Inputs)), make([]Binding, 0, len(t.Outputs))
	for _, in := range t.Inputs {
		name, at, err := FindPlace(in.Name, find)
		if err != nil {
			return nil, fmt.Errorf("input of tape %s: %w", t.Name, err)
		}
		width := 1
		if in.PerLane {
			width = lanes
		}
		n := in.Shape.Size()
		b := Binding{name.Variation, at.Vec, at.Offset * width, (at.Offset + n) * width, false}
		p.Ins = append(p.Ins, b)
		ins = append(ins, p.place(b, false))
	}
	perLane := tape.PerLane(t)
	// In the derivative of a transpose there is one cotangent, and only its tangent has lanes.
	second := slices.ContainsFunc(t.Outputs, func(o tape.Output) bool {
		return tapec.VariationOf(o.Name) == tapec.CotangentTangent
	})
	for _, out := range t.Outputs {
		name, at, err := FindPlace(out.Name, find)
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
		b := Binding{
			vary, at.Vec, at.Offset * width, (at.Offset + n) * width,
			add != nil && vary >= tapec.Cotangent && add(at.Vec),
		}
		if at.Vec == vec.Factors { // shared and per-lane ones share a record
			if perLane[out.Value] {
				n *= lanes
			}
			b = Binding{vary, at.Vec, at.Offset, at.Offset + n, false}
		}
		p.Outs = append(p.Outs, b)
		p.written[b.Vary][b.Vec] += b.Hi - b.Lo
		outs = append(outs, p.place(b, true))
	}
	return shared(f, f.placed(lanes, ins, outs), func() (*Program, error) {
		code, err := vm.Compile(t, vm.Options{Lanes: lanes, Inputs: ins, Outputs: outs, Done: done})
		if err != nil {
			return nil, fmt.Errorf("tape %s: %w", t.Name, err)
		}
		p.Code = code
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

// Halt tells machines that nobody wants their results.
type Halt = vm.Halt

// Call is a program with a machine of its own.
type Call struct {
	*Program
	Machine *vm.Machine
	Bound   bool
	in, out *vec.Frame   // of the last run
	vectors []*[]float64 // of these frames, one for each link
}

// Call returns a program with a machine of its own; nil for none.
func (p *Program) Call() *Call {
	if p == nil {
		return nil
	}
	return &Call{Program: p, Machine: p.Code.NewMachine()}
}

// Refresh makes the machine reread inputs that its caller promised not to change.
func (c *Call) Refresh() {
	if c != nil {
		c.Machine.Refresh()
	}
}

// Run reads its inputs from in and writes its outputs to out.
func (c *Call) Run(in, out *vec.Frame) {
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
		c.Machine.SetVector(i, *v)
	}
	c.Machine.Run()
}

// moving are the vectors that calls of the rates and their derivatives find in a new place each time.
// All others stay where the worker has them.
var moving = [tapec.NumVariations][vec.Count]bool{
	tapec.Primal:           {vec.Y: true, vec.K: true, vec.J: true, vec.W: true, vec.Factors: true},
	tapec.Tangent:          {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
	tapec.Cotangent:        {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
	tapec.CotangentTangent: {vec.T: true, vec.Y: true, vec.K: true, vec.J: true},
}

// RunMoved is run for calls in a row that change only the moving vectors. These must overlap no other
// memory.
func (c *Call) RunMoved(in, out *vec.Frame) {
	if !c.Bound {
		c.Run(in, out)
		c.Bound = true
		return
	}
	for _, i := range c.moves {
		l := c.links[i]
		if l.output {
			c.Machine.MoveVector(i, out[l.vary][l.vec])
		} else {
			c.Machine.MoveVector(i, in[l.vary][l.vec])
		}
	}
	c.Machine.Run()
}

// RunBound is run for calls in a row that change no vector's place.
func (c *Call) RunBound(in, out *vec.Frame) {
	if !c.Bound {
		c.Run(in, out)
		c.Bound = true
		return
	}
	c.Machine.Run()
}

// Covers reports whether the program writes every element of the first n of a vector's variation.
func (p *Program) Covers(vary tapec.Variation, of vec.Vector, n int) bool {
	return p.written[vary][of] == n
}
