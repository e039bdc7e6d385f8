package vm

import (
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// copyStep makes a dense copy of a view.
type copyStep struct {
	dst, src dense
	from     walker
	add      bool // add to the destination, instead of overwriting it
}

func (c *copyStep) run(m *Machine) {
	d, src := c.dst.of(m), c.src.of(m)
	if !c.add {
		c.from.read(d, src, 0)
		return
	}
	n := len(m.scratch) / c.from.lanes * c.from.lanes
	for s := 0; s < len(d); s += n {
		to := d[s:min(s+n, len(d))]
		t := m.scratch[:len(to)]
		c.from.read(t, src, s/c.from.lanes)
		kernel.Add(to, t)
	}
}

// moveStep copies elements that stand side by side.
type moveStep struct{ dst, src dense }

func (c *moveStep) run(m *Machine) { copy(c.dst.of(m), c.src.of(m)) }

// padStep places an operand in zeros.
type padStep struct {
	dst, src dense
	from     *padReader
}

func (c *padStep) run(m *Machine) { c.from.read(c.dst.of(m), c.src.of(m), 0) }

// dense is a contiguous operand.
type dense struct{ reg, off, size int }

func (d dense) of(m *Machine) []float64 { return m.regs[d.reg][d.off : d.off+d.size] }

// concatStep copies runs of several operands in turn. A shared operand of a per-lane result is
// repeated for the lanes.
type concatStep struct {
	dst   dense
	outer int
	lanes int
	parts []part
}

type part struct {
	src  dense
	to   int  // where its first run goes in the result
	run  int  // elements of one lane
	lane bool // the operand is per lane, or there are no lanes
}

func (c *concatStep) run(m *Machine) {
	d := c.dst.of(m)
	each := len(d) / c.outer
	for o := range c.outer {
		for i := range c.parts {
			p := &c.parts[i]
			n := p.run * c.lanes
			to := d[o*each+p.to:][:n]
			if p.lane {
				copy(to, p.src.of(m)[o*n:(o+1)*n])
			} else {
				repeat(to, p.src.of(m)[o*p.run:(o+1)*p.run], c.lanes)
			}
		}
	}
}

func repeat(d, a []float64, lanes int) {
	for _, x := range a {
		row := d[:lanes]
		for l := range row {
			row[l] = x
		}
		d = d[lanes:]
	}
}

// takeStep copies blocks of inner elements, all lanes, from the positions of runs of successive
// indices.
type takeStep struct {
	dst   dense
	src   dense
	outer int
	block int // elements of one source position, all lanes
	from  int // length of the operand's axis
	runs  []indexRun
}

// indexRun is n successive positions.
type indexRun struct{ start, n int }

func indexRuns(index []int) []indexRun {
	var runs []indexRun
	for _, i := range index {
		if n := len(runs); n > 0 && runs[n-1].start+runs[n-1].n == i {
			runs[n-1].n++
			continue
		}
		runs = append(runs, indexRun{i, 1})
	}
	return runs
}

func (c *takeStep) run(m *Machine) {
	d, src := c.dst.of(m), c.src.of(m)
	for range c.outer {
		for _, r := range c.runs {
			n := r.n * c.block
			if n == 1 {
				d[0] = src[r.start]
			} else {
				copy(d[:n], src[r.start*c.block:])
			}
			d = d[n:]
		}
		src = src[c.from*c.block:]
	}
}

// putStep adds blocks to zeros, at the positions of runs of successive indices.
type putStep struct {
	dst   dense
	src   dense
	outer int
	block int // elements of one position, all lanes
	to    int // length of the result's axis
	runs  []indexRun
}

func (c *putStep) run(m *Machine) {
	d, src := c.dst.of(m), c.src.of(m)
	clear(d)
	for range c.outer {
		for _, r := range c.runs {
			n := r.n * c.block
			if to := d[r.start*c.block:][:n]; n < 8 {
				kernel.Add(to, src[:n])
			} else {
				m.combine(tape.Add, to, to, src[:n])
			}
			src = src[n:]
		}
		d = d[c.to*c.block:]
	}
}
