package tape

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/source"
)

// Rewrites selects how a Builder improves instructions as they are added. None of
// the rewrites changes a bit of a result.
type Rewrites uint8

// The rewrites.
const (
	Fold     Rewrites = 1 << iota // evaluate instructions whose operands are constants
	Share                         // make equal instructions one (hash consing)
	Simplify                      // apply algebraic identities that are exact
	All      = Fold | Share | Simplify
)

// Builder makes a tape, instruction by instruction. It infers shapes. Inputs may be
// added at any time.
//
// The Values that a Builder returns are its own, and the Tape that it makes has
// others. Methods panic where operands do not fit: compilers check shapes before
// they build, so that is a bug of theirs.
type Builder struct {
	name    string
	rewrite Rewrites
	span    source.Span
	nodes   []node
	inputs  []Value          // in the order they were added
	byInput map[string]Value // by name
	shared  map[uint64][]Value
	outputs []Output
	made    map[string]bool // the names of outputs
}

// node is an input or an instruction of a tape in the making.
type node struct {
	input Input // when instr.Op is Invalid
	instr Instr
}

// NewBuilder returns an empty Builder of a tape called name, with all rewrites.
func NewBuilder(name string) *Builder { return NewBuilderWith(name, All) }

// NewBuilderWith returns an empty Builder with the given rewrites.
func NewBuilderWith(name string, rewrite Rewrites) *Builder {
	return &Builder{
		name: name, rewrite: rewrite, byInput: map[string]Value{}, shared: map[uint64][]Value{},
		made: map[string]bool{},
	}
}

// SetSpan sets the place in the source of the instructions that are added from now on.
func (b *Builder) SetSpan(s source.Span) { b.span = s }

// Input returns the input of that name and adds it if there is none yet. It panics
// if the input was added before with another shape.
func (b *Builder) Input(name string, shape Shape, perLane bool) Value {
	if v, ok := b.byInput[name]; ok {
		if in := b.nodes[v].input; !in.Shape.Equal(shape) || in.PerLane != perLane {
			panic(fmt.Sprintf("tape: input %s was added before with another shape", name))
		}
		return v
	}
	if err := shape.check(); err != nil {
		panic("tape: input " + name + ": " + err.Error())
	}
	v := Value(len(b.nodes))
	b.nodes = append(b.nodes, node{input: Input{Name: name, Shape: slices.Clone(shape), PerLane: perLane}})
	b.inputs = append(b.inputs, v)
	b.byInput[name] = v
	return v
}

// HasInput returns the input of that name, if it was added.
func (b *Builder) HasInput(name string) (Value, bool) {
	v, ok := b.byInput[name]
	return v, ok
}

// Output makes v the output of that name. It panics if the name was used before.
func (b *Builder) Output(name string, v Value) {
	if b.made[name] {
		panic("tape: output " + name + " was added before")
	}
	b.made[name] = true
	b.outputs = append(b.outputs, Output{Name: name, Value: v})
}

// Shape returns the shape of v. It must not be changed.
func (b *Builder) Shape(v Value) Shape {
	if n := &b.nodes[v]; n.instr.Op != Invalid {
		return n.instr.Shape
	}
	return b.nodes[v].input.Shape
}

// Op returns the op that makes v, or Invalid for an input.
func (b *Builder) Op(v Value) Op { return b.nodes[v].instr.Op }

// Uniform returns the number that all elements of v are, if v is a constant with
// equal elements.
func (b *Builder) Uniform(v Value) (float64, bool) {
	if in := &b.nodes[v].instr; in.Op == Const && len(in.Attr.Data) == 1 {
		return in.Attr.Data[0], true
	}
	return 0, false
}

// Constant returns the elements of v if v is a constant: a single one that stands
// for all, or all in row-major order. They must not be changed.
func (b *Builder) Constant(v Value) ([]float64, bool) {
	if in := &b.nodes[v].instr; in.Op == Const {
		return in.Attr.Data, true
	}
	return nil, false
}

// Emit appends an instruction and returns its value. Rewrites may give an earlier
// value that is the same instead. The shape of in matters only where the operands
// do not determine it. The Builder keeps the slices of in.
func (b *Builder) Emit(in Instr) Value {
	if !in.Op.Valid() {
		panic(fmt.Sprintf("tape: no op %d", in.Op))
	}
	if n := in.Op.Row().Arity; n >= 0 && len(in.Args) != n || n < 0 && len(in.Args) == 0 {
		panic(fmt.Sprintf("tape: %d operands for %v", len(in.Args), in.Op))
	}
	var buf [4]Shape
	args := buf[:0]
	for _, a := range in.Args {
		args = append(args, b.Shape(a))
	}
	shape, err := infer(&in, args)
	if err != nil {
		panic(fmt.Sprintf("tape: %v: %v", in.Op, err))
	}
	in.Shape = shape
	if in.Span.IsZero() {
		in.Span = b.span
	}
	if b.rewrite&Simplify != 0 {
		if v, ok := b.simplify(&in); ok {
			return v
		}
	}
	if b.rewrite&Fold != 0 {
		b.fold(&in)
	}
	if in.Op == Const {
		in.Attr.Data = uniform(in.Attr.Data)
	}
	return b.add(in)
}

// add appends in as it is, unless an equal instruction is there and may be shared.
func (b *Builder) add(in Instr) Value {
	var h uint64
	if b.rewrite&Share != 0 {
		h = hash(&in)
		for _, v := range b.shared[h] {
			if same(&b.nodes[v].instr, &in) {
				return v
			}
		}
	}
	v := Value(len(b.nodes))
	b.nodes = append(b.nodes, node{instr: in})
	if b.rewrite&Share != 0 {
		b.shared[h] = append(b.shared[h], v)
	}
	return v
}

// Tape returns what was built: all inputs, the outputs, and the instructions
// that the outputs need. The Builder must not be used afterwards.
func (b *Builder) Tape() *Tape {
	needed := make([]bool, len(b.nodes))
	for _, o := range b.outputs {
		needed[o.Value] = true
	}
	count := 0
	for v := len(b.nodes) - 1; v >= 0; v-- {
		if !needed[v] {
			continue
		}
		if b.nodes[v].instr.Op != Invalid {
			count++
		}
		for _, a := range b.nodes[v].instr.Args {
			needed[a] = true
		}
	}
	t := &Tape{Name: b.name, Instrs: make([]Instr, 0, count)}
	number := make([]Value, len(b.nodes))
	for i, v := range b.inputs {
		t.Inputs = append(t.Inputs, b.nodes[v].input)
		number[v] = Value(i)
	}
	for v := range b.nodes {
		in := b.nodes[v].instr
		if !needed[v] || in.Op == Invalid {
			continue
		}
		number[v] = Value(len(t.Inputs) + len(t.Instrs))
		args := make([]Value, len(in.Args))
		for i, a := range in.Args {
			args[i] = number[a]
		}
		in.Args = args
		t.Instrs = append(t.Instrs, in)
	}
	for _, o := range b.outputs {
		t.Outputs = append(t.Outputs, Output{Name: o.Name, Value: number[o.Value]})
	}
	return t
}

// same reports whether two instructions are equal but for their spans.
func same(a, b *Instr) bool {
	return a.Op == b.Op && slices.Equal(a.Args, b.Args) && a.Shape.Equal(b.Shape) && a.Attr.equal(&b.Attr)
}

func (a *Attr) equal(b *Attr) bool {
	return a.Power == b.Power && a.Axis == b.Axis && a.TA == b.TA && a.TB == b.TB &&
		slices.EqualFunc(a.Data, b.Data, sameBits) &&
		slices.Equal(a.Perm, b.Perm) && slices.Equal(a.Start, b.Start) && slices.Equal(a.Step, b.Step) &&
		slices.Equal(a.Index, b.Index) && slices.Equal(a.Axes, b.Axes)
}

// sameBits reports whether x and y have the same bits or are both NaN. So 0 and -0 differ.
func sameBits(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

// hash returns a number that equal instructions have in common. It is FNV-1a (Fowler,
// Noll, Vo) over words instead of bytes.
func hash(in *Instr) uint64 {
	h := uint64(14695981039346656037)
	mix := func(x uint64) { h = (h ^ x) * 1099511628211; h ^= h >> 29 }
	ints := func(s []int) {
		mix(uint64(len(s)))
		for _, x := range s {
			mix(uint64(x))
		}
	}
	mix(uint64(in.Op))
	for _, a := range in.Args {
		mix(uint64(a))
	}
	ints(in.Shape)
	a := &in.Attr
	mix(uint64(a.Power))
	mix(uint64(a.Axis))
	ints(a.Perm)
	ints(a.Start)
	ints(a.Index)
	ints(a.Axes)
	for _, x := range a.Data {
		if x != x {
			x = math.NaN()
		}
		mix(math.Float64bits(x))
	}
	return h
}

// uniform returns one element of data if all elements are the same, else data.
func uniform(data []float64) []float64 {
	for _, x := range data[1:] {
		if !sameBits(x, data[0]) {
			return data
		}
	}
	return data[:1]
}
