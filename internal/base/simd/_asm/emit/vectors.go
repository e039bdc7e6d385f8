package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// turn reads two columns of four rows, each column as a vector.
func turn(row [4]Mem, cols [2]reg.VecVirtual) {
	even, odd := YMM(), YMM()
	VBROADCASTF128(row[0], even)
	VINSERTF128(Imm(1), row[2], even, even)
	VBROADCASTF128(row[1], odd)
	VINSERTF128(Imm(1), row[3], odd, odd)
	VUNPCKLPD(odd, even, cols[0])
	VUNPCKHPD(odd, even, cols[1])
}

// pick reads one column of four rows.
func pick(row [4]Mem, col reg.VecVirtual) {
	var x [4]reg.VecVirtual
	for r := range x {
		x[r] = YMM()
		Broadcast(row[r], x[r])
	}
	low, high := YMM(), YMM()
	VUNPCKLPD(x[1], x[0], low)
	VUNPCKLPD(x[3], x[2], high)
	VBLENDPD(Imm(0b1100), high, low, col)
}

// turned adds the columns of blocks of four rows to their accumulators. The function row gives the
// addresses of a block's rows, and advance moves them on.
func turned(args Args, acc []reg.VecVirtual, row func(block int) [4]Mem, advance func(bytes uint64), label string) {
	x, left := args.Load("x"), args.Load("cols")
	SUBQ(Imm(4), left)
	JL(LabelRef(label + "short"))
	Label(label + "four")
	for pair := range 2 {
		var s [2]reg.VecVirtual
		for c := range s {
			s[c] = YMM()
			Broadcast(Mem{Base: x, Disp: 16*pair + 8*c}, s[c])
		}
		for b := range acc {
			m := row(b)
			for r := range m {
				m[r] = m[r].Offset(16 * pair)
			}
			cols := [2]reg.VecVirtual{YMM(), YMM()}
			turn(m, cols)
			VFMADD231PD(s[0], cols[0], acc[b])
			VFMADD231PD(s[1], cols[1], acc[b])
		}
	}
	ADDQ(Imm(32), x)
	advance(32)
	SUBQ(Imm(4), left)
	JGE(LabelRef(label + "four"))
	Label(label + "short")
	ADDQ(Imm(4), left)
	JZ(LabelRef(label + "end"))
	Label(label + "one")
	s := YMM()
	Broadcast(Mem{Base: x}, s)
	for b := range acc {
		col := YMM()
		pick(row(b), col)
		VFMADD231PD(s, col, acc[b])
	}
	ADDQ(Imm(8), x)
	advance(8)
	DECQ(left)
	JNZ(LabelRef(label + "one"))
	Label(label + "end")
}

// MatVec is y[i] (+)= Σ_j a[i·as + j]·x[j] for i < rows, j < cols; four rows make a
// vector, turned in registers. Arguments y, a, x, rows, cols, as, and from, which is
// 0 to start from zero.
func MatVec(args Args) {
	p := pointers(args, "y", "a")
	y, a := p[0], p[1]
	rows, as := args.Load("rows"), bytes(args, "as")
	triple := GP64()
	LEAQ(Mem{Base: as, Index: as, Scale: 2}, triple)
	const blocks = 4
	SUBQ(Imm(4*blocks), rows)
	JL(LabelRef("rest"))
	Label("blocks")
	{
		t := NewTile(1, blocks)
		begin(args, t, func(int) Mem { return Mem{Base: y} }, nil, "blocks", 0)
		base := make([]reg.Register, blocks)
		for b := range base {
			base[b] = GP64()
			if b == 0 {
				MOVQ(a, base[b])
			} else {
				LEAQ(Mem{Base: base[b-1], Index: as, Scale: 4}, base[b])
			}
		}
		next := GP64()
		LEAQ(Mem{Base: base[blocks-1], Index: as, Scale: 4}, next)
		MOVQ(next, a)
		turned(args, t.Row(0), func(b int) [4]Mem {
			return [4]Mem{
				{Base: base[b]},
				{Base: base[b], Index: as, Scale: 1},
				{Base: base[b], Index: as, Scale: 2},
				{Base: base[b], Index: triple, Scale: 1},
			}
		}, func(n uint64) {
			for _, r := range base {
				ADDQ(Imm(n), r)
			}
		}, "blocks")
		t.Store(func(int) Mem { return Mem{Base: y} }, nil)
	}
	ADDQ(Imm(32*blocks), y)
	SUBQ(Imm(4*blocks), rows)
	JGE(LabelRef("blocks"))
	Label("rest")
	ADDQ(Imm(4*blocks), rows)
	JZ(LabelRef("done"))
	Label("block")
	{
		// Rows beyond the last are the last row once more, and are not written.
		most, n := GP64(), GP64()
		MOVQ(U32(4), most)
		MOVQ(rows, n)
		CMPQ(n, most)
		CMOVQGT(most, n)
		mask := YMM()
		Mask(n, mask)
		t := NewTile(1, 1)
		begin(args, t, func(int) Mem { return Mem{Base: y} }, []reg.VecVirtual{mask}, "block", 0)
		row := make([]reg.Register, 4)
		for r := range row {
			row[r] = GP64()
			if r == 0 {
				MOVQ(a, row[r])
				continue
			}
			LEAQ(Mem{Base: row[r-1], Index: as, Scale: 1}, row[r])
			CMPQ(n, Imm(uint64(r)))
			CMOVQLE(row[r-1], row[r])
		}
		LEAQ(Mem{Base: a, Index: as, Scale: 4}, a)
		turned(args, t.Row(0), func(int) [4]Mem {
			return [4]Mem{{Base: row[0]}, {Base: row[1]}, {Base: row[2]}, {Base: row[3]}}
		}, func(n uint64) {
			for _, r := range row {
				ADDQ(Imm(n), r)
			}
		}, "block")
		t.Store(func(int) Mem { return Mem{Base: y} }, []reg.VecVirtual{mask})
	}
	ADDQ(Imm(32), y)
	SUBQ(Imm(4), rows)
	JG(LabelRef("block"))
	Label("done")
}

// MatVecT is y[j] (+)= Σ_i a[i·as + j]·x[i], with the arguments of MatVec.
func MatVecT(args Args) { matVecT(args, false) }

// matVecT keeps as many columns as there are registers for at once, so that their chains hide each
// other's latency. The last vector of a block has a mask.
func matVecT(args Args, wide bool) {
	most, each, newTile := 12, 4, NewTile
	if wide {
		most, each, newTile = 16, 8, NewWideTile
	}
	p := pointers(args, "y", "a")
	y, a := p[0], p[1]
	cols, as := args.Load("cols"), bytes(args, "as")
	limit, n := GP64(), GP64()
	var mask reg.VecVirtual
	if !wide {
		mask = YMM()
	}
	Label("block")
	MOVQ(U32(uint64(most*each)), limit)
	MOVQ(cols, n)
	CMPQ(n, limit)
	CMOVQGT(limit, n)
	for vecs := most; vecs > 0; vecs-- {
		label := fmt.Sprintf("vecs%d", vecs)
		CMPQ(n, Imm(uint64(each*(vecs-1))))
		JLE(LabelRef(label + "none"))
		rest := GP64()
		LEAQ(Mem{Base: n, Disp: -each * (vecs - 1)}, rest)
		if wide {
			setWideMask(rest)
		} else {
			Mask(rest, mask)
		}
		t := newTile(1, vecs)
		at := func(int) Mem { return Mem{Base: y} }
		from := args.Load("from")
		TESTQ(from, from)
		JZ(LabelRef(label + "zero"))
		t.loadRow(y, mask)
		JMP(LabelRef(label + "begun"))
		Label(label + "zero")
		t.Zero()
		Label(label + "begun")
		x, row, k := args.Load("x"), GP64(), args.Load("rows")
		MOVQ(a, row)
		Label(label + "step")
		t.along(Mem{Base: x}, Mem{Base: row}, mask)
		ADDQ(Imm(8), x)
		ADDQ(as, row)
		DECQ(k)
		JNZ(LabelRef(label + "step"))
		t.storeRow(at(0), mask)
		if vecs == most {
			ADDQ(U32(uint64(8*each*vecs)), y)
			ADDQ(U32(uint64(8*each*vecs)), a)
			SUBQ(Imm(uint64(each*vecs)), cols)
			JG(LabelRef("block"))
		}
		JMP(LabelRef("done"))
		Label(label + "none")
	}
	Label("done")
}
