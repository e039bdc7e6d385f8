package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// LaneProductWide is LaneProduct8 with vectors of eight.
func LaneProductWide(args Args) {
	laneProduct(args, 2, func(n int, y, a reg.Register, label string) {
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

// WideRows is the number of rows of a tile of RankUpdateWide, which is two panels wide.
const WideRows = 8

// RankUpdateWide is to[i][j] (+)= Σ_k y[k·yk + i·yi]·x[panel][k][j mod 12] for i < 8
// and pairs of panels of x: arguments to, y, x, pairs, inner, the strides gs, yi
// and yk, in elements, and from, which is 0 to start from zero.
func RankUpdateWide(args Args) {
	const vecs = 2 * updateCols / 8
	dst := NewRows(args.Load("to"), bytes(args, "gs"), WideRows)
	x := args.Load("x")
	pairs := args.Load("pairs")
	Label("pair")
	t := NewWideTile(WideRows, vecs)
	begin(args, t, dst.At, nil, "pair")
	second, k := GP64(), args.Load("inner")
	IMUL3Q(Imm(8*updateCols), k, second)
	ADDQ(x, second)
	src := NewRows(args.Load("y"), bytes(args, "yi"), WideRows)
	yk := bytes(args, "yk")
	Label("step")
	in := []reg.VecVirtual{ZMM(), ZMM(), ZMM()}
	VMOVUPD(Mem{Base: x}, in[0])
	VMOVUPD(Mem{Base: x, Disp: 64}, in[1].AsY())
	VINSERTF64X4(Imm(1), Mem{Base: second}, in[1], in[1])
	VMOVUPD(Mem{Base: second, Disp: 32}, in[2])
	for r, row := range t.acc {
		s := ZMM()
		VBROADCASTSD(src.At(r), s)
		for v, acc := range row {
			VFMADD231PD(in[v], s, acc)
		}
	}
	ADDQ(Imm(8*updateCols), x)
	ADDQ(Imm(8*updateCols), second)
	src.Advance(yk)
	DECQ(k)
	JNZ(LabelRef("step"))
	t.Store(dst.At, nil)
	dst.Advance(U32(64 * vecs))
	MOVQ(second, x)
	DECQ(pairs)
	JNZ(LabelRef("pair"))
}
