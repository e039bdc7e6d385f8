package vm

import "odes.dev/odes/tape"

// lookup returns the step of a Find, Pick or Drop.
func (c *compiler) lookup(v int, in *tape.Instr, args []dense) step {
	l := lookup{
		dst: dense{c.reg[v], c.base[v], c.size(v)}, a: args[0], b: args[1], lanes: c.width(v),
		al: c.width(int(in.Args[0])), bl: c.width(int(in.Args[1])),
	}
	switch in.Op {
	case tape.Find:
		return &findStep{l}
	case tape.Pick:
		return &pickStep{l, c.t.Shape(in.Args[0]).Size()}
	}
	return &dropStep{l, in.Shape.Size()}
}

// lookup has what the ops share that search a vector or use places in it. An operand that lanes share has one lane.
type lookup struct {
	dst, a, b     dense
	lanes, al, bl int
}

// each calls do for every element of b in every lane of the result, with the number of both among those of all lanes,
// and with the lane.
func (c *lookup) each(b []float64, do func(i, lane int, x float64)) {
	for i := range len(b) / c.bl {
		for lane := range c.lanes {
			do(i*c.lanes+lane, lane, b[i*c.bl+lane%c.bl])
		}
	}
}

type findStep struct{ lookup }

func (c *findStep) run(m *Machine) {
	d, knots := c.dst.of(m), c.a.of(m)
	c.each(c.b.of(m), func(i, lane int, x float64) {
		d[i] = float64(tape.IntervalOf(knots[lane%c.al:], c.al, x))
	})
}

type pickStep struct {
	lookup
	n int // elements of the vector
}

func (c *pickStep) run(m *Machine) {
	d, a := c.dst.of(m), c.a.of(m)
	c.each(c.b.of(m), func(i, lane int, x float64) { d[i] = a[tape.PlaceOf(x, c.n)*c.al+lane%c.al] })
}

type dropStep struct {
	lookup
	n int // elements of the result
}

func (c *dropStep) run(m *Machine) {
	d, a := c.dst.of(m), c.a.of(m)
	clear(d)
	c.each(c.b.of(m), func(i, lane int, x float64) {
		d[tape.PlaceOf(x, c.n)*c.lanes+lane] += a[i/c.lanes*c.al+lane%c.al]
	})
}
