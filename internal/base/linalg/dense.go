package linalg

import (
	"cmp"
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/team"
)

// dense is an LU factorisation with partial pivoting of a matrix that is kept whole. Elimination is
// recursive by columns (S. Toledo, Locality of reference in LU decomposition with partial pivoting,
// SIAM J. Matrix Anal. Appl. 18, 1997), so that nearly all work is products of matrices. Each
// element is one chain of fused multiply-adds in the order of the pivots, however it is cut into
// blocks.
type dense struct {
	p       *Pattern
	to      []int32     // place in a of each value; nil if the pattern is full
	a       []float64   // column by column: U, and below its diagonal −L
	recip   []float64   // −1 over the diagonal of U
	pivot   []int32     // the row that was exchanged with row k at step k
	begun   []int32     // by column: how many of the exchanges it has had
	work    [][]float64 // by member of the team
	team    *team.Team  // that shares the columns of an update; nil for this goroutine alone
	update  update
	largest float64   // magnitude of the matrix's entries
	units   rowUnits  // of the rows, as exchanged so far; nil where they are alike
	settled bool      // pivots are not doubted because of units
	values  []float64 // of the matrix while it is factored; nil for a part of another
	reach   reach
	blocks  []int32 // see diagonalBlocks, where divided is set
	divided bool
	balance *balance // nil until units are asked for
	least   float64  // of units that are asked for; 0: kept
	row     [block]float64
	blame   func(k int, pivot float64) error // says what is wrong with pivot k of the given magnitude
}

const (
	block = 8 // columns that a solve takes at once
	leaf  = 4 // columns that elimination takes one by one
	plain = 12
)

func newDense(p *Pattern) *dense {
	n := p.N
	d := newSquare(p)
	d.a, d.blame = make([]float64, n*n), d.pivotError
	if len(p.Rows) < n*n {
		d.to = make([]int32, len(p.Rows))
		for j := range n {
			for e := p.Start[j]; e < p.Start[j+1]; e++ {
				d.to[e] = int32(j*n) + p.Rows[e]
			}
		}
	}
	return d
}

// newSquare is newDense without the matrix, which is written to a.
func newSquare(p *Pattern) *dense {
	n := p.N
	return &dense{
		p: p, recip: make([]float64, n), pivot: make([]int32, n), begun: make([]int32, n),
		work: [][]float64{make([]float64, simd.MatMulWork(n, max(n, 64)))},
	}
}

// share lets a team do the updates of columns.
func (d *dense) share(t *team.Team) {
	if d.p.N < leastShared {
		return
	}
	d.team = t
	for len(d.work) < t.Size() {
		d.work = append(d.work, make([]float64, len(d.work[0])))
	}
}

func (d *dense) Factor(values []float64) error {
	values = values[:len(d.p.Rows)]
	size, finite := largest(values)
	if !finite {
		return d.p.notFinite(values)
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
func (d *dense) entry(e int) float64 { return math.Abs(d.values[e]) }

// foreign reports whether the pivot of column k is of a row that had no need to come there.
func (d *dense) foreign(k int) bool {
	if d.settled || d.values == nil {
		return false
	}
	i, p := original(d.pivot, k), d.pivot[k]
	d.pivot[k] = int32(k)
	r := original(d.pivot, k)
	d.pivot[k] = p
	return d.p.foreign(k, r, i, d.blocksOnce, d.entry)
}

// within returns which of the entries of column k, of what is left of it, is its pivot: at, the largest one, unless the
// unknown does not depend on that of its row; then the largest one of those rows on which it does.
func (d *dense) within(k, at int) int {
	n := d.p.N
	if d.values == nil || needs(&d.reach, d.p, d.values, k, came(d.pivot[:k], k+at)) {
		return at
	}
	best, largest := at, smallest
	for i, v := range d.a[k*n:][k:n] {
		if v := math.Abs(v); v > largest && needs(&d.reach, d.p, d.values, k, came(d.pivot[:k], k+i)) {
			best, largest = i, v
		}
	}
	return best
}

// blocksOnce returns the diagonal blocks of the matrix.
func (d *dense) blocksOnce() []int32 {
	if !d.divided {
		d.blocks, d.divided = d.p.diagonalBlocks(), true
	}
	return d.blocks
}

// take writes the matrix to a.
func (d *dense) take(values []float64) {
	if d.to == nil {
		copy(d.a, values)
		return
	}
	clear(d.a)
	for e, v := range values {
		d.a[d.to[e]] = v
	}
}

// runIn is run with pivots that are chosen in units of rows. nil stands for those of the matrix.
func (d *dense) runIn(units rowUnits, size float64) error {
	d.units, d.settled = units, true
	defer func() { d.units, d.settled = nil, false }()
	return d.run(size)
}

// run factors what is in a, as a part of a matrix whose entries have magnitudes up to size. The error is errUneven
// where units of rows should be looked at.
func (d *dense) run(size float64) error {
	d.largest = size
	clear(d.begun)
	if n := d.p.N; n > plain {
		return d.eliminate(0, n)
	}
	return d.columns(0, d.p.N)
}

// eliminate factors the columns from j0 to j1, which all earlier ones have updated. They have all exchanges of rows up
// to j1 then, and columns of other numbers have those that they had.
func (d *dense) eliminate(j0, j1 int) error {
	if j1-j0 <= leaf {
		return d.columns(j0, j1)
	}
	n := d.p.N
	mid := j0 + (j1-j0+1)/2
	if err := d.eliminate(j0, mid); err != nil {
		return err
	}
	if u := (update{d, j0, mid, j1, j1 - mid}); d.team == nil || (mid-j0)*(n-mid)*(j1-mid) < sharedWork {
		u.Part(0, 0)
	} else {
		u.each = max((j1-mid+2*d.team.Size()-1)/(2*d.team.Size()), block)
		d.update = u
		d.team.Do((j1-mid+u.each-1)/u.each, &d.update)
	}
	if err := d.eliminate(mid, j1); err != nil {
		return err
	}
	d.exchange(j0, mid, j1)
	return nil
}

// leastShared is how many unknowns a matrix has whose updates are worth sharing, and sharedWork how many multiply-adds
// such an update. Tests make them small.
var leastShared, sharedWork = 384, 1 << 20

// update takes the factored columns from j0 to mid into those from mid to j1: so many columns are a part of it.
type update struct {
	d           *dense
	j0, mid, j1 int
	each        int
}

// Part implements team.Work.
func (u *update) Part(i, who int) {
	d, n, k0, k1 := u.d, u.d.p.N, u.j0, u.mid
	from := k1 + i*u.each
	to := min(from+u.each, u.j1)
	d.exchange(from, to, k1)
	d.lower(k0, k1, from, to, d.work[who])
	simd.MatMul(d.a[from*n+k1:], d.a[from*n+k0:], d.a[k0*n+k1:], to-from, k1-k0, n-k1, n, n, n, false, false, true,
		d.work[who])
}

// exchange brings the rows of the columns from j0 to j1 to where the steps before k leave them. A column has many
// exchanges at a time, since its elements are neighbours in memory, and those of a row are not.
func (d *dense) exchange(j0, j1, k int) {
	n := d.p.N
	for j := j0; j < j1; j++ {
		c := d.a[j*n:][:n]
		for m := int(d.begun[j]); m < k; m++ {
			if at := int(d.pivot[m]); at != m {
				c[m], c[at] = c[at], c[m]
			}
		}
		d.begun[j] = int32(k)
	}
}

// lower applies the inverse of L, its rows and columns from k0 to k1, to the columns from j0 to j1.
func (d *dense) lower(k0, k1, j0, j1 int, work []float64) {
	n := d.p.N
	if k1-k0 > block {
		mid := (k0 + k1) / 2
		d.lower(k0, mid, j0, j1, work)
		simd.MatMul(d.a[j0*n+mid:], d.a[j0*n+k0:], d.a[k0*n+mid:], j1-j0, mid-k0, k1-mid, n, n, n,
			false, false, true, work)
		d.lower(mid, k1, j0, j1, work)
		return
	}
	j := j0
	for ; j+4 <= j1; j += 4 { // four at a time, which do not wait for one another
		c0, c1, c2, c3 := d.a[j*n:][k0:k1], d.a[(j+1)*n:][k0:k1], d.a[(j+2)*n:][k0:k1], d.a[(j+3)*n:][k0:k1]
		for k := range len(c0) - 1 {
			l := d.a[(k0+k)*n:][k0+k+1 : k1]
			s0, s1, s2, s3 := c0[k], c1[k], c2[k], c3[k]
			t0, t1, t2, t3 := c0[k+1:][:len(l)], c1[k+1:][:len(l)], c2[k+1:][:len(l)], c3[k+1:][:len(l)]
			for i, v := range l {
				t0[i] = math.FMA(v, s0, t0[i])
				t1[i] = math.FMA(v, s1, t1[i])
				t2[i] = math.FMA(v, s2, t2[i])
				t3[i] = math.FMA(v, s3, t3[i])
			}
		}
	}
	for ; j < j1; j++ {
		c := d.a[j*n:][k0:k1]
		for k := range len(c) - 1 {
			addScaled(c[k+1:], d.a[(k0+k)*n:][k0+k+1:k1], c[k])
		}
	}
}

// addScaled adds s·l to y.
func addScaled(y, l []float64, s float64) {
	y = y[:len(l)]
	for i, v := range l {
		y[i] = math.FMA(v, s, y[i])
	}
}

// columns factors the columns from j0 to j1 one by one.
func (d *dense) columns(j0, j1 int) error {
	n := d.p.N
	for k := j0; k < j1; k++ {
		c := d.a[k*n:][k:n]
		at, most := 0, math.Abs(c[0])
		for i, v := range c[1:] {
			if v := math.Abs(v); v > most {
				at, most = i+1, v
			}
		}
		if d.units != nil {
			at = d.units.choose(k, len(c), cmp.Or(d.least, kept), func(i int) float64 { return math.Abs(c[i]) })
			most = math.Abs(c[at])
		}
		if at > 0 {
			at = d.within(k, at)
			most = math.Abs(c[at])
		}
		d.pivot[k] = int32(k + at)
		if at > 0 && d.foreign(k) {
			return errForeign
		}
		d.exchange(j0, j1, k+1)
		if !(most > d.largest*suspicious) || !(most <= math.MaxFloat64) {
			d.exchange(0, n, k+1)
			if err := d.blame(k, most); err != nil {
				return err
			}
		}
		r := -1 / c[0]
		d.recip[k] = r
		l := c[1:]
		for i, v := range l {
			l[i] = float64(v * r)
		}
		if at > 0 && !d.settled && isUneven(l[at-1]) {
			return errUneven
		}
		for j := k + 1; j < j1; j++ {
			c := d.a[j*n:][k:n]
			if len(l) < 32 {
				addScaled(c[1:], l, c[0])
			} else {
				simd.MatVecT(c[1:], l, c[:1], 1, len(l), n, true)
			}
		}
	}
	return nil
}

// suspicious times the largest entry of a matrix is a pivot that may be nothing but rounding.
const suspicious = 0x1p-30

// cancellation tells whether a pivot is more than what rounding leaves of the sum that it is.
type cancellation struct {
	terms int
	sum   float64 // of the magnitudes of the terms
}

// add takes in the term l·u.
func (c *cancellation) add(l, u float64) {
	if l != 0 && u != 0 {
		c.terms++
		c.sum = math.FMA(math.Abs(l), math.Abs(u), c.sum)
	}
}

// all reports whether the pivot is no larger than four times the bound of the elimination's backward
// error at its place (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002, theorem
// 9.3): then a matrix that differs by rounding is singular. Four, because errors at other places
// reach the pivot, too. A pivot whose reciprocal overflows counts as 0.
func (c *cancellation) all(pivot float64) bool {
	return math.Abs(pivot) <= max(0x1p-51*float64(c.terms+1)*c.sum, smallest)
}

// pivotError says what is wrong with pivot k, which is small or not finite; nil if it may be used.
func (d *dense) pivotError(k int, pivot float64) error {
	at := original(d.pivot, k)
	if !(pivot <= math.MaxFloat64) {
		return &NotFiniteError{Row: at, Col: k, Value: d.a[k*d.p.N+k], Overflow: true}
	}
	var c cancellation
	d.terms(&c, k)
	if c.all(pivot) {
		return &SingularError{Rows: []int{at}, Cols: []int{k}}
	}
	return nil
}

// terms adds the terms of pivot k.
func (d *dense) terms(c *cancellation, k int) {
	n := d.p.N
	for m := range k {
		c.add(d.a[m*n+k], d.a[k*n+m])
	}
}

// original returns the row of the matrix that came to row k by the exchanges up to step k.
func original(pivot []int32, k int) int { return came(pivot[:k+1], k) }

// came returns the row of the matrix that came to a place by some exchanges.
func came(exchanges []int32, at int) int {
	for m := len(exchanges) - 1; m >= 0; m-- {
		if p := int(exchanges[m]); p == at {
			at = m
		} else if m == at {
			at = p
		}
	}
	return at
}

func (d *dense) Solve(x []float64, lanes int) {
	n := d.p.N
	x = x[:n*lanes]
	if lanes == 1 && d.small(x, false) {
		return
	}
	for k, p := range d.pivot {
		swapRows(x, k, int(p), lanes)
	}
	if lanes == 1 {
		d.solve(x)
		return
	}
	// L.
	for k0 := 0; k0 < n; k0 += block {
		k1 := min(k0+block, n)
		for i := k0 + 1; i < k1; i++ {
			for k := k0; k < i; k++ {
				d.row[k-k0] = d.a[k*n+i]
			}
			simd.MatVecT(x[i*lanes:], x[k0*lanes:], d.row[:], i-k0, lanes, lanes, true)
		}
		if k1 < n {
			d.product(x, k1, n, k0, k1, lanes, false)
		}
	}
	// U, with the unknown parts of x negative.
	for i := range x {
		x[i] = -x[i]
	}
	for k1 := n; k1 > 0; {
		k0 := (k1 - 1) / block * block
		for i := k1 - 1; i >= k0; i-- {
			for k := i + 1; k < k1; k++ {
				d.row[k-i-1] = d.a[k*n+i]
			}
			simd.MatVecT(x[i*lanes:], x[min((i+1)*lanes, len(x)):], d.row[:], k1-i-1, lanes, lanes, true)
			scale(x[i*lanes:][:lanes], d.recip[i])
		}
		if k0 > 0 {
			d.product(x, 0, k0, k0, k1, lanes, false)
		}
		k1 = k0
	}
}

// product adds to the rows of x from i0 to i1 the matrix's rows i0 to i1 and columns k0 to k1, or
// with transposed set its columns i0 to i1 and rows k0 to k1, times the rows of x from k0 to k1.
func (d *dense) product(x []float64, i0, i1, k0, k1, lanes int, transposed bool) {
	n := d.p.N
	from := k0*n + i0
	if transposed {
		from = i0*n + k0
	}
	for l := 0; l < lanes; l += 64 {
		simd.MatMul(x[i0*lanes+l:], d.a[from:], x[k0*lanes+l:], i1-i0, k1-k0, min(64, lanes-l), lanes, n, lanes,
			!transposed, false, true, d.work[0])
	}
}

// solve is Solve for one lane, after the exchanges of rows.
func (d *dense) solve(x []float64) {
	n := len(x)
	for k0 := 0; k0 < n; k0 += block {
		k1 := min(k0+block, n)
		for k := k0; k < k1-1; k++ {
			s, l, to := x[k], d.a[k*n:][k+1:k1], x[k+1:]
			for i, v := range l {
				to[i] = math.FMA(v, s, to[i])
			}
		}
		if k1 < n {
			simd.MatVecT(x[k1:], d.a[k0*n+k1:], x[k0:], k1-k0, n-k1, n, true)
		}
	}
	for i := range x {
		x[i] = -x[i]
	}
	for k1 := n; k1 > 0; {
		k0 := (k1 - 1) / block * block
		for i := k1 - 1; i >= k0; i-- {
			s := x[i]
			for k := i + 1; k < k1; k++ {
				s = math.FMA(d.a[k*n+i], x[k], s)
			}
			x[i] = float64(s * d.recip[i])
		}
		if k0 > 0 {
			simd.MatVecT(x, d.a[k0*n:], x[k0:], k1-k0, k0, n, true)
		}
		k1 = k0
	}
}

func (d *dense) SolveT(x []float64, lanes int) {
	n := d.p.N
	x = x[:n*lanes]
	if lanes == 1 && d.small(x, true) {
		return
	}
	if lanes == 1 {
		d.solveT(x)
	} else {
		// Uᵀ, with the unknown parts of x negative.
		for i := range x {
			x[i] = -x[i]
		}
		for k0 := 0; k0 < n; k0 += block {
			k1 := min(k0+block, n)
			if k0 > 0 {
				d.product(x, k0, k1, 0, k0, lanes, true)
			}
			for i := k0; i < k1; i++ {
				simd.MatVecT(x[i*lanes:], x[k0*lanes:], d.a[i*n+k0:], i-k0, lanes, lanes, true)
				scale(x[i*lanes:][:lanes], d.recip[i])
			}
		}
		// Lᵀ.
		for k1 := n; k1 > 0; {
			k0 := (k1 - 1) / block * block
			if k1 < n {
				d.product(x, k0, k1, k1, n, lanes, true)
			}
			for i := k1 - 2; i >= k0; i-- {
				simd.MatVecT(x[i*lanes:], x[(i+1)*lanes:], d.a[i*n+i+1:], k1-i-1, lanes, lanes, true)
			}
			k1 = k0
		}
	}
	for k := n - 1; k >= 0; k-- {
		swapRows(x, k, int(d.pivot[k]), lanes)
	}
}

// solveT is SolveT for one lane, before the exchanges of rows.
func (d *dense) solveT(x []float64) {
	n := len(x)
	for i := range x {
		x[i] = -x[i]
	}
	for k0 := 0; k0 < n; k0 += block {
		k1 := min(k0+block, n)
		if k0 > 0 {
			simd.MatVec(x[k0:], d.a[k0*n:], x, k1-k0, k0, n, true)
		}
		for i := k0; i < k1; i++ {
			s, from := x[i], x[k0:i]
			for k, v := range d.a[i*n+k0:][:len(from)] {
				s = math.FMA(v, from[k], s)
			}
			x[i] = float64(s * d.recip[i])
		}
	}
	for k1 := n; k1 > 0; {
		k0 := (k1 - 1) / block * block
		if k1 < n {
			simd.MatVec(x[k0:], d.a[k0*n+k1:], x[k1:], k1-k0, n-k1, n, true)
		}
		for i := k1 - 2; i >= k0; i-- {
			s, from := x[i], x[i+1:k1]
			for k, v := range d.a[i*n+i+1:][:len(from)] {
				s = math.FMA(v, from[k], s)
			}
			x[i] = s
		}
		k1 = k0
	}
}

// swapRows exchanges the rows i and j of x[][lanes].
func swapRows[T float64 | complex128](x []T, i, j, lanes int) {
	if i == j {
		return
	}
	a, b := x[i*lanes:][:lanes], x[j*lanes:][:lanes]
	for l := range a {
		a[l], b[l] = b[l], a[l]
	}
}

// scale multiplies x by s.
func scale(x []float64, s float64) {
	for l := range x {
		x[l] = float64(x[l] * s)
	}
}

func (d *dense) Order() *Order { return nil }

func (d *dense) SetOrder(*Order) {}

func (d *dense) Method() Method { return Dense }

func (d *dense) NonZeros() int { return d.p.N * d.p.N }

func (d *dense) Flops() int { return denseFlops(d.p.N) }

// Work implements LU.
func (d *dense) Work() (factor, solve int) { return d.Flops(), 2 * d.NonZeros() }

func (d *dense) Memory() int {
	return 8*(len(d.a)+len(d.recip)+len(d.work)) + 4*(len(d.to)+len(d.pivot))
}

// denseFlops returns the operations of a dense factorisation, a fused multiply-add being two.
func denseFlops(n int) int { return n*(n-1)*(2*n-1)/3 + n*(n-1)/2 }
