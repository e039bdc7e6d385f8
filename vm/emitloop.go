package vm

import (
	"fmt"

	"odes.dev/odes/tape"
)

// longStrip returns the length of the strips of a loop that has several. If the loop reads parts of
// rows of other arrays, a strip is a row of its own arrays, so that these parts need no layout.
// Otherwise it is as many whole rows as are not too long.
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

// minRow is the length of a row that is worth a strip.
const minRow = 64

// rowsElements is the approximate length of a strip of a loop that has several.
const rowsElements = stripElements

// emitLoop writes the loop of a group.
func (c *compiler) emitLoop(gr *group, local []bool) {
	if c.addNest(gr, local) {
		return
	}
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
	for _, v := range gr.values { // count the reads that remain of each local value
		for _, r := range c.args(v) {
			if local[r] {
				s.uses[r]++
			}
		}
	}
	for _, v := range gr.values {
		in := c.t.Instr(tape.Value(v))
		c.p.ops++
		c.p.flops += size * in.Op.Row().Flops
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
					if s.uses[r]--; s.uses[r] == 0 {
						spent = append(spent, c.reg[r])
					}
				}
			}
		}
		operands := []*operand{&u.a, &u.b, &u.c}
		forms := c.forms(v, local)
		for k := range in.Args {
			o, shared := read(v, k, forms[k])
			*operands[k] = o
			if shared {
				u.shared |= 1 << k
			}
		}
		done(v)
		// The result may take the strip of an operand that is not read later.
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

// form says how an operand of a loop is repeated for the elements of the result.
type form uint8

const (
	whole  form = iota // an element for each of the result's
	row                // one element for all lanes
	single             // one element for all of the result's
)

// forms returns how the operands of elementwise v are given to kernels that can repeat elements. At
// least one operand is whole, and those that are not have the same form.
func (c *compiler) forms(v int, local []bool) [3]form {
	var f [3]form
	in := c.t.Instr(tape.Value(v))
	if !c.p.fast || !hasKernel(in.Op) {
		return f
	}
	args := in.Args
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

// strips hands out the temporaries of one loop. All loops of a program use the same ones.
type strips struct {
	c      *compiler
	used   int
	free   []int
	filled map[filling]int // strips that are laid out once for the whole loop
	uses   map[int]int

	long bool           // operands laid out for a strip stay to the end of the strip
	laid map[layout]int // strips that hold those operands
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

// fresh takes a strip that is not given back, for what lives as long as the loop.
func (s *strips) fresh() int {
	r := s.c.stripRegister(s.used)
	s.used++
	return r
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

// fill writes the instruction that lays out view w for a loop. A single element is laid out once,
// and then always is true; other views are laid out for every strip.
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
