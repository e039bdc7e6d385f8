package linalg

import "math"

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
		if left := lanes - l; left < few {
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
		if left := lanes - l; left < few {
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
	o, w := f.o, f.wide
	for k, i := range o.rows {
		clear(w[k][copy(w[k][:lanes], x[int(i)*stride:]):])
	}
	for b := len(f.s.start) - 2; b >= 0; b-- {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		for k := k0; k < k1; k++ {
			s := &w[k]
			from, to := o.lStart[k], o.lStart[k+1]
			rows, l := o.lRows[from:to], f.l[from:to]
			for q, i := range rows {
				axpy(&w[i], s, l[q])
			}
		}
		for k := k1 - 1; k >= k0; k-- {
			s := w[k]
			scale(s[:], f.recip[k]) // −x
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				axpy(&w[i], &s, u[q])
			}
			negate(&s)
			w[k] = s
		}
		for k := k0; k < k1; k++ {
			s := w[k]
			negate(&s)
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				axpy(&w[o.offRows[e]], &s, f.off[e])
			}
		}
	}
	for k, j := range f.s.cols {
		copy(x[int(j)*stride:], w[k][:lanes])
	}
}

// solveTWide is solveT for the first lanes of up to eight in rows that lie stride apart.
func (f *sparse) solveTWide(x []float64, stride, lanes int) {
	f.widen()
	o, w := f.o, f.wide
	for k, j := range f.s.cols {
		clear(w[k][copy(w[k][:lanes], x[int(j)*stride:]):])
	}
	for b := range len(f.s.start) - 1 {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		for k := k0; k < k1; k++ {
			s := w[k]
			negate(&s)
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				axpy(&s, &w[o.offRows[e]], f.off[e])
			}
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				axpy(&s, &w[i], u[q])
			}
			scale(s[:], f.recip[k])
			w[k] = s
		}
		for k := k1 - 1; k >= k0; k-- {
			s := w[k]
			from, to := o.lStart[k], o.lStart[k+1]
			rows, l := o.lRows[from:to], f.l[from:to]
			for q, i := range rows {
				axpy(&s, &w[i], l[q])
			}
			w[k] = s
		}
	}
	for k, i := range o.rows {
		copy(x[int(i)*stride:], w[k][:lanes])
	}
}

// lanes is what a sparse factorisation needs to solve for eight lanes at once.
type lanes struct {
	wide [][8]float64
}

// widen makes room for eight lanes.
func (f *sparse) widen() {
	if f.wide == nil {
		f.wide = make([][8]float64, f.s.p.N)
	}
}

func (f *sparse) Memory() int {
	values := cap(f.l) + cap(f.u) + cap(f.off) + len(f.recip) + len(f.x) + len(f.w) + 8*len(f.wide)
	return 8*values + f.o.memory()
}

func (f *sparse) Method() Method { return Sparse }
