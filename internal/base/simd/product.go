package simd

import "math"

// Products of matrices. Every element is one chain of fused multiply-adds over the inner index in
// its order. It begins with the element of the result if accumulate is set, else with 0. So the
// bits depend neither on how the work is cut into blocks nor on how many products a sum is spread
// over.

const (
	panelRows = 6  // rows of a panel of PackLanes
	panelCols = 12 // columns of a panel of PackPanels

	narrowRows = 8 // rows of a product that is narrow, and its most columns
	narrowCols = 4
)

// LanesSize returns the length of packed in PackLanes.
func LanesSize(rows, inner int) int { return (rows + panelRows - 1) / panelRows * panelRows * inner }

// PackLanes writes the matrix A[rows][inner] for LaneProduct, panel by panel of six rows, with
// zeros below the last row. A[i][k] is a[i·stride + k], or with transposed set a[k·stride + i].
func PackLanes(packed, a []float64, rows, inner, stride int, transposed bool) {
	packed = packed[:LanesSize(rows, inner)]
	ri, rk := stride, 1
	if transposed {
		ri, rk = 1, stride
	}
	for i := 0; i < rows; i += panelRows {
		n := min(panelRows, rows-i)
		for k := range inner {
			to := packed[:panelRows:panelRows]
			packed = packed[panelRows:]
			from := a[i*ri+k*rk:]
			for r := range to {
				to[r] = 0
				if r < n {
					to[r] = from[r*ri]
				}
			}
		}
	}
}

// ColumnsSize returns the length of packed in PackColumns.
func ColumnsSize(rows, inner int) int { return ColumnsStride(rows) * inner }

// ColumnsStride is the distance of the columns that PackColumns writes, in elements.
func ColumnsStride(rows int) int { return (rows + 7) / 8 * 8 }

// PackColumns writes the matrix A[rows][inner] column by column, each followed by zeros up to a
// multiple of eight, so that A·x is MatVecT(y, packed, x, inner, rows, ColumnsStride(rows)).
// A[i][k] is a[i·stride + k], or with transposed set a[k·stride + i].
func PackColumns(packed, a []float64, rows, inner, stride int, transposed bool) {
	packed = packed[:ColumnsSize(rows, inner)]
	ri, rk := stride, 1
	if transposed {
		ri, rk = 1, stride
	}
	step := ColumnsStride(rows)
	for k := range inner {
		to := packed[k*step : (k+1)*step]
		from := a[k*rk:]
		for i := range rows {
			to[i] = from[i*ri]
		}
		clear(to[rows:])
	}
}

// flag turns accumulate into the argument of a kernel.
func flag(accumulate bool) int {
	if accumulate {
		return 1
	}
	return 0
}

// most bounds the multiply-adds of four lanes that one kernel call does.
const most = 1 << 20

// LaneProduct sets y[rows][lanes] (+)= A·z[inner][lanes], with A[rows][inner] packed by PackLanes.
func LaneProduct(y, packed, z []float64, rows, inner, lanes int, accumulate bool) {
	y, packed, z = y[:rows*lanes], packed[:LanesSize(rows, inner)], z[:inner*lanes]
	switch {
	case len(y) == 0:
		return
	case inner == 0:
		if !accumulate {
			clear(y)
		}
		return
	case !useAVX2:
		laneProductGeneric(y, packed, z, rows, inner, lanes, accumulate)
		return
	}
	const deep = 512 // z of eight lanes stays in the first cache
	panel := panelRows * inner
	for k := 0; k < inner; k += deep {
		n := min(deep, inner-k)
		from := flag(accumulate || k > 0)
		step := max(1, most/(2*panelRows*n)) * panelRows
		for i := 0; i < rows; i += step {
			m := min(step, rows-i)
			a := &packed[i*inner+k*panelRows]
			l := 0
			for ; useAVX512 && l+8 <= lanes; l += 8 {
				if two := lanes - l; two > 8 && two < 16 {
					laneProductTwo(&y[i*lanes+l], a, &z[k*lanes+l], m, n, lanes, panel, lanes, from, two)
					l = lanes
					break
				}
				laneProductWide(&y[i*lanes+l], a, &z[k*lanes+l], m, n, lanes, panel, lanes, from)
			}
			for ; l+8 <= lanes; l += 8 {
				laneProduct8(&y[i*lanes+l], a, &z[k*lanes+l], m, n, lanes, panel, lanes, from)
			}
			for ; l < lanes; l += 4 {
				laneProduct4(&y[i*lanes+l], a, &z[k*lanes+l], m, n, lanes, panel, lanes, from, min(4, lanes-l))
			}
		}
	}
}

func laneProductGeneric(y, packed, z []float64, rows, inner, lanes int, accumulate bool) {
	if !accumulate {
		clear(y)
	}
	for i := range rows {
		a := packed[i/panelRows*panelRows*inner+i%panelRows:]
		row := y[i*lanes : (i+1)*lanes]
		l := 0
		for ; l+4 <= lanes; l += 4 {
			s := row[l:][:4:4]
			s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
			for k := range inner {
				c, v := a[k*panelRows], z[k*lanes+l:][:4:4]
				s0 = math.FMA(c, v[0], s0)
				s1 = math.FMA(c, v[1], s1)
				s2 = math.FMA(c, v[2], s2)
				s3 = math.FMA(c, v[3], s3)
			}
			s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		}
		for ; l < lanes; l++ {
			s := row[l]
			for k := range inner {
				s = math.FMA(a[k*panelRows], z[k*lanes+l], s)
			}
			row[l] = s
		}
	}
}

// PanelsSize returns the length of packed in PackPanels.
func PanelsSize(inner, cols int) int { return (cols + panelCols - 1) / panelCols * panelCols * inner }

// PackPanels writes the matrix X[inner][cols] for RankUpdate, panel by panel of twelve columns,
// with zeros right of the last column. X[k][j] is x[k·stride + j], or with transposed set
// x[j·stride + k].
func PackPanels(packed, x []float64, inner, cols, stride int, transposed bool) {
	packed = packed[:PanelsSize(inner, cols)]
	if len(packed) == 0 {
		return
	}
	if useAVX2 && !transposed && inner <= most/panelCols {
		_ = x[(inner-1)*stride+cols-1]
		step := max(1, chunk/inner/panelCols) * panelCols
		for j := 0; j < cols; j += step {
			packPanels(&packed[j*inner], &x[j], inner, min(step, cols-j), stride)
		}
		return
	}
	for j := 0; j < cols; j += panelCols {
		n, panel := min(panelCols, cols-j), packed[:panelCols*inner]
		packed = packed[panelCols*inner:]
		if n < panelCols {
			clear(panel)
		}
		if transposed {
			packTransposed(panel, x[j*stride:], inner, n, stride)
			continue
		}
		for k := range inner {
			copy(panel[k*panelCols:], x[k*stride+j:][:n])
		}
	}
}

// packTransposed writes the first n columns of a panel from as many rows of x, four at a time.
func packTransposed(panel, x []float64, inner, n, stride int) {
	row := func(c int) []float64 { return x[c*stride:][:inner] }
	c := 0
	for ; c+4 <= n; c += 4 {
		r0, r1, r2, r3 := row(c), row(c+1), row(c+2), row(c+3)
		for k, v := range r0 {
			to := panel[k*panelCols+c:][:4:4]
			to[0], to[1], to[2], to[3] = v, r1[k], r2[k], r3[k]
		}
	}
	for ; c < n; c++ {
		for k, v := range row(c) {
			panel[k*panelCols+c] = v
		}
	}
}

// Update says what RankUpdate adds up: for lanes l < Lanes, rows i < Rows and
// columns j < Cols,
//
//	g[l·LaneG + i·RowG + j] (+)= Σ_{k < Inner} y[k·StepY + i·RowY + l]·X[k][j].
type Update struct {
	Rows, Cols, Inner, Lanes int
	LaneG, RowG              int
	StepY, RowY              int
}

// RankUpdate adds Inner outer products to the matrix of each lane, with
// X[Inner][Cols] packed by PackPanels.
func RankUpdate(u *Update, g, y, packed []float64, accumulate bool) {
	if u.Rows <= 0 || u.Cols <= 0 || u.Lanes <= 0 {
		return
	}
	_ = g[(u.Lanes-1)*u.LaneG+(u.Rows-1)*u.RowG+u.Cols-1]
	if u.Inner <= 0 {
		if !accumulate {
			for l := range u.Lanes {
				for i := range u.Rows {
					clear(g[l*u.LaneG+i*u.RowG:][:u.Cols])
				}
			}
		}
		return
	}
	_ = y[(u.Inner-1)*u.StepY+(u.Rows-1)*u.RowY+u.Lanes-1]
	packed = packed[:PanelsSize(u.Inner, u.Cols)]
	if !useAVX2 || u.Inner > most/panelCols {
		rankUpdateGeneric(u, g, y, packed, accumulate)
		return
	}
	from := flag(accumulate)
	cols := max(1, most/(panelCols*u.Inner)) * panelCols // columns of one call
	lanes := max(1, most/(min(cols, u.Cols)*u.Inner))
	if useAVX512 {
		rankUpdateWide(u, g, y, packed, from)
		return
	}
	// The last columns of eight rows keep the processor as busy as three vectors of four rows do.
	narrow := u.Cols % panelCols
	if narrow > narrowCols {
		narrow = 0
	}
	for i := 0; i < u.Rows; i += 4 {
		width := u.Cols
		if i < u.Rows/narrowRows*narrowRows {
			width -= narrow
		}
		for l := 0; l < u.Lanes; l += lanes {
			n := min(lanes, u.Lanes-l)
			if j := width; j < u.Cols && i%narrowRows == 0 {
				rankUpdateNarrow(&g[l*u.LaneG+i*u.RowG+j], &y[i*u.RowY+l], &packed[j*u.Inner],
					narrow, u.Inner, n, u.RowG, u.LaneG, u.RowY, u.StepY, from)
			}
			for j := 0; j < width; j += cols {
				to, left, x := &g[l*u.LaneG+i*u.RowG+j], &y[i*u.RowY+l], &packed[j*u.Inner]
				m := min(cols, width-j)
				switch u.Rows - i {
				default:
					rankUpdate4(to, left, x, m, u.Inner, n, u.RowG, u.LaneG, u.RowY, u.StepY, from)
				case 3:
					rankUpdate3(to, left, x, m, u.Inner, n, u.RowG, u.LaneG, u.RowY, u.StepY, from)
				case 2:
					rankUpdate2(to, left, x, m, u.Inner, n, u.RowG, u.LaneG, u.RowY, u.StepY, from)
				case 1:
					rankUpdate1(to, left, x, m, u.Inner, n, u.RowG, u.LaneG, u.RowY, u.StepY, from)
				}
			}
		}
	}
}

// rankUpdateWide is RankUpdate by vectors of eight, eight rows at a time. Four need twice the reading of X for each
// addition. Where additions are no faster than with vectors of four there is time for that, and less waits for the end
// of a block.
func rankUpdateWide(u *Update, g, y, packed []float64, from int) {
	const pair = 2 * panelCols
	step := max(1, most/(2*pair*u.Inner)) * pair
	rows := 8
	if u.Rows*u.Cols*u.Inner >= 1<<14 && halved() {
		rows = 4
	}
	for i := 0; i < u.Rows; i += rows {
		for l := range u.Lanes {
			for j := 0; j < u.Cols; j += step {
				to, left, x, n := &g[l*u.LaneG+i*u.RowG+j], &y[i*u.RowY+l], &packed[j*u.Inner], min(step, u.Cols-j)
				switch min(rows, u.Rows-i) {
				default:
					rankUpdateWide8(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 7:
					rankUpdateWide7(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 6:
					rankUpdateWide6(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 5:
					rankUpdateWide5(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 4:
					rankUpdateWide4(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 3:
					rankUpdateWide3(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 2:
					rankUpdateWide2(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				case 1:
					rankUpdateWide1(to, left, x, n, u.Inner, u.RowG, u.RowY, u.StepY, from)
				}
			}
		}
	}
}

func rankUpdateGeneric(u *Update, g, y, packed []float64, accumulate bool) {
	for l := range u.Lanes {
		for i := range u.Rows {
			row := g[l*u.LaneG+i*u.RowG:][:u.Cols]
			if !accumulate {
				clear(row)
			}
			for j := 0; j < u.Cols; j += panelCols {
				to := row[j:min(j+panelCols, u.Cols)]
				x := packed[j*u.Inner:]
				for k := range u.Inner {
					s, v := y[k*u.StepY+i*u.RowY+l], x[k*panelCols:][:len(to)]
					for c, w := range v {
						to[c] = math.FMA(s, w, to[c])
					}
				}
			}
		}
	}
}

// MatMulWork returns the length of work in MatMul.
func MatMulWork(inner, cols int) int {
	return PanelsSize(min(inner, blockInner), min(cols, blockCols))
}

// Blocks of MatMul: panels of one block stay in the second cache.
const (
	blockInner = 256
	blockCols  = 20 * panelCols
)

// MatMul sets C[rows][cols] (+)= op(A)·op(B), all row-major with the given strides of rows. Here
// op(A)[i][k] is a[i·as + k], or a[k·as + i] with ta set, and op(B)[k][j] is b[k·bs + j], or b[j·bs
// + k] with tb set. C overlaps neither operand.
func MatMul(c, a, b []float64, rows, inner, cols, cs, as, bs int, ta, tb, accumulate bool, work []float64) {
	work = work[:MatMulWork(inner, cols)]
	u := Update{Rows: rows, Lanes: 1, RowG: cs, StepY: 1, RowY: as}
	if ta {
		u.StepY, u.RowY = as, 1
	}
	bk, bj := bs, 1
	if tb {
		bk, bj = 1, bs
	}
	for j := 0; j < cols; j += blockCols {
		u.Cols = min(blockCols, cols-j)
		for k := 0; k == 0 || k < inner; k += blockInner {
			u.Inner = min(blockInner, inner-k)
			if u.Inner > 0 {
				PackPanels(work, b[k*bk+j*bj:], u.Inner, u.Cols, bs, tb)
			}
			RankUpdate(&u, c[j:], a[min(k*u.StepY, len(a)):], work, accumulate || k > 0)
		}
	}
}

// MatVec sets y[rows] (+)= A·x[cols], A[i][j] = a[i·stride + j].
func MatVec(y, a, x []float64, rows, cols, stride int, accumulate bool) {
	y, x = y[:rows], x[:cols]
	if rows == 0 || cols == 0 {
		if !accumulate {
			clear(y)
		}
		return
	}
	_ = a[(rows-1)*stride+cols-1]
	if !useAVX2 {
		matVecGeneric(y, a, x, stride, 1, accumulate)
		return
	}
	const wide = 1 << 14
	for j := 0; j < cols; j += wide {
		n := min(wide, cols-j)
		from := flag(accumulate || j > 0)
		step := max(1, most/(16*n)) * 16
		for i := 0; i < rows; i += step {
			matVec(&y[i], &a[i*stride+j], &x[j], min(step, rows-i), n, stride, from)
		}
	}
}

// MatVecT sets y[cols] (+)= Aᵀ·x[rows], A[i][j] = a[i·stride + j].
func MatVecT(y, a, x []float64, rows, cols, stride int, accumulate bool) {
	y, x = y[:cols], x[:rows]
	if rows == 0 || cols == 0 {
		if !accumulate {
			clear(y)
		}
		return
	}
	_ = a[(rows-1)*stride+cols-1]
	if !useAVX2 {
		matVecGeneric(y, a, x, 1, stride, accumulate)
		return
	}
	const tall = 1 << 14
	for i := 0; i < rows; i += tall {
		n := min(tall, rows-i)
		from := flag(accumulate || i > 0)
		step := max(1, most/(384*n)) * 384 // whole blocks of either kernel
		for j := 0; j < cols; j += step {
			if m := min(step, cols-j); useAVX512 {
				matVecTWide(&y[j], &a[i*stride+j], &x[i], n, m, stride, from)
			} else {
				matVecT(&y[j], &a[i*stride+j], &x[i], n, m, stride, from)
			}
		}
	}
}

// ScatterAdd adds A·x[width][8] to the rows of y[][8] that row names, all different, one after the other. Row q of A is
// a[q], a[stride + q], …: first of these for row 0, one more for each row after it, and at most width. So y may be x
// itself, as in a triangular solve, where rows that have all terms lie behind x. The rows must lie in y.
func ScatterAdd(y []float64, row []int32, a, x []float64, first, width, stride int) {
	n := len(row)
	if n == 0 || width == 0 {
		return
	}
	first = min(first, width)
	_, x = a[(min(width, first+n-1)-1)*stride+n-1], x[:8*width]
	if useAVX2 {
		for step := max(1, most/(2*width)); n > 0; n -= step {
			if useAVX512 {
				scatterAddWide(&y[0], &row[0], &a[0], &x[0], min(step, n), first, width, stride)
			} else {
				scatterAdd(&y[0], &row[0], &a[0], &x[0], min(step, n), first, width, stride)
			}
			if n <= step {
				return
			}
			row, a, first = row[step:], a[step:], min(first+step, width)
		}
	}
	for q, i := range row {
		to := (*[8]float64)(y[8*int(i):])
		for m := range min(width, first+q) {
			v := a[m*stride+q]
			for l, w := range (*[8]float64)(x[8*m:]) {
				to[l] = math.FMA(v, w, to[l])
			}
		}
	}
}

// TakeLane sets out[q] = from[8·row[q]] for all rows, and returns the greatest magnitude of these that is a number; 0
// for none. The rows must lie in from, whose first element is the lane of row 0.
func TakeLane(out []float64, row []int32, from []float64) (most float64) {
	n := len(row)
	if n == 0 {
		return 0
	}
	out = out[:n]
	if useAVX2 {
		takeLane(&out[0], &row[0], &from[0], &most, n)
		return most
	}
	for q, i := range row {
		v := from[8*int(i)]
		out[q] = v
		if v := math.Abs(v); v > most {
			most = v
		}
	}
	return most
}

// Place names an element of a result and the rows that it is made of.
type Place struct{ To, X, Y int32 }

// PairedDots sets out[at.To] = h Σ_k x[at.X][k]·y[at.Y][k] + 0 for all places, where x and y have rows of n ≥ 1
// elements. The sum is one chain of fused multiply-adds that begins with the rounded product of the first elements. The
// places must lie in the vectors.
func PairedDots(out []float64, at []Place, x, y []float64, n int, h float64) {
	if useAVX2 {
		for step := max(1, most/(4*n)); len(at) > 0; at = at[min(step, len(at)):] {
			pairedDots(&out[0], &at[0].To, &x[0], &y[0], min(step, len(at)), n, h)
		}
		return
	}
	for _, p := range at {
		a, b := x[int(p.X)*n:][:n], y[int(p.Y)*n:][:n]
		sum := float64(a[0] * b[0])
		for k := 1; k < n; k++ {
			sum = math.FMA(a[k], b[k], sum)
		}
		out[p.To] = math.FMA(h, sum, 0)
	}
}

// matVecGeneric sets y[i] (+)= Σ_k a[i·ri + k·rk]·x[k].
func matVecGeneric(y, a, x []float64, ri, rk int, accumulate bool) {
	if !accumulate {
		clear(y)
	}
	if ri == 1 { // along the rows of a, which are the inner index
		for k, v := range x {
			row := a[k*rk:][:len(y)]
			for i, w := range row {
				y[i] = math.FMA(w, v, y[i])
			}
		}
		return
	}
	i := 0
	for ; i+4 <= len(y); i += 4 {
		r0, r1, r2, r3 := a[i*ri:][:len(x)], a[(i+1)*ri:][:len(x)], a[(i+2)*ri:][:len(x)], a[(i+3)*ri:][:len(x)]
		s0, s1, s2, s3 := y[i], y[i+1], y[i+2], y[i+3]
		for k, v := range x {
			s0 = math.FMA(r0[k], v, s0)
			s1 = math.FMA(r1[k], v, s1)
			s2 = math.FMA(r2[k], v, s2)
			s3 = math.FMA(r3[k], v, s3)
		}
		y[i], y[i+1], y[i+2], y[i+3] = s0, s1, s2, s3
	}
	for ; i < len(y); i++ {
		s := y[i]
		for k, v := range x {
			s = math.FMA(a[i*ri+k], v, s)
		}
		y[i] = s
	}
}
