package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"odes.dev/odes/internal/base/simd/_asm/emit"
)

// params are the arguments of the open function.
type params struct{}

func (params) Load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func (params) Float(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// kernel writes one Go function.
func kernel(name, signature, doc string, body func(args emit.Args)) {
	TEXT(name, NOSPLIT, "func"+signature)
	Doc(doc)
	Pragma("noescape")
	body(params{})
	VZEROUPPER()
	RET()
}

// kind names a form: S for operands that are shared or scalar, V for others.
func kind(arity, set int) string {
	if set == 0 {
		return "V"
	}
	s := ""
	for k := range arity {
		s += string("VS"[set>>k&1])
	}
	return s
}

// forms lists the sets of shared operands that leave something to do for each lane.
func forms(op emit.Operation) []int {
	var out []int
	for shared := 1; shared < 1<<op.Arity; shared++ {
		if shared != 1<<op.Arity-1 {
			out = append(out, shared)
		}
	}
	return out
}

func elementwise() {
	for _, op := range emit.Operations {
		in := strings.Join(emit.Operands[:op.Arity], ", ")
		kernel(op.Name+"V", "(out, "+in+" *float64, n int)",
			op.Name+"V is "+op.Name+" of n elements.", op.Along)
		for _, shared := range forms(op) {
			name := op.Name + kind(op.Arity, shared)
			kernel(name, "(out, "+in+" *float64, rows, lanes int)",
				name+" is "+op.Name+" of rows of lanes.",
				func(args emit.Args) { op.AlongRows(args, shared) })
		}
	}
}

func functions(coef emit.Coefficients) {
	for _, fn := range emit.Functions {
		for scalar := range 1<<fn.Arity - 1 {
			name := fn.Name + kind(fn.Arity, scalar)
			TEXT(name, NOSPLIT, fmt.Sprintf("func(out, %s *float64, n int) (done int)",
				strings.Join(emit.Operands[:fn.Arity], ", ")))
			Doc(name + " is " + fn.Name + " of the first done elements: all, or those before a group of four that " +
				"has a lane outside the main path.")
			Pragma("noescape")
			done := fn.Along(params{}, coef, scalar)
			VZEROUPPER()
			Store(done, ReturnIndex(0))
			RET()
		}
	}
	TEXT("longPower", NOSPLIT, "func(out, a *float64, n, m, negative int) (done int)")
	Doc("longPower is the integer power m, or -m, of the first done elements.")
	Pragma("noescape")
	done := emit.LongPower(params{})
	VZEROUPPER()
	Store(done, ReturnIndex(0))
	RET()
}

func reductions() {
	kernel("sumV", "(partial, x *float64, n int)", "sumV adds x[i] to partial[i mod 8].", emit.Sum)
	kernel("dotV", "(partial, x, y *float64, n int)", "dotV adds x[i]·y[i] to partial[i mod 8], fused.", emit.Dot)
	kernel("sumLanes", "(out, x *float64, n, xs, lanes int)",
		"sumLanes sets out[lane] = Σ_i x[i·xs + lane], lanes ≤ 4, in 8 partials.", emit.SumLanes)
	kernel("dotLanes", "(out, x, y *float64, n, xs, ys, lanes int)",
		"dotLanes sets out[lane] = Σ_i x[i·xs + lane]·y[i·ys + lane], lanes ≤ 4, fused, in 8 partials.",
		func(args emit.Args) { emit.DotLanes(args, false) })
	kernel("dotLanesS", "(out, x, y *float64, n, xs, ys, lanes int)",
		"dotLanesS is dotLanes for an x that the lanes share.",
		func(args emit.Args) { emit.DotLanes(args, true) })
	for _, scalar := range []bool{false, true} {
		name := "norm" + kind(1, map[bool]int{true: 1}[scalar])
		TEXT(name, NOSPLIT, "func(square, most, e, y0, y1, abs *float64, rel float64, n int) (bad int)")
		Doc(name + " adds the squares of |e[i]|/sc[i] to square[i mod 8] and takes them into most[0:4]; bad if a " +
			"scale is not finite.")
		Pragma("noescape")
		bad := emit.ScaledSquares(params{}, scalar)
		VZEROUPPER()
		Store(bad, ReturnIndex(0))
		RET()
	}
}

// directions writes the kernels of a power iteration.
func directions() {
	kernel("turn", "(dot, square, most, v, k, f, per *float64, by float64, n int)",
		"turn sets v[i] = (k[i] - f[i])·by and measures it; n is a multiple of four.",
		func(args emit.Args) { emit.Turn(args, true) })
	kernel("measure", "(square, most, v, per *float64, n int)",
		"measure adds (v[i]·per[i])² to square[i mod 4] and takes |v[i]·per[i]| into most; n is a multiple of four.",
		func(args emit.Args) { emit.Turn(args, false) })
	kernel("tolerable", "(size, per, y, f *float64, h, rel, abs float64, n int)",
		"tolerable sets size[i] = abs + rel·max(|y[i]|, |h·f[i]|) and per[i] = 1/size[i]; n is a multiple of four.",
		emit.Tolerable)
	kernel("perturb", "(v, size *float64, by float64, seeds *uint64, n int)",
		"perturb adds pseudo-random numbers in [-by, by) times size[i] to v[i]; n is a multiple of four.",
		emit.Perturb)
	kernel("control", "(factor, e, err, beta, last, before *float64, beta2, beta3, safe, k float64, n int)",
		"control is Control of n elements, a multiple of four.", emit.Control)
}

func combinations() {
	kernel("combine", "(out, base *float64, h float64, c *float64, row *int, terms int, k *float64, stride, n int)",
		"combine sets out[i] = base[i] + h·Σ_j c[j]·k[row[j]·stride + i], fused, the first product rounded.",
		emit.Combine)
	kernel("horner", "(out, theta *float64, base float64, c *float64, terms, stride, n int)",
		"horner sets out[i] = base + theta[i]·Σ_k c[k·stride]·(2theta[i] - 1)^k; n is a multiple of four.",
		func(args emit.Args) { emit.Horner(args, false) })
	kernel("hornerSlopes", "(out, rates, theta *float64, base, h float64, c *float64, terms, stride, n int)",
		"hornerSlopes is horner with the derivatives by theta, over h.",
		func(args emit.Args) { emit.Horner(args, true) })
}

func products() {
	kernel("laneProduct8", "(y, a, z *float64, rows, inner, ys, as, zs, from int)",
		"laneProduct8 sets y[i][lane] (+)= Σ_k a[panel][k][i mod 6]·z[k][lane] for eight lanes.", emit.LaneProduct8)
	kernel("laneProduct4", "(y, a, z *float64, rows, inner, ys, as, zs, from, lanes int)",
		"laneProduct4 is laneProduct8 for at most four lanes.", emit.LaneProduct4)
	for rows := 1; rows <= 4; rows++ {
		name := fmt.Sprintf("rankUpdate%d", rows)
		kernel(name, "(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int)",
			name+" sets to[lane][i][j] (+)= Σ_k y[k·yk + i·yi + lane]·x[panel][k][j mod 12].",
			func(args emit.Args) { emit.RankUpdate(args, rows) })
	}
	kernel("rankUpdateNarrow", "(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int)",
		"rankUpdateNarrow is rankUpdate4 for eight rows and at most four columns.", emit.RankUpdateNarrow)
	kernel("packPanels", "(packed, x *float64, rows, cols, xs int)",
		"packPanels writes packed[panel][k][12] from the rows of x, xs elements apart, zeros beyond cols.",
		emit.PackPanels)
	kernel("matVec", "(y, a, x *float64, rows, cols, as, from int)",
		"matVec sets y[i] (+)= Σ_j a[i·as + j]·x[j].", emit.MatVec)
	kernel("matVecT", "(y, a, x *float64, rows, cols, as, from int)",
		"matVecT sets y[j] (+)= Σ_i a[i·as + j]·x[i].", emit.MatVecT)
	kernel("scatterAdd", "(y *float64, row *int32, a, x *float64, n, first, width, as int)",
		"scatterAdd adds Σ_m a[m·as + q]·x[8m + lane], m < min(width, first + q), to y[8·row[q] + lane].",
		emit.ScatterAdd)
	kernel("takeLane", "(out *float64, row *int32, from, most *float64, n int)",
		"takeLane sets out[q] = from[8·row[q]], and most to the greatest magnitude of these.", emit.TakeLane)
	kernel("pairedDots", "(out *float64, at *int32, x, y *float64, count, n int, h float64)",
		"pairedDots sets out[at.To] = h·Σ_k x[at.X·n + k]·y[at.Y·n + k], fused, the first product rounded.",
		emit.PairedDots)
	kernel("substituteFours", "(w, recip *float64, order, at *int32, values *float64, start *int32, step, count int)",
		"substituteFours sets w[j] = w[j] + Σ v·w[at], or recip (Σ v·w[at] - w[j]), row by row.",
		func(args emit.Args) { emit.SubstituteFours(args, false) })
	kernel("substituteShort",
		"(w, recip *float64, order *int32, at *uint16, values *float32, start *int32, step, count int)",
		"substituteShort is substituteFours with values of single precision and places of 16 bits.",
		func(args emit.Args) { emit.SubstituteFours(args, true) })
	kernel("residualFours", "(r, b, x *float64, at *int32, values *float64, start *int32, limit *float64, count *int)",
		"residualFours sets r[j] = b[j] + Σ v·x[at] until a row is larger than the limits.",
		func(args emit.Args) { emit.ResidualFours(args, false) })
	kernel("residualNeighbours",
		"(r, b, x *float64, at *int32, values *float64, start *int32, limit *float64, count *int)",
		"residualNeighbours is residualFours with fours of elements that follow one another.",
		func(args emit.Args) { emit.ResidualFours(args, true) })
	kernel("eliminateColumn", "(c, own, u, l *float64, updates, start *int32, count int)",
		"eliminateColumn sets u[e] = own[e], and c += l·u[e] for the updates of e, up to four elements each.",
		emit.EliminateColumn)
}

// wide writes the kernels for AVX-512.
func wide() {
	kernel("combineWide", "(out, base *float64, h float64, c *float64, row *int, terms int, k *float64, stride, n int)",
		"combineWide is combine by vectors of eight.", emit.CombineWide)
	kernel("laneProductWide", "(y, a, z *float64, rows, inner, ys, as, zs, from int)",
		"laneProductWide is laneProduct8 by vectors of eight.", emit.LaneProductWide)
	kernel("laneProductTwo", "(y, a, z *float64, rows, inner, ys, as, zs, from, lanes int)",
		"laneProductTwo is laneProduct8 for nine to sixteen lanes, two vectors of eight.", emit.LaneProductTwo)
	kernel("matVecTWide", "(y, a, x *float64, rows, cols, as, from int)",
		"matVecTWide is matVecT by vectors of eight.", emit.MatVecTWide)
	kernel("scatterAddWide", "(y *float64, row *int32, a, x *float64, n, first, width, as int)",
		"scatterAddWide is scatterAdd by vectors of eight.", emit.ScatterAddWide)
	for rows := 1; rows <= 8; rows++ {
		name := fmt.Sprintf("rankUpdateWide%d", rows)
		kernel(name, "(to, y, x *float64, cols, inner, gs, yi, yk, from int)",
			name+" sets to[i][j] (+)= Σ_k y[k·yk + i·yi]·x[panel][k][j mod 12] for that many rows.",
			func(args emit.Args) { emit.RankUpdateWide(args, rows) })
	}
}
