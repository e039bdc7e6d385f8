package linalg

import "math"

// sparse is an LU factorisation of the irreducible blocks of a sparse matrix, column by column, with
// an order of pivots that is kept from one matrix to the next as long as its pivots serve.
type sparse struct {
	s     *structure
	first *Order // that of the pattern
	o     *Order
	l, u  []float64 // −L and U, as in the order
	recip []float64 // −1 over the diagonal of U
	off   []float64 // above the blocks
	x     []float64 // a column, zeros between columns
	w     []float64 // right-hand sides in the order
	wide  [][8]float64
}

// The order of pivots is kept as long as no entry of a column below its pivot is larger than
// kept⁻¹ times the pivot, and elimination makes no column grow by more than growth. Otherwise the
// order of the pattern is tried, and then a new one is sought with the first of the thresholds, or
// with the next if columns grow even so.
const (
	kept   = 0x1p-8
	growth = 0x1p12
)

var thresholds = [...]float64{0.01, 0.1, 1}

func newSparse(s *structure, o *Order) *sparse {
	f := &sparse{s: s, first: o, recip: make([]float64, s.p.N), x: make([]float64, s.p.N), w: make([]float64, s.p.N)}
	f.SetOrder(o)
	return f
}

// resize returns a slice of n elements, in the memory of s if that is large enough.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

func (f *sparse) SetOrder(o *Order) {
	f.o = o
	f.l, f.u, f.off = resize(f.l, len(o.lRows)), resize(f.u, len(o.uRows)), resize(f.off, len(o.offRows))
}

func (f *sparse) Order() *Order { return f.o }

func (f *sparse) Factor(values []float64) error {
	values = values[:len(f.s.p.Rows)]
	most, finite := largest(values)
	if !finite {
		return f.s.p.notFinite(values)
	}
	good, err := f.eliminate(values, most, true)
	if f.o != f.first && (!good || err != nil) { // it fills least
		f.SetOrder(f.first)
		good, err = f.eliminate(values, most, true)
	}
	if good && err == nil {
		return nil
	}
	for k, threshold := range thresholds {
		o, err := f.s.order(values, threshold)
		if err != nil {
			return err
		}
		f.SetOrder(o)
		if good, err = f.eliminate(values, most, k+1 < len(thresholds)); err != nil || good {
			return err
		}
	}
	return nil
}

// eliminate factors in the order of f. If watch is set it stops, and returns false, where a pivot is
// small beside the other entries of its column or a column grows.
func (f *sparse) eliminate(values []float64, largest float64, watch bool) (good bool, err error) {
	o, x := f.o, f.x
	for k := range f.recip {
		most := 0.0 // of the column of the matrix, in its block
		in := o.inRows[o.inStart[k]:o.inStart[k+1]]
		for e, at := range o.inValues[o.inStart[k]:o.inStart[k+1]] {
			v := values[at]
			x[in[e]] = v
			most = max(most, math.Abs(v))
		}
		upper := 0.0
		us := f.u[o.uStart[k]:o.uStart[k+1]]
		for e, m := range o.uRows[o.uStart[k]:o.uStart[k+1]] {
			u := x[m]
			x[m] = 0
			us[e] = u
			if v := math.Abs(u); v > upper {
				upper = v
			}
			from, to := o.lStart[m], o.lStart[m+1]
			rows, l := o.lRows[from:to], f.l[from:to]
			for q, i := range rows {
				x[i] = math.FMA(l[q], u, x[i])
			}
		}
		pivot := x[k]
		x[k] = 0
		r := -1 / pivot
		f.recip[k] = r
		lower := 0.0
		from, to := o.lStart[k], o.lStart[k+1]
		rows, l := o.lRows[from:to], f.l[from:to]
		for q, i := range rows {
			v := x[i]
			x[i] = 0
			if v := math.Abs(v); v > lower {
				lower = v
			}
			l[q] = float64(v * r)
		}
		own := math.Abs(pivot)
		if watch && (own < kept*lower || max(own, upper) > growth*most) {
			return false, nil
		}
		if !(own > largest*suspicious) || !(own <= math.MaxFloat64) {
			if err := f.pivotError(k, pivot, lower); err != nil {
				return false, err
			}
		}
	}
	for e, at := range o.offValues {
		f.off[e] = values[at]
	}
	return true, nil
}

// pivotError says what is wrong with a pivot that is small or not finite; nil if it may be used.
func (f *sparse) pivotError(k int, pivot, lower float64) error {
	o := f.o
	if !(math.Abs(pivot) <= math.MaxFloat64) {
		return &NotFiniteError{Row: int(o.rows[k]), Col: int(f.s.cols[k]), Value: pivot, Overflow: true}
	}
	var c cancellation
	for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
		m := o.uRows[e]
		for q := o.lStart[m]; q < o.lStart[m+1]; q++ {
			if int(o.lRows[q]) == k {
				c.add(f.l[q], f.u[e])
			}
		}
	}
	if c.all(pivot) {
		return &SingularError{Rows: []int{int(o.rows[k])}, Cols: []int{int(f.s.cols[k])}}
	}
	return nil
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

// solve is Solve for the elements of x that lie stride apart.
func (f *sparse) solve(x []float64, stride int) {
	o, w := f.o, f.w
	for k, i := range o.rows {
		w[k] = x[int(i)*stride]
	}
	for b := len(f.s.start) - 2; b >= 0; b-- {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		for k := k0; k < k1; k++ {
			s := w[k]
			from, to := o.lStart[k], o.lStart[k+1]
			rows, l := o.lRows[from:to], f.l[from:to]
			for q, i := range rows {
				w[i] = math.FMA(l[q], s, w[i])
			}
		}
		for k := k1 - 1; k >= k0; k-- {
			s := float64(w[k] * f.recip[k]) // −x
			w[k] = -s
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				w[i] = math.FMA(u[q], s, w[i])
			}
		}
		for k := k0; k < k1; k++ {
			s := -w[k]
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				i := o.offRows[e]
				w[i] = math.FMA(f.off[e], s, w[i])
			}
		}
	}
	for k, j := range f.s.cols {
		x[int(j)*stride] = w[k]
	}
}

// solveT is SolveT for the elements of x that lie stride apart.
func (f *sparse) solveT(x []float64, stride int) {
	o, w := f.o, f.w
	for k, j := range f.s.cols {
		w[k] = x[int(j)*stride]
	}
	for b := range len(f.s.start) - 1 {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		for k := k0; k < k1; k++ {
			s := -w[k]
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				s = math.FMA(f.off[e], w[o.offRows[e]], s)
			}
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				s = math.FMA(u[q], w[i], s)
			}
			w[k] = float64(s * f.recip[k])
		}
		for k := k1 - 1; k >= k0; k-- {
			s := w[k]
			from, to := o.lStart[k], o.lStart[k+1]
			rows, l := o.lRows[from:to], f.l[from:to]
			for q, i := range rows {
				s = math.FMA(l[q], w[i], s)
			}
			w[k] = s
		}
	}
	for k, i := range o.rows {
		x[int(i)*stride] = w[k]
	}
}

func (f *sparse) Method() Method { return Sparse }

func (f *sparse) NonZeros() int { return len(f.l) + len(f.u) + len(f.recip) + len(f.off) }

func (f *sparse) Flops() int { return f.o.flops }

func (f *sparse) Memory() int {
	return 8*(cap(f.l)+cap(f.u)+cap(f.off)+len(f.recip)+len(f.x)+len(f.w)+8*len(f.wide)) + f.o.memory()
}

// memory returns the bytes of the order.
func (o *Order) memory() int {
	return 4 * (2*len(o.inRows) + 2*len(o.offRows) + len(o.lRows) + len(o.uRows) + 5*len(o.rows))
}
