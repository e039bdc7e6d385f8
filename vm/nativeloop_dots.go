package vm

import "odes.dev/odes/tape"

// A product of two vectors is summed in the loop that computes one of them, with 8 partial sums in
// a register. Then neither vector need be stored for it. The gradients by a model's single
// parameters are such products.

// emitDots writes a loop with products. If it cannot be native code, the products are steps of
// their own behind it.
func (c *compiler) emitDots(gr *group, local []bool, direct map[int]int, file *allotter) {
	for _, v := range gr.dots {
		if o, ok := direct[v]; ok {
			at := c.p.outputs[o].place
			c.reg[v], c.base[v] = at.Vector, at.Offset
		} else {
			c.reg[v] = c.newRegister(register{kind: heap, at: file.take(1), size: 1})
		}
		p := c.newRegister(register{kind: heap, at: file.take(8), size: 8})
		gr.partial = append(gr.partial, p)
	}
	if c.addNest(gr, local) {
		for i, v := range gr.dots {
			part := dense{reg: gr.partial[i], size: 8}
			s := &reduceStep{
				op: tape.SumAxes, dst: dense{c.reg[v], c.base[v], 1}, src: part, width: 1,
				starts: []int{0}, dense: true,
			}
			s.offsets = []int{0, 1, 2, 3, 4, 5, 6, 7}
			c.p.ops++
			c.p.flops += 2 * c.size(gr.values[0])
			c.add(s)
		}
	} else {
		for _, v := range gr.dots {
			for _, r := range c.reads(v) {
				if local[r] {
					local[r] = false
					c.reg[r] = c.newRegister(register{kind: heap, at: file.take(c.size(r)), size: c.size(r)})
				}
			}
		}
		dots := gr.dots
		gr.dots = nil
		c.emitLoop(gr, local)
		for _, v := range dots {
			c.emitStep(v)
		}
		gr.dots = dots
	}
	for _, p := range gr.partial {
		file.give(c.p.regs[p].at, 8)
	}
}

// sums appends the products of the group to a nest.
func (b *nester) sums() bool {
	c := b.c
	for i, v := range b.gr.dots {
		l := line{op: tape.Dot, n: 2}
		for k := range l.n {
			var ok bool
			if l.args[k], ok = b.operand(v, k); !ok {
				return false
			}
		}
		o := c.inFile(b.gr.partial[i], 0)
		l.track = len(b.tracks)
		b.tracks = append(b.tracks, track{kind: fixed, at: []place{{o.reg, o.off}}})
		b.lists = append(b.lists, nil)
		b.roots = append(b.roots, -1)
		b.add(l)
	}
	return true
}

// clearSums sets the partial sums of a group's products to zero.
func (c *compiler) clearSums(gr *group) {
	for _, p := range gr.partial {
		c.append(copies(dense{reg: p, size: 8}, dense{reg: c.zeroes(8), size: 8}, 8))
	}
}
