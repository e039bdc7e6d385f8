package linalg

import (
	"math"
	"slices"
)

// Order is an order of pivots for a sparse matrix and what follows from it: where the factors have
// entries. It is not changed once it is made, and serves any number of factorisations of the same
// Analysis.
//
// Rows and columns have places in the order. The irreducible blocks are places one after the other,
// and only these blocks are factored. Entries above them remain as they are.
type Order struct {
	rows []int32 // the row of the matrix at each place

	// For each place its column: what of the matrix lies in its block, and what above.
	inStart, inRows, inValues    []int32 // places of rows, and which values stand there
	offStart, offRows, offValues []int32
	// For each place its column of L below the diagonal. The places of rows ascend from lStart to lEnd
	// in lRows, and the values lie from lValue on. Neighbouring columns whose rows are the same, but for
	// the triangle on the diagonal, are a panel (a supernode: J. W. Demmel and others, SIAM J. Matrix
	// Anal. Appl. 20, 1999): they share the list, and their values in a row lie a stride apart.
	lStart, lEnd, lValue, lRows []int32
	panelEnd                    []int32 // the place after the last of the panel

	// For each place its column of U above the diagonal: places of rows, ascending. Where a number of
	// entries belong to one panel, and are worth a kernel, panels has that number at the first of them.
	// At the first entry of several in neighbouring rows, runs has their number.
	uStart, uRows, panels, runs []int32

	groups []columnGroup // columns that are computed together, ascending

	lSize, lNonZeros, flops int
	tailSize                int // elements of the tail

	codes *codes
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

// structure is what all orders of a pattern share: the irreducible blocks and the order of columns.
type structure struct {
	p       *Pattern
	cols    []int32 // the column of the matrix at each place
	start   []int32 // the places of block b are start[b] to start[b+1]
	matched []int32 // the row of the matrix that pivots at each place if nothing speaks against it
	blockOf []int32 // the block of each row of the matrix

	// The last places of one block may be factored densely, with exchanges of rows among them. They are
	// tail to tailEnd; none where these are equal.
	tail, tailEnd int32
}

// inTail reports whether a place belongs to the tail, and sparseEnd returns where that begins in the block
// that ends at end; end itself if it has none.
func (s *structure) inTail(k int) bool { return int32(k) >= s.tail && int32(k) < s.tailEnd }

func (s *structure) sparseEnd(end int) int {
	if s.tail < s.tailEnd && int(s.tailEnd) == end {
		return int(s.tail)
	}
	return end
}

// newStructure finds the blocks of a pattern, and orders each so that its factors fill little.
func newStructure(p *Pattern) (*structure, error) {
	rows, matched := match(p)
	if matched < p.N {
		return nil, unmatched(p, rows)
	}
	s := &structure{p: p, matched: make([]int32, p.N), blockOf: make([]int32, p.N)}
	s.cols, s.start = triangular(p, rows)
	local, colOf := make([]int32, p.N), make([]int32, p.N)
	for j, i := range rows {
		colOf[i] = int32(j)
	}
	for b := range len(s.start) - 1 {
		cols := s.cols[s.start[b]:s.start[b+1]]
		for k, j := range cols {
			local[j] = int32(k)
			s.blockOf[rows[j]] = int32(b)
		}
		if len(cols) > 2 {
			adj := make([][]int32, len(cols))
			for k, j := range cols {
				for _, i := range p.column(int(j)) {
					if at := local[colOf[i]]; s.blockOf[i] == int32(b) && colOf[i] != j && cols[at] == colOf[i] {
						adj[k] = append(adj[k], at)
						adj[at] = append(adj[at], int32(k))
					}
				}
			}
			for k := range adj {
				slices.Sort(adj[k])
				adj[k] = slices.Compact(adj[k])
			}
			old := slices.Clone(cols)
			for k, at := range eliminationOrder(adj) {
				cols[k] = old[at]
			}
		}
		for k, j := range cols {
			s.matched[int(s.start[b])+k] = rows[j]
		}
	}
	return s, nil
}

// search finds the places of the entries of the factors, column by column (J. R. Gilbert and T.
// Peierls, Sparse partial pivoting in time proportional to arithmetic operations, SIAM J. Sci.
// Stat. Comput. 9, 1988), with the symmetric pruning of S. C. Eisenstat and J. W. H. Liu (SIAM J.
// Matrix Anal. Appl. 13, 1992). Until the order is known rows have their numbers in the matrix.
type search struct {
	*structure
	prefer []int32 // for each place the row that pivots if it may: the matched one, or what is left
	lStart []int32 // as in an Order without panels
	lRows  []int32
	place  []int32 // of a row, −1 as long as it is no pivot
	wanted []int32 // of a row: the place that prefers it
	mark   []int32 // of a row: the last column that reached it, + 1
	end    []int32 // of a column of L: the end of the rows to search
	stack  []int32
	next   []int32
	found  []int32 // columns of L that the column depends on; the last comes first in elimination
	below  []int32 // rows of the column that are no pivots yet
	pruned []bool
}

// chooser chooses pivots by the values of a matrix.
type chooser interface {
	// choose returns the row that pivots at place k, after reach.
	choose(t *search, o *Order, k int) (int32, error)
	// swap exchanges two elements of L.
	swap(a, b int32)
}

// entryBytes is the memory of an element of L or U with its place.
const entryBytes = 12

// order finds an order with the given pivots; without a chooser they are the matched rows. The
// factors may take the given bytes of memory.
func (s *structure) order(pivots chooser, memory int) (*Order, error) {
	n := s.p.N
	o := &Order{
		rows:    make([]int32, n),
		inStart: make([]int32, 1, n+1), inRows: make([]int32, 0, len(s.p.Rows)),
		inValues: make([]int32, 0, len(s.p.Rows)), offStart: make([]int32, 1, n+1),
		uStart: make([]int32, 1, n+1), codes: &codes{},
	}
	t := &search{
		structure: s, lStart: make([]int32, 1, n+1), place: make([]int32, n), mark: make([]int32, n),
		end: make([]int32, n), next: make([]int32, n), pruned: make([]bool, n), prefer: slices.Clone(s.matched),
		wanted: make([]int32, n),
	}
	for k, i := range t.prefer {
		t.wanted[i] = int32(k)
	}
	for i := range t.place {
		t.place[i] = -1
	}
	for b := range len(s.start) - 1 {
		for k := s.start[b]; k < s.start[b+1]; k++ {
			t.reach(o, int(k), int32(b))
			if s.inTail(int(k)) {
				t.storeTail(o, int(k))
				continue
			}
			at := t.prefer[k]
			if pivots != nil {
				var err error
				if at, err = pivots.choose(t, o, int(k)); err != nil {
					return nil, err
				}
			}
			t.store(o, int(k), at, pivots)
			n := len(t.lRows) + len(o.uRows) + s.tailSize()
			if n > min(memory/entryBytes, math.MaxInt32) {
				return nil, &MemoryError{Bytes: n * entryBytes, Limit: memory}
			}
		}
	}
	for k, i := range t.lRows {
		t.lRows[k] = t.place[i]
	}
	n = int(s.tailEnd - s.tail)
	o.lNonZeros = len(t.lRows) + n*(n-1)
	o.flops, o.tailSize = denseFlops(n), n*n
	n = s.p.N
	for k := range n {
		slices.Sort(t.column(k))
		slices.Sort(o.uRows[o.uStart[k]:o.uStart[k+1]])
		for _, m := range o.uRows[o.uStart[k]:o.uStart[k+1]] {
			o.flops += 2 * len(t.column(int(m)))
		}
		o.flops += len(t.column(k))
		j := s.cols[k]
		for e := s.p.Start[j]; e < s.p.Start[j+1]; e++ {
			if i := s.p.Rows[e]; s.blockOf[i] == s.blockOf[o.rows[k]] {
				o.inRows, o.inValues = append(o.inRows, t.place[i]), append(o.inValues, e)
			} else {
				o.offRows, o.offValues = append(o.offRows, t.place[i]), append(o.offValues, e)
			}
		}
		o.inStart = append(o.inStart, int32(len(o.inRows)))
		o.offStart = append(o.offStart, int32(len(o.offRows)))
	}
	o.findPanels(t)
	o.findGroups(s)
	return o, nil
}

// column returns the rows of column k of L below the diagonal.
func (t *search) column(k int) []int32 { return t.lRows[t.lStart[k]:t.lStart[k+1]] }

// findPanels lays out the columns of L.
func (o *Order) findPanels(t *search) {
	n := len(o.rows)
	o.lStart, o.lEnd, o.lValue = make([]int32, n), make([]int32, n), make([]int32, n)
	o.panelEnd = make([]int32, n)
	for first := 0; first < n; {
		rows := t.column(first)
		last := first + 1
		for last < n && int32(last) != t.tail && len(rows) > last-first-1 && rows[last-first-1] == int32(last) &&
			slices.Equal(rows[last-first:], t.column(last)) {
			last++
		}
		start := len(o.lRows)
		o.lRows = append(o.lRows, rows...)
		for k := first; k < last; k++ {
			o.lStart[k], o.lEnd[k] = int32(start+k-first), int32(len(o.lRows))
			o.lValue[k] = int32(o.lSize + k - first)
			o.lSize += len(rows)
			o.panelEnd[k] = int32(last)
		}
		first = last
	}
	o.panels, o.runs = make([]int32, len(o.uRows)), make([]int32, len(o.uRows))
	for k := range n {
		u := o.uRows[o.uStart[k]:o.uStart[k+1]]
		for e := 0; e < len(u); {
			from, m := e, u[e]
			for e < len(u) && u[e] < o.panelEnd[m] { // to the end of the panel, or to the diagonal
				e++
			}
			last := u[e-1]
			if n := e - from; n >= 4 && n*int(o.lEnd[last]-o.lStart[last]) >= 64 {
				o.panels[int(o.uStart[k])+from] = int32(n)
			}
		}
		for e := 0; e < len(u); {
			from := e
			for e++; e < len(u) && u[e] == u[e-1]+1; {
				e++
			}
			o.runs[int(o.uStart[k])+from] = int32(e - from)
		}
	}
}

// reach finds the rows in which the column at place k of L and U has entries.
func (t *search) reach(o *Order, k int, b int32) {
	t.found, t.below = t.found[:0], t.below[:0]
	stamp := int32(k) + 1
	for _, i := range t.p.column(int(t.cols[k])) {
		if t.blockOf[i] != b || t.mark[i] == stamp {
			continue
		}
		t.mark[i] = stamp
		if t.place[i] < 0 {
			t.below = append(t.below, i)
			continue
		}
		t.stack = append(t.stack[:0], t.place[i])
		t.next[t.place[i]] = t.lStart[t.place[i]]
	deep:
		for len(t.stack) > 0 {
			m := t.stack[len(t.stack)-1]
			for t.next[m] < t.end[m] {
				i := t.lRows[t.next[m]]
				t.next[m]++
				if t.mark[i] == stamp {
					continue
				}
				t.mark[i] = stamp
				if at := t.place[i]; at < 0 {
					t.below = append(t.below, i)
				} else {
					t.stack = append(t.stack, at)
					t.next[at] = t.lStart[at]
					continue deep
				}
			}
			t.stack = t.stack[:len(t.stack)-1]
			t.found = append(t.found, m)
		}
	}
}

// storeTail appends the column of U at place k of the tail. The rows of the tail get their places after
// its last column.
func (t *search) storeTail(o *Order, k int) {
	o.uRows = append(o.uRows, t.found...)
	o.uStart = append(o.uStart, int32(len(o.uRows)))
	t.lStart = append(t.lStart, int32(len(t.lRows)))
	if k+1 < int(t.tailEnd) {
		return
	}
	for k := t.tail; k < t.tailEnd; k++ {
		o.rows[k] = t.prefer[k]
		t.place[t.prefer[k]] = k
	}
}

// tailSize returns the number of elements of the tail.
func (s *structure) tailSize() int { return int(s.tailEnd-s.tail) * int(s.tailEnd-s.tail) }

// best finds the order of the pattern, with a tail if its order in which it has none fills so much that this is faster.
func (s *structure) best(memory int) (*Order, error) {
	o, err := s.order(nil, memory)
	if err != nil || o.flops <= tailFlops {
		return o, err
	}
	below, across := make([]int32, len(o.rows)), make([]int32, len(o.rows))
	for k := range below {
		below[k] = o.lEnd[k] - o.lStart[k]
	}
	for _, m := range o.uRows {
		across[m]++
	}
	if s.tail, s.tailEnd = s.bestTail(below, across); s.tail == s.tailEnd {
		return o, nil
	}
	return s.order(nil, memory)
}

// bestTail returns the places of the tail that saves most time: none if none saves any. Without it, the column of L at
// each place has so many entries below the diagonal, and the row of U so many across from it.
func (s *structure) bestTail(below, across []int32) (tail, tailEnd int32) {
	best := 0.0
	for b := range len(s.start) - 1 {
		flops, entries := 0, 0
		end := s.start[b+1]
		for k := end - 1; k >= s.start[b]; k-- {
			flops += 2 * int(below[k]) * int(across[k])
			entries += int(below[k]) + int(across[k])
			if n := int(end - k); n >= leastTail {
				n := float64(n)
				gain := sparseFlop*float64(flops) + 6*sparseEntry*float64(entries) - n*n*(denseColumn+denseFlop*n*2/3)
				if gain > best {
					best, tail, tailEnd = gain, k, end
				}
			}
		}
	}
	return tail, tailEnd
}

// count returns the extent of the factors that best would find, where that takes no search: ok is false for a pattern
// that is not symmetric, or whose pivots are not on its diagonal. The entries of a column of L are the rows whose
// subtrees of the elimination tree have it (J. W. H. Liu, SIAM J. Matrix Anal. Appl. 11, 1990); those of the rows of U
// are the same.
func (s *structure) count() (e extent, ok bool) {
	n := s.p.N
	place := make([]int32, n) // of each column
	for k, j := range s.cols {
		if place[j] = int32(k); s.matched[k] != j {
			return e, false
		}
	}
	if !s.p.symmetric() {
		return e, false
	}
	below := make([]int32, n)
	parent, seen := make([]int32, n), make([]int32, n) // parent is −1 for a root, so far
	for k, j := range s.cols {
		parent[k], seen[k] = -1, int32(k)
		for _, i := range s.p.column(int(j)) {
			for m := place[i]; m < int32(k) && seen[m] != int32(k); m = parent[m] {
				if seen[m] = int32(k); parent[m] < 0 {
					parent[m] = int32(k)
				}
				below[m]++
			}
		}
	}
	size := func(tail, tailEnd int32) extent {
		e := extent{tail: int(tailEnd - tail)}
		e.flops, e.nonZeros = denseFlops(e.tail), n+e.tail*(e.tail-1)
		for k, below := range below {
			if below := int(below); int32(k) < tail || int32(k) >= tailEnd {
				e.flops += below * (2*below + 1)
				e.nonZeros += 2 * below
			}
		}
		return e
	}
	if e = size(0, 0); e.flops > tailFlops {
		e = size(s.bestTail(below, below))
	}
	return e, true
}

// tailFlops is a number of operations below which machine code is faster, and leastTail the least number
// of columns for which a tail is worth its while. The others are times in nanoseconds: of operations and
// entries of a sparse factorisation, and of columns and operations of a dense one. They are fits to
// measurements; only their ratios matter.
const (
	tailFlops   = 400_000
	leastTail   = 24
	sparseFlop  = 0.24
	sparseEntry = 0.6
	denseColumn = 4.5
	denseFlop   = 0.01
)

// store appends the column at place k with its pivot in the given row, and prunes what columns that
// come later need not search.
func (t *search) store(o *Order, k int, pivot int32, pivots chooser) {
	o.rows[k] = pivot
	t.place[pivot] = int32(k)
	other, left := t.wanted[pivot], t.prefer[k]
	t.prefer[other], t.wanted[left] = left, other
	for _, i := range t.below {
		if i != pivot {
			t.lRows = append(t.lRows, i)
		}
	}
	t.lStart = append(t.lStart, int32(len(t.lRows)))
	t.end[k] = int32(len(t.lRows))
	o.uRows = append(o.uRows, t.found...)
	o.uStart = append(o.uStart, int32(len(o.uRows)))
	for _, m := range t.found {
		if t.pruned[m] || !slices.Contains(t.lRows[t.lStart[m]:t.lStart[m+1]], pivot) {
			continue
		}
		t.pruned[m] = true
		// Rows that are pivots come first; the others are reached through place k.
		lo, hi := t.lStart[m], t.lStart[m+1]
		for lo < hi {
			if t.place[t.lRows[lo]] >= 0 {
				lo++
				continue
			}
			hi--
			t.lRows[lo], t.lRows[hi] = t.lRows[hi], t.lRows[lo]
			if pivots != nil {
				pivots.swap(lo, hi)
			}
		}
		t.end[m] = lo
	}
}

// nonZeros returns the number of elements of the factors, and of the matrix above the blocks.
func (o *Order) nonZeros() int { return o.lNonZeros + len(o.uRows) + len(o.rows) + len(o.offRows) }

// memory returns the bytes of the order.
func (o *Order) memory() int {
	return 4 * (2*len(o.inRows) + 2*len(o.offRows) + len(o.lRows) + len(o.uRows) + 5*len(o.rows))
}
