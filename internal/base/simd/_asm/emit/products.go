package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// begin starts a tile from memory, or from zero where the argument from is 0. Then it asks for that many lines of each
// row while sums are made: where the result is larger than the caches, stores would wait for them.
func begin(args Args, t *Tile, at func(int) Mem, masks []reg.VecVirtual, label string, lines int) {
	from := args.Load("from")
	TESTQ(from, from)
	JZ(LabelRef(label + "zero"))
	t.Load(at, masks)
	JMP(LabelRef(label + "begun"))
	Label(label + "zero")
	t.Zero()
	for r := range t.acc {
		for i := range lines {
			PREFETCHT0(at(r).Offset(64 * i))
		}
	}
	Label(label + "begun")
}

// laneRows is the number of rows of a panel of a matrix packed for lanes.
const laneRows = 6

// LaneProduct8 is y[i][lane] (+)= Σ_k a[panel][k][i mod 6]·z[k][lane] for i < rows,
// k < inner and eight lanes: arguments y, a, z, rows, inner, the strides ys and zs
// of rows of y and z and as of panels of a, in elements, and from, which is 0 to
// start from zero.
func LaneProduct8(args Args) {
	laneProduct(args, 1, "", func(n int, y, a reg.Register, label string) { laneTile(args, n, 2, y, a, nil, label) })
}

// LaneProduct4 is LaneProduct8 for the first lanes ≤ 4 lanes.
func LaneProduct4(args Args) {
	mask := YMM()
	Mask(args.Load("lanes"), mask)
	laneProduct(args, 2, "", func(n int, y, a reg.Register, label string) { laneTile(args, n, 1, y, a, &mask, label) })
}

// laneProduct writes the panels. Several are done at once where one has too few chains. Labels begin with label.
func laneProduct(args Args, panels int, label string, tile func(n int, y, a reg.Register, label string)) {
	p, done := pointers(args, "y", "a"), label+"done"
	y, a := p[0], p[1]
	rows := args.Load("rows")
	for n := panels * laneRows; n > 0; n-- {
		label := fmt.Sprintf("%srows%d", label, n)
		Label(label)
		CMPQ(rows, Imm(uint64(n)))
		JL(LabelRef(label + "none"))
		tile(n, y, a, label)
		SUBQ(Imm(uint64(n)), rows)
		if n == panels*laneRows {
			JMP(LabelRef(label))
		} else {
			JMP(LabelRef(done))
		}
		Label(label + "none")
	}
	Label(done)
}

// laneTile computes n rows and advances y and a.
func laneTile(args Args, n, vecs int, y, a reg.Register, mask *reg.VecVirtual, label string) {
	var masks []reg.VecVirtual
	if mask != nil {
		masks = []reg.VecVirtual{*mask}
	}
	t := NewTile(n, vecs)
	laneRowsOf(args, t, n, y, a, masks, label, func(scalar func(int) Mem, z Mem) { t.Step(scalar, z, mask) })
}

// laneRowsOf computes the n rows of tile t and advances y and a.
func laneRowsOf(args Args, t *Tile, n int, y, a reg.Register, masks []reg.VecVirtual, label string,
	add func(scalar func(int) Mem, z Mem),
) {
	ys := bytes(args, "ys")
	at := GP64()
	MOVQ(y, at)
	out := NewRows(at, ys, n)
	begin(args, t, out.At, masks, label, 0)
	z, zs, k := args.Load("z"), bytes(args, "zs"), args.Load("inner")
	as := bytes(args, "as")
	front := GP64()
	MOVQ(a, front)
	second := GP64()
	if n > laneRows {
		LEAQ(Mem{Base: a, Index: as, Scale: 1}, second)
	}
	Label(label + "step")
	add(func(r int) Mem {
		if r >= laneRows {
			return Mem{Base: second, Disp: 8 * (r - laneRows)}
		}
		return Mem{Base: front, Disp: 8 * r}
	}, Mem{Base: z})
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

// RankUpdate is to[lane][i][j] (+)= Σ_k y[k·yk + i·yi + lane]·x[panel][k][j mod 12]
// for i < rows ≤ 4, j < cols, k < inner: arguments to, y, x, cols, inner, lanes, the
// strides gs of rows and gl of lanes of to, yi and yk, in elements, and from,
// which is 0 to start from zero.
func RankUpdate(args Args, rows int) {
	p := pointers(args, "to", "y")
	g, y := p[0], p[1]
	gs, yi, yk := bytes(args, "gs"), bytes(args, "yi"), bytes(args, "yk")
	lanes := args.Load("lanes")
	Label("lane")
	x, left := args.Load("x"), args.Load("cols")
	at := GP64()
	MOVQ(g, at)
	dst := NewRows(at, gs, rows)
	tile := func(label string, vecs int, masks func() []reg.VecVirtual) {
		t := NewTile(rows, vecs)
		begin(args, t, dst.At, masks(), label, (vecs+1)/2)
		k := args.Load("inner")
		yAt := GP64()
		MOVQ(y, yAt)
		src := NewRows(yAt, yi, rows)
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
	tile("panel", updateCols/4, func() []reg.VecVirtual { return nil })
	dst.Advance(Imm(8 * updateCols))
	SUBQ(Imm(updateCols), left)
	JGE(LabelRef("panel"))
	Label("short")
	ADDQ(Imm(updateCols), left)
	JZ(LabelRef("next"))
	for _, part := range []struct {
		vecs  int
		label string
	}{{3, "three"}, {2, "two"}, {1, "one"}} {
		fewer := part.label + "fewer"
		if part.vecs > 1 {
			CMPQ(left, Imm(uint64(4*part.vecs-4)))
			JLE(LabelRef(fewer))
		}
		tile(part.label, part.vecs, func() []reg.VecVirtual { return masks(left, part.vecs) })
		if part.vecs > 1 {
			JMP(LabelRef("next"))
			Label(fewer)
		}
	}
	Label("next")
	gl := bytes(args, "gl")
	ADDQ(gl, g)
	ADDQ(Imm(8), y)
	DECQ(lanes)
	JNZ(LabelRef("lane"))
}

// RankUpdateNarrow is RankUpdate for eight rows and up to four columns.
func RankUpdateNarrow(args Args) {
	const rows = 8
	mask := YMM()
	Mask(args.Load("cols"), mask)
	p := pointers(args, "to", "y")
	g, y, lanes := p[0], p[1], args.Load("lanes")
	rowsAt := func(p reg.Register, stride string) *Rows {
		at := GP64()
		MOVQ(p, at)
		return NewRows(at, bytes(args, stride), rows)
	}
	Label("lane")
	t := NewTile(rows, 1)
	begin(args, t, rowsAt(g, "gs").At, []reg.VecVirtual{mask}, "lane", 1)
	x, k, yk := args.Load("x"), args.Load("inner"), bytes(args, "yk")
	src := rowsAt(y, "yi")
	Label("step")
	t.Step(src.At, Mem{Base: x}, nil)
	ADDQ(Imm(8*updateCols), x)
	src.Advance(yk)
	DECQ(k)
	JNZ(LabelRef("step"))
	t.Store(rowsAt(g, "gs").At, []reg.VecVirtual{mask})
	gl := bytes(args, "gl")
	ADDQ(gl, g)
	ADDQ(Imm(8), y)
	DECQ(lanes)
	JNZ(LabelRef("lane"))
}

// masks are those of the first left ≤ 4·vecs elements.
func masks(left reg.GPVirtual, vecs int) []reg.VecVirtual {
	masks := make([]reg.VecVirtual, vecs)
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
		Mask(n, masks[v])
	}
	return masks
}

// PackPanels writes packed[panel][k][12] from x[rows][cols], whose rows are xs
// elements apart, with zeros beyond cols: arguments packed, x, rows, cols, xs.
func PackPanels(args Args) {
	p := pointers(args, "packed", "x")
	to, x := p[0], p[1]
	left, xs := args.Load("cols"), bytes(args, "xs")
	move := func(label string, masks []reg.VecVirtual) {
		row, k := GP64(), args.Load("rows")
		MOVQ(x, row)
		Label(label + "row")
		for v := range 3 {
			r := YMM()
			if m := (Mem{Base: row, Disp: 32 * v}); masks == nil {
				VMOVUPD(m, r)
			} else {
				LoadMasked(m, masks[v], r)
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
	move("short", masks(left, 3))
	Label("done")
}

// ScatterAdd is y[8·row[q] + lane] += Σ_m a[m·as + q]·x[8m + lane] for q < n and m < min(width, first + q), in eight
// lanes: arguments y, row, a, x, n, first, width and as. The rows are numbers of 32 bits.
func ScatterAdd(args Args) { scatterAdd(args, func() reg.VecVirtual { return YMM() }, 2) }

// scatterAdd is ScatterAdd with a number of vectors. Rows that have all terms are done four at a time.
func scatterAdd(args Args, vector func() reg.VecVirtual, vectors int) {
	p := pointers(args, "y", "row", "a", "x")
	y, row, a, x := p[0], p[1], p[2], p[3]
	n, terms, as := args.Load("n"), args.Load("first"), bytes(args, "as")
	width := args.Load("width")
	Label("begin")
	CMPQ(terms, width)
	JNE(LabelRef("row"))
	Label("four")
	SUBQ(Imm(4), n)
	JL(LabelRef("few"))
	scatterAddFour(y, row, a, x, terms, as, vector, vectors)
	MOVQ(width, terms)
	ADDQ(Imm(32), a)
	ADDQ(Imm(16), row)
	JMP(LabelRef("four"))
	Label("few")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	Label("row")
	to := GP64()
	MOVLQSX(Mem{Base: row}, to)
	SHLQ(Imm(6), to)
	ADDQ(y, to)
	sum := make([]reg.VecVirtual, vectors)
	for v := range sum {
		sum[v] = vector()
		VMOVUPD(Mem{Base: to, Disp: 32 * v}, sum[v])
	}
	coefficient, from, left := GP64(), GP64(), GP64()
	MOVQ(a, coefficient)
	MOVQ(x, from)
	MOVQ(terms, left)
	Label("term")
	s := vector()
	VBROADCASTSD(Mem{Base: coefficient}, s)
	for v, sum := range sum {
		VFMADD231PD(Mem{Base: from, Disp: 32 * v}, s, sum)
	}
	ADDQ(as, coefficient)
	ADDQ(Imm(64), from)
	DECQ(left)
	JNZ(LabelRef("term"))
	for v, sum := range sum {
		VMOVUPD(sum, Mem{Base: to, Disp: 32 * v})
	}
	ADDQ(Imm(8), a)
	ADDQ(Imm(4), row)
	CMPQ(terms, width)
	ADCQ(Imm(0), terms) // one more while they are fewer
	DECQ(n)
	JZ(LabelRef("done"))
	CMPQ(n, Imm(4))
	JGE(LabelRef("begin"))
	JMP(LabelRef("row"))
	Label("done")
}

// scatterAddFour is scatterAdd for four rows. It counts terms down to zero.
func scatterAddFour(
	y, row, a, x, terms, as reg.Register, vector func() reg.VecVirtual, vectors int,
) {
	var to [4]reg.GPVirtual
	var sum [4][]reg.VecVirtual
	for r := range to {
		to[r] = GP64()
		MOVLQSX(Mem{Base: row, Disp: 4 * r}, to[r])
		SHLQ(Imm(6), to[r])
		ADDQ(y, to[r])
		for v := range vectors {
			sum[r] = append(sum[r], vector())
			VMOVUPD(Mem{Base: to[r], Disp: 32 * v}, sum[r][v])
		}
	}
	coefficient, from := GP64(), GP64()
	MOVQ(a, coefficient)
	MOVQ(x, from)
	Label("fourterms")
	in := make([]reg.VecVirtual, vectors)
	for v := range in {
		in[v] = vector()
		VMOVUPD(Mem{Base: from, Disp: 32 * v}, in[v])
	}
	for r := range sum {
		if at := (Mem{Base: coefficient, Disp: 8 * r}); vectors == 1 {
			VFMADD231PD_BCST(at, in[0], sum[r][0])
		} else {
			s := vector()
			VBROADCASTSD(at, s)
			for v := range in {
				VFMADD231PD(in[v], s, sum[r][v])
			}
		}
	}
	ADDQ(as, coefficient)
	ADDQ(Imm(64), from)
	DECQ(terms)
	JNZ(LabelRef("fourterms"))
	for r := range sum {
		for v := range vectors {
			VMOVUPD(sum[r][v], Mem{Base: to[r], Disp: 32 * v})
		}
	}
}

// TakeLane is out[q] = from[8·row[q]] for q < n, n > 0; most is the greatest magnitude: arguments out, row, from, most
// and n. Magnitudes go two side by side.
func TakeLane(args Args) {
	p := pointers(args, "out", "row", "from", "most")
	out, row, from := p[0], p[1], p[2]
	n := args.Load("n")
	mask := XMM()
	VPCMPEQD(mask, mask, mask)
	VPSRLQ(Imm(1), mask, mask)
	most := [2]reg.VecVirtual{XMM(), XMM()}
	for _, most := range most {
		VXORPD(most, most, most)
	}
	take := func(k int) {
		at, v := GP64(), XMM()
		MOVLQSX(Mem{Base: row, Disp: 4 * k}, at)
		SHLQ(Imm(6), at)
		VMOVSD(Mem{Base: from, Index: at, Scale: 1}, v)
		VMOVSD(v, Mem{Base: out, Disp: 8 * k})
		VANDPD(mask, v, v)
		VMAXSD(most[k], v, most[k]) // what is no number is left out
	}
	JMP(LabelRef("next"))
	Label("two")
	take(0)
	take(1)
	ADDQ(Imm(8), row)
	ADDQ(Imm(16), out)
	Label("next")
	SUBQ(Imm(2), n)
	JGE(LabelRef("two"))
	ADDQ(Imm(2), n)
	JZ(LabelRef("done"))
	take(0)
	Label("done")
	VMAXSD(most[0], most[1], most[0])
	VMOVSD(most[0], Mem{Base: p[3]})
}

// PairedDots is out[at.To] = h Σ_k x[at.X·n + k]·y[at.Y·n + k] for a number of places, each a chain: arguments out, at,
// x, y, count, n and h. Two go side by side.
func PairedDots(args Args) {
	p := pointers(args, "out", "at", "x", "y")
	out, at, x, y := p[0], p[1], p[2], p[3]
	count, n := args.Load("count"), bytes(args, "n")
	h, none := XMM(), XMM()
	VMOVSD(args.Float("h"), h)
	VXORPD(none, none, none)
	dots := func(label string, number int) {
		var a, b [2]reg.GPVirtual
		var sum [2]reg.VecVirtual
		for r := range number {
			a[r], b[r], sum[r] = GP64(), GP64(), XMM()
			MOVLQSX(Mem{Base: at, Disp: 12*r + 4}, a[r])
			IMULQ(n, a[r])
			ADDQ(x, a[r])
			MOVLQSX(Mem{Base: at, Disp: 12*r + 8}, b[r])
			IMULQ(n, b[r])
			ADDQ(y, b[r])
			VMOVSD(Mem{Base: a[r]}, sum[r])
			VMULSD(Mem{Base: b[r]}, sum[r], sum[r])
		}
		k := GP64()
		MOVQ(I32(8), k)
		JMP(LabelRef(label + "begun"))
		Label(label + "term")
		for r := range number {
			v := XMM()
			VMOVSD(Mem{Base: a[r], Index: k, Scale: 1}, v)
			VFMADD231SD(Mem{Base: b[r], Index: k, Scale: 1}, v, sum[r])
		}
		ADDQ(Imm(8), k)
		Label(label + "begun")
		CMPQ(k, n)
		JLT(LabelRef(label + "term"))
		for r := range number {
			VFMADD213SD(none, h, sum[r])
			MOVLQSX(Mem{Base: at, Disp: 12 * r}, a[r])
			VMOVSD(sum[r], Mem{Base: out, Index: a[r], Scale: 8})
		}
	}
	JMP(LabelRef("next"))
	Label("two")
	dots("two", 2)
	ADDQ(Imm(24), at)
	Label("next")
	SUBQ(Imm(2), count)
	JGE(LabelRef("two"))
	ADDQ(Imm(2), count)
	JZ(LabelRef("done"))
	dots("one", 1)
	Label("done")
}
