package simd

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// chain is the definition of an element of a product.
func chain(from float64, accumulate bool, n int, a, b func(k int) float64) float64 {
	if !accumulate {
		from = 0
	}
	for k := range n {
		from = math.FMA(a(k), b(k), from)
	}
	return from
}

var modes = []bool{false, true}

func TestLaneProduct(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(11)
		check := func(rows, inner, lanes int) {
			for _, transposed := range modes {
				for _, accumulate := range modes {
					stride := inner + 2
					if transposed {
						stride = rows + 1
					}
					a, z := tame(r, (rows+inner)*stride), tame(r, inner*lanes)
					packed := make([]float64, LanesSize(rows, inner))
					PackLanes(packed, a, rows, inner, stride, transposed)
					y, intact := guarded(rows*lanes, 1)
					copy(y, tame(r, rows*lanes))
					want := make([]float64, len(y))
					for i := range want {
						want[i] = chain(y[i], accumulate, inner, func(k int) float64 {
							if transposed {
								return a[k*stride+i/lanes]
							}
							return a[i/lanes*stride+k]
						}, func(k int) float64 { return z[k*lanes+i%lanes] })
					}
					LaneProduct(y, packed, z, rows, inner, lanes, accumulate)
					compare(t, y, want, "%d×%d, %d lanes, transposed %v, accumulate %v", rows, inner, lanes, transposed,
						accumulate)
					if !intact() {
						t.Fatalf("%d×%d, %d lanes: wrote outside", rows, inner, lanes)
					}
				}
			}
		}
		for lanes := 1; lanes <= 16; lanes++ {
			for _, rows := range []int{0, 1, 2, 5, 6, 7, 11, 12, 13, 18, 23} {
				check(rows, 9, lanes)
			}
			check(14, 0, lanes)
			check(9, 1, lanes)
		}
		check(20, 1300, 8)
		check(1300, 21, 12)
	})
}

func TestRankUpdate(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(12)
		check := func(rows, cols, inner, lanes int) {
			for _, transposed := range modes {
				for _, accumulate := range modes {
					stride := cols + 3
					if transposed {
						stride = inner + 1
					}
					x := tame(r, max(inner-1, 0)*stride+cols)
					if transposed {
						x = tame(r, (cols-1)*stride+inner)
					}
					packed := make([]float64, PanelsSize(inner, cols))
					PackPanels(packed, x, inner, cols, stride, transposed)
					u := &Update{
						Rows: rows, Cols: cols, Inner: inner, Lanes: lanes,
						RowG: cols + 1, LaneG: (cols+1)*rows + 5,
						RowY: lanes + 1, StepY: (lanes+1)*rows + 2,
					}
					y := tame(r, u.StepY*inner+u.RowY*rows)
					g := tame(r, u.LaneG*lanes)
					want := append([]float64(nil), g...)
					for l := range lanes {
						for i := range rows {
							for j := range cols {
								at := l*u.LaneG + i*u.RowG + j
								want[at] = chain(want[at], accumulate, inner,
									func(k int) float64 { return y[k*u.StepY+i*u.RowY+l] },
									func(k int) float64 {
										if transposed {
											return x[j*stride+k]
										}
										return x[k*stride+j]
									})
							}
						}
					}
					RankUpdate(u, g, y, packed, accumulate)
					compare(t, g, want, "%d×%d, %d steps, %d lanes, transposed %v, accumulate %v", rows, cols, inner,
						lanes, transposed, accumulate)
				}
			}
		}
		for rows := range 10 {
			for _, cols := range []int{1, 2, 4, 5, 8, 9, 11, 12, 13, 23, 24, 25} {
				check(rows, cols, 5, 1+rows%9)
			}
		}
		check(5, 13, 0, 3)
		check(5, 13, 1, 3)
		check(6, 30, 300, 2)
		check(3, 9000, 20, 9)
		check(8, 24, 1, 2)
		check(8, 48, 7, 1)
		check(19, 61, 6, 3)
		measured := halved
		defer func() { halved = measured }()
		for _, half := range modes { // whatever was measured
			halved = func() bool { return half }
			check(19, 61, 30, 3)
			check(9, 9000, 21, 2)
		}
	})
}

func TestScatterAdd(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(17)
		for _, n := range []int{0, 1, 2, 3, 7, 40} {
			for _, width := range []int{0, 1, 2, 5, 13} {
				for _, first := range []int{1, 2, width} {
					stride := n + int(r.Uint64()%4)
					a, x := tame(r, stride*width+n), tame(r, 8*width)
					row, left := make([]int32, n), make([]int32, 2*n+1)
					for i := range left {
						left[i] = int32(i)
					}
					for q := range row {
						at := int(r.Uint64() % uint64(len(left)))
						row[q] = left[at]
						left = slices.Delete(left, at, at+1)
					}
					y, intact := guarded(8*(2*n+1), 3)
					copy(y, tame(r, len(y)))
					want := slices.Clone(y)
					for q, i := range row {
						for l := range 8 {
							at := 8*int(i) + l
							want[at] = chain(want[at], true, min(width, first+q),
								func(m int) float64 { return a[m*stride+q] }, func(m int) float64 { return x[8*m+l] })
						}
					}
					ScatterAdd(y, row, a, x, first, width, stride)
					compare(t, y, want, "%d rows, %d terms, first %d", n, width, first)
					if !intact() {
						t.Fatalf("%d rows, %d terms, first %d: wrote outside", n, width, first)
					}
				}
			}
		}
	})
}

// TestScatterAddInPlace solves with a unit triangle, with rows below it: what is found is used at once.
func TestScatterAddInPlace(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		const n, all = 9, 20
		r := elem.NewRand(18)
		a, x := tame(r, n*all), tame(r, 8*all)
		row := make([]int32, all-1)
		for q := range row {
			row[q] = int32(q + 1)
		}
		want := slices.Clone(x)
		for i := 1; i < all; i++ {
			for l := range 8 {
				want[8*i+l] = chain(want[8*i+l], true, min(i, n), func(m int) float64 { return a[m*(all-1)+i-1] },
					func(m int) float64 { return want[8*m+l] })
			}
		}
		ScatterAdd(x, row, a, x, 1, n, all-1)
		compare(t, x, want, "a triangle of %d and %d rows", n, all-n)
	})
}

func TestTakeLane(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(20)
		for _, n := range []int{0, 1, 2, 3, 4, 21} {
			for range 4 {
				const rows = 30
				from := tame(r, 8*rows)
				row, want, most := make([]int32, n), make([]float64, n), 0.0
				for q := range row {
					row[q] = int32(r.Uint64() % rows)
				}
				if n > 2 {
					from[8*row[1]] = math.NaN()
				}
				for q, i := range row {
					want[q] = from[8*i]
					if !math.IsNaN(want[q]) {
						most = max(most, math.Abs(want[q]))
					}
				}
				out, intact := guarded(n, 3)
				if got := TakeLane(out, row, from); got != most {
					t.Fatalf("the greatest of %d is %v, want %v", n, got, most)
				}
				compare(t, out, want, "%d rows", n)
				if !intact() {
					t.Fatalf("%d rows: wrote outside", n)
				}
			}
		}
	})
}

func TestPairedDots(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(19)
		for _, n := range []int{1, 2, 3, 6, 8} {
			for _, count := range []int{0, 1, 2, 3, 8, 21} {
				const rows = 10
				x, y := tame(r, rows*n), tame(r, rows*n)
				h := tame(r, 1)[0]
				out, intact := guarded(2*count, 3)
				copy(out, tame(r, len(out)))
				want := slices.Clone(out)
				var at []Place
				for e := range count {
					p := Place{To: int32(2*count - 1 - 2*e), X: int32(r.Uint64() % rows), Y: int32(r.Uint64() % rows)}
					at = append(at, p)
					want[p.To] = math.FMA(h, chain(0, false, n, func(k int) float64 { return x[int(p.X)*n+k] },
						func(k int) float64 { return y[int(p.Y)*n+k] }), 0)
				}
				PairedDots(out, at, x, y, n, h)
				compare(t, out, want, "%d places, rows of %d", count, n)
				if !intact() {
					t.Fatalf("%d places, rows of %d: wrote outside", count, n)
				}
			}
		}
	})
}

func TestMatVec(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(13)
		check := func(rows, cols int) {
			for _, accumulate := range modes {
				stride := cols + int(r.Uint64()%3)
				a := tame(r, rows*stride+cols)
				for _, transposed := range modes {
					n, inner := rows, cols
					if transposed {
						n, inner = cols, rows
					}
					x := tame(r, inner)
					y, intact := guarded(n, 3)
					copy(y, tame(r, n))
					want := make([]float64, n)
					for i := range want {
						want[i] = chain(y[i], accumulate, inner, func(k int) float64 {
							if transposed {
								return a[k*stride+i]
							}
							return a[i*stride+k]
						}, func(k int) float64 { return x[k] })
					}
					if transposed {
						MatVecT(y, a, x, rows, cols, stride, accumulate)
					} else {
						MatVec(y, a, x, rows, cols, stride, accumulate)
					}
					compare(t, y, want, "%d×%d, transposed %v, accumulate %v", rows, cols, transposed, accumulate)
					if !intact() {
						t.Fatalf("%d×%d: wrote outside", rows, cols)
					}
				}
			}
		}
		for rows := range 37 {
			for _, cols := range []int{0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 33, 67} {
				check(rows, cols)
			}
		}
		for _, cols := range []int{47, 48, 49, 64, 96, 111, 112, 113, 230} {
			check(cols%7, cols)
		}
		check(3, 40000)
		check(40000, 5)
	})
}

// TestPackColumns multiplies with what it packs.
func TestPackColumns(t *testing.T) {
	r := elem.NewRand(16)
	for _, transposed := range modes {
		for _, rows := range []int{1, 7, 8, 9, 55} {
			const inner = 6
			stride := inner + 1
			if transposed {
				stride = rows + 2
			}
			a, x := tame(r, (rows+inner)*stride), tame(r, inner)
			packed := make([]float64, ColumnsSize(rows, inner))
			for i := range packed {
				packed[i] = math.NaN()
			}
			PackColumns(packed, a, rows, inner, stride, transposed)
			y, want := make([]float64, rows), make([]float64, rows)
			for i := range want {
				want[i] = chain(0, false, inner, func(k int) float64 {
					if transposed {
						return a[k*stride+i]
					}
					return a[i*stride+k]
				}, func(k int) float64 { return x[k] })
			}
			MatVecT(y, packed, x, inner, rows, ColumnsStride(rows), false)
			compare(t, y, want, "%d rows, transposed %v", rows, transposed)
			for i, v := range packed {
				if i%ColumnsStride(rows) >= rows && v != 0 {
					t.Fatalf("%d rows: %v beyond the last", rows, v)
				}
			}
		}
	}
}

func TestMatMul(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(14)
		check := func(rows, inner, cols int) {
			for mode := range 8 {
				ta, tb, accumulate := mode&1 == 1, mode&2 == 2, mode&4 == 4
				as, bs, cs := inner+1, cols+2, cols+3
				if ta {
					as = rows + 1
				}
				if tb {
					bs = inner
				}
				a, b, c := tame(r, (rows+inner)*as), tame(r, (inner+cols)*bs), tame(r, rows*cs)
				want := append([]float64(nil), c...)
				for i := range rows {
					for j := range cols {
						want[i*cs+j] = chain(want[i*cs+j], accumulate, inner, func(k int) float64 {
							if ta {
								return a[k*as+i]
							}
							return a[i*as+k]
						}, func(k int) float64 {
							if tb {
								return b[j*bs+k]
							}
							return b[k*bs+j]
						})
					}
				}
				MatMul(c, a, b, rows, inner, cols, cs, as, bs, ta, tb, accumulate,
					make([]float64, MatMulWork(inner, cols)))
				compare(t, c, want, "%d×%d×%d, mode %d", rows, inner, cols, mode)
			}
		}
		for _, n := range []int{0, 1, 3, 4, 13} {
			for _, m := range []int{0, 1, 5, 12} {
				for _, k := range []int{0, 1, 2, 7} {
					check(n, k, m)
				}
			}
		}
		check(9, 600, 500)
	})
}

func TestNoAllocations(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(15)
		x, y, z := tame(r, 600), tame(r, 600), tame(r, 600)
		packed := make([]float64, max(LanesSize(20, 20), PanelsSize(20, 20)))
		row := []int{0, 1, 2}
		u := &Update{Rows: 4, Cols: 20, Inner: 5, Lanes: 4, LaneG: 80, RowG: 20, StepY: 16, RowY: 4}
		if n := testing.AllocsPerRun(10, func() {
			var local [8]float64
			Unary(Exp, local[:], x)
			Unary(Log, x, y)
			Binary(Add, x, y, z)
			BinaryRows(Mul, SharedA, x, y, z, 8)
			TernaryRows(FMA, SharedB, x, y, z, x, 8)
			Combine(x[:100], y, 0.5, z[:3], row, z, 100)
			Sum(x)
			Dot(x, y)
			PackLanes(packed, x, 20, 20, 20, true)
			LaneProduct(x[:160], packed, y, 20, 20, 8, true)
			PackPanels(packed, x, 20, 20, 20, false)
			RankUpdate(u, x, y, packed, true)
			MatVec(x, y, z, 20, 20, 20, true)
			MatVecT(x, y, z, 20, 20, 20, true)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
