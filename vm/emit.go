package vm

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/tape"
)

// register returns the register of an input or a constant, making it.
func (c *compiler) register(v int) int {
	if in := c.t.Instr(tape.Value(v)); c.reg[v] < 0 && in != nil && in.Op == tape.Const && len(in.Attr.Data) == 1 && (c.size(v) == 1 || c.splat[v]) {
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

// number returns where the constant x is, among all single ones.
func (c *compiler) number(x float64) (reg, off int) {
	if c.numbers == 0 {
		c.numbers = c.newRegister(register{kind: constant})
	}
	r := &c.p.regs[c.numbers]
	for i, y := range r.data {
		if math.Float64bits(x) == math.Float64bits(y) {
			return c.numbers, i
		}
	}
	r.data = append(r.data, x)
	return c.numbers, len(r.data) - 1
}

func (c *compiler) newRegister(r register) int {
	c.p.regs = append(c.p.regs, r)
	return len(c.p.regs) - 1
}

// emit allots registers, group by group, and writes the steps.
func (c *compiler) emit() {
	last := c.lastUse()
	direct := c.directOutputs()
	c.joining = map[int][]int{}
	for i, o := range c.t.Outputs {
		if _, ok := c.joins(i); ok {
			r := c.where[o.Value].root
			c.joining[r] = append(c.joining[r], i)
		}
	}
	var file allotter
	for v := range c.where {
		if c.needed[v] && !c.fold[v] && c.where[v].root == v {
			c.register(v)
		}
	}
	for g := range c.groups {
		gr := &c.groups[g]
		local := map[int]bool{} // values that nothing outside the loop reads
		for _, v := range gr.values {
			if gr.loop && last[v] == g {
				local[v] = true
			}
		}
		batches := c.batchable(gr, local)
		for pos, v := range gr.values {
			if local[v] {
				continue
			}
			if o, ok := direct[v]; ok {
				at := c.p.outputs[o].place
				c.reg[v], c.base[v] = at.Vector, at.Offset
				continue
			}
			if r, ok := c.dying(gr, pos, v, last, g); ok && gr.loop && !batches {
				c.reg[v] = c.newRegister(register{kind: heap, at: c.p.regs[c.reg[r]].at, size: c.size(v)})
				last[r] = -2 // its place is taken
				continue
			}
			c.reg[v] = c.newRegister(register{kind: heap, at: file.take(c.size(v)), size: c.size(v)})
		}
		if batches {
			c.emitBatches(gr, local, &file)
		} else if gr.loop {
			c.emitLoop(gr, local)
		} else {
			c.emitStep(gr.values[0])
		}
		// What was read for the last time gives its place back; so does what nobody reads.
		for _, v := range gr.values {
			for _, r := range append(c.reads(v), v) {
				if c.fold[r] && !local[r] && last[r] == g && c.p.regs[c.reg[r]].kind == heap {
					file.give(c.p.regs[c.reg[r]].at, c.size(r))
					last[r] = -2
				}
			}
		}
	}
	c.p.heap = file.end
	for i, o := range c.t.Outputs {
		if d, ok := direct[c.where[o.Value].root]; ok && d == i {
			continue
		}
		if _, ok := c.joins(i); !ok {
			c.emitStore(i)
		}
	}
	c.flush()
}

// directOutputs tells which computed roots are an output as they are, and which.
func (c *compiler) directOutputs() map[int]int {
	out := map[int]int{}
	for i, o := range c.t.Outputs {
		w := c.where[o.Value]
		if _, ok := out[w.root]; !ok && c.fold[w.root] && c.whole(w) && !c.p.outputs[i].place.Add {
			out[w.root] = i
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

// root returns where all of a root is.
func (c *compiler) root(v int) dense {
	n := c.size(v)
	if c.splat[v] {
		n = 1
	}
	return dense{c.register(v), c.base[v], n}
}

// dying returns a root whose place the result v at position pos of loop g may
// take: the loop is the last to read it, element by element only, and not
// after v is written.
func (c *compiler) dying(gr *group, pos, v int, last []int, g int) (int, bool) {
	for k := range c.t.Instr(tape.Value(v)).Args {
		r := c.operandView(v, k).root
		if !c.fold[r] || last[r] != g || c.size(r) != c.size(v) || c.lane[r] != c.lane[v] || slices.Contains(gr.values, r) {
			continue
		}
		if c.p.regs[c.reg[r]].kind != heap {
			continue
		}
		ok := true
		for q, u := range gr.values {
			for j := range c.t.Instr(tape.Value(u)).Args {
				w := c.operandView(u, j)
				if w.root == r && (q > pos || !c.aligned(u, j) || w.off != 0 || w.shape.Size() != c.t.Shape(tape.Value(r)).Size()) {
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

// stripElements is the length of a strip: short enough that a dozen temporaries
// fit the first-level cache, long enough that a loop's start costs little.
const stripElements = 512

// longStrip returns the length of the strips of a loop that has several: a row of
// its arrays, if parts of rows of other arrays are read, which then need not be
// laid out; else as many whole rows as are not too long.
func (c *compiler) longStrip(gr *group) int {
	v := gr.values[0]
	width := c.width(v)
	shape := c.t.Shape(tape.Value(v))
	row := shape[len(shape)-1] * width
	switch {
	case row >= minRow && row <= 2*rowsElements && c.readsRows(gr):
		return row
	case row <= rowsElements:
		return rowsElements / row * row
	}
	return max(rowsElements/width, 1) * width
}

// readsRows reports whether a loop reads parts of rows of larger arrays.
func (c *compiler) readsRows(gr *group) bool {
	for _, v := range gr.values {
		for k := range c.t.Instr(tape.Value(v)).Args {
			w := c.operandView(v, k)
			if n := len(w.strides); !w.lazy() && !w.dense() && !w.single() && w.strides[n-1] == 1 && c.lane[w.root] == c.lane[v] {
				return true
			}
		}
	}
	return false
}

// minRow is the length of a row that is worth a strip.
const minRow = 64

// rowsElements is about the length of a strip of a loop that has several.
const rowsElements = stripElements

// emitLoop writes the loop of a group.
func (c *compiler) emitLoop(gr *group, local map[int]bool) {
	size := c.size(gr.values[0])
	width := c.width(gr.values[0])
	strip := max(stripElements/width, 1) * width
	long := c.p.fast && size > strip
	if long {
		strip = c.longStrip(gr)
	}
	l := &loop{n: size, strip: strip, lanes: width}
	c.p.strip = max(c.p.strip, min(strip, size))
	s := strips{c: c, long: long, filled: map[filling]int{}, laid: map[layout]int{}, uses: map[int]int{}}
	for _, v := range gr.values { // reads still to come of each local value
		for _, r := range c.args(v) {
			if local[r] {
				s.uses[r]++
			}
		}
	}
	pairs := c.pairs(gr, local, s.uses, true)
	for _, v := range gr.values {
		in := c.t.Instr(tape.Value(v))
		c.p.ops++
		c.p.flops += size * opFlops(in.Op)
		if pairs.first[v] {
			continue
		}
		u := micro{op: in.Op, arity: int8(len(in.Args)), power: in.Attr.Power}
		var spent []int
		read := func(v, k int, f form) (o operand, shared bool) {
			w := c.operandView(v, k)
			switch {
			case local[w.root]:
				o = operand{reg: c.reg[w.root]}
			case c.aligned(v, k):
				o = operand{reg: c.reg[w.root], off: c.base[w.root] + w.off*width, moves: true}
			case f != whole:
				u.rows = f == row
				return operand{reg: c.register(w.root), off: c.base[w.root] + w.off, moves: f == row}, true
			default:
				reg, always := s.fill(l, c.t.Instr(tape.Value(v)).Args[k], w, width)
				o = operand{reg: reg}
				if !always {
					spent = append(spent, reg)
				}
			}
			return o, false
		}
		done := func(v int) {
			for _, r := range c.args(v) {
				if local[r] {
					if s.uses[r]--; s.uses[r] == 0 && !pairs.first[r] {
						spent = append(spent, c.reg[r])
					}
				}
			}
		}
		operands := []*operand{&u.a, &u.b, &u.c}
		if k, ok := pairs.second[v]; ok {
			c.readPair(&u, v, k, read)
			done(c.operandView(v, k).root)
		} else {
			forms := c.forms(v, local)
			for k := range in.Args {
				o, shared := read(v, k, forms[k])
				*operands[k] = o
				if shared {
					u.shared |= 1 << k
				}
			}
		}
		done(v)
		// The result may take the strip of an operand that is not read again.
		s.free = append(s.free, spent...)
		if local[v] {
			c.reg[v] = s.take()
			u.dst = operand{reg: c.reg[v]}
		} else {
			u.dst = operand{reg: c.reg[v], off: c.base[v], moves: true}
		}
		l.body = append(l.body, u)
		for _, i := range c.joining[v] {
			at := c.p.outputs[i].place
			to := operand{reg: at.Vector, off: at.Offset, moves: true}
			l.body = append(l.body, micro{op: tape.Add, arity: 2, dst: to, a: to, b: u.dst})
		}
		if local[v] && s.uses[v] == 0 {
			s.free = append(s.free, c.reg[v])
		}
	}
	c.addLoop(l)
}

// form is how an operand of a loop stands to the result.
type form uint8

const (
	whole  form = iota // an element for each
	row                // one for all lanes
	single             // one for all
)

// forms returns how the operands of elementwise v are given to kernels that can
// repeat elements. At least one operand is whole, and the others are alike.
func (c *compiler) forms(v int, local map[int]bool) [3]form {
	var f [3]form
	if !c.p.fast {
		return f
	}
	args := c.t.Instr(tape.Value(v)).Args
	some := false
	for k := range args {
		w := c.operandView(v, k)
		switch {
		case local[w.root] || c.aligned(v, k):
		case w.single() && !c.lane[w.root]:
			f[k] = single
		case w.dense() && !c.splat[w.root] && c.lane[v] && !c.lane[w.root]:
			f[k] = row
		}
		some = some || f[k] == row
	}
	n := 0
	for k := range args {
		if some && f[k] == single || n == len(args)-1 {
			f[k] = whole
		}
		if f[k] != whole {
			n++
		}
	}
	return f
}

// args lists the roots of v's operands, one entry each.
func (c *compiler) args(v int) []int {
	var out []int
	for k := range c.t.Instr(tape.Value(v)).Args {
		out = append(out, c.operandView(v, k).root)
	}
	return out
}

func opFlops(op tape.Op) int {
	switch op {
	case tape.FMA:
		return 2
	case tape.Select, tape.Abs, tape.Neg, tape.Sign:
		return 0
	}
	return 1
}

// strips hands out the temporaries of one loop. Programs use the same ones for
// all their loops.
type strips struct {
	c      *compiler
	used   int
	free   []int
	filled map[filling]int // what is laid out once for the whole loop
	uses   map[int]int

	long bool           // what is laid out for a strip stays to its end
	laid map[layout]int // that
}

// layout is a value as an operand of a shape.
type layout struct {
	value tape.Value
	shape string
}

// filling is a view of a single element.
type filling struct{ root, off, width int }

func (s *strips) take() int {
	if n := len(s.free); n > 0 {
		r := s.free[n-1]
		s.free = s.free[:n-1]
		return r
	}
	r := s.c.stripRegister(s.used)
	s.used++
	return r
}

// fresh is take without reuse, for what lives as long as the loop.
func (s *strips) fresh() int {
	r := s.c.stripRegister(s.used)
	s.used++
	return r
}

// reader returns what lays out w for lanes lanes.
func (c *compiler) reader(w view, lanes int) reader {
	switch lane := c.lane[w.root]; {
	case w.pad != nil:
		return newPadReader(w, lanes, lane)
	case w.index != nil:
		return newIndexReader(w, lanes, lane)
	default:
		r := newWalker(w, lanes, lane)
		return &r
	}
}

// stripRegister returns the i-th strip register of the program.
func (c *compiler) stripRegister(i int) int {
	for r := range c.p.regs {
		if c.p.regs[r].kind == strip {
			if i == 0 {
				return r
			}
			i--
		}
	}
	return c.newRegister(register{kind: strip})
}

// fill writes the instruction that lays out view w for a loop, once if it is a
// single element (always is then true), else for every strip.
func (s *strips) fill(l *loop, v tape.Value, w view, width int) (reg int, always bool) {
	c := s.c
	at := layout{v, fmt.Sprint(w.shape)}
	if r, ok := s.laid[at]; ok {
		return r, true
	}
	u := micro{op: tape.Broadcast, a: operand{reg: c.register(w.root), off: c.base[w.root]}}
	u.from = c.reader(w, width)
	if w.single() {
		key := filling{w.root, w.off, width}
		reg, ok := s.filled[key]
		if !ok {
			reg = s.fresh()
			s.filled[key] = reg
			u.dst = operand{reg: reg}
			l.once = append(l.once, u)
		}
		return reg, true
	}
	if s.long {
		u.dst = operand{reg: s.fresh()}
		s.laid[at] = u.dst.reg
	} else {
		u.dst = operand{reg: s.take()}
	}
	l.body = append(l.body, u)
	return u.dst.reg, s.long
}

// emitStep writes the step of an instruction that is not elementwise.
func (c *compiler) emitStep(v int) {
	in := c.t.Instr(tape.Value(v))
	width := c.width(v)
	dst := dense{c.reg[v], c.base[v], c.size(v)}
	args := make([]dense, len(in.Args))
	shapes := make([]tape.Shape, len(in.Args))
	for k, a := range in.Args {
		w := c.where[a]
		n := c.width(int(a))
		args[k] = dense{c.register(w.root), c.base[w.root] + w.off*n, w.shape.Size() * n}
		shapes[k] = w.shape
	}
	c.p.ops++
	var s step
	switch in.Op {
	case tape.Slice, tape.Transpose, tape.Broadcast, tape.Reshape:
		// A view that somebody wants contiguous, or a reshape of one that is not.
		w, ok := c.viewOf(v, in, true)
		if !ok {
			w = c.where[in.Args[0]]
		}
		s = &copyStep{dst, c.root(w.root), newWalker(w, width, c.lane[v]), false}
	case tape.Pad:
		w := c.where[in.Args[0]]
		s = &padStep{dst, c.root(w.root), newPadReader(w.padded(in.Shape, &in.Attr), width, c.lane[v])}
	case tape.Concat:
		s = c.concat(v, in, args)
	case tape.Take:
		outer, n, inner := blocks(shapes[0], in.Attr.Axis)
		s = &takeStep{dst, args[0], outer, inner * width, n, indexRuns(in.Attr.Index)}
	case tape.Put:
		outer, n, inner := blocks(in.Shape, in.Attr.Axis)
		s = &putStep{dst, args[0], outer, inner * width, n, indexRuns(in.Attr.Index)}
		c.p.flops += c.size(int(in.Args[0]))
	case tape.SumAxes, tape.ProdAxes, tape.MaxAxes, tape.MinAxes:
		s = c.reduce(v, in, shapes[0], args[0])
		c.p.flops += c.size(int(in.Args[0]))
	case tape.MatMul:
		s = c.matmul(v, in, shapes, args)
	case tape.Dot:
		c.p.wide = max(c.p.wide, 8*width)
		c.p.flops += 2 * shapes[0].Size() * width
		s = &dotStep{dst, args[0], args[1], shapes[0].Size(), width, c.lane[in.Args[0]], c.lane[in.Args[1]]}
	case tape.Outer:
		c.p.flops += c.size(v)
		c.p.wide = max(c.p.wide, max(outerStrip/width, 1)*width)
		s = &outerStep{dst, args[0], args[1], shapes[0].Size(), shapes[1].Size(), width, c.lane[in.Args[0]], c.lane[in.Args[1]]}
	default:
		panic("vm: no step for " + in.Op.String())
	}
	c.add(s)
}

// blocks returns the sizes before, of and behind an axis.
func blocks(s tape.Shape, axis int) (outer, n, inner int) {
	return s[:axis].Size(), s[axis], s[axis+1:].Size()
}

func (c *compiler) concat(v int, in *tape.Instr, args []dense) step {
	outer, _, inner := blocks(in.Shape, in.Attr.Axis)
	s := &concatStep{dst: dense{c.reg[v], c.base[v], c.size(v)}, outer: outer, lanes: c.width(v)}
	for k, a := range in.Args {
		s.parts = append(s.parts, part{args[k], c.where[a].shape[in.Attr.Axis] * inner, c.lane[a] || s.lanes == 1})
	}
	return s
}

func (c *compiler) reduce(v int, in *tape.Instr, shape tape.Shape, src dense) step {
	axes := in.Attr.Axes
	width := c.width(v)
	st := rowMajor(shape)
	behind := axes[len(axes)-1] + 1
	s := &reduceStep{op: in.Op, dst: dense{c.reg[v], c.base[v], c.size(v)}, src: src, width: width * shape[behind:].Size()}
	var keep, gone tape.Shape
	var keepStrides, goneStrides []int
	for k, d := range shape[:behind] {
		if slices.Contains(axes, k) {
			gone, goneStrides = append(gone, d), append(goneStrides, st[k]*width)
		} else {
			keep, keepStrides = append(keep, d), append(keepStrides, st[k]*width)
		}
	}
	s.starts, s.offsets = positions(keep, keepStrides), positions(gone, goneStrides)
	c.p.wide = max(c.p.wide, 8*min(s.width, reduceWidth))
	s.dense = true
	for k, off := range s.offsets {
		s.dense = s.dense && off == k*s.width
	}
	return s
}

// steady reports whether the elements of v stay the same from run to run.
func (c *compiler) steady(v tape.Value) bool {
	r := c.where[v].root
	if r < len(c.t.Inputs) {
		return c.p.inputs[r].place.Constant
	}
	return c.t.Instrs[r-len(c.t.Inputs)].Op == tape.Const
}

// positions lists Σ i[k]·strides[k] over the indices of shape, row-major.
func positions(shape tape.Shape, strides []int) []int {
	out := []int{0}
	for k, d := range shape {
		next := make([]int, 0, len(out)*d)
		for _, p := range out {
			for i := range d {
				next = append(next, p+i*strides[k])
			}
		}
		out = next
	}
	return out
}

func (c *compiler) matmul(v int, in *tape.Instr, shapes []tape.Shape, args []dense) step {
	a, b := shapes[0], shapes[1]
	if len(a) == 1 {
		a = tape.Shape{1, a[0]}
	}
	if len(b) == 1 {
		b = tape.Shape{b[0], 1}
	}
	s := &matmulStep{
		dst: dense{c.reg[v], c.base[v], c.size(v)}, a: args[0], b: args[1], n: a[0], inner: a[1], m: b[1],
		ai: a[1], ak: 1, bk: b[1], bj: 1,
		lanes: c.width(v), al: c.lane[in.Args[0]], bl: c.lane[in.Args[1]],
	}
	if in.Attr.TA {
		s.n, s.inner, s.ai, s.ak = a[1], a[0], 1, a[1]
	}
	if in.Attr.TB {
		s.m, s.bk, s.bj = b[0], 1, b[1]
	}
	c.p.flops += 2 * s.n * s.m * s.inner * s.lanes
	s.plan(c.p, [2]bool{c.steady(in.Args[0]), c.steady(in.Args[1])})
	return s
}
