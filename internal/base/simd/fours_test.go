package simd

import (
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// drawFours returns rows with up to so many terms, which read the elements that may(row) says, and their values. A zero
// is at place n.
func drawFours(
	r *elem.Rand, rows, longest, n int, number func(*elem.Rand) float64, may func(row int) []int,
) (f *Fours, values [][4]float64) {
	f = &Fours{Start: []int32{0}}
	for j := range rows {
		from := may(j)
		terms := int(r.Uint64() % uint64(longest+1))
		if len(from) == 0 {
			terms = 0
		}
		for e := range terms {
			if e%4 == 0 {
				f.At = append(f.At, [4]int32{int32(n), int32(n), int32(n), int32(n)})
				values = append(values, [4]float64{})
			}
			last := len(f.At) - 1
			f.At[last][e%4] = int32(from[r.Uint64()%uint64(len(from))])
			values[last][e%4] = number(r)
		}
		f.Start = append(f.Start, int32(len(f.At)))
	}
	return f, values
}

// fourSum is s and the terms of a row, and the sum of the sizes of its chains.
func fourSum(f *Fours, row int, s float64, x []float64, values [][4]float64) (sum, size float64) {
	c, of := [4]float64{s}, [4]float64{math.Abs(s)}
	for e := f.Start[row]; e < f.Start[row+1]; e++ {
		for k, i := range f.At[e] {
			c[k] = math.FMA(values[e][k], x[i], c[k])
			of[k] = math.FMA(math.Abs(values[e][k]), math.Abs(x[i]), of[k])
		}
	}
	return (c[0] + c[2]) + (c[1] + c[3]), (of[0] + of[2]) + (of[1] + of[3])
}

func TestSubstitute(t *testing.T) {
	one := func(r *elem.Rand) float64 { return tame(r, 1)[0] }
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(31)
		for _, n := range []int{0, 1, 2, 7, 60} {
			for _, longest := range []int{0, 1, 4, 30} {
				for _, backwards := range modes {
					for _, scaled := range modes {
						const first = 3
						order := make([]int32, n) // neighbours are not next to each other
						for k := range order {
							order[k] = int32(k * 37 % max(n, 1))
						}
						f, values := drawFours(r, first+n+2, longest, n, one, func(row int) (solved []int) {
							for k := range min(max(row-first, 0), n) {
								if backwards {
									k = n - 1 - k
								}
								solved = append(solved, int(order[k]))
							}
							return solved
						})
						x, recip := append(tame(r, n), 0), []float64(nil)
						if scaled {
							recip = tame(r, n)
						}
						got, intact := guarded(n+1, 5)
						copy(got, x)
						f.Substitute(got, values, order, recip, first, backwards)
						for row := range n {
							k := row
							if backwards {
								k = n - 1 - k
							}
							j := order[k]
							if scaled {
								x[j], _ = fourSum(f, first+row, -x[j], x, values)
								x[j] *= recip[k]
							} else {
								x[j], _ = fourSum(f, first+row, x[j], x, values)
							}
						}
						compare(t, got, x, "%d rows of up to %d terms, backwards %t, scaled %t",
							n, longest, backwards, scaled)
						short := make([][4]float32, len(values)) // values that single precision has
						for e, four := range values {
							for q, v := range four {
								short[e][q] = float32(v)
								values[e][q] = float64(short[e][q])
							}
						}
						if !f.Shorten(n + 1) {
							t.Fatalf("vectors of %d are too long", n+1)
						}
						whole := append(tame(r, n), 0)
						copy(got, whole)
						f.Substitute(whole, values, order, recip, first, backwards)
						f.SubstituteShort(got, short, order, recip, first, backwards)
						compare(t, got, whole, "%d short rows of up to %d terms, backwards %t, scaled %t",
							n, longest, backwards, scaled)
						if !intact() {
							t.Fatalf("%d rows: wrote outside", n)
						}
					}
				}
			}
		}
	})
	if f := new(Fours); f.Shorten(1<<16+1) || f.Short != nil {
		t.Error("vectors of more than 65,536 elements have short places")
	}
}

func TestResidualOfFours(t *testing.T) {
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(33)
		for _, n := range []int{0, 1, 5, 200} {
			for _, longest := range []int{0, 3, 12, -12} { // -12: of neighbours
				all := make([]int, n)
				for i := range all {
					all[i] = i
				}
				whole := func(int) []int { return all }
				f, values := drawFours(r, n, max(longest, -longest), n, (*elem.Rand).Norm, whole)
				if longest < 0 && n > 3 {
					f.First = []int32{}
					for e := range f.At {
						i := int32(r.Uint64() % uint64(n-2)) // the last four ends with the zero
						f.First, f.At[e] = append(f.First, i), [4]int32{i, i + 1, i + 2, i + 3}
					}
				}
				b, x := make([]float64, n), make([]float64, n+1)
				for i := range b {
					b[i], x[i] = r.Norm(), r.Norm()
				}
				if n > 4 {
					b[1], b[2] = 0, 1e-300
				}
				for _, tiny := range []float64{0x1p-960, 1e-5, math.MaxFloat64} {
					want, least := make([]float64, n), 0.0
					for j := range want {
						s, size := fourSum(f, j, b[j], x, values)
						if want[j] = s; math.Abs(s) > tiny {
							least = max(least, math.Abs(s)/size)
						}
					}
					got, intact := guarded(n, 7)
					for _, few := range []float64{0, 0.5, 1, 2} { // of the largest
						for _, many := range []float64{math.Inf(1), 1, 0.5} {
							lo, hi := float64(few*least), max(float64(few*least), float64(many*least))
							left := f.Residual(got, b, x, values, 0, tiny, lo, hi)
							if left != least && !(least <= lo && left <= lo) && !(least > hi && left > hi) {
								t.Errorf("%d rows: the largest is %v between %v and %v, want %v", n, left, lo, hi,
									least)
							}
							compare(t, got, want, "%d rows of up to %d terms", n, longest)
						}
					}
					if !intact() {
						t.Fatalf("%d rows: wrote outside", n)
					}
				}
				if n < 2 || longest == 0 {
					continue
				}
				for _, v := range []float64{math.NaN(), math.Inf(1), math.MaxFloat64} {
					wrong := slices.Clone(b)
					wrong[n/2] = v
					left := f.Residual(slices.Clone(b), wrong, x, values, 0, 1e-5, 0x1p-50, 0x1p-45)
					if v != math.MaxFloat64 && left == left {
						t.Errorf("%d rows: with %v the largest is %v", n, v, left)
					}
				}
			}
		}
	})
}

// TestEliminateColumn compares columns with multiply-adds one by one, which add nothing to the others of the same four
// but a product with zero.
func TestEliminateColumn(t *testing.T) {
	type multiplyAdd struct{ l, to int }
	const size = 50 // of l
	withBackend(t, func(t *testing.T) {
		r := elem.NewRand(35)
		for _, n := range []int{1, 2, 9, 40} {
			for _, longest := range []int{0, 1, 30} {
				for _, upper := range []int{0, n / 2, n} {
					l, c := tame(r, size), tame(r, (n+3)/4*4)
					var updates []Elimination
					start := []int32{0}
					if r.Uint64()%2 == 0 { // those of another column
						updates, start = make([]Elimination, 3), []int32{3}
					}
					want, wantU := slices.Clone(c), make([]float64, upper)
					for e := range wantU {
						var list []multiplyAdd // some of neighbours
						next := int(r.Uint64() % size)
						for to := e + 1; to < n && len(list) < longest; to++ {
							if r.Uint64()%4 == 0 {
								next, to = int(r.Uint64()%size), to+int(r.Uint64()%3)
							}
							if to < n && next < size {
								list = append(list, multiplyAdd{next, to})
							}
							next++
						}
						from, of := len(updates), make(map[int]int)
						for _, d := range list {
							updates = Eliminate(updates, from, int32(d.l), int32(d.to))
							of[d.to] = d.l
						}
						start = append(start, int32(len(updates)))
						wantU[e] = want[e]
						for _, d := range updates[from:] {
							for to := d.To >> 4 << 2; to < d.To>>4<<2+4; to++ {
								if d.To>>(to&3)&1 == 0 {
									want[to] = math.FMA(0, wantU[e], want[to])
								} else {
									want[to] = math.FMA(l[of[int(to)]], wantU[e], want[to])
									delete(of, int(to))
								}
							}
						}
						if len(of) > 0 {
							t.Fatalf("multiply-adds are left out: %v", of)
						}
					}
					got, intact := guarded(len(c), 5)
					copy(got, c)
					u, intactU := guarded(upper, 3)
					EliminateColumn(got, u, l, updates, start)
					compare(t, got, want, "column of %d with %d above", n, upper)
					compare(t, u, wantU, "U of a column of %d with %d above", n, upper)
					if !intact() || !intactU() {
						t.Fatalf("column of %d: wrote outside", n)
					}
				}
			}
		}
	})
}

// TestEliminate joins multiply-adds of neighbours, and no others.
func TestEliminate(t *testing.T) {
	var updates []Elimination
	for _, d := range [][2]int32{{7, 5}, {8, 6}, {9, 7}, {10, 8}, {12, 9}, {0, 11}} {
		updates = Eliminate(updates, 0, d[0], d[1])
	}
	updates = Eliminate(updates, len(updates), 1, 12)
	want := []Elimination{{6, 1<<4 | 0b1110}, {10, 2<<4 | 1}, {11, 2<<4 | 2}, {-3, 2<<4 | 8}, {1, 3<<4 | 1}}
	if !slices.Equal(updates, want) {
		t.Errorf("%v, not %v", updates, want)
	}
}

// TestFourRuns cuts rows for kernels: all of them, in their order, and none that would take long.
func TestFourRuns(t *testing.T) {
	f := &Fours{Start: []int32{0, 0, 5, most / 4, most/4 + 1, most, most, most + 3, most + 3}}
	f.At = make([][4]int32, most+3)
	var rows []int
	for row := 0; row < len(f.Start)-1; {
		at, n := f.run(row, len(f.Start)-1)
		if want := min(int(f.Start[row]), len(f.At)-1); at != want {
			t.Errorf("row %d begins at %d, want %d", row, at, want)
		}
		rows, row = append(rows, n), row+n
	}
	if want := []int{3, 1, 1, 3}; !slices.Equal(rows, want) {
		t.Errorf("runs of %d rows, want %d", rows, want)
	}
}
