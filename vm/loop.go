package vm

import (
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// loop runs elementwise instructions over arrays of one size, strip by strip.
type loop struct {
	n     int // elements, all lanes
	strip int // elements of a strip, a multiple of the lanes
	lanes int
	once  []micro
	body  []micro
}

// micro is one instruction of a loop's body.
type micro struct {
	op      tape.Op // Broadcast fills dst from the view
	arity   int8
	power   int
	dst     operand
	a, b, c operand
	shared  simd.Shared // operands with one element for each row of lanes, or with one only
	rows    bool        // the shared operands have one element for each row
	from    reader      // source of a fill
}

// operand is an array that an instruction of a loop works on. If it moves, strip s has its elements
// from off+s on; otherwise every strip has the first ones.
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

// part returns the elements of operand o of u for a strip. Shared operands are not repeated.
func (l *loop) part(m *Machine, u *micro, which simd.Shared, o operand, s, n int) []float64 {
	switch {
	case u.shared&which == 0:
		return m.at(o, s, n)
	case u.rows:
		return m.at(o, s/l.lanes, n/l.lanes)
	default:
		return m.regs[o.reg][o.off : o.off+1]
	}
}

func (l *loop) run(m *Machine) {
	for i := range l.once {
		l.fill(m, &l.once[i], 0, min(l.strip, l.n))
	}
	fast := m.p.fast
	for s := 0; s < l.n; s += l.strip {
		n := min(l.strip, l.n-s)
		for i := range l.body {
			u := &l.body[i]
			switch {
			case u.arity == 0:
				l.fill(m, u, s, n)
			case fast:
				l.fast(m, u, s, n)
			default:
				u.inGo(m, s, n)
			}
		}
	}
}

// inGo runs u on elements s to s+n-1 by the loops in Go. No operand is shared.
func (u *micro) inGo(m *Machine, s, n int) {
	d, a := m.at(u.dst, s, n), m.at(u.a, s, n)
	switch u.arity {
	case 1:
		kernel.Map1(u.op, u.power, d, a)
	case 2:
		kernel.Map2(u.op, d, a, m.at(u.b, s, n))
	default:
		kernel.Map3(u.op, d, a, m.at(u.b, s, n), m.at(u.c, s, n))
	}
}

// fast runs u on elements s to s+n-1 by the kernels of package simd, or in Go where there is none.
func (l *loop) fast(m *Machine, u *micro, s, n int) {
	if !hasKernel(u.op) {
		u.inGo(m, s, n)
		return
	}
	d, a := m.at(u.dst, s, n), l.part(m, u, simd.SharedA, u.a, s, n)
	lanes := n
	if u.rows {
		lanes = l.lanes
	}
	switch {
	case u.op == tape.Powi:
		simd.Powi(d, a, u.power)
	case u.arity == 1:
		simd.Unary(simdOps[u.op], d, a)
	case u.arity == 2:
		b := l.part(m, u, simd.SharedB, u.b, s, n)
		if u.shared == 0 {
			simd.Binary(simdOps[u.op], d, a, b)
		} else {
			simd.BinaryRows(simdOps[u.op], u.shared, d, a, b, lanes)
		}
	default:
		b, c := l.part(m, u, simd.SharedB, u.b, s, n), l.part(m, u, simd.SharedC, u.c, s, n)
		if u.shared == 0 {
			simd.Ternary(simdOps[u.op], d, a, b, c)
		} else {
			simd.TernaryRows(simdOps[u.op], u.shared, d, a, b, c, lanes)
		}
	}
}

// fill lays out the elements of a view for a strip.
func (l *loop) fill(m *Machine, u *micro, s, n int) {
	u.from.read(m.at(u.dst, s, n), m.regs[u.a.reg][u.a.off:], s/l.lanes)
}
