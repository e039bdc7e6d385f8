package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Tile is a block of accumulators of a product: rows × vecs vectors of four, or of eight in a wide
// one. Each element is one chain of fused multiply-adds in the order of Steps, starting from what
// Load or Zero put there.
type Tile struct {
	acc   [][]reg.VecVirtual
	wide  bool
	masks []reg.Register // of a wide tile's vectors of a row, from the first on; nil for none
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

// mask is the mask of vector v of a row of a wide tile, nil for none.
func (t *Tile) mask(v int) reg.Register {
	if v < len(t.masks) {
		return t.masks[v]
	}
	return nil
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
				zeroWide(x)
			} else {
				VXORPD(x, x, x)
			}
		}
	}
}

// Load starts the chains from memory. Masks, if any, are those of the vectors of a row.
func (t *Tile) Load(at func(row int) Mem, masks []reg.VecVirtual) {
	for r, row := range t.acc {
		for v, x := range row {
			if m := at(r).Offset(t.bytes() * v); t.mask(v) != nil {
				loadWide(m, t.mask(v), x)
			} else if masks == nil {
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
			if m := at(r).Offset(t.bytes() * v); t.mask(v) != nil {
				VMOVUPD(x, t.mask(v), m)
			} else if masks == nil {
				VMOVUPD(x, m)
			} else {
				StoreMasked(x, masks[v], m)
			}
		}
	}
}

// Step adds the product of one scalar for each row, from memory, and the vectors at x. A mask, if
// any, hides elements of every vector.
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

// NewRows sets up the registers for n rows from p on. The register p must not be shared. The caller
// moves all rows with Advance.
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

// Advance moves all rows by by, a register or a constant.
func (rows *Rows) Advance(by Op) {
	for _, p := range rows.base {
		ADDQ(by, p)
	}
}

// Row returns the accumulators of a row.
func (t *Tile) Row(r int) []reg.VecVirtual { return t.acc[r] }

// masked reads the last vector of a tile of one row, of which the mask selects a part. With store
// set, it writes that vector.
func (t *Tile) masked(m Mem, mask, x reg.VecVirtual, store bool) {
	switch {
	case t.wide && store:
		VMOVUPD(x, wideMask, m)
	case t.wide:
		loadWide(m, wideMask, x)
	case store:
		StoreMasked(x, mask, m)
	default:
		LoadMasked(m, mask, x)
	}
}

// loadRow starts the chains of a tile of one row, whose last vector is masked.
func (t *Tile) loadRow(p reg.Register, mask reg.VecVirtual) {
	last := len(t.acc[0]) - 1
	for v, x := range t.acc[0][:last] {
		VMOVUPD(Mem{Base: p, Disp: t.bytes() * v}, x)
	}
	t.masked(Mem{Base: p, Disp: t.bytes() * last}, mask, t.acc[0][last], false)
}

// storeRow writes the chains of a tile of one row, whose last vector is masked.
func (t *Tile) storeRow(m Mem, mask reg.VecVirtual) {
	last := len(t.acc[0]) - 1
	for v, x := range t.acc[0][:last] {
		VMOVUPD(x, m.Offset(t.bytes()*v))
	}
	t.masked(m.Offset(t.bytes()*last), mask, t.acc[0][last], true)
}

// along is Step for a tile of one row whose last vector is masked. The other vectors need no
// register.
func (t *Tile) along(scalar, x Mem, mask reg.VecVirtual) {
	kind := YMM
	if t.wide {
		kind = ZMM
	}
	s, in := kind(), kind()
	Broadcast(scalar, s)
	last := len(t.acc[0]) - 1
	for v, acc := range t.acc[0][:last] {
		VFMADD231PD(x.Offset(t.bytes()*v), s, acc)
	}
	t.masked(x.Offset(t.bytes()*last), mask, in, false)
	VFMADD231PD(in, s, t.acc[0][last])
}
