package vm

import (
	"strconv"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/vm/internal/kernel"
)

// matmulStep is MatMul. A vector is a matrix of one row or column.
type matmulStep struct {
	dst            dense
	a, b           dense
	n, inner, m    int
	ai, ak, bk, bj int // strides in elements of one lane
	lanes          int // of the result
	al, bl         bool
	packed         int  // register of the packed matrix; -1: none
	left           bool // the packed matrix meets a as its vector
	work           int  // elements of scratch
	each           int  // rows of a part that a team can share; 0 where there is but one
}

func (c *matmulStep) run(m *Machine) {
	if m.team != nil && c.each > 0 {
		m.runShared(c)
		return
	}
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	L := c.lanes
	switch {
	case m.p.fast && !(c.al && c.bl):
		c.fast(m, d, a, b)
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

// split decides how a product with one vector is shared: by elements of the result, so many that their kernels begin at
// the same places as without a team.
func (c *matmulStep) split(p *Program) {
	const block = 64
	if !p.fast || c.al || c.bl || c.n > 1 && c.m > 1 || c.bk != 1 && c.m == 1 || c.ak != 1 && c.n == 1 {
		return
	}
	n := c.n * c.m
	if each := max(nestWork/max(c.inner, 1)/block, 1) * block; each < n {
		c.each, p.shares = each, true
	}
}

func (c *matmulStep) parts() int { return (c.n*c.m + c.each - 1) / c.each }

// part computes some elements of a product with one vector.
func (c *matmulStep) part(m *Machine, i int) {
	d, a, b := c.dst.of(m), c.a.of(m), c.b.of(m)
	from := i * c.each
	d = d[from:min(from+c.each, len(d))]
	n := len(d)
	switch {
	case c.packed >= 0:
		x := b
		if c.left {
			x = a
		}
		simd.MatVecT(d, m.regs[c.packed][from:], x, c.inner, n, simd.ColumnsStride(c.n*c.m), false)
	case c.m == 1 && c.ak == 1:
		simd.MatVec(d, a[from*c.ai:], b, n, c.inner, c.ai, false)
	case c.m == 1:
		simd.MatVecT(d, a[from*c.ai:], b, c.inner, n, c.ak, false)
	case c.bk == 1:
		simd.MatVec(d, b[from*c.bj:], a, n, c.inner, c.bj, false)
	default:
		simd.MatVecT(d, b[from*c.bj:], a, c.inner, n, c.bk, false)
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

// packing says how a matrix that stays the same is packed: for a vector in each lane, or for one
// vector.
type packing struct {
	dst, src          int // registers
	off               int // of the matrix in src
	rows, inner, step int
	transposed        bool
	columns           bool // for one vector, by simd.PackColumns
}

// plan decides, for the kernels of package simd, whether a matrix is kept packed and how much
// scratch is needed. The array steady says which operands stay the same from run to run.
func (c *matmulStep) plan(p *Program, steady [2]bool) {
	c.packed = -1
	if !p.fast {
		return
	}
	L := c.lanes
	switch {
	case c.al && c.bl:
	case c.bl && c.m == 1 && steady[0]:
		c.pack(p, c.a, c.n, c.ai, c.ak, false)
	case c.al && c.n == 1 && steady[1]: // y @ b is bᵀ @ y
		c.pack(p, c.b, c.m, c.bj, c.bk, false)
	case c.al || c.bl || c.n*c.m*c.inner > packedWork:
	case c.n*c.m*c.inner == 0:
	case c.m == 1 && c.bk == 1 && steady[0]:
		c.pack(p, c.a, c.n, c.ai, c.ak, true)
	case c.n == 1 && c.ak == 1 && steady[1]:
		c.left = true
		c.pack(p, c.b, c.m, c.bj, c.bk, true)
	}
	if c.packed >= 0 {
		return
	}
	switch {
	case c.al && c.bl:
	case c.bl && (c.m == 1 || c.bj == 1):
		c.work = simd.MatMulWork(c.inner, c.m*L)
	case c.al || c.bl:
		c.work = simd.MatMulWork(c.inner, L)
	default:
		c.work = simd.MatMulWork(c.inner, c.m)
	}
	p.wide = max(p.wide, c.work)
}

// packedWork is the size of a matrix from which a product with one vector waits for memory, so that
// the order of the matrix no longer matters.
const packedWork = 1 << 16

// pack plans to keep a matrix packed, for a vector in each lane or for one vector.
func (c *matmulStep) pack(p *Program, matrix dense, rows, ri, rk int, columns bool) {
	k := packing{dst: len(p.regs), src: matrix.reg, off: matrix.off, rows: rows, inner: c.inner, columns: columns}
	k.step, k.transposed = stride(ri, rk)
	c.packed = k.dst
	size := simd.LanesSize(rows, c.inner)
	if columns {
		size = simd.ColumnsSize(rows, c.inner)
	}
	p.regs = append(p.regs, register{kind: packed, size: size})
	p.packings = append(p.packings, k)
}

// pack packs the matrices of constant inputs.
func (m *Machine) pack() {
	for i := range m.p.packings {
		k := &m.p.packings[i]
		if m.regs[k.dst] == nil {
			m.regs[k.dst] = make([]float64, m.p.regs[k.dst].size)
		}
		pack := simd.PackLanes
		if k.columns {
			pack = simd.PackColumns
		}
		pack(m.regs[k.dst], m.regs[k.src][k.off:], k.rows, k.inner, k.step, k.transposed)
	}
	m.packed = true
}

// records implements recorder for small products of a matrix and a vector.
func (c *matmulStep) records(*compiler) ([]kernel.Record, bool) {
	if c.n*c.m*c.inner > recordWork {
		return nil, false
	}
	r := kernel.Record{Out: c.dst.ref(), A: c.a.ref(), B: c.b.ref(), Lanes: c.inner}
	name := ""
	switch {
	case c.packed >= 0 && !c.al && !c.bl:
		name, r.A, r.N, r.Lanes, r.C = "matvec transposed", kernel.NewRef(c.packed, 0), c.inner, c.n*c.m,
			kernel.Stride(simd.ColumnsStride(c.n*c.m))
		if c.left {
			r.B = c.a.ref()
		}
		if simd.Wide() {
			name += " wide"
		}
	case c.packed >= 0:
		if name = lanesKernel(c.lanes); name == "" {
			return nil, false
		}
		r.C = kernel.Stride(c.lanes)
		r.A, r.N = kernel.NewRef(c.packed, 0), c.n
		if c.al {
			r.B, r.N = c.a.ref(), c.m
		}
	case c.al || c.bl:
	case c.m == 1 && c.ak == 1 && c.bk == 1:
		name, r.N, r.C = "matvec", c.n, kernel.Stride(c.ai)
	case c.m == 1 && c.ai == 1 && c.bk == 1:
		name, r.N, r.Lanes, r.C = "matvec transposed", c.inner, c.n, kernel.Stride(c.ak)
	case c.n == 1 && c.bk == 1 && c.ak == 1:
		name, r.N, r.C = "matvec", c.m, kernel.Stride(c.bj)
		r.A, r.B = r.B, r.A
	case c.n == 1 && c.bj == 1 && c.ak == 1:
		name, r.N, r.Lanes, r.C = "matvec transposed", c.inner, c.m, kernel.Stride(c.bk)
		r.A, r.B = r.B, r.A
	}
	ok := r.Handle(name)
	return []kernel.Record{r}, ok
}

// lanesKernel returns the kernel of a product with a vector of so many lanes, "" for none.
func lanesKernel(lanes int) string {
	if lanes < 4 || lanes > 16 || lanes > 4 && lanes < 8 || lanes > 8 && (!simd.Wide() || lanes == 16) {
		return ""
	}
	name := "matvec lanes"
	if lanes == 4 || lanes == 8 {
		name += "/" + strconv.Itoa(lanes)
	}
	if simd.Wide() && lanes > 4 {
		name += " wide"
	}
	return name
}

func (c *matmulStep) fast(m *Machine, d, a, b []float64) {
	L := c.lanes
	work := m.scratch[:c.work]
	switch {
	case c.packed >= 0 && !c.al && !c.bl:
		x, n := b, c.n*c.m
		if c.left {
			x = a
		}
		simd.MatVecT(d, m.regs[c.packed], x, c.inner, n, simd.ColumnsStride(n), false)
	case c.packed >= 0 && c.al:
		simd.LaneProduct(d, m.regs[c.packed], a, c.m, c.inner, L, false)
	case c.packed >= 0:
		simd.LaneProduct(d, m.regs[c.packed], b, c.n, c.inner, L, false)
	case c.bl && (c.m == 1 || c.bj == 1): // the lanes are columns
		as, ta := stride(c.ai, c.ak)
		simd.MatMul(d, a, b, c.n, c.inner, c.m*L, c.m*L, as, c.bk*L, ta, false, false, work)
	case c.bl:
		as, ta := stride(c.ai, c.ak)
		for j := range c.m {
			simd.MatMul(d[j*L:], a, b[j*c.bj*L:], c.n, c.inner, L, c.m*L, as, c.bk*L, ta, false, false, work)
		}
	case c.al: // row by row of a, bᵀ @ a[i]
		bs, tb := stride(c.bj, c.bk)
		for i := range c.n {
			row := d[i*c.m*L : (i+1)*c.m*L]
			if c.m == 1 && c.ak == 1 {
				simd.MatVecT(row, a[i*c.ai*L:], b, c.inner, L, L, false)
			} else {
				simd.MatMul(row, b, a[i*c.ai*L:], c.m, c.inner, L, L, bs, c.ak*L, tb, false, false, work)
			}
		}
	case c.m == 1 && c.ak == 1 && c.bk == 1:
		simd.MatVec(d, a, b, c.n, c.inner, c.ai, false)
	case c.m == 1 && c.ai == 1 && c.bk == 1:
		simd.MatVecT(d, a, b, c.inner, c.n, c.ak, false)
	case c.n == 1 && c.bk == 1 && c.ak == 1:
		simd.MatVec(d, b, a, c.m, c.inner, c.bj, false)
	case c.n == 1 && c.bj == 1 && c.ak == 1:
		simd.MatVecT(d, b, a, c.inner, c.m, c.bk, false)
	default:
		as, ta := stride(c.ai, c.ak)
		bs, tb := stride(c.bk, c.bj)
		simd.MatMul(d, a, b, c.n, c.inner, c.m, c.m, as, bs, ta, tb, false, work)
	}
}

// stride returns the stride of the rows of a matrix with the given strides along
// its rows' index and its columns' index, and whether it is transposed.
func stride(rows, cols int) (n int, transposed bool) {
	if cols == 1 {
		return rows, false
	}
	return cols, true
}
