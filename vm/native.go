package vm

import (
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Elementwise instructions on few elements become machine code, which is made when the tape is
// compiled. Their values live in registers. A value that only the code itself reads has no place in
// memory. Functions and contractions are records of threaded code between such blocks.

// openBlock is the block of native code that instructions are appended to.
type openBlock struct {
	body  *native.Body     // nil or empty: none is open
	parts [][]native.Value // by computed root: the vectors that it consists of
	roots []int            // that have parts
}

// emitNative appends the instructions of a group to the open block.
func (c *compiler) emitNative(gr *group, local []bool) {
	if b := c.block.body; b != nil && b.Len() > nativeBlock {
		c.closeBlock()
	}
	b := c.blockBody()
	for _, v := range gr.values {
		in := c.t.Instr(tape.Value(v))
		c.p.ops++
		c.p.flops += c.size(v) * in.Op.Row().Flops
		op, _ := nativeOp(in)
		parts := c.partsOf(c.size(v), c.width(v))
		if len(c.values) < len(parts) {
			c.values = make([]native.Value, max(len(parts), 1<<10))
		}
		values := c.values[:len(parts):len(parts)]
		c.values = c.values[len(parts):]
		for i, p := range parts {
			var x [3]native.Value
			for k := range in.Args {
				s, _ := c.source(c.operandView(v, k), p, c.lane[v])
				x[k] = c.readNative(c.operandRoot(v, k), s)
			}
			values[i] = b.Apply(op, x[:len(in.Args)]...)
			if !local[v] {
				b.Store(c.nativePlace(c.reg[v], c.base[v]+p.offset(c.width(v))), values[i])
			}
			for _, o := range c.joining[v] {
				at := c.p.outputs[o].place
				b.Accumulate(native.Place{Slice: at.Vector, Off: at.Offset + p.offset(c.width(v))}, values[i])
			}
		}
		c.block.parts[v] = values
		c.block.roots = append(c.block.roots, v)
	}
}

// offset returns where the chunk begins in memory.
func (p chunk) offset(lanes int) int { return p.at*lanes + p.lane }

// blockBody returns the body of the open block, and opens one if there is none.
func (c *compiler) blockBody() *native.Body {
	b := &c.block
	if b.body == nil {
		b.body, b.parts = native.NewBody(), make([][]native.Value, len(c.fold))
	}
	return b.body
}

// nativePlace returns a place in a register. The register file is one slice.
func (c *compiler) nativePlace(reg, off int) native.Place {
	o := c.inFile(reg, off)
	return native.Place{Slice: o.reg, Off: o.off}
}

// readNative returns a vector of a root.
func (c *compiler) readNative(root int, s source) native.Value {
	b := c.block.body
	if values := c.block.parts[root]; values != nil {
		if i := c.partIndex(root, s); i >= 0 {
			if s.repeat {
				return b.Dup(s.n, values[i])
			}
			return values[i]
		}
	}
	if in := c.t.Instr(tape.Value(root)); in != nil && in.Op == tape.Const {
		data := in.Attr.Data
		switch {
		case len(data) == 1:
			return b.Const(s.n, data[0])
		case s.repeat:
			return b.Const(s.n, data[s.at])
		}
		return b.Const(s.n, data[s.at:s.at+s.n]...)
	}
	at := c.nativePlace(c.register(root), c.base[root]+s.offset(c.width(root)))
	if s.repeat {
		return b.Splat(s.n, at)
	}
	return b.Load(s.n, at)
}

// nativeMove appends to the open block the copy of a view to a place, or its addition to what is
// there. The result ok is false if native code cannot do that.
func (c *compiler) nativeMove(w view, dst dense, lane, add bool) bool {
	if !machine.Possible || c.native == nil || dst.size > nativeElements {
		return false
	}
	lanes := 1
	if lane {
		lanes = c.lanes
	}
	parts := c.partsOf(dst.size, lanes)
	sources := make([]source, len(parts))
	for i, p := range parts {
		var ok bool
		if sources[i], ok = c.source(w, p, lane); !ok {
			return false
		}
	}
	b := c.blockBody()
	for i, p := range parts {
		v, at := c.readNative(w.root, sources[i]), c.nativePlace(dst.reg, dst.off+p.offset(lanes))
		if add {
			b.Accumulate(at, v)
		} else {
			b.Store(at, v)
		}
	}
	return true
}

// closeBlock ends the open block.
func (c *compiler) closeBlock() {
	if b := &c.block; machine.Possible && b.body != nil && b.body.Len() > 0 {
		length, code := b.body.Len(), c.native.Block(b.body, c.spillRegister())
		for _, v := range b.roots {
			b.parts[v] = nil
		}
		b.roots = b.roots[:0]
		b.body.Clear()
		c.appendNative(4*length, nil, code)
	}
}
