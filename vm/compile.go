package vm

import (
	"slices"

	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// compiler turns a tape into a Program in three passes. The pass views decides which values own
// storage, schedule orders the instructions and groups elementwise ones, and emit allots registers
// and writes the steps.
type compiler struct {
	t     *tape.Tape
	lanes int

	ends    []int  // values that parts end with, the first of which comes before the others; nil: there are no parts
	perLane []bool // by value: it has an element for each lane
	lane    []bool // perLane, but false for all values in a program of one lane
	needed  []bool
	where   []view // by value
	fold    []bool // by value: it is a root that must be computed or copied
	groups  []group
	splat   []bool // by value: a constant that is kept as one element

	p       *Program
	native  *assembler // nil: no native code is made
	block   openBlock
	values  []native.Value // room for those of blocks
	joining map[int][]int  // by root: outputs that are added to their place in its loop
	thread  threader
	file    int            // register that stands for the whole register file; 0: none yet
	numbers int            // register of single constants; 0: none yet
	placeOf map[uint64]int // of a single constant in it, by its bits
	nothing int            // register of zeros; 0: none yet
	in      []int          // the group that computes a root, by value
	read    []int          // what reads returned last
	reg     []int          // of a root, by value; -1: none yet
	base    []int          // of a root: its first element in the register
}

// group becomes one step: a single instruction, or elementwise instructions that run as a loop.
type group struct {
	values    []int // the instructions' values in order
	loop      bool
	native    bool // a loop as native code; its values have few elements, of any sizes
	functions bool // elementary functions of few elements, which follow native code

	dots    []int // products of vectors that the loop sums while it runs
	partial []int // registers of their partial sums
}

func newCompiler(t *tape.Tape, lanes int) *compiler {
	n := t.Values()
	c := &compiler{
		t: t, lanes: lanes, lane: tape.PerLane(t), needed: tape.Needed(t),
		where: make([]view, n), fold: make([]bool, n), splat: make([]bool, n), reg: make([]int, n),
		base: make([]int, n), placeOf: map[uint64]int{},
		p: &Program{lanes: lanes},
	}
	for i := range c.reg {
		c.reg[i] = -1
	}
	c.perLane = c.lane
	if lanes == 1 { // lanes make no difference to the layout
		c.lane = make([]bool, n)
	}
	return c
}

// width returns the lanes of a value: 1 if it is shared.
func (c *compiler) width(v int) int {
	if c.lane[v] {
		return c.lanes
	}
	return 1
}

// size returns the elements of a value, all lanes.
func (c *compiler) size(v int) int { return c.t.Shape(tape.Value(v)).Size() * c.width(v) }

// elementwise reports whether v is computed by an elementwise instruction.
func (c *compiler) elementwise(v int) bool {
	in := c.t.Instr(tape.Value(v))
	return in != nil && in.Op.Row().Elementwise()
}

// views sets where the elements of each needed value are.
func (c *compiler) views() {
	t := c.t
	contiguous := make([]bool, t.Values()) // by value: an instruction needs it contiguous
	for i := range t.Instrs {
		in := &t.Instrs[i]
		if !c.needed[len(t.Inputs)+i] || in.Op.Row().Elementwise() {
			continue
		}
		for _, a := range in.Args {
			switch in.Op {
			case tape.Slice, tape.Transpose, tape.Broadcast, tape.Reshape:
			case tape.Pad:
				continue
			default:
				contiguous[a] = true
			}
		}
	}
	c.plain(contiguous)
	for i := range t.Inputs {
		c.where[i] = own(i, t.Inputs[i].Shape)
	}
	for i := range t.Instrs {
		v := len(t.Inputs) + i
		if !c.needed[v] {
			continue
		}
		in := &t.Instrs[i]
		w, ok := c.viewOf(v, in, contiguous[v])
		if ok && contiguous[v] && !w.dense() {
			ok = false
		}
		if !ok {
			w = own(v, in.Shape)
			c.fold[v] = in.Op != tape.Const
		}
		c.where[v] = w
	}
}

// plain marks the Pads, and the Takes of irregular positions, that must be stored as arrays: all
// but those that only elementwise instructions of the same shape read.
func (c *compiler) plain(contiguous []bool) {
	t := c.t
	lazy := func(v tape.Value) bool {
		in := t.Instr(v)
		if in == nil || in.Op != tape.Take {
			return in != nil && in.Op == tape.Pad
		}
		_, regular := progression(in.Attr.Index)
		return !regular
	}
	for _, o := range t.Outputs {
		if lazy(o.Value) {
			contiguous[o.Value] = true
		}
	}
	for i := range t.Instrs {
		in := &t.Instrs[i]
		if !c.needed[len(t.Inputs)+i] {
			continue
		}
		for _, a := range in.Args {
			if lazy(a) && !(in.Op.Row().Elementwise() && in.Shape.Equal(t.Shape(a))) {
				contiguous[a] = true
			}
		}
	}
}

// viewOf returns v as a view of its operand; ok is false where v is not one.
func (c *compiler) viewOf(v int, in *tape.Instr, contiguous bool) (view, bool) {
	if in.Op == tape.Const {
		if len(in.Attr.Data) == 1 && in.Shape.Size() > 1 && !contiguous {
			c.splat[v] = true
			return view{root: v, shape: in.Shape, strides: make([]int, len(in.Shape))}, true
		}
		return view{}, false
	}
	if len(in.Args) == 0 {
		return view{}, false
	}
	a := c.where[in.Args[0]]
	switch in.Op {
	case tape.Slice:
		return a.window(in.Shape, &in.Attr), true
	case tape.Transpose:
		w := view{root: a.root, off: a.off, shape: in.Shape, strides: make([]int, len(in.Shape))}
		for k, p := range in.Attr.Perm {
			w.strides[k] = a.strides[p]
		}
		return w, true
	case tape.Broadcast:
		return a.stretch(in.Shape), true
	case tape.Reshape:
		return a.reshape(in.Shape)
	case tape.Take:
		if !a.dense() {
			break
		}
		w, ok := a.take(in.Shape, in.Attr.Axis, in.Attr.Index)
		if !ok && !contiguous {
			return a.gathered(in.Shape, &in.Attr), true
		}
		return w, ok
	case tape.Pad:
		if len(in.Shape) == 0 {
			return a, true
		}
		if !contiguous {
			return a.padded(in.Shape, &in.Attr), true
		}
	}
	return view{}, false
}

// whole reports whether view w is all of its root, in place: element i of one is element i of the
// other.
func (c *compiler) whole(w view) bool {
	return w.off == 0 && !c.splat[w.root] && w.dense() && w.shape.Size() == c.t.Shape(tape.Value(w.root)).Size()
}

// operandView returns where operand k of v's instruction is. For an elementwise instruction it is
// stretched to the result's shape.
func (c *compiler) operandView(v, k int) view {
	in := c.t.Instr(tape.Value(v))
	w := c.where[in.Args[k]]
	if in.Op.Row().Elementwise() && len(in.Shape)+len(w.shape) > 0 {
		return w.stretch(in.Shape)
	}
	return w
}

// operandRoot returns the root of the view that operandView returns.
func (c *compiler) operandRoot(v, k int) int { return c.where[c.t.Instr(tape.Value(v)).Args[k]].root }

// aligned reports whether operand k of elementwise v has an array element i for each element i of
// the result.
func (c *compiler) aligned(v, k int) bool {
	w := c.operandView(v, k)
	return w.dense() && !c.splat[w.root] && c.lane[w.root] == c.lane[v]
}

// look bounds how far ahead schedule looks for instructions to join a loop.
const look = 1000

// schedule orders the computed values. Elementwise instructions over arrays of one size join into a
// loop where nothing between them needs a whole array.
func (c *compiler) schedule() {
	n := len(c.fold)
	const (
		waiting = iota
		member  // of the loop being built
		done
	)
	state := make([]byte, n)
	ready := func(v int, open bool) bool {
		for k := range c.t.Instr(tape.Value(v)).Args {
			r := c.operandRoot(v, k)
			switch {
			case !c.fold[r] || state[r] == done:
			case open && state[r] == member && c.aligned(v, k) && c.whole(c.where[r]) && c.operandView(v, k).off == 0 &&
				c.operandView(v, k).shape.Size() == c.t.Shape(tape.Value(r)).Size():
			default:
				return false
			}
		}
		return true
	}
	for v := 0; v < n; v++ {
		if !c.fold[v] || state[v] != waiting {
			continue
		}
		// Operands come first in a tape, so the first value that waits is ready.
		if !c.elementwise(v) {
			c.groups = append(c.groups, group{values: []int{v}})
			state[v] = done
			continue
		}
		g := group{loop: true}
		for u := v; u < c.end(v) && u < v+look; u++ {
			if c.fold[u] && state[u] == waiting && c.elementwise(u) && c.size(u) == c.size(v) &&
				c.lane[u] == c.lane[v] && ready(u, true) {
				g.values = append(g.values, u)
				state[u] = member
			}
		}
		for _, u := range g.values {
			state[u] = done
		}
		c.groups = append(c.groups, g)
	}
	c.in = make([]int, n)
	c.enumerate()
	c.sink()
	if c.native != nil {
		c.groupNative()
		c.separate()
		c.attachDots()
	}
}

// end returns the value behind the part of v.
func (c *compiler) end(v int) int {
	for _, end := range c.ends {
		if v < end {
			return end
		}
	}
	return len(c.fold)
}

// enumerate notes which group computes each root.
func (c *compiler) enumerate() {
	for i, g := range c.groups {
		for _, v := range g.values {
			c.in[v] = i
		}
		for _, v := range g.dots {
			c.in[v] = i
		}
	}
}

// lastUse returns, for each root, the last group that reads it. For roots that outputs read it is
// the number of groups.
func (c *compiler) lastUse() []int {
	last := make([]int, len(c.fold))
	for i := range last {
		last[i] = -1
	}
	for g, gr := range c.groups {
		for _, list := range [2][]int{gr.values, gr.dots} {
			for _, v := range list {
				for _, r := range c.reads(v) {
					if last[r] = g; c.end(r) != c.end(v) { // other parts may read it at that time
						last[r] = len(c.groups)
					}
				}
			}
		}
	}
	for i, o := range c.t.Outputs {
		r := c.where[o.Value].root
		if at, ok := c.joins(i); ok {
			last[r] = max(last[r], at)
		} else {
			last[r] = len(c.groups)
		}
	}
	return last
}

// reads lists the roots that the step of v reads. The next call overwrites the list.
func (c *compiler) reads(v int) []int {
	out := c.read[:0]
	for k := range c.t.Instr(tape.Value(v)).Args {
		if r := c.operandRoot(v, k); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	c.read = out
	return out
}

// joins reports whether output i, which is added to its place, can be added in the loop that
// computes it, and returns the group of that loop.
func (c *compiler) joins(i int) (group int, ok bool) {
	v := int(c.t.Outputs[i].Value)
	r := c.where[v].root
	if !c.p.outputs[i].place.Add || !c.fold[r] || !c.whole(c.where[v]) {
		return 0, false
	}
	return c.in[r], c.groups[c.in[r]].loop && c.elementwise(r)
}
