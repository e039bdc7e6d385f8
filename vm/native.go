package vm

import (
	"slices"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/native"
)

// Elementwise instructions on few elements become machine code, which is made when the tape is
// compiled. Their values live in registers. A value that only the code itself reads has no place in
// memory. Functions and contractions are records of threaded code between such blocks.

// Bounds of native code.
const (
	nativeElements = 128     // of a value
	fewElements    = 8       // of a value, which are found faster
	nativeParts    = 32      // vectors of a value
	nativeGroup    = 1 << 13 // vectors of a group
	nativeBlock    = 1 << 15 // operations after which a block ends
)

// openBlock is the block of native code that instructions are appended to.
type openBlock struct {
	body  *native.Body     // nil or empty: none is open
	parts [][]native.Value // by computed root: the vectors that it consists of
	roots []int            // that have parts
}

// chunk is one vector of a value: n elements side by side. A shared value gives it elements from at
// on; a value with lanes gives it those of element at, from lane on.
type chunk struct{ at, lane, n int }

// partsOf splits a value into vectors, the same way wherever it is read. A vector of a value with
// lanes does not reach from one element to the next. lanes are one or those of the program.
func (sc *scheduler) partsOf(size, lanes int) []chunk {
	if size <= fewElements {
		few := &sc.native.few[min(lanes, 2)-1][size]
		if *few == nil {
			*few = sc.split(size, lanes)
		}
		return *few
	}
	key := [2]int{size, lanes}
	parts, ok := sc.native.parts[key]
	if !ok {
		parts = sc.split(size, lanes)
		sc.native.parts[key] = parts
	}
	return parts
}

func (sc *scheduler) split(size, lanes int) (parts []chunk) {
	widest := sc.native.target.Widest()
	n := size
	if lanes > 1 {
		n = lanes
	}
	for first := 0; first < size; first += n {
		for at := 0; at < n; {
			w := widest
			for w > n-at {
				w /= 2
			}
			if lanes > 1 {
				parts = append(parts, chunk{first / lanes, at, w})
			} else {
				parts = append(parts, chunk{at, 0, w})
			}
			at += w
		}
	}
	return parts
}

// small reports whether a value is worth native code.
func (sc *scheduler) small(v int) bool {
	n := sc.size(v)
	return n <= nativeElements && (n < nativeParts || len(sc.partsOf(n, sc.width(v))) <= nativeParts)
}

// nativeOp returns the operation of an instruction; ok is false if native code does not have it.
func nativeOp(in *tape.Instr) (op simd.Op, ok bool) {
	if in.Op == tape.Powi {
		op, ok = powers[in.Attr.Power]
	} else {
		op = simdOps[in.Op]
		ok = op != simd.Copy // Copy stands for instructions without a kernel
	}
	return op, ok && native.Can(op)
}

// isNative reports whether v is computed by native code.
func (sc *scheduler) isNative(v int) bool {
	if !sc.elementwise(v) || !sc.small(v) {
		return false
	}
	if _, ok := nativeOp(sc.t.Instr(tape.Value(v))); !ok {
		return false
	}
	for k := range sc.t.Instr(tape.Value(v)).Args {
		for _, p := range sc.partsOf(sc.size(v), sc.width(v)) {
			if _, ok := sc.source(sc.operandView(v, k), p, sc.lane[v]); !ok {
				return false
			}
		}
	}
	return true
}

// source says where a vector is read from: n elements of a root side by side, or one element that
// is repeated.
type source struct {
	chunk
	repeat bool
}

// source returns where part p of an operand with the view w is read from.
func (st *storage) source(w view, p chunk, lane bool) (s source, ok bool) {
	if w.lazy() {
		return s, false
	}
	if lane {
		s = source{chunk{w.position(p.at), p.lane, p.n}, false}
		if !st.lane[w.root] {
			s.lane, s.repeat = 0, true
		}
		return s, true
	}
	first := w.position(p.at)
	side, same := true, true
	for i := range p.n {
		x := w.position(p.at + i)
		side = side && x == first+i
		same = same && x == first
	}
	if st.splat[w.root] {
		side, same = false, true
	}
	return source{chunk{first, 0, p.n}, same && p.n > 1}, side || same
}

// position returns the position of element i of the view in its root.
func (v view) position(i int) int {
	at := v.off
	for k := len(v.shape) - 1; k >= 0; k-- {
		if d := v.shape[k]; d > 0 {
			at += i % d * v.strides[k]
			i /= d
		}
	}
	return at
}

// partIndex returns which of the vectors of a root s is, or -1 if it is none of them.
func (sc *scheduler) partIndex(root int, s source) int {
	for i, p := range sc.partsOf(sc.size(root), sc.width(root)) {
		if p.at == s.at && p.lane == s.lane && (p.n == s.n && !s.repeat || p.n == 1 && s.repeat) {
			return i
		}
	}
	return -1
}

// inRegisters reports whether native code of v can read operand k as the very vectors that native
// code of the operand made.
func (sc *scheduler) inRegisters(v, k int) bool {
	w := sc.operandView(v, k)
	for _, p := range sc.partsOf(sc.size(v), sc.width(v)) {
		if s, ok := sc.source(w, p, sc.lane[v]); !ok || sc.partIndex(w.root, s) < 0 {
			return false
		}
	}
	return true
}

// groupNative makes groups of native code of the elementwise instructions on few elements, and
// groups of what stands between them and native code cannot do. The two kinds alternate, in as few
// groups as the order of instructions allows.
func (sc *scheduler) groupNative() {
	var out []group
	after := make([]int, len(sc.fold))
	for i := 0; i < len(sc.groups); {
		j := i
		for j < len(sc.groups) && sc.groups[j].loop && sc.small(sc.groups[j].values[0]) &&
			sc.end(sc.groups[j].values[0]) == sc.end(sc.groups[i].values[0]) {
			j++
		}
		if i == j {
			out = append(out, sc.groups[i])
			i++
			continue
		}
		out = append(out, sc.alternate(sc.groups[i:j], after)...)
		i = j
	}
	sc.groups = out
	sc.enumerate()
}

// alternate arranges the values of several groups in alternating groups. after is 0 for each value, and used for the
// stage from which on a value can be read.
func (sc *scheduler) alternate(groups []group, after []int) (out []group) {
	type stage struct{ native, other []int }
	var stages []stage
	for _, gr := range groups {
		for _, v := range gr.values {
			at := 0
			for _, r := range sc.reads(v) {
				at = max(at, after[r])
			}
			native := sc.isNative(v)
			if after[v] = at; !native {
				after[v]++
			}
			for at >= len(stages) {
				stages = append(stages, stage{})
			}
			if native {
				stages[at].native = append(stages[at].native, v)
			} else {
				stages[at].other = append(stages[at].other, v)
			}
		}
	}
	for _, gr := range groups {
		for _, v := range gr.values {
			after[v] = 0
		}
	}
	for _, s := range stages {
		for len(s.native) > 0 {
			n, work := 0, 0
			for n < len(s.native) && work < nativeGroup {
				work += len(sc.partsOf(sc.size(s.native[n]), sc.width(s.native[n])))
				n++
			}
			out = append(out, group{values: s.native[:n:n], loop: true, native: true})
			s.native = s.native[n:]
		}
		var functions []int
		if functions, s.other = sc.splitFunctions(s.other); len(functions) > 0 {
			out = append(out, group{values: functions, loop: true, functions: true})
		}
		for len(s.other) > 0 {
			v := s.other[0]
			alike := func(u int) bool { return sc.size(u) == sc.size(v) && sc.lane[u] == sc.lane[v] }
			gr := group{loop: true}
			for _, u := range s.other {
				if alike(u) {
					gr.values = append(gr.values, u)
				}
			}
			s.other = slices.DeleteFunc(s.other, alike)
			out = append(out, gr)
		}
	}
	return out
}

// keepInRegisters removes values from local, the values that nothing outside of a group reads:
// those that native code of the group cannot read from registers.
func (sc *scheduler) keepInRegisters(gr *group, local []bool) {
	for _, v := range gr.values {
		for k := range sc.t.Instr(tape.Value(v)).Args {
			if r := sc.operandRoot(v, k); local[r] && !sc.inRegisters(v, k) {
				local[r] = false
			}
		}
	}
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
	if c.native == nil || dst.size > nativeElements {
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
	if b := &c.block; b.body != nil && b.body.Len() > 0 {
		length, code := b.body.Len(), c.native.Block(b.body, c.spillRegister())
		for _, v := range b.roots {
			b.parts[v] = nil
		}
		b.roots = b.roots[:0]
		b.body.Clear()
		c.appendNative(4*length, nil, code)
	}
}
