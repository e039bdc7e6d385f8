package vm

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Elementary functions of few elements run between blocks of native code. The block before them
// lays the arguments of equal functions side by side, so that one record computes them all, several
// at a time.

// call is one elementary function applied to several values.
type call struct {
	u       micro
	values  []int
	n       int    // elements of all values, padding included
	padding int    // elements at the end that repeat the first ones
	own     []span // places in the register file that belong to the call
}

// fill rounds the elements of a call up to whole vectors of four, because the masked end of an
// array takes longer than a whole vector. A single element has code of its own.
func (f *call) fill(size int) {
	f.n = len(f.values) * size
	if rest := -f.n & 3; f.n > 1 && rest%size == 0 && rest <= f.n && size <= 2 {
		f.n, f.padding = f.n+rest, rest
	}
}

// emitFunctions writes a group of functions.
func (c *compiler) emitFunctions(gr *group, direct map[int]int, file *allotter) {
	type kind struct {
		op          tape.Op
		power, size int
	}
	var calls []*call
	known := map[kind]*call{}
	for _, v := range gr.values {
		in := c.t.Instr(tape.Value(v))
		c.p.ops++
		c.p.flops += c.size(v) * in.Op.Row().Flops
		k := kind{in.Op, in.Attr.Power, c.size(v)}
		if known[k] == nil {
			known[k] = &call{u: micro{op: in.Op, arity: int8(len(in.Args)), power: in.Attr.Power}}
			calls = append(calls, known[k])
		}
		known[k].values = append(known[k].values, v)
	}
	for _, f := range calls {
		f.fill(c.size(f.values[0]))
		for k, o := range []*operand{&f.u.a, &f.u.b}[:f.u.arity] {
			*o = c.arguments(f, k, file)
		}
	}
	for _, f := range calls {
		v := f.values[0]
		if o, ok := direct[v]; ok && f.single() {
			at := c.p.outputs[o].place
			c.reg[v], c.base[v] = at.Vector, at.Offset
		} else {
			at := file.take(f.n)
			for i, v := range f.values {
				c.reg[v] = c.newRegister(register{kind: heap, at: at + i*c.size(v), size: c.size(v)})
			}
			if f.padding > 0 {
				f.own = append(f.own, span{at + f.n - f.padding, f.padding})
			}
		}
		f.u.dst = c.inFile(c.reg[v], c.base[v])
		c.addMicro(&loop{n: f.n, strip: f.n, lanes: 1}, &f.u)
	}
	for _, f := range calls {
		for _, s := range f.own {
			file.give(s.at, s.size)
		}
		for _, v := range f.values {
			w := own(v, c.t.Shape(tape.Value(v)))
			if o, ok := direct[v]; ok && !f.single() {
				at := c.p.outputs[o].place
				c.nativeMove(w, dense{at.Vector, at.Offset, c.size(v)}, c.lane[v], false)
			}
			for _, o := range c.joining[v] {
				at := c.p.outputs[o].place
				c.nativeMove(w, dense{at.Vector, at.Offset, c.size(v)}, c.lane[v], true)
			}
		}
	}
}

// single reports whether a call has one value alone, whose place then need not change.
func (f *call) single() bool { return len(f.values) == 1 && f.padding == 0 }

// arguments returns where operand k of all values of a call is, one value behind the other. If
// there is one value, the operand stays where it is; otherwise it gets a place of the call.
func (c *compiler) arguments(f *call, k int, file *allotter) operand {
	v := f.values[0]
	size := c.size(v)
	if w := c.operandView(v, k); f.single() && c.aligned(v, k) && (!c.fold[w.root] || c.reg[w.root] >= 0) {
		return c.inFile(c.register(w.root), c.base[w.root]+w.off*c.width(v))
	}
	s := span{file.take(f.n), f.n}
	f.own = append(f.own, s)
	b := c.blockBody()
	for i := range f.n / size {
		v := f.values[i%len(f.values)]
		w := c.operandView(v, k)
		for _, p := range c.partsOf(size, c.width(v)) {
			x, _ := c.source(w, p, c.lane[v])
			b.Store(native.Place{Slice: c.fileRegister(), Off: s.at + i*size + p.offset(c.width(v))},
				c.readNative(w.root, x))
		}
	}
	return operand{reg: c.fileRegister(), off: s.at}
}
