package vm

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/tape"
)

// register returns the register of an input or a constant, and makes it on first use.
func (c *compiler) register(v int) int {
	if in := c.t.Instr(tape.Value(v)); c.reg[v] < 0 && in != nil && in.Op == tape.Const && len(in.Attr.Data) == 1 &&
		(c.size(v) == 1 || c.splat[v]) {
		c.reg[v], c.base[v] = c.number(in.Attr.Data[0])
	}
	if c.reg[v] < 0 {
		r := register{kind: bound, size: c.size(v)}
		if in := c.t.Instr(tape.Value(v)); in != nil && in.Op == tape.Const {
			r.kind, r.data = constant, in.Attr.Data
			if n := in.Shape.Size(); len(r.data) != n && !c.splat[v] {
				r.data = slices.Repeat(r.data, n)
			}
			r.size = len(r.data)
		}
		c.reg[v] = c.newRegister(r)
	}
	return c.reg[v]
}

// number returns the place of the constant x among all single constants.
func (c *compiler) number(x float64) (reg, off int) {
	if c.numbers == 0 {
		c.numbers = c.newRegister(register{kind: constant})
	}
	r := &c.p.regs[c.numbers]
	at, ok := c.placeOf[math.Float64bits(x)]
	if !ok {
		at = len(r.data)
		c.placeOf[math.Float64bits(x)] = at
		r.data = append(r.data, x)
	}
	return c.numbers, at
}

func (c *compiler) newRegister(r register) int {
	c.p.regs = append(c.p.regs, r)
	return len(c.p.regs) - 1
}

// inFile returns an operand. A part of the register file is given as such, so that all operands
// there are parts of one slice.
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

// emit allots registers, group by group, and writes the steps. It reports false where nobody waits for these.
func (c *compiler) emit(wanted *Halt) bool {
	e := &emission{compiler: c, last: c.lastUse(), direct: c.directOutputs(), local: make([]bool, len(c.fold))}
	e.parts = c.directParts(e.direct)
	c.joining = map[int][]int{}
	for i, o := range c.t.Outputs {
		if _, ok := c.joins(i); ok {
			r := c.where[o.Value].root
			c.joining[r] = append(c.joining[r], i)
		}
	}
	for v := range c.where {
		if c.needed[v] && !c.fold[v] && c.where[v].root == v {
			c.register(v)
		}
	}
	var begin []int // the first step of each part
	for g := range c.groups {
		if wanted.over() {
			return false
		}
		for len(begin) < len(c.ends) && c.end(c.groups[g].values[0]) > c.ends[len(begin)] {
			c.flush()
			begin = append(begin, len(c.p.steps))
			e.file = allotter{end: e.file.end} // parts give no places to each other
		}
		e.group(g)
	}
	c.p.heap = e.file.end
	c.shareParts(begin)
	for i, o := range c.t.Outputs {
		if d, ok := e.direct[c.where[o.Value].root]; ok && d == i {
			continue
		}
		if _, ok := c.joins(i); !ok {
			c.emitStore(i)
		}
	}
	c.flush()
	return true
}

// emission is what is known of values while the steps of groups are emitted, one group after the other.
type emission struct {
	*compiler
	last   []int         // see lastUse
	direct map[int]int   // see directOutputs
	parts  map[int]dense // see directParts
	local  []bool        // by value: nothing outside the loop at hand reads it
	file   allotter
}

// group emits group g.
func (e *emission) group(g int) {
	gr := &e.groups[g]
	for _, v := range gr.values {
		if gr.loop && e.last[v] == g && !gr.functions {
			e.local[v] = true
		}
	}
	if gr.native {
		e.handOver(g, e.local, e.last)
		e.keepInRegisters(gr, e.local)
	}
	for pos, v := range gr.values {
		if !e.local[v] && !gr.functions {
			e.place(g, pos, v)
		}
	}
	switch {
	case gr.functions:
		e.emitFunctions(gr, e.direct, &e.file)
	case machine.Possible && gr.native:
		e.emitNative(gr, e.local)
	case len(gr.dots) > 0:
		e.emitDots(gr, e.local, e.direct, &e.file)
	case gr.loop:
		e.emitLoop(gr, e.local)
	default:
		e.emitStep(gr.values[0])
	}
	e.release(g)
	for _, v := range gr.values {
		e.local[v] = false
	}
}

// place gives value v, the one at pos in group g, a place.
func (e *emission) place(g, pos, v int) {
	if o, ok := e.direct[v]; ok {
		at := e.p.outputs[o].place
		e.reg[v], e.base[v] = at.Vector, at.Offset
		return
	}
	if at, ok := e.parts[v]; ok {
		e.reg[v], e.base[v] = at.reg, at.off
		return
	}
	if gr := &e.groups[g]; gr.loop && !gr.native {
		if r, ok := e.dying(gr, pos, v, e.last, g); ok {
			e.reg[v] = e.newRegister(register{kind: heap, at: e.p.regs[e.reg[r]].at, size: e.size(v)})
			e.last[r] = -2 // its place is taken over
			return
		}
	}
	e.reg[v] = e.newRegister(register{kind: heap, at: e.file.take(e.size(v)), size: e.size(v)})
}

// release gives back the places of values that group g was the last to read, and those of values that nobody reads.
func (e *emission) release(g int) {
	gr := &e.groups[g]
	for _, list := range [2][]int{gr.values, gr.dots} {
		for _, v := range list {
			for _, r := range append(e.reads(v), v) {
				if e.fold[r] && !e.local[r] && e.last[r] == g && e.reg[r] >= 0 && e.p.regs[e.reg[r]].kind == heap {
					e.file.give(e.p.regs[e.reg[r]].at, e.size(r))
					e.last[r] = -2
				}
			}
		}
	}
}

// directOutputs returns, by root, the output that the root is as it stands.
func (c *compiler) directOutputs() map[int]int {
	out := make(map[int]int, len(c.t.Outputs))
	for i, o := range c.t.Outputs {
		w := c.where[o.Value]
		if _, ok := out[w.root]; !ok && c.fold[w.root] && c.whole(w) && !c.p.outputs[i].place.Add {
			out[w.root] = i
		}
	}
	return out
}

// directParts returns, by root, the place in an output that is put together of it and others: there it need not be
// copied.
func (c *compiler) directParts(direct map[int]int) map[int]dense {
	out := map[int]dense{}
	for i, o := range c.t.Outputs {
		v := c.where[o.Value].root
		in := c.t.Instr(tape.Value(v))
		if d, ok := direct[v]; !ok || d != i || in == nil || in.Op != tape.Concat || c.groups[c.in[v]].loop {
			continue
		}
		if outer, _, _ := blocks(in.Shape, in.Attr.Axis); outer > 1 {
			continue
		}
		at := c.p.outputs[i].place
		for _, a := range in.Args {
			w := c.where[a]
			_, output := direct[w.root]
			_, part := out[w.root]
			if c.fold[w.root] && !output && !part && c.whole(w) && c.lane[w.root] == c.lane[v] {
				out[w.root] = dense{reg: at.Vector, off: at.Offset}
			}
			at.Offset += c.t.Shape(a).Size() * c.width(v)
		}
	}
	return out
}

// emitStore writes the step that brings output i to its place.
func (c *compiler) emitStore(i int) {
	v := int(c.t.Outputs[i].Value)
	w, width := c.where[v], c.width(v)
	q := &c.p.outputs[i]
	dst := dense{q.place.Vector, q.place.Offset, q.size}
	if c.nativeMove(w, dst, c.lane[v], q.place.Add) {
		return
	}
	src := c.root(w.root)
	plain := w.dense() && !c.splat[w.root]
	if plain {
		src = dense{src.reg, src.off + w.off*width, q.size}
	}
	switch {
	case plain && q.place.Add:
		l := &loop{n: q.size, strip: min(q.size, stripElements)}
		to := operand{reg: dst.reg, off: dst.off, moves: true}
		l.body = []micro{{op: tape.Add, arity: 2, dst: to, a: to, b: operand{reg: src.reg, off: src.off, moves: true}}}
		c.addLoop(l)
	case plain:
		c.add(&moveStep{dst, src})
	default:
		s := &copyStep{dst, src, newWalker(w, width, c.lane[v]), q.place.Add}
		if s.add {
			c.p.wide = max(c.p.wide, 256/c.lanes*c.lanes, c.lanes)
		}
		c.add(s)
	}
}

// root returns the operand that is all of a root.
func (c *compiler) root(v int) dense {
	n := c.size(v)
	if c.splat[v] {
		n = 1
	}
	return dense{c.register(v), c.base[v], n}
}

// dying returns a root whose place the result v, at position pos of loop g, may take over. The loop
// must be the last to read that root, element by element only, and must not read it after v is
// written.
func (c *compiler) dying(gr *group, pos, v int, last []int, g int) (int, bool) {
	for k := range c.t.Instr(tape.Value(v)).Args {
		r := c.operandRoot(v, k)
		if !c.fold[r] || last[r] != g || c.size(r) != c.size(v) || c.lane[r] != c.lane[v] ||
			slices.Contains(gr.values, r) {
			continue
		}
		if c.p.regs[c.reg[r]].kind != heap {
			continue
		}
		ok := !slices.ContainsFunc(gr.dots, func(d int) bool { return slices.Contains(c.reads(d), r) })
		for q, u := range gr.values {
			for j := range c.t.Instr(tape.Value(u)).Args {
				w := c.operandView(u, j)
				if w.root == r && (q > pos || !c.aligned(u, j) || w.off != 0 ||
					w.shape.Size() != c.t.Shape(tape.Value(r)).Size()) {
					ok = false
				}
			}
		}
		if ok {
			return r, true
		}
	}
	return 0, false
}
