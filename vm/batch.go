package vm

import (
	"fmt"

	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// Models of many scalar equations, reaction networks, give loops of thousands of
// instructions on one element each. Those that do the same on different places
// and do not wait for each other become one: a batch.

// batchLeast is the number of instructions in a loop that is worth looking at,
// and batchMost the elements of each of them.
const (
	batchLeast = 24
	batchMost  = 8
)

// batchable reports whether the loop of gr is made of batches.
func (c *compiler) batchable(gr *group, local map[int]bool) bool {
	v := gr.values[0]
	n := c.size(v)
	if !c.p.fast || !gr.loop || len(gr.values) < batchLeast || n != 1 && n != 2 && n != 4 && n != 8 || n != 1 && n != c.width(v) {
		return false
	}
	for _, v := range gr.values {
		for k := range c.t.Instr(tape.Value(v)).Args {
			w := c.operandView(v, k)
			if !local[w.root] && !c.aligned(v, k) && (!w.single() || c.lane[w.root]) {
				return false
			}
		}
	}
	return true
}

// node is an instruction of a loop made of batches.
type node struct {
	u     micro
	value int
	roots []int // that it reads
}

// emitBatches writes the loop of a group as batches, level by level: an
// instruction is one level behind the last of its operands.
func (c *compiler) emitBatches(gr *group, local map[int]bool, file *allotter) {
	size := c.size(gr.values[0])
	l := &loop{n: size, strip: size, lanes: c.width(gr.values[0])}
	uses := map[int]int{}
	for _, v := range gr.values {
		for _, r := range c.args(v) {
			if local[r] {
				uses[r]++
			}
		}
	}
	pairs := c.pairs(gr, local, uses, false)
	level := map[int]int{}
	var levels [][]node
	last := map[int]int{} // level that reads a local value last
	for _, v := range gr.values {
		c.p.ops++
		c.p.flops += size * opFlops(c.t.Instr(tape.Value(v)).Op)
		if pairs.first[v] {
			continue
		}
		roots := c.args(v)
		if k, ok := pairs.second[v]; ok {
			roots = append(roots, c.args(c.operandView(v, k).root)...)
		}
		at := 0
		for _, r := range roots {
			if l, ok := level[r]; ok {
				at = max(at, l+1)
			}
		}
		level[v] = at
		if at == len(levels) {
			levels = append(levels, nil)
		}
		levels[at] = append(levels[at], node{value: v, roots: roots})
		for _, r := range roots {
			last[r] = max(last[r], at)
		}
	}
	for at, nodes := range levels {
		for i := range nodes {
			v := nodes[i].value
			if local[v] {
				c.reg[v], c.base[v] = c.fileRegister(), file.take(size)
			}
			nodes[i].u = c.batchMicro(v, local, pairs)
		}
		c.emitLevel(l, nodes)
		for _, n := range nodes { // places of values that are not read again
			for _, r := range append(n.roots, n.value) {
				if local[r] && !pairs.first[r] && last[r] == at {
					file.give(c.base[r], size)
					last[r] = -1
				}
			}
		}
	}
}

// batchMicro returns the instruction of v, a pair maybe.
func (c *compiler) batchMicro(v int, local map[int]bool, p pairing) micro {
	in := c.t.Instr(tape.Value(v))
	u := micro{op: in.Op, arity: int8(len(in.Args)), power: in.Attr.Power, dst: c.inFile(c.reg[v], c.base[v])}
	read := func(v, k int, f form) (operand, bool) {
		w := c.operandView(v, k)
		if local[w.root] {
			return operand{reg: c.reg[w.root], off: c.base[w.root]}, false
		}
		if c.aligned(v, k) {
			return c.inFile(c.register(w.root), c.base[w.root]+w.off*c.width(v)), false
		}
		return c.inFile(c.register(w.root), c.base[w.root]+w.off), true
	}
	if k, ok := p.second[v]; ok {
		c.readPair(&u, v, k, read)
		return u
	}
	for k := range in.Args {
		o, shared := read(v, k, whole)
		*[]*operand{&u.a, &u.b, &u.c}[k] = o
		if shared {
			u.shared |= simd.SharedA << k
		}
	}
	return u
}

// inFile returns an operand; a part of the register file as that, so that
// operands that lie there are parts of one slice.
func (c *compiler) inFile(reg, off int) operand {
	if r := c.p.regs[reg]; r.kind == heap {
		return operand{reg: c.fileRegister(), off: r.at + off}
	}
	return operand{reg: reg, off: off}
}

// fileRegister returns the register of the whole register file.
func (c *compiler) fileRegister() int {
	if c.file == 0 {
		c.file = c.newRegister(register{kind: everything})
	}
	return c.file
}

// emitLevel writes instructions that do not wait for each other, and the
// additions of what they compute to outputs.
func (c *compiler) emitLevel(l *loop, nodes []node) {
	buckets := map[string][]*micro{}
	var order []string
	put := func(u *micro) {
		key := fmt.Sprint(u.op, u.first, u.swapped, u.shared, u.power, u.dst.reg, u.a.reg, u.b.reg, u.c.reg)
		if buckets[key] == nil {
			order = append(order, key)
		}
		buckets[key] = append(buckets[key], u)
	}
	for i := range nodes {
		put(&nodes[i].u)
	}
	flush := func() {
		for _, key := range order {
			if list := buckets[key]; !c.addBatch(l, list) {
				for _, u := range list {
					c.addMicro(l, u)
				}
			}
		}
		clear(buckets)
		order = nil
	}
	flush()
	for i := range nodes {
		for _, o := range c.joining[nodes[i].value] {
			at := c.p.outputs[o].place
			to := operand{reg: at.Vector, off: at.Offset}
			put(&micro{op: tape.Add, arity: 2, dst: to, a: to, b: nodes[i].u.dst})
		}
	}
	flush()
}

// addBatch appends a list of instructions that differ in their places only as one.
func (c *compiler) addBatch(l *loop, list []*micro) bool {
	if len(list) < 3 || isFunction(list[0].op) {
		return false
	}
	r, ok := l.batch(list[0])
	if !ok {
		return false
	}
	var places []uint32
	for _, u := range list {
		places = append(places, kernel.Place(u.dst.off))
		for _, o := range []operand{u.a, u.b, u.c}[:u.arity] {
			places = append(places, kernel.Place(o.off))
		}
	}
	r.SetList(places, len(list))
	c.thread.lists = append(c.thread.lists, places)
	c.appendWork(l.n*len(list), r)
	return true
}
