package vm

import (
	"math"

	"odes.dev/odes/internal/elem"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm/internal/kernel"
)

// reduceStep reduces over axes. The kept axes behind the last removed one, and
// the lanes, form rows of width elements that are reduced side by side.
type reduceStep struct {
	op      tape.Op
	dst     dense
	src     dense
	width   int
	starts  []int // of the rows of the result's elements in the operand
	offsets []int // of the reduced rows from there, in row-major order
}

// reduceWidth bounds the elements reduced side by side, so that 8 partial sums
// of each stay near.
const reduceWidth = 128

func (c *reduceStep) run(m *Machine) {
	d, src := c.dst.of(m), c.src.of(m)
	if n := len(c.offsets); c.width == 1 && c.op == tape.SumAxes && c.offsets[n-1] == n-1 {
		for i, start := range c.starts {
			d[i] = elem.Sum(src[start : start+n])
		}
		return
	}
	for _, start := range c.starts {
		for w := 0; w < c.width; w += reduceWidth {
			n := min(reduceWidth, c.width-w)
			c.rows(d[w:w+n], src[start+w:], m.scratch)
		}
		d = d[c.width:]
	}
}

func (c *reduceStep) rows(d, src, scratch []float64) {
	n := len(d)
	if c.op != tape.SumAxes {
		copy(d, src[:n])
		op := foldOp(c.op)
		for _, off := range c.offsets[1:] {
			kernel.Map2(op, d, d, src[off:off+n])
		}
		return
	}
	p := scratch[:8*n]
	clear(p)
	for k, off := range c.offsets {
		kernel.Add(p[(k&7)*n:(k&7)*n+n], src[off:off+n])
	}
	tree(d, p)
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

// dotStep is Dot; an operand's lane stride is 0 if it is shared.
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
		d[0] = elem.Dot(a, b)
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

// outerStep is Outer.
type outerStep struct {
	dst    dense
	a, b   dense
	n, m   int
	lanes  int
	al, bl bool
}

func (c *outerStep) run(m *Machine) {
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	L := c.lanes
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

// matmulStep is MatMul with vectors as matrices of one row or column.
type matmulStep struct {
	dst            dense
	a, b           dense
	n, inner, m    int
	ai, ak, bk, bj int // strides in elements of one lane
	lanes          int // of the result
	al, bl         bool
}

func (c *matmulStep) run(m *Machine) {
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	L := c.lanes
	switch {
	case c.al && c.bl:
		for i := range c.n {
			for j := range c.m {
				kernel.CombineEach(d[:L], c.inner, a[i*c.ai*L:], c.ak*L, b[j*c.bj*L:], c.bk*L)
				d = d[L:]
			}
		}
	case c.al:
		c.lanesLeft(d, a, b)
	case c.bl:
		c.lanesRight(d, a, b)
	default:
		c.shared(d, a, b)
	}
}

// shared multiplies without lanes.
func (c *matmulStep) shared(d, a, b []float64) {
	switch {
	case c.m == 1 && c.ak == 1: // matrix @ vector
		kernel.MatVec(d, 1, c.n, c.inner, a, b, c.bk)
	case c.n == 1 && c.bk == 1: // vector @ transposed matrix
		kernel.MatVec(d, 1, c.m, c.inner, b, a, c.ak)
	case c.m == 1 && c.ai == 1: // transposed matrix @ vector: rows of a
		kernel.Combine(d, c.inner, b, c.bk, a, c.ak)
	case c.bj == 1:
		for i := range c.n {
			kernel.Combine(d[i*c.m:(i+1)*c.m], c.inner, a[i*c.ai:], c.ak, b, c.bk)
		}
	case c.ak == 1: // both along their rows: dot products
		for j := range c.m {
			kernel.MatVec(d[j:], c.m, c.n, c.inner, a, b[j*c.bj:], c.bk)
		}
	default: // aᵀ @ bᵀ
		for i := range c.n {
			kernel.MatVec(d[i*c.m:], 1, c.m, c.inner, b, a[i*c.ai:], c.ak)
		}
	}
}

// lanesRight multiplies a shared a by a per-lane b.
func (c *matmulStep) lanesRight(d, a, b []float64) {
	L := c.lanes
	switch {
	case c.m == 1 && c.ai == 1: // aᵀ @ y: x̄ += Aᵀȳ of an adjoint
		kernel.Outers(d, L, c.n, c.inner, a, c.ak, b, c.bk*L)
	case c.bj == 1 || c.m == 1:
		w := c.m * L
		for i := range c.n {
			kernel.Combine(d[i*w:(i+1)*w], c.inner, a[i*c.ai:], c.ak, b, c.bk*L)
		}
	default:
		for i := range c.n {
			for j := range c.m {
				kernel.Combine(d[:L], c.inner, a[i*c.ai:], c.ak, b[j*c.bj*L:], c.bk*L)
				d = d[L:]
			}
		}
	}
}

// lanesLeft multiplies a per-lane a by a shared b.
func (c *matmulStep) lanesLeft(d, a, b []float64) {
	L := c.lanes
	switch {
	case c.n == 1 && c.bj == 1: // y @ b
		kernel.Outers(d, L, c.m, c.inner, b, c.bk, a, c.ak*L)
	case c.m == 1 && c.ai == 1:
		kernel.Combine(d, c.inner, b, c.bk, a, c.ak*L)
	default:
		for i := range c.n {
			for j := range c.m {
				kernel.Combine(d[:L], c.inner, b[j*c.bj:], c.bk, a[i*c.ai*L:], c.ak*L)
				d = d[L:]
			}
		}
	}
}
