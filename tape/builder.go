package tape

import (
	"fmt"
	"math"
	"slices"
	"sync"

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
	inner   bool // instructions are seamless
	nodes   nodes
	inputs  []Input
	inputAt []Value          // of each input
	byInput map[string]Value // by name; nil until somebody asks
	shared  table
	outputs []Output
	made    map[string]bool // the names of outputs
}

// node is an input or an instruction of a tape in the making.
type node struct {
	instr Instr // of an input Op is Invalid, and Shape alone is set
	input int32 // its place among the inputs
}

// nodes is a list in pieces: a long one is not copied while it grows.
type nodes struct {
	pieces [][]node
	len    int
}

const (
	pieceBits  = 9
	shortPiece = 32 // the first piece to begin with: most tapes are short
)

func (n *nodes) at(v Value) *node { return &n.pieces[v>>pieceBits][v&(1<<pieceBits-1)] }

func (n *nodes) append(x node) Value {
	v := Value(n.len)
	switch at := n.len >> pieceBits; {
	case at < len(n.pieces):
		n.pieces[at] = append(n.pieces[at], x)
	case at == 0:
		piece := short.Get().(*[shortPiece]node)
		n.pieces = append(n.pieces, append(piece[:0], x))
	default:
		piece := spare.Get().(*[1 << pieceBits]node)
		n.pieces = append(n.pieces, append(piece[:0], x))
	}
	n.len++
	return v
}

// spare and short have pieces that are free: each pass over a long tape fills many, for a short time, and to compile a
// small model makes dozens of short ones.
var (
	spare = sync.Pool{New: func() any { return new([1 << pieceBits]node) }}
	short = sync.Pool{New: func() any { return new([shortPiece]node) }}
)

// free gives the pieces back.
func (n *nodes) free() {
	for _, p := range n.pieces {
		switch clear(p); cap(p) {
		case 1 << pieceBits:
			spare.Put((*[1 << pieceBits]node)(p[:1<<pieceBits]))
		case shortPiece:
			short.Put((*[shortPiece]node)(p[:shortPiece]))
		}
	}
	*n = nodes{}
}

// table finds instructions by their hash. It is a hash table with open addressing; an entry has the upper half of a
// hash, and in its lower half the value that has it, plus 1. 0 is no entry.
type table struct {
	entries []uint64
	len     int
}

// find returns the entry of a value with hash h for which same reports true, or that of no value, where add puts one.
func (t *table) find(h uint64, same func(Value) bool) (entry *uint64) {
	if 2*t.len >= len(t.entries) {
		t.enlarge()
	}
	mask := uint64(len(t.entries) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		switch e := &t.entries[i]; {
		case *e == 0, *e>>32 == h>>32 && same(valueOf(*e)):
			return e
		}
	}
}

// add makes v the value of an entry that has none.
func (t *table) add(entry *uint64, h uint64, v Value) {
	*entry = h>>32<<32 | uint64(v+1)
	t.len++
}

func valueOf(entry uint64) Value { return Value(entry&(1<<32-1)) - 1 }

// enlarge makes the table twice as large.
func (t *table) enlarge() {
	old := t.entries
	t.entries = make([]uint64, max(2*len(old), 64))
	mask := uint64(len(t.entries) - 1)
	for _, e := range old {
		if e == 0 {
			continue
		}
		i := e >> 32 & mask
		for t.entries[i] != 0 {
			i = (i + 1) & mask
		}
		t.entries[i] = e
	}
}

// NewBuilder returns an empty Builder of a tape called name, with all rewrites.
func NewBuilder(name string) *Builder { return NewBuilderWith(name, All) }

// NewBuilderWith returns an empty Builder with the given rewrites.
func NewBuilderWith(name string, rewrite Rewrites) *Builder {
	return &Builder{name: name, rewrite: rewrite, made: map[string]bool{}}
}

// SetSpan sets the place in the source of the instructions that are added from now on.
func (b *Builder) SetSpan(s source.Span) { b.span = s }

// Seamlessly makes the instructions that f adds to b Seamless, where their ops have kinks or jumps.
func Seamlessly(b *Builder, f func() Value) Value {
	before := b.inner
	b.inner = true
	v := f()
	b.inner = before
	return v
}

// Input returns the input of that name and adds it if there is none yet. It panics
// if the input was added before with another shape.
func (b *Builder) Input(name string, shape Shape, perLane bool) Value {
	if v, ok := b.HasInput(name); ok {
		if in := &b.inputs[b.nodes.at(v).input]; !in.Shape.Equal(shape) || in.PerLane != perLane {
			panic(fmt.Sprintf("tape: input %s was added before with another shape", name))
		}
		return v
	}
	if err := shape.check(); err != nil {
		panic("tape: input " + name + ": " + err.Error())
	}
	in := Input{Name: name, Shape: slices.Clone(shape), PerLane: perLane}
	v := b.nodes.append(node{instr: Instr{Shape: in.Shape}, input: int32(len(b.inputs))})
	b.inputs, b.inputAt = append(b.inputs, in), append(b.inputAt, v)
	b.byInput[name] = v
	return v
}

// Inputs adds all inputs of a tape to a Builder that has none, and returns their values. They are not copied.
func (b *Builder) Inputs(list []Input) []Value {
	if b.nodes.len > 0 {
		panic("tape: the Builder of " + b.name + " is not empty")
	}
	b.inputs, b.inputAt = slices.Clip(list), make([]Value, len(list))
	for i := range list {
		b.inputAt[i] = b.nodes.append(node{instr: Instr{Shape: list[i].Shape}, input: int32(i)})
	}
	return slices.Clone(b.inputAt)
}

// HasInput returns the input of that name, if it was added.
func (b *Builder) HasInput(name string) (Value, bool) {
	if b.byInput == nil {
		b.byInput = make(map[string]Value, len(b.inputs))
		for i, in := range b.inputs {
			b.byInput[in.Name] = b.inputAt[i]
		}
	}
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
func (b *Builder) Shape(v Value) Shape { return b.nodes.at(v).instr.Shape }

// Op returns the op that makes v, or Invalid for an input.
func (b *Builder) Op(v Value) Op { return b.nodes.at(v).instr.Op }

// Uniform returns the number that all elements of v are, if v is a constant with
// equal elements.
func (b *Builder) Uniform(v Value) (float64, bool) {
	if in := &b.nodes.at(v).instr; in.Op == Const && len(in.Attr.Data) == 1 {
		return in.Attr.Data[0], true
	}
	return 0, false
}

// Constant returns the elements of v if v is a constant: a single one that stands
// for all, or all in row-major order. They must not be changed.
func (b *Builder) Constant(v Value) ([]float64, bool) {
	if in := &b.nodes.at(v).instr; in.Op == Const {
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
	in.Seamless = in.Seamless || b.inner && (in.Op.HasKink() || in.Op.HasJump())
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
	if b.rewrite&Share == 0 {
		return b.nodes.append(node{instr: in})
	}
	h := hash(&in)
	entry := b.shared.find(h, func(v Value) bool { return same(&b.nodes.at(v).instr, &in) })
	if *entry != 0 {
		return valueOf(*entry)
	}
	v := b.nodes.append(node{instr: in})
	b.shared.add(entry, h, v)
	return v
}

// Tape returns what was built: all inputs, the outputs, and the instructions
// that the outputs need. The Builder must not be used afterwards.
func (b *Builder) Tape() *Tape { return b.tape(true) }

// Needed is Tape without the inputs that no output needs.
func (b *Builder) Needed() *Tape { return b.tape(false) }

func (b *Builder) tape(all bool) *Tape {
	needed := make([]bool, b.nodes.len)
	for _, o := range b.outputs {
		needed[o.Value] = true
	}
	count, operands := 0, 0
	for v := b.nodes.len - 1; v >= 0; v-- {
		if !needed[v] {
			continue
		}
		in := &b.nodes.at(Value(v)).instr
		if in.Op != Invalid {
			count++
			operands += len(in.Args)
		}
		for _, a := range in.Args {
			needed[a] = true
		}
	}
	t := &Tape{Name: b.name, Instrs: make([]Instr, 0, count)}
	args, number := make([]Value, 0, operands), make([]Value, b.nodes.len)
	for i, v := range b.inputAt {
		if all || needed[v] {
			number[v] = Value(len(t.Inputs))
			t.Inputs = append(t.Inputs, b.inputs[i])
		}
	}
	for v := range number {
		in := &b.nodes.at(Value(v)).instr
		if !needed[v] || in.Op == Invalid {
			continue
		}
		number[v] = Value(len(t.Inputs) + len(t.Instrs))
		from := len(args)
		for _, a := range in.Args {
			args = append(args, number[a])
		}
		t.Instrs = append(t.Instrs, *in)
		t.Instrs[len(t.Instrs)-1].Args = args[from:len(args):len(args)]
	}
	b.nodes.free()
	t.Outputs = b.outputs
	for i := range t.Outputs {
		t.Outputs[i].Value = number[t.Outputs[i].Value]
	}
	return t
}

// same reports whether two instructions are equal but for their spans.
func same(a, b *Instr) bool {
	return a.Op == b.Op && a.Seamless == b.Seamless &&
		slices.Equal(a.Args, b.Args) && a.Shape.Equal(b.Shape) && a.Attr.equal(&b.Attr)
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
	return h * 0x9e3779b97f4a7c15 // for its upper half
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
