package vm

import (
	"slices"

	"odes.dev/odes/internal/simd"
	"odes.dev/odes/tape"
)

// pairing tells which instructions of a loop run as one with the only one that
// reads their result: a sum, difference or product and then another. The result
// of the first is rounded as ever but needs no memory.
type pairing struct {
	first  map[int]bool // values that are part of the instruction that reads them
	second map[int]int  // for values with a part: which operand that is
}

// pairs pairs the instructions of a loop; uses counts the reads of local values.
// Results of a loop in order may take the place of operands.
func (c *compiler) pairs(gr *group, local map[int]bool, uses map[int]int, inOrder bool) pairing {
	p := pairing{map[int]bool{}, map[int]int{}}
	if !c.p.fast {
		return p
	}
	at := map[int]int{}
	for pos, v := range gr.values {
		at[v] = pos
		switch c.t.Instr(tape.Value(v)).Op {
		case tape.Add, tape.Sub, tape.Mul:
		default:
			continue
		}
		for k := range 2 {
			r := c.operandView(v, k).root
			if _, long := p.second[r]; !local[r] || uses[r] != 1 || long || len(c.joining[r]) > 0 {
				continue
			}
			switch c.t.Instr(tape.Value(r)).Op {
			case tape.Add, tape.Sub, tape.Mul, tape.Sqr:
			default:
				continue
			}
			if c.alike(r, v, k, local) && !(inOrder && c.overwritten(r, gr.values[at[r]+1:pos])) {
				p.first[r], p.second[v] = true, k
				break
			}
		}
	}
	return p
}

// alike reports whether the shared operands of r and of v, which reads r as
// operand k, are all single or all one for a row.
func (c *compiler) alike(r, v, k int, local map[int]bool) bool {
	a, b := c.forms(r, local), c.forms(v, local)
	kind := b[1-k]
	for _, f := range a {
		if f != whole {
			if kind != whole && kind != f {
				return false
			}
			kind = f
		}
	}
	return true
}

// overwritten reports whether one of the values takes the place of an operand of r.
func (c *compiler) overwritten(r int, values []int) bool {
	return slices.ContainsFunc(c.args(r), func(x int) bool {
		if c.reg[x] < 0 || c.p.regs[c.reg[x]].kind != heap {
			return false
		}
		return slices.ContainsFunc(values, func(u int) bool {
			return c.reg[u] >= 0 && c.p.regs[c.reg[u]].kind == heap && c.p.regs[c.reg[u]].at == c.p.regs[c.reg[x]].at
		})
	})
}

// readPair sets the operands of u, which is v and the instruction of its operand k.
func (c *compiler) readPair(u *micro, v, k int, read func(v, k int, f form) (operand, bool)) {
	r := c.operandView(v, k).root
	u.first, u.arity, u.swapped = c.t.Instr(tape.Value(r)).Op, 3, k == 1
	var shared [3]bool
	forms := c.forms(r, nil)
	u.a, shared[0] = read(r, 0, forms[0])
	if u.first == tape.Sqr {
		u.first, u.b = tape.Mul, u.a
	} else {
		u.b, shared[1] = read(r, 1, forms[1])
	}
	if shared[0] && u.first != tape.Sub {
		u.a, u.b, shared[0], shared[1] = u.b, u.a, false, true
	}
	u.c, shared[2] = read(v, 1-k, c.forms(v, nil)[1-k])
	for i, s := range shared {
		if s {
			u.shared |= simd.SharedA << i
		}
	}
}
