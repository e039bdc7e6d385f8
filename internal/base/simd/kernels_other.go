//go:build !amd64 || purego

package simd

const supported, supported512 = false, false

// useAVX2, useAVX512 and useNative are always false in this build.
var useAVX2, useAVX512, useNative = false, false, false

const noKernels = "simd: there are no kernels in this build"

func unaryKernel(op Op, out, a *float64, n int) int                    { panic(noKernels) }
func binaryKernel(op Op, scalar Shared, out, a, b *float64, n int) int { panic(noKernels) }
func ternaryKernel(op Op, out, a, b, c *float64, n int) bool           { panic(noKernels) }
func binaryRowsKernel(op Op, shared Shared, out, a, b *float64, rows, lanes int) bool {
	panic(noKernels)
}

func ternaryRowsKernel(op Op, shared Shared, out, a, b, c *float64, rows, lanes int) bool {
	panic(noKernels)
}
func longPower(out, a *float64, n, m, negative int) int { panic(noKernels) }

func sumV(partial, x *float64, n int)                    { panic(noKernels) }
func dotV(partial, x, y *float64, n int)                 { panic(noKernels) }
func sumLanes(out, x *float64, n, xs, lanes int)         { panic(noKernels) }
func dotLanes(out, x, y *float64, n, xs, ys, lanes int)  { panic(noKernels) }
func dotLanesS(out, x, y *float64, n, xs, ys, lanes int) { panic(noKernels) }
func combine(out, base *float64, h float64, c *float64, row *int, terms int, k *float64, stride, n int) {
	panic(noKernels)
}

func horner(out, theta *float64, base float64, c *float64, terms, stride, n int) { panic(noKernels) }

func hornerSlopes(out, rates, theta *float64, base, h float64, c *float64, terms, stride, n int) {
	panic(noKernels)
}

func normV(square, most, e, y0, y1, abs *float64, rel float64, n int) int { panic(noKernels) }
func normS(square, most, e, y0, y1, abs *float64, rel float64, n int) int { panic(noKernels) }
func turn(dot, square, most, v, k, f, per *float64, by float64, n int)    { panic(noKernels) }
func measure(square, most, v, per *float64, n int)                        { panic(noKernels) }
func tolerable(size, per, y, f *float64, h, rel, abs float64, n int)      { panic(noKernels) }
func perturb(v, size *float64, by float64, seeds *uint64, n int)          { panic(noKernels) }
func control(factor, e, err, beta, last, before *float64, beta2, beta3, safe, k float64, n int) {
	panic(noKernels)
}
func laneProduct8(y, a, z *float64, rows, inner, ys, as, zs, from int)        { panic(noKernels) }
func laneProduct4(y, a, z *float64, rows, inner, ys, as, zs, from, lanes int) { panic(noKernels) }
func rankUpdate1(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdate2(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdate3(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdate4(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateNarrow(to, y, x *float64, cols, inner, lanes, gs, gl, yi, yk, from int) {
	panic(noKernels)
}

func packPanels(packed, x *float64, rows, cols, xs int) { panic(noKernels) }

func matVec(y, a, x *float64, rows, cols, as, from int) { panic(noKernels) }

func matVecT(y, a, x *float64, rows, cols, as, from int) { panic(noKernels) }

func takeLane(out *float64, row *int32, from, most *float64, n int) { panic(noKernels) }

func pairedDots(out *float64, at *int32, x, y *float64, count, n int, h float64) { panic(noKernels) }

func scatterAddWide(y *float64, row *int32, a, x *float64, n, first, width, as int) { panic(noKernels) }

func scatterAdd(y *float64, row *int32, a, x *float64, n, first, width, as int) { panic(noKernels) }

func combineWide(out, base *float64, h float64, c *float64, row *int, terms int, k *float64, stride, n int) {
	panic(noKernels)
}

func laneProductWide(y, a, z *float64, rows, inner, ys, as, zs, from int) {
	panic(noKernels)
}

func laneProductTwo(y, a, z *float64, rows, inner, ys, as, zs, from, lanes int) {
	panic(noKernels)
}
func matVecTWide(y, a, x *float64, rows, cols, as, from int) { panic(noKernels) }
func rankUpdateWide1(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide2(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide3(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide4(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide5(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide6(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide7(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func rankUpdateWide8(to, y, x *float64, cols, inner, gs, yi, yk, from int) {
	panic(noKernels)
}

func substituteFours(w, recip *float64, order, at *int32, values *float64, start *int32, step, count int) {
	panic(noKernels)
}

func substituteShort(
	w, recip *float64, order *int32, at *uint16, values *float32, start *int32, step, count int,
) {
	panic(noKernels)
}

func residualFours(r, b, x *float64, at *int32, values *float64, start *int32, limit *float64, count *int) {
	panic(noKernels)
}

func residualNeighbours(r, b, x *float64, at *int32, values *float64, start *int32, limit *float64, count *int) {
	panic(noKernels)
}

func eliminateColumn(c, own, u, l *float64, updates, start *int32, count int) { panic(noKernels) }
