package linalg

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/simd"
)

// band is an LU factorisation with partial pivoting of a matrix whose entries lie near the diagonal
// once rows and columns are in a common order. The layout is that of LAPACK's dgbtrf: column by
// column, the diagonal of each column at the same place, with room above for what exchanges of rows
// bring there. Column k of L stands below the diagonal, as it was at step k.
type band struct {
	b          *bandwidths
	a          []float64 // U, and below its diagonal −L
	recip      []float64 // −1 over the diagonal of U
	pivot      []int32   // how far below the diagonal the row was that came to the diagonal
	packed     []float64
	w          []float64
	wide       [][8]float64
	largest    float64
	stride, at int // of columns, and the place of the diagonal in them
	reach      int // diagonals of U above the main one, after exchanges of rows
}

// bandwidths is a pattern in an order that makes it a band.
type bandwidths struct {
	p            *Pattern
	order        []int32 // the row and column of the matrix at each place
	lower, upper int     // diagonals below and above the main one
	to           []int32 // place of each value in a band
}

// newBandwidths orders a pattern.
func newBandwidths(p *Pattern, order []int32) *bandwidths {
	b := &bandwidths{p: p, order: order, to: make([]int32, len(p.Rows))}
	place := make([]int32, p.N)
	for k, i := range order {
		place[i] = int32(k)
	}
	for j := range p.N {
		for _, i := range p.column(j) {
			d := int(place[i] - place[j])
			b.lower, b.upper = max(b.lower, d), max(b.upper, -d)
		}
	}
	for j := range p.N {
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			b.to[e] = place[j]*int32(b.stride()) + int32(b.lower+b.upper) + place[p.Rows[e]] - place[j]
		}
	}
	return b
}

// stride is the length of a column of a band.
func (b *bandwidths) stride() int { return 2*b.lower + b.upper + 1 }

// flops returns the operations of a factorisation without exchanges of rows.
func (b *bandwidths) flops() int { return b.p.N * b.lower * (2*b.upper + 1) }

// memory returns the bytes of the order.
func (b *bandwidths) memory() int { return 4 * (len(b.order) + len(b.to)) }

func newBand(b *bandwidths) *band {
	n := b.p.N
	return &band{
		b: b, a: make([]float64, n*b.stride()), recip: make([]float64, n), pivot: make([]int32, n),
		packed: make([]float64, simd.PanelsSize(1, b.lower)), w: make([]float64, n), stride: b.stride(),
		at: b.lower + b.upper,
	}
}

// few elements of an update are faster one by one than by a kernel.
const kernelFrom = 48

func (f *band) Factor(values []float64) error {
	b := f.b
	n := b.p.N
	values = values[:len(b.to)]
	var finite bool
	if f.largest, finite = largest(values); !finite {
		return b.p.notFinite(values)
	}
	err := f.run(values, nil, false)
	if ask := unitsAsked(err); ask != nil {
		units, _ := b.p.units(nil, ask.apart, func(e int) float64 { return math.Abs(values[e]) })
		if units != nil {
			own := units
			units = make(rowUnits, n)
			for k, i := range b.order {
				units[k] = own[i]
			}
		}
		err = f.run(values, units, true)
	}
	return err
}

// run factors the matrix, with pivots that are chosen in units of its rows, by places; nil stands for those of the
// matrix. The error is errUneven where units should be looked at, unless they have been.
func (f *band) run(values []float64, units rowUnits, settled bool) error {
	b := f.b
	n := b.p.N
	clear(f.a)
	for e, v := range values {
		f.a[b.to[e]] = v
	}
	f.reach = b.upper
	last := 0 // column that the rows so far reach
	step := f.stride - 1
	for k := range n {
		below := min(b.lower, n-1-k)
		c := f.a[k*f.stride+f.at:][:below+1]
		at, most := 0, math.Abs(c[0])
		for i, v := range c[1:] {
			if v := math.Abs(v); v > most {
				at, most = i+1, v
			}
		}
		if units != nil {
			at = units.choose(k, len(c), kept, func(i int) float64 { return math.Abs(c[i]) })
			most = math.Abs(c[at])
		}
		f.pivot[k] = int32(at)
		last = max(last, min(k+b.upper+at, n-1))
		if at > 0 {
			f.reach = max(f.reach, b.upper+at)
			for j := k; j <= last; j++ {
				d := j*f.stride + f.at + k - j
				f.a[d], f.a[d+at] = f.a[d+at], f.a[d]
			}
		}
		if !(most > f.largest*suspicious) || !(most <= math.MaxFloat64) {
			if err := f.pivotError(k); err != nil {
				return err
			}
		}
		r := -1 / c[0]
		f.recip[k] = r
		l := c[1:]
		for i, v := range l {
			l[i] = float64(v * r)
		}
		if at > 0 && !settled && isUneven(l[at-1]) {
			return errUneven
		}
		if below == 0 || last == k {
			continue
		}
		next := f.a[(k+1)*f.stride+f.at-1:]
		if below*(last-k) >= kernelFrom {
			simd.PackPanels(f.packed, l, 1, below, below, false)
			u := simd.Update{Rows: last - k, Cols: below, Inner: 1, Lanes: 1, RowG: step, StepY: 1, RowY: step}
			simd.RankUpdate(&u, next[1:], next, f.packed[:simd.PanelsSize(1, below)], true)
			continue
		}
		for j := range last - k {
			c := next[j*step:][:below+1]
			s, to := c[0], c[1:]
			for i, v := range l {
				to[i] = math.FMA(v, s, to[i])
			}
		}
	}
	return nil
}

// pivotError says what is wrong with pivot k, which is small or not finite; nil if it may be used.
func (f *band) pivotError(k int) error {
	pivot := f.a[k*f.stride+f.at]
	at := k
	var c cancellation
	for m := k; m >= 0; m-- {
		// Here the row is at that place after step m.
		if m < k && m < at && at-m <= f.b.lower && k-m <= f.at {
			c.add(f.a[m*f.stride+f.at+at-m], f.a[k*f.stride+f.at+m-k])
		}
		if p := m + int(f.pivot[m]); p == at {
			at = m
		} else if m == at {
			at = p
		}
	}
	row, col := int(f.b.order[at]), int(f.b.order[k])
	if !(math.Abs(pivot) <= math.MaxFloat64) {
		return &NotFiniteError{Row: row, Col: col, Value: pivot, Overflow: true}
	}
	if c.all(pivot) {
		return &SingularError{Rows: []int{row}, Cols: []int{col}}
	}
	return nil
}

// lowerColumn returns column k of −L, and upperColumn column k of U above the diagonal with the
// place of its first row.
func (f *band) lowerColumn(k int) []float64 {
	return f.a[k*f.stride+f.at+1:][:min(f.b.lower, len(f.recip)-1-k)]
}

func (f *band) upperColumn(k int) (u []float64, first int) {
	first = max(0, k-f.reach)
	return f.a[k*f.stride+f.at-(k-first):][:k-first], first
}

func (f *band) Solve(x []float64, lanes int)  { f.lanes(x, lanes, f.solve, f.solveWide) }
func (f *band) SolveT(x []float64, lanes int) { f.lanes(x, lanes, f.solveT, f.solveTWide) }

// lanes runs one for single lanes and wide for eight of them.
func (f *band) lanes(x []float64, lanes int, one, wide func()) {
	x = x[:len(f.w)*lanes]
	for l := 0; l < lanes; {
		if left := lanes - l; left < few {
			for k, i := range f.b.order {
				f.w[k] = x[int(i)*lanes+l]
			}
			one()
			for k, i := range f.b.order {
				x[int(i)*lanes+l] = f.w[k]
			}
			l++
			continue
		}
		if f.wide == nil {
			f.wide = make([][8]float64, len(f.w))
		}
		n := min(8, lanes-l)
		for k, i := range f.b.order {
			clear(f.wide[k][copy(f.wide[k][:n], x[int(i)*lanes+l:]):])
		}
		wide()
		for k, i := range f.b.order {
			copy(x[int(i)*lanes+l:], f.wide[k][:n])
		}
		l += n
	}
}

func (f *band) solve() {
	w := f.w
	for k := range w {
		at := k + int(f.pivot[k])
		w[k], w[at] = w[at], w[k]
		s, to := w[k], w[k+1:]
		for i, v := range f.lowerColumn(k) {
			to[i] = math.FMA(v, s, to[i])
		}
	}
	for k := len(w) - 1; k >= 0; k-- {
		s := float64(w[k] * f.recip[k]) // −x
		w[k] = -s
		u, first := f.upperColumn(k)
		to := w[first:]
		for i, v := range u {
			to[i] = math.FMA(v, s, to[i])
		}
	}
}

func (f *band) solveT() {
	w := f.w
	for k := range w {
		s := -w[k]
		u, first := f.upperColumn(k)
		from := w[first:]
		for i, v := range u {
			s = math.FMA(v, from[i], s)
		}
		w[k] = float64(s * f.recip[k])
	}
	for k := len(w) - 1; k >= 0; k-- {
		s, from := w[k], w[k+1:]
		for i, v := range f.lowerColumn(k) {
			s = math.FMA(v, from[i], s)
		}
		w[k] = s
		at := k + int(f.pivot[k])
		w[k], w[at] = w[at], w[k]
	}
}

func (f *band) solveWide() {
	w := f.wide
	for k := range w {
		at := k + int(f.pivot[k])
		w[k], w[at] = w[at], w[k]
		s, to := &w[k], w[k+1:]
		for i, v := range f.lowerColumn(k) {
			axpy(&to[i], s, v)
		}
	}
	for k := len(w) - 1; k >= 0; k-- {
		s := w[k]
		scale(s[:], f.recip[k]) // −x
		u, first := f.upperColumn(k)
		to := w[first:]
		for i, v := range u {
			axpy(&to[i], &s, v)
		}
		negate(&s)
		w[k] = s
	}
}

func (f *band) solveTWide() {
	w := f.wide
	for k := range w {
		s := w[k]
		negate(&s)
		u, first := f.upperColumn(k)
		from := w[first:]
		for i, v := range u {
			axpy(&s, &from[i], v)
		}
		scale(s[:], f.recip[k])
		w[k] = s
	}
	for k := len(w) - 1; k >= 0; k-- {
		s, from := w[k], w[k+1:]
		for i, v := range f.lowerColumn(k) {
			axpy(&s, &from[i], v)
		}
		w[k] = s
		at := k + int(f.pivot[k])
		w[k], w[at] = w[at], w[k]
	}
}

func (f *band) Method() Method { return Band }

func (f *band) Order() *Order { return nil }

func (f *band) SetOrder(*Order) {}

func (f *band) NonZeros() int { return len(f.recip) * (f.at + 1 + f.b.lower) }

func (f *band) Flops() int { return f.b.flops() }

// Work implements LU.
func (f *band) Work() (factor, solve int) { return f.Flops(), 2 * f.NonZeros() }

func (f *band) Memory() int {
	return 8*(len(f.a)+len(f.recip)+len(f.packed)+len(f.w)+8*len(f.wide)) + 4*len(f.pivot) + f.b.memory()
}

// cuthillMcKee orders the rows and columns of a pattern so that its entries lie near the diagonal:
// the reverse order of E. Cuthill and J. McKee (Proc. 24th ACM National Conference, 1969), from
// nodes that A. George and J. W. H. Liu's search finds far out (ACM Trans. Math. Softw. 5, 1979).
func cuthillMcKee(p *Pattern) []int32 {
	adj := neighbours(p)
	n := p.N
	byDegree := func(a, b int32) int {
		if d := len(adj[a]) - len(adj[b]); d != 0 {
			return d
		}
		return int(a - b)
	}
	for i := range adj {
		slices.SortFunc(adj[i], byDegree)
	}
	mark := make([]int32, n)
	stamp := int32(0)
	// levels walks from root by distance; last is where the nodes begin that are farthest away.
	levels := func(order []int32, root int32) (walk []int32, last, depth int) {
		stamp++
		walk = append(order, root)
		mark[root] = stamp
		for at := len(order); at < len(walk); depth++ {
			last = at
			for end := len(walk); at < end; at++ {
				for _, j := range adj[walk[at]] {
					if mark[j] != stamp {
						mark[j] = stamp
						walk = append(walk, j)
					}
				}
			}
		}
		return walk, last, depth
	}
	order := make([]int32, 0, n)
	done := make([]bool, n)
	for i := range n {
		if done[i] {
			continue
		}
		from := len(order)
		root := int32(i)
		walk, last, depth := levels(order, root)
		for {
			far := slices.MinFunc(walk[last:], byDegree)
			w, l, d := levels(order[:from:from], far)
			if d <= depth {
				break
			}
			root, walk, last, depth = far, w, l, d
		}
		order, _, _ = levels(order[:from], root)
		for _, j := range order[from:] {
			done[j] = true
		}
	}
	slices.Reverse(order)
	return order
}

// neighbours returns the graph of a pattern and its transpose, without loops.
func neighbours(p *Pattern) [][]int32 {
	adj := make([][]int32, p.N)
	for j := range p.N {
		for _, i := range p.column(j) {
			if int(i) != j {
				adj[j] = append(adj[j], i)
				adj[i] = append(adj[i], int32(j))
			}
		}
	}
	for i := range adj {
		slices.Sort(adj[i])
		adj[i] = slices.Compact(adj[i])
	}
	return adj
}
