package linalg

import (
	"cmp"
	"math"
)

// complexDense is dense for complex matrices, without blocks: those that are solved densely are small.
type complexDense struct {
	p       *Pattern
	a       []complex128 // column by column: U, and below its diagonal −L
	recip   []complex128 // −1 over the diagonal of U
	pivot   []int32      // the row that was exchanged with row k at step k
	units   rowUnits     // as of dense
	settled bool
	values  []complex128 // of the matrix while it is factored; nil for a part of another
	reach   reach
	blocks  []int32 // see diagonalBlocks, where divided is set
	divided bool
	balance *balance // nil until units are asked for
	least   float64  // of units that are asked for; 0: kept
	blame   func(k int, pivot float64) error
}

func newComplexDense(p *Pattern) *complexDense {
	d := newComplexSquare(p)
	d.a, d.blame = make([]complex128, p.N*p.N), d.pivotError
	return d
}

// newComplexSquare is newComplexDense without the matrix, which is written to a.
func newComplexSquare(p *Pattern) *complexDense {
	n := p.N
	return &complexDense{p: p, recip: make([]complex128, n), pivot: make([]int32, n)}
}

func (d *complexDense) Factor(values []complex128) error {
	values = values[:len(d.p.Rows)]
	size, finite := complexLargest(values)
	if !finite {
		return d.p.complexNotFinite(values)
	}
	d.take(values)
	d.values = values
	defer func() { d.values = nil }()
	err := d.run(size)
	if ask := unitsAsked(err); ask != nil {
		d.take(values)
		if d.balance == nil {
			d.balance = newBalance(d.p)
		}
		units, _ := d.balance.units(nil, ask.apart, d.entry)
		d.least = ask.least
		err = d.runIn(units, size)
		d.least = 0
	}
	return err
}

// entry returns the magnitude of an entry of the matrix.
func (d *complexDense) entry(e int) float64 { return complexMagnitude(d.values[e]) }

// within returns which of the entries of column k, of what is left of it, is its pivot: at, the largest one, unless the
// unknown does not depend on that of its row; then the largest one of those rows on which it does.
func (d *complexDense) within(k, at int) int {
	n := d.p.N
	if d.values == nil || needs(&d.reach, d.p, d.values, k, came(d.pivot[:k], k+at)) {
		return at
	}
	best, largest := at, smallest
	for i, v := range d.a[k*n:][k:n] {
		if v := complexMagnitude(v); v > largest && needs(&d.reach, d.p, d.values, k, came(d.pivot[:k], k+i)) {
			best, largest = i, v
		}
	}
	return best
}

// foreign reports whether the pivot of column k is of a row that had no need to come there.
func (d *complexDense) foreign(k int) bool {
	if d.settled || d.values == nil {
		return false
	}
	i, p := original(d.pivot, k), d.pivot[k]
	d.pivot[k] = int32(k)
	r := original(d.pivot, k)
	d.pivot[k] = p
	return d.p.foreign(k, r, i, d.blocksOnce, d.entry)
}

// blocksOnce returns the diagonal blocks of the matrix.
func (d *complexDense) blocksOnce() []int32 {
	if !d.divided {
		d.blocks, d.divided = d.p.diagonalBlocks(), true
	}
	return d.blocks
}

// take writes the matrix to a.
func (d *complexDense) take(values []complex128) {
	n := d.p.N
	clear(d.a)
	for j := range n {
		c := d.a[j*n:][:n]
		for e := d.p.Start[j]; e < d.p.Start[j+1]; e++ {
			c[d.p.Rows[e]] = values[e]
		}
	}
}

// runIn is run with pivots that are chosen in units of rows. nil stands for those of the matrix.
func (d *complexDense) runIn(units rowUnits, size float64) error {
	d.units, d.settled = units, true
	defer func() { d.units, d.settled = nil, false }()
	return d.run(size)
}

// run factors what is in a, as a part of a matrix whose entries have magnitudes up to size.
func (d *complexDense) run(size float64) error {
	n := d.p.N
	for k := range n {
		c := d.a[k*n:][k:n]
		at, most := 0, complexMagnitude(c[0])
		for i, v := range c[1:] {
			if v := complexMagnitude(v); v > most {
				at, most = i+1, v
			}
		}
		if d.units != nil {
			at = d.units.choose(k, len(c), cmp.Or(d.least, kept), func(i int) float64 { return complexMagnitude(c[i]) })
			most = complexMagnitude(c[at])
		}
		if at > 0 {
			at = d.within(k, at)
			most = complexMagnitude(c[at])
		}
		d.pivot[k] = int32(k + at)
		if at > 0 {
			if d.foreign(k) {
				return errForeign
			}
			for i := k; i < n*n; i += n {
				d.a[i], d.a[i+at] = d.a[i+at], d.a[i]
			}
		}
		if !(most > size*suspicious) || !(most <= math.MaxFloat64) {
			if err := d.blame(k, most); err != nil {
				return err
			}
		}
		r := complexNegativeInverse(c[0])
		d.recip[k] = r
		l := c[1:]
		for i, v := range l {
			l[i] = complexMul(v, r)
		}
		if at > 0 && !d.settled && isUneven(complexMagnitude(l[at-1])) {
			return errUneven
		}
		for j := k + 1; j < n; j++ {
			c := d.a[j*n:][k:n]
			s, to := c[0], c[1:][:len(l)]
			for i, v := range l {
				to[i] = complexFMA(v, s, to[i])
			}
		}
	}
	return nil
}

// pivotError says what is wrong with pivot k of the given magnitude; nil if it may be used.
func (d *complexDense) pivotError(k int, pivot float64) error {
	at := original(d.pivot, k)
	if !(pivot <= math.MaxFloat64) {
		return &NotFiniteError{Row: at, Col: k, Value: pivot, Overflow: true}
	}
	var c cancellation
	d.terms(&c, k)
	if c.all(pivot) {
		return &SingularError{Rows: []int{at}, Cols: []int{k}}
	}
	return nil
}

// terms adds the terms of pivot k.
func (d *complexDense) terms(c *cancellation, k int) {
	n := d.p.N
	for m := range k {
		c.add(complexMagnitude(d.a[m*n+k]), complexMagnitude(d.a[k*n+m]))
	}
}

func (d *complexDense) Solve(x []complex128, lanes int) {
	n := d.p.N
	x = x[:n*lanes]
	for k, p := range d.pivot {
		swapRows(x, k, int(p), lanes)
	}
	for k := range n {
		s := x[k*lanes:][:lanes]
		for i := k + 1; i < n; i++ {
			complexAxpy(x[i*lanes:], s, d.a[k*n+i])
		}
	}
	for k := n - 1; k >= 0; k-- {
		s := x[k*lanes:][:lanes]
		for l := range s {
			s[l] = complexMul(s[l], d.recip[k]) // −x
		}
		for i := range k {
			complexAxpy(x[i*lanes:], s, d.a[k*n+i])
		}
		for l := range s {
			s[l] = -s[l]
		}
	}
}

func (d *complexDense) SolveT(x []complex128, lanes int) {
	n := d.p.N
	x = x[:n*lanes]
	for i := range n {
		s := x[i*lanes:][:lanes]
		for l := range s {
			s[l] = -s[l]
		}
		for k := range i {
			complexAxpy(s, x[k*lanes:][:lanes], d.a[i*n+k])
		}
		for l := range s {
			s[l] = complexMul(s[l], d.recip[i])
		}
	}
	for i := n - 1; i >= 0; i-- {
		s := x[i*lanes:][:lanes]
		for k := i + 1; k < n; k++ {
			complexAxpy(s, x[k*lanes:][:lanes], d.a[i*n+k])
		}
	}
	for k := n - 1; k >= 0; k-- {
		swapRows(x, k, int(d.pivot[k]), lanes)
	}
}

// complexAxpy adds s times x to y, for all of x.
func complexAxpy(y, x []complex128, s complex128) {
	y = y[:len(x)]
	for l, v := range x {
		y[l] = complexFMA(s, v, y[l])
	}
}

func (d *complexDense) Order() *Order { return nil }

func (d *complexDense) SetOrder(*Order) {}

func (d *complexDense) NonZeros() int { return len(d.a) }

func (d *complexDense) Flops() int { return denseFlops(d.p.N) }

func (d *complexDense) Memory() int { return 16*(len(d.a)+len(d.recip)) + 4*len(d.pivot) }
