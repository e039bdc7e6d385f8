package vm

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// loop runs elementwise instructions over arrays of one size, strip by strip.
type loop struct {
	n     int // elements, all lanes
	strip int // elements of a strip, a multiple of the lanes
	once  []micro
	body  []micro
}

// micro is one instruction of a loop's body.
type micro struct {
	op      tape.Op // Broadcast: fill dst from the view
	arity   int8
	power   int
	dst     operand
	a, b, c operand
	from    walker
	pad     *padReader // instead of from, for a padded view
}

// operand is an array a loop's instruction works on: elements off+s … of a
// register in strip s … if it moves, else the first ones.
type operand struct {
	reg   int
	off   int
	moves bool
}

func (m *Machine) at(o operand, s, n int) []float64 {
	x := m.regs[o.reg]
	if o.moves {
		s += o.off
		return x[s : s+n]
	}
	return x[:n]
}

func (l *loop) run(m *Machine) {
	for i := range l.once {
		l.once[i].fill(m, 0, min(l.strip, l.n))
	}
	for s := 0; s < l.n; s += l.strip {
		n := min(l.strip, l.n-s)
		for i := range l.body {
			u := &l.body[i]
			switch u.arity {
			case 1:
				kernel.Map1(u.op, u.power, m.at(u.dst, s, n), m.at(u.a, s, n))
			case 2:
				kernel.Map2(u.op, m.at(u.dst, s, n), m.at(u.a, s, n), m.at(u.b, s, n))
			case 3:
				kernel.Map3(u.op, m.at(u.dst, s, n), m.at(u.a, s, n), m.at(u.b, s, n), m.at(u.c, s, n))
			default:
				u.fill(m, s, n)
			}
		}
	}
}

// fill lays out the elements of a view as the loop wants them.
func (u *micro) fill(m *Machine, s, n int) {
	if u.pad != nil {
		u.pad.read(m.at(u.dst, s, n), m.regs[u.a.reg], s/u.pad.runs.lanes)
		return
	}
	u.from.read(m.at(u.dst, s, n), m.regs[u.a.reg], s/u.from.lanes)
}
