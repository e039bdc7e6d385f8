package vm

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// reduceStep reduces over axes. The kept axes behind the last removed one and the lanes form rows
// of width elements, which are reduced side by side.
type reduceStep struct {
	op      tape.Op
	dst     dense
	src     dense
	width   int
	starts  []int // where the rows of the result's elements start in the operand
	offsets []int // offsets of the reduced rows from there, in row-major order
	dense   bool  // the reduced rows follow each other
}

// reduceWidth bounds the elements that are reduced side by side, so that 8 partial sums of each
// stay in the first-level cache.
const reduceWidth = 128

func (c *reduceStep) run(m *Machine) {
	d, src := c.dst.of(m), c.src.of(m)
	if n := len(c.offsets); c.width == 1 && c.op == tape.SumAxes && c.offsets[n-1] == n-1 {
		for i, start := range c.starts {
			if x := src[start : start+n]; m.p.fast {
				d[i] = simd.Sum(x)
			} else {
				d[i] = elem.Sum(x)
			}
		}
		return
	}
	if m.p.fast && c.op == tape.SumAxes && c.dense {
		for i, start := range c.starts {
			simd.SumLanes(d[i*c.width:(i+1)*c.width], src[start:], len(c.offsets))
		}
		return
	}
	for _, start := range c.starts {
		for w := 0; w < c.width; w += reduceWidth {
			n := min(reduceWidth, c.width-w)
			c.rows(d[w:w+n], src[start+w:], m)
		}
		d = d[c.width:]
	}
}

// records implements recorder for sums of elements side by side.
func (c *reduceStep) records(*compiler) (code []kernel.Record, ok bool) {
	n := len(c.offsets)
	if c.width > 1 || c.op != tape.SumAxes || !c.dense || n > recordWork || len(c.starts) > recordsEach {
		return nil, false
	}
	for i, start := range c.starts {
		r := kernel.Record{
			Out: kernel.NewRef(c.dst.reg, c.dst.off+i), A: kernel.NewRef(c.src.reg, c.src.off+start),
			N: n,
		}
		if !r.Handle("sum") {
			return nil, false
		}
		code = append(code, r)
	}
	return code, true
}

func (c *reduceStep) rows(d, src []float64, m *Machine) {
	n := len(d)
	if c.op != tape.SumAxes {
		copy(d, src[:n])
		op := foldOp(c.op)
		for _, off := range c.offsets[1:] {
			m.combine(op, d, d, src[off:off+n])
		}
		return
	}
	p := m.scratch[:8*n]
	clear(p)
	for k, off := range c.offsets {
		part := p[(k&7)*n : (k&7)*n+n]
		m.combine(tape.Add, part, part, src[off:off+n])
	}
	tree(d, p)
}

// combine sets d[i] = op(a[i], b[i]).
func (m *Machine) combine(op tape.Op, d, a, b []float64) {
	if m.p.fast {
		simd.Binary(simdOps[op], d, a, b)
	} else {
		kernel.Map2(op, d, a, b)
	}
}

// foldOp returns the op that combines two elements of a reduction.
func foldOp(op tape.Op) tape.Op {
	switch op {
	case tape.ProdAxes:
		return tape.Mul
	case tape.MaxAxes:
		return tape.Max
	default:
		return tape.Min
	}
}

// tree combines 8 rows of partial sums.
func tree(d, p []float64) {
	n := len(d)
	for i := range d {
		s := p[i:]
		d[i] = ((s[0] + s[4*n]) + (s[2*n] + s[6*n])) + ((s[n] + s[5*n]) + (s[3*n] + s[7*n]))
	}
}

// dotStep is Dot. The lane stride of an operand is 0 if the operand is shared.
type dotStep struct {
	dst    dense
	a, b   dense
	n      int
	lanes  int
	al, bl bool // the operand is per lane
}

func (c *dotStep) run(m *Machine) {
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	if c.lanes == 1 {
		if m.p.fast {
			d[0] = simd.Dot(a, b)
		} else {
			d[0] = elem.Dot(a, b)
		}
		return
	}
	if m.p.fast {
		if c.bl { // the operand with lanes comes second
			simd.DotLanes(d, a, b, c.n, !c.al)
		} else {
			simd.DotLanes(d, b, a, c.n, true)
		}
		return
	}
	if !c.al {
		a, b = b, a
	}
	L := c.lanes
	p := m.scratch[:8*L]
	clear(p)
	for i := range c.n {
		s := p[(i&7)*L : (i&7)*L+L]
		x := a[i*L : i*L+L]
		x = x[:len(s)]
		if c.al && c.bl {
			y := b[i*L : i*L+L]
			y = y[:len(s)]
			for l := range s {
				s[l] = math.FMA(x[l], y[l], s[l])
			}
			continue
		}
		kernel.Axpy(s, x, b[i])
	}
	tree(d, p)
}

// records implements recorder for vectors without lanes.
func (c *dotStep) records(*compiler) ([]kernel.Record, bool) {
	r := kernel.Record{Out: c.dst.ref(), A: c.a.ref(), B: c.b.ref(), N: c.n}
	ok := c.lanes == 1 && c.n <= recordWork && r.Handle("dot")
	return []kernel.Record{r}, ok
}

// outerStep is Outer.
type outerStep struct {
	dst    dense
	a, b   dense
	n, m   int
	lanes  int
	al, bl bool
	each   int // rows of a part that a team can share; 0 where there is but one
}

func (c *outerStep) run(m *Machine) {
	if m.team != nil && c.each > 0 {
		m.runShared(c)
		return
	}
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	L := c.lanes
	if m.p.fast {
		c.fast(m, d, a, b, 0, c.n)
		return
	}
	for i := range c.n {
		for j := range c.m {
			row := d[:L]
			d = d[L:]
			switch {
			case c.al && c.bl:
				kernel.Map2(tape.Mul, row, a[i*L:i*L+L], b[j*L:j*L+L])
			case c.al:
				kernel.Scale(row, a[i*L:i*L+L], b[j])
			default:
				kernel.Scale(row, b[j*L:j*L+L], a[i])
			}
		}
	}
}

// records implements recorder for few rows that have one factor each.
func (c *outerStep) records(*compiler) (code []kernel.Record, ok bool) {
	w := c.m * c.lanes
	if c.n > recordsEach || w > recordWork || c.al && c.lanes > 1 {
		return nil, false
	}
	for i := range c.n {
		r := kernel.Record{
			Out: kernel.NewRef(c.dst.reg, c.dst.off+i*w), A: kernel.NewRef(c.a.reg, c.a.off+i),
			B: c.b.ref(), N: 1, Lanes: w,
		}
		if !r.Handle("mul SV") {
			return nil, false
		}
		code = append(code, r)
	}
	return code, true
}

func (c *outerStep) parts() int { return (c.n + c.each - 1) / c.each }

func (c *outerStep) part(m *Machine, i int) {
	c.fast(m, c.dst.of(m), c.a.of(m), c.b.of(m), i*c.each, min((i+1)*c.each, c.n))
}

// fast runs some rows of the step by the kernels of package simd, row by row of the result.
func (c *outerStep) fast(m *Machine, d, a, b []float64, first, end int) {
	L := c.lanes
	w := c.m * L
	for i := first; i < end; i++ {
		row := d[i*w : (i+1)*w]
		switch {
		case !c.al: // one factor for the row
			simd.BinaryRows(simd.Mul, simd.SharedA, row, a[i:i+1], b, w)
		case L == 1:
			simd.BinaryRows(simd.Mul, simd.SharedA, row, a[i:i+1], b, c.m)
		default: // the lanes of a, repeated
			x := m.scratch[:min(w, max(outerStrip/L, 1)*L)]
			for n := copy(x, a[i*L:(i+1)*L]); n < len(x); n *= 2 {
				copy(x[n:], x[:n])
			}
			for s := 0; s < w; s += len(x) {
				n := min(len(x), w-s)
				if c.bl {
					simd.Binary(simd.Mul, row[s:s+n], x, b[s:s+n])
				} else {
					simd.BinaryRows(simd.Mul, simd.SharedB, row[s:s+n], x, b[s/L:(s+n)/L], L)
				}
			}
		}
	}
}

// outerStrip is the number of elements of repeated lanes that are laid out at once.
const outerStrip = 256
