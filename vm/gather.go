package vm

import "odes.dev/odes/tape"

// gather makes a view of the elements at some positions along an axis of a dense operand. Only
// elementwise instructions of the Take's own shape read such views. So a periodic stencil needs no
// arrays for its neighbours.
type gather struct {
	axis  int
	from  int // length of the operand's axis
	index []int
}

// gathered returns v, the dense operand of a Take, as the Take's result. Its strides stay those of
// the operand.
func (v view) gathered(shape tape.Shape, a *tape.Attr) view {
	return view{v.root, v.off, shape, v.strides, nil, &gather{a.Axis, v.shape[a.Axis], a.Index}}
}

// indexReader lays out elements of a gathered view: blocks of inner elements, one for each position
// of the index.
type indexReader struct {
	runs      walker // reads all lanes of an element
	off       int
	inner     int // elements behind the axis
	from      int // length of the operand's axis, times inner
	index     []int
	remaining []int // number of positions from here on that follow each other

	// If most positions are the same distance from their own place, those elements are copied at
	// once, and the exceptions after that.
	shifted    bool
	shift      int
	exceptions []int
}

func newIndexReader(v view, lanes int, srcLane bool) *indexReader {
	g := v.index
	r := &indexReader{
		runs: walker{lanes: lanes, srcLane: srcLane}, off: v.off,
		inner: v.shape[g.axis+1:].Size(), index: g.index, remaining: make([]int, len(g.index)),
	}
	r.from = g.from * r.inner
	count := map[int]int{}
	for i, p := range g.index {
		if count[p-i]++; count[p-i] > count[r.shift] {
			r.shift = p - i
		}
	}
	for i, p := range g.index {
		if p-i != r.shift {
			r.exceptions = append(r.exceptions, i)
		}
	}
	if g.from != len(g.index) || 4*len(r.exceptions) > len(g.index) || lanes > 1 && !srcLane {
		r.exceptions = nil
		r.shift = 0
	} else {
		r.shifted = true
	}
	for i := len(g.index) - 1; i >= 0; i-- {
		r.remaining[i] = 1
		if i+1 < len(g.index) && g.index[i+1] == g.index[i]+1 {
			r.remaining[i] += r.remaining[i+1]
		}
	}
	return r
}

// locate returns where element e is in the operand, and how many elements follow it there.
func (r *indexReader) locate(e int) (at, run int) {
	k, i := e%r.inner, e/r.inner
	o, i := i/len(r.index), i%len(r.index)
	return r.off + o*r.from + r.index[i]*r.inner + k, r.remaining[i]*r.inner - k
}

// read implements reader.
func (r *indexReader) read(dst, src []float64, first int) {
	lanes := r.runs.lanes
	if r.shifted {
		r.readShifted(dst, src[r.off*lanes:], first)
		return
	}
	for len(dst) > 0 {
		at, run := r.locate(first)
		n := min(run*lanes, len(dst))
		r.runs.readRun(dst[:n], src, at, n/lanes, 1)
		dst = dst[n:]
		first += n / lanes
	}
}

func (r *indexReader) readShifted(dst, src []float64, first int) {
	lanes := r.runs.lanes
	at := (first + r.shift*r.inner) * lanes
	copy(dst[min(max(-at, 0), len(dst)):], src[min(max(at, 0), len(src)):])
	row, inner, end := r.from*lanes, r.inner*lanes, first*lanes+len(dst)
	for o := first / r.from * row; o < end; o += row {
		for _, i := range r.exceptions {
			to, from := o+i*inner-first*lanes, o+r.index[i]*inner
			if inner == 1 {
				if uint(to) < uint(len(dst)) {
					dst[to] = src[from]
				}
				continue
			}
			lo, hi := max(to, 0), min(to+inner, len(dst))
			if lo < hi {
				copy(dst[lo:hi], src[from+lo-to:])
			}
		}
	}
}

// direct implements reader.
func (r *indexReader) direct(first, n int) (int, bool) {
	lanes := r.runs.lanes
	at, run := r.locate(first)
	return at * lanes, (lanes == 1 || r.runs.srcLane) && run*lanes >= n
}
