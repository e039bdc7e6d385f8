package linalg

import (
	"math"
	"slices"
)

// sparse is an LU factorisation of a sparse matrix: of its irreducible blocks, column by column, with
// an order of pivots that is kept from one matrix to the next as long as its pivots serve.
type sparse struct {
	s         *structure
	memory    int     // bytes that L and U may take
	patch     float64 // what takes the place of smaller pivots; 0 for errors
	first     *Order  // that of the pattern
	o         *Order
	own       []float64 // memory for factors
	m         []float64 // the following four, as the order lays them out: in own, or where factors were kept
	l, u      []float64 // −L and U, as in the order
	recip     []float64 // −1 over the diagonal of U
	off       []float64 // above the blocks
	tail      *dense    // nil for none
	tailUnits rowUnits  // of the rows of the tail, by places; nil where they are alike
	settled   bool      // units have been looked at
	values    []float64 // of the matrix, while it is factored
	reach     reach
	x         []float64 // a column, zeros between columns
	w         []float64 // right-hand sides in the order
	lanes
	coded
}

func newSparse(s *structure, o *Order, memory int) *sparse {
	n := s.p.N
	f := &sparse{s: s, memory: memory, first: o}
	f.x, f.w = make([]float64, n), make([]float64, n)
	if n := s.tailEnd - s.tail; n > 0 {
		f.tail = newSquare(&Pattern{N: int(n)})
		f.tail.blame = f.tailError
	}
	f.SetOrder(o)
	return f
}

func (f *sparse) SetOrder(o *Order) {
	if o == f.o {
		return
	}
	f.forget()
	f.o, f.own = o, resize(f.own, o.layout().end)
	clear(f.own) // L may have places that nothing is written to
	f.use(f.own)
}

// use makes m the memory of the factors.
func (f *sparse) use(m []float64) {
	at := f.o.layout()
	f.m = m
	f.l, f.u, f.off, f.recip = m[:at.u], m[at.u:at.off], m[at.off:at.recip], m[at.recip:at.pivot]
	if f.tail != nil {
		f.tail.a = m[at.tail : at.end-extra]
	}
}

func (f *sparse) Order() *Order { return f.o }

func (f *sparse) Factor(values []float64) error {
	if good, err := f.try(values); good || err != nil {
		return err
	}
	return f.repivot(values)
}

// try factors with the pivots of its order, or with those of the pattern. It reports whether they serve.
func (f *sparse) try(values []float64) (good bool, err error) {
	values = values[:len(f.s.p.Rows)]
	if len(f.m) < len(f.own) {
		f.use(f.own)
	}
	if f.fast(values) {
		return true, nil
	}
	size, finite := largest(values)
	if !finite {
		return false, f.s.p.notFinite(values)
	}
	good, err = f.eliminate(values, size, true)
	if f.o != f.first && (!good || err != nil) { // it fills least
		f.SetOrder(f.first)
		good, err = f.eliminate(values, size, true)
	}
	return good && err == nil, nil
}

// repivot factors with pivots that the values decide about: where these are in other units than what they took the
// place of, with those of the pattern if they serve in units that are alike.
func (f *sparse) repivot(values []float64) (err error) {
	values = values[:len(f.s.p.Rows)]
	uneven, err := f.search(values)
	if !uneven {
		return err
	}
	units, d := f.s.p.units(f.s, farApart, func(e int) float64 { return magnitude(values[e]) })
	f.settled = true
	defer func() { f.tailUnits, f.settled = nil, false }()
	if units == nil {
		if err == errUneven {
			_, err = f.search(values)
		}
		return err
	}
	even := make([]float64, len(values))
	for j := range f.s.p.N {
		for e := f.s.p.Start[j]; e < f.s.p.Start[j+1]; e++ {
			even[e] = scaled(values[e], math.Ldexp(1, d[j]-d[f.s.p.Rows[e]]))
		}
	}
	size, _ := largest(even)
	f.SetOrder(f.first)
	if good, err := f.eliminate(even, size, true); !good || err != nil {
		if _, err := f.search(even); err != nil {
			_, err = f.search(values)
			return err
		}
	}
	// Powers of two do not change what is rounded, so these are the factors in the units of the matrix.
	if f.tail != nil {
		f.tailUnits = make(rowUnits, f.tail.p.N)
		for k := range f.tailUnits {
			f.tailUnits[k] = units[f.o.rows[int(f.s.tail)+k]]
		}
	}
	size, _ = largest(values)
	if _, err = f.eliminate(values, size, false); err != nil {
		f.tailUnits = nil
		_, err = f.search(values)
	}
	return err
}

// runTail factors the tail. The error is errUneven where units should be looked at, if they were not.
func (f *sparse) runTail(size float64, watch bool) error {
	if watch && !f.settled {
		return f.tail.run(size)
	}
	return f.tail.runIn(f.tailUnits, size)
}

// search factors with new pivots. It reports whether units should be looked at.
func (f *sparse) search(values []float64) (uneven bool, err error) {
	size, _ := largest(values)
	for k, threshold := range thresholds {
		c := &pivoting{values: values, threshold: threshold, x: make([]float64, f.s.p.N)}
		o, failed := f.s.order(c, f.memory)
		uneven = uneven || c.uneven
		if failed != nil {
			return uneven, failed
		}
		f.SetOrder(o)
		good := false
		switch good, err = f.eliminate(values, size, k+1 < len(thresholds)); {
		case err == errUneven:
			return true, err
		case good && err == nil:
			return uneven, nil
		}
	}
	return uneven, err
}

// eliminate factors in the order of f. If watch is set it stops, and returns false, where a pivot is
// small beside the other entries of its column or a column grows.
func (f *sparse) eliminate(values []float64, size float64, watch bool) (good bool, err error) {
	o, x := f.o, f.x
	f.values = values
	defer func() { f.values = nil }()
	groups := f.groups()
	for k := 0; k < len(f.recip); k++ {
		if f.s.inTail(k) {
			if k > int(f.s.tail) {
				continue
			}
			if !f.tailColumns(values, groups, watch) {
				return false, nil
			}
			if err := f.runTail(size, watch); err != nil {
				return false, err
			}
			continue
		}
		if len(groups) > 0 && int(groups[0].first) == k {
			if good, err := f.eliminateGroup(values, &groups[0], size, watch); !good || err != nil {
				return good, err
			}
			k = int(groups[0].end) - 1
			groups = groups[1:]
			continue
		}
		most, upper := f.column(values, k)
		own := x[k]
		x[k] = 0
		rows := o.lRows[o.lStart[k]:o.lEnd[k]]
		l := f.l[o.lValue[k]:][:len(rows)]
		lower := 0.0
		for q, i := range rows {
			v := x[i]
			l[q] = v
			x[i] = 0
			if v := magnitude(v); v > lower {
				lower = v
			}
		}
		if good, err := f.pivot(k, own, l, lower, most, upper, size, watch); !good || err != nil {
			return good, err
		}
	}
	for e, at := range o.offValues {
		f.off[e] = values[at]
	}
	return true, nil
}

// pivot divides what lies below a pivot by it, which gives column k of L. lower is the greatest magnitude of that. It
// reports what eliminate does.
func (f *sparse) pivot(k int, pivot float64, l []float64, lower, most, upper, size float64, watch bool) (
	good bool, err error,
) {
	if magnitude(pivot) < magnitude(f.patch) {
		pivot = f.patch
	}
	r := negativeInverse(pivot)
	f.recip[k] = r
	for q, v := range l {
		l[q] = mul(v, r)
	}
	own := magnitude(pivot)
	if watch && (own < kept*lower && own < kept*f.rivals(k, l) || max(own, upper) > growth*most) {
		return false, nil
	}
	if !(own > size*suspicious) || !(own <= math.MaxFloat64) {
		return true, f.pivotError(k, pivot)
	}
	return true, nil
}

// rivals returns the greatest magnitude of what lies below pivot k, of rows that may take its place. l is
// these, divided by the pivot.
func (f *sparse) rivals(k int, l []float64) (most float64) {
	o, j := f.o, f.s.cols[k]
	for q, i := range o.lRows[o.lStart[k]:o.lEnd[k]] {
		if v := magnitude(l[q]) / magnitude(f.recip[k]); v > most &&
			(o.rows[k] != j || needs(&f.reach, f.s.p, f.values, int(j), int(o.rows[i]))) {
			most = v
		}
	}
	return most
}

// column computes column k of U, and leaves in x what lies below that before it is divided by the pivot. It
// returns the greatest magnitudes of the column of the matrix, in its block, and of that of U.
func (f *sparse) column(values []float64, k int) (most, upper float64) {
	o, x := f.o, f.x
	in := o.inRows[o.inStart[k]:o.inStart[k+1]]
	for e, at := range o.inValues[o.inStart[k]:o.inStart[k+1]] {
		v := values[at]
		x[in[e]] = v
		if v := magnitude(v); v > most {
			most = v
		}
	}
	for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
		if n := o.panels[e]; n > 0 {
			upper = max(upper, f.panel(int(e), int(n)))
			e += n - 1
			continue
		}
		m := o.uRows[e]
		u := x[m]
		x[m] = 0
		f.u[e] = u
		if v := magnitude(u); v > upper {
			upper = v
		}
		from, to := o.lStart[m], o.lEnd[m]
		rows, l := o.lRows[from:to], f.l[o.lValue[m]:][:to-from]
		for q, i := range rows {
			x[i] = fma(l[q], u, x[i])
		}
	}
	return most, upper
}

// tailColumn computes a column of U and what lies below it, which the tail takes. It returns false if watch
// is set and the column grows.
func (f *sparse) tailColumn(values []float64, k int, watch bool) bool {
	most, upper := f.column(values, k)
	first, n := int(f.s.tail), int(f.s.tailEnd-f.s.tail)
	copy(f.tail.a[(k-first)*n:][:n], f.x[first:])
	clear(f.x[first:][:n])
	return !watch || !(upper > growth*most)
}

// pivotError says what is wrong with a pivot that is small or not finite; nil if it may be used.
func (f *sparse) pivotError(k int, pivot float64) error {
	o := f.o
	if !(magnitude(pivot) <= math.MaxFloat64) {
		own := magnitude(pivot)
		return &NotFiniteError{Row: int(o.rows[k]), Col: int(f.s.cols[k]), Value: own, Overflow: true}
	}
	var c cancellation
	f.terms(&c, k, k)
	if c.all(magnitude(pivot)) {
		return &SingularError{Rows: []int{int(o.rows[k])}, Cols: []int{int(f.s.cols[k])}}
	}
	return nil
}

// terms adds the terms of the entry at the places row and k.
func (f *sparse) terms(c *cancellation, row, k int) {
	o := f.o
	for e := o.uStart[k]; e < o.uStart[k+1]; e++ {
		m := o.uRows[e]
		if q, ok := slices.BinarySearch(o.lRows[o.lStart[m]:o.lEnd[m]], int32(row)); ok {
			c.add(magnitude(f.l[int(o.lValue[m])+q]), magnitude(f.u[e]))
		}
	}
}

// tailError says what is wrong with pivot k of the tail, which is small or not finite; nil if it may be
// used. own is its magnitude.
func (f *sparse) tailError(k int, own float64) error {
	first := int(f.s.tail)
	at := first + original(f.tail.pivot, k)
	row, col := int(f.o.rows[at]), int(f.s.cols[first+k])
	if !(own <= math.MaxFloat64) {
		return &NotFiniteError{Row: row, Col: col, Value: own, Overflow: true}
	}
	if own < magnitude(f.patch) {
		f.tail.a[k*f.tail.p.N+k] = f.patch
		return nil
	}
	var c cancellation
	f.tail.terms(&c, k)
	f.terms(&c, at, first+k)
	if c.all(own) {
		return &SingularError{Rows: []int{row}, Cols: []int{col}}
	}
	return nil
}

// solve is Solve for the elements of x that lie stride apart.
func (f *sparse) solve(x []float64, stride int) {
	o, w := f.o, f.w
	for k, i := range o.rows {
		w[k] = x[int(i)*stride]
	}
	for b := len(f.s.start) - 2; b >= 0; b-- {
		k0, k1 := int(f.s.start[b]), int(f.s.start[b+1])
		end := f.s.sparseEnd(k1)
		for k := k0; k < end; k++ {
			s := w[k]
			from, to := o.lStart[k], o.lEnd[k]
			rows, l := o.lRows[from:to], f.l[o.lValue[k]:][:to-from]
			for q, i := range rows {
				w[i] = fma(l[q], s, w[i])
			}
		}
		if end < k1 {
			f.tail.Solve(w[end:k1], 1)
		}
		for k := k1 - 1; k >= k0; k-- {
			if k < end {
				w[k] = -mul(w[k], f.recip[k])
			}
			s := -w[k]
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				w[i] = fma(u[q], s, w[i])
			}
		}
		for k := k0; k < k1; k++ {
			s := -w[k]
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				i := o.offRows[e]
				w[i] = fma(f.off[e], s, w[i])
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
		end := f.s.sparseEnd(k1)
		for k := k0; k < k1; k++ {
			s := -w[k]
			for e := o.offStart[k]; e < o.offStart[k+1]; e++ {
				s = fma(f.off[e], w[o.offRows[e]], s)
			}
			from, to := o.uStart[k], o.uStart[k+1]
			rows, u := o.uRows[from:to], f.u[from:to]
			for q, i := range rows {
				s = fma(u[q], w[i], s)
			}
			if k < end {
				w[k] = mul(s, f.recip[k])
			} else {
				w[k] = -s
			}
		}
		if end < k1 {
			f.tail.SolveT(w[end:k1], 1)
		}
		for k := end - 1; k >= k0; k-- {
			s := w[k]
			from, to := o.lStart[k], o.lEnd[k]
			rows, l := o.lRows[from:to], f.l[o.lValue[k]:][:to-from]
			for q := len(rows) - 1; q >= 0; q-- { // what was found last comes last
				s = fma(l[q], w[rows[q]], s)
			}
			w[k] = s
		}
	}
	for k, i := range o.rows {
		x[int(i)*stride] = w[k]
	}
}

func (f *sparse) NonZeros() int { return f.o.nonZeros() }

func (f *sparse) Flops() int { return f.o.flops }

// Work implements LU.
func (f *sparse) Work() (factor, solve int) { return f.Flops(), 2 * f.NonZeros() }
