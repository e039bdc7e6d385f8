package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// LaneProductWide is LaneProduct8 with vectors of eight.
func LaneProductWide(args Args) {
	laneProduct(args, 2, "", func(n int, y, a reg.Register, label string) {
		t := NewWideTile(n, 1)
		laneRowsOf(args, t, n, y, a, nil, label, func(scalar func(int) Mem, z Mem) {
			in := ZMM()
			VMOVUPD(z, in)
			for r, row := range t.acc {
				VFMADD231PD_BCST(scalar(r), in, row[0])
			}
		})
	})
}

// LaneProductTwo is LaneProduct8 for more than eight lanes, at most sixteen: two
// vectors of eight, the second with a mask.
func LaneProductTwo(args Args) {
	more := args.Load("lanes")
	SUBQ(Imm(8), more)
	setWideMask(more)
	CMPQ(more, Imm(4))
	JG(LabelRef("two"))
	laneProductTwo(args, "half", true)
	JMP(LabelRef("end"))
	Label("two")
	laneProductTwo(args, "two", false)
	Label("end")
}

// laneProductTwo is LaneProductTwo; with half set the second vector has four elements at most.
func laneProductTwo(args Args, label string, half bool) {
	laneProduct(args, 1, label, func(n int, y, a reg.Register, label string) {
		t := NewWideTile(n, 2)
		t.masks = []reg.Register{nil, wideMask}
		laneRowsOf(args, t, n, y, a, nil, label, func(scalar func(int) Mem, z Mem) {
			in := []reg.VecVirtual{ZMM(), ZMM()}
			VMOVUPD(z, in[0])
			loadWide(z.Offset(64), wideMask, in[1])
			for r, row := range t.acc {
				s := ZMM()
				Broadcast(scalar(r), s)
				addRow(in, s, row, half)
			}
		})
	})
}

// addRow adds the products of s and the vectors in to a row of a tile. With half set the last of these has four
// elements at most: some processors do a vector of eight in two halves.
func addRow(in []reg.VecVirtual, s reg.VecVirtual, row []reg.VecVirtual, half bool) {
	for v, acc := range row {
		if half && v == len(row)-1 {
			VFMADD231PD(in[v].AsY(), s.AsY(), acc.AsY())
		} else {
			VFMADD231PD(in[v], s, acc)
		}
	}
}

// MatVecTWide is MatVecT with vectors of eight.
func MatVecTWide(args Args) { matVecT(args, true) }

// ScatterAddWide is ScatterAdd with vectors of eight.
func ScatterAddWide(args Args) { scatterAdd(args, func() reg.VecVirtual { return ZMM() }, 1) }

// RankUpdateWide is to[i][j] (+)= Σ_k y[k·yk + i·yi]·x[panel][k][j mod 12] for i < rows
// ≤ 8 and j < cols: arguments to, y, x, cols, inner, the strides gs, yi and yk, in
// elements, and from, which is 0 to start from zero. Two panels of x are three
// vectors; one is one and a half.
func RankUpdateWide(args Args, rows int) {
	dst := NewRows(args.Load("to"), bytes(args, "gs"), rows)
	x, left := args.Load("x"), args.Load("cols")
	second := GP64()
	yk := bytes(args, "yk")
	tile := func(label string, vecs int, masks []reg.Register, load func(in []reg.VecVirtual)) {
		t := NewWideTile(rows, vecs)
		t.masks = masks
		begin(args, t, dst.At, nil, label, vecs)
		k := args.Load("inner")
		src := NewRows(args.Load("y"), bytes(args, "yi"), rows)
		Label(label + "step")
		in := make([]reg.VecVirtual, vecs)
		for v := range in {
			in[v] = ZMM()
		}
		load(in)
		for r, row := range t.acc {
			s := ZMM()
			VBROADCASTSD(src.At(r), s)
			addRow(in, s, row, vecs == 2)
		}
		ADDQ(Imm(8*updateCols), x)
		if vecs == 3 {
			ADDQ(Imm(8*updateCols), second)
		}
		src.Advance(yk)
		DECQ(k)
		JNZ(LabelRef(label + "step"))
		t.Store(dst.At, nil)
	}
	pair := func(in []reg.VecVirtual) {
		VMOVUPD(Mem{Base: x}, in[0])
		VMOVUPD(Mem{Base: x, Disp: 64}, in[1].AsY())
		VINSERTF64X4(Imm(1), Mem{Base: second}, in[1], in[1])
		VMOVUPD(Mem{Base: second, Disp: 32}, in[2])
	}
	locate := func() {
		k := args.Load("inner")
		IMUL3Q(Imm(8*updateCols), k, second)
		ADDQ(x, second)
	}
	SUBQ(Imm(2*updateCols), left)
	JL(LabelRef("short"))
	Label("pair")
	locate()
	tile("pair", 3, nil, pair)
	dst.Advance(U32(16 * updateCols))
	MOVQ(second, x)
	SUBQ(Imm(2*updateCols), left)
	JGE(LabelRef("pair"))
	Label("short")
	ADDQ(Imm(2*updateCols), left)
	JZ(LabelRef("done"))

	n := GP64()
	CMPQ(left, Imm(updateCols))
	JLE(LabelRef("single"))
	LEAQ(Mem{Base: left, Disp: -8}, n)
	setMask(n, reg.K1)
	SUBQ(Imm(8), n)
	none := GP64()
	zero(none)
	CMPQ(n, none)
	CMOVQLT(none, n)
	setMask(n, reg.K2)
	locate()
	tile("most", 3, []reg.Register{nil, reg.K1, reg.K2}, pair)
	JMP(LabelRef("done"))

	Label("single")
	CMPQ(left, Imm(8))
	JLE(LabelRef("few"))
	LEAQ(Mem{Base: left, Disp: -8}, n)
	setMask(n, reg.K1)
	tile("single", 2, []reg.Register{nil, reg.K1}, func(in []reg.VecVirtual) {
		VMOVUPD(Mem{Base: x}, in[0])
		VMOVUPD(Mem{Base: x, Disp: 64}, in[1].AsY())
	})
	JMP(LabelRef("done"))

	Label("few")
	setMask(left, reg.K1)
	tile("few", 1, []reg.Register{reg.K1}, func(in []reg.VecVirtual) { VMOVUPD(Mem{Base: x}, in[0]) })
	Label("done")
}
