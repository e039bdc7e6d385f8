package vm

import (
	"slices"

	"odes.dev/odes/tape"
)

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
		// A view that an instruction needs contiguous, or a reshape of one that is not.
		w, ok := c.viewOf(v, in, true)
		if !ok {
			w = c.where[in.Args[0]]
		}
		s = &copyStep{dst, c.root(w.root), newWalker(w, width, c.lane[v]), false}
	case tape.Pad:
		w := c.where[in.Args[0]]
		s = &padStep{dst, c.root(w.root), newPadReader(w.padded(in.Shape, &in.Attr), width, c.lane[v])}
	case tape.Concat:
		join := c.concat(v, in, args)
		if len(join.parts) == 0 {
			return
		}
		s = join
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
		s = &outerStep{
			dst, args[0], args[1], shapes[0].Size(), shapes[1].Size(), width, c.lane[in.Args[0]],
			c.lane[in.Args[1]], 0,
		}
		if o := s.(*outerStep); c.p.fast && o.n > max(nestWork/(o.m*width), 1) {
			o.each, c.p.shares = max(nestWork/(o.m*width), 1), true
		}
	case tape.Find, tape.Pick, tape.Drop:
		s = c.lookup(v, in, args)
	default:
		panic("vm: no step for " + in.Op.String())
	}
	c.add(s)
}

// blocks returns the sizes before, of and behind an axis.
func blocks(s tape.Shape, axis int) (outer, n, inner int) {
	return s[:axis].Size(), s[axis], s[axis+1:].Size()
}

// concat returns the step that brings those parts of v to their places that are not there. What stands side by side is
// one part.
func (c *compiler) concat(v int, in *tape.Instr, args []dense) *concatStep {
	outer, _, inner := blocks(in.Shape, in.Attr.Axis)
	s := &concatStep{dst: dense{c.reg[v], c.base[v], c.size(v)}, outer: outer, lanes: c.width(v)}
	to := 0
	for k, a := range in.Args {
		p := part{args[k], to, c.where[a].shape[in.Attr.Axis] * inner, c.lane[a] || s.lanes == 1}
		to += p.run * s.lanes
		if outer == 1 && p.lane && p.src.reg == s.dst.reg && p.src.off == s.dst.off+p.to {
			continue
		}
		from := c.inFile(p.src.reg, p.src.off)
		p.src.reg, p.src.off = from.reg, from.off
		if n := len(s.parts) - 1; n >= 0 && outer == 1 && s.parts[n].joins(&p, s.lanes) {
			s.parts[n].run += p.run
			s.parts[n].src.size += p.src.size
			continue
		}
		s.parts = append(s.parts, p)
	}
	return s
}

// joins reports whether q follows p, in both places.
func (p *part) joins(q *part, lanes int) bool {
	return p.lane && q.lane && p.src.reg == q.src.reg && p.src.off+p.run*lanes == q.src.off &&
		p.to+p.run*lanes == q.to
}

func (c *compiler) reduce(v int, in *tape.Instr, shape tape.Shape, src dense) step {
	axes := in.Attr.Axes
	width := c.width(v)
	st := shape.Strides()
	behind := axes[len(axes)-1] + 1
	s := &reduceStep{
		op: in.Op, dst: dense{c.reg[v], c.base[v], c.size(v)}, src: src,
		width: width * shape[behind:].Size(),
	}
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
	s.split(c.p)
	return s
}
