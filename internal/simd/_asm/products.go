package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/simd/_asm/emit"
)

// param loads an integer argument; bytes turns a count of float64 into bytes.
func param(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func bytes(name string) reg.GPVirtual {
	r := param(name)
	SHLQ(Imm(3), r)
	return r
}

// begin starts a tile from memory, or from zero where the argument from is 0.
func begin(t *emit.Tile, at func(int) Mem, masks []reg.VecVirtual, label string) {
	from := param("from")
	TESTQ(from, from)
	JZ(LabelRef(label + "zero"))
	t.Load(at, masks)
	JMP(LabelRef(label + "begun"))
	Label(label + "zero")
	t.Zero()
	Label(label + "begun")
}

// laneRows is the number of rows of a panel of a matrix packed for lanes.
const laneRows = 6

// laneProducts writes laneProduct8 and laneProduct4:
// y[i][lane] (+)= Σ_k a[panel][k][i mod 6]·z[k][lane] for i < rows, k < inner. ys
// and zs are the strides of rows of y and z, as that of panels of a, in elements;
// from = 0 starts from zero. laneProduct4 touches the first lanes ≤ 4 lanes only.
func laneProducts() {
	TEXT("laneProduct8", NOSPLIT, "func(y, a, z *float64, rows, inner, ys, as, zs, from int)")
	Pragma("noescape")
	laneProduct(2, 1, nil)
	TEXT("laneProduct4", NOSPLIT, "func(y, a, z *float64, rows, inner, ys, as, zs, from, lanes int)")
	Pragma("noescape")
	mask := YMM()
	emit.Mask(param("lanes"), mask)
	laneProduct(1, 2, &mask)
}

// laneProduct writes the panels, several at once where one has too few chains.
func laneProduct(vecs, panels int, mask *reg.VecVirtual) {
	p := pointers("y", "a")
	y, a := p[0], p[1]
	rows := param("rows")
	for n := panels * laneRows; n > 0; n-- {
		if n > laneRows && n%laneRows != 0 {
			continue
		}
		label := fmt.Sprintf("rows%d", n)
		Label(label)
		CMPQ(rows, Imm(uint64(n)))
		JL(LabelRef(label + "none"))
		laneTile(n, vecs, y, a, mask, label)
		SUBQ(Imm(uint64(n)), rows)
		if n%laneRows == 0 {
			JMP(LabelRef(label))
		} else {
			JMP(LabelRef("done"))
		}
		Label(label + "none")
	}
	Label("done")
	VZEROUPPER()
	RET()
}

// laneTile computes n rows and moves y and a on.
func laneTile(n, vecs int, y, a reg.Register, mask *reg.VecVirtual, label string) {
	ys := bytes("ys")
	at := GP64()
	MOVQ(y, at)
	out := emit.NewRows(at, ys, n)
	var masks []reg.VecVirtual
	if mask != nil {
		masks = []reg.VecVirtual{*mask}
	}
	t := emit.NewTile(n, vecs)
	begin(t, out.At, masks, label)
	z, zs, k := pointers("z")[0], bytes("zs"), param("inner")
	as := bytes("as")
	front := GP64()
	MOVQ(a, front)
	second := GP64()
	if n > laneRows {
		LEAQ(Mem{Base: a, Index: as, Scale: 1}, second)
	}
	Label(label + "step")
	t.Step(func(r int) Mem {
		if r >= laneRows {
			return Mem{Base: second, Disp: 8 * (r - laneRows)}
		}
		return Mem{Base: front, Disp: 8 * r}
	}, Mem{Base: z}, mask)
	ADDQ(Imm(8*laneRows), front)
	if n > laneRows {
		ADDQ(Imm(8*laneRows), second)
	}
	ADDQ(zs, z)
	DECQ(k)
	JNZ(LabelRef(label + "step"))
	t.Store(out.At, masks)
	for range (n + laneRows - 1) / laneRows {
		ADDQ(as, a)
	}
	for range n {
		ADDQ(ys, y)
	}
}

// updateCols is the width of a panel of a matrix packed for rank updates.
const updateCols = 12

// rankUpdates writes rankUpdate1 … rankUpdate4, for that many rows i of
// to[lane][i][j] (+)= Σ_k y[k·yk + i·yi + lane]·x[panel][k][j mod 12], j < cols,
// k < inner; rows of to are gs apart, lanes gl. Strides are in elements.
func rankUpdates() {
	for rows := 1; rows <= 4; rows++ {
		rankUpdate(rows)
	}
	TEXT("packPanels", NOSPLIT, "func(packed, x *float64, rows, cols, xs int)")
	Doc("packPanels writes packed[panel][k][12] from the rows of x, xs elements apart, zeros beyond cols.")
	Pragma("noescape")
	packPanels()
}

func rankUpdate(rows int) {
	TEXT(fmt.Sprintf("rankUpdate%d", rows), NOSPLIT, "func(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int)")
	Pragma("noescape")
	p := pointers("to", "y")
	g, y := p[0], p[1]
	gs, yi, yk := bytes("gs"), bytes("yi"), bytes("yk")
	lanes := param("lanes")
	Label("lane")
	x, left := pointers("x")[0], param("cols")
	at := GP64()
	MOVQ(g, at)
	dst := emit.NewRows(at, gs, rows)
	tile := func(label string, masks func() []reg.VecVirtual) {
		t := emit.NewTile(rows, updateCols/4)
		begin(t, dst.At, masks(), label)
		k := param("inner")
		yAt := GP64()
		MOVQ(y, yAt)
		src := emit.NewRows(yAt, yi, rows)
		Label(label + "step")
		t.Step(src.At, Mem{Base: x}, nil)
		ADDQ(Imm(8*updateCols), x)
		src.Advance(yk)
		DECQ(k)
		JNZ(LabelRef(label + "step"))
		t.Store(dst.At, masks())
	}
	SUBQ(Imm(updateCols), left)
	JL(LabelRef("short"))
	Label("panel")
	tile("panel", func() []reg.VecVirtual { return nil })
	dst.Advance(Imm(8 * updateCols))
	SUBQ(Imm(updateCols), left)
	JGE(LabelRef("panel"))
	Label("short")
	ADDQ(Imm(updateCols), left)
	JZ(LabelRef("next"))
	tile("short", func() []reg.VecVirtual { return threeMasks(left) })
	Label("next")
	gl := bytes("gl")
	ADDQ(gl, g)
	ADDQ(Imm(8), y)
	DECQ(lanes)
	JNZ(LabelRef("lane"))
	VZEROUPPER()
	RET()
}

// threeMasks are the masks of the first left < 12 of 12 elements.
func threeMasks(left reg.GPVirtual) []reg.VecVirtual {
	masks := make([]reg.VecVirtual, 3)
	lowest, most := GP64(), GP64()
	zero(lowest)
	MOVQ(U32(4), most)
	for v := range masks {
		n := GP64()
		MOVQ(left, n)
		SUBQ(Imm(uint64(4*v)), n)
		CMPQ(n, lowest)
		CMOVQLT(lowest, n)
		CMPQ(n, most)
		CMOVQGT(most, n)
		masks[v] = YMM()
		emit.Mask(n, masks[v])
	}
	return masks
}

func packPanels() {
	p := pointers("packed", "x")
	to, x := p[0], p[1]
	left, xs := param("cols"), bytes("xs")
	move := func(label string, masks []reg.VecVirtual) {
		row, k := GP64(), param("rows")
		MOVQ(x, row)
		Label(label + "row")
		for v := range 3 {
			r := YMM()
			if m := (Mem{Base: row, Disp: 32 * v}); masks == nil {
				VMOVUPD(m, r)
			} else {
				emit.LoadMasked(m, masks[v], r)
			}
			VMOVUPD(r, Mem{Base: to, Disp: 32 * v})
		}
		ADDQ(Imm(8*updateCols), to)
		ADDQ(xs, row)
		DECQ(k)
		JNZ(LabelRef(label + "row"))
	}
	SUBQ(Imm(updateCols), left)
	JL(LabelRef("short"))
	Label("panel")
	move("panel", nil)
	ADDQ(Imm(8*updateCols), x)
	SUBQ(Imm(updateCols), left)
	JGE(LabelRef("panel"))
	Label("short")
	ADDQ(Imm(updateCols), left)
	JZ(LabelRef("done"))
	move("short", threeMasks(left))
	Label("done")
	VZEROUPPER()
	RET()
}
