package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tile is a block of accumulators of a product: rows × vecs vectors of four, or
// of eight in a wide one. Each element is one chain of fused multiply-adds in
// the order of Steps, from what Load or Zero put there.
type Tile struct {
	acc  [][]reg.VecVirtual
	wide bool
}

// NewTile reserves the registers.
func NewTile(rows, vecs int) *Tile {
	t := &Tile{acc: make([][]reg.VecVirtual, rows)}
	for r := range t.acc {
		for range vecs {
			t.acc[r] = append(t.acc[r], YMM())
		}
	}
	return t
}

// NewWideTile reserves registers of eight.
func NewWideTile(rows, vecs int) *Tile {
	t := &Tile{acc: make([][]reg.VecVirtual, rows), wide: true}
	for r := range t.acc {
		for range vecs {
			t.acc[r] = append(t.acc[r], ZMM())
		}
	}
	return t
}

// bytes is the size of a vector.
func (t *Tile) bytes() int {
	if t.wide {
		return 64
	}
	return 32
}

// Zero starts all chains from +0.
func (t *Tile) Zero() {
	for _, row := range t.acc {
		for _, x := range row {
			if t.wide {
				VPXORQ(x, x, x)
			} else {
				VXORPD(x, x, x)
			}
		}
	}
}

// Load starts the chains from memory; masks, if any, stand for the vectors of a row.
func (t *Tile) Load(at func(row int) Mem, masks []reg.VecVirtual) {
	for r, row := range t.acc {
		for v, x := range row {
			if m := at(r).Offset(t.bytes() * v); masks == nil {
				VMOVUPD(m, x)
			} else {
				LoadMasked(m, masks[v], x)
			}
		}
	}
}

// Store writes the chains.
func (t *Tile) Store(at func(row int) Mem, masks []reg.VecVirtual) {
	for r, row := range t.acc {
		for v, x := range row {
			if m := at(r).Offset(t.bytes() * v); masks == nil {
				VMOVUPD(x, m)
			} else {
				StoreMasked(x, masks[v], m)
			}
		}
	}
}

// Step adds the product of one scalar for each row, from memory, and the
// vectors at x; a mask, if any, hides elements of every vector.
func (t *Tile) Step(scalar func(row int) Mem, x Mem, mask *reg.VecVirtual) {
	in := make([]reg.VecVirtual, len(t.acc[0]))
	for v := range in {
		in[v] = YMM()
		if mask == nil {
			VMOVUPD(x.Offset(32*v), in[v])
		} else {
			LoadMasked(x.Offset(32*v), *mask, in[v])
		}
	}
	for r, row := range t.acc {
		s := YMM()
		Broadcast(scalar(r), s)
		for v, acc := range row {
			VFMADD231PD(in[v], s, acc)
		}
	}
}

// Rows addresses up to eight rows a stride apart: row r is at p + r·stride bytes.
type Rows struct {
	stride, triple reg.Register
	base           []reg.Register // rows 0, 3, 6
}

// NewRows sets up the registers for n rows from p on; p must be a register of
// its own. The caller moves all of them on with Advance.
func NewRows(p, stride reg.Register, n int) *Rows {
	rows := &Rows{stride: stride, base: []reg.Register{p}}
	for at := 3; at < n; at += 3 {
		if rows.triple == nil {
			rows.triple = GP64()
			LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, rows.triple)
		}
		q := GP64()
		LEAQ(Mem{Base: rows.base[len(rows.base)-1], Index: rows.triple, Scale: 1}, q)
		rows.base = append(rows.base, q)
	}
	return rows
}

// At is the address of row r.
func (rows *Rows) At(r int) Mem {
	m := Mem{Base: rows.base[r/3]}
	if r%3 > 0 {
		m.Index, m.Scale = rows.stride, uint8(r%3)
	}
	return m
}

// Advance moves all rows on by by, a register or a constant.
func (rows *Rows) Advance(by Op) {
	for _, p := range rows.base {
		ADDQ(by, p)
	}
}

// Row returns the accumulators of a row.
func (t *Tile) Row(r int) []reg.VecVirtual { return t.acc[r] }

// Along is Step for a tile of one row, whose vectors need no register.
func (t *Tile) Along(scalar, x Mem) {
	s := YMM()
	Broadcast(scalar, s)
	for v, acc := range t.acc[0] {
		VFMADD231PD(x.Offset(32*v), s, acc)
	}
}
