package vm

import "odes.dev/odes/internal/base/simd"

// stripLoop is a long loop as threaded code for one strip. Operands that move are read through
// registers that are set for every strip.
type stripLoop struct {
	*loop
	cursors    []cursor
	code, tail []step // for a whole strip, and for the rest at the end
	each       int    // elements, whole strips, of a part that a team can share; 0 where there is but one
}

// cursor is a register that follows an array from strip to strip.
type cursor struct {
	reg  int
	from operand
	rows bool   // one element for each row of lanes
	fill *micro // lays out a view where the elements of a strip are not side by side; nil for none
	at   []int  // of a view: by strip, where the elements are in the root; -1 if they are not side by side
}

func (l *stripLoop) run(m *Machine) {
	if m.team != nil && l.each > 0 {
		m.runShared(l)
		return
	}
	l.strips(m, 0, l.n)
}

func (l *stripLoop) parts() int { return (l.n + l.each - 1) / l.each }

func (l *stripLoop) part(m *Machine, i int) { l.strips(m, i*l.each, min((i+1)*l.each, l.n)) }

// strips runs the strips that begin with elements from first to end - 1.
func (l *stripLoop) strips(m *Machine, first, end int) {
	for i := range l.once {
		l.fill(m, &l.once[i], 0, min(l.strip, l.n))
	}
	code := l.code
	for k, s := first/l.strip, first; s < end; k, s = k+1, s+l.strip {
		n := l.strip
		if n > l.n-s {
			n, code = l.n-s, l.tail
		}
		for i := range l.cursors {
			c := &l.cursors[i]
			switch {
			case c.rows:
				m.regs[c.reg] = m.regs[c.from.reg][c.from.off+s/l.lanes:]
			case c.fill == nil:
				m.regs[c.reg] = m.regs[c.from.reg][c.from.off+s:]
			case c.at[k] >= 0:
				m.regs[c.reg] = m.regs[c.from.reg][c.from.off+c.at[k]:]
			default:
				l.fill(m, c.fill, s, n)
				m.regs[c.reg] = m.at(c.fill.dst, s, n)
			}
		}
		for _, x := range code {
			x.run(m)
		}
	}
}

// places lists where each strip of a view is in its root.
func (l *loop) places(u *micro) []int {
	var at []int
	for s := 0; s < l.n; s += l.strip {
		x, ok := u.from.direct(s/l.lanes, min(l.strip, l.n-s))
		if !ok {
			x = -1
		}
		at = append(at, x)
	}
	return at
}

// addStrips appends a loop of several strips.
func (c *compiler) addStrips(l *loop) {
	s := &stripLoop{loop: l}
	type key struct {
		operand
		rows bool
	}
	known := map[key]int{}
	follow := func(o operand, rows bool) operand {
		if !o.moves {
			return o
		}
		k := key{o, rows}
		r, ok := known[k]
		if !ok {
			r = c.newRegister(register{kind: bound})
			known[k] = r
			s.cursors = append(s.cursors, cursor{reg: r, from: o, rows: rows})
		}
		return operand{reg: r}
	}
	filled := map[int]int{} // by filled strip: its cursor
	var body []micro
	for i := range l.body {
		u := l.body[i]
		if u.arity == 0 {
			r := c.newRegister(register{kind: bound})
			filled[u.dst.reg] = r
			s.cursors = append(s.cursors, cursor{reg: r, from: u.a, fill: &l.body[i], at: l.places(&u)})
			continue
		}
		for k, o := range []*operand{&u.a, &u.b, &u.c}[:u.arity] {
			if r, ok := filled[o.reg]; ok && !o.moves {
				*o = operand{reg: r}
				continue
			}
			*o = follow(*o, u.shared&(simd.SharedA<<k) != 0)
		}
		u.dst = follow(u.dst, false)
		body = append(body, u)
	}
	s.code = c.unroll(body, l.strip, l.lanes)
	if rest := l.n % l.strip; rest > 0 {
		s.tail = c.unroll(body, rest, l.lanes)
	}
	if strips := max(nestWork/(l.strip*len(l.body)), 1); strips*l.strip < l.n {
		s.each = strips * l.strip
		c.p.shares = true
	}
	c.inGo(s)
}

// unroll writes the steps of a strip of n elements.
func (c *compiler) unroll(body []micro, n, lanes int) []step {
	steps, thread := c.p.steps, c.thread
	c.p.steps, c.thread = nil, threader{}
	l := &loop{n: n, strip: n, lanes: lanes}
	for i := range body {
		c.addMicro(l, &body[i])
	}
	c.flush()
	out := c.p.steps
	c.p.steps, c.thread = steps, thread
	return out
}
