package linalg

import (
	"math"

	"odes.dev/odes/internal/base/simd"
)

// axpy adds s times x to y.
func axpy(y, x *[8]float64, s float64) {
	y[0] = math.FMA(s, x[0], y[0])
	y[1] = math.FMA(s, x[1], y[1])
	y[2] = math.FMA(s, x[2], y[2])
	y[3] = math.FMA(s, x[3], y[3])
	y[4] = math.FMA(s, x[4], y[4])
	y[5] = math.FMA(s, x[5], y[5])
	y[6] = math.FMA(s, x[6], y[6])
	y[7] = math.FMA(s, x[7], y[7])
}

// negate changes the signs of x.
func negate(x *[8]float64) {
	for l := range x {
		x[l] = -x[l]
	}
}

func (f *sparse) Solve(x []float64, lanes int) {
	x = x[:f.s.p.N*lanes]
	for l := 0; l < lanes; {
		if left := lanes - l; f.solveFast(x[l:], lanes, min(8, left), false) {
			l += 8
		} else if left < few {
			f.solve(x[l:], lanes)
			l++
		} else {
			f.solveWide(x[l:], lanes, min(8, left))
			l += 8
		}
	}
}

func (f *sparse) SolveT(x []float64, lanes int) {
	x = x[:f.s.p.N*lanes]
	for l := 0; l < lanes; {
		if left := lanes - l; f.solveFast(x[l:], lanes, min(8, left), true) {
			l += 8
		} else if left < few {
			f.solveT(x[l:], lanes)
			l++
		} else {
			f.solveTWide(x[l:], lanes, min(8, left))
			l += 8
		}
	}
}

// few is a number of lanes that are solved faster together than one after the other.
const few = 3

// solveWide is solve for the first lanes of up to eight in rows that lie stride apart.
func (f *sparse) solveWide(x []float64, stride, lanes int) {
	f.widen()
	o := f.o
	for k, i := range o.rows {
		w := f.at(k)
		clear(w[copy(w[:lanes], x[int(i)*stride:]):])
	}
	for b := len(f.s.start) - 2; b >= 0; b-- {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		end := f.s.sparseEnd(k1)
		for k := k0; k < end; {
			k = f.lowerWide(k, end)
		}
		if end < k1 {
			f.tail.Solve(f.right[8*end:8*k1], 8)
		}
		for k := k1 - 1; k >= k0; k-- {
			w := f.at(k)
			s := *w
			if k < end {
				scale(s[:], f.recip[k]) // −x
			} else {
				negate(&s)
			}
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			simd.ScatterAdd(f.right, rows, u, s[:], 1, 1, 1)
			negate(&s)
			*w = s
		}
		for k := k0; k < k1; k++ {
			s := *f.at(k)
			negate(&s)
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				axpy(f.at(int(o.offRows[e])), &s, f.off[e])
			}
		}
	}
	for k, j := range f.s.cols {
		copy(x[int(j)*stride:], f.at(k)[:lanes])
	}
}

// lowerWide solves with the columns of L from k on that are of one panel and before end, and returns the column after
// them.
func (f *sparse) lowerWide(k, end int) int {
	o := f.o
	end = min(int(o.panelEnd[k]), end)
	stride := 0
	if end > k+1 {
		stride = int(o.lValue[k+1]-o.lValue[k]) - 1
	}
	simd.ScatterAdd(f.right, o.lRows[o.lStart[k]:o.lEnd[k]], f.l[o.lValue[k]:], f.right[8*k:], 1, end-k, stride)
	return end
}

// solveTWide is solveT for the first lanes of up to eight in rows that lie stride apart.
func (f *sparse) solveTWide(x []float64, stride, lanes int) {
	f.widen()
	o := f.o
	for k, j := range f.s.cols {
		w := f.at(k)
		clear(w[copy(w[:lanes], x[int(j)*stride:]):])
	}
	for b := range len(f.s.start) - 1 {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		end := f.s.sparseEnd(k1)
		for k := k0; k < k1; k++ {
			s := *f.at(k)
			negate(&s)
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				axpy(&s, f.at(int(o.offRows[e])), f.off[e])
			}
			for e, to := int(o.uStart[k]), int(o.uStart[k+1]); e < to; {
				i := int(o.uRows[e])
				if n := int(o.runs[e]); n >= longRun {
					simd.MatVecT(s[:], f.right[8*i:], f.u[e:], n, 8, 8, true)
					e += n
					continue
				}
				axpy(&s, f.at(i), f.u[e])
				e++
			}
			if k < end {
				scale(s[:], f.recip[k])
			} else {
				negate(&s)
			}
			*f.at(k) = s
		}
		if end < k1 {
			f.tail.SolveT(f.right[8*end:8*k1], 8)
		}
		for k := end; k > k0; {
			k = f.lowerTWide(k, k0)
		}
	}
	for k, i := range o.rows {
		copy(x[int(i)*stride:], f.at(k)[:lanes])
	}
}

// lowerTWide solves with the transpose of the panel of L whose last column is that before end, and
// returns its first column. All of it lies from k0 on. What the columns need is in below: the rows under
// the panel from the last one up, and then the columns as they are found.
func (f *sparse) lowerTWide(end, k0 int) int {
	o := f.o
	rows := o.lRows[o.lStart[end-1]:o.lEnd[end-1]]
	k := end - 1
	for k > k0 && int(o.panelEnd[k-1]) == end {
		k--
	}
	if end-k == 1 && len(rows) < longRun {
		s, l := f.at(k), f.l[o.lValue[k]:]
		for q := len(rows) - 1; q >= 0; q-- {
			axpy(s, f.at(int(rows[q])), l[q])
		}
		return k
	}
	n := len(rows)
	for q, i := range rows {
		*(*[8]float64)(f.below[8*(n-1-q):]) = *f.at(int(i))
	}
	for m := end - 1; m >= k; m-- {
		s := f.at(m)
		upwards := f.upwards[:n]
		for q, v := range f.l[o.lValue[m]:][:n] {
			upwards[n-1-q] = v
		}
		simd.MatVecT(s[:], f.below, upwards, n, 8, 8, true)
		*(*[8]float64)(f.below[8*n:]) = *s
		n++
	}
	return k
}

// longRun is a number of rows whose sum a kernel does faster.
const longRun = 4

// lanes is what a sparse factorisation needs to solve for eight lanes at once.
type lanes struct {
	right   []float64 // right-hand sides in the order, [N][8]
	below   []float64 // those of rows below a panel
	upwards []float64 // a column of L, from the last row up
}

// widen makes room for eight lanes.
func (f *sparse) widen() {
	if f.right == nil {
		n := f.s.p.N
		f.upwards = make([]float64, n)
		f.right, f.below = make([]float64, 8*n), make([]float64, 8*n)
	}
}

// at returns the lanes at a place.
func (l *lanes) at(k int) *[8]float64 { return (*[8]float64)(l.right[8*k:]) }

func (f *sparse) Memory() int {
	values := cap(f.own) + len(f.x) + len(f.w) + len(f.right) + len(f.below) + len(f.upwards)
	values += len(f.between)
	if f.tail != nil {
		values += len(f.tail.recip) + len(f.tail.work)
	}
	return 8*values + f.o.memory() + f.o.codes.memory()
}

func (f *sparse) Method() Method { return Sparse }
